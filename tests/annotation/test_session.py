"""Work on a file: what is decided stays, what is accepted is written, and nothing is lost."""

from dataclasses import replace

import pytest
from annotation_helpers import BLANK, DONE, GOLD, annotate, make_session, rows, toy
from conllu_samples import FULL

from spacy_mindroot.annotation.decisions import DecisionError
from spacy_mindroot.annotation.journal import Journal
from spacy_mindroot.annotation.session import Conflict, Session
from spacy_mindroot.annotation.suggestions import Suggester
from spacy_mindroot.annotation.treebank import ChangedError, Treebank


def arc(word, head, label="dep"):
    return {"do": "arc", "word": word, "head": head, "label": label}


def content(session):
    return session.treebank.path.read_bytes().decode("utf8")


def killed(session, **options):
    """A server that was killed and started again."""
    session.journal._file.close()
    return Session(Treebank(session.treebank.path), Journal(session.journal.folder), Suggester(None), **options)


def test_from_nothing_by_hand_to_a_file(tmp_path):
    session = make_session(tmp_path)
    assert [session.state(k) for k in range(3)] == ["new"] * 3
    for number, gold in enumerate(GOLD):
        assert session.after(None) == number
        annotate(session, number, gold)
    assert content(session) == DONE
    assert session.after(None) is None
    assert session.accepted() == [0, 1, 2]


def test_a_sentence_that_is_not_complete_is_not_accepted(tmp_path):
    session = make_session(tmp_path)
    with pytest.raises(DecisionError, match="Without a head: word 1 \\(They\\), 2 \\(left\\), 3"):
        session.act(0, {"do": "accept"})
    session.act(0, arc(1, 2, "_"))
    session.act(0, arc(2, 0, "root"))
    session.act(0, arc(3, 2))
    with pytest.raises(DecisionError, match="Without a label: word 1"):
        session.act(0, {"do": "accept"})
    session.act(0, arc(1, 2))
    session.act(0, {"do": "accept"})
    assert session.state(0) == "accepted"


def test_what_is_decided_stays_and_the_rest_is_new(tmp_path):
    session = make_session(tmp_path, nlp=toy())
    before = session.view(0)
    word, head = next((w, h) for w in (1, 2, 3) for h in range(4) if h != w and before["heads"][w - 1] != h and h != 0)
    session.act(0, arc(word, head, "obj"))
    view = session.view(0)
    assert (view["heads"][word - 1], view["labels"][word - 1]) == (head, "obj")
    assert view["fixed"] == [word] and word not in view["doubt"] and word not in view["changed"]
    old = list(zip(before["heads"], before["labels"], strict=True))
    new = list(zip(view["heads"], view["labels"], strict=True))
    assert view["changed"] == [k for k in (1, 2, 3) if old[k - 1] != new[k - 1] and k != word]
    assert f"d{word}" in view["svg"]


def test_a_decision_frees_those_that_it_excludes(tmp_path):
    session = make_session(tmp_path)
    assert session.act(0, arc(1, 0, "root")) == []
    assert session.act(0, arc(2, 0, "root")) == [1]
    assert session.view(0)["heads"] == [-1, 0, -1]


def test_undo_goes_back_through_everything(tmp_path):
    session = make_session(tmp_path)
    annotate(session, 0, GOLD[0])
    session.act(1, arc(1, 2))
    assert session.undo(1) == 1
    assert session.undo(1) == 0, "nothing is left to undo there: the last step of all"
    assert session.state(0) == "begun" and session.view(0)["fixed"] == [1, 2, 3]
    for _ in range(3):
        assert session.undo(0) == 0
    assert session.view(0)["heads"] == [-1, -1, -1], "as it was before the first step"
    assert session.state(0) == "new"
    with pytest.raises(DecisionError, match="nothing to undo"):
        session.undo(0)
    assert content(session).startswith(rows(GOLD[0])), "the file has it until the next acceptance"
    annotate(session, 0, "They/0/root left/1/obj early/1/obj")
    assert content(session).startswith("1\tThey\t_\t_\t_\t_\t0\troot")


def test_a_killed_server_has_lost_nothing(tmp_path):
    session = make_session(tmp_path)
    annotate(session, 0, GOLD[0])
    session.act(1, arc(1, 0, "root"))
    session.act(1, arc(2, 1, "obl"))
    again = killed(session)
    assert [again.state(k) for k in range(3)] == ["accepted", "begun", "new"]
    assert again.view(1)["heads"] == [0, 1, -1]
    again.undo(1)
    assert again.view(1)["heads"] == [0, -1, -1]
    again.undo(0)
    assert again.state(0) == "begun"
    assert killed(again).view(0)["fixed"] == [1, 2, 3]


def test_undo_after_a_restart_goes_back_to_what_was_there_first(tmp_path):
    session = make_session(tmp_path)
    session.act(0, {"do": "cell", "word": 1, "column": "FORM", "value": "We"})
    annotate(session, 0, GOLD[0].replace("They", "We"))
    assert content(session).startswith("1\tWe\t")
    again = killed(session)
    assert again.state(0) == "accepted"
    for _ in range(5):
        again.undo(0)
    assert again.view(0)["words"][0]["cells"]["FORM"] == "They"
    assert again.view(0)["heads"] == [-1, -1, -1]


def test_two_tabs(tmp_path):
    session = make_session(tmp_path)
    one, other = session.view(0), session.view(0)
    session.act(0, arc(1, 2), one["revision"])
    with pytest.raises(Conflict, match="another tab"):
        session.act(0, arc(1, 3), other["revision"])
    with pytest.raises(Conflict):
        session.undo(0, other["revision"])
    with pytest.raises(Conflict):
        session.act(0, {"do": "accept"}, other["revision"])
    assert session.view(0)["heads"] == [2, -1, -1]
    session.act(0, arc(1, 3), session.view(0)["revision"])


def test_another_program_changes_the_file(tmp_path):
    session = make_session(tmp_path)
    annotate(session, 2, GOLD[2])
    session.act(0, arc(1, 2, "nsubj"))
    session.act(1, arc(1, 0, "root"))
    session.act(1, arc(2, 1, "obl"))
    session.act(1, arc(3, 1, "advmod"))
    path = session.treebank.path
    theirs = (
        rows("New/0/root")
        + rows("They/0/root left/1/obl early/1/obl")
        + rows(GOLD[1], blank=True)
        + rows(GOLD[2].replace("obj", "iobj"))
    )
    path.write_text(theirs)
    with pytest.raises(ChangedError):
        session.act(1, {"do": "accept"})
    assert path.read_text() == theirs
    assert session.state(1) == "begun"
    assert session.reload() == 3
    assert [session.name(k) for k in range(4)] == ["1", "2", "3", "4"]
    assert session.view(1)["fixed"] == [1], "the decision is kept"
    assert session.view(1)["heads"] == [2, -1, 1], "and their arc that it excludes is not"
    session.act(2, {"do": "accept"})
    assert path.read_text() == theirs.replace(rows(GOLD[1], blank=True), rows(GOLD[1]))
    assert session.view(3)["labels"][2] == "iobj", "theirs counts for what was accepted before"


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    session = make_session(tmp_path)
    before = content(session)

    def full(*_):
        raise OSError(28, "No space left on device")

    for word, each in enumerate(GOLD[0].split(), 1):
        _, head, label = each.split("/")
        session.act(0, arc(word, int(head), label))
    with monkeypatch.context() as patch:
        patch.setattr("spacy_mindroot.replacing.os.replace", full)
        with pytest.raises(OSError, match="No space"):
            session.act(0, {"do": "accept"})
    assert content(session) == before
    assert session.state(0) == "begun" and session.view(0)["fixed"] == [1, 2, 3]
    session.act(0, {"do": "accept"})
    assert content(session) == rows(GOLD[0]) + before.partition("\n\n")[2]


def test_accepting_what_is_there_keeps_every_byte(tmp_path):
    odd = "\ufeff" + FULL.replace("\n", "\r\n") + "\r\n# end"
    session = make_session(tmp_path, odd, review=True)
    session.act(0, {"do": "accept"})
    assert session.treebank.path.read_bytes() == odd.encode()
    assert killed(session, review=True).state(0) == "accepted"


def test_review_keeps_the_trees_of_the_file(tmp_path):
    session = make_session(tmp_path, DONE, toy(), review=True)
    assert session.accepted() == []
    view = session.view(0)
    assert view["heads"] == [2, 0, 2] and view["labels"] == ["nsubj", "root", "advmod"]
    assert all(0 <= prob <= 1 for prob in view["headProbs"])


def test_complete_trees_count_as_accepted_without_review(tmp_path):
    session = make_session(tmp_path, rows(GOLD[0]) + rows(GOLD[1], blank=True) + rows("a/0/root b/0/root"))
    assert [session.state(k) for k in range(3)] == ["accepted", "new", "new"]
    session.act(0, arc(3, 1))
    assert session.state(0) == "begun"


def test_cells(tmp_path):
    session = make_session(tmp_path, FULL, review=True)
    for column, value in (("LEMMA", "ire"), ("UPOS", "AUX"), ("XPOS", ""), ("FEATS", "Mood=Imp"), ("FORM", "Vayamos")):
        session.act(0, {"do": "cell", "word": 1, "column": column, "value": value})
    assert session.view(0)["words"][0]["cells"] == {
        "FORM": "Vayamos", "LEMMA": "ire", "UPOS": "AUX", "XPOS": "_", "FEATS": "Mood=Imp",
    }  # fmt: skip
    session.act(0, {"do": "cell", "word": 6, "column": "FORM", "value": "!"})
    session.act(0, {"do": "accept"})
    expected = FULL.replace("1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur", "1\tVayamos\tire\tAUX\t_\tMood=Imp")
    expected = expected.replace("6\t.", "6\t!").replace("# text = Vámonos al mar.", "# text = Vámonos al mar!")
    assert content(session) == expected


def test_rules_mark_arcs_and_best_valid_mends_the_rest(tmp_path):
    session = make_session(
        tmp_path, nlp=toy(), rules={"direction": {"obj": "right", "nsubj": "left"}, "unique": ["obj"]}
    )
    session.act(2, arc(1, 2, "obj"))
    (found,) = [each for each in session.view(2)["violations"] if each["rule"] == "direction-obj"]
    assert found["word"] == 1 and not found["intended"]
    assert "“We” is on the other side of “saw”" in found["reason"]
    assert "faulty" in session.view(2)["svg"]
    session.undo(2)
    session.act(2, arc(1, 2, "nsubj"))
    session.act(2, {"do": "valid"})
    view = session.view(2)
    assert view["valid"] and view["certified"] and not view["violations"]
    assert view["heads"][0] == 2 and view["labels"][0] == "nsubj"
    session.undo(2)
    assert not session.view(2)["valid"]


def test_no_valid_tree_is_said_and_leaves_the_tree(tmp_path):
    session = make_session(tmp_path, nlp=toy(), rules={"unique": ["obj"]})
    session.act(2, arc(1, 2, "obj"))
    session.act(2, arc(3, 2, "obj"))
    session.act(2, {"do": "valid"})
    view = session.view(2)
    assert "no tree meets the rules" in view["fault"]
    assert view["heads"] == [2, 0, 2] and [each["rule"] for each in view["violations"]] == ["unique-obj"]


def test_without_rules_there_is_no_valid_tree(tmp_path):
    with pytest.raises(DecisionError, match="--rules"):
        make_session(tmp_path).act(0, {"do": "valid"})


def test_intended_violations_are_written_to_misc_and_read_again(tmp_path):
    session = make_session(tmp_path, rules={"direction": {"obj": "right"}, "unique": ["obj"]})
    for step in (arc(1, 2, "obj"), arc(2, 0, "root"), arc(3, 2, "obj")):
        session.act(2, step)
    for rule, word in (("direction-obj", 1), ("unique-obj", 3)):
        session.act(2, {"do": "intend", "word": word, "rule": rule, "on": True})
    assert all(each["intended"] for each in session.view(2)["violations"])
    assert "faulty" not in session.view(2)["svg"]
    session.act(2, {"do": "accept"})
    lines = content(session).splitlines()[-4:]
    assert [line.rsplit("\t", 1)[-1] for line in lines[:3]] == ["Intended=direction-obj", "_", "Intended=unique-obj"]
    session.journal.close()
    (tmp_path / "tb.conllu.annotation" / "journal.jsonl").unlink()
    again = make_session(tmp_path, rules={"direction": {"obj": "right"}})
    assert [each["intended"] for each in again.view(2)["violations"]] == [True]


def test_provenance_only_if_asked(tmp_path):
    session = make_session(tmp_path, nlp=toy(), provenance=True)
    view = session.view(0)
    session.act(0, arc(1, *(view[name][0] for name in ("heads", "labels"))))
    session.act(0, {"do": "accept"})
    cells = [line.rsplit("\t", 1)[-1] for line in content(session).splitlines()[:3]]
    assert cells == ["HeadFrom=annotator", "HeadFrom=parser", "HeadFrom=parser"]


def test_the_least_certain_words_and_sentences_come_first(tmp_path):
    session = make_session(tmp_path, nlp=toy())
    view = session.view(0)
    sure = [h * p for h, p in zip(view["headProbs"], view["labelProbs"], strict=True)]
    assert view["doubt"] == sorted((1, 2, 3), key=lambda word: (round(sure[word - 1], 6), word))
    assert session.order() == [0, 1, 2]
    session.use(Suggester(toy()), dict(zip(session.treebank.keys, (0.1, 0.3, 0.2), strict=True)))
    assert session.order() == [1, 2, 0]
    assert [session.after(None), session.after(1), session.after(0)] == [1, 2, 1]
    assert [each["number"] for each in session.overview()] == [1, 2, 0]


def test_a_pipelines_tags_fill_empty_cells(tmp_path):
    import spacy

    nlp = toy()
    tagged = spacy.blank("en")

    @spacy.Language.component("test_session_tags")
    def tags(doc):
        for token in doc:
            token.tag_, token.pos_, token.lemma_ = "T", "NOUN", token.text.lower()
        return doc

    tagged.add_pipe("test_session_tags")
    for name in ("arc_scorer", "mind_root"):
        tagged.add_pipe(name, source=nlp)
    session = make_session(tmp_path, BLANK.replace("1\tThey\t_\t_", "1\tThey\tit\tPRON"), tagged)
    words = session.view(0)["words"]
    assert words[0]["predicted"] == {"XPOS": "T"}
    assert words[1]["predicted"] == {"LEMMA": "left", "UPOS": "NOUN", "XPOS": "T"}
    session.act(0, {"do": "cell", "word": 2, "column": "UPOS", "value": "VERB"})
    session.act(0, {"do": "accept"})
    lines = content(session).splitlines()
    assert lines[0].startswith("1\tThey\tit\tPRON\tT\t") and lines[1].startswith("2\tleft\tleft\tVERB\tT\t")


def test_text_becomes_sentences(tmp_path):
    session = make_session(tmp_path, None)
    assert session.after(None) is None
    assert session.add_text("They left,  early.\n\n\nGo home\n") == 2
    assert [session.view(k)["text"] for k in (0, 1)] == ["They left, early.", "Go home"]
    assert [len(each) for each in session.treebank] == [5, 2]
    assert session.add_text("More") == 1
    assert session.name(2) == "s3"
    for text, says in ((" \n", "no text"), ("a " * 20_000, "more than")):
        with pytest.raises(DecisionError, match=says):
            session.add_text(text)


def test_text_has_the_line_ends_of_the_file_and_new_names(tmp_path):
    before = ("# sent_id = s3\n" + rows("a/0/root")).replace("\n", "\r\n")
    session = make_session(tmp_path, before)
    session.add_text("Go home")
    assert (
        session.treebank.path.read_bytes()
        == (
            before
            + "# sent_id = s4\n# text = Go home\n".replace("\n", "\r\n")
            + "1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\r\n2\thome\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n"
        ).encode()
    )


def test_another_label_of_the_root_can_be_confirmed(tmp_path):
    session = make_session(tmp_path, rows("a/0/pred b/1/obj"), review=True)
    session.act(0, arc(1, 0, "pred"))
    session.act(0, {"do": "accept"})
    assert session.treebank[0].labels == ["pred", "obj"]


def test_labels_are_those_of_file_parser_and_ud(tmp_path):
    labels = make_session(tmp_path, DONE.replace("advmod", "advmod:x"), toy()).labels()
    assert {"advmod:x", "nsubj", "vocative"} <= set(labels)
    assert {each for each in toy().get_pipe("arc_scorer").labels if each != "ROOT"} <= set(labels)
    assert "root" not in labels and "ROOT" not in labels and "_" not in labels
    assert labels == sorted(labels)


class TestAdjudication:
    SECOND = (
        "They/2/nsubj left/0/root early/1/advmod",
        "Go/0/root home/1/obl now/1/advmod",
        "We/2/nsubj saw/0/root them/2/iobj",
    )

    @pytest.fixture
    def session(self, tmp_path):
        session = make_session(tmp_path, DONE)
        arcs = [[(int(w.split("/")[1]), w.split("/")[2]) for w in each.split()] for each in self.SECOND]
        session.second = dict(zip(session.treebank.keys, arcs, strict=True))
        return session

    def test_only_differences_are_to_do(self, session):
        assert [session.state(k) for k in range(3)] == ["new", "accepted", "new"]
        view = session.view(0)
        assert view["doubt"] == [3]
        assert view["alternatives"][2] == [[1, "advmod", -2.0]]
        assert view["alternatives"][0] == []
        assert "gold" in view["svg"]

    def test_the_second_can_be_taken_and_the_first_again(self, session):
        session.act(2, arc(3, 2, "iobj"))
        view = session.view(2)
        assert view["alternatives"][2] == [[2, "obj", -1.0]]
        assert view["doubt"] == []
        session.act(2, {"do": "accept"})
        assert content(session) == DONE.replace("them\t_\t_\t_\t_\t2\tobj", "them\t_\t_\t_\t_\t2\tiobj")
        assert session.after(None) == 0
        session.act(0, {"do": "accept"})
        assert session.after(None) is None


def test_probabilities_are_fitted_to_what_was_accepted(tmp_path, monkeypatch):
    """The parser knows nothing, so that after some sentences it is less sure."""
    monkeypatch.setattr("spacy_mindroot.annotation.session._ENOUGH", 6)
    session = make_session(tmp_path, nlp=toy())
    before = session.view(2)["headProbs"]
    for number in (0, 1):
        view = session.view(number)
        wrong = view["heads"].index(0) + 1
        session.act(number, arc(wrong % 3 + 1, 0, "root"))
        session.act(number, {"do": "accept"})
    tree = arcs_of(session, 2)
    session.use(Suggester(toy()), {})
    after = session.view(2)["headProbs"]
    assert sum(after) < sum(before)
    assert arcs_of(session, 2) == tree
    session.undo(1)
    session.act(1, {"do": "accept"})
    assert len(session._held_out) == 2, "a sentence counts once"


def arcs_of(session, number):
    view = session.view(number)
    return list(zip(view["heads"], view["labels"], strict=True))


def fresh(session, **options):
    """A parser that knows nothing of the session, but has an opinion on each arc: the last word is the root."""
    found = Suggester(toy())
    found.scores = lambda sentence: wrong(Suggester.scores(found, sentence))
    session.use(found, {})


def wrong(scores):
    arcs = scores.arcs.copy()
    arcs[-1, 0] += 50
    arcs[:-1, -1] += 50
    return replace(scores, arcs=arcs, known={})


def test_what_is_accepted_stays_whatever_the_parser_is(tmp_path):
    session = make_session(tmp_path, BLANK.replace("They\t_", "They\tthey"), nlp=toy())
    session.act(0, arc(2, 0, "root"))
    session.act(0, {"do": "accept"})
    tree, written = arcs_of(session, 0), content(session)
    fresh(session)
    assert arcs_of(session, 1)[-1][0] == 0, "it is another parser"
    assert arcs_of(session, 0) == tree
    session.act(0, {"do": "accept"})
    assert content(session) == written
    session.act(0, {"do": "cell", "word": 1, "column": "LEMMA", "value": "We"})
    assert arcs_of(session, 0) == tree
    session.act(0, {"do": "accept"})
    assert content(session) == written.replace("They\tthey", "They\tWe")
    again = killed(session)
    assert arcs_of(again, 0) == tree


def test_a_tree_with_crossing_arcs_is_kept_by_a_parser_without(tmp_path):
    crossing = rows("a/3/x b/4/x c/0/root d/3/x e/2/x")
    session = make_session(tmp_path, crossing, nlp=toy(), review=True)
    session.suggester._projective = True
    session.act(0, {"do": "cell", "word": 1, "column": "LEMMA", "value": "a"})
    assert session.view(0)["heads"] == [3, 4, 0, 3, 2]
    session.act(0, {"do": "accept"})
    assert content(session) == crossing.replace("1\ta\t_", "1\ta\ta")


def test_a_change_while_the_server_was_down_counts(tmp_path):
    session = make_session(tmp_path)
    for number in (0, 1, 2):
        annotate(session, number, GOLD[number])
    session.act(1, arc(3, 2, "advmod"))
    path = session.treebank.path
    theirs = DONE.replace("advmod", "obl").replace("now\t_\t_\t_\t_\t1\tobl", "now\t_\t_\t_\t_\t1\tdep")
    path.write_text(theirs)
    again = killed(session, review=True)
    assert again.changed == 2
    assert [again.state(k) for k in range(3)] == ["new", "begun", "accepted"]
    assert again.view(0)["labels"][2] == "obl"
    again.act(0, {"do": "accept"})
    assert content(again) == theirs
    assert again.view(1)["heads"] == [0, 1, 2], "what was not accepted yet is kept"


def test_a_file_that_was_put_back_is_accepted_again_by_enter(tmp_path):
    session = make_session(tmp_path)
    annotate(session, 0, GOLD[0])
    session.treebank.path.write_text(BLANK)
    for again in (session, killed(session)):
        again.reload()
        assert again.state(0) == "begun" and again.accepted() == [], "it has no tree to train on"
    assert again.view(0)["heads"] == [2, 0, 2]
    again.act(0, {"do": "accept"})
    assert content(again).startswith(rows(GOLD[0])) and again.state(0) == "accepted"


def form(word, value):
    return {"do": "cell", "word": word, "column": "FORM", "value": value}


def test_a_form_that_makes_two_sentences_equal_costs_no_decision(tmp_path):
    session = make_session(tmp_path, rows("a/_/_ c/_/_") + rows("a/_/_ b/_/_"))
    session.act(1, arc(1, 2))
    session.act(1, arc(2, 0, "root"))
    for step in (form(2, "b"), arc(1, 0, "root"), arc(2, 1, "obj"), {"do": "accept"}):
        session.act(0, step)
    for own in (session, killed(session)):
        assert own.view(0)["heads"] == [0, 1] and own.view(1)["heads"] == [2, 0]
        assert [own.state(k) for k in (0, 1)] == ["accepted", "begun"]


def test_a_form_that_parts_equal_sentences_costs_no_decision(tmp_path):
    session = make_session(tmp_path, rows("a/_/_ b/_/_") * 2)
    session.act(1, arc(1, 2))
    for step in (form(2, "c"), arc(1, 0, "root"), arc(2, 1, "obj"), {"do": "accept"}):
        session.act(0, step)
    for own in (session, killed(session)):
        assert own.view(0)["heads"] == [0, 1] and own.view(1)["heads"] == [2, -1]
    assert killed(own).undo(1) == 1


def test_an_intended_violation_is_no_reason_against_the_best_valid_tree(tmp_path):
    session = make_session(tmp_path, nlp=toy(), rules={"unique": ["obj"], "leaf": ["punct"]})
    session.act(2, arc(1, 2, "obj"))
    session.act(2, arc(3, 2, "obj"))
    session.act(2, {"do": "intend", "word": 3, "rule": "unique-obj", "on": True})
    session.act(2, {"do": "valid"})
    assert not session.view(2)["fault"] and session.view(2)["certified"]
    session.act(2, {"do": "accept"})
    assert session.treebank[2].heads == [2, 0, 2]


def test_a_sentence_without_a_valid_tree_can_be_accepted_as_shown(tmp_path):
    session = make_session(tmp_path, nlp=toy(), rules={"unique": ["obj"]})
    for step in (arc(1, 2, "obj"), arc(3, 2, "obj"), {"do": "valid"}):
        session.act(2, step)
    shown = session.view(2)
    assert shown["fault"] and not shown["valid"]
    session.act(2, {"do": "accept"})
    assert session.treebank[2].heads == shown["heads"]


def test_adjudication_goes_on_after_a_form_was_edited(tmp_path):
    session = make_session(tmp_path, DONE)
    session.second = {key: [(0, "x")] * 3 for key in session.treebank.keys}
    session.act(0, form(1, "We"))
    session.act(0, {"do": "accept"})
    assert set(session.second) == set(session.treebank.keys)

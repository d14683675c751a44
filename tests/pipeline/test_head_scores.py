"""spacy-mindroot.head_scores.v1: `mind_root` after another parser."""

import numpy as np
import pytest
import spacy
from spacy.attrs import HEAD
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_mindroot import errors
from spacy_mindroot.pipeline.head_scores import HeadScores


@Language.component("keep_sentences_for_test")
def keep_sentences(doc):
    doc.spans["sentences"] = list(doc.sents)
    return doc


@Language.component("bad_parser_for_test")
def bad_parser(doc):
    """Every second token is a root, and the others attach to the first of the Doc."""
    n = len(doc)
    offsets = np.array([0 if i % 2 == 0 else -i for i in range(n)])
    dep = doc.vocab.strings.add("ROOT"), doc.vocab.strings.add("obj")
    doc.from_array(["HEAD", "DEP"], np.array([offsets, [dep[i % 2] for i in range(n)]]).T.astype(np.uint64))
    return doc


def component(**settings):
    source = {"@misc": "spacy-mindroot.head_scores.v1"} | settings
    return spacy.blank("xx").add_pipe("mind_root", config={"scores": source})


def parsed(words, heads, deps, pos=None):
    return Doc(spacy.blank("xx").vocab, words=words.split(), heads=heads, deps=deps, pos=pos)


def tree(doc):
    return [token.head.i for token in doc], [token.dep_ for token in doc], [(s.start, s.end) for s in doc.sents]


def test_a_second_root_no_longer_splits_the_sentence():
    doc = parsed(
        "They left early .", [1, 1, 1, 3], ["nsubj", "ROOT", "advmod", "ROOT"], ["PRON", "VERB", "ADV", "PUNCT"]
    )
    assert len(list(doc.sents)) == 2
    component(sentences="doc")(doc)
    assert tree(doc) == ([1, 1, 1, 1], ["nsubj", "ROOT", "advmod", "punct"], [(0, 4)])
    assert doc._.mind_root_report == [
        {"token": 3, "old_head": None, "head": 1, "old_label": "ROOT", "why": "extra root"}
    ]


def test_a_cyclic_doc_makes_no_loop():
    doc = parsed("a b c d", [1, 0, 2, 2], ["x", "y", "ROOT", "z"])
    component(sentences="doc")(doc)
    assert tree(doc) == ([2, 0, 2, 2], ["x", "y", "ROOT", "z"], [(0, 4)])
    assert all(list(token.subtree) for token in doc)
    assert [change["why"] for change in doc._.mind_root_report] == ["cycle"]


@pytest.mark.parametrize("pos", [["VERB", "VERB"], None])
def test_labels_of_demoted_roots(pos):
    doc = parsed("a b", [0, 1], ["ROOT", "root"], pos)
    component(sentences="doc")(doc)
    assert [token.dep_ for token in doc] == ["ROOT", "parataxis" if pos else "dep"]
    doc = parsed("a b", [0, 1], ["ROOT", "root"], pos)
    component(sentences="doc", demoted_label="list")(doc)
    assert [token.dep_ for token in doc] == ["ROOT", "list"]


def test_the_label_of_roots_on_other_tokens_goes():
    doc = parsed("a b", [0, 0], ["ROOT", "ROOT"])
    component(sentences="doc")(doc)
    assert tree(doc)[1] == ["ROOT", "dep"] and doc._.mind_root_report == []


def test_the_fallback_label_of_the_component_is_dep_elsewhere():
    source = {"@misc": "spacy-mindroot.head_scores.v1", "sentences": "doc"}
    mind_root = spacy.blank("xx").add_pipe("mind_root", config={"scores": source, "fallback_label": "unknown"})
    doc = mind_root(parsed("a b c d", [0, 0, 2, 1], ["ROOT", "ROOT", "ROOT", "dep"]))
    assert tree(doc) == ([0, 0, 0, 1], ["ROOT", "unknown", "unknown", "dep"], [(0, 4)])


def test_label_scores_go_before_the_rule():
    doc = parsed("a b", [0, 1], ["ROOT", "ROOT"], ["VERB", "VERB"])
    doc._.arc_labels, doc._.arc_label_names = [np.array([[0, 0, 0], [0, 1, 0]], dtype=np.uint8)], ["root", "ccomp"]
    component(sentences="doc")(doc)
    assert [token.dep_ for token in doc] == ["ROOT", "ccomp"]


def test_a_good_tree_stays():
    doc = parsed("a b c", [1, 1, 0], ["x", "ROOT", "y"])
    before = doc.to_array(["HEAD", "DEP", "SENT_START"]).tolist()
    component()(doc)
    assert doc.to_array(["HEAD", "DEP", "SENT_START"]).tolist() == before and doc._.mind_root_report == []


@pytest.mark.parametrize("where", ["starts", "spans"])
def test_sentences_in_a_pipeline(where):
    """A sentencizer after the parser, or a span group from before it: both bring the sentences back."""
    nlp = spacy.blank("xx")
    source = {"@misc": "spacy-mindroot.head_scores.v1", "sentences": where}
    if where == "spans":
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("keep_sentences_for_test")
    nlp.add_pipe("bad_parser_for_test")
    if where == "starts":
        nlp.add_pipe("sentencizer", config={"overwrite": True})
    nlp.add_pipe("mind_root", config={"scores": source})
    for doc in nlp.pipe(["a b c . d e f g .", "x"]):
        sents = [(0, 4), (4, 9)] if len(doc) > 1 else [(0, 1)]
        heads, deps, found = tree(doc)
        assert found == sents
        assert all(token.head in sentence for sentence in doc.sents for token in sentence)
        assert [sum(heads[i] == i for i in range(*span)) for span in sents] == [1] * len(sents)
        assert all((dep == "ROOT") == (head == i) for i, (head, dep) in enumerate(zip(heads, deps, strict=True)))


def test_arcs_into_other_sentences_are_no_arcs():
    doc = parsed("a b c d", [1, 3, 3, 3], ["x", "y", "z", "ROOT"])
    doc.spans["mine"] = [doc[0:2], doc[2:4]]
    component(sentences="spans", spans_key="mine")(doc)
    assert tree(doc) == ([1, 1, 3, 3], ["x", "ROOT", "z", "ROOT"], [(0, 2), (2, 4)])


def test_tokens_without_a_head():
    doc = parsed("a b c", [0, 0, 2], ["ROOT", "x", ""])
    component(sentences="doc")(doc)
    assert tree(doc) == ([0, 0, 0], ["ROOT", "x", "dep"], [(0, 3)])
    assert [change["why"] for change in doc._.mind_root_report] == ["no head"]


def test_heads_without_any_labels():
    doc = spacy.blank("xx").make_doc("a b")
    doc.from_array([HEAD], np.array([[1], [0]], dtype=np.uint64))
    component(sentences="doc")(doc)
    assert tree(doc) == ([1, 1], ["dep", "ROOT"], [(0, 2)])


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({}, errors.MissingSentencesError, "has no sentence starts"),
        ({"sentences": "spans"}, errors.MissingSentencesError, "no span group"),
        ({"sentences": "spans", "spans_key": "gap"}, errors.MissingSentencesError, "are not its sentences"),
    ],
)
def test_sentences_that_are_not_to_be_had(settings, error, says):
    doc = spacy.blank("xx").make_doc("a b c")
    doc.from_array([HEAD], np.array([[1], [0], [0]], dtype=np.uint64))
    doc.from_array(["SENT_START"], np.zeros((3, 1), dtype=np.uint64))
    doc.spans["gap"] = [doc[0:1], doc[2:3]]
    with pytest.raises(error, match=says):
        component(**settings)(doc)


def test_a_doc_that_was_never_parsed():
    with pytest.raises(errors.MissingScoresError, match="no heads to repair"):
        component(sentences="doc")(spacy.blank("xx").make_doc("a b"))
    component(sentences="doc")(spacy.blank("xx").make_doc(""))


def test_settings_that_make_no_sense():
    with pytest.raises(errors.MindRootError, match='"starts", "spans" or "doc"'):
        HeadScores(sentences="sents")
    with pytest.raises(errors.MindRootError, match="demoted_label"):
        HeadScores(demoted_label="ROOT")


def very_long():
    return Doc(spacy.blank("xx").vocab, words=["a"] * 20_000, heads=[0] * 20_000, deps=["ROOT"] + ["x"] * 19_999)


def test_very_long_sentences_need_no_matrix():
    doc = very_long()
    doc[7].head, doc[7].dep_ = doc[7], "ROOT"
    doc = component(sentences="doc")(doc)
    assert [token.i for token in doc if token.head == token] == [0]


def test_very_long_sentences_that_need_a_matrix_are_refused():
    nlp = spacy.blank("xx")
    source = {"@misc": "spacy-mindroot.head_scores.v1", "sentences": "doc"}
    mind_root = nlp.add_pipe("mind_root", config={"scores": source, "kbest": 2})
    with pytest.raises(errors.NotEnoughMemoryError, match="20,000 tokens"):
        mind_root(very_long())


def test_constraints_decide_over_the_parse_and_the_report_says_so():
    doc = parsed("a b c", [1, 1, 1], ["nsubj", "ROOT", "obj"])
    doc._.arc_constraints = {"required": [(2, 0)]}
    doc = component(sentences="doc")(doc)
    assert tree(doc)[0] == [1, 1, 0]
    assert [(arc["token"], arc["head"], arc["why"]) for arc in doc._.mind_root_report] == [(2, 0, "required")]


def test_a_new_root_by_constraint_gives_the_old_one_another_label():
    doc = parsed("a b c", [1, 1, 1], ["nsubj", "ROOT", "obj"], ["NOUN", "VERB", "NOUN"])
    doc._.arc_constraints = {"required": [(0, 0)]}
    heads, labels, _ = tree(component(sentences="doc")(doc))
    assert heads[0] == 0 and labels[0] == "ROOT" and labels.count("ROOT") == 1
    assert labels[1] != "ROOT"


def test_the_report_is_stored_with_the_doc():
    doc = component(sentences="doc")(parsed("a b", [0, 1], ["ROOT", "ROOT"]))
    report = doc._.mind_root_report
    assert report
    assert Doc(doc.vocab).from_bytes(doc.to_bytes())._.mind_root_report == report
    (copy,) = DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)
    assert list(copy._.mind_root_report) == report  # lists come back as tuples

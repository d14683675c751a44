"""`mind_root` with rules: which settings go together, which rules apply, what is written and what is saved."""

import json
from importlib.metadata import version

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_mindroot import Rules, decode_labelled, learn_rules, tree_weight
from spacy_mindroot.doc.targets import Targets, to_table, write_targets
from spacy_mindroot.errors import LabelsError, NoValidTreeError, RulesError
from spacy_mindroot.inference import kbest
from spacy_mindroot.pipeline import valid_trees
from spacy_mindroot.pipeline.arc_labels import ArcLabels
from spacy_mindroot.pipeline.valid_trees import SearchLimitWarning, ValidTrees, labelled_trees, pos_of_rules

NAMES = ["ROOT", "nsubj", "obj", "punct"]
ONE_SUBJECT = {"unique": ["nsubj"]}


class Labels(ArcLabels):
    """Labels with all scores."""

    dtype = np.dtype("u1")

    def __init__(self, scores):
        self.shape, self.scores = scores.shape[:2], scores

    def of_tree(self, heads):
        return self.of_all_arcs()[np.arange(len(heads)), heads]

    def of_all_arcs(self):
        return self.scores.argmax(axis=2).astype(self.dtype)

    def scores_of_tree(self, heads):
        return self.scores[np.arange(len(heads)), heads]

    def scores_of_all_arcs(self):
        return self.scores


def make_doc(nlp, rng, lengths=(5, 4), **extensions):
    n = sum(lengths)
    doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(n)])
    doc._.arc_scores = [rng.normal(0, 2, (n, n + 1)) for n in lengths]
    scores = [rng.normal(0, 2, (n, n + 1, 4)) for n in lengths]
    for own in scores:
        own[:, 0, 1:], own[:, 1:, 0] = -np.inf, -np.inf
    doc._.arc_labels, doc._.arc_label_names = [Labels(own) for own in scores], NAMES
    for name, value in extensions.items():
        doc._.set(name, value)
    return doc, scores


def make_nlp(**config):
    nlp = spacy.blank("xx")
    return nlp, nlp.add_pipe("mind_root", config=config)


def written(doc):
    return [([0 if t.head == t else t.head.i - s.start + 1 for t in s], [t.dep_ for t in s]) for s in doc.sents]


def test_the_best_valid_trees_are_written(rng):
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT)
    differ = 0
    for _ in range(20):
        doc, scores = make_doc(nlp, rng, (12, 9))
        arcs = doc._.arc_scores
        trees = [decode_labelled(*own, NAMES, rules=ONE_SUBJECT) for own in zip(arcs, scores, strict=True)]
        mind_root(doc)
        assert written(doc) == [(tree.heads.tolist(), tree.labels) for tree in trees]
        free = [decode_labelled(*own, NAMES) for own in zip(arcs, scores, strict=True)]
        differ += [tree.labels for tree in free] != [tree.labels for tree in trees]
        assert doc._.arc_scores is None
    assert differ > 2


def test_labels_that_are_scored_on_demand_give_the_same_trees(rng):
    class OnDemand(Labels):
        def scores_of_arcs(self, dependents, heads):
            asked.append(len(heads))
            return np.ascontiguousarray(self.scores[dependents, heads], dtype=np.float32)

        def scores_of_all_arcs(self):
            raise AssertionError("not all arcs are needed")

    asked = []
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT)
    for _ in range(10):
        doc, scores = make_doc(nlp, rng)
        arcs = [3 * own for own in doc._.arc_scores]
        scores = [own - np.abs(own[np.isfinite(own)]).max() for own in scores]
        doc._.arc_scores, doc._.arc_labels = arcs, [OnDemand(own) for own in scores]
        expected = [decode_labelled(*own, NAMES, rules=ONE_SUBJECT) for own in zip(arcs, scores, strict=True)]
        mind_root(doc)
        assert written(doc) == [(tree.heads.tolist(), tree.labels) for tree in expected]
    assert 20 <= len(asked) < 60 and sum(asked) < 10 * (25 + 16)


def test_in_a_stream_with_confidence_constraints_and_without_crossing_arcs(rng):
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT, confidence=True, projective=True)
    docs = [make_doc(nlp, rng, arc_constraints={"required": [(1, 1)]})[0] for _ in range(5)]
    for doc in mind_root.pipe(docs):
        assert doc[1].dep_ == "ROOT" and doc[1]._.head_prob is not None
        for heads, labels in written(doc):
            assert Rules.from_dict(ONE_SUBJECT).violations(heads, labels) == []


def test_with_confidence_the_labels_and_their_probabilities_are_those_of_the_valid_trees(rng):
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT, confidence=True)
    not_the_best = 0
    for _ in range(20):
        doc, (scores,) = make_doc(nlp, rng, (12,))
        tree = decode_labelled(doc._.arc_scores[0], scores, NAMES, rules=ONE_SUBJECT)
        mind_root(doc)
        assert [token.dep_ for token in doc] == tree.labels
        for i, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True)):
            own = np.exp(scores[i, head])
            assert doc[i]._.dep_prob == pytest.approx(own[NAMES.index(label)] / own.sum())
            not_the_best += own.argmax() != NAMES.index(label)
    assert not_the_best > 0


def test_the_margin_is_that_over_the_best_other_tree_valid_or_not(rng):
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT, confidence=True)
    signs = set()
    for scale in np.geomspace(1, 100, 20):
        doc, _ = make_doc(nlp, rng, (6,))
        arcs = doc._.arc_scores[0] * scale
        doc._.arc_scores = [arcs]
        mind_root(doc)
        heads = written(doc)[0][0]
        best = next(weight for tree, weight in kbest(arcs, 2) if tree.tolist() != heads)
        assert next(doc.sents)._.tree_margin == pytest.approx(tree_weight(arcs, heads) - best)
        signs.add(np.sign(next(doc.sents)._.tree_margin))
    assert signs == {-1, 1}


def test_parts_of_speech_count_and_extpos_before_upos(rng):
    nlp, mind_root = make_nlp(rules="ud")
    doc, _ = make_doc(nlp, rng, lengths=(4,))
    assert pos_of_rules(doc) is None
    for token, tag in zip(doc, ["NOUN", "PUNCT", "VERB", "PUNCT"], strict=True):
        token.pos_ = tag
    doc[3].set_morph("ExtPos=NOUN")
    assert pos_of_rules(doc) == ["NOUN", "PUNCT", "VERB", "NOUN"]
    mind_root(doc)
    assert doc[1].dep_ in ("punct", "ROOT") and all(doc[i].dep_ != "punct" for i in (0, 2, 3))


def test_no_valid_tree_is_an_error_that_names_the_sentence_and_leaves_the_doc(rng):
    nlp, mind_root = make_nlp(rules={"leaf": [["ROOT", "nsubj", "obj", "punct"]]})
    doc, _ = make_doc(nlp, rng)
    doc.user_data["x"] = 1
    with pytest.raises(NoValidTreeError, match=r"sentence 1 of .*These leave none: leaf-root"):
        mind_root(doc)
    assert not doc.has_annotation("DEP") and doc._.arc_scores is not None


@pytest.mark.parametrize("setting", ["UD", "x.json", {"uniq": []}, {"unique": [{"labels": []}]}])
def test_wrong_rules_are_refused_when_the_pipeline_is_made(setting):
    with pytest.raises(RulesError):
        make_nlp(rules=setting)


def test_k_best_trees_need_not_be_valid():
    with pytest.raises(RulesError, match="kbest is 3, but the k best trees need not be valid"):
        make_nlp(rules="ud", kbest=3)


def test_labels_need_scores(rng):
    nlp, mind_root = make_nlp(rules="ud")
    doc, _ = make_doc(nlp, rng)
    best = [np.asarray(own) for own in doc._.arc_labels]
    doc._.arc_labels = best
    with pytest.raises(LabelsError, match="only the best label of each"):
        mind_root(doc)
    doc._.arc_labels = doc._.arc_label_names = None
    with pytest.raises(LabelsError, match="has no labels for the arcs, which rules need"):
        mind_root(doc)
    doc, scores = make_doc(nlp, rng)
    doc._.arc_labels = [Labels(own[:, :, :2]) for own in scores]
    with pytest.raises(LabelsError, match=r"\(5, 6, 4\); found \(5, 6, 2\)"):
        mind_root(doc)


def test_heads_that_are_there_already_have_no_label_scores():
    nlp, mind_root = make_nlp(rules="ud", scores={"@misc": "spacy-mindroot.head_scores.v1"})
    doc = Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", "obj"])
    with pytest.raises(RulesError, match="repair --rules"):
        mind_root(doc)
    assert len(mind_root(Doc(nlp.vocab))) == 0


def test_the_limit_of_the_search_is_a_warning(rng, monkeypatch):
    nlp, mind_root = make_nlp(rules=ONE_SUBJECT)
    search = valid_trees.Problem.search
    monkeypatch.setattr(valid_trees.Problem, "search", lambda *args: search(*args)._replace(bound=1e3))
    doc, _ = make_doc(nlp, rng)
    with pytest.warns(SearchLimitWarning, match="ended after .* may be better, by at most"):
        mind_root(doc)


def gold(nlp, count=60):
    return [
        Doc(nlp.vocab, words=[f"a{k}", "b", "c"], heads=[1, 1, 1], deps=["nsubj", "ROOT", "obj"], sent_starts=[1, 0, 0])
        for k in range(count)
    ]


def test_rules_are_learnt_when_the_pipeline_is_initialized_and_saved_with_it(tmp_path, rng):
    nlp, mind_root = make_nlp(rules="learnt")
    doc, _ = make_doc(nlp, rng)
    with pytest.raises(RulesError, match="none have been learnt"):
        mind_root(doc)
    examples = [Example(own.copy(), own) for own in gold(nlp)]
    nlp.initialize(lambda: examples)
    learnt = mind_root.valid_trees.rules
    assert learnt == learn_rules([([2, 0, 2], ["nsubj", "ROOT", "obj"], None)] * 60)
    assert {"too-many-subjects", "too-many-objects", "0-is-not-root"} <= set(learnt.names)
    mind_root(doc)
    assert all(sum(t.dep_ == "nsubj" for t in head.children) < 2 for head in doc)

    nlp.to_disk(tmp_path / "nlp")
    assert json.loads((tmp_path / "nlp" / "mind_root" / "rules.json").read_text("utf8")) == learnt.to_dict()
    for loaded in (spacy.load(tmp_path / "nlp"), spacy.blank("xx").from_bytes(nlp.to_bytes(), exclude=["x"])):
        if "mind_root" in loaded.pipe_names:
            assert loaded.get_pipe("mind_root").valid_trees.rules == learnt
    other, component = make_nlp()
    other.from_bytes(nlp.to_bytes())
    assert component.rules == "learnt" and component.valid_trees.rules == learnt
    component.valid_trees.learnt = None
    component.to_disk(tmp_path / "nlp" / "mind_root")
    assert not (tmp_path / "nlp" / "mind_root" / "rules.json").exists()


def test_settings_of_the_initialization():
    nlp, mind_root = make_nlp(rules="learnt")
    nlp.config["initialize"]["components"] = {"mind_root": {"min_support": 61}}
    examples = [Example(own.copy(), own) for own in gold(nlp)]
    nlp.initialize(lambda: examples)
    assert mind_root.valid_trees.rules == Rules()


@pytest.mark.parametrize("count", [0, 60], ids=["nothing", "prices"])
def test_what_was_learnt_is_saved_to_the_last_digit(tmp_path, count):
    """Nothing may be learnt from a small treebank; the pipeline then parses without rules."""
    nlp, mind_root = make_nlp(rules="learnt")
    both = [Doc(nlp.vocab, words=list("abc"), heads=[1, 1, 1], deps=["nsubj", "ROOT", "nsubj"]), *gold(nlp, count)]
    nlp.initialize(lambda: [Example(own.copy(), own) for own in both])
    learnt = mind_root.valid_trees.rules
    assert bool(learnt) == bool(count) and all(
        str(r.price) not in (f"{r.price:.10g}", "1.0") for r in learnt.unique[:1]
    )
    nlp.to_disk(tmp_path)
    from_bytes = make_nlp()[0].from_bytes(nlp.to_bytes())
    for kept in (spacy.load(tmp_path), from_bytes, from_bytes.from_disk(tmp_path)):
        assert kept.get_pipe("mind_root").valid_trees.rules == learnt


def test_rules_as_a_table_in_the_config_are_saved_with_it(tmp_path):
    nlp, _ = make_nlp(rules=ONE_SUBJECT)
    nlp.to_disk(tmp_path / "nlp")
    assert not (tmp_path / "nlp" / "mind_root").exists()
    assert spacy.load(tmp_path / "nlp").get_pipe("mind_root").rules == ONE_SUBJECT
    if int(version("confection").partition(".")[0]) >= 1:  # earlier versions can't replace a table in a config
        loaded = spacy.load(tmp_path / "nlp", config={"components": {"mind_root": {"rules": None}}})
        assert loaded.get_pipe("mind_root").rules is None


def test_gold_trees_of_docs():
    nlp = spacy.blank("xx")
    doc = Doc(
        nlp.vocab,
        words=list("abcde"),
        heads=[1, 1, 3, 3, 3],
        deps=["det", "ROOT", "nsubj", "ROOT", ""],
        pos=["DET", "NOUN", "NOUN", "VERB", "PUNCT"],
        sent_starts=[1, 0, 1, 0, 0],
    )
    found = [(heads.tolist(), labels, pos) for heads, labels, pos in labelled_trees([doc])]
    assert found == [([2, 0], ["det", "ROOT"], ["DET", "NOUN"])]  # the other sentence has a token without a label


def test_the_setting_can_be_changed():
    rules = ValidTrees(None, "x")
    assert not rules
    rules.change("ud")
    assert rules and rules.rules.names
    rules.learnt = Rules()
    assert rules.to_dict() == {}
    rules.from_dict(None)
    assert rules.learnt is None and rules.to_dict() is None


def test_settings_that_are_changed_later_are_checked():
    _, mind_root = make_nlp(rules=ONE_SUBJECT)
    mind_root.kbest = 3
    with pytest.raises(RulesError, match="need not be valid under the rules"):
        mind_root.check_settings()


def test_white_space_and_copies_of_sentences_teach_no_rules():
    vocab = spacy.blank("xx").vocab
    words, heads, deps = ["It", "rains", "."], [1, 1, 1], ["nsubj", "ROOT", "punct"]
    plain = Doc(vocab, words=words, heads=heads, deps=deps)
    with_space = ["nsubj", "dep", "ROOT", "punct", "dep"]
    spaced = Doc(vocab, words=["It", "\n", "rains", ".", "\n\n"], heads=[2, 0, 2, 2, 3], deps=with_space)
    for docs in ([plain], [spaced], [plain, spaced, plain]):
        ((heads, labels, pos),) = labelled_trees(docs)
        assert heads.tolist() == [2, 0, 2] and labels == ["nsubj", "ROOT", "punct"] and pos is None
    above = Doc(vocab, words=["\n", "It"], heads=[0, 0], deps=["ROOT", "dep"])
    assert list(labelled_trees([above])) == []


def test_trees_of_teachers_teach_no_rules():
    doc = Doc(Vocab(), words=["a", "b"], heads=[0, 0], deps=["ROOT", "obj"])
    assert len(list(labelled_trees([doc]))) == 1
    empty = to_table(np.zeros((2, 2)), np.arange(2))
    write_targets(doc, Targets(empty, empty, empty))
    assert list(labelled_trees([doc])) == []

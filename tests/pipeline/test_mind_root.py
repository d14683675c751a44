"""The component, in a pipeline: scores on the Doc in, trees out."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import Config

from generators import random_scores, random_tree, scores_of_tree, zigzag
from spacy_mindroot import TangledTreeWarning, count_roots, decode, decode_batch, errors
from spacy_mindroot.core.fault import Fault
from spacy_mindroot.pipeline.mind_root import MindRoot
from spacy_mindroot.pipeline.sources import DocArcScores

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root")
    return nlp


def make_doc(nlp, lengths, rng, **extensions):
    """A Doc of sentences of these lengths, with the scores of a random tree each, and the trees."""
    heads = [random_tree(n, rng) for n in lengths]
    doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(sum(lengths))])
    doc._.arc_scores = [scores_of_tree(tree, rng) for tree in heads]
    for name, value in extensions.items():
        doc._.set(name, value)
    return doc, heads


def read_heads(doc):
    """Heads of each sentence, 0 = ROOT."""
    return [[0 if t.head.i == t.i else t.head.i - s.start + 1 for t in s] for s in doc.sents]


def state(doc):
    return doc.to_bytes(exclude=["user_data"]), list(doc.user_data)


def as_lists(heads):
    return [tree.tolist() for tree in heads]


def test_writes_the_best_tree_of_each_sentence(nlp, rng):
    for _ in range(100):
        doc, heads = make_doc(nlp, rng.integers(1, 40, size=rng.integers(1, 5)), rng)
        nlp.get_pipe("mind_root")(doc)
        assert read_heads(doc) == as_lists(heads)
        assert all(t.dep_ == ("ROOT" if t.head == t else "dep") for t in doc)
        assert doc.has_annotation("DEP", require_complete=True) and doc.has_annotation(
            "SENT_START", require_complete=True
        )


def test_two_roots_that_pay_are_not_two_sentences(nlp, rng):
    doc = nlp.make_doc("They left early .")
    doc._.arc_scores = [
        np.array([[0, 9, 5, 0, 0], [3, 0, 9, 0, 0], [0, 0, 4, 9, 0], [3, 0, 1, 0, 9]], dtype=np.float32)
    ]
    assert count_roots(decode(doc._.arc_scores[0], single_root=False)) == 2
    doc = nlp.get_pipe("mind_root")(doc)
    assert [len(s) for s in doc.sents] == [4]
    assert read_heads(doc) == [[2, 0, 2, 2]]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("confidence", "yes"), ("confidence", 1), ("projective", None), ("keep_scores", "false")),
        *(
            ("scores", None),
            ("scores", "doc"),
            ("coverage", "0.9"),
            ("coverage_of", "tokens"),
            ("root_label", 3),
            ("fallback_label", None),
        ),
    ],
)
def test_a_setting_that_is_none(setting, value):
    with pytest.raises(errors.MindRootError, match=setting):
        MindRoot(**{"scores": DocArcScores(), setting: value})


def test_components_show_their_settings():
    nlp = spacy.blank("en")
    nlp.add_pipe("arc_scorer", config={"max_length": 77})
    nlp.add_pipe("mind_root", config={"kbest": 3})
    shown = [repr(component) for _, component in nlp.components]
    assert shown[0].startswith("ArcScorer(whole_doc=False,") and shown[0].endswith("max_length=77)")
    assert shown[1].startswith("MindRoot(") and "kbest=3" in shown[1] and "rules=None" in shown[1]


def test_config_and_defaults():
    nlp = spacy.blank("xx")
    nlp.add_pipe("mind_root")
    assert nlp.config["components"]["mind_root"] == {
        "factory": "mind_root",
        "scores": {"@misc": "spacy-mindroot.doc_arc_scores.v1", "layout": "root_column"},
        "keep_scores": False,
        "projective": False,
        "kbest": 1,
        "confidence": False,
        "coverage": 0.0,
        "coverage_of": "token",
        "rules": None,
        "root_label": "ROOT",
        "fallback_label": "dep",
        "scorer": {"@scorers": "spacy-mindroot.tree_scorer.v1", "ignore_punct": False},
    }


@pytest.mark.parametrize("source", ["doc_arc_scores", "head_scores"])
def test_analysis_finds_no_problem_where_there_is_none(source):
    """Whether arc scores must be on the Doc depends on the source, so a lack is an error of the Doc."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": f"spacy-mindroot.{source}.v1"}})
    analysis = nlp.analyze_pipes()
    assert analysis["problems"]["mind_root"] == []
    assert {"token.head", "token.dep", "doc.sents", "token._.head_prob", "span._.trees"} <= set(
        analysis["summary"]["mind_root"]["assigns"]
    )


@pytest.mark.parametrize("keep_scores", [True, False])
def test_scores_are_dropped_unless_kept(rng, keep_scores):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"keep_scores": keep_scores})
    labels = [np.zeros((3, 4), dtype=np.uint8)]
    doc, _ = make_doc(nlp, [3], rng, arc_labels=labels, arc_label_names=["nsubj"])
    nlp.get_pipe("mind_root")(doc)
    assert (
        (doc._.arc_scores is not None)
        == (doc._.arc_labels is not None)
        == (doc._.arc_label_names is not None)
        == keep_scores
    )
    assert bool(doc.user_data) == keep_scores


def test_empty_docs(nlp):
    assert len(nlp("")) == 0
    assert [len(doc) for doc in nlp.pipe(["", ""])] == [0, 0]


def test_a_one_token_doc(nlp):
    doc = nlp.make_doc("Yes")
    doc._.arc_scores = [np.zeros((1, 2))]
    assert nlp.get_pipe("mind_root")(doc)[0].dep_ == "ROOT"


# ---------------------------------------------------------------------------------------------------------------------
# Where the scores come from


def test_scores_in_user_data_in_another_layout(rng):
    nlp = spacy.blank("en")
    source = {"@misc": "spacy-mindroot.user_data_scores.v1", "key": "biaffine", "layout": "square_transposed"}
    nlp.add_pipe("mind_root", config={"scores": source})
    heads = random_tree(6, rng)
    doc = Doc(
        nlp.vocab,
        words=list("abcdef"),
        user_data={"biaffine": [np.vstack([np.zeros(7), scores_of_tree(heads, rng)]).T]},
    )
    nlp.get_pipe("mind_root")(doc)
    assert read_heads(doc) == [heads.tolist()]
    assert doc.user_data == {}


def test_labels_are_laid_out_like_the_scores(rng):
    heads = random_tree(5, rng)
    square = np.vstack([np.zeros(6), scores_of_tree(heads, rng)])
    labels = np.full((6, 6), 2, dtype=np.uint8)
    labels[1:, 0] = 0
    for layout, turn in (("square", np.asarray), ("square_transposed", np.transpose)):
        nlp = spacy.blank("en")
        nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.doc_arc_scores.v1", "layout": layout}})
        doc = Doc(nlp.vocab, words=list("abcde"))
        doc._.arc_scores, doc._.arc_labels, doc._.arc_label_names = [turn(square)], [turn(labels)], ["root", "x", "y"]
        nlp.get_pipe("mind_root")(doc)
        assert read_heads(doc) == [heads.tolist()]
        assert {t.dep_ for t in doc} == {"ROOT", "y"}


def test_one_matrix_over_the_whole_doc_in_another_layout_with_labels(rng):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.whole_doc_scores.v1", "layout": "square"}})
    heads = [random_tree(2, rng), random_tree(3, rng)]
    square = np.full((6, 6), 999.0)
    square[1:3, :3] = scores_of_tree(heads[0], rng)
    square[3:, [0, 3, 4, 5]] = scores_of_tree(heads[1], rng)
    doc = Doc(nlp.vocab, words=list("abcde"), sent_starts=[True, False, True, False, False])
    doc._.arc_scores, doc._.arc_labels, doc._.arc_label_names = square, np.ones((6, 6), dtype=int), ["root", "x"]
    nlp.get_pipe("mind_root")(doc)
    assert read_heads(doc) == as_lists(heads)
    assert {t.dep_ for t in doc} == {"ROOT", "x"}
    assert doc.user_data == {}


def test_one_matrix_over_the_whole_doc(rng):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.whole_doc_scores.v1"}})
    heads = [random_tree(3, rng), random_tree(4, rng)]
    matrix = np.full((7, 8), 999.0)  # arcs between the sentences look best, but are not allowed
    matrix[:3, :4] = scores_of_tree(heads[0], rng)
    matrix[3:, [0, 4, 5, 6, 7]] = scores_of_tree(heads[1], rng)
    doc = Doc(nlp.vocab, words=list("abcdefg"), sent_starts=[True, None, None, True, None, None, None])
    doc._.arc_scores = matrix
    nlp.get_pipe("mind_root")(doc)
    assert read_heads(doc) == as_lists(heads)

    unsplit = Doc(nlp.vocab, words=list("abcdefg"))
    unsplit._.arc_scores = matrix
    with pytest.raises(errors.MissingScoresError, match="senter"):
        nlp.get_pipe("mind_root")(unsplit)
    unsplit._.arc_scores = matrix[:6, :7]
    with pytest.raises(errors.ScoresShapeError, match="6 tokens, but the Doc has 7"):
        nlp.get_pipe("mind_root")(unsplit)
    unsplit._.arc_scores = None
    with pytest.raises(errors.MissingScoresError, match="store_user_data"):
        nlp.get_pipe("mind_root")(unsplit)


def test_any_getter_of_ones_own(rng):
    @spacy.registry.misc("test.chain.v1")
    def make_getter():
        return lambda doc: [scores_of_tree(np.arange(len(doc)), rng).tolist()]

    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "test.chain.v1"}})
    assert read_heads(nlp("a b c")) == [[0, 1, 2]]


def test_a_layout_that_does_not_exist():
    with pytest.raises(errors.ScoresShapeError, match="'squared'"):
        DocArcScores(layout="squared")


# ---------------------------------------------------------------------------------------------------------------------
# Labels


def with_labels(nlp, labels, names):
    """A Doc 'a b c' with tree [2, 0, 2], the labels of whose arcs are as given."""
    doc = nlp.make_doc("a b c")
    doc._.arc_scores = [np.array([[0, 0, 9, 0], [9, 0, 0, 0], [0, 0, 9, 0]], dtype=np.float32)]
    matrix = np.zeros((3, 4), dtype=np.uint8)
    matrix[np.arange(3), [2, 0, 2]] = labels
    doc._.arc_labels, doc._.arc_label_names = [matrix], names
    return doc


def test_labels_of_the_arcs_that_are_chosen(nlp):
    doc = nlp.get_pipe("mind_root")(with_labels(nlp, [1, 0, 2], ["root", "nsubj", "obj"]))
    assert [t.dep_ for t in doc] == ["nsubj", "ROOT", "obj"]


def test_the_label_of_root_is_on_the_root_and_nowhere_else(nlp):
    doc = nlp.get_pipe("mind_root")(with_labels(nlp, [0, 2, 1], ["root", "", "obj"]))
    assert [t.dep_ for t in doc] == ["dep", "ROOT", "dep"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda doc: doc._.set("arc_label_names", None), "arc_label_names"),
        (lambda doc: doc._.set("arc_label_names", ["root"]), "from head 2 to dependent 1 is 1, .* 1 names"),
        (lambda doc: doc._.set("arc_labels", []), "0 sentences.* 1"),
        (lambda doc: doc._.set("arc_labels", [np.zeros((3, 3), dtype=int)]), r"\(3, 4\).*\(3, 3\)"),
        (lambda doc: doc._.set("arc_labels", [np.zeros((3, 4))]), "float64"),
        (lambda doc: doc._.set("arc_labels", [np.full((3, 4), -1)]), "is -1"),
    ],
)
def test_labels_that_do_not_fit(nlp, change, says):
    doc = with_labels(nlp, [1, 0, 2], ["root", "nsubj", "obj"])
    change(doc)
    before = state(doc)
    with pytest.raises(errors.LabelsError, match=says):
        nlp.get_pipe("mind_root")(doc)
    assert state(doc) == before


def test_settings_that_would_hide_heads_or_fake_roots():
    for settings in (
        {"root_label": ""},
        {"fallback_label": ""},
        {"fallback_label": "root"},
        {"root_label": "top", "fallback_label": "TOP"},
    ):
        with pytest.raises(errors.LabelsError):
            MindRoot(scores=DocArcScores(), **settings)


# ---------------------------------------------------------------------------------------------------------------------
# Sentences


def test_boundaries_that_agree_are_kept(nlp, rng):
    doc, heads = make_doc(nlp, [2, 3], rng)
    for i, start in enumerate([True, False, True, False, None]):
        doc[i].is_sent_start = start
    assert read_heads(nlp.get_pipe("mind_root")(doc)) == as_lists(heads)


@pytest.mark.parametrize("starts", [[0, 3], [0], [0, 1, 2]])
def test_boundaries_that_disagree_are_an_error_naming_both(nlp, rng, starts):
    doc, _ = make_doc(nlp, [2, 3], rng)
    for i in range(5):
        doc[i].is_sent_start = i in starts
    before = state(doc)
    with pytest.raises(errors.SentenceMismatchError, match=r"sentences of .* tokens, but .* sentences of 2, 3\."):
        nlp.get_pipe("mind_root")(doc)
    assert state(doc) == before


def test_boundaries_beside_a_tree_that_is_not_complete_count(nlp, rng):
    doc = Doc(
        nlp.vocab,
        words=list("abcd"),
        heads=[0, 0, 2, 2],
        deps=["ROOT", "x", "", ""],
        sent_starts=[True, False, True, False],
    )
    doc._.arc_scores = [scores_of_tree(np.array([2, 0, 2, 3]), rng)]
    doc.from_array(["SENT_START"], np.array([1, -1, 1, -1], dtype=np.int64).view(np.uint64))
    with pytest.raises(errors.SentenceMismatchError):
        nlp.get_pipe("mind_root")(doc)


def test_boundaries_that_a_second_root_made_are_mended(nlp, rng):
    """A parse with two roots has split the sentence; that is no boundary that anyone has set."""
    doc = Doc(
        nlp.vocab,
        words=list("abcd"),
        heads=[1, 1, 2, 2],
        deps=["x", "ROOT", "ROOT", "x"],
        sent_starts=[True, False, False, False],
    )
    assert len(list(doc.sents)) == 2
    doc._.arc_scores = [scores_of_tree(np.array([2, 0, 2, 3]), rng)]
    nlp.get_pipe("mind_root")(doc)
    assert [len(s) for s in doc.sents] == [4]
    assert [t.dep_ for t in doc] == ["x", "ROOT", "dep", "x"]


def test_scores_that_split_a_parsed_sentence_are_an_error(nlp, rng):
    doc = Doc(nlp.vocab, words=list("abcd"), heads=[1, 1, 1, 2], deps=["x", "ROOT", "x", "x"])
    doc._.arc_scores = [scores_of_tree(np.array([2, 0]), rng)] * 2
    with pytest.raises(errors.SentenceMismatchError, match="4 tokens, but .* 2, 2"):
        nlp.get_pipe("mind_root")(doc)


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        (None, errors.MissingScoresError, "store_user_data=True"),
        ([np.zeros((3, 4))], errors.SentenceMismatchError, "4 tokens, .* 3 tokens"),
        ([np.zeros((3, 4)), np.zeros((0, 1)), np.zeros((1, 2))], errors.SentenceMismatchError, "0 tokens"),
        (np.zeros((4, 5)), errors.ScoresShapeError, "one array per sentence; .*whole_doc_scores"),
        ([np.zeros((4, 4))], errors.ScoresShapeError, "sentence 1 of Doc 'a b c d': .*layout"),
        ([np.full((4, 5), np.nan)], errors.InvalidScoreError, r"sentence 1 of Doc 'a b c d': .*dependent 1 \('a'\)"),
        (
            [np.zeros((2, 3)), np.array([[0, 0, 0], [0, np.inf, 0]])],
            errors.InvalidScoreError,
            r"sentence 2 .*head 1 \('c'\) for dependent 2 \('d'\)",
        ),
        ([np.full((4, 5), -np.inf)], errors.NoRootError, "sentence 1"),
    ],
)
def test_scores_that_do_not_fit_leave_the_doc_as_it_was(nlp, scores, error, says):
    doc = Doc(nlp.vocab, words=list("abcd"), heads=[0, 0, 2, 2], deps=["ROOT", "x", "ROOT", "x"])
    doc._.arc_scores = scores
    before = state(doc)
    with pytest.raises(error, match=says):
        nlp.get_pipe("mind_root")(doc)
    assert state(doc) == before


def test_a_cyclic_doc_is_replaced_without_walking_its_tree(nlp, rng):
    doc = Doc(nlp.vocab, words=list("abcd"), heads=[1, 0, 2, 2], deps=["x", "x", "ROOT", "x"])
    doc._.arc_scores = [scores_of_tree(np.array([2, 0, 2, 3]), rng)]
    nlp.get_pipe("mind_root")(doc)
    assert read_heads(doc) == [[2, 0, 2, 3]]


# ---------------------------------------------------------------------------------------------------------------------
# Streams


def stream(nlp, rng, count=40):
    docs, heads = zip(
        *(make_doc(nlp, rng.integers(1, 12, size=rng.integers(1, 4)), rng) for _ in range(count)), strict=True
    )
    return list(docs), [as_lists(trees) for trees in heads]


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_pipe_gives_the_same_as_one_by_one(nlp, rng, batch_size):
    docs, heads = stream(nlp, rng)
    assert [read_heads(doc) for doc in nlp.pipe(docs, batch_size=batch_size)] == heads


def test_a_fault_is_named_by_its_own_sentence(nlp, rng):
    docs = [make_doc(nlp, [2, 3], rng)[0] for _ in range(3)]
    docs[2]._.arc_scores[1][1, 0] = np.nan
    with pytest.raises(errors.InvalidScoreError, match=r"sentence 2 of Doc .*for dependent 2 \('w3'\)") as caught:
        list(nlp.pipe(docs))
    assert (caught.value.sentence, caught.value.dependent, caught.value.head) == (1, 2, 0)


def test_a_doc_too_large_for_memory_does_not_lose_the_others(nlp, rng, monkeypatch):
    fault = Fault("no_memory", 1, 0, 0)
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.mind_root.decode_matrices", lambda matrices, **_: (decode_batch(matrices), [fault])
    )
    docs = [make_doc(nlp, [2], rng)[0], make_doc(nlp, [2], rng)[0]]
    caught = []
    nlp.set_error_handler(lambda name, proc, failed, error: caught.append(error))
    assert len(list(nlp.pipe(docs))) == 1
    assert isinstance(caught[0], MemoryError) and isinstance(caught[0], ValueError)


def test_a_warning_that_is_an_error_leaves_the_doc_as_it_was(nlp, rng):
    n = 100
    heads = zigzag(n)
    doc = Doc(nlp.vocab, words=["w"] * n, heads=[0] * n, deps=["ROOT"] + ["x"] * (n - 1))
    doc._.arc_scores = [scores_of_tree(heads, rng)]
    before = state(doc)
    with pytest.raises(TangledTreeWarning):
        nlp.get_pipe("mind_root")(doc)
    assert state(doc) == before
    with pytest.warns(TangledTreeWarning):
        nlp.get_pipe("mind_root")(doc)
    assert read_heads(doc) == [heads.tolist()]


def test_a_faulty_doc_raises_in_a_stream(nlp, rng):
    docs, _ = stream(nlp, rng, 3)
    docs[1]._.arc_scores = None
    with pytest.raises(errors.MissingScoresError):
        list(nlp.pipe(docs))


def test_a_faulty_doc_does_not_lose_the_others(nlp, rng):
    docs, heads = stream(nlp, rng, 10)
    docs[2]._.arc_scores = None  # can't be read
    docs[5]._.arc_scores[0][0, :] = np.nan  # can't be decoded
    docs[7]._.arc_labels = [np.zeros((1, 1))]  # can't be labelled
    before = {k: state(docs[k]) for k in (2, 5, 7)}
    caught = []
    nlp.set_error_handler(lambda name, proc, failed, error: caught.append((name, failed, type(error))))
    parsed = list(nlp.pipe(docs, batch_size=4))
    assert [(name, len(failed), error) for name, failed, error in caught] == [
        ("mind_root", 1, errors.MissingScoresError),
        ("mind_root", 1, errors.InvalidScoreError),
        ("mind_root", 1, errors.LabelsError),
    ]  # fmt: skip
    assert [failed[0] for _, failed, _ in caught] == [docs[2], docs[5], docs[7]]
    assert [read_heads(doc) for doc in parsed] == [heads[k] for k in range(10) if k not in before]
    assert {k: state(docs[k]) for k in before} == before


def test_spacys_own_error_handlers(nlp, rng, caplog):
    docs, _ = stream(nlp, rng, 3)
    docs[1]._.arc_scores = None
    nlp.set_error_handler(spacy.util.ignore_error)
    assert len(list(nlp.pipe(docs))) == 2


def test_docs_that_come_from_a_doc_bin(nlp, rng):
    docs, heads = stream(nlp, rng, 5)
    with_data = DocBin(docs=docs, store_user_data=True).to_bytes()
    restored = DocBin().from_bytes(with_data).get_docs(nlp.vocab)
    assert [read_heads(doc) for doc in nlp.pipe(restored)] == heads
    without = DocBin().from_bytes(DocBin(docs=stream(nlp, rng, 1)[0]).to_bytes()).get_docs(nlp.vocab)
    with pytest.raises(errors.MissingScoresError, match="store_user_data=True"):
        list(nlp.pipe(without))


def test_pickled_docs_and_labels_that_came_back_read_only(nlp, rng):
    labels = [np.full((4, 5), 1, dtype=np.uint8)]
    doc, heads = make_doc(nlp, [4], rng, arc_labels=labels, arc_label_names=["root", "nsubj"])
    for copy in (pickle.loads(pickle.dumps(doc)), Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        nlp.get_pipe("mind_root")(copy)
        assert read_heads(copy) == as_lists(heads)
        assert {t.dep_ for t in copy} == {"ROOT", "nsubj"}


# ---------------------------------------------------------------------------------------------------------------------
# To and from disk


def test_settings_survive_disk_and_bytes(rng, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"root_label": "root", "fallback_label": "x", "keep_scores": True})
    nlp.to_disk(tmp_path)
    other = spacy.blank("en")
    other.add_pipe("mind_root")
    other.from_bytes(nlp.to_bytes())
    for copy in (spacy.load(tmp_path), other):
        doc, _ = make_doc(copy, [3], rng)
        copy.get_pipe("mind_root")(doc)
        assert {t.dep_ for t in doc} == {"root", "x"}
        assert doc._.arc_scores is not None


def test_bytes_that_hold_other_settings(nlp):
    component = nlp.get_pipe("mind_root")
    with pytest.raises(errors.LabelsError):
        component.from_bytes(srsly.msgpack_dumps({"keep_scores": False, "root_label": "", "fallback_label": "dep"}))
    component.from_bytes(
        srsly.msgpack_dumps({"keep_scores": True, "root_label": "r", "fallback_label": "d", "pipe": 3})
    )
    assert callable(component.pipe) and component.keep_scores


def test_settings_given_when_loading_hold(rng, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root")
    nlp.to_disk(tmp_path)
    assert (
        spacy.load(tmp_path, config={"components": {"mind_root": {"keep_scores": True}}})
        .get_pipe("mind_root")
        .keep_scores
    )


def test_random_scores_of_every_kind_give_one_root(nlp, rng):
    for kind in ("normal", "tied", "all_equal", "root_attractive", "finitely_masked", "huge"):
        doc = Doc(nlp.vocab, words=["w"] * 12)
        doc._.arc_scores = [random_scores(kind, 12, rng, np.float32)]
        nlp.get_pipe("mind_root")(doc)
        assert len(list(doc.sents)) == 1
        assert sum(t.head == t for t in doc) == 1


def test_labels_are_there_after_a_memory_zone():
    """A zone ends with the strings that were added in it, and the component keeps their hashes."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("mind_root")
    for _ in range(2):
        with nlp.memory_zone():
            doc = Doc(nlp.vocab, ["a", "b"], sent_starts=[True, False])
            doc._.arc_scores, doc._.arc_labels = [np.zeros((2, 3))], [np.full((2, 3), 1)]
            doc._.arc_label_names = ["ROOT", "a label that nothing else has"]
            assert "a label that nothing else has" in [token.dep_ for token in nlp(doc)]


def test_settings_are_those_of_the_constructor():
    """Each config that the repository shows has all of them, and `to_bytes` keeps those that are no functions."""
    defaults = Language.get_factory_meta("mind_root").default_config
    shown = (ROOT / "docs" / "howto" / "configs.md").read_text("utf8").partition("[components.mind_root]\n")[2]
    made = Config().from_disk(next((ROOT / "configs").glob("*.cfg")), interpolate=False)["components"]["mind_root"]
    own = Config().from_str("[own]\n" + shown.partition("\n```")[0])["own"]
    assert own == {"factory": "mind_root", **defaults} and made.keys() == own.keys()
    kept = MindRoot(scores=DocArcScores())
    for name, value in (
        ("rules", "ud"),
        ("root_label", "top"),
        ("confidence", True),
        ("coverage", 0.9),
        ("coverage_of", "sentence"),
    ):
        setattr(kept, name, value)
    restored = MindRoot(scores=DocArcScores()).from_bytes(kept.to_bytes())
    assert all(getattr(restored, name) == getattr(kept, name) for name in defaults.keys() - {"scores", "scorer"})

"""Trees written to a Doc are read back as written."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from generators import random_tree, zigzag
from spacy_mindroot import TangledTreeWarning, errors, restore_sentences
from spacy_mindroot.inference import Calibration
from spacy_mindroot.pipeline.annotate import hash_labels, labels_of_trees, write_trees
from spacy_mindroot.pipeline.arc_labels import ArcLabels

LABELS = ("nsubj", "obj", "case", "punct", "conj")


HERE, THERE = Vocab(), Vocab()  # of Docs that are made, and of Docs that are read


def make_doc(n, **kwargs):
    return Doc(HERE, words=[f"w{i}" for i in range(n)], **kwargs)


def snapshot(doc):
    """Heads, deps and sentences, as a user reads them."""
    return [t.head.i for t in doc], [t.dep_ for t in doc], [(s.start, s.end) for s in doc.sents]


def expected_snapshot(heads, labels):
    absolute, deps, sents, start = [], [], [], 0
    for sentence, names in zip(heads, labels, strict=True):
        for i, (head, name) in enumerate(zip(sentence, names, strict=True)):
            absolute.append(start + (int(head) - 1 if head else i))
            deps.append(name if head else "ROOT")
        sents.append((start, start + len(sentence)))
        start += len(sentence)
    return absolute, deps, sents


RESTORED = (  # ways to and from bytes
    ("pickle", lambda doc: pickle.loads(pickle.dumps(doc))),
    ("bytes", lambda doc: Doc(THERE).from_bytes(doc.to_bytes())),
    ("DocBin", lambda doc: next(iter(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(THERE)))),
)


def restored_copies(doc):
    return [(how, restored(doc)) for how, restored in RESTORED]


@pytest.mark.filterwarnings("ignore::spacy_mindroot.TangledTreeWarning")
def test_three_thousand_docs_of_non_projective_trees(rng):
    """In memory always. After a round trip, restore_sentences mends the trees that the warning names.

    Each of the 3,000 Docs takes one of the three ways, in turn; those that the warning names take all of them.
    """
    tangled = 0
    for number in range(3000):
        lengths = rng.integers(1, rng.choice([6, 30, 101]), size=rng.integers(1, 5))
        heads = [random_tree(n, rng) for n in lengths]
        labels = [rng.choice(LABELS, size=n).tolist() for n in lengths]
        doc = make_doc(sum(lengths))
        lost = spacy_loses_sentences(heads)
        with pytest.warns(TangledTreeWarning) if lost else no_warning():
            write_trees(doc, heads, hash_labels(doc.vocab.strings, sum(labels, [])))
        expected = expected_snapshot(heads, labels)
        assert snapshot(doc) == expected
        tangled += lost
        ways = range(3) if lost else [number % 3]
        for how, restored in [RESTORED[way] for way in ways]:
            copy = restored(doc)
            if lost:
                restore_sentences(copy)
            assert snapshot(copy) == expected, how
    assert tangled < 100


def spacy_loses_sentences(heads):
    """Whether spaCy, given these heads and no help, sets the wrong sentence starts."""
    absolute, deps, sents = expected_snapshot(heads, [["dep"] * len(sentence) for sentence in heads])
    doc = make_doc(len(absolute), heads=absolute, deps=deps)
    return [(s.start, s.end) for s in doc.sents] != sents


def no_warning():
    import warnings

    return warnings.catch_warnings(action="error")


def test_a_very_tangled_tree_is_right_in_memory_and_said_to_be_lost_on_disk():
    heads = zigzag(100)
    doc = make_doc(101)
    with pytest.warns(TangledTreeWarning, match="restore_sentences"):
        write_trees(doc, [heads, [0]])
    assert [len(s) for s in doc.sents] == [100, 1]
    for how, copy in restored_copies(doc):
        assert [t.head.i for t in copy] == [t.head.i for t in doc], how
        assert [len(s) for s in copy.sents] != [100, 1], "spaCy has learnt it: the warning can go"
        restore_sentences(copy)
        assert [len(s) for s in copy.sents] == [100, 1], how


def test_where_warnings_are_errors_a_very_tangled_tree_is_not_written():
    parsed = make_doc(101)
    write_trees(parsed, [random_tree(50, np.random.default_rng(1)), random_tree(51, np.random.default_rng(2))])
    for doc in (parsed, make_doc(101, sent_starts=[i in (0, 50) for i in range(101)])):
        before, starts = snapshot(doc), [token.is_sent_start for token in doc]
        with no_warning(), pytest.raises(TangledTreeWarning):
            write_trees(doc, [zigzag(100), [0]])
        assert snapshot(doc) == before and [token.is_sent_start for token in doc] == starts


def test_restore_sentences_leaves_what_is_right_alone(rng):
    heads = [random_tree(n, rng) for n in (5, 1, 8)]
    doc = make_doc(14)
    write_trees(doc, heads)
    before = snapshot(doc)
    restore_sentences(doc)
    assert snapshot(doc) == before
    unparsed = make_doc(3, sent_starts=[True, False, True])
    restore_sentences(unparsed)
    assert [len(s) for s in unparsed.sents] == [2, 1]
    restore_sentences(make_doc(0))


def test_sentence_interiors_are_known_not_to_be_starts():
    doc = make_doc(4)
    write_trees(doc, [[2, 0], [0, 1]])
    assert [t.is_sent_start for t in doc] == [True, False, True, False]


def test_a_tree_replaces_another(rng):
    """Whatever tree, boundaries or cycle the Doc has."""
    for old in (
        {"heads": [1, 1, 2, 2], "deps": ["x", "ROOT", "ROOT", "x"]},
        {"heads": [1, 0, 2, 2], "deps": ["x", "x", "ROOT", "x"]},
    ):
        doc = make_doc(4, **old)
        write_trees(doc, [np.array([2, 0, 2, 3])])
        assert snapshot(doc) == ([1, 1, 1, 2], ["x", "ROOT", "dep", "x"], [(0, 4)])
        assert len(list(doc[1].subtree)) == 4


def test_labels_given_kept_or_made_up():
    doc = make_doc(5, heads=[1, 1, 1, 1, 3], deps=["nsubj", "ROOT", "obj", "Root", ""])

    def write(heads, labels=None, **settings):
        hashes = labels and hash_labels(doc.vocab.strings, labels, settings.get("root_label", "ROOT"))
        write_trees(doc, [heads], hashes, **settings)
        return [t.dep_ for t in doc]

    assert write([2, 0, 2, 2, 4], ["expl", "obj", None, None, ""]) == ["expl", "ROOT", "obj", "dep", "dep"]
    assert write([0, 1, 2, 2, 4], root_label="top", fallback_label="?") == ["top", "?", "obj", "dep", "dep"]
    labels = ["root", "x", "ROOT", "Top", "y"]
    assert write([2, 0, 2, 2, 4], labels, root_label="top", fallback_label="?") == ["?", "top", "obj", "dep", "y"]
    assert write([2, 0, 1, 2, 4], root_label="top", fallback_label="!") == ["?", "top", "!", "dep", "y"]


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        ([[2, 0], [4, 0]], "sentence 2 of Doc 'w0 w1 w2 w3': the head of token 1 is 4.*from 0 .* to 2"),
        ([[2, 0], [-1, 0]], "the head of token 1 is -1"),
        ([[2, 0], [2, 1]], "sentence 2 .*cycle"),
        ([[2, 0], [1, 0]], "sentence 2 .*cycle"),
        ([[2, 0], [0, 0]], "sentence 2 .*2 roots"),
        ([[2, 0]], "4 tokens, but there are heads for 2"),
    ],
)
def test_heads_that_are_no_tree_are_refused_and_the_doc_left_alone(heads, says):
    doc = make_doc(4, heads=[0, 0, 1, 2], deps=["ROOT", "a", "b", "c"])
    before = doc.to_bytes()
    with pytest.raises(errors.HeadsError, match=says):
        write_trees(doc, [np.array(sentence) for sentence in heads])
    assert doc.to_bytes() == before


def test_labels_that_do_not_match_the_heads():
    with pytest.raises(errors.LabelsError, match="3 tokens, but there are labels for 2"):
        write_trees(make_doc(3), [[0, 1], [0]], np.array([1, 2], dtype=np.uint64))
    with pytest.raises(errors.LabelsError, match="must not be empty"):
        write_trees(make_doc(1), [[0]], fallback_label="")


def test_long_docs_and_heads_are_cut_short_in_messages():
    says = r"Doc 'w0 w1 w2 w3 w4 w5 \.\.\.': the heads 2, 1(, 1){8}, \.\.\. \(20 in all\)"
    with pytest.raises(errors.HeadsError, match=says):
        write_trees(make_doc(20), [[2, 1, *[1] * 18]])


def test_nothing_to_write():
    write_trees(make_doc(0), [])
    assert spacy.blank("en")("").to_json()["tokens"] == []


def test_labels_need_not_be_contiguous():
    doc = Doc(Vocab(), words=["a", "b", "c"])
    label = doc.vocab.strings.add("nsubj")
    write_trees(doc, [[2, 0, 2]], np.array([label, 5, 0, 5, 0, 5], dtype=np.uint64)[::2])
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "dep"]


@pytest.mark.parametrize("number", [-1, 2])
def test_numbers_that_no_label_has(number):
    doc = make_doc(2)
    hashes = hash_labels(doc.vocab.strings, ["nsubj", "obj"])
    with pytest.raises(errors.LabelsError, match=f"from head 2 to dependent 1 is {number}, but .* has 2 names"):
        labels_of_trees(doc, [np.array([[0, 0, number], [0, 0, 0]])], hashes, [np.array([2, 0])])


class _Scored(ArcLabels):
    def __init__(self, scores):
        self.scores, n = np.array(scores), len(scores)
        self.shape, self.dtype = (n, n + 1), np.dtype("uint8")

    def scores_of_tree(self, heads):
        return self.scores

    def of_tree(self, heads):
        return self.scores.argmax(axis=1).astype(self.dtype)

    def of_all_arcs(self):
        raise NotImplementedError


def test_probabilities_of_labels_are_there_for_the_sentences_that_have_scores():
    vocab = spacy.blank("xx").vocab
    doc = Doc(vocab, words=list("abcd"))
    hashes = hash_labels(vocab.strings, ["ROOT", "obj", "root"])
    heads = [np.array([2, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32)]
    calibration = Calibration(label_temperature=2.0, label_lapse=0.3)
    # The best label of the first token can't be written on an arc that is not from ROOT.
    scored = _Scored([[-np.inf, 0, 2], [0, -np.inf, -np.inf]])
    arrays = np.array([[0, 0, 0], [0, 1, 0]])
    found, p = labels_of_trees(doc, [scored, arrays], hashes, heads, calibration)
    assert p == [[None, 1.0], [None, None]] and found.tolist() == [0, 0, 0, vocab.strings["obj"]]
    scored.scores[0] = [-np.inf, 2, 0]
    _, p = labels_of_trees(doc, [scored, arrays], hashes, heads, calibration)
    assert p[0][0] == pytest.approx(0.7 * np.exp(1) / (1 + np.exp(1)) + 0.3 / 2)
    assert labels_of_trees(doc, [arrays, arrays], hashes, heads, calibration)[1] is None
    assert labels_of_trees(doc, [scored, arrays], hashes, heads)[1] is None  # not asked for
    with pytest.raises(errors.LabelsError, match="for 1 sentences"):
        labels_of_trees(doc, [arrays], hashes, heads, calibration)

"""The component's constraints, projective trees, next best trees and confidence, on real Docs."""

import copy
import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from generators import has_crossing_arcs, random_scores, weights_of_all_trees
from spacy_mindroot import decode, errors, is_projective
from spacy_mindroot.decoding import decode_matrices
from spacy_mindroot.inference import Calibration, confidence, kbest, tree_margin
from spacy_mindroot.pipeline.mind_root import MindRoot
from spacy_mindroot.pipeline.sources import DocArcScores


def parser(**config):
    nlp = spacy.blank("en")
    return nlp, nlp.add_pipe("mind_root", config=config)


def make_doc(nlp, lengths, rng, constraints=None):
    doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(sum(lengths))])
    doc._.arc_scores = [random_scores("normal", n, rng) for n in lengths]
    doc._.arc_constraints = constraints
    return doc, doc._.arc_scores


def read_heads(doc):
    return [[0 if t.head.i == t.i else t.head.i - s.start + 1 for t in s] for s in doc.sents]


def state(doc):
    return doc.to_bytes(exclude=["user_data"]), list(doc.user_data)


def restored(doc):
    """The Doc, and what it is after each way of storing it."""
    yield doc
    yield Doc(doc.vocab).from_bytes(doc.to_bytes())
    yield next(iter(DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes()).get_docs(doc.vocab)))
    yield pickle.loads(pickle.dumps(doc))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("calibration", [None, Calibration(2.0, 0.2, head_set_thresholds={"90": 0.1})])
def test_masks_of_any_size_are_as_good_as_minus_infinity(calibration, projective, rng):
    """Punctuation has no dependents and is not the root."""
    nlp, mind_root = parser(confidence=True, projective=projective, coverage=0.9)
    mind_root.calibration = calibration

    def results(scores):
        doc = Doc(nlp.vocab, words=["w"] * sum(map(len, scores)))
        doc._.arc_scores = scores
        mind_root(doc)
        of_tokens = [(t._.head_prob, t._.head_entropy) for t in doc]
        return (
            read_heads(doc),
            [t._.head_set and [own.i for own in t._.head_set] for t in doc],
            of_tokens,
            [s._.tree_logprob for s in doc.sents],
        )

    forbidden = [random_scores("normal", n, rng) for n in (3, 2, 9)]
    for scores in forbidden:
        scores[:, -1] = scores[-1, 0] = -np.inf
    heads, sets, of_tokens, logprobs = results(forbidden)
    for large in (1e6, 1e16, np.finfo(np.float32).max, np.finfo(np.float64).max):
        found = results([np.where(scores == -np.inf, -large, scores) for scores in forbidden])
        assert found[:2] == (heads, sets)
        np.testing.assert_allclose(found[2], of_tokens, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found[3], logprobs, rtol=0, atol=1e-9)


def test_with_kbest_no_sentence_is_decoded_twice(rng, monkeypatch):
    nlp, mind_root = parser(kbest=2)
    decoded = []

    def count(matrices, **settings):
        decoded.extend(matrices)
        return decode_matrices(matrices, **settings)

    monkeypatch.setattr("spacy_mindroot.pipeline.mind_root.decode_matrices", count)
    doc, scores = make_doc(nlp, [3, 4], rng)
    mind_root(doc)
    assert decoded == [] and read_heads(doc) == [decode(own).tolist() for own in scores]


# ---------------------------------------------------------------------------------------------------------------------
# Constraints


def test_arcs_of_the_doc_hold_and_the_rest_is_parsed_around_them(rng):
    nlp, mind_root = parser()
    for _ in range(50):
        constraints = {"required": [(0, 2), (5, 5)], "forbidden": [(1, 1), (4, 5), (0, 6)]}
        doc, scores = make_doc(nlp, [3, 4], rng, constraints)
        before = copy.deepcopy(constraints)
        mind_root(doc)
        first = decode(scores[0], required=[(1, 3)], forbidden=[(2, 0)])
        second = decode(scores[1], required=[(3, 0)], forbidden=[(2, 3)])
        assert read_heads(doc) == [first.tolist(), second.tolist()]
        assert doc[0].head.i == 2 and doc[5].head.i == 5
        assert doc._.arc_constraints == before


def test_a_corrected_parse_is_its_own_constraint(rng):
    """All arcs of another tree, in spaCy's numbering, as required ones: the tree is that one."""
    nlp, mind_root = parser()
    doc, _ = make_doc(nlp, [4, 1, 6], rng)
    arcs = [(t.i, t.head.i) for t in mind_root(doc)]
    other, _ = make_doc(nlp, [4, 1, 6], rng, {"required": arcs})
    assert [(t.i, t.head.i) for t in mind_root(other)] == arcs


def test_constraints_that_came_back_from_bytes(rng):
    nlp, mind_root = parser()
    doc, _ = make_doc(nlp, [3], rng, {"required": [(0, 2)]})
    for copied in list(restored(doc)):
        assert mind_root(copied)[0].head.i == 2


@pytest.mark.parametrize("constraints", [None, {}, {"required": []}, {"forbidden": ()}])
def test_no_constraints(constraints, rng):
    nlp, mind_root = parser()
    doc, scores = make_doc(nlp, [5], rng, constraints)
    assert read_heads(mind_root(doc)) == [decode(scores[0]).tolist()]


@pytest.mark.parametrize(
    ("constraints", "error", "says"),
    [
        ([(0, 1)], errors.ConstraintsError, "a dict .*'required'"),
        ({"require": [(0, 1)]}, errors.ConstraintsError, "a dict .*'required'"),
        ({"required": [(0, 9)]}, errors.ConstraintsError, r"no arc \(0, 9\) .*from 0 to 6"),
        ({"forbidden": [(-1, 0)]}, errors.ConstraintsError, r"no arc \(-1, 0\)"),
        ({"forbidden": [0]}, errors.ConstraintsError, "Doc 'w0 .*pairs"),
        ({"required": 3}, errors.ConstraintsError, "Doc 'w0 .*a list"),
        ({"required": [(0, None)]}, errors.ConstraintsError, "pairs of ints"),
        ({"required": [(0, 4)]}, errors.ConstraintsError, r"token 0 \('w0'\) .* token 4 \('w4'\) .*another sentence"),
        (
            {"required": [(3, 4), (0, 1), (4, 3)]},
            errors.ConflictError,
            r"sentence 2 of Doc .*head 2 \('w4'\) is required for dependent 1 \('w3'\), .*a cycle",
        ),
    ],
)
def test_constraints_that_can_not_be_met_leave_the_doc_as_it_was(constraints, error, says, rng):
    nlp, mind_root = parser(confidence=True, kbest=2)
    doc, _ = make_doc(nlp, [3, 4], rng, constraints)
    before = state(doc)
    with pytest.raises(error, match=says):
        mind_root(doc)
    assert state(doc) == before


def test_a_conflict_does_not_lose_the_other_docs(rng):
    nlp, _ = parser()
    docs = [make_doc(nlp, [3, 2], rng, c)[0] for c in ({"required": [(3, 3), (4, 4)]}, {"required": [(1, 1)]}, None)]
    caught = []
    nlp.set_error_handler(lambda name, proc, failed, error: caught.append(error))
    assert len(list(nlp.pipe(docs))) == 2
    assert caught[0].required == [(1, 0), (2, 0)] and caught[0].sentence == 1


# ---------------------------------------------------------------------------------------------------------------------
# Projective trees


def test_projective_trees(rng):
    nlp, mind_root = parser(projective=True)
    changed = 0
    for _ in range(30):
        doc, scores = make_doc(nlp, [6, 5], rng, {"required": [(0, 3)]})
        mind_root(doc)
        masks = [{"required": [(1, 4)]}, {}]
        assert read_heads(doc) == [
            decode(matrix, projective=True, **mask).tolist() for matrix, mask in zip(scores, masks, strict=True)
        ]
        assert not any(map(has_crossing_arcs, read_heads(doc)))
        changed += has_crossing_arcs(decode(scores[1]))
    assert changed


def test_a_sentence_without_a_projective_tree_is_named(rng):
    nlp, mind_root = parser(projective=True)
    doc, scores = make_doc(nlp, [2, 4], rng)
    scores[1][:] = -np.inf
    scores[1][np.arange(4), [3, 4, 0, 3]] = 0
    with pytest.raises(errors.NoTreeError, match="sentence 2 of Doc .*crossing"):
        mind_root(doc)
    doc._.arc_constraints = {"required": [(0, 0)]}
    mind_root.projective = False
    assert read_heads(mind_root(doc))[1] == [3, 4, 0, 3]


def test_a_number_of_trees_that_is_none():
    for k in (0, 1.5, "3"):
        with pytest.raises(errors.CountError, match="kbest"):
            MindRoot(scores=DocArcScores(), kbest=k)


# ---------------------------------------------------------------------------------------------------------------------
# Next best trees and confidence


@pytest.mark.parametrize("projective", [True, False])
def test_the_best_trees_of_each_sentence(projective, rng):
    nlp, mind_root = parser(kbest=4, projective=projective)
    doc, scores = make_doc(nlp, [5, 1, 7], rng)
    mind_root(doc)
    for copied in restored(doc):
        for sentence, matrix, heads in zip(copied.sents, scores, read_heads(doc), strict=True):
            expected = kbest(matrix, 4, projective=projective)
            assert [(tree.tolist(), weight) for tree, weight in sentence._.trees] == [
                (tree.tolist(), weight) for tree, weight in expected
            ]
            assert sentence._.trees[0][0].tolist() == heads
            assert sentence._.tree_logprob is None
    assert doc[0]._.head_prob is None and doc[0:1]._.trees is None


@pytest.mark.parametrize("projective", [True, False])
def test_confidence_is_that_of_the_tree_that_is_written(projective, rng):
    nlp, mind_root = parser(confidence=True, projective=projective)
    lengths = [4, 1, 5]
    constraints = {"forbidden": [(1, 0)], "required": [(6, 8)]}
    doc, scores = make_doc(nlp, lengths, rng, constraints)
    mind_root(doc)
    masks = [{"forbidden": [(2, 1)]}, {}, {"required": [(2, 4)]}]
    for copied in restored(doc):
        for sentence, matrix, heads, mask in zip(copied.sents, scores, read_heads(doc), masks, strict=True):
            trees, weights = weights_of_all_trees(matrix, single_root=True, **mask)
            counted = np.array([is_projective(tree) or not projective for tree in trees])
            relative = np.where(counted, np.exp(weights - weights.max()), 0)
            probabilities = relative / relative.sum()
            own = (trees == heads).all(axis=1)
            assert sentence._.tree_logprob == pytest.approx(np.log(probabilities[own][0]), abs=1e-9)
            others = weights[~own & counted]
            assert sentence._.tree_margin == pytest.approx(weights[own][0] - others.max(initial=-np.inf))
            for i, token in enumerate(sentence):
                assert token._.head_prob == pytest.approx(probabilities[trees[:, i] == heads[i]].sum())
                of_heads = np.bincount(trees[:, i], weights=probabilities)
                of_heads = of_heads[of_heads > 0]
                assert token._.head_entropy == pytest.approx(-(of_heads * np.log(of_heads)).sum(), abs=1e-9)
            assert sentence._.trees is None


def test_values_are_plain_numbers(rng):
    nlp, mind_root = parser(confidence=True)
    doc, _ = make_doc(nlp, [3], rng)
    mind_root(doc)
    sentence = next(doc.sents)
    for value in (doc[1]._.head_prob, doc[1]._.head_entropy, sentence._.tree_logprob, sentence._.tree_margin):
        assert type(value) is float


def test_a_certain_arc_has_no_doubt_left(rng):
    nlp, mind_root = parser(confidence=True)
    doc, _ = make_doc(nlp, [3], rng, {"required": [(0, 2), (1, 0), (2, 2)]})
    mind_root(doc)
    sentence = next(doc.sents)
    assert [(t._.head_prob, t._.head_entropy) for t in doc] == [(1, 0)] * 3
    assert sentence._.tree_logprob == 0 and sentence._.tree_margin == np.inf


def test_nothing_is_left_of_an_earlier_tree(rng):
    nlp, mind_root = parser(confidence=True, kbest=2)
    doc, scores = make_doc(nlp, [3, 4], rng)
    doc.user_data["mine"] = 1
    doc.user_data[("._.", "of_another", 0, None)] = 2
    mind_root(doc)
    mind_root.kbest, mind_root.confidence = 1, False
    doc._.arc_scores = [np.zeros((3, 4)), np.zeros((4, 5))]
    mind_root(doc)
    assert set(doc.user_data) == {
        "mine",
        ("._.", "of_another", 0, None),
        ("._.", "arc_constraints", None, None),
    }
    assert doc[0]._.head_prob is None and next(doc.sents)._.trees is None


def test_streams_workers_and_empty_docs(rng):
    nlp, _ = parser(confidence=True, kbest=2)
    docs = [make_doc(nlp, [3, 2], rng)[0] for _ in range(4)] + [Doc(nlp.vocab)]
    scores = [doc._.arc_scores for doc in docs]
    parsed = list(nlp.pipe(docs, batch_size=2, n_process=2))
    assert len(parsed) == 5
    for doc, matrices in zip(parsed[:4], scores, strict=False):
        for sentence, matrix in zip(doc.sents, matrices, strict=True):
            assert sentence._.tree_margin == pytest.approx(tree_margin(matrix))
            assert sentence[0]._.head_prob == pytest.approx(confidence(matrix, decode(matrix)).head_prob[0])


def test_switches_survive_disk_and_bytes(tmp_path):
    nlp, mind_root = parser(confidence=True, kbest=3)
    nlp.to_disk(tmp_path)
    other, fresh = parser()
    other.from_bytes(nlp.to_bytes())
    for loaded in (spacy.load(tmp_path).get_pipe("mind_root"), fresh):
        assert (loaded.confidence, loaded.kbest, loaded.projective) == (True, 3, False)

"""Required and forbidden arcs, and projective trees: against all trees that meet the constraints."""

import numpy as np
import pytest

from generators import DATE, KINDS, random_arcs, random_scores, total, weights_of_all_trees
from spacy_mindroot import constrain_scores, count_roots, decode, decode_batch, errors, is_projective, is_tree
from spacy_mindroot.constraints import Constraints, read_constraints

SCORES = np.array([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], dtype=float)


def agrees_with_exhaustion(scores, **options):
    """Whether decode returns one of the best trees; None if there is none and decode says so."""
    weights = weights_of_all_trees(scores, **options)[1]
    if len(weights) == 0:
        with pytest.raises(errors.DecodingError):
            decode(scores, **options)
        return None
    heads = decode(scores, **options)
    assert is_tree(heads) and (not options["single_root"] or count_roots(heads) == 1)
    assert all(heads[dependent - 1] == head for dependent, head in options.get("required", ()))
    assert all(heads[dependent - 1] != head for dependent, head in options.get("forbidden", ()))
    assert not options.get("projective") or is_projective(heads)
    return total(scores, heads) == pytest.approx(weights[0], rel=1e-12)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_all_trees_that_meet_the_constraints(kind, projective, single_root, rng):
    found = []
    for _ in range(60):
        n = rng.integers(3, 6)
        arcs = random_arcs(n, 5, rng)
        cut = rng.integers(0, 3)
        options = {
            "required": arcs[:cut],
            "forbidden": arcs[cut:],
            "single_root": single_root,
            "projective": projective,
        }
        found.append(
            agrees_with_exhaustion(random_scores(kind, n, rng, rng.choice([np.float32, np.float64])), **options)
        )
    assert False not in found and found.count(True) > 5


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_all_projective_trees(kind, single_root, rng):
    for n in (1, 2, 3, 4, 4, 5, 5, 5, 6):
        scores = random_scores(kind, n, rng, rng.choice([np.float32, np.float64]))
        assert agrees_with_exhaustion(scores, single_root=single_root, projective=True) in (True, None)


@pytest.mark.parametrize("n", [10, 30, 80])
@pytest.mark.parametrize("kind", ["normal", "tied", "root_attractive", "finitely_masked"])
def test_longer_projective_trees(kind, n, rng):
    """A projective best tree is found, and no tree that is found beats it. The result is the same for every dtype."""
    scores = random_scores(kind, n, rng, np.float32)
    heads = decode(scores, projective=True)
    assert is_tree(heads) and count_roots(heads) == 1 and is_projective(heads)
    assert total(scores, heads) <= total(scores, decode(scores))
    assert decode(scores.astype(np.float64), projective=True).tolist() == heads.tolist()
    # Reversed, it is the same problem: the best weight is the same, found along other splits.
    reversed_scores = np.concatenate([scores[::-1, :1], scores[::-1, :0:-1]], axis=1)
    assert total(reversed_scores, decode(reversed_scores, projective=True)) == pytest.approx(
        total(scores, heads), rel=1e-9
    )
    along = np.arange(n)
    chain = scores.copy()
    chain[along, along] = 1e4
    assert decode(chain, projective=True).tolist() == decode(chain).tolist()


def test_projective_batches_of_every_form(rng):
    batch = [random_scores("normal", n, rng) for n in (5, 1, 8, 12)]
    alone = [decode(scores, projective=True).tolist() for scores in batch]
    assert [heads.tolist() for heads in decode_batch(batch, projective=True)] == alone
    flat = np.concatenate([scores.ravel() for scores in batch])
    assert decode_batch(flat, [5, 1, 8, 12], projective=True).tolist() == sum(alone, [])
    batch[2][3, 0] = np.nan
    with pytest.raises(errors.InvalidScoreError, match="sentence 3 of the batch"):
        decode_batch(batch, projective=True)
    with pytest.raises(errors.InvalidScoreError, match="sentence 3 of the batch"):
        decode_batch(np.concatenate([scores.ravel() for scores in batch]), [5, 1, 8, 12], projective=True)
    assert decode_batch([], projective=True) == [] and len(decode([], projective=True)) == 0


def test_where_all_trees_cross():
    crossing = np.full((4, 5), -np.inf)
    crossing[np.arange(4), [3, 4, 0, 3]] = 0
    assert decode(crossing).tolist() == [3, 4, 0, 3]
    with pytest.raises(errors.NoTreeError, match="crossing arcs.*projective=False"):
        decode(crossing, projective=True)
    crossing[2, 0] = -np.inf
    with pytest.raises(errors.NoRootError):
        decode(crossing, projective=True)


def test_scores_near_the_largest_double_do_not_overflow(rng):
    for _ in range(20):
        scores = rng.integers(-7, 8, (6, 7)).astype(float)
        assert decode(scores * 2.0**1021, projective=True).tolist() == decode(scores, projective=True).tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Constraints


def test_a_token_under_a_head_and_the_rest_around_it():
    assert decode(SCORES, required=[(1, 2)]).tolist() == [2, 0, 2]
    assert decode(SCORES, required=[(2, 0)]).tolist() == [2, 0, 2]
    assert decode(SCORES, forbidden=[(1, 0)]).tolist() == [2, 0, 2]
    assert decode(SCORES, required=np.array([[3, 1]]), forbidden=iter([(2, 3)])).tolist() == [0, 1, 1]
    assert decode(SCORES, required=[(1, 2), (1, 2)]).tolist() == [2, 0, 2]


def test_arcs_are_numbered_the_same_in_every_layout():
    square = np.vstack([np.zeros(4), SCORES])
    diagonal = SCORES[:, 1:].copy()
    np.fill_diagonal(diagonal, SCORES[:, 0])
    for scores, layout in ((square, "square"), (square.T, "square_transposed"), (diagonal, "root_diagonal")):
        assert decode(scores, required=[(1, 2)], layout=layout).tolist() == [2, 0, 2]
        masked = constrain_scores(scores, required=[(1, 2)], layout=layout)
        masked[[0, 1, 2], [1, 2, 3]] = 0  # the self arcs, which nobody reads
        assert masked.tolist() == [[-np.inf, 0, 20, -np.inf], *SCORES[1:].tolist()]


def test_scores_are_masked_in_a_copy(rng):
    scores = rng.normal(size=(5, 6)).astype(np.float32)
    scores.flags.writeable = False
    masked = constrain_scores(scores, required=[(2, 4)], forbidden=[(1, 0), (3, 5)])
    assert masked.dtype == np.float32 and masked.flags.writeable
    assert np.isneginf(masked).sum() == 5 + 2
    assert decode_batch([masked])[0].tolist() == decode(scores, required=[(2, 4)], forbidden=[(1, 0), (3, 5)]).tolist()
    assert constrain_scores(scores) is not scores and (constrain_scores(scores) == scores).all()


def test_an_invalid_score_is_not_masked():
    """A NaN next to a required arc is as wrong as without it."""
    for value in (np.nan, np.inf):
        scores = SCORES.copy()
        scores[0, 3] = value
        for options in ({"required": [(1, 2)]}, {"forbidden": [(1, 3)]}):
            with pytest.raises(errors.InvalidScoreError, match="head 3 for dependent 1"):
                decode(scores, **options)
    scores = SCORES.copy()
    scores[0, 1] = np.nan  # a self arc, which is never read
    assert decode(scores, required=[(1, 2)]).tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("options", "required", "forbidden", "reason"),
    [
        ({"required": [(3, 1), (1, 2), (2, 1)]}, [(1, 2), (2, 1)], [], "a cycle"),
        ({"required": [(1, 2), (3, 2), (1, 3)]}, [(1, 2), (1, 3)], [], "only one head"),
        ({"required": [(1, 0), (2, 1), (3, 0)]}, [(1, 0), (3, 0)], [], "only one root"),
        ({"required": [(1, 2)], "forbidden": [(3, 1), (1, 2)]}, [(1, 2)], [(1, 2)], "the same arc"),
        ({"forbidden": [(1, 0), (2, 0), (3, 1), (3, 0)]}, [], [(1, 0), (2, 0), (3, 0)], "no token to be the root"),
        ({"forbidden": [(2, 0), (3, 1), (2, 1), (2, 3)]}, [], [(2, 0), (2, 1), (2, 3)], "no head"),
        ({"required": [(2, 1), (3, 1)], "forbidden": [(1, 0)]}, [(2, 1), (3, 1)], [(1, 0)], "can't all hold"),
        ({"required": [(1, 3), (2, 0)], "projective": True}, [(1, 3), (2, 0)], [], "can't all hold"),
    ],
)
def test_constraints_in_conflict_are_named(options, required, forbidden, reason):
    with pytest.raises(errors.ConflictError, match=reason) as caught:
        decode(SCORES, **options)
    assert (sorted(caught.value.required), sorted(caught.value.forbidden)) == (sorted(required), sorted(forbidden))
    assert isinstance(caught.value, ValueError)
    for dependent, head in required:
        assert f"head {head or '0 (ROOT)'} is required for dependent {dependent}" in str(caught.value)
    for dependent, head in forbidden:
        assert f"head {head or '0 (ROOT)'} is forbidden for dependent {dependent}" in str(caught.value)


def test_a_required_arc_that_the_scores_forbid():
    scores = SCORES.copy()
    scores[0, 2] = -np.inf
    with pytest.raises(errors.ConflictError, match="By the arc scores") as caught:
        decode(scores, required=[(2, 1), (1, 2)])
    assert caught.value.required == [(1, 2)]


def test_several_roots_are_no_conflict_where_they_are_allowed():
    assert decode(SCORES, required=[(1, 0), (3, 0)], single_root=False).tolist() == [0, 0, 0]


def test_where_there_is_no_tree_anyway_the_constraints_are_not_to_blame():
    scores = SCORES.copy()
    scores[1] = -np.inf
    with pytest.raises(errors.NoHeadError, match="dependent 2"):
        decode(scores, required=[(1, 2), (1, 3)])


@pytest.mark.parametrize("single_root", [True, False])
def test_a_conflict_is_as_small_as_can_be(single_root, rng):
    """The constraints named leave no tree, and every proper subset of them does; by exhaustive search."""
    seen = 0
    for _ in range(300):
        n = rng.integers(2, 5)
        scores = random_scores("masked" if rng.random() < 0.3 else "normal", n, rng)
        arcs = random_arcs(n, 8, rng)
        cut = rng.integers(0, 6)
        try:
            decode(scores, required=arcs[:cut], forbidden=arcs[cut:], single_root=single_root)
        except errors.ConflictError as error:
            seen += 1
            named = [(True, arc) for arc in error.required] + [(False, arc) for arc in error.forbidden]
            assert set(error.required) <= set(arcs[:cut]) and set(error.forbidden) <= set(arcs[cut:])
            for left_out in range(-1, len(named)):
                left = [one for k, one in enumerate(named) if k != left_out]
                trees, _ = weights_of_all_trees(
                    scores,
                    single_root=single_root,
                    required=[arc for required, arc in left if required],
                    forbidden=[arc for required, arc in left if not required],
                )
                assert (len(trees) == 0) == (left_out == -1)
        except errors.DecodingError:
            assert len(weights_of_all_trees(scores, single_root=single_root)[0]) == 0
    assert seen > 50


def test_a_conflict_in_a_long_sentence_with_many_constraints(rng):
    n = 60
    scores = rng.normal(size=(n, n + 1))
    forbidden = [(dependent, head) for dependent in range(1, n + 1) for head in range(0, n + 1, 2) if head != dependent]
    required = [(10, 11), (11, 13), (13, 10), (20, 21)]
    with pytest.raises(errors.ConflictError) as caught:
        decode(scores, required=required, forbidden=forbidden)
    assert len(caught.value.required) + len(caught.value.forbidden) <= n
    with pytest.raises(errors.ConflictError) as caught:
        decode(scores, required=required, forbidden=forbidden[n:])
    assert sorted(caught.value.required) == [(10, 11), (11, 13), (13, 10)] and caught.value.forbidden == []


@pytest.mark.parametrize(
    ("arcs", "says"),
    [
        ([(0, 1)], r"no arc \(0, 1\) .*dependents from 1 to 3"),
        ([(4, 1)], r"no arc \(4, 1\)"),
        ([(1, 4)], r"no arc \(1, 4\)"),
        ([(1, -1)], r"no arc \(1, -1\)"),
        ([(2, 2)], "no token is its own head"),
        ([(1, 2, 3)], "pairs of ints"),
        ([(1.0, 2)], "pairs of ints"),
        ([1, 2], "pairs of ints"),
        (["12"], "pairs of ints"),
        ([None], "pairs of ints"),
        ([(True, 0)], "pairs of ints"),
        ([(1, 10**5000)], "no arc"),
        ([(DATE, 0)], "pairs of ints"),
        (None, "must be a list"),
        (5, "must be a list"),
    ],
)
@pytest.mark.parametrize("name", ["required", "forbidden"])
def test_arcs_that_are_none(name, arcs, says):
    with pytest.raises(errors.ConstraintsError, match=says):
        decode(SCORES, **{name: arcs})
    with pytest.raises(errors.ConstraintsError, match=name):
        constrain_scores(SCORES, **{name: arcs})


def test_numbers_of_numpy_are_ints():
    arcs = read_constraints(np.array([[1, 2]], dtype=np.uint8), [(np.int64(2), np.int16(0))], 3)
    assert arcs == Constraints([(1, 2)], [(2, 0)]) and type(arcs.required[0][0]) is int

"""repair_heads() finds the nearest single-rooted tree, and repair_labels() relabels it."""

import math
from itertools import product

import numpy as np
import pytest

from generators import all_trees, random_scores, random_tree, reaches_root
from spacy_mindroot import count_roots, decode, errors, is_tree, repair_heads, tree_weight
from spacy_mindroot.repair import looks_like_punctuation, looks_zero_based, repair_labels
from spacy_mindroot.trees import find_cycles
from spacy_mindroot.voting import arc_votes


def fewest_changes(heads, required=()):
    """By looking at all trees with one root."""
    trees, single = all_trees(len(heads))
    trees = trees[single]
    for i, head in enumerate(required):
        if head is not None:
            trees = trees[trees[:, i] == head]
    return (trees != np.array(heads)).sum(axis=1).min()


def arcs(required):
    """Required heads, None where there is none, as arcs."""
    return [(dependent, head) for dependent, head in enumerate(required, 1) if head is not None]


def check(heads, repair, required=()):
    changed = np.flatnonzero(repair.heads != np.array(heads)) + 1
    assert reaches_root(repair.heads.tolist()) and (repair.heads == 0).sum() == 1
    assert len(changed) == fewest_changes(heads, required), heads
    assert [(c.dependent, c.before, c.head) for c in repair.changes] == [
        (i, heads[i - 1], repair.heads[i - 1]) for i in changed
    ]
    assert repair.heads.dtype == np.int32


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_fewest_changes_for_all_heads(n):
    for heads in product(range(-2, n + 2), repeat=n):
        if any(head != -1 for head in heads):
            check(heads, repair_heads(heads))


@pytest.mark.parametrize("n", [5, 6, 7])
def test_fewest_changes_for_damaged_trees(n, rng):
    for _ in range(60 if n < 7 else 15):
        heads = random_tree(n, rng).tolist()
        for i in rng.integers(n, size=rng.integers(1, 6)):
            heads[i] = int(rng.integers(-1, n + 2))
        if any(head != -1 for head in heads):
            check(heads, repair_heads(heads))


def test_fewest_changes_with_required_heads(rng):
    for _ in range(400):
        n = int(rng.integers(2, 6))
        tree = random_tree(n, rng).tolist()
        required = [head if rng.random() < 0.4 else None for head in tree]
        heads = rng.integers(-1, n + 2, size=n).tolist()
        if all(head == -1 for head in heads) and not any(required):
            continue
        repair = repair_heads(heads, required=arcs(required))
        check(heads, repair, required)
        assert all(want in (None, got) for want, got in zip(required, repair.heads.tolist(), strict=True))


@pytest.mark.parametrize(
    ("heads", "options", "repaired", "why"),
    [
        ([0, 0], {}, [0, 1], ["extra root"]),
        ([0, 0, 2], {}, [2, 0, 2], ["extra root"]),  # the second has more tokens under it
        ([0, 0, 1, 1, 2, 5, 6], {}, [2, 0, 1, 1, 2, 5, 6], ["extra root"]),  # not next to it, but below
        ([0, 0, 1], {"pos": ["NOUN", "VERB", "DET"]}, [2, 0, 1], ["extra root"]),
        ([0, 0], {"pos": ["ADP", "NOUN"]}, [2, 0], ["extra root"]),
        ([0, 0], {"pos": ["VERB", "NOUN"], "labels": ["dep", "root"]}, [2, 0], ["extra root"]),
        ([0, 0], {"pos": ["PUNCT", "DET"], "labels": ["root", "det"]}, [2, 0], ["extra root"]),
        ([0, 0], {"pos": ["X", "X"], "is_punct": [True, False]}, [2, 0], ["extra root"]),
        ([0, 3, 2, 1], {}, [0, 1, 2, 1], ["cycle"]),
        ([0, 3, 2], {"pos": ["NOUN", "DET", "VERB"]}, [0, 3, 1], ["cycle"]),
        ([0, 2], {}, [0, 1], ["self loop"]),
        ([2, 1, 2, 3], {}, [0, 1, 2, 3], ["no root"]),
        ([2, 1, 2, 3], {"pos": [None, "VERB", None, None]}, [2, 0, 2, 3], ["no root"]),
        ([2, 1, 4, 3], {"pos": ["X", "X", "X", "VERB"]}, [4, 1, 4, 0], ["cycle", "no root"]),
        ([2, 0, 9], {}, [2, 0, 2], ["out of range"]),
        ([2, 0, None], {}, [2, 0, 2], ["no head"]),
        ([2, 1, None], {}, [0, 1, 1], ["no root", "no head"]),
        ([2, 0, -3], {}, [2, 0, 2], ["out of range"]),
        ([0, 0], {"required": [(2, 0)]}, [2, 0], ["extra root"]),
        ([0, 1, 1], {"required": [(3, 2)]}, [0, 1, 2], ["required"]),
        ([0, 1], {}, [0, 1], []),
        ([], {}, [], []),
        ([0], {}, [0], []),
    ],
)
def test_preferences_and_reasons(heads, options, repaired, why):
    repair = repair_heads(heads, **options)
    assert repair.heads.tolist() == repaired
    assert [change.why for change in repair.changes] == why


def test_cycles_are_named():
    assert repair_heads([0, 3, 4, 2, 6, 5]).cycles == [[2, 3, 4], [5, 6]]
    assert repair_heads([0, 1, 2]).cycles == []


def test_good_heads_are_not_touched_even_with_scores(rng):
    heads = random_tree(8, rng)
    assert repair_heads(heads, scores=rng.normal(size=(8, 9))).heads.tolist() == heads.tolist()


@pytest.mark.parametrize("mask", [-50.0, -1e30, np.finfo(float).min])
@pytest.mark.parametrize(("keep", "heads"), [(0, [2, 0, 1]), (0.2, [2, 0, 1]), (1.0, [2, 0, 2]), (1e308, [2, 0, 2])])
def test_keep_is_in_units_of_the_scores_whatever_masks_are_among_them(mask, keep, heads):
    scores = [[-9, 0, -3, -3], [-1, -9, -2, -5], [mask, -1.0, -1.5, 0]]
    assert repair_heads([0, 0, 2], scores=scores, keep=keep).heads.tolist() == heads


@pytest.mark.parametrize("kind", ["normal", "tied", "huge", "masked"])
@pytest.mark.parametrize("keep", [0, 1.5, math.inf])
def test_with_scores_the_best_of_all_trees(kind, keep, rng):
    """By looking at all of them. `masked`: some arcs have large negative numbers, as some parsers mask them."""
    for _ in range(120):
        n = int(rng.integers(1, 6))
        trees, single = all_trees(n)
        trees = trees[single]
        scores = random_scores("normal" if kind == "masked" else kind, n, rng).astype(np.float64)
        if kind == "masked":
            scores[rng.random(scores.shape) < 0.3] = rng.choice([-1e9, -3.4e38])
        heads = rng.integers(-1, n + 2, size=n)
        if is_tree(heads, single_root=True):
            continue
        kept = (trees == heads).sum(axis=1)
        weights = np.array([tree_weight(scores, tree) for tree in trees])
        found = repair_heads(heads, scores=scores, keep=keep).heads
        (at,) = np.flatnonzero((trees == found).all(axis=1))
        if keep == 0:
            assert weights[at] == weights.max() and kept[at] == kept[weights == weights.max()].max()
        elif keep == math.inf:
            assert kept[at] == kept.max()
            assert weights[at] >= weights[kept == kept.max()].max() - 1e-9 * abs(weights[at])
        else:
            assert weights[at] + keep * kept[at] >= (weights + keep * kept).max() - 1e-9 * abs(weights[at])


def test_required_arcs_and_scores(rng):
    for _ in range(30):
        n = int(rng.integers(2, 7))
        scores, tree = random_scores("normal", n, rng), random_tree(n, rng)
        required = [int(head) if rng.random() < 0.5 else None for head in tree]
        forced = scores.copy()
        for i, head in enumerate(required):
            if head is not None:
                forced[i, np.arange(n + 1) != head] = -np.inf
        found = repair_heads([None] * n, scores=scores, required=arcs(required)).heads
        assert tree_weight(forced, found) == pytest.approx(tree_weight(forced, decode(forced)))


def test_a_given_arc_that_the_scores_forbid_is_given_up():
    scores = [[-np.inf, 0, 0], [-1, -1, 0]]
    assert repair_heads([0, 0], scores=scores).heads.tolist() == [2, 0]
    assert repair_heads([2, 1], scores=scores).heads.tolist() == [2, 0]


def test_n_best_trees_with_weights():
    trees = [[0, 1, 2], [2, 0, 2], [0, 1, 1]]
    assert repair_heads([0, 0, 0], scores=arc_votes(trees, [1, 5, 1])).heads.tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("heads", "options", "says"),
    [
        ([None, None], {}, "all heads are missing"),
        ([0, 1], {"required": [(1, 0), (2, 0)]}, "2 roots: 1, 2"),
        ([0, 1, 1], {"required": [(2, 3), (3, 2)]}, "cycle: 2 -> 3 -> 2"),
        ([0, 1], {"required": [(2, 2)]}, "no arc .2, 2."),
        ([0, 1], {"required": [(2, 3)]}, "no arc .2, 3."),
        ([0, 1], {"required": [(1, 0), (1, 2)]}, "two heads, 0 and 2"),
        ([0, 0], {"scores": np.zeros((2, 3)), "keep": -1}, "keep is -1"),
        ([0, 0], {"scores": np.zeros((2, 3)), "keep": math.nan}, "keep is nan"),
        ([0, 0], {"keep": "inf"}, "keep is 'inf'"),
        ([0, 1], {"labels": ["root"]}, "labels is for 1"),
        ([0, 1], {"pos": []}, "pos is for 0"),
        ([0, 1], {"scores": np.zeros((3, 4))}, "scores for 3"),
        ([0.5, 1], {}, "1-D array of ints"),
        ([[0, 1]], {}, "1-D array of ints"),
    ],
)
def test_input_that_makes_no_sense(heads, options, says):
    with pytest.raises(errors.MindRootError, match=says):
        repair_heads(heads, **options)


def test_scores_that_allow_no_tree():
    with pytest.raises(errors.DecodingError):
        repair_heads([0, 0], scores=np.full((2, 3), -np.inf))


def test_very_long_sentences_take_no_matrix():
    n = 200_000
    cycle = np.append(np.arange(2, n + 1), 1)
    assert is_tree(repair_heads(cycle).heads)
    assert count_roots(repair_heads(np.zeros(n, dtype=int)).heads) == 1
    pairs = np.arange(n).reshape(-1, 2)[:, ::-1].ravel() + 1  # a cycle of each two
    repair = repair_heads(pairs)
    assert len(repair.changes) == n // 2 and is_tree(repair.heads)


def test_find_cycles_against_the_definition():
    for n in range(1, 5):
        for heads in product(range(-1, n + 2), repeat=n):
            cyclic = set()
            for start in range(1, n + 1):
                at = start
                for _ in range(n):
                    at = heads[at - 1] if 1 <= at <= n else 0
                    if at == start:
                        cyclic.add(start)
            cycles = find_cycles(heads)
            assert sorted(token for cycle in cycles for token in cycle) == sorted(cyclic)
            for cycle in cycles:
                assert all(heads[a - 1] == b for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


@pytest.mark.parametrize(
    ("heads", "zero_based"),
    [
        ([1, 1, 3, 1], True),
        ([2, 2, 2, 2, 3], False),  # the root is its own head, from 1
        ([2, 1, 2, 3], False),
        ([0, 0], False),
        ([1], False),
        ([], False),
        ([2, 0, 2], False),
    ],
)
def test_heads_that_count_from_zero(heads, zero_based):
    assert looks_zero_based(heads) == zero_based


@pytest.mark.parametrize(
    ("labels", "before", "heads", "options", "repaired"),
    [
        (["nsubj", "root", "root"], [2, 0, 0], [2, 0, 2], {"pos": ["X", "VERB", "PUNCT"]}, ["nsubj", "root", "punct"]),
        (["root", "root"], [0, 0], [0, 1], {"pos": ["VERB", "VERB"]}, ["root", "parataxis"]),
        (["root", "root"], [0, 0], [0, 1], {"pos": ["VERB", "X"]}, ["root", "dep"]),
        (["root", "root"], [0, 0], [0, 1], {}, ["root", "dep"]),
        (["root", "root"], [0, 0], [0, 1], {"demoted_label": "discourse"}, ["root", "discourse"]),
        (["root", "root"], [0, 0], [0, 1], {"is_punct": [False, True]}, ["root", "punct"]),
        (["root", "root", "obj"], [2, 0, 2], [2, 0, 2], {}, ["dep", "root", "obj"]),
        (["conj", "punct"], [0, 1], [0, 1], {}, ["root", "punct"]),
        (["conj", "punct"], [0, 1], [0, 1], {"root_label": "ROOT"}, ["ROOT", "punct"]),
        (["ROOT", "Root"], [0, 0], [0, 1], {}, ["ROOT", "dep"]),
        (["root", "conj"], [0, 0], [0, 1], {}, ["root", "conj"]),  # its label says more than ROOT's
        (["_", ""], [0, -1], [0, 1], {}, ["root", "dep"]),
        (["root", "obj"], [0, 2], [0, 1], {}, ["root", "obj"]),
        (["root:x", "root:y"], [0, 1], [0, 1], {}, ["root:x", "dep"]),
        (["root", "obj||root"], [0, 1], [0, 1], {}, ["root", "obj||root"]),
        (["root||obj", "root||obj"], [0, 0], [0, 1], {}, ["root||obj", "dep"]),
    ],
)
def test_labels(labels, before, heads, options, repaired):
    assert repair_labels(labels, before, heads, **options) == repaired


@pytest.mark.parametrize("name", ["labels", "before", "pos", "is_punct"])
def test_labels_that_do_not_fit(name):
    values = {"labels": ["root"], "before": [0], "pos": ["X"], "is_punct": [False]}
    values[name] = values[name] * 2
    labels, before = values.pop("labels"), values.pop("before")
    with pytest.raises(errors.LabelsError, match=f"there are 1 tokens, but {name} is for 2"):
        repair_labels(labels, before, [0], **values)


@pytest.mark.parametrize("tag", ["$.", "$,", "PUNC", "PU", "Z", "Punct", "punct", "NN", "SPACE", "X", "_", "", None])
def test_tags_of_another_tagset_are_unknown(tag):
    assert looks_like_punctuation(".", tag) and not looks_like_punctuation("a", tag)
    assert repair_labels(["root", "root"], [0, 0], [0, 1], pos=[tag, tag]) == ["root", "dep"]
    assert repair_labels(["root", "root"], [0, 0], [0, 1], pos=[tag, "NOUN"]) == ["root", "parataxis"]


def test_punctuation():
    assert looks_like_punctuation("...") and looks_like_punctuation("»", "_") and looks_like_punctuation("x", "PUNCT")
    assert (
        not looks_like_punctuation("") and not looks_like_punctuation("'s") and not looks_like_punctuation("-", "NOUN")
    )

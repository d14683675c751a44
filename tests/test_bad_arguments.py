"""Arguments of every public function of NumPy: what is none of its kind is an error of ours that names the argument."""

import numpy as np
import pytest

import spacy_mindroot
from generators import NO_NUMBERS
from spacy_mindroot import accuracy, errors, inference, rules, scores, trees, voting

SCORES, HEADS, LABELS = np.zeros((2, 3)), [2, 0], ["nsubj", "root"]
P = np.full((2, 3), 0.5)
ARCS = {"scores": SCORES, "required": [], "forbidden": [], "layout": "root_column"}
MIXTURE = {"temperature": 1.0, "lapse": 0.1}
PARSES = {"parses": [HEADS, HEADS], "weights": [1, 2]}
CALLS = {  # function -> arguments that are right
    spacy_mindroot.decode: ARCS,
    spacy_mindroot.decode_batch: {"scores": [SCORES], "lengths": [2], "layout": "root_column", "n_threads": 1},
    spacy_mindroot.unpad: {"scores": [SCORES], "lengths": [2], "layout": "root_column"},
    spacy_mindroot.greedy_heads: {"scores": SCORES},
    spacy_mindroot.constrain_scores: ARCS,
    spacy_mindroot.tree_weight: {"scores": SCORES, "heads": HEADS},
    spacy_mindroot.count_roots: {"heads": HEADS},
    spacy_mindroot.is_tree: {"heads": HEADS},
    spacy_mindroot.is_projective: {"heads": HEADS},
    trees.find_cycles: {"heads": HEADS},
    scores.to_root_column: {"scores": SCORES, "layout": "root_column"},
    scores.reduce_labels: {"scores": np.zeros((2, 3, 2)), "root_label": 0},
    spacy_mindroot.repair_heads: {
        "heads": [2, 1],
        "scores": SCORES,
        "keep": 1.0,
        "required": [],
        "labels": LABELS,
        "pos": LABELS,
        "is_punct": [0, 1],
    },
    spacy_mindroot.vote_heads: PARSES,
    voting.arc_votes: PARSES,
    voting.vote_labels: {"heads": HEADS, **PARSES, "labels": [LABELS, LABELS]},
    accuracy.attachment_scores: {
        "heads": [HEADS],
        "gold_heads": [HEADS],
        "labels": [LABELS],
        "gold_labels": [LABELS],
    },
    accuracy.compare_parsers: {
        "one": [HEADS],
        "other": [HEADS],
        "gold_heads": [HEADS],
        "labels": ([LABELS], [LABELS]),
        "gold_labels": [LABELS],
        "seed": 1,
    },
    inference.log_partition: {"scores": SCORES},
    inference.marginals: {"scores": SCORES, **MIXTURE},
    inference.entropy: {"scores": SCORES},
    inference.confidence: {"scores": SCORES, "heads": HEADS, **MIXTURE},
    inference.kbest: {**ARCS, "k": 2},
    inference.kbest_batch: {"scores": [SCORES], "k": 2, "lengths": [2], "layout": "root_column"},
    inference.tree_margin: ARCS,
    inference.sample: {"scores": SCORES, "size": 1, "rng": 1},
    inference.labelled_marginals: {"scores": np.zeros((2, 3, 2))},
    inference.head_sets: {"probabilities": P, "threshold": 0.2, "heads": HEADS},
    inference.head_set_threshold: {
        "probabilities": [P] * 9,
        "gold_heads": [HEADS] * 9,
        "coverage": 0.5,
        "heads": [HEADS] * 9,
    },
    inference.fit_calibration: {
        "scores": [SCORES],
        "gold_heads": [HEADS],
        "label_scores": [P],
        "gold_labels": [[0, 1]],
    },
    inference.Calibration: {"arc_temperature": 1.0, "arc_lapse": 0.0, "label_temperature": 1.0, "label_lapse": 0.0},
    inference.Calibration.from_dict: {"values": {}},
    inference.Calibration(head_set_thresholds={"50": 0.1}).threshold: {"coverage": 0.5},
    rules.Rules(unique=["nsubj"]).violations: {"heads": HEADS, "labels": LABELS, "pos": LABELS},
    rules.mend_tree: {"heads": HEADS, "labels": LABELS, "rules": "ud", "pos": LABELS},
    rules.vote_labelled: {**PARSES, "labels": [LABELS, LABELS], "rules": "ud", "pos": LABELS},
    rules.decode_labelled: {
        "arc_scores": SCORES,
        "label_scores": np.zeros((2, 3, 2)),
        "labels": LABELS,
        "rules": "ud",
        "pos": LABELS,
        "required": [],
        "forbidden": [],
    },
    rules.learn_rules: {"corpus": [(HEADS, LABELS, None)], "min_support": 1, "max_violation": 0.1},
}
WRONG = [
    *NO_NUMBERS,
    *(
        3,
        [],
        [1, 2, 3, 4, 5],
        [9, -7],
        ["a", "b"],
        [[1, 2, 3], [1]],
        {1, 2},
        np.zeros((2, 2, 2)),
        [10**30, 1],
        "generator",
    ),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_what_is_no_argument_is_an_error_of_ours(function):
    right = CALLS[function]
    function(**right)
    for name in right:
        for value in WRONG:
            try:  # None and others may be right
                function(**{**right, name: (k for k in (2, 0)) if value is WRONG[-1] else value})
            except errors.MindRootError as error:
                assert str(error)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_an_iterator_is_refused_or_read_as_the_list(function):
    right = CALLS[function]
    expected = repr(function(**right))
    for name, value in right.items():
        if isinstance(value, list):
            try:
                found = repr(function(**{**right, name: iter(value)}))
            except errors.MindRootError:
                continue
            assert found == expected, name


@pytest.mark.parametrize("value", [None, 3, "ab", object()])
def test_no_heads_and_no_parses(value):
    for call, error in (
        (spacy_mindroot.repair_heads, errors.HeadsError),
        (spacy_mindroot.vote_heads, errors.VoteError),
    ):
        with pytest.raises(error, match="found"):
            call(value)
    assert spacy_mindroot.vote_heads(iter([HEADS, HEADS])).tolist() == HEADS


def test_ints_that_floats_do_not_have():
    """Rounded, another tree would be the best one."""
    small = np.array([[3, 0, 5, 1], [2, 0, 0, 8], [1, 0, 2, 0]])
    assert spacy_mindroot.decode(small - 2**52).tolist() == spacy_mindroot.decode(small).tolist()
    for large in (small + 2**60, (small + 2**60).astype(np.uint64), (small - 2**60).tolist()):
        for call in (spacy_mindroot.decode, inference.marginals, lambda own: spacy_mindroot.decode_batch([own])):
            with pytest.raises(errors.ScoresTypeError, match=r"beyond 2\*\*53.*Subtract a constant"):
                call(large)
    masked = np.where(small == 8, np.iinfo(np.int64).min, small)  # float64 has it
    assert spacy_mindroot.decode(masked).tolist() == [2, 0, 2]

"""Answers in all their forms, aligned with the words of the sentence."""

import json
import math
import random

import numpy as np
import pytest

from spacy_mindroot import is_tree
from spacy_mindroot.answers import decode_answer, read_answer
from spacy_mindroot.answers.reading import words_in

WORDS = ["They", "left", "very", "early"]
HEADS, LABELS = [2, 0, 4, 2], ["nsubj", "root", "advmod", "advmod"]
TOKENS = [
    {"id": k, "form": word, "head": head, "deprel": label}
    for k, (word, head, label) in enumerate(zip(WORDS, HEADS, LABELS, strict=True), 1)
]


def kinds(answer):
    return [fault.kind for fault in answer.faults]


@pytest.mark.parametrize(
    "given",
    [
        {"words": WORDS, "heads": HEADS, "deprels": LABELS},
        {"heads": HEADS, "deprels": LABELS},
        {"heads": [str(head) for head in HEADS], "deprels": LABELS},
        {"heads": [2.0, "root", " 4", "2 "], "labels": LABELS},
        {"Tokens": TOKENS},
        TOKENS,
        [{key: value for key, value in token.items() if key != "form"} for token in TOKENS],
        json.dumps(TOKENS),
        {"answer": json.dumps({"heads": HEADS, "deprels": LABELS})},
        {"words": WORDS, "answers": [TOKENS]},
        [{**token, "id": 10 * token["id"], "head": 10 * token["head"]} for token in TOKENS],
    ],
)
def test_every_form_of_one_answer(given):
    answer = read_answer(given, WORDS)
    assert (answer.heads, answer.labels, answer.faults) == ([HEADS], [LABELS], [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"heads": [HEADS, [2, 0, 2, 2]], "deprels": [LABELS, LABELS]}, [LABELS, LABELS]),
        ({"heads": [HEADS, [2, 0, 2, 2]], "deprels": LABELS}, [LABELS, LABELS]),
        ({"heads": [HEADS, [2, 0, 2, 2]]}, [[""] * 4] * 2),
        ({"answers": [TOKENS, '{"heads": [2, 0, 2, 2]}']}, [LABELS, [""] * 4]),
        ({"answers": [TOKENS, "no idea", {"heads": [2, 0, 2, 2]}]}, [LABELS, [""] * 4]),
    ],
)
def test_samples(given, expected):
    answer = read_answer(given, WORDS)
    assert (answer.heads, answer.labels) == ([HEADS, [2, 0, 2, 2]], expected)


@pytest.mark.parametrize(
    ("own", "heads", "aligned", "faults"),
    [
        (["they", "LEFT", "very", "early"], HEADS, HEADS, []),
        (["They", "left", "early"], [2, 0, 2], [2, 0, -1, 2], ["missing word"]),
        (["left", "very", "early"], [0, 3, 1], [-1, 0, 4, 2], ["missing word"]),
        (["They", "left", "very", "early", "."], [2, 0, 4, 2, 2], HEADS, ["additional word"]),
        (["So", "They", "left", "very", "early"], [3, 3, 0, 5, 3], HEADS, ["additional word"]),
        (["They", "left", "really", "early"], HEADS, HEADS, ["other form"]),
        (["They", "left", "very", ",", "early"], [2, 0, 4, 2, 2], [2, 0, -1, 2], ["additional word", "out of range"]),
        (["He", "came", "too", "late"], HEADS, None, ["other form"] * 4 + ["no answer"]),
    ],
)
def test_words_are_aligned_and_never_shifted(own, heads, aligned, faults):
    answer = read_answer({"words": own, "heads": heads}, WORDS)
    assert answer.heads == ([] if aligned is None else [aligned]) and kinds(answer) == faults


def test_a_deleted_or_inserted_word_anywhere_leaves_all_other_arcs_right(rng):
    words = [f"w{k}" for k in range(12)]
    for _ in range(50):
        heads = rng.integers(0, 13, size=12).tolist()
        at = int(rng.integers(12))
        fewer = [head - (head > at + 1) for k, head in enumerate(heads) if k != at]
        answer = read_answer({"words": words[:at] + words[at + 1 :], "heads": fewer}, words)
        expected = [-1 if k == at else head for k, head in enumerate(heads)]
        for got, want in zip(answer.heads[0], expected, strict=True):
            assert got == want or want == at + 1  # an arc to the word that is missing has another number
        more = [head + (head > at) for head in heads]
        inserted = {"words": [*words[:at], "new", *words[at:]], "heads": [*more[:at], 0, *more[at:]]}
        assert read_answer(inserted, words).heads == [heads]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"heads": [2, 0, 4]}, "3 heads for 4 words, and no words"),
        ({"heads": [2, 0, 4, 2, 1]}, "5 heads for 4 words, and no words"),
        ({"words": WORDS, "heads": [2, 0, 4]}, "3 heads for 4 words of its own"),
        ({"heads": []}, "there are no heads"),
        ({"heads": "2 0 4 2"}, "there are no heads"),
        ({}, "there are no heads"),
        (None, "there are no heads"),
        (7, "there are no heads"),
        ({"heads": [None] * 4}, "is a head of a word"),
        ({"heads": ["a", [], True, math.nan]}, "is a head of a word"),
        ({"heads": ["--1", "-", "1-", "²"]}, "is a head of a word"),
        ([{**token, "id": token["id"] - 1} for token in TOKENS], "they count from 1"),
        ([{**token, "id": 1} for token in TOKENS], "they count from 1"),
        ("I can't", "there is no JSON"),
        (json.loads('{"answer": ' * 300 + "1" + "}" * 300), "there are no heads"),
    ],
)
def test_what_is_no_answer_is_named(given, says):
    answer = read_answer(given, WORDS)
    assert answer.heads == [] and answer.scores is None
    assert any(fault.kind == "no answer" and says in fault.what for fault in answer.faults), answer.faults


CELLS = [
    None, 0, 2, -1, 99, "2", "root", "x", True, 1.5, math.nan, math.inf, 10**400, -(10**400), [], {}, [{}], {"2": -0.1},
    {"2": "x"}, [{"token": "2", "logprob": -1}], [{"token": [], "logprob": -1}], {"form": "They", "head": 2},
    {"id": 1, "head": [1]}, {"head": {"2": -0.1}, "form": "left"}, {"id": {}, "head": 1}, {"form": [1], "head": 0},
    "\ud800", [2, 0, 4, 2], {3: 1},
]  # fmt: skip


def test_whatever_a_model_says_ends_in_trees_or_no_answer():
    rng = random.Random(5)
    for _ in range(4000):
        names = [name for name in ("words", "heads", "deprels") if rng.random() < 0.7]
        own = {name: rng.choices(CELLS, k=rng.choice([1, 3, 4, 4, 4, 4, 5])) for name in names}
        given = rng.choice([own, own.get("heads"), {"answers": [own, own]}])
        answer = read_answer(given, WORDS, rng.choice([(), LABELS]))
        decoded = decode_answer(answer, WORDS)
        if decoded.heads is None:
            assert answer.scores is None and "no answer" in kinds(answer), given
        else:
            assert is_tree(decoded.heads, single_root=True) and "".join(decoded.labels).encode("utf8")
            assert answer.scores is None or np.isfinite(answer.scores).all()


def test_a_truncated_answer_counts_as_far_as_it_goes():
    text = json.dumps({"words": WORDS, "heads": [4, 0, 4, 2], "deprels": LABELS})
    answer = read_answer(text[: text.index(", 2]")], WORDS)
    assert answer.heads == [[4, 0, -1, -1]] and kinds(answer) == ["truncated"]  # the last 4 may be part of 42
    answer = read_answer('{"heads": [4, 0, 4, ', WORDS)
    assert answer.heads == [[4, 0, 4, -1]] and kinds(answer) == ["truncated", "missing word"]


@pytest.mark.parametrize("cell", [{"form": "very"}, {"id": 3, "form": "very", "head": None}, {"id": 3}, None])
def test_a_word_without_a_head_leaves_the_others(cell):
    given = [*TOKENS[:2], cell, TOKENS[3]]
    answer = read_answer(given, WORDS)
    assert answer.scores is None and answer.heads == [[2, 0, -1, 2]]
    assert answer.labels == [["nsubj", "root", "", "advmod"]]


def test_a_list_of_words_that_is_cut_off_anywhere_keeps_the_words_before():
    text = json.dumps(TOKENS)
    third = text.index('"id": 3')
    for end in range(third, len(text)):
        answer = read_answer(text[:end], WORDS)
        assert answer.heads in ([[2, 0, -1, -1]], [[2, 0, 4, 2]]) and answer.scores is None, text[:end]
        assert kinds(answer)[0] == "truncated"
    assert answer.heads == [HEADS]  # only the label of the last may be missing


def test_a_sample_that_is_missing_leaves_the_others():
    given = {"heads": [HEADS, None, HEADS], "deprels": [LABELS, None, LABELS]}
    answer = read_answer(given, WORDS)
    assert (answer.heads, answer.labels, kinds(answer)) == ([HEADS] * 2, [LABELS] * 2, ["no answer"])
    assert read_answer({"heads": [HEADS], "deprels": {"a": 1}}, WORDS).labels == [[""] * 4]


def test_labels_that_can_not_be_written():
    answer = read_answer({"heads": HEADS, "deprels": ["a\ud83d", "root", "x\0", "advmod"]}, WORDS)
    assert answer.labels == [["a?", "root", "x?", "advmod"]] and kinds(answer) == ["label"] * 2


def test_log_probabilities_of_labels_beside_plain_heads():
    given = {"heads": HEADS, "deprels": [{"obj": -2.0, "nsubj": -0.1}, "root", [{"token": "x", "logprob": -1}], []]}
    assert read_answer(given, WORDS).labels == [["nsubj", "root", "x", ""]]


def test_labels_outside_the_set():
    labels = ["nsubj", "root", "advmod", "obl"]
    answer = read_answer({"heads": HEADS, "deprels": ["NSUBJ", "root", "obl:tmod", "made up"]}, WORDS, labels)
    assert answer.labels == [["nsubj", "root", "obl", ""]]
    assert [(fault.kind, fault.word, fault.what) for fault in answer.faults] == [
        ("unknown label", 1, "NSUBJ -> nsubj"),
        ("unknown label", 3, "obl:tmod -> obl"),
        ("unknown label", 4, "made_up"),
    ]


def test_log_probabilities():
    given = {
        "heads": [
            {" 2": math.log(0.6), "2": math.log(0.2), "the": math.log(0.1)},
            [{"token": "0", "logprob": math.log(0.9)}, {"token": " 3", "logprob": math.log(0.1)}],
            4,
            {"2": -9999.0, "3": -0.1, "1": math.log(0.5)},
        ],
        "deprels": [{"nsubj": -0.1, "root": -2.0}, "root", [{"token": "advmod", "logprob": -0.2}], {"obl": -1.0}],
    }
    answer = read_answer(given, WORDS)
    assert answer.heads == [] and answer.faults == []
    probabilities = np.exp(answer.scores)
    assert probabilities[0] == pytest.approx([0.1 / 3, 0, 0.8, 0.1 / 3, 0.1 / 3], abs=0.04)
    assert probabilities[1, [0, 3]] == pytest.approx([0.9, 0.1])
    assert probabilities[2, 4] == 1 and answer.scores[2, 0] < -10
    assert answer.scores[3, 1] == pytest.approx(math.log(0.5))
    assert np.isfinite(answer.scores).all()
    assert answer.label_names == ["root", "nsubj", "advmod", "obl"]
    assert answer.label_scores[0].tolist() == [-2.0, -0.1, -math.inf, -math.inf]


def test_log_probabilities_that_are_none():
    assert read_answer({"heads": [{"2": -(10**400)}, 0, 4, 2]}, WORDS).scores[0, 2] < -100
    answer = read_answer({"heads": [{"x": -0.1}] * 4}, WORDS)  # all heads are equal: a tree would be made up
    assert answer.scores is None and kinds(answer)[-1] == "no answer"
    given = {"heads": [{"2": 0.7}, {"0": -0.1}, {"x": -0.1}, {"2": "high"}]}
    answer = read_answer(given, WORDS)
    assert kinds(answer) == ["no head"] * 5
    assert answer.scores[0].tolist() == [0] * 5 and answer.scores[1, 0] == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"words": WORDS, "answer": "x"}, WORDS),
        ({"tokens": TOKENS}, WORDS),
        (TOKENS, WORDS),
        ([{"head": 0, "form": "a"}, {"head": 1}], None),
        ({"words": ["a\ud83d", "b"]}, ["a?", "b"]),
        ({"heads": HEADS}, None),
        ("nothing", None),
    ],
)
def test_the_words_of_an_answer(given, words):
    assert words_in(given) == words

"""Positions of words and arcs."""

import pytest

from spacy_mindroot.tools.drawing.layout import is_right_to_left, levels_of, place_feet, place_words, text_width


def test_widths_of_texts():
    assert text_width("語語") > text_width("ab") > text_width("il") > 0
    assert text_width("a\u0301") == text_width("a")  # a combining mark
    assert text_width("abc", 28) == 2 * text_width("abc", 14)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ذهب", "الولد", "."], True),
        (["שלום"], True),
        (["שלום", "hello", "world"], False),
        (["123", "."], False),
        ([], False),
    ],
)
def test_direction(words, expected):
    assert is_right_to_left(words) is expected


def test_neighbours_make_room_for_the_label_between_them():
    (a, b), _ = place_words([20, 20], [(1, 2)], ["nsubj:pass 99%"])
    (c, d), _ = place_words([20, 20], [(1, 2)], ["a"])
    assert b - a > text_width("nsubj:pass 99%", 11.5) + 8 and d - c < b - a
    assert place_words([], [], []) == ([], 0.0)


def test_levels():
    arcs = [(0, 2), (2, 1), (2, 4), (4, 3), (1, 4)]
    assert levels_of(arcs) == [0, 1, 2, 1, 3]
    assert levels_of([(1, 2), (2, 1)]) == [1, 2]  # two arcs between the same words
    assert levels_of([]) == []


def test_feet_do_not_coincide_and_arcs_between_the_same_words_are_nested():
    arcs = [(1, 2), (2, 1), (0, 1), (1, 3)]
    centres = [50.0, 150.0, 250.0]
    levels = levels_of(arcs)
    feet = place_feet(arcs, levels, centres)
    ends = [x for (head, _), pair in zip(arcs, feet, strict=True) for x in (pair if head else pair[:1])]
    assert len(set(ends)) == len(ends)
    inner, outer = (sorted(feet[k]) for k in (0, 1))
    assert outer[0] < inner[0] < inner[1] < outer[1]
    assert feet[2][0] == feet[2][1]

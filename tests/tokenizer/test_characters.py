"""Types of characters."""

import sys
import unicodedata

import pytest

from spacy_mindroot.tokenizer.characters import TYPES, code_points, types_of


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (" \t\n\u00a0\u3000\u2028", True),
        ("\u0301\ufe0f\U0001f3fd\u093f", True),
        ("ABÉЖ", True),
        ("abéж", True),
        ("你אก", True),
        ("07٣", True),
        ("-–—", True),
        ("'’", True),
        ("aA", False),
        (".,", False),
        ("()", False),
        ("\u200d\u200b", False),
    ],
)
def test_characters_of_a_kind_have_a_type(text, alike):
    assert (len(set(types_of(text).tolist())) == 1) is alike


def test_every_character_has_one_and_white_space_alone_has_the_first():
    for code in range(0, sys.maxunicode, 7):
        assert (TYPES[chr(code)] == 0) is chr(code).isspace() and 0 <= TYPES[chr(code)] <= 18
        if unicodedata.category(chr(code))[0] == "M":
            assert TYPES[chr(code)] == 1


def test_code_points():
    text = "aß你\U0001f600\ud800"
    assert code_points(text).tolist() == [ord(character) for character in text]

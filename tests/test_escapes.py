"""Text that could hide something, or pass for markup."""

import sys
from html import escape
from xml.etree import ElementTree

import pytest

from spacy_mindroot.escapes import markdown_text, printable, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\nc", "a\\u0009b\\u000ac"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("\u2028\u2029\x85\x7f\ufeff", "\\u2028\\u2029\\u0085\\u007f\\ufeff"),
        ("\ud800", "\\ud800"),
        ("نمی\u200cخواهم שלום 語 é 👩\u200d🔬", "نمی\u200cخواهم שלום 語 é 👩\u200d🔬"),  # joiners belong to words
    ],
)
def test_hidden_characters_are_spelled_out(text, expected):
    assert visible(text) == expected
    visible(text).encode("utf8")


def test_every_character_can_be_in_xml():
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = visible(text)
    assert ElementTree.fromstring(f"<a>{escape(shown)}</a>").text == shown
    assert visible("\ufffe\uffff\U0001fffe\ufdd0") == "\\ufffe\\uffff\\U0001fffe\\ufdd0"


def test_names_can_be_encoded():
    assert printable("a\udcff\ud800é") == "a\ufffd\ufffdé"


def test_markdown_reads_as_text():
    assert markdown_text("a|b") == "a\\|b" and markdown_text("<b>*x*`_") == "\\<b\\>\\*x\\*\\`\\_"
    assert markdown_text("[a](b)") == "[a\\](b)" and markdown_text("+1 [-1, +2]") == "+1 [-1, +2]"
    assert markdown_text("a\nb\u202e") == "a\\\\u000ab\\\\u202e"  # shown as \\u000a

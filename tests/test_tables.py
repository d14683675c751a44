"""Tables as text: as wide as the terminal, whatever the script."""

import pytest
from rich.cells import cell_len

from spacy_mindroot.tables import text_table

ROWS = [("漢字を読む人", 1, "the cat sat on the mat and would not go"), ("e\u0301te\u0301", 12345, "一\u202e二")]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_columns_are_aligned_in_places_of_the_terminal():
    lines = text_table(ROWS, ("word", "count", "text"), "lrl").splitlines()[1:]
    assert lines == [
        "word           count   text",
        "------------   -----   ---------------------------------------",
        "漢字を読む人       1   the cat sat on the mat and would not go",
        "e\u0301te\u0301            12345   一\\u202e二",
    ]


def test_by_default_there_are_a_text_and_numbers():
    assert text_table([("a", 5), ("bcd", 10)]) == "\na      5\nbcd   10\n"
    assert text_table([("a", 5), ("  b\n c", 10)]) == "\na        5\n  b c   10\n"
    assert text_table([], ("a", "b")) == "\na   b\n-   -\n"
    assert text_table([]) == "\n"


@pytest.mark.parametrize("width", [60, 45, 36])
def test_texts_are_cut_and_headings_wrapped_but_no_number(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    table = text_table(ROWS, ("word", "number of times", "text"), "lrl")
    lines = table.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "12345" in table and "the cat" in table and "..." in table
    assert all(word in table for word in ("number", "of", "times"))


def test_names_are_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    lines = text_table([("exact match of trees", 0.5), ("UAS", 12.25)], ("measure", "value in percent")).splitlines()
    assert lines[1:] == [
        "measure               value in",
        "                       percent",
        "-------------   --------------",
        "exact match                0.5",
        "of trees",
        "UAS                      12.25",
    ]


def test_where_nothing_can_be_cut_it_is_too_wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    assert text_table([("abc", 123456789)]) == "\nabc   123456789\n"

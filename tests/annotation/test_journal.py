"""The journal: what it still knows after the server was killed."""

import pytest

from spacy_mindroot.annotation.journal import Journal
from spacy_mindroot.errors import CorpusError

ONE, TWO = ({"do": "arc", "word": 1, "head": head, "label": "dep"} for head in (2, 3))


def reopened(journal):
    journal.close()
    return Journal(journal.folder)


def test_steps_and_undo_survive(tmp_path):
    journal = Journal(tmp_path / "j")
    for key, step in (("a", ONE), ("b", ONE), ("a", TWO), ("b", {"do": "undo"}), ("b", {"do": "undo"})):
        journal.add(key, step)
    for own in (journal, reopened(journal)):
        assert {key: steps for key, steps in own.steps.items() if steps} == {"a": [ONE, TWO]}


def test_a_base_and_a_new_key_survive(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.add("a", ONE)
    journal.add("b", TWO)
    journal.add("a", {"do": "base", "base": "text"})
    journal.add("", {"do": "rename", "keys": {"a": "b", "b": "a"}})
    journal.add("b", {"do": "base", "base": "later"})
    journal.add("b", TWO)
    for own in (journal, reopened(journal)):
        assert dict(own.steps) == {"b": [ONE, TWO], "a": [TWO]}, "keys that are exchanged cost no step"
        assert own.bases == {"b": "text"}, "the first counts"


def test_clear(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.add("a", ONE)
    journal.add("a", {"do": "base", "base": "text"})
    journal.add("a", {"do": "clear"})
    own = reopened(journal)
    assert not own.steps and not own.bases


def test_a_line_that_was_cut_off_costs_no_other(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.add("a", ONE)
    journal.close()
    with open(tmp_path / "j" / "journal.jsonl", "ab") as file:
        file.write(b'{"key": "a", "st')
    journal = Journal(tmp_path / "j")
    journal.add("a", TWO)
    assert reopened(journal).steps == {"a": [ONE, TWO]}


@pytest.mark.parametrize(
    "line",
    [
        b'{"key": "a", "step": {"do": "arc"}}',
        b'{"key": "a", "step": {"do": "arc", "word": "1", "head": 2, "label": "dep"}}',
        b'{"key": ["a"], "step": {"do": "undo"}}',
        b'{"key": "a", "step": {"do": "base"}}',
        b'{"key": "a", "step": {"do": "rename", "keys": {"a": 1}}}',
        b'{"key": "a", "step": {"do": "cell", "word": 1, "column": "HEAD", "value": "2"}}',
        b'{"key": "a", "step": {"do": "accept", "heads": [2], "labels": [1], "cells": [], "written": ""}}',
        b'{"key": "a", "step": {"do": "accept", "heads": [2], "labels": ["x"], "cells": [[1]], "written": ""}}',
        b'{"key": "a", "step": {"do": []}}',
        b'{"key": "a", "step": {"do": "other"}}',
        b"[]",
        b"\xff",
    ],
)
def test_a_line_that_is_none_is_skipped(line, tmp_path):
    journal = Journal(tmp_path / "j")
    journal.add("a", ONE)
    journal.close()
    with open(tmp_path / "j" / "journal.jsonl", "ab") as file:
        file.write(line + b"\n")
    journal = Journal(tmp_path / "j")
    assert journal.steps == {"a": [ONE]} and journal.skipped == [2]
    journal.close()


def test_one_server_at_a_time(tmp_path):
    pytest.importorskip("fcntl", reason="there are no locks on this system")
    journal = Journal(tmp_path / "j")
    with pytest.raises(CorpusError, match="another server"):
        Journal(tmp_path / "j")
    assert reopened(journal) is not journal


class _Full:
    """A file on a disk with little room left."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        if not self.room:
            raise OSError(28, "No space left on device")
        part = data[: self.room]
        self.room -= len(part)
        return self.file.write(part)


def test_on_a_full_disk_steps_wait(tmp_path):
    journal = Journal(tmp_path / "j")
    file = journal._file
    journal._file = _Full(file, 10)
    journal.add("a", ONE)
    assert journal.steps["a"] == [ONE], "it counts nevertheless"
    with pytest.raises(OSError, match="No space"):
        journal.flush()
    journal._file = file
    journal.add("a", TWO)
    assert reopened(journal).steps == {"a": [ONE, TWO]}

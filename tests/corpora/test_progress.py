"""Messages and progress bars of a run."""

import io

import pytest

from spacy_mindroot.corpora import progress as module
from spacy_mindroot.corpora.jobs import ParseSummary
from spacy_mindroot.corpora.progress import Progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr(module, "time", own)
    return own


def test_a_line_a_minute_where_there_is_no_terminal(clock, capsys):
    summary = ParseSummary(shards=10, complete_before=5)
    progress = Progress(summary, 1000, 500)
    for second in range(0, 150, 10):
        clock.now = second
        summary.words, progress.done_size = second * 100, 500 + second
        progress.update()
    progress.close()
    first, second = capsys.readouterr().err.splitlines()
    assert first == " 56%  6,000 words, 100 words/s, 1 worker, 5 of 10 shards, 07:20 left"
    assert second.startswith(" 62%  12,000 words")


def test_failures_are_shown():
    progress = Progress(ParseSummary(shards=2, rejected=3, failed=1), 10)
    progress.workers = 2
    line = progress.line()
    assert line.endswith("2 workers, 1 of 2 shards, 3 rejected, 1 failed")


def test_a_bar_on_a_terminal(monkeypatch):
    summary, stream = ParseSummary(shards=2), Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    progress = Progress(summary, 100)
    progress.done_size, summary.words = 50, 1234
    progress.update()
    progress.close()
    assert " 50%|" in stream.getvalue() and "1,234 words" in stream.getvalue()


def test_nothing_if_nothing_is_wanted(clock, capsys):
    progress = Progress(ParseSummary(), shown=False)
    clock.now = 1000
    progress.update()
    progress.close()
    assert capsys.readouterr().err == ""
    progress = Progress(ParseSummary())
    clock.now = 2000
    progress.update()
    assert capsys.readouterr().err.startswith("100%")

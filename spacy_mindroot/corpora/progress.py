"""Shows how far a run is: a bar on a terminal, one line per minute elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from tqdm import tqdm

from .jobs import ParseSummary

__all__ = ["Progress"]

_SECONDS = 60.0  # between two lines


class Progress:
    """Shows the state of a run on standard error.

    size, done_size (int): Bytes of input, of all shards and of those that are finished, in this run or before it.
    """

    def __init__(self, summary: ParseSummary, size: int = 0, done_size: int = 0, *, shown: bool = True) -> None:
        self.summary = summary
        self.size, self.done_size = size, done_size
        self.workers = 1
        self._began = self._last = time.monotonic()
        self._before = done_size  # finished by earlier runs
        self._bar: Any = None
        self._shown = shown and sys.stderr is not None
        if self._shown and sys.stderr.isatty():
            form = "{percentage:3.0f}%|{bar}| {desc}"
            self._bar = tqdm(total=size, initial=done_size, bar_format=form, leave=False)

    def update(self) -> None:
        """Show the state, if it is time to."""
        if not self._shown:
            return
        now = time.monotonic()
        if self._bar is not None:
            self._bar.n = self.done_size
            self._bar.set_description_str(self.line(), refresh=True)
        elif now - self._last >= _SECONDS:
            self._last = now
            share = self.done_size / self.size if self.size else 1.0
            print(f"{share:4.0%}  {self.line()}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()

    def line(self) -> str:
        """Return the state in words."""
        summary = self.summary
        finished = summary.complete_before + summary.parsed + summary.failed
        seconds = max(time.monotonic() - self._began, 1e-9)
        parts = [
            f"{summary.words:,} words",
            f"{summary.words / seconds:,.0f} words/s",
            f"{self.workers} worker{'s' if self.workers != 1 else ''}",
            f"{finished:,} of {summary.shards:,} shards",
        ]
        if summary.rejected:
            parts.append(f"{summary.rejected:,} rejected")
        if summary.failed:
            parts.append(f"{summary.failed:,} failed")
        done = self.done_size - self._before
        if done:
            parts.append(f"{tqdm.format_interval(seconds / done * (self.size - self.done_size))} left")
        return ", ".join(parts)

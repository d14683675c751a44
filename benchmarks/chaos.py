"""Kills workers and the command of `spacy mindroot parse` at random times, and compares what comes of it.

The union of the outputs must be the same, byte for byte, as that of an undisturbed run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

__all__ = ["Disturbed", "chaos", "disturbed_run", "union"]


@dataclass
class Disturbed:
    """The outcome of a run: whether the union was the same, kills, and shards that were begun more than once."""

    same: bool
    kills: int
    repeated: int
    in_progress: int


@dataclass
class _Watcher:
    """Collects the names of temporary files, each of which is an attempt to parse a shard."""

    folder: Path
    seen: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stop.is_set():
            self.seen |= self.now()
            time.sleep(0.005)

    def now(self) -> set[str]:
        try:
            return {name for name in os.listdir(self.folder) if not name.endswith((".json", ".jsonl"))}
        except FileNotFoundError:
            return set()


def union(out: Path) -> bytes:
    """Return all outputs, one after the other."""
    return b"".join(path.read_bytes() for path in sorted(out.glob("[0-9]*.[0-9]*.*")))


def disturbed_run(arguments: list[str], out: Path, expected: bytes, rng: random.Random, what: str) -> Disturbed:
    """Run the command, kill a worker or the command itself at a random time, and run it again until it succeeds.

    what (str): "worker" or "command".
    """
    watcher = _Watcher(out / ".mindroot" / "parts")
    thread = threading.Thread(target=watcher.run, daemon=True)
    thread.start()
    kills = in_progress = 0
    shards = rng.randrange(1, 10)
    delay = rng.random() * 0.5
    while True:
        process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        if not kills:
            while process.poll() is None and len(list(out.glob("[0-9]*.[0-9]*.*"))) < shards:
                time.sleep(0.01)
            time.sleep(delay)
            if process.poll() is None:
                if what == "command":
                    in_progress = len(watcher.now())
                    process.kill()
                    kills += 1
                else:
                    children = psutil.Process(process.pid).children(recursive=True)
                    workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
                    if workers:
                        in_progress = 1
                        os.kill(rng.choice(workers).pid, signal.SIGKILL)
                        kills += 1
        if process.wait() == 0:
            break
    watcher.stop.set()
    thread.join()
    attempts = Counter(name.partition("-")[0] for name in watcher.seen)  # of each shard
    return Disturbed(union(out) == expected, kills, attempts.total() - len(attempts), in_progress)


def chaos(model: str, text: Path, *, words: int, kills: int, command_kills: int, seed: int) -> Iterator[str]:
    """Disturb runs again and again; yield lines to print."""
    rng = random.Random(seed)
    command = [sys.executable, "-W", "ignore", "-m", "spacy_mindroot", "parse", model, str(text)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "whole"
        options = ["--shard-words", str(words)]
        subprocess.run([*command, "--out", str(out), *options], check=True, stdout=subprocess.DEVNULL)
        expected = union(out)
        yield f"{len(list(out.glob('[0-9]*.[0-9]*.*')))} shards, {len(expected):,} bytes"
        for number in range(kills + command_kills):
            what = "worker" if number < kills else "command"
            out = Path(folder) / str(number)
            arguments = [*command, "--out", str(out), *options, "--workers", "2"]
            found = disturbed_run(arguments, out, expected, rng, what)
            yield (
                f"{number + 1}: kill -9 of {what}: {found.kills} kills, {found.in_progress} shards in progress, "
                f"{found.repeated} repeated, union {'the same' if found.same else 'DIFFERS'}"
            )

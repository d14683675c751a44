"""Times all decoders on the same sentences, in turn, in one run, on one core, and checks their trees."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_mindroot import count_roots, decode, decode_batch, is_tree, tree_weight

from .contestants import Contestant
from .families import sentences

SHORTEST = 0.005  # seconds of a measurement: a batch is decoded as often as that takes


@dataclass(frozen=True)
class Result:
    """The result of a contestant on the sentences of n tokens of a family, or of a score file."""

    contestant: str
    family: str
    n: int  # 0 for a score file
    sentences: int
    microseconds: float  # for a sentence, the median over repeats
    best: int  # sentences of which the tree is the best with one root
    one_root: int  # sentences of which the result is a tree with one root
    failed: str = ""  # what it raised; it is not measured then


def pin_to_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def time_decoders(
    contestants: list[Contestant], family: str, sizes: list[int], repeats: int, too_long: float
) -> list[Result]:
    """Time each contestant on a family, shortest sentences first.

    A contestant that takes more than `too_long` seconds for a batch is not measured on longer sentences.
    """
    found = []
    left = contestants
    for n in sizes:
        results = time_batch(left, family, n, sentences(family, n), repeats, too_long)
        found += results
        out = {r.contestant for r in results if r.failed or r.microseconds * r.sentences > too_long * 1e6}
        left = [contestant for contestant in left if contestant.name not in out]
    return found


def time_score_file(
    contestants: list[Contestant], path: Path, most: int, repeats: int, too_long: float
) -> list[Result]:
    """Time the contestants on the first sentences of a file of real scores, with the arrays `lens` and `arc`."""
    with np.load(path) as arrays:
        lengths = arrays["lens"][:most]
        ends = np.cumsum(lengths.astype(np.int64) * (lengths + 1))
        pieces = np.split(arrays["arc"][: ends[-1]], ends[:-1])
    batch = [piece.reshape(n, n + 1) for piece, n in zip(pieces, lengths, strict=True)]
    return time_batch(contestants, path.stem, 0, batch, repeats, too_long)


def time_batch(
    contestants: list[Contestant], family: str, n: int, batch: list[np.ndarray], repeats: int, too_long: float
) -> list[Result]:
    """One that takes `too_long` is timed once."""
    inputs, checks, loops, times = {}, {}, {}, {}
    failed = []
    weights = [tree_weight(scores, decode(scores)) for scores in batch]
    for contestant in contestants:
        inputs[contestant.name] = contestant.prepare(batch)
        began = time.process_time()
        try:
            outputs = contestant.decode(inputs[contestant.name])
        except Exception as error:  # whatever a peer raises
            what = f"{type(error).__name__}: {error}"
            failed.append(Result(contestant.name, family, n, len(batch), 0, 0, 0, what))
            continue
        seconds = time.process_time() - began
        checks[contestant.name] = _check(batch, weights, contestant.heads(outputs, [len(scores) for scores in batch]))
        loops[contestant.name] = max(1, min(1000, int(SHORTEST / max(seconds, 1e-6))))
        times[contestant.name] = [seconds] if seconds > too_long else []
    for _ in range(repeats):
        for contestant in contestants:
            taken = times.get(contestant.name)
            if taken is None or taken and taken[0] > too_long:
                continue
            began = time.process_time()
            for _ in range(loops[contestant.name]):
                contestant.decode(inputs[contestant.name])
            taken.append((time.process_time() - began) / loops[contestant.name])
    return [
        Result(name, family, n, len(batch), float(np.median(taken)) / len(batch) * 1e6, *checks[name])
        for name, taken in times.items()
    ] + failed


def _check(batch: list[np.ndarray], weights: list[float], trees: list[np.ndarray]) -> tuple[int, int]:
    """Return the number of best trees, and of single-rooted trees. None of the latter can weigh more than ours."""
    best = one_root = 0
    for scores, weight, heads in zip(batch, weights, trees, strict=True):
        if not is_tree(heads) or count_roots(heads) != 1:
            continue
        one_root += 1
        own = tree_weight(scores, heads)
        if own > weight + 1e-5 * max(1.0, abs(weight)):
            raise AssertionError(f"a tree of weight {own} was found where ours weighs {weight}")
        best += own >= weight - 1e-5 * max(1.0, abs(weight))
    return best, one_root


@dataclass(frozen=True)
class Threads:
    """Medians for the same batch on one thread and on two, in CPU time, since other work may keep the cores busy."""

    cpu_seconds_of_one: float
    cpu_seconds_of_two: float  # of both together
    cpu_seconds_of_caller: float  # its part, of two
    seconds_of_one: float  # elapsed
    seconds_of_two: float


def time_threads(n: int, count: int, repeats: int) -> Threads:
    """A flat batch of `root_half`."""
    flat = np.concatenate([scores.ravel() for scores in sentences("root_half", n, 50)] * (count // 50))
    lengths = np.full(count, n)
    taken: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    clocks = (time.process_time, time.thread_time, time.perf_counter)
    for _ in range(repeats):
        for threads, runs in taken.items():
            began = [clock() for clock in clocks]
            decode_batch(flat, lengths, n_threads=threads)
            runs.append(tuple(clock() - start for clock, start in zip(clocks, began, strict=True)))
    one, two = (np.median(runs, axis=0).tolist() for runs in taken.values())
    return Threads(one[0], two[0], two[1], one[2], two[2])


def slope(sizes: list[int], times: list[float]) -> float:
    """Of log time against log n."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])

"""Long runs: memory over many sentences, and pipelines shared, abandoned, forked and spawned.

`python -m benchmarks.longruns --sentences 1000000`. Exits with 1 if memory grows or a result differs.
"""

from __future__ import annotations

import argparse
import gc
import io
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_mindroot import decode_batch
from spacy_mindroot.conllu import read_pieces, repair_sentence
from spacy_mindroot.conllu.sentence import Sentence
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.measures import audit_sentences

MOST_GROWTH = 8 << 20  # bytes; a leak of 8 bytes per sentence is as much over a million
_STEP = 1000  # sentences between two looks at the clock
_SHORT = (3, 5, 8, 12, 20)


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def matrices(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return random arc scores of short sentences, shape (n, n+1), float32."""
    lengths = [_SHORT[k % len(_SHORT)] for k in range(count)]
    return [rng.normal(0, 3, (n, n + 1)).astype(np.float32) for n in lengths]


def decoding(sentences: int) -> Iterator[int]:
    """Decode batches of short sentences; yield how many are done."""
    batch = matrices(np.random.default_rng(1), _STEP)
    for done in range(0, sentences, _STEP):
        decode_batch(batch)
        yield done + _STEP


def component(sentences: int) -> Iterator[int]:
    """Send Docs with arc scores through `mind_root`."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("mind_root")
    batch = matrices(np.random.default_rng(2), _STEP)
    for done in range(0, sentences, _STEP):
        docs = []
        for scores in batch:
            doc = Doc(nlp.vocab, words=["word"] * len(scores), sent_starts=[True] + [False] * (len(scores) - 1))
            doc._.arc_scores = [scores]
            docs.append(doc)
        for _ in nlp.pipe(docs):
            pass
        yield done + _STEP


def reading(sentences: int) -> Iterator[int]:
    """Read CoNLL-U and repair each sentence, from a stream without end."""
    text = b"".join(_conllu(scores) for scores in matrices(np.random.default_rng(3), _STEP))

    def lines() -> Iterator[bytes]:
        while True:
            yield from io.BytesIO(text)

    done = 0
    for piece in read_pieces(lines(), "stream"):  # type: ignore[arg-type]
        if isinstance(piece, Sentence):
            repair_sentence(piece)
            piece.to_bytes()
            done += 1
            if done % _STEP == 0:
                yield done
            if done >= sentences:
                return


def auditing(sentences: int) -> Iterator[int]:
    """Audit sentences one after the other, and make the record of each that `audit.jsonl` holds."""
    batch = matrices(np.random.default_rng(4), _STEP)

    def scored() -> Iterator[ScoredSentence]:
        for done in range(sentences):
            scores = batch[done % _STEP]
            n = len(scores)
            yield ScoredSentence(scores, ["word"] * n, None, [], np.zeros(n, np.int32), ["dep"] * n)

    for done, each in enumerate(audit_sentences(scored(), source="stream"), 1):
        each.record()
        if done % _STEP == 0:
            yield done


def _conllu(scores: np.ndarray) -> bytes:
    """Return a sentence whose heads are the best of each word, which need not be a tree."""
    heads = scores.argmax(axis=1)
    rows = [f"{k}\tword\t_\tNOUN\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_" for k, head in enumerate(heads, 1)]
    return ("\n".join(rows) + "\n\n").encode()


MEMORY: dict[str, Callable[[int], Iterator[int]]] = {
    "decode_batch": decoding,
    "mind_root": component,
    "read_pieces and repair_sentence": reading,
    "audit_sentences and record": auditing,
}


def measure_memory(run: Callable[[int], Iterator[int]], sentences: int) -> tuple[int, int, float]:
    """Return the resident bytes after a twentieth of the sentences and at the end, and the seconds."""
    began = time.perf_counter()
    first = 0
    for done in run(sentences):
        if not first and done >= sentences // 20:
            gc.collect()
            first = resident_bytes()
    gc.collect()
    return first, resident_bytes(), time.perf_counter() - began


# A pipeline whose scores are computed from the text, so that each process and thread can make them.


@Language.component("random_arc_scores")
def random_arc_scores(doc: Doc) -> Doc:
    """Set arc scores that depend on the words alone."""
    n = len(doc)
    seed = sum(map(ord, doc.text))
    doc._.arc_scores = [np.random.default_rng(seed).normal(0, 3, (n, n + 1))]
    return doc


def make_pipeline() -> Language:
    """Return a pipeline that parses single sentences, with random scores."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("random_arc_scores")
    nlp.add_pipe("mind_root")
    return nlp


def texts(count: int) -> list[str]:
    """Return sentences of different lengths."""
    return [" ".join(f"w{k * 31 % 97}" for k in range(2 + number % 20)) for number in range(count)]


def heads_of(doc: Doc) -> list[int]:
    return [token.head.i for token in doc]


def abandoned_pipe(rounds: int = 200) -> bool:
    """Whether memory stays the same when `nlp.pipe` is left after a few Docs, and the pipeline works afterwards."""
    nlp = make_pipeline()
    sample = texts(2000)
    alone = heads_of(nlp(sample[7]))
    first = 0
    for number in range(rounds):
        for k, _ in enumerate(nlp.pipe(sample, batch_size=50)):
            if k == 60:
                break
        if number == rounds // 10:
            gc.collect()
            first = resident_bytes()
    gc.collect()
    return resident_bytes() - first < MOST_GROWTH and heads_of(nlp(sample[7])) == alone


def shared_by_threads(threads: int = 8, count: int = 400) -> bool:
    """Whether threads that share a pipeline get the heads that one thread gets."""
    nlp = make_pipeline()
    sample = texts(count)
    alone = [heads_of(nlp(text)) for text in sample]
    start = threading.Barrier(threads)

    def work(_: int) -> list[list[int]]:
        start.wait()
        return [heads_of(nlp(text)) for text in sample]

    with ThreadPoolExecutor(threads) as pool:
        return all(found == alone for found in pool.map(work, range(threads)))


def processes(method: str, count: int = 400) -> bool:
    """Whether `n_process=2` gives the heads of one process. `method` is "fork" or "spawn"."""
    multiprocessing.set_start_method(method, force=True)
    nlp = make_pipeline()
    sample = texts(count)
    alone = [heads_of(doc) for doc in nlp.pipe(sample)]
    return [heads_of(doc) for doc in nlp.pipe(sample, n_process=2, batch_size=20)] == alone


CHECKS: dict[str, Callable[[], bool]] = {
    "nlp.pipe left half-way, 200 times: memory flat": abandoned_pipe,
    "one pipeline, 8 threads: the heads of one": shared_by_threads,
    "n_process=2, fork: the heads of one process": lambda: processes("fork"),
    "n_process=2, spawn: the heads of one process": lambda: processes("spawn"),
}


def main() -> int:
    """Run everything, print a table, and return 1 if memory grew or a check failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.longruns", description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000, help="sentences of each run for memory")
    options = parser.parse_args()
    failed = False
    for name, run in MEMORY.items():
        first, last, seconds = measure_memory(run, options.sentences)
        grown = last - first > MOST_GROWTH
        failed |= grown
        print(
            f"{name}: {options.sentences:,} sentences in {seconds:.0f} s, RSS {first / 1e6:.1f} MB after a twentieth, "
            f"{last / 1e6:.1f} MB at the end{' GROWS' if grown else ''}",
            flush=True,
        )
    for name, check in CHECKS.items():
        ok = check()
        failed |= not ok
        print(f"{name}: {'yes' if ok else 'NO'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

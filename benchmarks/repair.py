"""Heads of damaged treebanks that are right after repair, with a parser as prior and without: see docs/repair.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from spacy.language import Language

from spacy_mindroot import decode
from spacy_mindroot.conllu import Sentence, read_conllu
from spacy_mindroot.conllu.columns import HEAD
from spacy_mindroot.conllu.repair import is_well_formed, repair_sentence
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.folds import train
from spacy_mindroot.tools.gold import load_pipeline, score_sentences, unparsed
from spacy_mindroot.trees import find_cycles

from .runs import note_run, read_runs
from .training_size import gold_docs, make_parser, treebank_part

KEEPS = {"--keep 0": 0.0, "--keep inf": math.inf, "--keep 8": 8.0}
METHODS = ("damaged", "to the first root", "repair", *KEEPS, "parser")


@dataclass(frozen=True)
class Repaired:
    """One damaged test set. Percentages: of its sentences that are malformed, and of its heads that are right."""

    treebank: str
    share: float
    parser: str
    seed: int
    malformed: float
    uas: dict[str, float]


def copy_of(sentence: Sentence) -> Sentence:
    """Return a sentence that can be changed without the other."""
    return Sentence(sentence.source, sentence.line, list(sentence.lines), sentence.columns)


def damage(sentence: Sentence, share: float, rng: np.random.Generator) -> None:
    """Replace about a share of the heads, in place.

    Six in ten become a random word, two ROOT, one a number beyond the sentence, and one is missing.
    """
    n = len(sentence)
    for word in (np.flatnonzero(rng.random(n) < share) + 1).tolist():
        cells = (str(rng.integers(1, n + 1)), "0", str(n + rng.integers(1, 10)), "_")
        sentence.replace(word, HEAD, cells[rng.choice(4, p=[0.6, 0.2, 0.1, 0.1])])


def to_first_root(heads: Sequence[int]) -> list[int]:
    """Attach all words whose head can't stay to the first root, or to the first word if there is none."""
    root = heads.index(0) + 1 if 0 in heads else 1
    found = [head if 1 <= head <= len(heads) and head != word else root for word, head in enumerate(heads, 1)]
    found[root - 1] = 0
    for cycle in find_cycles(found):
        found[min(cycle) - 1] = root
    return found


def repaired_heads(damaged: Sentence, scored: ScoredSentence) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the heads that each of `METHODS` gives to a damaged sentence."""
    yield "damaged", damaged.heads
    yield "to the first root", to_first_root(damaged.heads)
    for name, keep in {"repair": None, **KEEPS}.items():
        own = copy_of(damaged)
        with suppress(ConlluError):  # all heads are missing
            repair_sentence(own, prior=None if keep is None else scored, keep=keep or 0)
        yield name, own.heads
    yield "parser", decode(scored.scores).tolist()


def measure(path: Path, nlp: Language, share: float, seed: int) -> tuple[float, dict[str, float]]:
    """Damage a treebank. Return its malformed sentences and the right heads of each method, in percent."""
    rng = np.random.default_rng(seed)
    gold = list(read_conllu(path))
    right: Counter[str] = Counter()
    malformed = 0
    for sentence, scored in zip(gold, score_sentences(nlp, unparsed(nlp.vocab, gold)), strict=True):
        damaged = copy_of(sentence)
        damage(damaged, share, rng)
        malformed += not is_well_formed(damaged)
        for name, heads in repaired_heads(damaged, scored):
            right[name] += sum(head == own for head, own in zip(heads, sentence.heads, strict=True))
    words = sum(map(len, gold))
    return 100 * malformed / len(gold), {name: round(100 * right[name] / words, 2) for name in METHODS}


def trained_parser(folder: Path, steps: int, seed: int) -> Language:
    """Return a parser that is trained on the training set of a treebank."""
    nlp = make_parser("efficiency", steps, seed, max_length=0)
    averages = train(nlp, gold_docs(nlp, treebank_part(folder, "train", nlp.vocab)), steps, seed)
    nlp.use_params(averages).__enter__()  # for good
    return nlp


def run_all(
    data: Path,
    treebanks: Sequence[str],
    shares: Sequence[float],
    model: str | None,
    steps: int,
    seed: int,
    results: Path,
) -> Iterator[Repaired]:
    """Measure what is not in a file yet, and add it to the file. Without a model, train one on each treebank."""
    parser = model or f"{steps} steps"
    done = {(each["treebank"], each["share"], each["parser"], each["seed"]) for each in read_runs(results)}
    nlp, of_treebank = None, ""
    for treebank, share in product(treebanks, shares):
        if (treebank, share, parser, seed) in done:
            continue
        folder = data / "ud" / f"UD_{treebank}"
        if nlp is None or (model is None and of_treebank != treebank):
            nlp, of_treebank = trained_parser(folder, steps, seed) if model is None else load_pipeline(model), treebank
        (path,) = folder.glob("*-ud-test.conllu")
        malformed, uas = measure(path, nlp, share, seed)
        found = Repaired(treebank, share, parser, seed, round(malformed, 1), uas)
        note_run(results, found)
        yield found

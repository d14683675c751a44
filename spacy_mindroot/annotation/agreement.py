"""Agreement of two annotators on the trees of the same sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..conllu import Sentence, read_pieces
from ..conllu.vote import check_same_words, in_step
from ..errors import CorpusError
from ..escapes import printable
from ..tables import text_table

__all__ = ["agreement_table", "cohens_kappa", "paired_sentences"]


def paired_sentences(first: Path, second: Path) -> list[tuple[Sentence, Sentence]]:
    """Return the sentences of two files side by side.

    RAISES (ConlluError): If they are not the same sentences with the same words. The message names file and line.
    """
    names = [printable(first), printable(second)]
    with open(first, "rb") as one, open(second, "rb") as other:
        streams = [read_pieces(file, name) for file, name in zip((one, other), names, strict=True)]
        pairs = [(piece[0], piece[1]) for piece in in_step(streams, names) if isinstance(piece, list)]
    for pair in pairs:
        check_same_words(pair)
    if not pairs:
        raise CorpusError(f"There are no sentences in {names[0]}.")
    return pairs


def cohens_kappa(pairs: Iterable[tuple[str, str]]) -> float:
    """Return Cohen's kappa of two annotators: agreement beyond what chance gives, at most 1.

    pairs (Iterable[tuple[str, str]]): What each of them has chosen, item by item. The result is 1 if both have always
        chosen one and the same.
    """
    counted = Counter(pairs)
    total = counted.total()
    one: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for (a, b), count in counted.items():
        one[a] += count
        other[b] += count
    observed = sum(count for (a, b), count in counted.items() if a == b) / total
    by_chance = sum(one[label] * other[label] for label in one) / total**2
    return 1.0 if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def agreement_table(pairs: Iterable[tuple[Sentence, Sentence]]) -> tuple[str, dict[str, float]]:
    """Return the agreement on heads (UAS), on heads with labels (LAS), and Cohen's kappa of the labels.

    It comes as a table, and as JSON, with shares from 0 to 1.
    """
    sentences = same = words = heads = both = 0
    labels: list[tuple[str, str]] = []
    for one, other in pairs:
        arcs = list(zip(one.heads, one.labels, other.heads, other.labels, strict=True))
        sentences += 1
        words += len(arcs)
        heads += sum(a == c for a, _, c, _ in arcs)
        agree = sum((a, b) == (c, d) for a, b, c, d in arcs)
        both += agree
        same += agree == len(arcs)
        labels += [(b, d) for _, b, _, d in arcs]
    found: dict[str, float] = {"sentences": sentences, "words": words, "unanimous_sentences": same}
    found |= {"uas": heads / words, "las": both / words, "kappa": cohens_kappa(labels)}
    rows = [
        ("Sentences", f"{sentences:,}"),
        ("Words", f"{words:,}"),
        ("Sentences on which both agree", f"{same:,}"),
        ("Heads (UAS)", f"{found['uas']:.1%}"),
        ("Heads and labels (LAS)", f"{found['las']:.1%}"),
        ("Kappa of labels", f"{found['kappa']:.3f}"),
    ]
    return text_table(rows), found

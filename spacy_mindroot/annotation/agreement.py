"""How far two annotators agree on the trees of the same sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from wasabi import table

from ..conllu import Sentence, read_pieces
from ..conllu.vote import check_same_words, in_step
from ..errors import CorpusError
from ..escapes import printable

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


def agreement_table(pairs: Iterable[tuple[Sentence, Sentence]]) -> str:
    """Return the agreement as a table: of heads (UAS), of heads with labels (LAS), and Cohen's kappa of the labels."""
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
    rows = [
        ("Sentences", f"{sentences:,}"),
        ("Words", f"{words:,}"),
        ("Sentences on which both agree", f"{same:,}"),
        ("Heads (UAS)", f"{heads / words:.1%}"),
        ("Heads and labels (LAS)", f"{both / words:.1%}"),
        ("Kappa of labels", f"{cohens_kappa(labels):.3f}"),
    ]
    return str(table(rows, aligns=("l", "r"), max_col=60))

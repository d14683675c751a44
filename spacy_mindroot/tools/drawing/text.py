"""Trees as text, for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest

from ...escapes import visible
from .render import Parse, percent, trees_in_set

__all__ = ["parse_lines", "side_by_side", "tree_lines"]


def tree_lines(
    words: Sequence[str], heads: Sequence[int], labels: Sequence[str], *, marked: Collection[int] = ()
) -> list[str]:
    """Return a tree as indented lines: ROOT on top, every token below its head, dependents in sentence order.

    Several tokens may be roots. Control characters are spelled out. The line of a marked token, from 1, ends in a star.
    """
    dependents: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for token, head in enumerate(heads, 1):
        dependents[head].append(token)
    lines = ["ROOT"]
    waiting = [(token, "", token == dependents[0][-1]) for token in reversed(dependents[0])]
    while waiting:  # no recursion, since a sentence may be one long chain
        token, indent, last = waiting.pop()
        star = " *" if token in marked else ""
        shown = f"{visible(words[token - 1])} ({visible(labels[token - 1])})"
        lines.append(f"{indent}{'└' if last else '├'}─ {shown}{star}")
        indent += "   " if last else "│  "
        waiting += [(child, indent, child == dependents[token][-1]) for child in reversed(dependents[token])]
    return lines


def parse_lines(parse: Parse) -> str:
    """Return a parse as text: its sentence, and its tree with the probability of each head."""
    labels = [f"{label} {percent(prob)}".rstrip() for label, prob in zip(parse.labels, parse.head_prob, strict=True)]
    heads = [head or 0 for head in parse.heads]
    name = f"{visible(parse.name)}: " if parse.name else ""
    in_set = f" ({trees_in_set(parse.in_set)})" if parse.in_set is not None else ""
    return "\n".join([f"{name}{visible(' '.join(parse.words))}{in_set}", *tree_lines(parse.words, heads, labels)])


def side_by_side(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Return two blocks of lines as two columns."""
    width = max(map(len, left), default=0) + 4
    return [f"{a:<{width}}{b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]

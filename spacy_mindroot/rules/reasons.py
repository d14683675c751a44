"""Says in words why an arc breaks a rule."""

from __future__ import annotations

from collections.abc import Sequence

from .kinds import AnyRule, Direction, Leaf, Planar, Unique

__all__ = ["reason_of"]


def reason_of(
    rule: AnyRule,
    token: int,
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    pos: Sequence[str | None],
) -> str:
    """Return why a token, from 1, is at fault under a rule, as a sentence.

    words, heads, labels, pos (Sequence): The sentence, as for `Rules.violations`.
    """
    head, label = heads[token - 1], labels[token - 1]
    word, of_head = f"“{words[token - 1]}”", f"“{words[head - 1]}”" if head else "ROOT"
    if isinstance(rule, Unique):
        return f"{of_head} has more than one {' or '.join(rule.labels)}: {word} is one too many."
    if isinstance(rule, Leaf):
        return f"{of_head} is {labels[head - 1]}, and a {labels[head - 1]} has no dependent that is {label}: {word}."
    if isinstance(rule, Direction):
        return f"{label} stands to the {rule.side} of its head: {word} is on the other side of {of_head}."
    if isinstance(rule, Planar):
        crossing = "the arc to it" if rule.which == "own" else "the place of it"
        return f"{word} is {label}, and {crossing} makes arcs cross."
    parts = []
    if rule.pos or rule.pos_not:
        parts.append(f"{word} is {pos[token - 1]}")
    if rule.head_pos or rule.head_pos_not:
        parts.append(f"its head {of_head} is {pos[head - 1]}" if head else "its head is ROOT")
    because = f", since {' and '.join(parts)}" if parts else ""
    return f"{word} can't be {label}{because}."

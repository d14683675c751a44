"""Finds the JSON, or the rows of CoNLL-U, in what a language model has written, even if text surrounds or ends it."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

__all__ = ["find_answer"]

_STARTS, _CUTS, _DEPTH = 200, 50, 50  # places that are tried, and the deepest nesting of what is cut off
_END = 6  # the most characters of a value that is cut off at the end, such as the beginning of `false`
_CLOSING = {"{": "}", "[": "]"}
_FENCES = ("json", "jsonl", "JSON", "conllu", "")


def find_answer(text: str) -> tuple[Any, str]:
    """Return the longest JSON object or array in a text, or its rows of CoNLL-U; and what is wrong with it.

    Of several that are equally long, the last counts: a model corrects itself after, not before.

    The second is "" (nothing but the answer, or the answer in a code fence), "text around", or "truncated": the JSON
    has no end, and what is complete of it is returned. If there is no answer, the first is None.

    >>> find_answer('Sure! {"heads": [2, 0]} Anything else?')
    ({'heads': [2, 0]}, 'text around')
    >>> find_answer('{"heads": [12, 0, 1')
    ({'heads': [12, 0]}, 'truncated')
    """
    inner = _without_fence(text.strip())
    found, length, cut = _longest(inner)
    if found is None and cut < 0:
        found, length = _rows(inner)
    if found is not None:
        return found, "" if length == len(inner) else "text around"
    found = _complete_part(inner[cut:]) if cut >= 0 else None
    return found, "" if found is None else "truncated"


def _without_fence(text: str) -> str:
    """Return the text in a Markdown code fence, if there is nothing else."""
    if len(text) > 6 and text.startswith("```") and text.endswith("```") and text.count("```") == 2:
        name, _, rest = text[3:-3].partition("\n")
        if name.strip() in _FENCES:
            return rest.strip()
    return text


def _longest(text: str) -> tuple[Any, int, int]:
    """Return the longest object or array in a text that may be an answer, and the number of its characters.

    The third is the place where the first begins that has no end, unless an answer comes before it; -1 without any.
    """
    best, length, at, broken = None, 0, 0, -1
    decoder = json.JSONDecoder()
    for _ in range(_STARTS):
        at = min((start for start in (text.find("{", at), text.find("[", at)) if start >= 0), default=-1)
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            position = getattr(error, "pos", 0)
            if str(error).startswith("Unterminated") or position > len(text) - _END:
                return best, length, at
            broken = at if broken < 0 else broken
            at += 1
            continue
        if end - at >= length and _may_be_answer(value):
            best, length = value, end - at
        at = end
    return best, length, -1 if best is not None else broken


def _may_be_answer(value: Any) -> bool:
    """Whether a JSON value is more than a part of an answer, such as its words or one of its tokens."""
    if isinstance(value, dict):
        return any(isinstance(own, list) for own in value.values())
    return isinstance(value, list) and any(not isinstance(own, str) or own.strip().isdecimal() for own in value)


def _rows(text: str) -> tuple[Any, int]:
    """Return the words, heads and labels of the first sentence of CoNLL-U in a text, and the length of its lines."""
    rows: list[list[str]] = []
    length = 0
    for line in text.split("\n"):
        cells = line.strip("\r\n ").split("\t")
        is_row = len(cells) == 10 and cells[0].isdecimal() and cells[0].isascii()
        if rows and (not line.strip() or (is_row and cells[0] == "1")):
            break
        if is_row:
            rows.append(cells)
        length += len(line) + 1 if is_row or line.startswith("#") or len(cells) == 10 else 0
    if not rows:
        return None, 0
    tokens = [{"id": cells[0], "form": cells[1], "head": cells[6], "deprel": cells[7]} for cells in rows]
    return tokens, length - 1


def _complete_part(text: str) -> Any:
    """Return the JSON that a text begins with, up to its last complete value; None if there is none."""
    stack: list[str] = []
    cuts: deque[tuple[int, str]] = deque(maxlen=_CUTS)
    in_string = escaped = False
    for at, character in enumerate(text):
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in _CLOSING:
            if len(stack) == _DEPTH:
                break
            stack.append(_CLOSING[character])
        elif character == "," or (stack and character == stack[-1]):
            if character != ",":
                stack.pop()
            cuts.append((at if character == "," else at + 1, "".join(reversed(stack))))
    for at, closing in reversed(cuts):
        try:
            value = json.loads(text[:at] + closing)
        except (ValueError, RecursionError):
            continue
        if value:
            return value
    return None

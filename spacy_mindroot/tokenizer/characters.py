"""Types of characters, for the boundaries between them."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

__all__ = ["TYPES", "code_points", "types_of"]

_SPACE, _EXTENDS, _JOINS, _FLAG, _UPPER, _LOWER, _MODIFIER, _LETTER, _NUMBER = range(9)
_MARKS = (".", "-", "'’ʼ`", ",;:", "!?", "([{", ")]}", "punctuation", "symbols", "others")
_OF_CATEGORY = {"Lu": _UPPER, "Lt": _UPPER, "Ll": _LOWER, "Lm": _MODIFIER, "Pd": 10, "Ps": 14, "Pi": 14}
_OF_CATEGORY |= {"Pe": 15, "Pf": 15}
_OF_MAJOR = {"M": _EXTENDS, "L": _LETTER, "N": _NUMBER, "P": 16, "S": 17}


class _Types(dict[str, int]):
    """The type of each character, found when it is first asked for."""

    def __missing__(self, character: str) -> int:
        self[character] = found = _type_of(character)
        return found


def _type_of(character: str) -> int:
    code, category = ord(character), unicodedata.category(character)
    if character.isspace():
        return _SPACE
    if code == 0x200D:
        return _JOINS
    if 0x1F1E6 <= code <= 0x1F1FF:  # two of these letters are a flag
        return _FLAG
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:  # colours of skin, and tags of flags
        return _EXTENDS
    for number, marks in enumerate(_MARKS[:5], 9):
        if character in marks and category != "Pd":
            return number
    return _OF_CATEGORY.get(category) or _OF_MAJOR.get(category[0], 18)


#: The type of each character: a number from 0 (white space) to 18. boundaries.hh knows the first four.
TYPES = _Types()


def types_of(text: str) -> npt.NDArray[np.uint8]:
    """Return the type of each character of a text."""
    return np.fromiter((TYPES[character] for character in text), np.uint8, len(text))


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """Return the code point of each character of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)

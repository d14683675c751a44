"""Makes text from files, and their names, safe to show and to write: in a terminal, in Markdown and in HTML."""

from __future__ import annotations

import re

__all__ = ["markdown_text", "printable", "visible"]

# Control characters, lone surrogates, line and paragraph separators, the controls of bidirectional text, which can hide
# or reorder what stands around them, and code points that never stand for a character, some of which XML forbids.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKDOWN = re.compile(r"[\\`*_|<>&~]|\](?=[(\[:])")


def visible(text: str) -> str:
    r"""Return the text with control characters and the like spelled out, as in `\u202e`. The result can be encoded."""
    return _HIDDEN.sub(lambda match: _spelled(ord(match[0])), text)


def _spelled(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def markdown_text(text: str) -> str:
    """Return the text as it reads in Markdown, also in a cell of a table: no character of it is markup."""
    return _MARKDOWN.sub(lambda match: f"\\{match[0]}", visible(text))


def printable(name: object) -> str:
    """Return a file name or argument as text that can be encoded: each byte that is not UTF-8 becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", str(name))

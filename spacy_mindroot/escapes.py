"""Makes text from files safe to show: in a terminal, in Markdown and in HTML."""

from __future__ import annotations

import re

__all__ = ["markdown_text", "visible"]

# Control characters, lone surrogates, line and paragraph separators, and the controls of bidirectional text, which
# can hide or reorder what stands around them.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_MARKDOWN = re.compile(r"[\\`*_|<>&~]|\](?=[(\[:])")


def visible(text: str) -> str:
    r"""Return the text with control characters and bidirectional controls spelled out, as in `\u202e`."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def markdown_text(text: str) -> str:
    """Return the text as it reads in Markdown, also in a cell of a table: no character of it is markup."""
    return _MARKDOWN.sub(lambda match: f"\\{match[0]}", visible(text))

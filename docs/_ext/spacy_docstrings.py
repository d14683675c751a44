"""Docstrings in spaCy's style, for Sphinx: `name (type): text` items become fields, backticks become code."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.domains.python import PyXRefRole

from spacy_mindroot import errors

FOLDERS = (
    "doc",
    "pipeline",
    "arc_scorer",
    "conllu",
    "tokenizer",
    "tools",
    "cli",
)  # all other modules have docstrings in NumPy's style
_ITEM = re.compile(r"(?P<names>\w+(?:, \w+)*)(?: \((?P<type>.*?)\))?: +(?P<text>\S.*)")
_HEADING = re.compile(r"^-{4,}$", re.MULTILINE)  # a section in NumPy's style
_FIELDS = {"RETURNS": "returns", "YIELDS": "yields"}


class Item(NamedTuple):
    """An item of a docstring: what it describes, its type (may be empty) and its text in Markdown, on one line."""

    names: tuple[str, ...]
    type: str
    text: str


def is_spacy_style(module: str) -> bool:
    """Whether docstrings of this module are in spaCy's style."""
    parts = module.split(".")
    return len(parts) > 1 and parts[0] == "spacy_mindroot" and parts[1] in FOLDERS


def split(docstring: str) -> Iterator[str | Item]:
    """Yield the parts of a docstring in order: its items, and all other lines as they are.

    An item starts a line and goes on in the indented lines below it. It has a type in parentheses, or its name is in
    capitals.
    """
    lines = inspect.cleandoc(docstring).splitlines()
    at = 0
    while at < len(lines):
        match = _ITEM.fullmatch(lines[at])
        if not match or not (match["type"] or match["names"].isupper()):
            yield lines[at]
            at += 1
            continue
        text = [match["text"]]
        at += 1
        while at < len(lines) and lines[at].startswith("    "):
            text.append(lines[at].strip())
            at += 1
        yield Item(tuple(match["names"].split(", ")), match["type"] or "", " ".join(text))


def items(docstring: str | None) -> dict[str, Item]:
    """Return the items of a docstring by name."""
    found = [part for part in split(docstring or "") if isinstance(part, Item)]
    return {name: item for item in found for name in item.names}


def to_rst(docstring: str) -> list[str]:
    """Return a docstring as lines of reStructuredText."""
    lines: list[str] = []
    for part in split(docstring):
        if isinstance(part, str):
            lines.append(_inline(part))
            continue
        if lines and lines[-1] and not lines[-1].startswith(":"):
            lines.append("")
        names = ", ".join(part.names)
        if names == "RAISES":
            lines.append(f":raises {_error(part.type)}: {_inline(part.text)}")
        elif names in _FIELDS:
            of_type = f"``{part.type}`` -- " if part.type else ""
            lines.append(f":{_FIELDS[names]}: {of_type}{_inline(part.text)}")
        else:
            lines.append(f":param {names}: (``{part.type}``) {_inline(part.text)}")
    return lines


def _error(name: str) -> str:
    """The name of an error with its module, so that it can be linked: one error has two public names."""
    return f"~spacy_mindroot.errors.{name}" if hasattr(errors, name) else name or "Exception"


def _inline(text: str) -> str:
    """Markdown's backticks to reStructuredText's, and everything else that is markup there escaped."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(
        f"``{part.strip('`')}``" if at % 2 else re.sub(r"([*|\\]|\b_(?=\W|$)|(?<=\w)_(?=\W|$))", r"\\\1", part)
        for at, part in enumerate(parts)
    )


def tables_to_rst(lines: list[str]) -> list[str]:
    """Replace Markdown's tables by `list-table` directives."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        rows = []
        while at + len(rows) < len(lines) and lines[at + len(rows)].startswith("|"):
            rows.append(lines[at + len(rows)])
        if len(rows) > 2 and set(rows[1]) <= set("|-: "):
            out += ["", ".. list-table::", "   :header-rows: 1", ""]
            for row in [rows[0], *rows[2:]]:
                for column, cell in enumerate(row.strip().strip("|").split("|")):
                    out.append(f"   {'  ' if column else '* '}- {_inline(cell.strip())}")
            out.append("")
            at += len(rows)
        else:
            out.append(lines[at])
            at += 1
    return out


def _process(app: Any, what: str, name: str, object: Any, options: Any, lines: list[str]) -> None:
    module = object.__name__ if inspect.ismodule(object) else getattr(object, "__module__", None) or name
    if is_spacy_style(module) or not _HEADING.search("\n".join(lines)) and items("\n".join(lines)):
        lines[:] = to_rst("\n".join(lines))
    lines[:] = [*tables_to_rst(lines), ""]


class CodeOrLink(PyXRefRole):
    """The role of text in backticks: a link to the object of that name, or just code.

    Names of modules, such as `scores`, are names of parameters more often than not, and make no link.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        is_name = re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", self.text)
        if not is_name or (self.text.isidentifier() and importlib.util.find_spec(f"spacy_mindroot.{self.text}")):
            return [nodes.literal(self.rawtext, self.text)], []
        self.name = "py:obj"
        return super().run()


def _skip(app: Any, what: str, name: str, object: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples, whose own docstrings say nothing."""
    return True if isinstance(object, type(Item.names)) else None


def setup(app: Any) -> dict[str, Any]:
    process: Callable[..., None] = _process
    app.add_role("code-or-link", CodeOrLink())
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", process, priority=400)  # before numpydoc
    return {"parallel_read_safe": True, "version": "1"}

"""The README in parts, for tests: its fenced blocks, its links, and what its Python examples print."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from pathlib import Path

REPOSITORY = "https://github.com/spacy-mindroot/spacy-mindroot"
RAW = "https://raw.githubusercontent.com/spacy-mindroot/spacy-mindroot/main"


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.M | re.S)


def links(text: str) -> list[str]:
    """Return the targets of all links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", text)


def file_of(link: str, checkout: Path) -> Path | None:
    """Return the file in the checkout that an absolute link into the repository stands for; None for other links."""
    for start in (f"{REPOSITORY}/blob/main/", f"{RAW}/"):
        if link.startswith(start):
            return checkout / link.removeprefix(start).partition("#")[0]
    return None


def run_example(code: str, namespace: dict) -> list[tuple[str, str]]:
    """Run a block of Python, and return what it promises and what comes out, in pairs.

    An expression promises its `repr` in a comment behind it; a call of `print`, its output in the comment below it.
    White space does not count. Every expression has to promise something.
    """
    comments = {
        token.start[0]: token.string.removeprefix("#")
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    }
    pairs = []
    for statement in ast.parse(code).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "README.md", "exec"), namespace)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = eval(compile(ast.Expression(statement.value), "README.md", "eval"), namespace)
        line = statement.end_lineno
        promised, found = (comments[line + 1], printed.getvalue()) if value is None else (comments[line], repr(value))
        pairs.append((squeezed(promised), squeezed(found)))
    return pairs


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)

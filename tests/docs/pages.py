"""Runs the code on the pages of the documentation.

On each page, the blocks ```python and ```sh run in order, in one process and one folder. A block ```text that follows
is what the block printed; `...` stands for anything, and white space counts as one space. A line `% not run: REASON`
before a block leaves it out. Blocks of other kinds, such as {code-block}, are not run.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "--- end of block {} ---"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SHELL = 'subprocess.run(["bash", "-euo", "pipefail", "-c", {!r}], check=True)'
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A block of code on a page, with its language, its first line, and what it is to print (None: anything)."""

    language: str
    line: int
    code: str
    printed: str | None


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page that run."""
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(text):
        language, code = match.groups()
        between = text[end : match.start()]
        end = match.end()
        if language in ("python", "sh") and "% not run:" not in between.rstrip().rpartition("\n")[2]:
            found.append(Block(language, text.count("\n", 0, match.start()) + 2, code, None))
        elif language == "text" and found and not between.strip() and found[-1].printed is None:
            found[-1] = found[-1]._replace(printed=code)
    return found


def run(text: str, folder: Path, timeout: int = 600) -> list[str]:
    """Run the blocks of a page in a folder. Return one message for each block that prints something else.

    RAISES (AssertionError): If a block fails; the message has its traceback.
    """
    found = blocks(text)
    lines = ["import subprocess, sys"]
    for number, block in enumerate(found):
        lines.append(f"# line {block.line}")
        lines.append(block.code if block.language == "python" else _SHELL.format(block.code))
        lines.append(f"if __name__ == '__main__': print({_MARK.format(number)!r}, flush=True)")
    script = folder / "page.py"
    script.write_text("\n".join(lines), encoding="utf8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    rest = _COLOUR.sub("", done.stdout)
    wrong = []
    for number, block in enumerate(found):
        printed, _, rest = rest.partition(_MARK.format(number) + "\n")
        if block.printed is not None and not _same(block.printed, printed):
            wrong.append(f"line {block.line} prints\n{printed}\nand the page says\n{block.printed}")
    return wrong


def _same(wanted: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(wanted.strip() + "\n", got.strip() + "\n", _FLAGS)

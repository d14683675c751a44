"""CoNLL-U files on disk: which files a folder holds, and what is CoNLL-U."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import ConlluError, CorpusError
from ..escapes import printable
from ..text_files import text_lines

__all__ = [
    "CONLLU_SUFFIXES",
    "conllu_files",
    "is_conllu",
    "is_conllu_text",
    "is_output",
    "refuse_link_out",
]

CONLLU_SUFFIXES = (".conllu", ".conllup", ".cupt")  # of the files that a folder is searched for

_OTHER_SUFFIXES = (".conll", ".conllx")
_FIRST_WORD = re.compile(rb"[01](?:[.-][0-9]+)?\t")
_OUTPUT = ".mindroot"  # a folder in each folder that `parse` has written
_LISTS = ("manifest.jsonl", "rejected.jsonl", "failed.jsonl")  # beside it: no corpus, although they are JSON lines
_BOM = b"\xef\xbb\xbf"


def conllu_files(path: Path) -> list[Path]:
    """Return the file itself, or all CoNLL-U files in a folder and below it, in alphabetical order.

    path (Path): A file of any name, or a folder, of which the files *.conllu, *.conllup and *.cupt are taken, each also
        as *.gz. What `parse` has written to a folder below it is left out.
    RAISES (ConlluError): If there are none. CorpusError: if one is a link to a file outside of the folder.
    """
    if path.is_dir():
        endings = tuple(suffix + end for suffix in CONLLU_SUFFIXES for end in ("", ".gz"))
        files = sorted(file for file in path.rglob("*") if file.name.endswith(endings) and file.is_file())
        files = [file for file in files if not is_output(str(file), str(path))]
        if not files:
            wanted = ", ".join(f"*{suffix}" for suffix in CONLLU_SUFFIXES)
            raise ConlluError(f"{path}: this folder has no files {wanted}, or one of these with .gz at its end.")
        for file in files:
            refuse_link_out(file, path)
        return files
    if not path.exists():
        raise ConlluError(f"{path}: there is no such file or folder.")
    return [path]


def is_output(path: str, root: str) -> bool:
    """Whether a file in a folder is no input: a list that `parse` keeps, or in a folder below that it has written.

    path, root (str): The file, and the folder that was named. The parses in that folder itself are input.
    """
    *folders, name = os.path.relpath(path, root).split(os.sep)
    if name in _LISTS and os.path.isdir(os.path.join(os.path.dirname(path), _OUTPUT)):
        return True
    for folder in folders:
        root = os.path.join(root, folder)
        if folder == _OUTPUT or os.path.isdir(os.path.join(root, _OUTPUT)):
            return True
    return False


def is_conllu(path: str | Path) -> bool:
    """Whether a file is CoNLL-U: its name says so, or it begins with a word in columns.

    RAISES (ConlluError): If the file is UTF-16, UTF-32, or compressed in another way than with gzip.
    """
    if str(path).removesuffix(".gz").endswith((*CONLLU_SUFFIXES, *_OTHER_SUFFIXES)):
        return True
    with open(path, "rb") as file:
        return is_conllu_text(text_lines(file, printable(path)))


def is_conllu_text(lines: Iterable[bytes]) -> bool:
    """Whether lines begin with a word in columns, after any comments and empty lines."""
    plain = (line.removeprefix(_BOM) for line in lines)
    return _FIRST_WORD.match(next((line for line in plain if line.strip() and line[:1] != b"#"), b"")) is not None


def refuse_link_out(path: Path, folder: Path) -> None:
    """Raise CorpusError if a file in a folder is a link to a file outside of it.

    The folder may be somebody else's, and nobody has named what the link leads to.
    """
    if path.is_symlink() and folder.resolve() not in path.resolve().parents:
        raise CorpusError(
            f"{path} is a symbolic link out of its folder, to {path.resolve()}. Put the file itself in its place."
        )

"""Fetches and converts a treebank, so that its faults show here and not in the middle of training."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.tokens import DocBin

from spacy_mindroot.conllu.corpus import ConlluCorpus

__all__ = ["REPOSITORIES", "TAG", "Treebank", "fetch", "prepare"]

TAG = "r2.5"
REPOSITORIES = "https://github.com/UniversalDependencies"


class Treebank(NamedTuple):
    """A converted treebank.

    folder (Path): Folder with train.spacy and, if there is a development set, dev.spacy; one sentence per Doc.
    test (Path): The test set in CoNLL-U.
    train, dev (int): Numbers of sentences.
    digest (str): Hash of the three sets. It tells results from other data apart.
    """

    folder: Path
    test: Path
    train: int
    dev: int
    digest: str


def fetch(name: str, sources: Path, repositories: str) -> Path:
    """Clones the release of a treebank unless it is there, and returns its folder."""
    folder = sources / name
    if not folder.exists():
        incomplete = sources / f".{name}"
        shutil.rmtree(incomplete, ignore_errors=True)
        sources.mkdir(parents=True, exist_ok=True)
        command = [
            "git",
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--branch",
            TAG,
            f"{repositories}/{name}",
            str(incomplete),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:-1])}: {done.stderr.strip()}")
        incomplete.rename(folder)
    return folder


def prepare(source: Path, target: Path) -> Treebank:
    """Converts the training and the development set, unless that is done.

    Our own reader logs multiword tokens, empty nodes and words without a head, and names the line of every fault.
    """
    target.mkdir(parents=True, exist_ok=True)
    files = {part: sorted(source.glob(f"*-ud-{part}*.conllu")) for part in ("train", "dev", "test")}
    if not files["train"] or len(files["test"]) != 1:
        raise RuntimeError(
            f"there are {len(files['train'])} training and {len(files['test'])} test sets *-ud-*.conllu in {source}"
        )
    digest = hashlib.sha256(b"".join(path.read_bytes() for part in files.values() for path in part)).hexdigest()
    counts = {}
    for part in ("train", "dev"):
        converted = target / f"{part}.spacy"
        if not files[part]:
            converted.unlink(missing_ok=True)
            counts[part] = 0
            continue
        sentences = _count(converted) if _read(target / "digest.txt") == digest else None
        if sentences is None:
            nlp = spacy.blank("xx")
            docs = [example.reference for path in files[part] for example in ConlluCorpus(path)(nlp)]
            DocBin(docs=docs).to_disk(converted)
            sentences = len(docs)
        counts[part] = sentences
    (target / "digest.txt").write_text(digest, encoding="utf8")  # last: where it is, the corpus is complete
    return Treebank(target, files["test"][0], counts["train"], counts["dev"], digest)


def _count(path: Path) -> int | None:
    """The number of Docs in a .spacy file; None if it is missing or damaged."""
    try:
        return len(DocBin().from_disk(path))
    except Exception:  # of the file system, zlib or msgpack
        return None


def _read(path: Path) -> str:
    return path.read_text("utf8", errors="replace") if path.exists() else ""

"""Gets a treebank and converts it, so that what is odd in it shows here and not in the middle of training."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.tokens import DocBin

from spacy_mindroot.conllu.corpus import ConlluCorpus

TAG = "r2.5"
REPOSITORIES = "https://github.com/UniversalDependencies"


class Treebank(NamedTuple):
    """A treebank that is ready.

    folder (Path): Has train.spacy and, if there is a development set, dev.spacy; one sentence a Doc.
    test (Path): The test set in CoNLL-U.
    train, dev (int): Sentences.
    """

    folder: Path
    test: Path
    train: int
    dev: int


def fetch(name: str, sources: Path, repositories: str) -> Path:
    """Clones the release of a treebank, unless it is there. Returns its folder."""
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
    """Converts training and development set with our own reader, which logs multiword tokens, empty nodes and words without
    a head, and names the line of every fault."""
    target.mkdir(parents=True, exist_ok=True)
    counts = {}
    for part in ("train", "dev"):
        path, converted = _part(source, part), target / f"{part}.spacy"
        if path is None:
            counts[part] = 0
            continue
        nlp = spacy.blank("xx")
        if not converted.exists():
            docs = [example.reference for example in ConlluCorpus(path)(nlp)]
            DocBin(docs=docs).to_disk(target / f".{part}.spacy")
            (target / f".{part}.spacy").rename(converted)
        counts[part] = len(DocBin().from_disk(converted))
    test = _part(source, "test")
    if test is None or not counts["train"]:
        raise RuntimeError(f"there is no *-ud-{'test' if test is None else 'train'}.conllu in {source}.")
    return Treebank(target, test, counts["train"], counts["dev"])


def _part(source: Path, part: str) -> Path | None:
    found = sorted(source.glob(f"*-ud-{part}.conllu"))
    return found[0] if found else None

"""Gets a treebank and converts it, so that what is odd in it shows here and not in the middle of training."""

from __future__ import annotations

import hashlib
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
    digest (str): Of the three sets, so that nothing is taken for done that was made from others.
    """

    folder: Path
    test: Path
    train: int
    dev: int
    digest: str


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
        if not converted.exists() or _read(target / "digest.txt") != digest:
            nlp = spacy.blank("xx")
            docs = [example.reference for path in files[part] for example in ConlluCorpus(path)(nlp)]
            DocBin(docs=docs).to_disk(converted)
        counts[part] = len(DocBin().from_disk(converted))
    (target / "digest.txt").write_text(digest, encoding="utf8")  # last: where it is, the corpus is complete
    return Treebank(target, files["test"][0], counts["train"], counts["dev"], digest)


def _read(path: Path) -> str:
    return path.read_text("utf8") if path.exists() else ""

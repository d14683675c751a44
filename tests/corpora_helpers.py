"""Shared by the tests of parsed corpora: a small pipeline on disk, inputs, and the union of the outputs."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import spacy
from thinc.api import fix_random_seed

from scorer_helpers import gold_docs, make_examples, small
from spacy_mindroot.corpora.jobs import Job, Settings
from spacy_mindroot.corpora.output import PARTS
from spacy_mindroot.corpora.shards import Shard
from spacy_mindroot.corpora.sources import format_of

# A package that other processes find on their path: a component that fails as the text of a document says.
TROUBLE = """
import os, signal, time
from spacy.language import Language

class Trouble:
    def __call__(self, doc):
        if "POISON" in doc.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "RAISE" in doc.text:
            raise RuntimeError("no idea what to do with this document")
        if "SLOW" in doc.text:
            time.sleep(0.06)
        return doc

@Language.factory("trouble")
def make_trouble(nlp, name):
    return Trouble()
"""
ENTRY_POINTS = "[spacy_factories]\ntrouble = mindroot_trouble:make_trouble\n"


def make_model(folder, *, seed=0, senter=True, max_length=200, trouble=None, version="1.0.0"):
    """Save a pipeline with hardly any training, whose trees depend on the words and the seed."""
    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.meta["name"], nlp.meta["version"] = "tiny", version
    if trouble:
        sys.path.append(str(trouble))
        importlib.invalidate_caches()
        importlib.import_module("mindroot_trouble")
        sys.path.remove(str(trouble))
        nlp.add_pipe("trouble")
    if senter:
        nlp.add_pipe("sentencizer")
    nlp.add_pipe("arc_scorer", config=small() | {"max_length": max_length, "whole_doc": not senter})
    nlp.add_pipe("mind_root")
    docs = gold_docs()
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    optimizer.learn_rate = 0.01
    for _ in range(3):
        nlp.update(make_examples(nlp, docs), sgd=optimizer, drop=0.0)
    nlp.to_disk(folder)
    return folder


def make_trouble(folder):
    """Write the package with the component "trouble". Put the folder on the path of a process to use it."""
    folder.mkdir()
    (folder / "mindroot_trouble.py").write_text(TROUBLE)
    info = folder / "mindroot_trouble-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mindroot_trouble\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def texts(count, words=12):
    """Return documents of one to three sentences, each different."""
    nouns = ["cat", "dog", "house", "garden", "river", "letter", "morning", "teacher", "bridge", "apple"]
    verbs = ["sees", "likes", "finds", "paints", "leaves", "follows"]
    found = []
    for k in range(count):
        sentences = [
            f"The {nouns[(k * 7 + s) % 10]} {verbs[(k + s) % 6]} the {nouns[(k * 3 + s) % 10]} number {k}."
            for s in range(1 + k % 3)
        ]
        found.append(" ".join(sentences))
    return found


def shard_files(out):
    return sorted(path for path in Path(out).iterdir() if path.name[:6].isdigit())


def union(out):
    """Return all outputs, one after the other."""
    return b"".join(path.read_bytes() for path in shard_files(out))


def lines(path):
    path = Path(path)
    return [json.loads(line) for line in path.read_text("utf8").splitlines()] if path.exists() else []


def environment(*folders):
    """Return an environment in which Python finds packages in these folders."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])}


def command(*args):
    return [sys.executable, "-W", "ignore", "-m", "spacy_mindroot", "parse", *map(str, args)]


def run(*args, env=None, timeout=600):
    """Run the command in a process of its own."""
    return subprocess.run(command(*args), capture_output=True, text=True, env=env, timeout=timeout, check=False)


def job(path, model, out, **settings):
    """The job of a file that is one shard."""
    file = format_of(str(path))
    size = path.stat().st_size if path.exists() else 0
    shard = Shard("000000.000000", file.path, file.format, file.compressed, 0, size, size)
    return Job(shard, str(model), Settings(**settings), str(out), "a.conllu", None)


def write(path, documents):
    path.write_text("\n".join(documents) + "\n", "utf8")
    return path


def left_over(out):
    return list((out / PARTS).iterdir())

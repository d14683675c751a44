"""Real configs, real command lines, fresh processes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from generators import random_tree, scores_of_tree

CONFIG = """
[nlp]
lang = "de"
pipeline = ["mind_root"]

[components]

[components.mind_root]
factory = "mind_root"
scores = {"@misc": "spacy-mindroot.doc_arc_scores.v1"}
keep_scores = false
root_label = "ROOT"
fallback_label = "dep"
"""


def run(*command, cwd):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spacy_cli(*args, cwd):
    return run(sys.executable, "-m", "spacy", *args, cwd=cwd)


@pytest.fixture
def scored(tmp_path):
    """A .spacy file of scored Docs, and their trees."""
    rng = np.random.default_rng(1)
    nlp = spacy.blank("de")
    docs, heads = [], []
    for _ in range(20):
        trees = [random_tree(n, rng) for n in rng.integers(1, 15, size=2)]
        doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(sum(map(len, trees)))])
        doc._.arc_scores = [scores_of_tree(tree, rng) for tree in trees]
        docs.append(doc)
        heads.append([tree.tolist() for tree in trees])
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "scored.spacy")
    return tmp_path / "scored.spacy", heads


def read_heads(doc):
    return [[0 if t.head.i == t.i else t.head.i - s.start + 1 for t in s] for s in doc.sents]


def assemble(tmp_path):
    (tmp_path / "config.cfg").write_text(CONFIG)
    spacy_cli("assemble", "config.cfg", "model", cwd=tmp_path)
    return tmp_path / "model"


def test_a_fresh_process_of_any_language_finds_the_factory(tmp_path):
    for lang in ("de", "xx", "fi"):
        run(sys.executable, "-c", f"import spacy; spacy.blank({lang!r}).add_pipe('mind_root')", cwd=tmp_path)


def test_assemble_and_apply(tmp_path, scored):
    path, heads = scored
    model = assemble(tmp_path)
    spacy_cli("apply", model, path, "parsed.spacy", "--force", cwd=tmp_path)
    docs = DocBin().from_disk(tmp_path / "parsed.spacy").get_docs(spacy.blank("de").vocab)
    assert [read_heads(doc) for doc in docs] == heads


def test_init_fill_config_and_debug_config(tmp_path):
    (tmp_path / "base.cfg").write_text(
        '[nlp]\nlang = "de"\npipeline = ["mind_root"]\n[components]\n[components.mind_root]\nfactory = "mind_root"\n'
    )
    spacy_cli("init", "fill-config", "base.cfg", "full.cfg", cwd=tmp_path)
    filled = (tmp_path / "full.cfg").read_text()
    assert "spacy-mindroot.doc_arc_scores.v1" in filled and 'fallback_label = "dep"' in filled
    spacy_cli("debug", "config", "full.cfg", "--paths.train", "x", "--paths.dev", "x", cwd=tmp_path)


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_worker_processes_give_the_same_trees(tmp_path, scored, start_method):
    path, heads = scored
    script = Path(tmp_path / "script.py")
    script.write_text(
        "import multiprocessing, spacy, sys\n"
        "from spacy.tokens import DocBin\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method(sys.argv[1])\n"
        "    nlp = spacy.blank('de')\n"
        "    nlp.add_pipe('mind_root')\n"
        "    docs = DocBin().from_disk(sys.argv[2]).get_docs(nlp.vocab)\n"
        "    for doc in nlp.pipe(docs, n_process=2, batch_size=3):\n"
        "        print([[0 if t.head.i == t.i else t.head.i - s.start + 1 for t in s] for s in doc.sents])\n"
    )
    printed = run(sys.executable, script, start_method, path, cwd=tmp_path)
    assert [eval(line) for line in printed.splitlines()] == heads

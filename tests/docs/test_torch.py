"""Code for torch in the documentation: the loss, against torch's own finite differences, and the hook for Stanza."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_mindroot import read_score_file, write_score_file

DOCS = Path(__file__).parents[2] / "docs"


def block(page, word):
    """Return the code on a page that has a word in it."""
    text = (DOCS / page).read_text("utf8")
    (found,) = (code for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if word in code)
    return found


def test_the_gradient_of_the_loss(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    page = {"np": np, "lengths": [4, 2], "gold_heads": [[2, 0, 2, 1], [0, 1]]}
    exec("from spacy_mindroot import unpad\nfrom spacy_mindroot.inference import marginals", page)
    exec(block("tutorials/own-scores.md", "def log_likelihoods").partition("gold_heads = [[")[0], page)
    page["scores"] = torch.tensor(rng.normal(size=(2, 6, 6)), requires_grad=True)
    exec(block("tutorials/own-scores.md", "autograd.Function"), page)
    page["loss"].backward()
    gradient = page["scores"].grad.numpy()
    assert gradient[0, 1:5, :5].any() and not gradient[0, :, 5:].any() and not gradient[1, 3:].any()
    loss = page["TreeLogLikelihood"].apply
    assert torch.autograd.gradcheck(lambda scores: loss(scores, page["lengths"], page["gold_heads"]), page["scores"])


class Stanza:
    """What the page uses of Stanza: the parser gets sentences of two and three words, padded, in one batch."""

    def __init__(self, heads, labels):
        self.Pipeline = lambda *_, **__: self
        self.processors = {"depparse": self}
        self.trainer = self.model = self
        self.vocab = {"deprel": self}
        self.register_forward_hook = lambda hook: setattr(self, "hook", hook)
        self.unmap = lambda ids: ["root", "nsubj", "obj"]
        self.output = (0, [heads, labels])

    def __len__(self):
        return 3

    def __call__(self, text):
        self.hook(self, [None] * 12 + [[3, 4], None, [["They", "left"], ["We", "saw", "it"]]], self.output)


def test_the_hook_for_stanza(rng, tmp_path, monkeypatch):
    heads = rng.normal(size=(2, 4, 4)).astype(np.float32)
    labels = rng.integers(0, 3, (2, 4, 4))
    monkeypatch.setitem(sys.modules, "stanza", Stanza(heads, labels))
    monkeypatch.chdir(tmp_path)
    exec(block("howto/score-files.md", "import stanza"), {"write_score_file": write_score_file})
    short, long = read_score_file("stanza.npz")
    assert short.words == ["They", "left"] and long.words == ["We", "saw", "it"]
    assert np.array_equal(short.scores, heads[0, 1:3, :3]) and np.array_equal(long.scores, heads[1, 1:])
    names = ["root", "nsubj", "obj"]
    assert long.labels(np.array([2, 0, 2])) == [names[labels[1, 1, 2]], "root", names[labels[1, 3, 2]]]

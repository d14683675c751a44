"""Code for torch in the documentation: the loss, against torch's own finite differences."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

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

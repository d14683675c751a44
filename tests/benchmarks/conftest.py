"""A score file of a made-up scorer."""

import numpy as np
import pytest

from spacy_mindroot import write_score_file
from spacy_mindroot.inference import sample


@pytest.fixture
def sure_file(tmp_path, rng):
    """A scorer that is too sure: its scores are three times those that the gold trees were drawn from."""
    scores = [rng.normal(0, 2, (n, n + 1)) for n in rng.integers(3, 9, 80)]
    write_score_file(
        tmp_path / "sure.npz",
        scores=[(3 * own).astype(np.float32) for own in scores],
        words=[["w"] * len(own) for own in scores],
        labels=["dep"],
        best_labels=[np.zeros(own.shape, dtype=np.uint8) for own in scores],
        gold_heads=[sample(own, 1, rng)[0] for own in scores],
        gold_labels=[["dep"] * len(own) for own in scores],
    )
    return tmp_path / "sure.npz"

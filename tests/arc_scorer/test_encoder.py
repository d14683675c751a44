"""The encoder of the CPU configs."""

import numpy as np
import pytest

from spacy_mindroot.arc_scorer.encoder import build_cnn_bilstm
from spacy_mindroot.errors import MindRootError


def test_shapes():
    """With empty texts among others, with empty texts alone, and with several layers."""
    for depth, lstm_depth in ((1, 1), (0, 1), (1, 2)):
        encoder = build_cnn_bilstm(8, depth=depth, lstm_depth=lstm_depth)
        encoder.initialize(X=[np.ones((4, 8), dtype="f")])
        vectors = [np.ones((n, 8), dtype="f") for n in (4, 0, 2)]
        outputs, backprop = encoder.begin_update(vectors)
        assert [v.shape for v in outputs] == [v.shape for v in backprop(outputs)] == [(4, 8), (0, 8), (2, 8)]
        assert [v.shape for v in encoder.predict([np.zeros((0, 8), dtype="f")] * 2)] == [(0, 8)] * 2


def test_settings_that_do_not_fit():
    for wrong in ({"width": 7}, {"width": 8, "lstm_depth": 0}):
        with pytest.raises(MindRootError, match="even and lstm_depth at least 1"):
            build_cnn_bilstm(**wrong)

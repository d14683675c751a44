"""The encoder spacy-mindroot.CNNBiLSTM.v1: a convolution for what stands around a token, a BiLSTM for the whole text."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable
from typing import Any

from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from thinc.api import LSTM, Dropout, Model, NumpyOps, chain, with_array, with_padded
from thinc.types import Floats2d

from ..errors import TrainingError


def build_cnn_bilstm(
    width: int, depth: int = 2, window_size: int = 1, maxout_pieces: int = 3, lstm_depth: int = 1
) -> Model[list[Floats2d], list[Floats2d]]:
    """For `spacy.Tok2Vec.v2` to encode with, in thinc alone. It sees the whole text, and runs on the CPU only.

    width (int): Width of input and output; even, since each direction of the BiLSTM gives half.
    depth (int): Convolutional layers, 0 for none.
    window_size (int): Tokens to either side that a convolutional layer sees.
    maxout_pieces (int): Maxout pieces of the convolutional layers.
    lstm_depth (int): Layers of the BiLSTM.
    """
    if width % 2:
        raise ValueError(f"spacy-mindroot.CNNBiLSTM.v1: width is to be even, found {width}.")
    layers = [with_array(Dropout(0.0)), with_padded(LSTM(width, width, bi=True, depth=lstm_depth))]
    if depth:
        layers.insert(0, MaxoutWindowEncoder(width, window_size, maxout_pieces, depth))
    encoder: Model[list[Floats2d], list[Floats2d]] = chain(*layers)
    return Model("cnn_bilstm", forward, init=init, layers=[encoder], dims={"nO": width, "nI": width})


def forward(
    model: Model[list[Floats2d], list[Floats2d]], texts: list[Floats2d], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Floats2d]]]:
    if not isinstance(model.ops, NumpyOps):
        raise TrainingError(
            "spacy-mindroot.CNNBiLSTM.v1 runs on the CPU only, since thinc's own LSTM is not right on other devices. For a GPU, "
            'set @architectures = "spacy.MaxoutWindowEncoder.v2" in [components.tok2vec.model.encode], with depth = 4 and without '
            "lstm_depth."
        )
    if not sum(map(len, texts)):  # thinc's LSTM needs a token
        return texts, lambda d_texts: d_texts
    return model.layers[0](texts, is_train)


def init(model: Model[list[Floats2d], list[Floats2d]], X: Any = None, Y: Any = None) -> None:
    width = model.get_dim("nO")
    model.layers[0].initialize(X=[model.ops.alloc2f(1, width)])

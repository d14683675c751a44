"""The encoder spacy-mindroot.CNNBiLSTM.v1: a convolution for what stands around a token, a BiLSTM for the whole text."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from typing import Any

from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from thinc.api import Dropout, Model, chain, with_array
from thinc.types import Floats2d

from .bilstm import BiLSTM


def build_cnn_bilstm(
    width: int, depth: int = 2, window_size: int = 1, maxout_pieces: int = 3, lstm_depth: int = 1
) -> Model[list[Floats2d], list[Floats2d]]:
    """For `spacy.Tok2Vec.v2` to encode with. It sees the whole text.

    width (int): Width of input and output; even, since each direction of the BiLSTM gives half.
    depth (int): Convolutional layers, 0 for none.
    window_size (int): Tokens to either side that a convolutional layer sees.
    maxout_pieces (int): Maxout pieces of the convolutional layers.
    lstm_depth (int): Layers of the BiLSTM, 1 or more.
    """
    if width % 2 or lstm_depth < 1:
        raise ValueError(
            f"spacy-mindroot.CNNBiLSTM.v1: width is to be even and lstm_depth at least 1, found {width} and {lstm_depth}."
        )
    layers: list[Model[Any, Any]] = [MaxoutWindowEncoder(width, window_size, maxout_pieces, depth)] if depth else []
    for _ in range(lstm_depth):
        layers += [with_array(Dropout(0.0)), BiLSTM(width, width)]
    encoder: Model[list[Floats2d], list[Floats2d]] = chain(*layers)
    encoder.set_dim("nO", width)
    return encoder

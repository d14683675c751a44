"""The encoder spacy-mindroot.CNNBiLSTM.v1: a convolution for what stands around a token, a BiLSTM for the whole sentence."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from thinc.api import LSTM, Dropout, Model, chain, with_array, with_padded
from thinc.types import Floats2d


def build_cnn_bilstm(
    width: int, depth: int = 2, window_size: int = 1, maxout_pieces: int = 3, lstm_depth: int = 1
) -> Model[list[Floats2d], list[Floats2d]]:
    """For `spacy.Tok2Vec.v2` to encode with, in thinc alone. Slower than a convolution, and sees the whole text.

    width (int): Width of input and output; even, since each direction of the BiLSTM gives half.
    depth (int): Convolutional layers, 0 for none.
    window_size (int): Tokens to either side that a convolutional layer sees.
    maxout_pieces (int): Maxout pieces of the convolutional layers.
    lstm_depth (int): Layers of the BiLSTM.
    """
    if width % 2:
        raise ValueError(f"spacy-mindroot.CNNBiLSTM.v1: width is to be even, found {width}.")
    layers = [
        with_array(Dropout(0.0)),
        with_padded(LSTM(width, width, bi=True, depth=lstm_depth)),
    ]
    if depth:
        layers.insert(0, MaxoutWindowEncoder(width, window_size, maxout_pieces, depth))
    model = chain(*layers)
    model.set_dim("nO", width)
    return model

"""The encoder spacy-mindroot.CNNBiLSTM.v1: a convolution over neighbouring tokens, then a BiLSTM over the text."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable
from typing import Any

from thinc.api import Dropout, Model, chain, with_array
from thinc.types import Floats2d

from ..errors import MindRootError
from .bilstm import BiLSTM
from .maxout import MaxoutWindows
from .products import on_one_thread, set_products

__all__ = ["build_cnn_bilstm"]


def build_cnn_bilstm(
    width: int,
    depth: int = 2,
    window_size: int = 1,
    maxout_pieces: int = 3,
    lstm_depth: int = 1,
    residual: bool = False,
) -> Model[list[Floats2d], list[Floats2d]]:
    """Build an encoder for `spacy.Tok2Vec.v2` in which every token sees the whole text.

    width (int): Width of input and output. It must be even: each direction of the BiLSTM makes half of the output.
    depth (int): Number of convolutional layers, 0 for none.
    window_size (int): Number of tokens on either side that a convolutional layer sees.
    maxout_pieces (int): Number of maxout pieces of the convolutional layers.
    lstm_depth (int): Number of BiLSTM layers, 1 or more.
    residual (bool): Add the input of the first BiLSTM layer, after dropout, to the output of the last. Otherwise,
        everything about the word itself has to pass through the BiLSTM, which costs features and lemmas much accuracy.
    RAISES (MindRootError): If the width is odd or there is no BiLSTM layer.
    """
    if width % 2 or lstm_depth < 1:
        raise MindRootError(
            "spacy-mindroot.CNNBiLSTM.v1: width must be even and lstm_depth at least 1, but found "
            f"width = {width} and lstm_depth = {lstm_depth}."
        )
    layers: list[Model[Any, Any]] = [MaxoutWindows(width, window_size, maxout_pieces, depth)] if depth else []
    for _ in range(lstm_depth):
        layers += [with_array(Dropout(0.0)), BiLSTM(width, width)]
    chained = chain(*layers)
    encoder: Model[list[Floats2d], list[Floats2d]] = Model(
        chained.name, on_one_thread(_forward), init=chained.init, layers=layers, dims={"nO": width, "nI": None}
    )
    if residual:
        encoder.attrs["residual_from"] = 2 if depth else 1  # the number of layers before the first BiLSTM
    return set_products(encoder)


def _forward(
    model: Model[list[Floats2d], list[Floats2d]], X: list[Floats2d], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Floats2d]]]:
    callbacks = []
    skipped_from = model.attrs.get("residual_from")
    kept = None
    for number, layer in enumerate(model.layers):
        if number == skipped_from:
            kept = X
        X, callback = layer(X, is_train)
        callbacks.append(callback)
    if kept is not None:
        X = [one + other for one, other in zip(X, kept, strict=True)]

    def backprop(dX: list[Floats2d]) -> list[Floats2d]:
        d_kept = dX
        for number in reversed(range(len(callbacks))):
            dX = callbacks[number](dX)
            if number == skipped_from:
                dX = [one + other for one, other in zip(dX, d_kept, strict=True)]
        return dX

    return X, backprop

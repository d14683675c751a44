"""The encoder spacy-mindroot.CNNBiLSTM.v1: a convolution over neighbouring tokens, then a BiLSTM over the text.

And spacy-mindroot.Tagger.v1, a tagger with an encoder of its own.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from typing import Any

from spacy.ml.models.tagger import build_tagger_model
from spacy.tokens import Doc
from thinc.api import Dropout, Model, chain, with_array
from thinc.layers.chain import forward as chain_forward
from thinc.layers.chain import init as init_chain
from thinc.types import Floats2d

from ..errors import MindRootError
from .bilstm import BiLSTM
from .maxout import MaxoutWindows
from .products import on_one_thread, set_products

__all__ = ["build_cnn_bilstm", "build_tagger"]


def build_cnn_bilstm(
    width: int,
    depth: int = 2,
    window_size: int = 1,
    maxout_pieces: int = 3,
    lstm_depth: int = 1,
) -> Model[list[Floats2d], list[Floats2d]]:
    """Build an encoder for `spacy.Tok2Vec.v2` in which every token sees the whole text.

    Either part may be left out. Tags, features and lemmas depend on a word and its neighbours, and trees on the whole
    text. A pipeline that predicts both should share the convolution only, and have the BiLSTM in the scorer.

    width (int): Width of input and output. With a BiLSTM it must be even: each direction makes half of the output.
    depth (int): Number of convolutional layers, 0 for none.
    window_size (int): Number of tokens on either side that a convolutional layer sees.
    maxout_pieces (int): Number of maxout pieces of the convolutional layers.
    lstm_depth (int): Number of BiLSTM layers, 0 for none.
    RAISES (MindRootError): If a number of layers is negative, there are no layers, or the width is odd.
    """
    if min(depth, lstm_depth) < 0 or not depth + lstm_depth or (lstm_depth and width % 2):
        raise MindRootError(
            "spacy-mindroot.CNNBiLSTM.v1: there must be a convolutional or a BiLSTM layer, and with BiLSTM layers, "
            f"width must be even, but found depth = {depth}, lstm_depth = {lstm_depth} and width = {width}."
        )
    layers: list[Model[Any, Any]] = [MaxoutWindows(width, window_size, maxout_pieces, depth)] if depth else []
    for _ in range(lstm_depth):
        layers += [with_array(Dropout(0.0)), BiLSTM(width, width)]
    encoder: Model[list[Floats2d], list[Floats2d]] = Model(
        "cnn_bilstm", _forward, init=init_chain, layers=layers, dims={"nO": width, "nI": None}
    )
    return set_products(encoder)


@on_one_thread
def _forward(model: Model[Any, Any], X: list[Floats2d], is_train: bool) -> tuple[list[Floats2d], Any]:
    return chain_forward(model, X, is_train)


def build_tagger(
    tok2vec: Model[list[Doc], list[Floats2d]],
    encode: Model[list[Floats2d], list[Floats2d]],
    nO: int | None = None,
    normalize: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Build spaCy's tagger (`spacy.Tagger.v2`) with an encoder of its own on top of the token vectors.

    If `tok2vec` is a listener, its path in the config is `model.tok2vec`, as `replace_listeners` expects.

    tok2vec (Model[list[Doc], list[Floats2d]]): Makes the token vectors.
    encode (Model[list[Floats2d], list[Floats2d]]): Encodes them further, for this model alone.
    nO (Optional[int]): Number of tags. Leave it null to infer it from the training data.
    normalize (bool): Whether the output of the model are probabilities.
    """
    return build_tagger_model(chain(tok2vec, encode), nO, normalize)

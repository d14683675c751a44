"""Maxout with layer normalization, alone and over windows of tokens, with compiled loops on the host.

The nodes, weights and results are those of `thinc.layers.Maxout(normalize=True)` and of spaCy's `MaxoutWindowEncoder`,
so that pipelines saved with these load. What follows a matrix product is one pass instead of ten. Other devices, and
tests, run the layers one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Maxout, Model, chain, clone, expand_window, residual, with_array
from thinc.types import Floats2d

from . import _layers

__all__ = ["MaxoutNorm", "MaxoutWindows"]

Backprop = Callable[[Floats2d], Floats2d]


def MaxoutNorm(nO: int, nI: int | None = None, nP: int = 3) -> Model[Floats2d, Floats2d]:
    """Build a maxout layer with layer normalization and dropout, as thinc's `Maxout` with `normalize=True`."""
    return _with_forward(Maxout(nO, nI, nP, dropout=0.0, normalize=True), _forward)


def MaxoutWindows(
    width: int, window_size: int, maxout_pieces: int, depth: int
) -> Model[list[Floats2d], list[Floats2d]]:
    """Build spaCy's `MaxoutWindowEncoder`: maxout layers over windows of tokens, with residual connections."""
    maxout = MaxoutNorm(width, width * (2 * window_size + 1), maxout_pieces)
    layer = _with_forward(residual(chain(expand_window(window_size=window_size), maxout)), _residual)
    layers: Model[Floats2d, Floats2d] = clone(layer, depth)
    layers.set_dim("nO", width)
    return with_array(layers, pad=window_size * depth)


def _forward(model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool) -> tuple[Floats2d, Backprop]:
    normalized, dropout = model.layers
    if model.ops.xp is np:
        maxout, norm = normalized.layers
        Y, backprop = _on_host(maxout, norm, X, is_train)
    else:
        Y, backprop = normalized(X, is_train)
    Y, backprop_dropout = dropout(Y, is_train)
    return Y, lambda dY: backprop(backprop_dropout(dY))


def _residual(model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool) -> tuple[Floats2d, Backprop]:
    window, maxout = model.layers[0].layers
    windows, backprop_window = window(X, is_train)
    if is_train or model.ops.xp is not np:
        Y, backprop = maxout(windows, is_train)
        Y = X + Y
    else:  # no dropout between maxout and sum
        plain, norm = maxout.layers[0].layers
        Y, backprop = _on_host(plain, norm, windows, is_train, np.ascontiguousarray(X))
    return Y, lambda dY: dY + backprop_window(backprop(dY))


def _on_host(
    maxout: Model[Floats2d, Floats2d],
    norm: Model[Floats2d, Floats2d],
    X: Floats2d,
    is_train: bool,
    residual: Floats2d | None = None,
) -> tuple[Floats2d, Backprop]:
    """Return the output, `residual` added to it, and the backprop callback, which does not include the residual."""
    ops = maxout.ops
    W, b, gain, shift = maxout.get_param("W"), maxout.get_param("b"), norm.get_param("G"), norm.get_param("b")
    nO, nP, nI = W.shape
    flat_W = W.reshape(nO * nP, nI)
    products = ops.gemm(X, flat_W, trans2=True)
    Y = np.empty((len(X), nO), dtype="f")
    if not is_train:
        _layers.maxout_norm(products, b, gain, shift, residual, Y, None, None, None)
        # Prediction keeps no state; a backprop call recomputes the forward pass.
        return Y, lambda dY: _on_host(maxout, norm, X, True)[1](dY)
    which = np.empty(Y.shape, dtype=np.int32)
    normalized, scales = np.empty_like(Y), np.empty(len(Y), dtype="f")
    _layers.maxout_norm(products, b, gain, shift, residual, Y, which, normalized, scales)

    def backprop(dY: Floats2d) -> Floats2d:
        d_products = products  # no longer needed
        d_b, d_gain, d_shift = np.zeros_like(b), np.zeros_like(gain), np.zeros_like(shift)
        _layers.backprop_maxout_norm(
            np.ascontiguousarray(dY, dtype="f"), gain, which, normalized, scales, d_products, d_b, d_gain, d_shift
        )
        norm.inc_grad("G", d_gain)
        norm.inc_grad("b", d_shift)
        maxout.inc_grad("b", d_b)
        maxout.inc_grad("W", ops.gemm(d_products, X, trans1=True).reshape(nO, nP, nI))
        return ops.gemm(d_products, flat_W)

    return Y, backprop


def _with_forward(model: Model[Any, Any], forward: Callable[..., Any]) -> Model[Any, Any]:
    """Return a node like `model`, with the same layers and another forward function."""
    dims = {name: model.maybe_get_dim(name) for name in model.dim_names}
    return Model(model.name, forward, init=model.init, layers=model.layers, dims=dims)

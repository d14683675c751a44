"""A bidirectional LSTM over whole texts (Hochreiter and Schmidhuber 1997; Graves and Schmidhuber 2005).

It computes the same on every device. thinc's LSTM does not: on a GPU, only the longest text of a batch is computed. On
the host the time loop is compiled (lstm.hh); on other devices it is a loop over array operations, which also serves as
the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Floats3d

from . import _lstm
from .products import on_one_thread

__all__ = ["BiLSTM"]

InOut = list[Floats2d]


def BiLSTM(nO: int, nI: int | None = None) -> Model[InOut, InOut]:
    """Build a bidirectional LSTM.

    Input: token vectors of each text, (n, nI).
    Output: token vectors of each text, (n, nO), nO even; the first half comes from the left, the second from the right.

    One step computes all texts that have not ended. The gates are ordered input, forget, output, cell.
    """
    return Model(
        "bilstm",
        _forward,
        init=_init,
        dims={"nI": nI, "nO": nO},
        params={"W": None, "R": None, "b": None},  # (2, nI, 4H), (2, H, 4H), (2, 4H): by direction
    )


@on_one_thread
def _forward(model: Model[InOut, InOut], texts: InOut, is_train: bool) -> tuple[InOut, Callable[[InOut], InOut]]:
    if not texts:
        return [], lambda d_texts: []
    return on_host(model, texts) if model.ops.xp is np else on_device(model, texts)


def on_host(model: Model[InOut, InOut], texts: InOut) -> tuple[InOut, Callable[[InOut], InOut]]:
    """Return the output and the backprop callback, with the compiled time loop."""
    ops = model.ops
    W, R, b = (model.get_param(name) for name in ("W", "R", "b"))
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    flat = ops.flatten(texts)
    gates = np.matmul(flat, W)  # (2, N, 4H)
    gates += b[:, None]
    Y = np.empty((len(flat), 2 * R.shape[1]), dtype="f")
    cells = np.empty_like(Y)
    _lstm.forward(lengths, R, gates, cells, Y)

    def backprop(d_texts: InOut) -> InOut:
        dY = ops.flatten(d_texts)
        d_gates = np.empty_like(gates)
        _lstm.backward(lengths, R, gates, cells, dY, d_gates)
        # The hidden vectors of the step before: of the token to the left, and of that to the right; 0 at the ends of
        # texts.
        before = np.zeros((2, len(flat), R.shape[1]), dtype="f")
        width = R.shape[1]
        before[0, 1:], before[1, :-1] = Y[:-1, :width], Y[1:, width:]
        ends = np.cumsum(lengths[lengths > 0])
        before[0, ends[:-1]] = before[1, ends[:-1] - 1] = 0
        model.inc_grad("W", np.matmul(flat.T, d_gates))
        model.inc_grad("R", np.matmul(before.transpose(0, 2, 1), d_gates))
        model.inc_grad("b", d_gates.sum(axis=1))
        d_flat = np.matmul(d_gates, W.transpose(0, 2, 1)).sum(axis=0)
        return ops.unflatten(d_flat, ops.asarray1i(lengths))

    return ops.unflatten(Y, ops.asarray1i(lengths)), backprop


def on_device(model: Model[InOut, InOut], texts: InOut) -> tuple[InOut, Callable[[InOut], InOut]]:
    """Return the output and the backprop callback, with array operations alone.

    Texts are packed by time step, the longest first, so that one step computes both directions.
    """
    ops, xp = model.ops, model.ops.xp
    W, R, b = (model.get_param(name) for name in ("W", "R", "b"))
    width = R.shape[1]
    lengths = [len(text) for text in texts]
    rows, sizes = _pack(lengths)
    order = ops.asarray(rows)  # (2, N): the token in each packed row, by direction
    flat = ops.flatten(texts)
    X = flat[order]
    gates = xp.matmul(X, W)
    gates += b[:, None]
    cells = xp.empty((2, len(flat), width), dtype="f")  # at each step
    squashed = xp.empty_like(cells)  # tanh(cells)
    hidden = xp.empty_like(cells)
    begin = 0
    for step, size in enumerate(sizes):
        end = begin + size
        before = slice(begin - sizes[step - 1], begin - sizes[step - 1] + size)  # the same texts, one step earlier
        now = gates[:, begin:end]
        if step:
            now += xp.matmul(hidden[:, before], R)
        # sigmoid(x) = (1 + tanh(x / 2)) / 2, so that one call of tanh computes all gates
        now[..., : 3 * width] *= 0.5
        xp.tanh(now, out=now)
        now[..., : 3 * width] *= 0.5
        now[..., : 3 * width] += 0.5
        cell = cells[:, begin:end]
        xp.multiply(now[..., :width], now[..., 3 * width :], out=cell)
        if step:
            cell += now[..., width : 2 * width] * cells[:, before]
        xp.tanh(cell, out=squashed[:, begin:end])
        xp.multiply(now[..., 2 * width : 3 * width], squashed[:, begin:end], out=hidden[:, begin:end])
        begin = end
    Y = xp.empty((len(flat), 2 * width), dtype="f")
    Y[order[0], :width], Y[order[1], width:] = hidden[0], hidden[1]

    def backprop(d_texts: InOut) -> InOut:
        dY = ops.flatten(d_texts)
        d_hidden = xp.stack([dY[order[0], :width], dY[order[1], width:]])
        d_cells = xp.zeros_like(cells)
        d_gates = xp.empty_like(gates)
        transposed = R.transpose(0, 2, 1)
        end = len(flat)
        for step in range(len(sizes) - 1, -1, -1):
            begin = end - sizes[step]
            i, f, o, g = (gates[:, begin:end, k * width : (k + 1) * width] for k in range(4))
            d_h, d_c, tanh_c = d_hidden[:, begin:end], d_cells[:, begin:end], squashed[:, begin:end]
            d_c += d_h * o * (1 - tanh_c * tanh_c)
            now = d_gates[:, begin:end]
            now[..., :width] = d_c * g * i * (1 - i)
            now[..., 2 * width : 3 * width] = d_h * tanh_c * o * (1 - o)
            now[..., 3 * width :] = d_c * i * (1 - g * g)
            if step:
                before = slice(begin - sizes[step - 1], end - sizes[step - 1])
                now[..., width : 2 * width] = d_c * cells[:, before] * f * (1 - f)
                d_hidden[:, before] += xp.matmul(now, transposed)
                d_cells[:, before] += d_c * f
            else:
                now[..., width : 2 * width] = 0
            end = begin
        first = sizes[0] if sizes else 0
        earlier = ops.asarray(np.arange(first, len(flat)) - np.repeat(sizes[:-1], sizes[1:]).astype(int))
        model.inc_grad("W", xp.matmul(X.transpose(0, 2, 1), d_gates))
        model.inc_grad("R", xp.matmul(hidden[:, earlier].transpose(0, 2, 1), d_gates[:, first:]))
        model.inc_grad("b", d_gates.sum(axis=1))
        d_packed: Floats3d = xp.matmul(d_gates, W.transpose(0, 2, 1))
        d_flat = xp.empty_like(flat)
        d_flat[order[0]] = d_packed[0]
        d_flat[order[1]] += d_packed[1]
        return ops.unflatten(d_flat, ops.asarray1i(lengths))

    return ops.unflatten(Y, ops.asarray1i(lengths)), backprop


def _init(model: Model[InOut, InOut], X: InOut | None = None, Y: InOut | None = None) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    nI, width = model.get_dim("nI"), model.get_dim("nO") // 2
    ops, xp = model.ops, model.ops.xp
    for name, rows in (("W", nI), ("R", width)):
        gates = [[glorot_uniform_init(ops, (rows, width)) for _ in range(4)] for _ in range(2)]
        model.set_param(name, xp.stack([xp.concatenate(of_direction, axis=1) for of_direction in gates]))
    model.set_param("b", model.ops.alloc2f(2, 4 * width))


def _pack(lengths: list[int]) -> tuple[Any, list[int]]:
    """Return the token (a row of the flat vectors) in each packed row, from the left and from the right, (2, N), and
    the number of texts at each step."""
    array = np.asarray(lengths, dtype=np.int64)
    starts = np.cumsum(array) - array
    longest = np.argsort(-array, kind="stable")
    array, starts = array[longest], starts[longest]
    steps = np.arange(array.max(initial=0))
    text, step = np.nonzero((steps < array[:, np.newaxis]).T)[::-1]
    rows = np.stack([starts[text] + step, starts[text] + array[text] - 1 - step])
    return rows, np.bincount(step, minlength=len(steps)).tolist()

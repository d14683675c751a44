"""The optimizer spacy-mindroot.Adam.v1: thinc's Adam, in one pass over the weights on the host."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
from typing import Any

import numpy as np
from thinc.api import Optimizer
from thinc.optimizers import FloatOrSeq

from . import _layers

__all__ = ["CompiledAdam", "make_adam"]


class CompiledAdam(Optimizer):
    """thinc's `Optimizer` with Adam's update, weight decay and averages in one compiled loop.

    Embedding tables have millions of weights, of which a batch uses few, but all of them are updated. With thinc's
    several passes, that takes longer than all products of a small batch. Arrays on other devices are left to thinc.
    """

    __slots__ = ()

    def __call__(self, key: tuple[int, str], weights: Any, gradient: Any, *, lr_scale: float = 1.0) -> tuple[Any, Any]:
        """Update the weights of a parameter, (node's ID, name), and clear their gradient. Return both arrays."""
        others = self.use_radam or self.b1 <= 0 or self.b2 <= 0 or (self.L2 != 0 and not self.L2_is_weight_decay)
        if others or not (_is_plain(weights) and _is_plain(gradient)) or len(gradient) < 1:
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        self.nr_update[key] += 1
        step = self.nr_update[key]
        for means in (self.mom1, self.mom2):
            if key not in means:
                means[key] = np.zeros(weights.size, dtype="f")
        average = None
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = np.zeros(weights.shape, dtype="f")
            average = self.averages[key].reshape(-1)
        rate = self.learn_rate * lr_scale
        _layers.adam(
            weights.reshape(-1),
            gradient.reshape(-1),
            self.mom1[key],
            self.mom2[key],
            average,
            self.b1,
            self.b2,
            self.eps,
            rate * (1 - self.b2**step) ** 0.5 / (1 - self.b1**step),
            rate * self.L2,
            1 - min((1 + step) / (10 + step), 0.9999),
            self.grad_clip or 0,
        )
        return weights, gradient


def make_adam(
    learn_rate: FloatOrSeq = 0.001,
    *,
    L2: FloatOrSeq = 0.0,
    beta1: FloatOrSeq = 0.9,
    beta2: FloatOrSeq = 0.999,
    eps: FloatOrSeq = 1e-08,
    grad_clip: FloatOrSeq = 1.0,
    L2_is_weight_decay: bool = True,
    use_averages: bool = True,
) -> Optimizer:
    """Return thinc's `Adam.v1`, with a compiled loop on the host. The results are the same up to rounding.

    A setting may be a schedule.

    learn_rate (float): The learning rate.
    L2 (float): Weight decay, or the factor of the L2 loss.
    beta1 (float): Part of the running mean of the gradient that remains after a step.
    beta2 (float): Part of the running mean of its square that remains after a step.
    eps (float): Added to the square root of that mean.
    grad_clip (float): Gradients with a greater norm are scaled down to it; 0 for no limit.
    L2_is_weight_decay (bool): Decay the weights themselves, as in AdamW, instead of adding to the gradient.
    use_averages (bool): Keep running averages of the weights, for evaluation.
    """
    return CompiledAdam(
        learn_rate,
        L2=L2,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        grad_clip=grad_clip,
        L2_is_weight_decay=L2_is_weight_decay,
        use_averages=use_averages,
    )


def _is_plain(array: Any) -> bool:
    """Whether an array is of the kind that the compiled loop takes."""
    return (
        type(array) is np.ndarray
        and array.dtype == np.float32
        and bool(array.flags.c_contiguous)
        and bool(array.flags.writeable)
    )

"""Inside-outside over projective trees in plain Python, for readers and for tests of the compiled core.

`inside_outside` follows inside_outside.hh. Nodes are 0 = ROOT and the tokens from 1 on. All trees over the tokens from
i to j that have a certain shape make up a *span*, whose value is the sum of the weights of its trees:

- `right[i, j]`: i with descendants i+1 to j; `left[i, j]`: j with descendants i to j-1.
- `arc[h, d]`: the arc from h to d, with the right half of one and the left half of the other, which meet between them.

Values are sums of weights exp(score), without logarithms, so use small scores.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["inside_outside"]

Node = tuple[str, int, int]


def inside_outside(scores: npt.NDArray[np.floating], single_root: bool = True) -> tuple[float, npt.NDArray[np.float64]]:
    """Return the partition function of projective trees, and the probability of each arc.

    Parameters
    ----------
    scores : ndarray, (n, n+1)
        ``scores[i, j]`` is the score of head j (0 = ROOT) for token i+1.
    single_root : bool
        Whether exactly one token must have ROOT as its head.

    Returns
    -------
    tuple
        The sum of exp(weight) over all trees, and an array (n, n+1) laid out like the scores, NaN if there is no tree.
    """
    n = len(scores)
    first = 1 if single_root else 0
    values: dict[Node, float] = {}
    # Each span is a sum of products of two smaller spans and a weight.
    products: dict[Node, list[tuple[Node, Node, float]]] = {}

    def weight(head: int, dependent: int) -> float:
        return 0.0 if dependent == 0 else math.exp(scores[dependent - 1, head])

    def add(span: Node, one: Node, other: Node, factor: float = 1.0) -> None:
        products.setdefault(span, []).append((one, other, factor))
        values[span] = values.get(span, 0.0) + values[one] * values[other] * factor

    for j in range(first, n + 1):
        values["right", j, j] = values["left", j, j] = 1.0
        for i in range(j - 1, first - 1, -1):
            for k in range(i, j):
                add(("arc", i, j), ("right", i, k), ("left", k + 1, j), weight(i, j))
                add(("arc", j, i), ("right", i, k), ("left", k + 1, j), weight(j, i))
            for k in range(i + 1, j + 1):
                add(("right", i, j), ("arc", i, k), ("right", k, j))
            for k in range(i, j):
                add(("left", i, j), ("left", i, k), ("arc", j, k))
    top: Node = ("right", 0, n)
    if single_root:
        top = ("all", 0, n)
        for root in range(1, n + 1):
            add(top, ("left", 1, root), ("right", root, n), weight(0, root))

    # Going down, each span passes its probability on to the two parts of each product.
    probability = {top: 1.0}
    marginals = np.zeros((n, n + 1))
    total = values[top]
    if total == 0:
        return total, np.full((n, n + 1), np.nan)
    for span in reversed(list(products)):
        for one, other, factor in products[span]:
            if values[span] > 0:
                share = probability.get(span, 0.0) * values[one] * values[other] * factor / values[span]
                probability[one] = probability.get(one, 0.0) + share
                probability[other] = probability.get(other, 0.0) + share
                if span == top and single_root:
                    marginals[one[2] - 1, 0] = share
    for (kind, head, dependent), p in probability.items():
        if kind == "arc" and dependent > 0:
            marginals[dependent - 1, head] = p
    return total, marginals

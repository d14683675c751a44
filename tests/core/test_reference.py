"""The plain Python twin on the worked example of the paper; `test_exact` compares it with the compiled core."""

import numpy as np

from spacy_mindroot.core import reference


def test_the_worked_example_of_the_paper():
    """Figure 2 of Zmigrod, Vieira and Cotterell (2020)."""
    arcs = {(0, 1): 90, (0, 2): 40, (1, 3): 10, (2, 4): 60, (2, 3): 30, (3, 2): 50, (4, 3): 70, (4, 1): 20}
    scores = np.full((4, 5), -np.inf)
    for (head, dependent), weight in arcs.items():
        scores[dependent - 1, head] = weight
    heads = np.zeros(4, np.int32)
    assert reference.decode(scores, heads, False) is None
    assert heads.tolist() == [0, 0, 4, 2]
    assert reference.decode(scores, heads) is None
    assert heads.tolist() == [0, 3, 1, 2]


def test_no_tokens():
    assert reference.decode(np.zeros((0, 1)), np.zeros(0, np.int32)) is None

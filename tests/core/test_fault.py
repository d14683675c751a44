"""Each kind of fault is reported by the core, and each has a message of its own."""

import numpy as np
import pytest

from spacy_mindroot.core import _core, reference
from spacy_mindroot.core.fault import Fault, FaultKind
from spacy_mindroot.faults import decoding_error

INF = np.inf
EXAMPLES = {
    FaultKind.NOT_FINITE: ([[0, 0, np.nan], [0, 0, 0]], (1, 2)),
    FaultKind.NO_HEAD: ([[0, 0, 0], [-INF, -INF, -INF]], (2, 0)),
    FaultKind.NO_ARBORESCENCE: ([[0, 0, 0, 0], [-INF, -INF, 0, 0], [-INF, -INF, 0, 0]], (2, 0)),
    FaultKind.NO_SINGLE_ROOT: ([[0, 0, -INF], [0, -INF, 0]], (1, 2)),
    FaultKind.NO_PROJECTIVE: (  # the only tree: 0 -> 2, 2 -> 4, 4 -> 1 and 1 -> 3, where arcs 4 -> 1 and 0 -> 2 cross
        [[-INF, 0, -INF, -INF, 0], [0, -INF, 0, -INF, -INF], [-INF, 0, -INF, 0, -INF], [-INF, -INF, 0, -INF, 0]],
        (0, 0),
    ),
}


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_kind_is_reported(kind, dtype):
    scores, (dependent, head) = EXAMPLES[kind]
    scores = np.array(scores, dtype)
    heads = np.zeros(len(scores), np.int32)
    fault = _core.decode(scores, heads, projective=kind == FaultKind.NO_PROJECTIVE)
    assert fault == Fault(kind, 0, dependent, head) and type(fault.kind) is FaultKind
    if kind != FaultKind.NO_PROJECTIVE:
        assert reference.decode(scores, heads) == fault
        assert _core.decode(scores, heads, projective=True) == fault
        assert _core.k_best(scores, 3) == fault
    else:
        assert _core.decode(scores, heads) is None


def test_each_kind_has_a_message_of_its_own():
    texts = {str(decoding_error(Fault(kind, 0, 1, 2), np.full((2, 3), np.nan))) for kind in FaultKind}
    assert len(texts) == len(FaultKind)


def test_kinds_are_equal_to_strings():
    assert FaultKind.NO_HEAD == "no_head" and f"{FaultKind.NO_HEAD}" == "no_head"
    assert {FaultKind.NO_HEAD: 1}["no_head"] == 1


def test_the_tokens_named_for_want_of_a_single_root_come_in_order():
    """Three pairs of tokens that only ROOT reaches, each a cycle: the lower token of the two is the dependent."""
    scores = np.full((6, 7), -INF)
    for first, second in ((1, 6), (2, 5), (3, 4)):
        scores[first - 1, second] = scores[second - 1, first] = 5
        scores[first - 1, 0] = scores[second - 1, 0] = 0
    fault = _core.decode(scores, np.zeros(6, np.int32))
    assert fault.kind == FaultKind.NO_SINGLE_ROOT and 1 <= fault.dependent < fault.head <= 3

"""The workspace of a thread is reused across sentences, but that of a very long sentence is freed."""

from pathlib import Path

import numpy as np
import pytest

from spacy_mindroot.core import _core

STATM = Path("/proc/self/statm")
MB = 1 << 20


def address_space():
    return int(STATM.read_text().split()[0]) * 4096


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc, to measure memory")
def test_the_memory_of_a_long_sentence_is_freed():
    """72 MB in two blocks, each too large for malloc to keep."""
    scores, heads = np.zeros((3000, 3001), np.float32), np.zeros(3000, np.int32)
    before = address_space()
    for decode in (_core.decode, lambda *args: _core.decode_batch([args[0]], args[1])):
        assert not decode(scores, heads)
        assert heads[:3].tolist() == [2, 0, 1]
        assert address_space() - before < 30 * MB

"""The compiled core against exhaustive search and its twin, on the sentences that `python -m tests.fuzz core` begins with."""

import pytest
from fuzz.core_against_twin import KINDS, check


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_the_first_sentences_of_the_fuzzer(kind):
    for seed in range(kind, 600, len(KINDS)):
        check(seed)

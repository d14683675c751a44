"""The list of mutations follows the code: each changes exactly one place of the core."""

import pytest

from scripts.mutations.table import MUTATIONS, Mutation


def test_each_mutation_finds_its_line_exactly_once():
    for mutation in MUTATIONS:
        assert mutation.new in mutation.mutated() and mutation.new != mutation.old


def test_a_line_that_has_moved_is_named():
    with pytest.raises(ValueError, match=r"decode.hh: 0 places instead of one have 'not in the header'"):
        Mutation("decode", "not in the header", "", "moved").mutated()


def test_no_mutation_is_listed_twice():
    assert len({(mutation.header, mutation.old, mutation.new) for mutation in MUTATIONS}) == len(MUTATIONS)

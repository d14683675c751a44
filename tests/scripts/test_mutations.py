"""The table of mutations follows the code: each changes exactly one place."""

import pytest

from scripts.mutations.table import MUTATIONS, Mutation, read_table


def test_each_mutation_finds_its_line_exactly_once():
    for mutation in MUTATIONS:
        assert mutation.new in mutation.mutated() and mutation.new != mutation.old


def test_a_line_that_has_moved_is_named():
    mutation = Mutation("spacy_mindroot/core/decode.hh", (), "moved", "not in the header", "")
    with pytest.raises(ValueError, match=r"core/decode.hh: moved: 0 places instead of one have 'not in the header'"):
        mutation.mutated()


def test_no_mutation_is_listed_twice():
    assert len({(mutation.path, mutation.old, mutation.new) for mutation in MUTATIONS}) == len(MUTATIONS)


def test_the_tests_of_each_section_are_there(checkout):
    assert [name for mutation in MUTATIONS for name in mutation.tests if not (checkout / name).exists()] == []
    assert all(mutation.tests for mutation in MUTATIONS)


def test_a_table_is_read():
    table = "# comment\n\n[a.py: t.py u]\n\none\n- x\n-     y\n+ z\n\ntwo\n- x\n= why\n"
    assert read_table(table) == [
        Mutation("a.py", ("t.py", "u"), "one", "x\n    y", "z"),
        Mutation("a.py", ("t.py", "u"), "two", "x", "", "why"),
    ]
    for wrong in ("no section\n- x", "[a.py: t]\n\nnothing goes\n+ x", "[a.py: t]\n\nodd\n- x\nx"):
        with pytest.raises(ValueError, match="This paragraph is no mutation"):
            read_table(wrong)

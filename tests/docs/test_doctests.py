"""The examples in the docstrings of public modules print what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = {  # with how many docstrings must have examples
    "spacy_mindroot": 1,
    "spacy_mindroot.inference": 0,
    "spacy_mindroot.accuracy": 3,
    "spacy_mindroot.scores": 0,
    "spacy_mindroot.score_file": 0,
    "spacy_mindroot.errors": 0,
    "spacy_mindroot.conllu": 0,
}


def cases(name):
    """The doctests of a module and of all that is in its `__all__`, wherever that is defined."""
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    for public in (name, *getattr(module, "__all__", ())):
        item = module if public == name else getattr(module, public)
        defined = name if public == name else getattr(item, "__module__", "")
        if not defined.startswith("spacy_mindroot"):  # an alias, whose docstring is of another package
            continue
        for case in finder.find(item, public, module=False, globs={**vars(module), **_lazy(module)}):
            if case.examples:
                found[case.name] = case
    return found


def _lazy(module):
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    found = cases(name)
    assert len(found) >= MODULES[name]
    for case in found.values():
        output: list[str] = []
        failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(case, out=output.append)
        assert not failed, "".join(output)


def test_a_wrong_example_is_found():
    case = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(case, out=lambda text: None)
    assert failed == 1

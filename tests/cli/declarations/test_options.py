"""Options that several commands have."""

import inspect
from collections import defaultdict

import pytest
import typer

from spacy_mindroot.cli import COMMANDS
from spacy_mindroot.cli.declarations import options


def declared(name):
    """All declarations of arguments or options with the name of a parameter."""
    for command in COMMANDS.values():
        parameter = inspect.signature(command).parameters.get(name)
        if parameter is not None:
            yield parameter.default


@pytest.mark.parametrize("name", ["surface_tokens", "rules", "demoted_label", "report", "kbest", "confidence", "seed"])
def test_an_option_takes_the_same_in_every_command(name):
    found = list(declared(name))
    assert len(found) > 1
    for info in found:
        assert (info.param_decls, info.metavar, info.default, info.min) == (
            found[0].param_decls,
            found[0].metavar,
            found[0].default,
            found[0].min,
        )


def test_a_flag_takes_the_same_kind_of_value_in_every_command():
    """Except --out and --output, which are a file or a folder."""
    shapes = defaultdict(set)
    for command in COMMANDS.values():
        for parameter in inspect.signature(command).parameters.values():
            if isinstance(parameter.default, typer.models.OptionInfo):
                shapes[parameter.default.param_decls[0]].add(parameter.default.metavar)
    assert {flag for flag, metavars in shapes.items() if len(metavars) > 1} == {"--out", "--output"}


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (options.corpus("Sentences"), "Sentences: a .spacy file, or a CoNLL-U file or folder"),
        (options.corpus("Sentences", "No tags"), "Sentences: a .spacy file, or a CoNLL-U file or folder. No tags"),
        (
            options.rules("Use rules", "Slow"),
            "Use rules: ud, for the syntax of Universal Dependencies, or a JSON file of rules (default: none). Slow",
        ),
        (options.kbest(), "Number of best trees to write for each sentence"),
        (options.kbest("in MISC"), "Number of best trees to write for each sentence, in MISC"),
        (options.seed("the folds"), "Random seed of the folds"),
    ],
)
def test_the_help_says_what_the_command_adds(info, text):
    assert info.help == text


def test_arguments_that_can_be_left_out():
    assert options.corpus("Sentences").default is ...
    assert options.corpus("Sentences", default=None).default is None
    assert options.out_file("File").default is None
    assert options.out_file("File", default=...).default is ...

"""The help of every command: one style for all arguments and options."""

import inspect

import pytest
import typer
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot.cli import COMMANDS, function_of


@pytest.mark.parametrize("name", COMMANDS)
def test_metavars_are_plain(name):
    output = CliRunner().invoke(app, ["mindroot", name, "--help"]).output
    for ugly in ("...}", "range>", "[[", "INTEGER", "TEXT"):
        assert ugly not in output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_takes_and_its_default(name):
    for parameter in inspect.signature(function_of(name)).parameters.values():
        info = parameter.default
        assert info.help and info.help[0].isupper() and not info.help.endswith("."), parameter
        if isinstance(info, typer.models.ArgumentInfo):
            assert info.metavar and info.metavar.isupper()
            continue
        if parameter.annotation not in ("bool", "bool | None", bool):
            assert info.metavar, parameter
        if info.default is None or info.default is False or info.default == "":  # else typer shows it
            assert "(default: " in info.help, parameter


def test_one_word_for_one_thing():
    """Those of the configs and of Python."""
    output = "".join(CliRunner().invoke(app, ["mindroot", name, "--help"]).output for name in COMMANDS)
    for option in ("--kbest", "--confidence", "--demoted-label", "--projective"):
        assert option in output
    for old in ("--nbest", "--probs", " --label"):
        assert old not in output

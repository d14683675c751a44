"""Options that several commands have."""

import inspect
from collections import defaultdict
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from spacy_mindroot.cli import COMMANDS, function_of, mindroot, options

FUNCTIONS = {name: function_of(name) for name in COMMANDS}


def declared(name):
    """All declarations of arguments or options with the name of a parameter."""
    for command in FUNCTIONS.values():
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


def test_what_is_written_has_the_same_flags_in_every_command():
    """spaCy's commands have --output."""
    found = [info for name in ("out", "output") for info in declared(name) if isinstance(info, typer.models.OptionInfo)]
    assert len(found) > 8
    for info in found:
        assert {"--out", "--output", "-o"} == set(info.param_decls), info.param_decls


def test_a_flag_takes_the_same_kind_of_value_in_every_command():
    """Except --out and --output, which are a file or a folder."""
    shapes = defaultdict(set)
    for command in FUNCTIONS.values():
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
    assert options.out_file().default is None
    assert options.out_file(default=...).default is ...


# Endings that each output may have, and endings that would be wrong.
OUTPUTS = {
    ("decode", "out"): ("a.conllu a.cupt a.out a", "a.npz a.json a.svg a.conllu.gz"),
    ("decode", "report"): ("a.jsonl", "a.conllu"),
    ("audit", "out"): ("a a.1", "a.html a.md a.JSON"),
    ("evaluate", "output"): ("a.conllu a.CONLLU", "a.json"),
    ("build", "out"): ("a UD_X-2.5", "a.zip"),
    ("init-config", "out"): ("a.cfg a", "a.json a.conllu"),
    ("add", "output"): ("a", "a.json"),
    ("average", "output"): ("a model-1.0", "a.spacy"),
    ("calibrate", "output"): ("a", "a.json"),
    ("repair", "out"): ("a.conllu a.conllu.gz a.conllx a.txt", "a.npz a.html a.spacy"),
    ("repair", "report"): ("a.jsonl a.json a", "a.conllu a.html"),
    ("parse", "out"): ("a a.2", "a.conllu a.parquet a.conllu.gz"),
    ("parse", "metrics"): ("a.json", "a.csv"),
    ("vote", "out"): ("a.conllu a.gz -", "a.json"),
    ("annotate", "out"): ("a.conllu a.cupt", "a a.json a.txt"),
    ("show", "out"): ("a.html a.htm a.svg a.SVG a.png a.pdf a.tex -", "a a.jpg a.txt a.conllu"),
    ("rank", "out"): ("a.conllu", "a.html a.gz"),
    ("rank", "report"): ("a.jsonl", "a.conllu"),
    ("suspect", "out"): ("a.conllu", "a.jsonl"),
    ("suspect", "page"): ("a.html a.htm", "a a.svg a.conllu"),
    ("suspect", "report"): ("a.jsonl", "a.html a.conllu"),
    ("rules", "out"): ("a.json a", "a.cfg"),
}


@pytest.mark.parametrize(("command", "name"), OUTPUTS)
def test_an_output_that_its_name_calls_another_format_is_refused(command, name):
    check = inspect.signature(FUNCTIONS[command]).parameters[name].default.callback
    right, wrong = (map(Path, names.split()) for names in OUTPUTS[command, name])
    for path in right:
        assert check(path) is path
    for path in wrong:
        with pytest.raises(
            typer.BadParameter, match=r"would not be what its name says\. (Let it end in \.|It will be a folder)"
        ):
            check(path)
    assert check(None) is None


def test_all_outputs_are_named():
    """`score` checks its OUT itself."""
    outputs = {
        (command, name)
        for command, declaration in FUNCTIONS.items()
        for name in inspect.signature(declaration).parameters
        if name in ("out", "output", "report", "metrics", "page")
    }
    again = {(command, "output") for command, name in outputs if (command, "out") in outputs and name == "output"}
    assert outputs - again == OUTPUTS.keys() | {("score", "out")}


def test_a_folder_that_exists_may_have_any_name(tmp_path):
    (tmp_path / "a.conllu").mkdir()
    assert options.ending()(tmp_path / "a.conllu") == tmp_path / "a.conllu"


@pytest.mark.parametrize("label", ["", "_", "a b", "root", "ROOT", "root:x"])
def test_labels_of_demoted_roots(label, capsys):
    check = options.demoted_label("a word").callback
    with pytest.raises(typer.Exit):
        check(label)
    assert f"--demoted-label is {label!r}" in capsys.readouterr().err
    assert check("parataxis") == "parataxis" and check(None) is None


def test_languages():
    check = options.language().callback
    for lang in ("dep", "", "../en"):
        with pytest.raises(typer.BadParameter, match=f"no language '{lang}'; use xx"):
            check(lang)
    assert check("xx") == "xx" and check(None) is None


def test_out_is_an_argument_or_an_option():
    one, other = Path("a"), Path("b")
    for needed in (False, True):
        assert options.one_output(one, None, is_needed=needed) == options.one_output(None, one, is_needed=needed) == one
        with pytest.raises(typer.BadParameter, match="OUT is given already: a"):
            options.one_output(one, other, is_needed=needed)
    assert options.one_output(None, None, is_needed=False) is None
    with pytest.raises(typer.BadParameter, match="with --output"):
        options.one_output(None, None, is_needed=True)


@pytest.mark.parametrize("name", ["decode", "score", "init-config", "build", "repair"])
def test_commands_with_an_argument_out_have_the_option_too(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert isinstance(parameters["out"].default, typer.models.ArgumentInfo)
    argument, option = parameters["out"].default, parameters["output"].default
    assert option.callback is argument.callback and option.allow_dash == argument.allow_dash
    result = CliRunner().invoke(mindroot, [name, "--help"])
    assert "--output" in result.output and "-o" in result.output

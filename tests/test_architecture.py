"""Imports that each folder may have, and the promises of the entry points."""

import ast
import configparser
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import spacy

import spacy_mindroot

PACKAGE = "spacy_mindroot"


def imports(path, package):
    """Absolute names of all modules that a source file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


def modules(checkout):
    for path in sorted((checkout / PACKAGE).rglob("*.py")):
        package = ".".join(path.parent.relative_to(checkout).parts)
        yield path.relative_to(checkout / PACKAGE), imports(path, package)


# What each part of the package may import of the others. The top level is the modules beside __init__.py; a folder in a
# folder may import what is said of it alone, and the modules of the folder around it.
NUMPY = {"", "core", "rules", "inference"}
PARSER = {*NUMPY, "doc", "pipeline", "arc_scorer"}
MAY_IMPORT = {
    "core": set(),
    "": {"core"},
    "rules": {"", "core"},
    "inference": {"", "core"},
    "answers": {"", "core"},
    "doc": {"", "core"},
    "conllu": {"", "core", "rules", "doc"},
    "tokenizer": {"", "core", "doc"},
    "pipeline": {*NUMPY, "doc", "answers"},
    "arc_scorer": {*NUMPY, "doc", "pipeline"},
    "tools": {*PARSER, "conllu"},
    "tools.drawing": {"", "core", "inference", "doc", "pipeline"},
    "tools.audit": {*PARSER, "conllu", "tools.drawing"},
    "tools.correction": {*PARSER, "conllu"},
    "tools.evaluation": {*NUMPY, "doc", "pipeline", "conllu"},
    "tools.building": {*PARSER, "conllu", "tools.evaluation"},
    "annotation": {*PARSER, "conllu", "tools", "tools.drawing", "tools.building"},
    "web": {*PARSER, "conllu", "tools", "tools.drawing", "annotation"},
    "corpora": {*PARSER, "conllu", "tools"},
}
MAY_IMPORT["cli"] = {*MAY_IMPORT}  # everything; nothing imports it
WITHOUT_SPACY = ("core", "", "rules", "inference", "answers")
CONLLU_WITHOUT_SPACY = {"checks", "columns", "exchange", "files", "marks", "repair", "sentence", "vote"}
LAZY = {Path("__init__.py"), Path("__main__.py")}  # import the rest only when it is asked for


def folder_of(name):
    """The folder of the package in which a module lies, "" for the top level; None for modules of other packages."""
    package, *parts = name.split(".")
    if package != PACKAGE:
        return None
    return next((folder for k in (2, 1) if (folder := ".".join(parts[:k])) in MAY_IMPORT), "")


def test_each_folder_imports_only_what_it_may(checkout):
    for path, imported in modules(checkout):
        if path in LAZY:
            continue
        own = folder_of(".".join((PACKAGE, *path.parts[:-1])))
        others = {folder_of(name) for name in imported} - {None, own, own.partition(".")[0]}
        if own == "core":  # not even the name of the package itself
            assert not any(name == PACKAGE for name in imported), path
        assert others <= MAY_IMPORT[own] | {""} if own != "core" else not others - {""}, (path, others)


def test_the_core_needs_numpy_alone(checkout):
    for path, imported in modules(checkout):
        if path.parts[0] == "core":
            outside = {name.partition(".")[0] for name in imported if not name.startswith(PACKAGE)}
            standard = {"__future__", "collections", "enum", "heapq", "importlib", "math", "pathlib", "typing"}
            assert outside <= standard | {"numpy"}, path
            assert all(name.startswith(f"{PACKAGE}.core") for name in imported if name.startswith(PACKAGE)), path


def test_what_needs_no_spacy_imports_none(checkout):
    for path, imported in modules(checkout):
        own = path.parts[0] if len(path.parts) > 1 else ""
        if own in WITHOUT_SPACY and path not in LAZY:
            assert not {name.partition(".")[0] for name in imported} & {"spacy", "thinc", "srsly", "typer"}, path


def test_files_in_conllu_need_no_spacy(checkout):
    """Only the modules of `conllu` that make and read Docs import it, or anything that imports it."""
    own = f"{PACKAGE}.conllu"
    for name in CONLLU_WITHOUT_SPACY:
        imported = imports(checkout / PACKAGE / "conllu" / f"{name}.py", own)
        assert not {each.partition(".")[0] for each in imported} & {"spacy", "thinc", "srsly", "typer"}, name
        assert {folder_of(each) for each in imported} - {None, "conllu"} <= {*WITHOUT_SPACY}, name
        others = {each.removeprefix(f"{own}.").partition(".")[0] for each in imported if each.startswith(f"{own}.")}
        assert others <= CONLLU_WITHOUT_SPACY, name


def test_reading_and_repairing_conllu_imports_no_spacy(tmp_path):
    """In a fresh process. What needs spaCy is there as soon as it is named."""
    (tmp_path / "a.conllu").write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    code = """
import sys
import spacy_mindroot.conllu as conllu
import spacy_mindroot.conllu.marks
(sentence,) = conllu.read_conllu("a.conllu")
conllu.repair_sentence(sentence)
dir(conllu)
assert not [name for name in sys.modules if name.partition(".")[0] in ("spacy", "thinc", "srsly")]
from spacy_mindroot.conllu import *
import spacy
assert doc_to_conllu(sentence_to_doc(spacy.blank("xx").vocab, sentence)) == sentence.text()
assert not hasattr(conllu, "docs_to_conllu")
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_decoding_a_matrix_imports_no_spacy():
    """In a fresh process: `decode` is for people who have never heard of spaCy, too."""
    code = (
        "import sys; from spacy_mindroot import decode; decode([[0, 0]]); "
        "sys.exit(any(name in sys.modules for name in ('spacy', 'thinc')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_docs_have_the_extensions_as_soon_as_the_package_is_imported():
    code = "import spacy, spacy_mindroot; spacy.blank('xx').make_doc('a')._.arc_scores"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_nothing_imports_the_cli(checkout):
    for path, imported in modules(checkout):
        if path.parts[0] != "cli" and path != Path("__main__.py"):
            assert not any(name.startswith(f"{PACKAGE}.cli") for name in imported), path


def test_commands_import_nothing_heavy_until_they_run():
    """In a fresh process: the help asks for all. The top level of the package, which needs NumPy alone, is light."""
    code = (
        "import sys, spacy.cli, spacy_mindroot; before = set(sys.modules)\n"
        "from spacy_mindroot.cli import COMMANDS, function_of; print(*sorted(set(sys.modules) - before))\n"
        "[*map(function_of, COMMANDS)]; print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    at_first, for_help = run.stdout.splitlines()
    assert at_first == f"{PACKAGE}.cli"
    assert {folder_of(name) for name in for_help.split()} <= {"", "cli"}, for_help


def declared_entry_points(checkout):
    parser = configparser.ConfigParser()
    parser.read(checkout / "setup.cfg")
    for group, lines in parser["options.entry_points"].items():
        for line in lines.strip().splitlines():
            yield group, line.split("=")[0].strip()


def test_every_entry_point_is_installed_and_loads(checkout):
    declared = set(declared_entry_points(checkout))
    installed = {(e.group, e.name): e for group in {g for g, _ in declared} for e in entry_points(group=group)}
    for key in declared:
        assert installed[key].load() is not None, key


def test_the_registry_knows_every_name(checkout):
    registries = {
        "spacy_factories": spacy.registry.factories,
        "spacy_architectures": spacy.registry.architectures,
        "spacy_scorers": spacy.registry.scorers,
        "spacy_readers": spacy.registry.readers,
        "spacy_callbacks": spacy.registry.callbacks,
        "spacy_tokenizers": spacy.registry.tokenizers,
        "spacy_misc": spacy.registry.misc,
        "thinc_optimizers": spacy.registry.optimizers,
        "thinc_schedules": spacy.registry.schedules,
    }
    with suppress(ImportError):  # of the extra `llm`
        from spacy_llm.registry import registry

        registries["thinc_llm_tasks"] = registry.llm_tasks
    for group, name in declared_entry_points(checkout):
        if group in registries:
            assert name in registries[group], name


def test_every_module_has_a_test_file_of_its_own_name(checkout):
    for path, _ in modules(checkout):
        if path.name != "__init__.py":
            test = checkout / "tests" / path.with_name(f"test_{path.stem.strip('_')}.py")
            assert test.exists(), path


def test_every_public_module_lists_its_names(checkout):
    for path, _ in modules(checkout):
        if not path.stem.startswith("_") or path.name == "__init__.py":
            tree = ast.parse((checkout / PACKAGE / path).read_text("utf8"))
            targets = [
                ast.unparse(target) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
            ]
            targets += [ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)]
            assert "__all__" in targets, path


def test_public_names():
    assert sorted(spacy_mindroot.__all__) == spacy_mindroot.__all__
    for name in spacy_mindroot.__all__:
        assert getattr(spacy_mindroot, name).__doc__, name


@pytest.mark.parametrize("name", [*spacy_mindroot.__all__, "errors"])
def test_everything_named_in_the_docs_exists(name, checkout):
    assert hasattr(spacy_mindroot, name)


def test_no_file_speaks_of_one_machine(checkout):
    for path in [*checkout.glob("*.*"), *(checkout / PACKAGE).rglob("*.*"), *(checkout / "tests").rglob("*.py")]:
        if path.suffix in (".py", ".pyx", ".hh", ".md", ".cfg", ".toml", ".yml") and path != Path(__file__):
            assert "/home/" not in path.read_text("utf8"), path

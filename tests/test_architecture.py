"""What may import what, and what the entry points promise."""

import ast
import configparser
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


def test_the_core_knows_nothing_of_the_rest(checkout):
    for path, imported in modules(checkout):
        if path.parts[0] == "core":
            assert {name.split(".")[0] for name in imported} <= {
                "__future__",
                "importlib",
                "pathlib",
                "typing",
                "math",
                "numpy",
                PACKAGE,
            }
            assert all(name.startswith(f"{PACKAGE}.core") for name in imported if name.startswith(PACKAGE)), path


def test_decoding_knows_nothing_of_spacy(checkout):
    for path, imported in modules(checkout):
        if path.name in (
            "decoding.py",
            "scores.py",
            "trees.py",
            "errors.py",
            "render.py",
            "repair.py",
            "sentence.py",
            "vote.py",
            "voting.py",
            "evaluation.py",
            "score_file.py",
        ):
            assert not any(name.split(".")[0] == "spacy" for name in imported), path
            assert not any(
                name.startswith((f"{PACKAGE}.docs", f"{PACKAGE}.annotate", f"{PACKAGE}.mind_root")) for name in imported
            ), path


def test_nothing_imports_the_cli(checkout):
    for path, imported in modules(checkout):
        if path.parts[0] != "cli":
            assert not any(name.startswith(f"{PACKAGE}.cli") for name in imported), path


def test_the_cli_imports_nothing_heavy_until_it_runs(checkout):
    """Every spaCy command imports it."""
    tree = ast.parse((checkout / PACKAGE / "cli" / "__init__.py").read_text("utf8"))
    on_top = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)} | {
        alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    assert on_top <= {"__future__", "pathlib", "typing", "typer", "spacy.cli._util"}


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
        "spacy_misc": spacy.registry.misc,
    }
    for group, name in declared_entry_points(checkout):
        if group != "spacy_cli":
            assert name in registries[group], name


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

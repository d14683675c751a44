"""Directives whose content is generated from the code, and pictures and pages from elsewhere.

- `{settings}`: the settings of everything registered, with defaults and descriptions.
- `{registered-names}`: all entry points of the package.
- `{commands}`: the help of all commands.
- `{public-names}`: the functions, classes and errors of a module, in a table.

Pictures in SVG become part of the page, and the page on benchmarks is their README.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from typing import Any

import srsly
import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from spacy_docstrings import items
from sphinx.util import logging

from spacy_mindroot.tools.drawing.style import page_colours

LOGGER = logging.getLogger(__name__)
WIDTH = 88  # columns of a command's help
TITLES = {
    "spacy_factories": "Components",
    "spacy_misc": "Score sources (`@misc`)",
    "spacy_scorers": "Scorers (`@scorers`)",
    "spacy_readers": "Corpus readers (`@readers`)",
    "spacy_architectures": "Model architectures (`@architectures`)",
    "spacy_tokenizers": "Tokenizers (`@tokenizers`)",
    "spacy_callbacks": "Callbacks (`@callbacks`)",
    "thinc_optimizers": "Optimizers (`@optimizers`)",
    "thinc_schedules": "Schedules (`@schedules`)",
    "thinc_llm_tasks": "Tasks of spacy-llm (`@llm_tasks`)",
    "spacy_cli": "Commands",
}


def entry_points() -> list[EntryPoint]:
    """Return the package's entry points that spaCy or thinc read, in the order of `TITLES`."""
    order = list(TITLES)
    own = [
        point for point in distribution("spacy-mindroot").entry_points if point.group.startswith(("spacy_", "thinc_"))
    ]
    unknown = {point.group for point in own} - TITLES.keys()
    if unknown:
        raise LookupError(f"docs/_ext/from_code.py has no title for the entry points {sorted(unknown)}")
    return sorted(own, key=lambda point: (order.index(point.group), point.name))


def settings(group: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, default (in words), type and description of each setting of something registered.

    The names and defaults of a component come from its factory, all others from the signature. Descriptions come from
    the docstring's `name (type): text` items; a setting without one is an error.
    """
    (point,) = [point for point in entry_points() if (point.group, point.name) == (group, name)]
    made = point.load()
    documented = items(made.__doc__)
    if group == "spacy_factories":
        from spacy.language import Language

        meta = Language.get_factory_meta(name)
        defaults = dict(meta.default_config)
        documented = items(_returned(made).__doc__)
    else:
        parameters = inspect.signature(made).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
    for setting, default in defaults.items():
        if setting not in documented:
            raise LookupError(f"{point.value}: the docstring does not describe {setting!r}")
        item = documented[setting]
        yield setting, _shown(default), item.type, item.text


def _returned(factory: Any) -> Any:
    """The class that a factory returns, or is."""
    if isinstance(factory, type):
        return factory
    annotation = inspect.signature(factory).return_annotation
    return getattr(inspect.getmodule(factory), annotation) if isinstance(annotation, str) else annotation


def _shown(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "required"
    if isinstance(default, dict):
        (name,) = [value for key, value in default.items() if key.startswith("@")]
        return f"default `{name}`"
    return f"default `{srsly.json_dumps(default)}`"


def help_of(name: str | None) -> str:
    """Return the help text of `spacy mindroot NAME`, or of `spacy mindroot` itself."""
    import spacy
    from spacy.cli._util import app

    spacy.registry.cli.get_all()
    group: Any = typer.main.get_command(app)
    command, path = group.commands["mindroot"], "spacy mindroot"
    if name:
        command, path = command.get_command(None, name), f"{path} {name}"
    context = command.make_context(path, [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH)
    text: str = command.get_help(context)
    return text


def command_names() -> list[str]:
    """Return the names of all commands of `spacy mindroot`."""
    import spacy
    from spacy.cli._util import app

    spacy.registry.cli.get_all()
    group: Any = typer.main.get_command(app)
    return sorted(group.commands["mindroot"].list_commands(None))


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


class _Generated(Directive):
    """Parses Markdown that `markdown()` returns."""

    has_content = False

    def markdown(self) -> list[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        container = nodes.container(classes=["generated"])
        try:
            lines = self.markdown()
        except LookupError as error:
            LOGGER.warning("%s", error)
            return []
        self.state.nested_parse(StringList(lines, "generated"), self.content_offset, container, match_titles=True)
        return container.children


class Settings(_Generated):
    """The settings of everything registered, each under a heading."""

    def markdown(self) -> list[str]:
        lines: list[str] = []
        last = ""
        for point in entry_points():
            if point.group == "spacy_cli":
                continue
            if point.group != last:
                lines += ["", f"## {TITLES[point.group]}"]
                last = point.group
            lines += ["", f"### {point.name}", "", _summary(point), ""]
            rows = list(settings(point.group, point.name))
            if not rows:
                lines.append("No settings.")
                continue
            for name, default, type, text in rows:
                lines += [f"`{name}` ({type}; {default})", f": {text}", ""]
        return lines


def _summary(point: EntryPoint) -> str:
    """The first paragraph of the docstring of something registered."""
    made = point.load()
    doc = inspect.getdoc(_returned(made) if point.group == "spacy_factories" else made)
    if not doc:
        raise LookupError(f"{point.value} has no docstring")
    return " ".join(doc.split("\n\n")[0].split())


class RegisteredNames(_Generated):
    """A list of all registered names, by registry."""

    def markdown(self) -> list[str]:
        lines: list[str] = []
        last = ""
        for point in entry_points():
            if point.group != last:
                lines += ["", f"**{TITLES[point.group]}**", "", "| name | | in |", "| --- | --- | --- |"]
                last = point.group
            lines.append(f"| `{point.name}` | {_cell(_summary(point))} | `{point.value.replace(':', '.')}` |")
        return lines


class PublicNames(_Generated):
    """The public names of a module with what each does, functions first."""

    required_arguments = 1

    def markdown(self) -> list[str]:
        rows = [
            f"| {{py:obj}}`{name} <{self.arguments[0]}.{name}>` | {_cell(summary)} |"
            for name, summary in public_names(self.arguments[0])
        ]
        return ["| name | |", "| --- | --- |", *rows]


def public_names(module: str) -> list[tuple[str, str]]:
    """Return the names in `__all__` and their summaries: functions, then classes, then errors."""
    owner = importlib.import_module(module)

    def order(name: str) -> int:
        made = getattr(owner, name)
        return 2 if isinstance(made, type) and issubclass(made, Exception) else int(not inspect.isfunction(made))

    names = [name for name in sorted(owner.__all__, key=order) if callable(getattr(owner, name))]
    return [(name, " ".join((inspect.getdoc(getattr(owner, name)) or "").split("\n\n")[0].split())) for name in names]


class Commands(_Generated):
    """The help of all commands, each under a heading."""

    def markdown(self) -> list[str]:
        lines = _block(help_of(None))
        for name in command_names():
            lines += ["", f"## {name}", "", *_block(help_of(name))]
        return lines


def _block(text: str) -> list[str]:
    return ["```text", *text.splitlines(), "```"]


def _inline_pictures(app: Any, doctree: nodes.document) -> None:
    """Put SVG files into the page itself, so that they take their colours from there."""
    for image in list(doctree.findall(nodes.image)):
        if image["uri"].endswith(".svg"):
            path = Path(app.srcdir) / image["uri"]
            app.env.note_dependency(str(path))
            picture = f'<div class="figure mindroot"><style>{page_colours()}</style>{path.read_text("utf8")}</div>'
            image.replace_self(nodes.raw("", picture, format="html"))


def _read_benchmarks(app: Any, docname: str, content: list[str]) -> None:
    """Put the benchmarks' README in the place of the page that stands for it, with its links as seen from there."""
    if docname == "benchmarks":
        path = Path(app.srcdir).parent / "benchmarks/README.md"
        app.env.note_dependency(str(path), docname=docname)
        content[0] = re.sub(r"\]\((?![a-z]+:|#)", "](../benchmarks/", path.read_text("utf8"))


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-read", _inline_pictures)
    app.connect("source-read", _read_benchmarks)
    app.add_directive("settings", Settings)
    app.add_directive("registered-names", RegisteredNames)
    app.add_directive("commands", Commands)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "version": "1"}

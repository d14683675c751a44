"""The commands `spacy mindroot ...`, one per file: its arguments, options and help, and below them what it does.

Every spaCy command imports these files when it starts. At their top, they therefore import only what is loaded anyway
(typer, wasabi, tqdm, srsly, and what `import spacy_mindroot` needs); a command imports the rest when it runs.
"""

from __future__ import annotations

from collections.abc import Callable

import typer
from spacy.cli._util import app

from .audit import audit_cli
from .average import average_cli
from .build import build_cli
from .calibrate import calibrate_cli
from .decode import decode_cli
from .evaluate import evaluate_cli
from .init_config import init_config_cli
from .parse import parse_cli
from .rank import rank_cli
from .repair import repair_cli
from .rules import rules_cli
from .running import errors_as_messages
from .score import score_cli
from .show import show_cli
from .suspect import suspect_cli
from .vote import vote_cli

__all__ = ["COMMANDS", "mindroot"]

# By name, in the order of `spacy mindroot --help`.
COMMANDS: dict[str, Callable[..., None]] = {
    "decode": decode_cli,
    "audit": audit_cli,
    "score": score_cli,
    "evaluate": evaluate_cli,
    "build": build_cli,
    "init-config": init_config_cli,
    "average": average_cli,
    "calibrate": calibrate_cli,
    "repair": repair_cli,
    "parse": parse_cli,
    "vote": vote_cli,
    "show": show_cli,
    "rank": rank_cli,
    "suspect": suspect_cli,
    "rules": rules_cli,
}

mindroot = typer.Typer(
    name="mindroot", help="Dependency trees with exactly one root.", no_args_is_help=True, rich_markup_mode=None
)
for _name, _declaration in COMMANDS.items():
    mindroot.command(_name)(_declaration)
app.add_typer(mindroot)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        with errors_as_messages():
            typer.echo(f"spacy-mindroot {version('spacy-mindroot')}")
        raise typer.Exit


@mindroot.callback()
def main(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit", is_eager=True, callback=_print_version
    ),
) -> None:
    """Dependency trees with exactly one root."""

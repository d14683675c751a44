"""`spacy mindroot repair`: turns the trees of CoNLL-U files into single-rooted trees, and reports every change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CorpusError
from ..escapes import printable
from ..rules import to_rules
from . import options
from .paths import PathsError, check_paths, model_folder, refuse_links_out, rules_file
from .printing import found, say
from .running import command

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["repair_cli"]

_KEEP = 8.0  # of 0 to 12 and infinity, the best on damaged development sets; see docs/repair.md


@command("out", tables=True)
def repair_cli(
    source: Path = options.conllu_source(),
    out: Path | None = typer.Argument(
        None, metavar="OUT", callback=options.ending(*options.CONLLU, ".gz"), allow_dash=True
    ),
    check: bool = typer.Option(False, "--check"),
    report: Path | None = options.report("all changes", allow_dash=False),
    skip_invalid: bool = typer.Option(False, "--skip-invalid"),
    demoted_label: str | None = options.demoted_label("a demoted root"),
    rules: str | None = options.rules("Also mend trees that break rules, with the fewest changes of heads and labels"),
    prior: str | None = typer.Option(None, "--prior", "-p", metavar="MODEL"),
    keep: float | None = typer.Option(None, "--keep", "-k", metavar="X", min=0),
    code: Path | None = options.code("-c"),
) -> None:
    """Turn the basic trees of CoNLL-U files into single-rooted trees, changing the fewest arcs.

    Repairs sentences with several roots or none, cycles, heads that are missing or out of range, and `root` as the
    label of a word that is not the root. Writes HEAD and DEPREL of the words that change; every other byte stays as
    it is. Reads CoNLL-U, CoNLL-U Plus and PARSEME's cupt, also compressed with gzip.

    out: File or folder to write, or - for standard output. It may be IN itself.
    check: Write no CoNLL-U. Print every malformed tree with file and line; exit status 1 if there is any (default:
        off).
    skip_invalid: Leave a sentence that is not CoNLL-U, or has no heads, exactly as it is, say so with file and
        line, and go on; exit status 0 (default: stop and write nothing).
    prior: Pipeline with an arc_scorer, whose scores choose between the trees of a malformed sentence. Its labels
        replace those that can't stay, and sentences without heads are parsed (default: none; see the documentation for
        the rules that choose).
    keep: What a given head is worth in the log-probabilities of --prior: 0 lets the scores decide, inf changes the
        fewest heads (default: 8).
    """
    from .rewriting import Repair

    known = None if rules is None else to_rules(rules, what="--rules").hard
    if keep is not None and prior is None:
        raise PathsError("--keep goes with --prior, whose scores it is compared with.")
    if check == (out is not None):
        raise PathsError("give a file or folder to write to, or --check to write none.")
    pairs = _pairs(source, out)
    in_place = out is not None and os.path.abspath(source) == os.path.abspath(out)
    targets = [] if in_place else [target for _, target in pairs]
    check_paths(
        {
            "IN": [*(file for file, _ in pairs), source],
            "--rules": rules_file(rules),
            "--prior": prior and model_folder(prior),
            "--code": code,
        },
        {"OUT": targets, "--report": report},
        made="OUT" if source.is_dir() else "",
    )
    if out is not None and source.is_dir():
        refuse_links_out(out, [target for _, target in pairs if target is not None])
    repair = Repair(check, skip_invalid, demoted_label, known, say, _loaded(prior), _KEEP if keep is None else keep)
    repair.of_files(pairs, report=report, folders=source.is_dir())
    repair.summarize()
    found(repair.to_json())
    if check and repair.found_faults:
        raise typer.Exit(1)


def _loaded(prior: str | None) -> Language | None:
    if prior is None:
        return None
    from ..tools.gold import load_pipeline, reads_surface_tokens

    nlp = load_pipeline(prior)
    if reads_surface_tokens(nlp):
        raise CorpusError(f"--prior {prior} was trained on multiword tokens, but what is repaired are their words.")
    return nlp


def _pairs(source: Path, out: Path | None) -> list[tuple[Path, Path | None]]:
    """Return the files to read, each with the file to write."""
    from ..conllu import conllu_files

    if str(source) == "-":
        if out is not None and out.is_dir():
            raise PathsError(f"{printable(out)} is a folder. Give a file for what comes from standard input.")
        return [(source, out)]
    files = conllu_files(source)
    if out is None:
        return [(file, None) for file in files]
    if not source.is_dir():
        return [(source, out / source.name if out.is_dir() else out)]
    if str(out) == "-" or (out.exists() and not out.is_dir()):
        raise PathsError(f"{printable(source)} is a folder, so OUT must be a folder, too; found {printable(out)}.")
    return [(file, out / file.relative_to(source)) for file in files]

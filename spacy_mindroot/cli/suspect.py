"""`spacy mindroot suspect`: lists the annotated arcs of a treebank that cross-validated parsers consider unlikely."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer
from tqdm import tqdm

from ..errors import CorpusError
from ..escapes import printable
from ..trees import MISSING
from . import options
from .files import if_given, outputs
from .paths import PathsError, check_paths
from .running import command

__all__ = ["suspect_cli"]

_SHOWN = 20  # rows of the table


Kind = StrEnum("Kind", "HEADS LABELS BOTH")


@command("out", "report")
def suspect_cli(
    gold: Path = typer.Argument(..., metavar="GOLD", exists=True),
    out: Path | None = options.out_file(),
    report: Path | None = options.report("all suspects"),
    what: Kind = typer.Option(Kind.BOTH, "--what", "-w", metavar="heads|labels|both"),
    most: int | None = typer.Option(None, "--most", metavar="N", min=1),
    folds: int = typer.Option(5, "--folds", "-k", metavar="K", min=2),
    steps: int = typer.Option(600, "--steps", metavar="N", min=1),
    parsers: int = typer.Option(1, "--parsers", metavar="N", min=1),
    seed: int = options.seed("the folds and parsers"),
    config: Path | None = options.training_config(),
    optimize: options.Optimize = options.optimize(default=options.Optimize.EFFICIENCY),
    lang: str = options.language(),
    code: Path | None = options.code(),
) -> None:
    """List annotated arcs of a treebank that parsers trained on its other parts consider unlikely.

    The treebank is divided into folds, by documents (comments `# newdoc`) or blocks of neighbouring sentences. Each
    fold is scored by a parser that was trained on the others. For each word, the probability of its head is compared
    with that of the best other head, given the annotation of the other words of the sentence; or, if the head is the
    best, the probability of its label with that of the best other label. Suspects come in the order of the ratio, and
    ties in that of the corpus. All arcs for which another is more probable are listed.

    Writes the sentences with suspects as CoNLL-U, in this order, with comments (`# rank = 1`, `# suspects = 2`) and, in
    MISC of the suspects, Rank; HeadProb, GivenProb and DeprelProb, the probability of the head over all trees, that of
    the head given the other arcs, and that of the label given the head; OtherHead and OtherDeprel; and OtherHeadProb,
    OtherGivenProb and OtherDeprelProb. The annotation itself does not change.

    gold: Annotated CoNLL-U file, or a folder of them.
    out: CoNLL-U file to write, or - for standard output (default: print a table only).
    what: What to suspect: heads whatever their labels, labels whose heads are not suspect, or both.
    most: Number of suspects to write (default: all).
    folds: Number of folds; a parser is trained for each, on the others.
    steps: Training steps of each parser.
    parsers: Number of parsers for each fold, whose scores are averaged; training takes N times as long.
    config: Training config with an arc_scorer (default: the one that `spacy mindroot init-config` makes).
    optimize: What the default config is optimized for. The one for accuracy takes about twice as long.
    lang: Language of the default config; xx for any.
    """
    import spacy
    from spacy.util import load_config_from_str

    from ..tools.building.config import files_of, make_config, read_config
    from ..tools.correction import report as reports
    from ..tools.correction.suspicion import cross_validated, order_suspects
    from ..tools.folds import find_documents, split_documents, with_steps
    from ..tools.gold import read_corpus

    if gold.suffix == ".spacy":
        raise PathsError(f"{printable(gold)} is not CoNLL-U. Give the CoNLL-U file or folder that it is from.")
    own = load_config_from_str(make_config(lang, optimize, [], None)) if config is None else read_config(config)
    reads = {"GOLD": gold, "--config": config, "a file of --config": files_of(own), "--code": code}
    check_paths(reads, {"--out": out, "--report": report})
    parser = with_steps(own, steps)
    sentences = list(read_corpus(gold, spacy.blank("xx").vocab))
    if all((sentence.heads == MISSING).all() for sentence in sentences):
        raise CorpusError(f"No word in {printable(gold)} has a head.")
    documents, kind = find_documents(sentences, folds)
    parts = split_documents(documents, folds, seed)
    to_stderr = "-" in (str(out), str(report))
    typer.echo(f"{len(sentences):,} sentences in {folds} folds, by {kind}.", err=True)
    with outputs() as opened, if_given(opened, out) as conllu, if_given(opened, report) as lines:
        number = folds * parsers
        with tqdm(total=number * steps, unit=" steps", desc=f"Training {number} parsers", disable=None) as bar:
            settings = {"steps": steps, "seed": seed, "parsers": parsers}
            every = list(cross_validated(sentences, parts, parser, **settings, advance=bar.update))
        suspects = [each for each in order_suspects(every, what.value) if each.log_odds(what.value) > 0]
        marked = reports.suspect_sentences(suspects[:most], sentences)
        records = reports.suspect_records(suspects[:most], sentences, what.value)
        reports.write_ordered(marked, records, out=conllu, report=lines)
    typer.echo(reports.suspect_table(suspects[:most][:_SHOWN], sentences), err=to_stderr)
    typer.echo(reports.suspect_summary(every, suspects), err=to_stderr)

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
from .files import if_given, opened_to_read, opened_to_write, outputs
from .paths import PathsError, check_paths
from .printing import asked, found, say
from .running import command

__all__ = ["suspect_cli"]

_SHOWN = 20  # rows of the table

Kind = StrEnum("Kind", "HEADS LABELS BOTH")


@command("out", "report", "page", tables=True)
def suspect_cli(
    gold: Path = typer.Argument(..., metavar="GOLD", exists=True),
    out: Path | None = options.out_file(),
    report: Path | None = options.report("the suspects"),
    page: Path | None = typer.Option(
        None, "--page", metavar="FILE", dir_okay=False, callback=options.ending(".html", ".htm", only=True)
    ),
    what: Kind = typer.Option(Kind.BOTH, "--what", "-w", metavar="heads|labels|both"),
    precision: float = typer.Option(0.2, "--precision", metavar="P", min=0.0, max=1.0),
    most: int | None = typer.Option(None, "--most", metavar="N", min=1),
    remove: bool = typer.Option(False, "--remove"),
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
    ties in that of the corpus.

    The list ends where too few of its arcs would be errors. To know that, one head in a hundred is replaced at random,
    in sentences that the parsers have not seen. The command prints how many of these would be among the first suspects.

    Writes the sentences with suspects as CoNLL-U, in this order, with comments (`# rank = 1`, `# suspects = 2`) and, in
    MISC of the suspects, Rank; HeadProb, GivenProb and DeprelProb, the probability of the head over all trees, that of
    the head given the other arcs, and that of the label given the head; OtherHead and OtherDeprel; and OtherHeadProb,
    OtherGivenProb and OtherDeprelProb. The annotation itself does not change.

    gold: Annotated CoNLL-U file, or a folder of them.
    out: CoNLL-U file to write, or - for standard output (default: print a table only).
    what: What to suspect: heads whatever their labels, labels whose heads are not suspect, or both.
    page: HTML page to write, with a picture of each sentence with suspects (default: none).
    precision: Share of errors that the list has at least, if one head in a hundred were replaced at random. 0 lists all
        arcs for which another is more probable.
    most: Number of suspects to list at most (default: no limit).
    remove: Write GOLD to --out without the marks of `rank` and `suspect`, and do nothing else (default: off).
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
    from ..tools.correction.suspicion import cross_validated, expected_errors, order_suspects
    from ..tools.drawing.render import render_parses
    from ..tools.folds import find_documents, split_documents, with_steps
    from ..tools.gold import read_corpus

    if gold.suffix == ".spacy":
        raise PathsError(f"{printable(gold)} is not CoNLL-U. Give the CoNLL-U file or folder that it is from.")
    if remove:
        for name, path in (("--page", page), ("--report", report), ("--json", asked.json)):
            if path is not None:
                raise PathsError(f"--remove only takes marks away, so there is nothing for {name}. Leave it out.")
        _remove_marks(gold, out)
        return
    own = load_config_from_str(make_config(lang, optimize, [], None)) if config is None else read_config(config)
    reads = {"GOLD": gold, "--config": config, "a file of --config": files_of(own), "--code": code}
    check_paths(reads, {"--out": out, "--report": report, "--page": page})
    parser = with_steps(own, steps)
    sentences = list(read_corpus(gold, spacy.blank("xx").vocab))
    if all((sentence.heads == MISSING).all() for sentence in sentences):
        raise CorpusError(f"No word in {printable(gold)} has a head.")
    documents, kind = find_documents(sentences, folds)
    parts = split_documents(documents, folds, seed)
    say(f"{len(sentences):,} sentences in {folds} folds, by {kind}.", err=True)
    with (
        outputs() as opened,
        if_given(opened, out) as conllu,
        if_given(opened, report) as lines,
        if_given(opened, page) as html,
    ):
        number = folds * parsers
        with tqdm(total=number * steps, unit=" steps", desc=f"Training {number} parsers", disable=None) as bar:
            settings = {"steps": steps, "seed": seed, "parsers": parsers}
            every = list(cross_validated(sentences, parts, parser, **settings, advance=bar.update))
        suspects = [each for each in order_suspects(every, what.value) if each.log_odds(what.value) > 0]
        counts = list(range(1, len(suspects) + 1))
        pairs = zip(counts, expected_errors(every, counts, what.value), strict=True)
        last = max((count for count, errors in pairs if errors >= precision * count), default=0)
        listed = suspects[:last][:most]
        marked = reports.suspect_sentences(listed, sentences)
        records = [*reports.suspect_records(listed, sentences, what.value)]
        reports.write_ordered(marked, records, out=conllu, report=lines)
        if html is not None:
            parses = list(reports.suspect_parses(listed, sentences))
            html.write(render_parses(parses, form="page", close=0.0, title=f"Suspects in {printable(gold)}").encode())
    say(reports.suspect_table(listed[:_SHOWN], sentences))
    text, figures = reports.suspect_summary(every, suspects, len(listed), precision, what.value, cut=len(listed) < last)
    say(text)
    found({"suspects": records, **figures})


def _remove_marks(gold: Path, out: Path | None) -> None:
    from ..conllu import Sentence, conllu_files, read_pieces
    from ..conllu.marks import SentenceWriter
    from ..tools.correction.report import unmarked

    if out is None:
        raise PathsError("--remove writes GOLD without marks to --out. Name a file, or - for standard output.")
    check_paths({"GOLD": gold}, {"--out": out})
    with opened_to_write(out) as file:
        writer = SentenceWriter(file)
        for path in conllu_files(gold):
            with opened_to_read(path) as source:
                for piece in read_pieces(source, printable(path)):
                    if isinstance(piece, Sentence):
                        writer.write(*unmarked(piece))
                    else:
                        writer.write_between(piece)

"""`spacy mindroot ...`. Every spaCy command imports this at its start, so what a command needs is imported inside it."""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.cli._util import app

mindroot = typer.Typer(
    name="mindroot", help="Dependency trees with exactly one root.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(mindroot)


@mindroot.callback()
def main() -> None:
    """Dependency trees with exactly one root."""


@mindroot.command("decode")
def decode_cli(
    scores: Path = typer.Argument(
        ...,
        help="Score file (.npz): the arrays `lens` and `arc`, and, if there are any, `words`, `labels`, `label_best`, `heads`",
        exists=True,
        dir_okay=False,
    ),
    out: Path | None = typer.Argument(
        None,
        help="CoNLL-U file to write, or - for standard output. Without it, only the table is printed",
        dir_okay=False,
        allow_dash=True,
    ),
    show: int = typer.Option(
        0,
        "--show",
        "-s",
        metavar="N",
        min=0,
        help="Print the first N trees that the constraint changes, without it and with it",
    ),
    nbest: int = typer.Option(
        1,
        "--nbest",
        "-k",
        metavar="K",
        min=1,
        help="Write the K best trees of each sentence, as comments in the CoNLL-U",
    ),
    probs: bool = typer.Option(
        False,
        "--probs",
        "-p",
        help="Write how probable each head is (HeadProb in MISC), and each tree (comments). The scores have to be logarithms",
    ),
    projective: bool = typer.Option(
        False, "--projective", help="Write the best trees without crossing arcs; not with --nbest"
    ),
) -> None:
    """Decode the best tree with one root of every sentence in a score file.

    Writes CoNLL-U with the best label of each arc, and prints a table: how many sentences there are, in how many of them
    the best tree without the constraint has more than one root, and, where the file has gold heads, how many heads are
    right (UAS, all tokens counted) without and with the constraint.

    --nbest and --probs add comments to the CoNLL-U, numbers with six digits: `# tree_1 = weight=-3.25 logprob=-0.18
    heads=2,0,2 deprels=nsubj,root,obj` and so on, best first, of which the first is the tree below (logprob with --probs alone);
    `# tree_logprob = -0.18`, the log-probability of that tree; `# tree_margin = 1.5`, by how much it outweighs the next (inf if there is
    none). --probs adds HeadEntropy (in nats) and HeadProb to MISC.
    """
    from .decode import run

    if projective and nbest > 1:
        raise typer.BadParameter("these trees may have crossing arcs. Leave out --projective.", param_hint="--nbest")
    run(scores, out, show, nbest, probs, projective)


@mindroot.command("audit")
def audit_cli(
    model: str = typer.Argument(
        ..., help="Pipeline with an arc_scorer, or any other scorer; or a score file (.npz), which needs no CORPUS"
    ),
    corpus: Path | None = typer.Argument(
        None,
        help="Annotated corpus: a .spacy file, or a CoNLL-U file or folder, whose trees have one root (else: spacy mindroot repair)",
        exists=True,
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        help="Folder to write: audit.html (what changes, in pictures), audit.md, audit.json, audit.jsonl (a line a sentence), and the trees as CoNLL-U",
        file_okay=False,
    ),
    most: int = typer.Option(200, "--most", "-m", min=0, help="How many changed sentences audit.html shows"),
    seed: int = typer.Option(0, "--seed", help="Of the bootstrap"),
) -> None:
    """Report what the root constraint changes on a corpus.

    Every sentence, with its gold tokens, is decoded without and with the constraint. Printed are how often the best
    unconstrained tree has more than one root, what the constraint costs, and UAS, LAS, exact match and more both ways, with
    a 95 % interval on each difference.
    """
    from .audit import run

    run(model, corpus, out, most, seed)


@mindroot.command("init-config")
def init_config_cli(
    out: Path | None = typer.Argument(
        None, help="File to write. Without it, or with -, the config is printed", dir_okay=False, allow_dash=True
    ),
    lang: str = typer.Option("xx", "--lang", "-l", help="Language of the pipeline, as in spaCy; xx for any"),
    optimize: str = typer.Option(
        "accuracy", "--optimize", "-o", help="accuracy, or efficiency (a narrower encoder, no character n-grams)"
    ),
    pipeline: str = typer.Option(
        "", "--pipeline", "-p", help="Components to train with the parser, by commas: senter, tagger, morphologizer"
    ),
    transformer: str | None = typer.Option(
        None,
        "--transformer",
        "-t",
        help="Pretrained model, such as xlm-roberta-base, to use as encoder; needs the extra `transformers` and a GPU",
    ),
) -> None:
    """Print a complete, commented config for training a parser.

    The parser is a scorer of arcs (arc_scorer) and the decoder (mind_root), on an encoder (tok2vec). Without a senter in
    the pipeline it is trained on single sentences, and takes every Doc that has no sentence boundaries for one sentence.
    """
    from .init_config import run

    run(out, lang, optimize, pipeline, transformer)


@mindroot.command("repair")
def repair_cli(
    source: Path = typer.Argument(
        ..., metavar="IN", help="CoNLL-U file, a folder with files *.conllu, or - for standard input", allow_dash=True
    ),
    out: Path | None = typer.Argument(
        None,
        help="File or folder to write, or - for standard output. It may be IN itself",
        allow_dash=True,
    ),
    check: bool = typer.Option(
        False,
        "--check",
        help="Write no CoNLL-U. Print what is malformed, with file and line; exit code 1 if anything is",
    ),
    report: Path | None = typer.Option(
        None, "--report", "-r", help="File to write all changes to, as JSON lines", dir_okay=False
    ),
    label: str | None = typer.Option(
        None,
        "--label",
        "-l",
        help="Label of words that were roots and are none any more (default: parataxis, or dep without UPOS)",
    ),
) -> None:
    """Make trees with one root of the basic trees in CoNLL-U, with the fewest arcs changed.

    Mends sentences with several roots or none, cycles, heads out of range or missing, and `root` as the label of other words
    than the root. HEAD and DEPREL of the words that change are written; every other byte stays as it is.
    """
    from .repair import run

    run(source, out, check, report, label)


@mindroot.command("vote")
def vote_cli(
    files: list[Path] = typer.Argument(
        ...,
        metavar="FILE...",
        help="CoNLL-U files: parses of the same sentences and words",
        allow_dash=True,
        dir_okay=False,
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", help="CoNLL-U file to write, or - for standard output", allow_dash=True, dir_okay=False
    ),
    weights: str | None = typer.Option(
        None, "--weights", "-w", metavar="N,N,...", help="What the vote of each file counts; all the same if not given"
    ),
    label: str | None = typer.Option(
        None,
        "--label",
        "-l",
        help="Label of words whose root arc lost, if nobody has another (default: parataxis, or dep without UPOS)",
    ),
) -> None:
    """Make one parse of several parsers' output: the tree with one root whose arcs have the most votes.

    Every file votes for its arcs (Sagae and Lavie 2006), and then, among those that have an arc of the tree, for its label. Where votes
    are equal, the first file wins. What is written is the first file with other heads and labels.
    """
    from .vote import run

    run(files, out, weights, label)

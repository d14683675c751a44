"""The commands `spacy mindroot ...`, with their arguments and options.

Every spaCy command imports this module when it starts, so each command imports what it needs when it runs.
"""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.cli._util import app

__all__ = ["mindroot"]

mindroot = typer.Typer(
    name="mindroot", help="Dependency trees with exactly one root.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(mindroot)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from .files import errors_as_messages

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


@mindroot.command("decode")
def decode_cli(
    scores: Path = typer.Argument(
        ...,
        metavar="SCORES",
        help="Score file (.npz) with the arrays `lens` and `arc`, and optionally `words`, `labels`, `label_best`, "
        "`heads` and `deprels`",
        exists=True,
        dir_okay=False,
    ),
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
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
        help="Number of changed sentences to print, each with its trees without and with the root constraint",
    ),
    kbest: int = typer.Option(
        1,
        "--kbest",
        "-k",
        metavar="K",
        min=1,
        help="Number of best trees to write for each sentence, as comments in the CoNLL-U",
    ),
    confidence: bool = typer.Option(
        False,
        "--confidence",
        "-c",
        help="Write the probability of each head (HeadProb in MISC) and of each tree (comments). The scores must be "
        "logarithms (default: off)",
    ),
    projective: bool = typer.Option(
        False,
        "--projective",
        help="Write the best trees without crossing arcs. Can't be combined with --kbest (default: off)",
    ),
) -> None:
    """Decode the best single-rooted tree of every sentence in a score file.

    Writes CoNLL-U with the best label of each arc, and prints a table: the number of sentences, the number whose best
    unconstrained tree is multi-rooted and, if the file has gold heads, UAS without and with the root constraint
    (percent of all tokens, punctuation included).

    --kbest and --confidence add comments to the CoNLL-U. Numbers have six digits. One comment per tree, best first,
    as in `# tree_1 = weight=-3.25 logprob=-0.18 heads=2,0,2 deprels=nsubj,root,obj` (logprob only with
    --confidence); the first is the tree that is written below. With --confidence also `# tree_logprob = -0.18`, the
    log-probability of that tree; `# tree_margin = 1.5`, the weight by which it beats the next best (inf if there is
    no other); and, in MISC, HeadProb and HeadEntropy (in nats).
    """
    from .decode import run

    if projective and kbest > 1:
        raise typer.BadParameter(
            "the K best trees may have crossing arcs. Leave out --projective.", param_hint="--kbest"
        )
    run(scores, out, show, kbest, confidence, projective)


@mindroot.command("audit")
def audit_cli(
    model: str = typer.Argument(
        ...,
        metavar="MODEL",
        help="Pipeline with an arc_scorer or any other component that sets arc scores; or a score file (.npz), which "
        "needs no CORPUS",
    ),
    corpus: Path | None = typer.Argument(
        None,
        metavar="CORPUS",
        help="Annotated corpus: a .spacy file, or a CoNLL-U file or folder. Its trees must be single-rooted; `spacy "
        "mindroot repair` makes them so",
        exists=True,
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder for the report: audit.html (pictures of the changed sentences), audit.md, audit.json, audit.jsonl "
        "(one line per sentence), and both trees of each sentence as CoNLL-U (default: print tables only)",
        file_okay=False,
    ),
    most: int = typer.Option(
        200, "--most", "-m", metavar="N", min=0, help="Largest number of changed sentences in audit.html"
    ),
    seed: int = typer.Option(0, "--seed", metavar="N", min=0, help="Random seed of the bootstrap"),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Score the multiword tokens of CoNLL-U, or the words in them (default: as the corpus reader in the "
        "pipeline's config; words if it names none)",
    ),
    rules: str | None = typer.Option(
        None,
        "--rules",
        metavar="RULES",
        help="Also report what rules change: ud, for the syntax of Universal Dependencies, or a JSON file of rules "
        "(default: none). Needs a pipeline",
    ),
) -> None:
    """Report what the root constraint changes on a corpus.

    Decodes every sentence, with gold tokens and boundaries, without and with the root constraint. Prints how often
    the best unconstrained tree is multi-rooted, what the constraint costs, and UAS, LAS, exact match and more both
    ways, with a 95 % interval on each difference.
    """
    from .audit import run

    run(model, corpus, out, most, seed, surface_tokens, rules)


@mindroot.command("score")
def score_cli(
    model: str = typer.Argument(
        ..., metavar="MODEL", help="Pipeline with an arc_scorer or any other component that sets arc scores"
    ),
    corpus: Path = typer.Argument(
        ..., metavar="CORPUS", help="Annotated corpus: a .spacy file, or a CoNLL-U file or folder", exists=True
    ),
    out: Path = typer.Argument(..., metavar="OUT", help="Score file to write (.npz)", dir_okay=False),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Score the multiword tokens of CoNLL-U, or the words in them (default: as the corpus reader in the "
        "pipeline's config; words if it names none)",
    ),
) -> None:
    """Write the arc scores that a pipeline gives to a corpus, with the gold trees, to a score file.

    Sentences keep their gold tokens and boundaries. `spacy mindroot decode` and `audit` read the file.
    """
    from .score import run

    run(model, corpus, out, surface_tokens)


@mindroot.command("init-config")
def init_config_cli(
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="File to write. Without it, or with -, the config is printed",
        dir_okay=False,
        allow_dash=True,
    ),
    lang: str = typer.Option("xx", "--lang", "-l", metavar="CODE", help="Language of the pipeline; xx for any"),
    optimize: str = typer.Option(
        "accuracy",
        "--optimize",
        "-o",
        metavar="accuracy|efficiency",
        help="What to optimize for. The encoder for efficiency is narrower and has no character n-grams",
    ),
    pipeline: str = typer.Option(
        "",
        "--pipeline",
        "-p",
        metavar="NAME,...",
        help="Components to train with the parser: senter, tagger, morphologizer (default: none)",
    ),
    transformer: str | None = typer.Option(
        None,
        "--transformer",
        "-t",
        metavar="NAME",
        help="Pretrained model to use as encoder, such as xlm-roberta-base. Needs the extra `transformers` and a GPU "
        "(default: none, a CNN and BiLSTM encoder)",
    ),
    force: bool = typer.Option(False, "--force", "-F", help="Overwrite OUT if it exists (default: off)"),
) -> None:
    """Print a complete, commented config for training a parser.

    The parser is a scorer of arcs (arc_scorer) and a decoder (mind_root) on top of an encoder (tok2vec). Without a
    senter in the pipeline, it is trained on single sentences and treats a Doc without sentence boundaries as one
    sentence.
    """
    from .init_config import run

    run(out, lang, optimize, pipeline, transformer, force)


@mindroot.command("repair")
def repair_cli(
    source: Path = typer.Argument(
        ..., metavar="IN", help="CoNLL-U file, a folder of them, or - for standard input", allow_dash=True
    ),
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="File or folder to write, or - for standard output. It may be IN itself",
        allow_dash=True,
    ),
    check: bool = typer.Option(
        False,
        "--check",
        help="Write no CoNLL-U. Print every malformed tree with file and line; exit status 1 if there is any "
        "(default: off)",
    ),
    report: Path | None = typer.Option(
        None,
        "--report",
        "-r",
        metavar="FILE",
        help="File to write all changes to, as JSON lines (default: none)",
        dir_okay=False,
    ),
    skip_invalid: bool = typer.Option(
        False,
        "--skip-invalid",
        help="Leave a sentence that is not CoNLL-U, or has no heads, exactly as it is, say so with file and line, and "
        "go on; exit status 0 (default: stop and write nothing)",
    ),
    demoted_label: str | None = typer.Option(
        None,
        "--demoted-label",
        "-l",
        metavar="LABEL",
        help="Label for a demoted root (default: parataxis, or dep without UPOS)",
    ),
    rules: str | None = typer.Option(
        None,
        "--rules",
        metavar="RULES",
        help="Also mend trees that break rules, with the fewest changes of heads and labels: ud, for the syntax of "
        "Universal Dependencies, or a JSON file of rules (default: none)",
    ),
) -> None:
    """Turn the basic trees of CoNLL-U files into single-rooted trees, changing the fewest arcs.

    Repairs sentences with several roots or none, cycles, heads that are missing or out of range, and `root` as the
    label of a word that is not the root. Writes HEAD and DEPREL of the words that change; every other byte stays as
    it is. Reads CoNLL-U, CoNLL-U Plus and PARSEME's cupt, also compressed with gzip.
    """
    from .repair import run

    run(source, out, check, report, demoted_label, skip_invalid, rules)


@mindroot.command("vote")
def vote_cli(
    files: list[Path] = typer.Argument(
        ...,
        metavar="FILE",
        help="CoNLL-U files: parses of the same sentences and words",
        allow_dash=True,
        dir_okay=False,
    ),
    out: Path = typer.Option(
        ...,
        "--out",
        "-o",
        metavar="FILE",
        help="CoNLL-U file to write, or - for standard output",
        allow_dash=True,
        dir_okay=False,
    ),
    weights: str | None = typer.Option(
        None,
        "--weights",
        "-w",
        metavar="N,N,...",
        help="Number of votes of each file, in order; they need not be whole (default: 1 each)",
    ),
    demoted_label: str | None = typer.Option(
        None,
        "--demoted-label",
        "-l",
        metavar="LABEL",
        help="Label for a word whose root arc lost, if no file has another (default: parataxis, or dep without UPOS)",
    ),
    rules: str | None = typer.Option(
        None,
        "--rules",
        metavar="RULES",
        help="Elect the labelled tree with the most votes of those that meet rules: ud, for the syntax of Universal "
        "Dependencies, or a JSON file of rules (default: none)",
    ),
) -> None:
    """Combine several parsers' output into one parse: the single-rooted tree whose arcs have the most votes.

    Every file votes for its arcs (Sagae and Lavie 2006). The files that have an arc of the resulting tree then vote
    for its label. Ties go to the first file. Writes the first file with the resulting heads and labels.
    """
    from .vote import run

    run(files, out, weights, demoted_label, rules)


@mindroot.command("rules")
def rules_cli(
    source: Path = typer.Argument(
        ..., metavar="IN", help="CoNLL-U file, a folder of them, or - for standard input", allow_dash=True
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="JSON file to write the learnt rules to, or - for standard output (default: none)",
        allow_dash=True,
        dir_okay=False,
    ),
    candidates: str = typer.Option(
        "ud",
        "--candidates",
        metavar="RULES",
        help="Rules to count and to choose from: ud, for the syntax of Universal Dependencies, or a JSON file of rules",
    ),
    min_support: int = typer.Option(50, "--min-support", help="Leave out rules with fewer cases"),
    max_violation: float = typer.Option(
        0.001, "--max-violation", help="Share of cases that may break a hard rule, from 0 to 1"
    ),
) -> None:
    """Count how often the trees of CoNLL-U files break rules, and learn rules from them.

    A rule that holds becomes a hard rule. Another one gets a price: the log-odds that it holds. The file of rules can
    be read and edited, and goes to `repair --rules`, `vote --rules`, or, as a table, into the setting `rules` of
    mind_root.
    """
    from .rules import run

    run(source, out, candidates, min_support, max_violation)

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


@mindroot.command("evaluate")
def evaluate_cli(
    model: str = typer.Argument(
        ...,
        metavar="MODEL",
        help="Pipeline with any parser; or the output of a parser on the same text, as a CoNLL-U file (.conllu)",
    ),
    gold: Path = typer.Argument(..., metavar="GOLD", help="Treebank: a CoNLL-U file, or a folder of them", exists=True),
    raw: bool = typer.Option(
        False,
        "--raw",
        help="Parse the raw text: the pipeline finds tokens and sentences itself (default: gold tokens and sentences)",
    ),
    json: Path | None = typer.Option(
        None, "--json", "-j", metavar="FILE", help="File to write all figures to (default: none)", dir_okay=False
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="FILE",
        help="CoNLL-U file to write the pipeline's output to, with the probability of each head as HeadProb in MISC, "
        "if there is one (default: none)",
        dir_okay=False,
    ),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Without --raw: parse the multiword tokens of GOLD, or the words in them (default: as the corpus reader "
        "in the pipeline's config; words if it names none)",
    ),
) -> None:
    """Evaluate a pipeline with the official script of UD, from gold tokens or from raw text.

    Prints the scores of the CoNLL 2018 shared task: tokens, sentences, words, UPOS, XPOS, UFeats, lemmas, UAS, LAS,
    CLAS, MLAS and BLEX. A metric whose column is empty in GOLD is left out. Then what that script lacks: exact match,
    root accuracy, the share of single-rooted trees, non-projective arcs, and how well the probabilities of heads are
    calibrated.

    The raw text is that of GOLD, in paragraphs (`# newpar`, `# newdoc`), or in one piece if it has none. A word counts
    as right only if its token is right, too; "Words" says how well the pipeline's tokens agree with GOLD's words. The
    tokenizers of spaCy do not split multiword tokens.

    Needs the extra `evaluate`.
    """
    from .evaluate import run

    run(model, gold, raw, json, output, surface_tokens)


@mindroot.command("build")
def build_cli(
    treebank: Path = typer.Argument(
        ...,
        metavar="TREEBANK",
        help="Folder of CoNLL-U files, with `train`, `dev` and `test` in their names, as in UD; or one file. Without "
        "such names, the sentences are divided: 80, 10 and 10 %",
        exists=True,
    ),
    out: Path = typer.Argument(..., metavar="OUT", help="Folder for everything that is made", file_okay=False),
    lang: str = typer.Option(
        "",
        "--lang",
        "-l",
        metavar="CODE",
        help="Language of the pipeline; xx for any (default: as in the names of UD's files, such as "
        "en_gum-ud-train.conllu; otherwise xx)",
    ),
    name: str = typer.Option(
        "",
        "--name",
        "-n",
        metavar="NAME",
        help="Name of the package, without its language (default: the name of TREEBANK)",
    ),
    package_version: str = typer.Option("0.1.0", "--version", "-v", metavar="VERSION", help="Version of the package"),
    description: str = typer.Option("", "--description", metavar="TEXT", help="One sentence (default: what it does)"),
    author: str = typer.Option("", "--author", metavar="NAME", help="Author, for the package (default: none)"),
    email: str = typer.Option("", "--email", metavar="ADDRESS", help="Address, for the package (default: none)"),
    url: str = typer.Option("", "--url", metavar="URL", help="Where the data comes from (default: none)"),
    licence: str = typer.Option(
        "", "--license", metavar="TEXT", help="Licence of the package (default: as in the README of a UD treebank)"
    ),
    optimize: str = typer.Option(
        "accuracy",
        "--optimize",
        "-o",
        metavar="accuracy|efficiency",
        help="What to optimize for, as for init-config",
    ),
    config: Path | None = typer.Option(
        None,
        "--config",
        "-c",
        metavar="FILE",
        help="Config to train with, made by init-config and changed (default: that of init-config, with all "
        "components that TREEBANK has annotation for)",
        exists=True,
        dir_okay=False,
    ),
    steps: int | None = typer.Option(
        None, "--steps", "-s", metavar="N", min=1, help="Training steps (default: as in the config)"
    ),
    seed: int = typer.Option(0, "--seed", metavar="N", min=0, help="Random seed of the training"),
) -> None:
    """Build an installable pipeline from a treebank: train, evaluate, and package it as a wheel.

    The pipeline finds sentences, tags, parts of speech and features, lemmas and trees, as far as TREEBANK has them. It
    is evaluated on the test set with gold tokens and from raw text, as `evaluate` does.

    OUT gets the config, the trained pipeline, what it made of the test set (CoNLL-U), pipeline.json with all figures,
    README.md (the model card) and dist/*.whl. Steps that are done are not repeated: run the same command again after
    an interruption. Other data, settings or versions begin anew.

    Needs the extra `build`.
    """
    from ..building.card import Description
    from .build import run

    about = Description(name, package_version, description, author, email, url, licence)
    run(treebank, out, about, lang, optimize, config, steps, seed)


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
        help="Components to train with the parser: tagger, morphologizer, trainable_lemmatizer, or all of them. A "
        "senter, which finds the sentences, is always added, except with --whole-doc (default: senter)",
    ),
    whole_doc: bool = typer.Option(
        False,
        "--whole-doc",
        "-w",
        help="Treat a Doc without sentence boundaries as one sentence, and train on single sentences (default: off)",
    ),
    transformer: str | None = typer.Option(
        None,
        "--transformer",
        "-t",
        metavar="NAME",
        help="Pretrained model to use as encoder, such as xlm-roberta-base. Needs the extra `transformers`; slow "
        "without a GPU (default: none, a CNN and BiLSTM encoder)",
    ),
    curated: bool = typer.Option(
        False,
        "--curated",
        "-c",
        help="Use the model of --transformer with spacy-curated-transformers instead of spacy-transformers. Needs the "
        "extra `curated` (default: off)",
    ),
    sentences: int | None = typer.Option(
        None,
        "--sentences",
        "-s",
        metavar="N",
        min=1,
        help="Number of sentences in the training data. Sizes and number of training steps then suit it (default: "
        "unknown; suits a thousand)",
    ),
    vectors: str | None = typer.Option(
        None,
        "--vectors",
        "-V",
        metavar="NAME",
        help="Pipeline, or folder, with word vectors to use as features, as made by `spacy init vectors` (default: "
        "none)",
    ),
    source: Path | None = typer.Option(
        None,
        "--from",
        metavar="CFG",
        help="Config of spacy-experimental's biaffine parser to convert. Everything else in it is kept, and what "
        "changes is reported on standard error. No other option but --force goes with it (default: none)",
        exists=True,
        dir_okay=False,
    ),
    force: bool = typer.Option(False, "--force", "-F", help="Overwrite OUT if it exists (default: off)"),
) -> None:
    """Print a complete, commented config for training a parser.

    The parser is a scorer of arcs (arc_scorer) and a decoder (mind_root) on top of an encoder (tok2vec), which a
    sentence segmenter (senter) shares. It is trained on passages of several sentences, and parses raw text. The
    training data is a .spacy file or CoNLL-U.
    """
    from .init_config import run, run_from

    if source is not None:
        given = [whole_doc, pipeline, transformer, curated, sentences, vectors, lang != "xx", optimize != "accuracy"]
        if any(given):
            raise typer.BadParameter(
                "the config is converted as it is. Leave out all other options.", param_hint="--from"
            )
        run_from(source, out, force)
        return
    run(
        out,
        lang,
        optimize,
        pipeline,
        transformer,
        force,
        whole_doc=whole_doc,
        sentences=sentences,
        vectors=vectors,
        curated=curated,
    )


@mindroot.command("calibrate")
def calibrate_cli(
    model: str = typer.Argument(..., metavar="MODEL", help="Pipeline with a mind_root: a folder, or a package"),
    corpus: Path = typer.Argument(
        ...,
        metavar="CORPUS",
        help="Annotated sentences that MODEL was not trained on: a .spacy file, or a CoNLL-U file or folder. With "
        "--folds, its training set",
        exists=True,
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="FOLDER",
        help="Folder for the calibrated pipeline (default: the calibration is added to MODEL itself)",
    ),
    folds: int | None = typer.Option(
        None,
        "--folds",
        metavar="K",
        min=2,
        help="For lack of a development set: divide CORPUS into K parts, and train on all but one, in turn, as MODEL's "
        "config says (default: no training)",
    ),
    component: str | None = typer.Option(
        None, "--component", metavar="NAME", help="Name of the component (default: the first mind_root)"
    ),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Tokens of a CoNLL-U corpus: its multiword tokens, or the words in them (default: as MODEL's corpus "
        "reader has it, else words)",
    ),
) -> None:
    """Calibrate the probabilities of heads and labels of a trained pipeline.

    Fits a temperature and a lapse for arcs and another pair for labels, and the thresholds of head sets, to annotated
    sentences, and saves them with the pipeline. Trees and labels stay the same. Prints the expected calibration error
    (ECE, in points) on CORPUS without and with them: since they were fitted to it, the error on other text is
    greater. `spacy train` does the same for pipelines from `init-config`.
    """
    from .calibrate import run

    run(model, corpus, output, folds, component, surface_tokens)


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


@mindroot.command("parse")
def parse_cli(
    model: str = typer.Argument(
        ..., metavar="MODEL", help="Pipeline that parses: the path of a folder, or the name of an installed package"
    ),
    inputs: list[str] = typer.Argument(
        ...,
        metavar="IN",
        help="Files, folders, patterns or URLs (s3://...) of .txt, .jsonl, .conllu, .parquet and .spacy; the first "
        "three may be compressed with gzip (.gz)",
    ),
    out: Path = typer.Option(
        ...,
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder to write. Run the same command again to go on",
        file_okay=True,
    ),
    format: str = typer.Option(
        "conllu",
        "--format",
        "-f",
        metavar="NAME",
        help="Format of the output: conllu, conllu.gz, spacy, jsonl or parquet",
    ),
    text_column: str = typer.Option(
        "text",
        "--text-column",
        metavar="NAME",
        help="Key or column with the text of a document, in JSON lines or Parquet",
    ),
    id_column: str | None = typer.Option(
        None,
        "--id-column",
        metavar="NAME",
        help="Key or column with the id of a document (default: id, if there is one)",
    ),
    paragraphs: bool = typer.Option(
        False,
        "--paragraphs",
        help="Documents in .txt files are separated by empty lines (default: each line is a document)",
    ),
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-w",
        metavar="N",
        min=1,
        help="Number of processes to parse with. Needs the extra `dask` (default: parse in this process)",
    ),
    scheduler: str | None = typer.Option(
        None,
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask cluster to parse on: tcp://HOST:8786. Needs the extra `dask` (default: none)",
    ),
    shard_words: int = typer.Option(
        200_000,
        "--shard-words",
        metavar="N",
        min=1,
        help="About the number of words in a shard, which is one output file",
    ),
    retries: int = typer.Option(
        2,
        "--retries",
        metavar="N",
        min=0,
        help="How often a shard is tried again after its worker has died, or after an error in reading it",
    ),
    confidence: bool = typer.Option(
        False,
        "--confidence",
        "-c",
        help="Write the probability of each head and of each tree. The scores must be logarithms (default: off)",
    ),
    kbest: int = typer.Option(
        1, "--kbest", "-k", metavar="K", min=1, help="Number of best trees to write for each sentence"
    ),
    metrics: Path | None = typer.Option(
        None,
        "--metrics",
        metavar="FILE",
        help="File to write counts, times and the memory of each worker to, as JSON (default: none)",
        dir_okay=False,
    ),
    force: bool = typer.Option(
        False, "--force", "-F", help="Remove what an earlier run has written to FOLDER, and start over (default: off)"
    ),
) -> None:
    """Parse a corpus, however large, into a folder.

    The input is cut into shards. Each becomes one file, which appears when it is complete. If the command or a worker
    is killed, run the same command again: it parses what is missing.

    FOLDER also gets manifest.json (the pipeline, the settings and the input), manifest.jsonl (each complete shard, with
    its counts and digest), rejected.jsonl (each document that could not be read or parsed, and why) and failed.jsonl
    (each shard that failed). Exit status 1 if a shard failed, or if every document was rejected.
    """
    from .parse import run

    run(
        model,
        inputs,
        out,
        format=format,
        text_column=text_column,
        id_column=id_column,
        paragraphs=paragraphs,
        workers=workers,
        scheduler=scheduler,
        shard_words=shard_words,
        retries=retries,
        confidence=confidence,
        kbest=kbest,
        metrics=metrics,
        force=force,
    )


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


@mindroot.command("show")
def show_cli(
    model: str = typer.Argument(..., metavar="MODEL", help="Pipeline with a mind_root"),
    text: str = typer.Argument(
        ...,
        metavar="INPUT",
        help="Text to parse, - for standard input, or the name of a .spacy or CoNLL-U file, whose tokens are kept",
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="File to write, or - for standard output: an HTML page or, if the name ends in .svg, the picture of a "
        "single sentence (default: print trees in the terminal)",
        dir_okay=False,
        allow_dash=True,
    ),
    most: int = typer.Option(100, "--most", "-m", metavar="N", min=1, help="Largest number of sentences to draw"),
    close: float = typer.Option(
        0.15,
        "--close",
        metavar="P",
        min=0.0,
        help="Draw the next best head of a word if its probability is at least this. More than 1 for none",
    ),
    gold: bool = typer.Option(
        False, "--gold", help="Draw the heads in the file where the parser has others (default: off)"
    ),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Parse the multiword tokens of CoNLL-U, or the words in them (default: as the corpus reader in the "
        "pipeline's config; words if it names none)",
    ),
) -> None:
    """Parse text or a corpus, and draw the trees with the probability of each head.

    The surer an arc, the thicker and bluer its line; a probability under 95 % is written on it. Below the words, a
    dashed arc leads from the next most probable head where that is close. All probabilities appear while the pointer
    is on an arc or a word. The page needs no script and no network, and follows the light or dark theme.
    """
    from .show import run

    run(model, text, out, most, close, gold, surface_tokens)


@mindroot.command("rank")
def rank_cli(
    corpus: Path = typer.Argument(
        ...,
        metavar="CORPUS",
        help="Sentences to parse: a .spacy file, or a CoNLL-U file or folder. Their tokens are kept",
        exists=True,
    ),
    model: str = typer.Option(
        ..., "--model", "-m", metavar="MODEL", help="Pipeline with an arc_scorer and a mind_root"
    ),
    by: str = typer.Option("sentence", "--by", "-b", metavar="sentence|token", help="What to order"),
    criterion: str = typer.Option(
        "rate",
        "--criterion",
        "-c",
        metavar="rate|errors",
        help="Order of sentences: by the expected number of wrong heads per token to read, or in the whole sentence",
    ),
    most: int | None = typer.Option(
        None, "--most", metavar="N", min=1, help="Number of sentences or tokens to write (default: all)"
    ),
    given: bool = typer.Option(
        False,
        "--given",
        help="Keep the heads in CORPUS: the trees contain them, and only words without a head are ranked (default: "
        "parse all words anew)",
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="CoNLL-U file to write, or - for standard output (default: print tables only)",
        dir_okay=False,
        allow_dash=True,
    ),
    report: Path | None = typer.Option(
        None,
        "--report",
        "-r",
        metavar="FILE",
        help="File to write the ranking to, as JSON lines (default: none)",
        dir_okay=False,
        allow_dash=True,
    ),
    surface_tokens: bool | None = typer.Option(
        None,
        "--surface-tokens/--words",
        help="Parse the multiword tokens of CoNLL-U, or the words in them (default: as the corpus reader in the "
        "pipeline's config; words if it names none)",
    ),
) -> None:
    """Parse a corpus, and order its sentences or tokens for correction: the least certain first.

    The chance that a head is wrong is one minus its probability. By sentence, those with the most wrong heads expected
    per token come first, so that each token read finds as many errors as possible; by token, those with the least
    probable heads. Ties keep the order of the corpus. Prints the first of them, and how many of the wrong heads are
    expected in the first tokens.

    Writes CoNLL-U in this order, with the trees of the parser; comments (`# rank = 1`, `# expected_errors = 2.31`,
    `# tokens_to_read = 12`); and, in MISC, HeadProb and, where there is a second likely head, NextHead, NextProb and
    NextDeprel. By token, Rank marks the tokens to read.
    """
    from .rank import run

    run(corpus, model, by, criterion, most, given, out, report, surface_tokens)


@mindroot.command("suspect")
def suspect_cli(
    gold: Path = typer.Argument(..., metavar="GOLD", help="Annotated CoNLL-U file, or a folder of them", exists=True),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="CoNLL-U file to write, or - for standard output (default: print a table only)",
        dir_okay=False,
        allow_dash=True,
    ),
    report: Path | None = typer.Option(
        None,
        "--report",
        "-r",
        metavar="FILE",
        help="File to write all suspects to, as JSON lines (default: none)",
        dir_okay=False,
        allow_dash=True,
    ),
    what: str = typer.Option(
        "both",
        "--what",
        "-w",
        metavar="heads|labels|both",
        help="What to suspect: heads whatever their labels, labels whose heads are not suspect, or both",
    ),
    most: int | None = typer.Option(
        None, "--most", metavar="N", min=1, help="Number of suspects to write (default: all)"
    ),
    folds: int = typer.Option(
        5, "--folds", "-k", metavar="K", min=2, help="Number of parsers; each is trained on the other folds"
    ),
    steps: int = typer.Option(600, "--steps", metavar="N", min=1, help="Training steps of each parser"),
    seed: int = typer.Option(0, "--seed", metavar="N", min=0, help="Random seed of the folds and parsers"),
    config: Path | None = typer.Option(
        None,
        "--config",
        "-c",
        metavar="FILE",
        help="Training config with an arc_scorer (default: the one that `spacy mindroot init-config` makes)",
        exists=True,
        dir_okay=False,
    ),
    optimize: str = typer.Option(
        "efficiency",
        "--optimize",
        metavar="accuracy|efficiency",
        help="What the default config is optimized for. The one for accuracy takes about twice as long",
    ),
    lang: str = typer.Option("xx", "--lang", "-l", metavar="CODE", help="Language of the default config; xx for any"),
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
    """
    from .suspect import run

    run(gold, out, report, what, most, folds, steps, seed, config, optimize, lang)


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

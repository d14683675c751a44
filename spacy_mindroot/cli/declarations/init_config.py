"""The arguments and options of `spacy mindroot init-config`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["init_config_cli"]


def init_config_cli(
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="File to write. Without it, or with -, the config is printed",
        callback=options.ending(".cfg"),
        dir_okay=False,
        allow_dash=True,
    ),
    lang: str = options.language("Language of the pipeline; xx for any"),
    optimize: str = options.optimize(
        "What to optimize for. The encoder for efficiency is narrower and has no character n-grams", "-o"
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
        help="Config with spaCy's parser, or spacy-experimental's, to convert. Everything else in it is kept, and what "
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
    from ..init_config import run, run_from

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

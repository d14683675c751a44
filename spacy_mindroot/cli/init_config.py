"""`spacy mindroot init-config`: a training config that spells out every setting and comments on those that matter."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

from ..errors import MindRootError
from . import options
from .files import opened_to_write
from .paths import PathsError, check_paths
from .printing import say
from .running import command

__all__ = ["init_config_cli"]


def _name_of_model(name: str | None) -> str | None:
    if name is not None and (not name.isprintable() or not name.strip() or "${" in name):
        raise typer.BadParameter(f"{name!r} can't be the name or the path of a model.")
    return name


@command()
def init_config_cli(
    out: Path | None = typer.Argument(
        None, metavar="OUT", callback=options.ending(".cfg"), dir_okay=False, allow_dash=True
    ),
    lang: str = options.language(),
    optimize: options.Optimize = options.optimize(),
    tokenizer: options.Tokenizer = options.tokenizer(),
    loss: options.Loss = options.loss(),
    pipeline: str = typer.Option("", "--pipeline", "-p", metavar="NAME,..."),
    whole_doc: bool = typer.Option(False, "--whole-doc", "-w"),
    transformer: str | None = typer.Option(None, "--transformer", "-t", metavar="NAME", callback=_name_of_model),
    curated: bool = typer.Option(False, "--curated", "-c"),
    sentences: int | None = typer.Option(None, "--sentences", "-s", metavar="N", min=1),
    minutes: float | None = options.minutes("one pipeline"),
    vectors: str | None = typer.Option(None, "--vectors", "-V", metavar="NAME", callback=_name_of_model),
    lexicons: list[Path] = options.lexicons(),
    source: Path | None = typer.Option(None, "--from", metavar="CFG", exists=True, dir_okay=False),
    force: bool = typer.Option(False, "--force", "-F"),
) -> None:
    """Print a complete, commented config for training a parser.

    The parser is a scorer of arcs (arc_scorer) and a decoder (mind_root) on top of an encoder (tok2vec), which a
    sentence segmenter (senter) shares. It is trained on passages of several sentences, and parses raw text. The
    training data is a .spacy file or CoNLL-U.

    out: File to write. Without it, or with -, the config is printed.
    lang: Language of the pipeline; xx for any.
    optimize: What to optimize for. The encoder for efficiency is narrower and has no character n-grams.
    tokenizer: Tokenizer, learnt from the training corpus or spaCy's for the language. The learnt one divides multiword
        tokens into words.
    pipeline: Components to train with the parser: tagger, morphologizer, trainable_lemmatizer, or all of them. A
        senter, which finds the sentences, is always added, except with --whole-doc (default: senter).
    whole_doc: Treat a Doc without sentence boundaries as one sentence, and train on single sentences (default:
        off).
    transformer: Pretrained model to use as encoder, such as xlm-roberta-base. Needs the extra `transformers`; slow
        without a GPU (default: none, a CNN and BiLSTM encoder).
    curated: Use the model of --transformer with spacy-curated-transformers instead of spacy-transformers. Needs the
        extra `curated` (default: off).
    sentences: Number of sentences in the training data. Sizes and number of training steps then suit it (default:
        unknown; suits a thousand).
    vectors: Pipeline, or folder, with word vectors to use as features, as made by `spacy init vectors` (default:
        none).
    source: Config with spaCy's parser, or explosion's biaffine one, to convert. Everything else in it is kept, and what
        changes is reported on standard error. No other option but --force goes with it (default: none).
    force: Overwrite OUT if it exists (default: off).
    """
    from ..tools.building.config import make_config
    from ..tools.building.curated import curated_model, read_model_config

    notes: list[str] = []
    if source is not None:
        given = [whole_doc, pipeline, transformer, curated, sentences, vectors, lexicons, minutes]
        given += [lang != "xx", optimize != "accuracy", tokenizer != "learnt", loss != "tree"]
        if any(given):
            raise typer.BadParameter(
                "the config is converted as it is. Leave out all other options.", param_hint="--from"
            )
        text, notes = _converted(source)
    else:
        extras = _components(pipeline, whole_doc)
        if curated and not transformer:
            raise typer.BadParameter("name the pretrained model with --transformer.", param_hint="--curated")
        if transformer and (vectors or lexicons or sentences or minutes):
            raise typer.BadParameter(
                "--vectors, --lexicon, --sentences and --minutes are for the default encoder. Leave them out, or "
                "leave out --transformer.",
                param_hint="--transformer",
            )
        notes = _notes_on_lexicon(lexicons)
        text = make_config(
            lang,
            optimize,
            extras,
            transformer,
            whole_doc=whole_doc,
            sentences=sentences,
            vectors=vectors,
            lexicons=[str(path) for path in lexicons],
            minutes=minutes,
            tokenizer=tokenizer,
            loss=loss,
            curated=curated_model(transformer, read_model_config(transformer)) if curated and transformer else None,
        )
    if out is None or str(out) == "-":
        typer.echo(text, nl=False)
    else:
        if out.is_file() and not force:
            raise PathsError(f"{out} exists. Choose another file, or overwrite it with --force.")
        check_paths({"--lexicon": lexicons}, {"OUT": out})
        with opened_to_write(out) as file:
            file.write(text.encode("utf8"))
        say(
            f"Wrote {out}. Train with: spacy train {shlex.quote(str(out))} --paths.train train.spacy --paths.dev "
            "dev.spacy --output model"
        )
    for note in notes:
        say(note, err=True)


def _converted(source: Path) -> tuple[str, list[str]]:
    """Return the text of a config with this package's parser instead of another, and lines on what has changed."""
    from ..tools.building.config import read_config
    from ..tools.building.convert import convert_config

    config = read_config(source)
    try:
        converted = convert_config(config)
    except MindRootError as error:
        raise MindRootError(f"{source}: {error}") from error
    notes = []
    for title, lines in (("Changed:", converted.changes), ("To check:", converted.problems)):
        notes += [title, *(f"- {line}" for line in lines)] if lines else []
    text = converted.config.to_str(interpolate=False)
    return f"# Made by: spacy mindroot init-config --from {shlex.quote(source.name)}\n\n{text}", notes


def _notes_on_lexicon(files: list[Path]) -> list[str]:
    """Return a line on each file of a lexicon, which is read so that what is wrong with it is known before training."""
    if not files:
        return []
    from ..arc_scorer.lexicon import make_lexicon

    return [
        f"Lexicon {each['name']}: {each['readings']:,} readings of words, licence: {each.get('licence', 'unknown')}."
        for each in make_lexicon(files)["about"]
    ]


def _components(pipeline: str, whole_doc: bool) -> list[str]:
    """Return the components that are named, with a senter unless a Doc is one sentence."""
    from ..tools.building.config import EXTRAS

    names = [name.strip() for name in pipeline.split(",") if name.strip()]
    if names == ["all"]:
        names = [name for name in EXTRAS if not (whole_doc and name == "senter")]
    unknown = [name for name in names if name not in EXTRAS]
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(unknown)}: choose from {', '.join(EXTRAS)}, or all.", param_hint="--pipeline"
        )
    if whole_doc and "senter" in names:
        raise typer.BadParameter(
            "with a senter in the pipeline, a Doc is not treated as one sentence. Leave out --whole-doc or the senter.",
            param_hint="--whole-doc",
        )
    return names if whole_doc else ["senter", *names]

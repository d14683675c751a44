"""`spacy mindroot init-config`: a training config that spells out every setting and comments on those that matter."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jinja2
import typer
from spacy import util

from .files import PathsError, errors_as_messages, opened_to_write

__all__ = ["EXTRAS", "make_config", "run"]

# Components that can stand before the scorer, in this order, and the weights of their scores in training. A weight
# of None keeps a score out of the table that spaCy prints.
EXTRAS: dict[str, dict[str, float | None]] = {
    "senter": {"sents_f": 0.2},
    "tagger": {"tag_acc": 0.1, "pos_acc": 0.0, "tag_micro_p": None, "tag_micro_r": None, "tag_micro_f": None},
    "morphologizer": {"pos_acc": 0.1, "morph_acc": 0.0, "morph_per_feat": None},
    "trainable_lemmatizer": {"lemma_acc": 0.1},
}
_TREE_SCORES: dict[str, float | None] = {
    **dict.fromkeys(("dep_lem", "root_acc", "single_root"), 0.0),
    "dep_uem": 0.2,
    **dict.fromkeys(("dep_las_per_type", "sents_p", "sents_r"), None),
    "sents_f": 0.0,
}


def run(
    out: Path | None,
    lang: str,
    optimize: str,
    pipeline: str,
    transformer: str | None,
    force: bool = False,
    *,
    whole_doc: bool = False,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot init-config --help`."""
    extras = _components(pipeline, whole_doc)
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    _check_language(lang)
    _check_name(transformer, "--transformer")
    text = make_config(lang, optimize, extras, transformer, whole_doc=whole_doc)
    write(text, out, force)


def write(text: str, out: Path | None, force: bool) -> None:
    """Print the config, or write it to a file and say how to train with it."""
    with errors_as_messages():
        if out is None or str(out) == "-":
            typer.echo(text, nl=False)
            return
        if out.is_file() and not force:
            raise PathsError(f"{out} exists. Choose another file, or overwrite it with --force.")
        with opened_to_write(out) as file:
            file.write(text.encode("utf8"))
        typer.echo(
            f"Wrote {out}. Train with: spacy train {shlex.quote(str(out))} --paths.train train.spacy --paths.dev "
            "dev.spacy --output model"
        )


def _components(pipeline: str, whole_doc: bool) -> list[str]:
    """Return the components that are named, with a senter unless a Doc is one sentence.

    RAISES (typer.BadParameter): If there is no such component.
    """
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
            "with a senter in the pipeline, Docs are not treated as one sentence. Leave out --whole-doc, or the senter.",
            param_hint="--whole-doc",
        )
    return names if whole_doc else ["senter", *names]


def _check_name(name: str | None, option: str) -> None:
    if name is not None and (not name.isprintable() or not name.strip() or "${" in name):
        raise typer.BadParameter(f"{name!r} can't be the name or the path of a model.", param_hint=option)


def _check_language(lang: str) -> None:
    try:
        if not lang.isidentifier():
            raise ImportError(lang)
        util.get_lang_class(lang)
    except ImportError as error:
        raise typer.BadParameter(f"spaCy has no language {lang!r}; use xx for any.", param_hint="--lang") from error


def make_config(
    lang: str, optimize: str, extras: list[str], transformer: str | None, *, whole_doc: bool = False
) -> str:
    """Return the text of the config.

    lang (str): A language of spaCy's, or "xx".
    optimize (str): "efficiency" or "accuracy".
    extras (list[str]): Components of EXTRAS to put before the scorer. Without a senter, whole_doc must be True.
    transformer (Optional[str]): Name of a pretrained model to use in place of the tok2vec.
    whole_doc (bool): Train on single sentences, and treat a Doc without sentence boundaries as one sentence.
    """
    extras = [name for name in EXTRAS if name in extras]
    options = [f"--lang {lang}"]
    if transformer:
        options.append(f"--transformer {shlex.quote(transformer)}")
    if optimize != "accuracy":
        options.append(f"--optimize {optimize}")
    if extras not in ([], ["senter"]):
        options.append(f"--pipeline {','.join(extras)}")
    if whole_doc:
        options.append("--whole-doc")
    weights = _TREE_SCORES | {name: weight for extra in extras for name, weight in EXTRAS[extra].items()}
    of_trees = 1 - sum(filter(None, weights.values()))
    weights |= {"dep_uas": round(of_trees / 2, 3), "dep_las": round(of_trees / 2, 3)}
    template = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=False,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    ).get_template("config.cfg.jinja")
    return template.render(
        command=" ".join(["spacy mindroot init-config", *options]),
        lang=lang,
        accuracy=optimize == "accuracy",
        transformer=transformer,
        transformer_json=json.dumps(transformer, ensure_ascii=False),
        pipeline=["transformer" if transformer else "tok2vec", *extras, "arc_scorer", "mind_root"],
        score_weights=weights,
        whole_doc=whole_doc,
    )

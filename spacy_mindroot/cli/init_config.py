"""`spacy mindroot init-config`: a training config with every setting spelled out, and comments on those that matter."""

from __future__ import annotations

from pathlib import Path

import jinja2
import typer
from spacy import util

# Components that may stand before the scorer, in the order in which they do, and what their scores weigh in training. A
# weight of None keeps a score out of the table that is printed.
EXTRAS: dict[str, dict[str, float | None]] = {
    "senter": {"sents_f": 0.2},
    "tagger": {"tag_acc": 0.1, "pos_acc": 0.0, "tag_micro_p": None, "tag_micro_r": None, "tag_micro_f": None},
    "morphologizer": {"pos_acc": 0.1, "morph_acc": 0.0, "morph_per_feat": None},
}
_TREE_SCORES: dict[str, float | None] = {
    **dict.fromkeys(("dep_lem", "root_acc", "single_root"), 0.0),
    "dep_uem": 0.2,
    **dict.fromkeys(("dep_las_per_type", "sents_p", "sents_r"), None),
    "sents_f": 0.0,
}


def run(out: Path | None, lang: str, optimize: str, pipeline: str, transformer: str | None) -> None:
    """The command, with its errors as messages. See `spacy mindroot init-config --help`."""
    extras = [name.strip() for name in pipeline.split(",") if name.strip()]
    unknown = [name for name in extras if name not in EXTRAS]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: choose from {', '.join(EXTRAS)}.", param_hint="--pipeline")
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    try:
        util.get_lang_class(lang)
    except ImportError as error:
        raise typer.BadParameter(f"spaCy has no language {lang!r}; use xx for any.", param_hint="--lang") from error
    text = make_config(lang, optimize, extras, transformer)
    if out is None or str(out) == "-":
        typer.echo(text, nl=False)
    else:
        try:
            out.write_text(text, encoding="utf8")
        except OSError as error:
            raise typer.BadParameter(f"can't be written: {error}", param_hint="OUT") from error
        typer.echo(
            f"Wrote {out}. Train it with: spacy train {out} --paths.train train.spacy --paths.dev dev.spacy --output model"
        )


def make_config(lang: str, optimize: str, extras: list[str], transformer: str | None) -> str:
    """The text of the config.

    lang (str): A language of spaCy's, or "xx".
    optimize (str): "efficiency" or "accuracy".
    extras (list[str]): Components of EXTRAS that go before the scorer.
    transformer (Optional[str]): The name of a pretrained model, to use in place of the tok2vec.
    """
    extras = [name for name in EXTRAS if name in extras]
    options = [f"--lang {lang}"]
    if transformer:
        options.append(f"--transformer {transformer}")
    if optimize != "accuracy":
        options.append(f"--optimize {optimize}")
    if extras:
        options.append(f"--pipeline {','.join(extras)}")
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
        pipeline=["transformer" if transformer else "tok2vec", *extras, "arc_scorer", "mind_root"],
        score_weights=weights,
    )

"""The training configs of `init-config` and `build`: sizes and schedules that suit the data, and the template."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from configparser import Error as ConfigParserError
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from spacy import util
from thinc.api import Config

from ...errors import CorpusError
from ...escapes import printable

__all__ = [
    "EXTRAS",
    "FEWEST_STEPS",
    "Size",
    "files_of",
    "fill_template",
    "lexicons_of",
    "make_config",
    "read_config",
    "size_for",
]

# Components that can stand before the scorer, in this order, and the weights of their scores in training. A weight
# of None keeps a score out of the table that spaCy prints.
EXTRAS: dict[str, dict[str, float | None]] = {
    "senter": {"sents_f": 0.2},
    "tagger": {"tag_acc": 0.1, "pos_acc": 0.0, "tag_micro_p": None, "tag_micro_r": None, "tag_micro_f": None},
    "morphologizer": {"pos_acc": 0.05, "morph_acc": 0.05, "morph_per_feat": None},
    "trainable_lemmatizer": {"lemma_acc": 0.1},
}
_TREE_SCORES: dict[str, float | None] = {
    **dict.fromkeys(("dep_lem", "root_acc", "single_root"), 0.0),
    "dep_uem": 0.2,
    **dict.fromkeys(("dep_las_per_type", "sents_p", "sents_r"), None),
    "sents_f": 0.0,
}


FEWEST_STEPS = 100


class Size(NamedTuple):
    """The settings of a config that depend on the number of training sentences."""

    comment: str  # what the number of steps is good for
    steps: int  # the learning rate falls until the last one
    patience: int = 2000
    warmup: int = 100
    eval_frequency: int = 200
    batch: int = 1000  # the greatest number of words in one
    divisions: int = 4  # copies of each sentence in an epoch
    width: int = 160
    lstm_depth: int = 2
    arc_width: int = 192
    rows: tuple[int, ...] = (5000, 1000, 2500, 2500)  # of the tables of norms, prefixes, suffixes and shapes
    ngram_rows: int = 10000  # of the table of character n-grams
    lexicon_rows: tuple[int, int] = (1000, 5000)  # of the tables of ambiguity classes and of lemmas
    projective: bool = False  # few sentences teach a parser to set most crossing arcs in the wrong place


def size_for(optimize: str, sentences: int | None = None, minutes: float | None = None) -> Size:
    """Return the sizes and the schedule for a number of training sentences. None: the number is not known.

    minutes (Optional[float]): Time for one pipeline, in minutes on one core. The schedule is then made for that.
    """
    if sentences is None:
        size = Size("About five minutes on one core, and enough for a thousand sentences", 2500)
    elif sentences < 100:
        size = Size("Enough for a hundred sentences", 1000, 1000, eval_frequency=100, projective=True)
        # In larger tables, most rows are never trained.
        size = size._replace(lstm_depth=1, rows=(1000, 500, 1000, 500), ngram_rows=3000)
    elif sentences < 600:
        size = Size("Enough for a few hundred sentences", 1500, 1000, eval_frequency=100)
    elif sentences < 3000:
        size = Size("Enough for three thousand sentences", 2500)
    elif sentences < 10000:
        size = Size("Enough for ten thousand sentences", 4000, batch=1500)
    else:
        size = Size("For more than ten thousand sentences", 12000, 3000, eval_frequency=500, batch=2000, divisions=1)
        size = size._replace(width=256, arc_width=256, rows=(20000, 2000, 5000, 5000), ngram_rows=20000)
    if optimize == "efficiency":
        steps = size.steps if sentences is not None and sentences < 600 else 8 * size.steps // 5
        size = size._replace(steps=steps, width=96, lstm_depth=1, arc_width=128)
    return size if minutes is None else _within(size, minutes)


def _within(size: Size, minutes: float) -> Size:
    """Return sizes with a schedule for so many minutes, of which the training has four fifths.

    The speed is a constant, so that the same command makes the same config everywhere: that of one core of an x86
    server, with all components and the evaluations on the development set.
    """
    words_per_second = 5000 * (160 / size.width) ** 1.75  # measured for widths of 96 and 160
    steps = int(max(FEWEST_STEPS, round(_steps_for(0.8 * 60 * minutes * words_per_second, size.batch), -1)))
    return size._replace(
        comment=f"About {minutes:g} minutes on one core, with all else that a build does",
        steps=steps,
        patience=max(size.patience, steps // 3),
        warmup=min(max(size.warmup, steps // 25), steps // 4),
        eval_frequency=min(steps, max(size.eval_frequency, steps // 2000 * 100)),
    )


def _steps_for(words: float, batch: int) -> float:
    """Return the number of steps that read so many words, in batches that grow from the template's 250 words."""
    start, growth = 250, 1.001
    to_read = words - (batch - start) / (growth - 1)  # after the growth, which is over when a batch has `batch` words
    if to_read < 0:
        return math.log1p(words * (growth - 1) / start) / math.log(growth)
    return math.log(batch / start) / math.log(growth) + to_read / batch


def make_config(
    lang: str,
    optimize: str,
    extras: list[str],
    transformer: str | None,
    *,
    whole_doc: bool = False,
    sentences: int | None = None,
    vectors: str | None = None,
    loss: str = "tree",
    curated: dict[str, Any] | None = None,
    tokenizer: str = "learnt",
    lexicons: Sequence[str] = (),
    minutes: float | None = None,
) -> str:
    """Return the text of the config.

    extras (list[str]): Components of EXTRAS to put before the scorer. Without a senter, whole_doc must be True.
    transformer (Optional[str]): Name of a pretrained model to use in place of the tok2vec.
    whole_doc (bool): Train on single sentences, and treat a Doc without sentence boundaries as one sentence.
    vectors (Optional[str]): Name or path of a pipeline whose word vectors are an input of the encoder.
    tokenizer (str): "learnt" from the training corpus, or "spacy" for spaCy's own.
    lexicons (Sequence[str]): Files of a lexicon that is an input of the encoder. See `arc_scorer.lexicon_files`.
    minutes (Optional[float]): See `size_for`.
    curated (Optional[dict]): The settings of the transformer for spacy-curated-transformers, as `curated_model` returns
        them. None: spacy-transformers is used.
    """
    extras = [name for name in EXTRAS if name in extras]
    options = [f"--lang {lang}"]
    if transformer:
        options.append(f"--transformer {shlex.quote(transformer)}")
    if curated:
        options.append("--curated")
    if optimize != "accuracy":
        options.append(f"--optimize {optimize}")
    if loss != "tree":
        options.append(f"--loss {loss}")
    if extras not in ([], ["senter"]):
        options.append(f"--pipeline {','.join(extras)}")
    if whole_doc:
        options.append("--whole-doc")
    if sentences is not None:
        options.append(f"--sentences {sentences}")
    if minutes is not None:
        options.append(f"--minutes {minutes:g}")
    if tokenizer != "learnt":
        options.append(f"--tokenizer {tokenizer}")
    if vectors:
        options.append(f"--vectors {shlex.quote(vectors)}")
    options += [f"--lexicon {shlex.quote(path)}" for path in lexicons]
    weights = _TREE_SCORES | {name: weight for extra in extras for name, weight in EXTRAS[extra].items()}
    of_trees = 1 - sum(filter(None, weights.values()))
    weights |= {"dep_uas": round(of_trees / 2, 3), "dep_las": round(of_trees / 2, 3)}
    return fill_template(
        "config.cfg.jinja",
        command=" ".join(["spacy mindroot init-config", *options]),
        lang=lang,
        accuracy=optimize == "accuracy",
        transformer=transformer,
        curated=curated,
        transformer_json=json.dumps(transformer, ensure_ascii=False),
        pipeline=["transformer" if transformer else "tok2vec", *extras, "arc_scorer", "mind_root"],
        score_weights=weights,
        whole_doc=whole_doc,
        learnt_tokenizer=tokenizer == "learnt",
        loss=loss,
        vectors=vectors,
        vectors_json=json.dumps(vectors, ensure_ascii=False),
        lexicons=list(lexicons),
        size=size_for(optimize, sentences, minutes),
        **_tokenizer_settings(lang, tokenizer),
    )


def read_config(path: Path) -> Config:
    """Return a training config, not interpolated. Raise CorpusError if spaCy can't read it."""
    try:
        config = util.load_config(path)
        str(config["nlp"]["lang"])
    except (ValueError, KeyError, TypeError, OSError, ConfigParserError) as error:
        raise CorpusError(f"{printable(path)} is not a config that spaCy can read: {error}") from error
    return config


def files_of(config: Config) -> list[str]:
    """Return the files that a config names, such as word vectors."""
    named = [*config.get("paths", {}).values(), *config.get("initialize", {}).values(), *lexicons_of(config)]
    return [value for value in named if isinstance(value, str) and value]


def lexicons_of(config: Config) -> list[str]:
    """Return the files of the lexicon that a config names."""
    callback = config.get("initialize", {}).get("before_init")
    if not isinstance(callback, dict) or callback.get("@callbacks") != "spacy-mindroot.set_lexicon.v1":
        return []
    files = config.interpolate()["initialize"]["before_init"].get("files")
    if not isinstance(files, list):
        raise CorpusError(f"files under [initialize.before_init] must be a list of paths, not {files!r}.")
    return list(map(str, files))


def fill_template(name: str, **values: Any) -> str:
    """Return the text that a template makes of some values."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name).render(**values)


def _tokenizer_settings(lang: str, tokenizer: str) -> dict[str, dict[str, str]]:
    """Return the sections of the tokenizer, as JSON. Vietnamese and some others have one of their own in spaCy."""
    settings, initialize = {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}, {}
    if tokenizer == "spacy":
        defaults = util.get_lang_class(lang).Defaults.config
        settings = defaults.get("nlp", {}).get("tokenizer", {"@tokenizers": "spacy.Tokenizer.v1"})
        initialize = defaults.get("initialize", {}).get("tokenizer", {})
    return {
        "tokenizer": {name: json.dumps(value) for name, value in settings.items()},
        "initialize_tokenizer": {name: json.dumps(value) for name, value in initialize.items()},
    }

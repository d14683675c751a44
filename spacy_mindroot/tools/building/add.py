"""`spacy mindroot add`: puts the trained parser of one pipeline into another, in place of the parser that it has."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from spacy.language import Language
from spacy.util import registry

from ...arc_scorer.average import replace_listeners
from ...arc_scorer.component import ArcScorer
from ...arc_scorer.lexicon import TABLE
from ...errors import MindRootError
from ...pipeline.scoring import find_mind_root
from .convert import DECODER, PARSERS, SCORER, SENTER, renamed

__all__ = ["Added", "add_parser"]

_FINDERS = (SENTER, "sentencizer")  # of sentences
_SCORES = ("dep_", "root_acc", "single_root", "sents_")  # of parsers, in the meta of a pipeline


class Added(NamedTuple):
    """A record of what `add_parser` has done."""

    removed: list[str]  # names of components
    added: list[str]
    differences: list[str]  # why trees may differ from those of the pipeline that the parser was trained in


def add_parser(source: Language, into: Language, *, senter: bool = True, tokenizer: bool = False) -> Added:
    """Put the `arc_scorer` and the `mind_root` of a pipeline into another, in place of its parser.

    The scorer gets its own copy of an encoder that it listened to, so that it parses as before. If there is no parser
    to replace, it comes last.

    source (Language): The pipeline with the parser. It can't be used any more.
    into (Language): The pipeline to change.
    senter (bool): Whether the `senter` or `sentencizer` of `source` comes along, and replaces those that there are.
        Without it, or if `source` has none, they stay, and the parser comes after them.
    """
    scorer = next((name for name, pipe in source.pipeline if isinstance(pipe, ArcScorer)), None)
    if scorer is None:
        raise MindRootError(f"The pipeline with the new parser has no arc_scorer, only {', '.join(source.pipe_names)}.")
    finders = _made_by(source, source.pipe_names[: source.pipe_names.index(scorer)], _FINDERS) if senter else []
    senter = bool(finders)  # otherwise, those of the other pipeline stay
    names = [*finders, scorer, find_mind_root(source)[0]]
    order = into.component_names
    old, kept = _made_by(into, order, (*PARSERS, SCORER, DECODER)), [] if senter else _made_by(into, order, _FINDERS)
    removed = _made_by(into, order, (*PARSERS, SCORER, DECODER, *(_FINDERS if senter else ())))
    taken = [name for name in names if name in order and name not in removed]
    if taken:
        raise MindRootError(f"Both pipelines have a component {taken[0]}. Rename one of them with nlp.rename_pipe.")
    place = order.index(old[0]) if old else len(order)
    if not senter:
        if kept:
            place = max(place, order.index(kept[0]) + 1)
        elif not source.get_pipe(scorer).whole_doc:
            raise MindRootError(
                "Only the parser that is replaced finds sentences. Take a senter from the pipeline with the new "
                "parser, or add a sentencizer first."
            )
    places = dict.fromkeys(names, place) | dict.fromkeys(finders, order.index(removed[0]) if removed else place)

    for name in names:
        replace_listeners(source, name)
    _share_vectors(source, into, names)
    _share_lexicon(source, into, names)
    for name in removed:
        into.remove_pipe(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W113\]")  # of other vectors, which don't matter here
        for name in names:
            before = next((each for each in order[places[name] :] if each not in removed), None)
            into.add_pipe(name, source=source, before=before)
    for name in {*names, *kept[:1]}.intersection(into.disabled):  # a new component is if an old one of its name was
        into.enable_pipe(name)
    _describe(source, into, old, removed, names)
    return Added(removed, names, _differences(source, into, tokenizer))


def _made_by(nlp: Language, names: list[str], factories: tuple[str, ...]) -> list[str]:
    return [name for name in names if nlp.get_pipe_meta(name).factory in factories]


def _share_vectors(source: Language, into: Language, names: list[str]) -> None:
    """Raise MindRootError if components need word vectors, and the other pipeline has others."""
    models = [getattr(source.get_pipe(name), "model", None) for name in names]
    needed = any(layer.name == "static_vectors" for model in models if model is not None for layer in model.walk())
    if needed and into.vocab.vectors != source.vocab.vectors:
        if len(into.vocab.vectors):
            raise MindRootError(
                "The parser needs the word vectors that it was trained with, but the pipeline to change has others. "
                "Train the parser with those: spacy mindroot init-config --vectors."
            )
        into.vocab.vectors = source.vocab.vectors


def _share_lexicon(source: Language, into: Language, names: list[str]) -> None:
    """Raise MindRootError if components need a lexicon, and the other pipeline has another."""
    models = [getattr(source.get_pipe(name), "model", None) for name in names]
    if any(layer.attrs.get("with_lexicon") for model in models if model is not None for layer in model.walk()):
        own, other = (nlp.vocab.lookups.get_table(TABLE, None) for nlp in (source, into))
        if other is not None and dict(other) != dict(own):
            raise MindRootError(
                "The parser needs the lexicon that it was trained with, but the pipeline to change has another. Train "
                "the parser with that (spacy mindroot init-config --lexicon), or add it before either lexicon is "
                "extended."
            )
        into.vocab.lookups.set_table(TABLE, own)


def _describe(source: Language, into: Language, old: list[str], removed: list[str], names: list[str]) -> None:
    """Let the config and the meta of the changed pipeline speak of the components that it has."""
    new = {name: names if name in old else names[:-2] for name in removed}
    training = into.config["training"]
    for key in ("frozen_components", "annotating_components"):
        if isinstance(training.get(key), list):
            training[key] = renamed(training[key], new)
    scores = source.meta.get("performance", {})
    into.meta["performance"] = {
        name: value for name, value in into.meta.get("performance", {}).items() if not name.startswith(_SCORES)
    } | {name: value for name, value in scores.items() if name.startswith(_SCORES)}
    if "calibration" in source.meta:
        into.meta["calibration"] = source.meta["calibration"]


def _differences(source: Language, into: Language, tokenizer: bool) -> list[str]:
    """Take the tokenizer if it is wanted, and return what is still different about tokens."""
    found = []
    own, other = into.tokenizer.to_bytes(exclude=["vocab"]), source.tokenizer.to_bytes(exclude=["vocab"])
    if tokenizer:
        settings = source.config.interpolate()["nlp"]["tokenizer"]
        into.config["nlp"]["tokenizer"] = settings
        into.tokenizer = registry.resolve({"tokenizer": settings})["tokenizer"](into).from_bytes(other)
    elif type(into.tokenizer) is not type(source.tokenizer) or own != other:
        found.append("text is divided into tokens by other rules (to take its own: --take-tokenizer).")
    if _norms(source) != _norms(into):
        found.append("words have other norms (lexeme_norm), by which it knows them.")
    return found


def _norms(nlp: Language) -> dict[int, str]:
    return dict(nlp.vocab.lookups.get_table("lexeme_norm", {}))

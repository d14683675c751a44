"""`spacy mindroot init-config --from`: a config of spacy-experimental's biaffine parser, converted.

`experimental_arc_predicter` becomes `arc_scorer`, and `experimental_arc_labeler` becomes `mind_root`. Everything else
stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from thinc.api import Config

from ..arc_scorer.component import DEFAULT_MODEL, DEFAULT_SETTINGS
from ..errors import MindRootError

__all__ = ["Conversion", "convert_config"]

PREDICTER, LABELER = "experimental_arc_predicter", "experimental_arc_labeler"
SCORER, DECODER = "arc_scorer", "mind_root"
_BILINEAR = {PREDICTER: ("PairwiseBilinear", 64), LABELER: ("Bilinear", 128)}  # with the default of hidden_width
_FINDS_SENTENCES = {"senter", "sentencizer", "parser"}
_NEW_SCORES = ("dep_uem", "dep_lem", "root_acc", "single_root")


class Conversion(NamedTuple):
    """A converted config.

    config (Config): The config, not interpolated.
    changes (list[str]): What has changed, one sentence or two each.
    problems (list[str]): What could not be converted or needs a look.
    """

    config: Config
    changes: list[str]
    problems: list[str]


def convert_config(config: Config) -> Conversion:
    """Convert a config that trains or assembles a pipeline with spacy-experimental's biaffine parser.

    config (Config): The config, not interpolated. It is not changed.
    RAISES (MindRootError): If there is no such parser in it, more than one, or one without an arc predicter.
    """
    return _Converter(config.copy()).run()


class _Converter:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.components: dict[str, Any] = config.get("components", {})
        self.changes: list[str] = []
        self.problems: list[str] = []

    def run(self) -> Conversion:
        predicter, labeler = self._named(PREDICTER), self._named(LABELER)
        if predicter is None:
            raise MindRootError(
                f"The config has no component {PREDICTER}"
                + (f", only {LABELER}, which labels the arcs of another parser." if labeler else ".")
                + " There is no parser to convert. For a new config, leave out --from."
            )
        taken = {SCORER, DECODER} & self.components.keys()
        if taken:
            raise MindRootError(f"The config has a component {taken.pop()} already. Rename or remove it.")
        old = self.components.pop(predicter)
        old_labeler = self.components.pop(labeler) if labeler else {}
        names = {predicter: SCORER} | ({labeler: DECODER} if labeler else {})
        if "source" in old:
            self._source(predicter, old, labeler, old_labeler)
        else:
            self.components[SCORER] = self._scorer(predicter, old, labeler, old_labeler)
            self.components[DECODER] = _decoder()
            self.changes.append(
                f"components.{DECODER}: decodes the best single-rooted tree and sets its labels. Its scorer leaves out "
                "punctuation, as before (ignore_punct)."
            )
        self._rename(names)
        self._scores()
        self._initialize(predicter, labeler)
        self._check_sentences()
        self._check_rest(names)
        return Conversion(self.config, self.changes, self.problems)

    def _named(self, factory: str) -> str | None:
        """Return the name of the component that a factory makes, or that comes from another pipeline."""
        found = [
            name
            for name, section in self.components.items()
            if isinstance(section, dict)
            and factory in (section.get("factory"), section.get("component", name) if "source" in section else None)
        ]
        if len(found) > 1:
            raise MindRootError(f"The config has several components {factory}: {', '.join(found)}. Remove all but one.")
        return found[0] if found else None

    def _scorer(
        self, name: str, old: dict[str, Any], labeler: str | None, old_labeler: dict[str, Any]
    ) -> dict[str, Any]:
        arcs, labels = old.get("model", {}), old_labeler.get("model", {})
        width, label_width = self._width(name, PREDICTER, arcs), self._width(labeler or LABELER, LABELER, labels)
        self.changes.append(
            f"components.{SCORER}: replaces {' and '.join(filter(None, [name, labeler]))}. arc_width = {width} and "
            f"label_width = {label_width} are their hidden widths; the weights of trained models can't be converted."
        )
        if not labeler:
            self.problems.append(f"There is no {LABELER}; {SCORER} also learns labels, so the data needs them.")
        tok2vec = arcs.get("tok2vec")
        if "tok2vec" in labels and labels["tok2vec"] != tok2vec:
            self.problems.append(
                f"components.{labeler}.model.tok2vec differs from that of {name}, which is kept: {SCORER} has one for "
                "arcs and labels."
            )
        self._dropped(name, old, {"factory", "model"}, arcs, {"@architectures", "tok2vec", "hidden_width", "nO"})
        self._dropped(
            labeler, old_labeler, {"factory", "model"}, labels, {"@architectures", "tok2vec", "hidden_width", "nO"}
        )
        model: dict[str, Any] = {
            "@architectures": "spacy-mindroot.Biaffine.v1",
            "arc_width": width,
            "label_width": label_width,
            "maxout_pieces": 2,
            "tag_width": 32,
            "nO": None,
        }
        if tok2vec is None:
            self.problems.append(
                f"components.{name}.model has no tok2vec, so {SCORER} gets spaCy's default, spacy.HashEmbedCNN.v2."
            )
            tok2vec = DEFAULT_MODEL["tok2vec"]
        return {
            "factory": SCORER,
            **DEFAULT_SETTINGS,
            "model": model | {"tok2vec": tok2vec},
        }

    def _width(self, name: str, factory: str, model: dict[str, Any]) -> Any:
        architecture, default = _BILINEAR[factory]
        found = model.get("@architectures")
        if found and not re.fullmatch(rf"spacy-experimental\.{architecture}\.v\d+", found):
            self.problems.append(
                f"components.{name}.model is {found}, not spacy-experimental's {architecture}. Only its tok2vec and "
                "hidden_width are taken over."
            )
        return model.get("hidden_width", default)

    def _dropped(
        self, name: str | None, old: dict[str, Any], kept: set[str], model: dict[str, Any], kept_of_model: set[str]
    ) -> None:
        dropped = [key for key in old if key not in kept]
        dropped += [f"model.{key}" for key in model if key not in kept_of_model]
        if dropped:
            self.changes.append(f"components.{name}: {', '.join(dropped)} dropped, since {SCORER} has no such setting.")
        if old.get("senter_name"):
            self.problems.append(
                f"components.{name} split long sentences where {old['senter_name']} was least sure (senter_name, "
                f"max_tokens). {SCORER} takes sentences as they are, up to max_length = 1000 tokens. "
                f"{old['senter_name']} no longer has to save its activations."
            )

    def _source(self, name: str, old: dict[str, Any], labeler: str | None, old_labeler: dict[str, Any]) -> None:
        new = {key: value for key, value in old.items() if key != "component"}
        self.components[SCORER] = new
        self.components[DECODER] = {"source": old_labeler.get("source", old["source"])}
        self.changes.append(
            f"components.{SCORER} and components.{DECODER}: taken from the pipelines that "
            f"{' and '.join(filter(None, [name, labeler]))} were taken from."
        )
        self.problems.append(
            f"The weights of {name} can't be converted. Convert the config of the pipeline at {old['source']}, "
            "too, and train it anew before you use this one."
        )

    def _rename(self, names: dict[str, str]) -> None:
        """Rename the components wherever they are named."""
        pipeline = [names.get(name, name) for name in self.config["nlp"].get("pipeline", [])]
        if DECODER in pipeline:  # right after the scorer, wherever the labeler was
            pipeline.remove(DECODER)
        if SCORER in pipeline:
            pipeline.insert(pipeline.index(SCORER) + 1, DECODER)
        self.config["nlp"]["pipeline"] = pipeline
        self.changes.append(f"nlp.pipeline: {', '.join(pipeline)}.")
        lists = [(self.config["nlp"], "nlp", "disabled")]
        if "training" in self.config:
            lists += [
                (self.config["training"], "training", key) for key in ("frozen_components", "annotating_components")
            ]
        for section, path, key in lists:
            value = section.get(key)
            if isinstance(value, list) and names.keys() & set(value):
                section[key] = [names.get(name, name) for name in value]
                self.changes.append(f"{path}.{key}: {', '.join(section[key])}.")
        annotating = self.config.get("training", {}).get("annotating_components")
        if annotating:
            self.changes.append(
                f"training.annotating_components is kept ({', '.join(annotating)}), but {SCORER} doesn't need it: in "
                "training, it takes the sentences of the corpus."
            )
        old_scorer = next(iter(names))
        for section, key, value in list(_strings(self.config)):
            renamed = value.replace(f"${{components.{old_scorer}.", f"${{components.{SCORER}.")
            if renamed != value:
                section[key] = renamed
                self.changes.append(f"{key} = {renamed}: refers to the new component.")

    def _scores(self) -> None:
        weights = self.config.get("training", {}).get("score_weights")
        if not isinstance(weights, dict):
            return
        bound = [name for name in weights if name.startswith("bound_dep")]
        for name in bound:
            weight = weights.pop(name)
            plain = name.removeprefix("bound_")
            if weight:  # what counted goes on counting
                weights[plain] = round((weights.get(plain) or 0.0) + weight, 4)
        for name in _NEW_SCORES:
            weights.setdefault(name, 0.0)
        self.changes.append(
            f"training.score_weights: {', '.join(_NEW_SCORES)} are reported, with weight 0."
            + (f" The weights of {', '.join(bound)} were added to dep_uas and dep_las." if bound else "")
        )

    def _initialize(self, predicter: str, labeler: str | None) -> None:
        sections = self.config.get("initialize", {}).get("components", {})
        sections.pop(predicter, None)
        settings = sections.pop(labeler, None) if labeler else None
        if settings:
            sections[SCORER] = settings
            self.changes.append(f"initialize.components.{SCORER}: that of {labeler}.")

    def _check_sentences(self) -> None:
        pipeline = self.config["nlp"]["pipeline"]
        before = pipeline[: pipeline.index(SCORER)] if SCORER in pipeline else []
        factories = {self.components.get(name, {}).get("factory", name) for name in before}
        if SCORER in pipeline and not factories & _FINDS_SENTENCES:
            self.problems.append(
                f"No senter, sentencizer or parser comes before {SCORER}, which works sentence by sentence. Add one."
            )

    def _check_rest(self, names: dict[str, str]) -> None:
        for _, key, value in _strings(self.config):
            if key == "factory" and value == "experimental_edit_tree_lemmatizer":
                self.problems.append(f"{key} = {value}: spaCy has this component now, as trainable_lemmatizer.")
            elif value.startswith("spacy-experimental.") or (key == "factory" and value.startswith("experimental_")):
                self.problems.append(f"{key} = {value} still needs spacy-experimental.")
            self.problems += [
                f"{key} = {value} refers to {old}, which no longer exists."
                for old in names
                if f"components.{old}." in value
            ]


def _decoder() -> dict[str, Any]:
    return {
        "factory": DECODER,
        "scores": {"@misc": "spacy-mindroot.doc_arc_scores.v1", "layout": "root_column"},
        "keep_scores": False,
        "projective": False,
        "kbest": 1,
        "confidence": False,
        "root_label": "ROOT",
        "fallback_label": "dep",
        "scorer": {"@scorers": "spacy-mindroot.tree_scorer.v1", "ignore_punct": True},
    }


def _strings(section: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each setting that is a string, with the section it is in."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _strings(value)
        elif isinstance(value, str):
            yield section, key, value

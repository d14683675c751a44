"""`spacy mindroot init-config --from`: a config with another parser, converted.

spaCy's `parser`, or the predicter and labeler of spacy-experimental and its successor spacy-biaffine-parser, become
`arc_scorer` and `mind_root`. Everything else stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from spacy.language import Language
from thinc.api import Config

from ...arc_scorer.component import DEFAULT_MODEL, DEFAULT_SETTINGS
from ...errors import MindRootError

__all__ = ["Conversion", "convert_config", "renamed"]

PREDICTERS = ("experimental_arc_predicter", "arc_predicter")  # spacy-experimental's, spacy-biaffine-parser's
LABELERS = ("experimental_arc_labeler", "arc_labeler")
PARSERS = ("parser", "beam_parser")  # spaCy's own
SCORER, DECODER, SENTER = "arc_scorer", "mind_root", "senter"
# The architecture of each, and the default of hidden_width.
_BILINEAR = dict.fromkeys(PREDICTERS, ("PairwiseBilinear", 64)) | dict(
    zip(LABELERS, (("Bilinear", 128), ("Bilinear", 64)), strict=True)
)
_FINDS_SENTENCES = {SENTER, "sentencizer", *PARSERS}
_NO_SETTINGS = {"factory", "model", "model.@architectures", "model.tok2vec", "model.nO"}
_NEW_SCORES = ("dep_uem", "dep_lem", "root_acc", "single_root")


class Conversion(NamedTuple):
    """A converted config."""

    config: Config
    changes: list[str]  # what has changed, one sentence or two each
    problems: list[str]  # what could not be converted or needs a look


def convert_config(config: Config) -> Conversion:
    """Convert a config, not interpolated, that has spaCy's parser or explosion's biaffine one. It is not changed."""
    return _Converter(config.copy()).run()


class _Converter:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.components: dict[str, Any] = config.get("components", {})
        self.changes: list[str] = []
        self.problems: list[str] = []

    def run(self) -> Conversion:
        parser, labeler = self._named(*PREDICTERS), self._named(*LABELERS)
        self.of_spacy = parser is None
        if parser is None:
            parser = self._named(*PARSERS)
        if parser is None or (self.of_spacy and labeler):
            raise MindRootError(
                f"The config has no {' or '.join(PREDICTERS)}, only {labeler}, which labels the arcs of another parser."
                if labeler
                else f"There is no parser to convert: no component is a {', '.join((*PARSERS, *PREDICTERS))}. "
                "For a new config, leave out --from."
            )
        taken = {SCORER, DECODER} & self.components.keys()
        if taken:
            raise MindRootError(f"The config has a component {taken.pop()} already. Rename or remove it.")
        old = self.components.pop(parser)
        old_labeler = self.components.pop(labeler) if labeler else {}
        names = {parser: [SCORER], labeler: [DECODER]} if labeler else {parser: [SCORER, DECODER]}
        if "source" in old:
            self._source(parser, old, labeler, old_labeler)
        else:
            self.components[SCORER] = self._scorer(parser, old, labeler, old_labeler)
            self.components[DECODER] = _component(DECODER)
            self.components[DECODER]["scorer"]["ignore_punct"] = True
            self.changes.append(
                f"components.{DECODER}: decodes the best single-rooted tree and sets its labels. Its scorer leaves out "
                "punctuation, as before (ignore_punct)."
            )
        self._rename(parser, names)
        self._scores()
        self._initialize(parser, labeler)
        self._check_rest(names)
        return Conversion(self.config, self.changes, self.problems)

    def _factory(self, name: str) -> str | None:
        """Return the factory of a component, or what a component from another pipeline is called there."""
        section = self.components.get(name)
        if not isinstance(section, dict):
            return None
        return section.get("component", name) if "source" in section else section.get("factory")

    def _named(self, *factories: str) -> str | None:
        """Return the name of the component that one of the factories makes, or that comes from another pipeline."""
        found = [name for name in self.components if self._factory(name) in factories]
        if len(found) > 1:
            raise MindRootError(
                f"The config has several components {' or '.join(factories)}: {', '.join(found)}. Remove all but one."
            )
        return found[0] if found else None

    def _scorer(
        self, name: str, old: dict[str, Any], labeler: str | None, old_labeler: dict[str, Any]
    ) -> dict[str, Any]:
        arcs, labels = old.get("model", {}), old_labeler.get("model", {})
        replaced = f"components.{SCORER}: replaces {' and '.join(filter(None, [name, labeler]))}."
        lost = "the weights of trained models can't be converted."
        if self.of_spacy:
            width, label_width = DEFAULT_MODEL["arc_width"], DEFAULT_MODEL["label_width"]
            dropped = [key for key in (*old, *(f"model.{key}" for key in arcs)) if key not in _NO_SETTINGS]
            self.changes.append(
                f"{replaced} Its tok2vec is kept, and its settings ({', '.join(dropped)}) are dropped; {lost}"
            )
        else:
            width = self._width(name, old["factory"], arcs)
            label_width = self._width(labeler, old_labeler.get("factory", LABELERS[0]), labels)
            self.changes.append(
                f"{replaced} arc_width = {width} and label_width = {label_width} are their hidden widths; {lost}"
            )
            self._dropped(name, old, arcs)
            self._dropped(labeler, old_labeler, labels)
            if not labeler:
                self.problems.append(f"There is no labeler; {SCORER} also learns labels, so the data needs them.")
        tok2vec = arcs.get("tok2vec")
        if "tok2vec" in labels and labels["tok2vec"] != tok2vec:
            self.problems.append(
                f"components.{labeler}.model.tok2vec differs from that of {name}, which is kept: {SCORER} has one for "
                "arcs and labels."
            )
        if tok2vec is None:
            self.problems.append(
                f"components.{name}.model has no tok2vec, so {SCORER} gets spaCy's default, spacy.HashEmbedCNN.v2."
            )
            tok2vec = DEFAULT_MODEL["tok2vec"]
        model = DEFAULT_MODEL | {"arc_width": width, "label_width": label_width, "tok2vec": tok2vec}
        return {"factory": SCORER, **DEFAULT_SETTINGS, "model": model}

    def _width(self, name: str | None, factory: str, model: dict[str, Any]) -> Any:
        architecture, default = _BILINEAR[factory]
        found = model.get("@architectures")
        if found and not re.fullmatch(rf"spacy-(experimental|biaffine-parser)\.{architecture}\.v\d+", found):
            self.problems.append(
                f"components.{name}.model is {found}, not explosion's {architecture}. Only its tok2vec and "
                "hidden_width are taken over."
            )
        return model.get("hidden_width", default)

    def _dropped(self, name: str | None, old: dict[str, Any], model: dict[str, Any]) -> None:
        kept = {*_NO_SETTINGS, "model.hidden_width"}
        dropped = [key for key in (*old, *(f"model.{key}" for key in model)) if key not in kept]
        if dropped:
            self.changes.append(f"components.{name}: {', '.join(dropped)} dropped, since {SCORER} has no such setting.")
        if old.get("senter_name"):
            self.problems.append(
                f"components.{name} split long sentences where {old['senter_name']} was least sure (senter_name, "
                f"max_tokens). {SCORER} takes sentences as they are, up to max_length = 1000 tokens."
            )
        for other, section in self.components.items():
            if section.pop("save_activations", None) is not None:  # which spaCy 3.8 does not have
                self.changes.append(f"components.{other}: save_activations dropped, since spaCy 3 has no such setting.")

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

    def _rename(self, parser: str, names: dict[str, list[str]]) -> None:
        """Rename the components wherever they are named, and see to the sentences."""
        nlp, training = self.config["nlp"], self.config.get("training", {})
        pipeline = renamed(nlp.get("pipeline", []), names)
        if SCORER in pipeline:
            pipeline.remove(DECODER)  # it comes right after the scorer, wherever the labeler was
            pipeline.insert(pipeline.index(SCORER) + 1, DECODER)
            before = pipeline[: pipeline.index(SCORER)]
            disabled = nlp.get("disabled") or []
            if not any(self._factory(name) in _FINDS_SENTENCES and name not in disabled for name in before):
                senter = self._senter(parser, disabled) if self.of_spacy else None
                if senter is None:
                    self.problems.append(
                        f"No senter, sentencizer or parser comes before {SCORER}, which works sentence by sentence. "
                        "Add one."
                    )
                else:
                    pipeline = [name for name in pipeline if name != senter]
                    pipeline.insert(pipeline.index(SCORER), senter)
                    names = {parser: [senter, *names[parser]]}  # where the parser is named, the senter is needed, too
        nlp["pipeline"] = pipeline
        self.changes.append(f"nlp.pipeline: {', '.join(pipeline)}.")
        lists = [(nlp, "nlp", "disabled")]
        lists += [(training, "training", key) for key in ("frozen_components", "annotating_components")]
        for section, path, key in lists:
            value = section.get(key)
            if isinstance(value, list) and names.keys() & set(value):
                section[key] = renamed(value, names)
                self.changes.append(f"{path}.{key}: {', '.join(section[key])}.")
        if training.get("annotating_components") and not self.of_spacy:
            self.changes.append(
                f"training.annotating_components is kept ({', '.join(training['annotating_components'])}), but "
                f"{SCORER} doesn't need it: in training, it takes the sentences of the corpus."
            )
        for section, key, value in list(_strings(self.config)):
            new = re.sub(rf"\$\{{components\.{re.escape(parser)}(?=[.:}}])", f"${{components.{SCORER}", value)
            if new != value:
                section[key] = new
                self.changes.append(f"{key} = {new}: refers to the new component.")

    def _senter(self, parser: str, disabled: list[str]) -> str | None:
        """Return the name of a senter for the place before the scorer: one that the config has, or a new one."""
        found = [name for name in self.components if self._factory(name) == SENTER]
        if found:
            if found[0] in disabled:
                disabled.remove(found[0])
            self.changes.append(f"components.{found[0]}: comes before {SCORER}, which works sentence by sentence.")
            return found[0]
        if SENTER in self.components:
            return None
        scorer = self.components[SCORER]
        if "source" in scorer:
            self.components[SENTER] = {"source": scorer["source"]}
        else:
            self.components[SENTER] = _component(SENTER)
            encoder = scorer["model"]["tok2vec"]
            if "Transformer" in encoder.get("@architectures", ""):
                self.components[SENTER]["model"]["tok2vec"] = deepcopy(encoder)
        self.changes.append(
            f"components.{SENTER}: added. It finds the sentences, which {parser} found itself; {SCORER} works sentence "
            "by sentence."
        )
        return SENTER

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

    def _initialize(self, parser: str, labeler: str | None) -> None:
        sections = self.config.get("initialize", {}).get("components", {})
        settings = sections.pop(parser, None)
        if not self.of_spacy:
            settings = sections.pop(labeler, None) if labeler else None
        elif settings:  # spaCy's labels of a parser are its transitions
            path = str(settings.get("labels", {}).get("path"))
            settings = None
            if path.endswith(f"{parser}.json"):
                path = path.removesuffix(f"{parser}.json") + f"{SCORER}.json"
                settings = {"labels": {"@readers": "spacy.read_labels.v1", "path": path, "require": False}}
            self.changes.append(
                f"initialize.components.{parser}: its labels were transitions. {SCORER} takes "
                + (f"labels from {path}, if you make it with `spacy init labels`; or " if settings else "")
                + "its labels from the training data."
            )
        if settings:
            sections[SCORER] = settings
            if not self.of_spacy:
                self.changes.append(f"initialize.components.{SCORER}: that of {labeler}.")

    def _check_rest(self, names: dict[str, list[str]]) -> None:
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
            for path in re.findall(rf"\$\{{(components\.{SCORER}[\w.:]*)\}}", value):
                if not _exists(self.config, re.split("[.:]", path)):
                    self.problems.append(f"{key} = {value}: {SCORER} has no such setting.")


def _component(factory: str) -> dict[str, Any]:
    """Return the section of a component with the default settings."""
    known = Language()  # knows all factories, and the class those that have been imported
    return {"factory": factory, **deepcopy(known.get_factory_meta(factory).default_config)}


def renamed(names: list[str], new: dict[str, list[str]]) -> list[str]:
    """Return names of components with those that replace them, each once."""
    return list(dict.fromkeys(to for name in names for to in new.get(name, [name])))


def _exists(section: Any, path: list[str]) -> bool:
    for name in path:
        if not isinstance(section, dict) or name not in section:
            return False
        section = section[name]
    return True


def _strings(section: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each setting that is a string, with the section it is in."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _strings(value)
        elif isinstance(value, str):
            yield section, key, value

"""The meta.json and the model card (README.md) of a pipeline."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version as version_of
from typing import Any

from spacy.cli.package import get_third_party_dependencies
from spacy.language import Language
from spacy.util import get_minor_version_range

from ...arc_scorer.lexicon import describe_lexicon
from ..calibration import promise_of
from .config import fill_template
from .training import Trained
from .treebank import Treebank

__all__ = ["Description", "licences_of", "make_card", "make_meta"]

_UNKNOWN = "unknown"
# The licences that model hubs know, of those that treebanks have; how people write them; and words that say no more.
_HUB_LICENCES = re.compile(
    r"cc-by-(nc-(sa-)?)?[234]\.0|cc-by-2\.5|cc-by-(sa|nc-nd)-[34]\.0|cc-by-nd-4\.0|cc0-1\.0|mit|apache-2\.0|"
    r"gpl-[23]\.0|lgpl-(2\.1|3\.0|lr)|agpl-3\.0"
)
_WRITTEN = {
    r"creative\W*commons": "cc", r"share\W*alike": "sa", r"non\W*commercial": "nc", r"no\W*deriv\w*": "nd",
    r"attribution": "by", r"cc\W*(zero|0)(\W*1\.0)?": "cc0-1.0", r"\b([al]?gpl)(v?\d)": r"\1 \2",
    r"affero\W*general\W*public": "agpl", r"lesser\W*general\W*public": "lgpl", r"general\W*public": "gpl",
    r"\bv(?=\d)|\b(or\W*later|only|gnu|licen[sc]e|version|international|unported|universal|the)\b|\+": " ",
}  # fmt: skip
_ORDER = ("cc", "by", "nc", "nd", "sa")


@dataclass
class Description:
    """A description of a pipeline by its user."""

    name: str  # of the package, without its language, such as "gum_sm"
    version: str = "0.1.0"
    description: str = ""
    author: str = ""
    email: str = ""
    url: str = ""
    licence: str = ""  # "" for those of the treebank, of related ones and of the lexicon


def make_meta(nlp: Language, treebank: Treebank, about: Description, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of meta.json. The scores are evaluations, as `report.to_json` gives them, by their names."""
    meta = dict(nlp.meta)
    performance = dict(meta.get("performance") or {})
    for name, found in scores.items():
        key = name.replace(" ", "_")
        performance[key] = {metric: found["official"][metric]["f1"] for metric in found["official"]}
    lexicon = describe_lexicon(nlp.vocab)
    related = [] if treebank.mixture is None else treebank.mixture.related
    sources = [(treebank.name, about.url, treebank.licence), *((each.name, "", each.licence) for each in related)]
    sources += [(each.get("source", each["name"]), each.get("url", ""), each.get("licence", "")) for each in lexicon]
    given = asdict(about)
    del given["licence"]
    return (
        meta
        | given
        | {
            "description": about.description or _description(nlp, treebank),
            "license": about.licence or " and ".join(licence or _UNKNOWN for licence in licences_of(treebank, lexicon)),
            "spacy_version": get_minor_version_range(version_of("spacy")),
            "sources": [
                {"name": name, "url": url, "license": licence or _UNKNOWN, "author": ""}
                for name, url, licence in sources
            ],
            "requirements": sorted(get_third_party_dependencies(nlp.config.interpolate())),
            "performance": performance,
        }
    )


def licences_of(treebank: Treebank, lexicon: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the different licences of a treebank, related ones and a lexicon; "" for one that is unknown."""
    related = [] if treebank.mixture is None else treebank.mixture.related
    of_each = (treebank.licence, *(each.licence for each in related), *(each.get("licence", "") for each in lexicon))
    return list(dict.fromkeys(of_each))


def make_card(
    meta: Mapping[str, Any],
    treebank: Treebank,
    trained: Trained,
    scores: Mapping[str, Any],
    example: str,
    lexicon: Sequence[Mapping[str, Any]] = (),
    **facts: Any,
) -> str:
    """Return the model card, in Markdown, with the header that model hubs read.

    lexicon (Sequence[Mapping[str, Any]]): The files of the lexicon, as by `describe_lexicon`.
    **facts (Any): `evaluated_on`, the part of the treebank; `megabytes`; `speed`, in tokens per second of CPU time, 0
        if it is not measured; `taught`, what teachers have labelled for a student, or None; and `known`, the share of
        the words of each part that the lexicon has.
    """
    package = f"{meta['lang']}_{meta['name']}"
    gold = scores.get("gold tokens")
    return fill_template(
        "card.md.jinja",
        package=package,
        wheel=f"{package}-{meta['version']}-py3-none-any.whl",
        meta=meta,
        lexicon=[{**each, "licence": each.get("licence", _UNKNOWN)} for each in lexicon],
        hub_licence=_hub_licence(str(meta["license"])),
        treebank=treebank,
        training=trained,
        scores=scores,
        metrics=[*{metric: None for found in scores.values() for metric in found["official"]}],
        sure=gold["measures"]["calibration"] if gold else None,
        promises=[text for own in (meta.get("calibration") or {}).values() if (text := promise_of(own["sentences"]))],
        example=json.dumps(example, ensure_ascii=False),
        **facts,
    )


def _hub_licence(name: str) -> str:
    """Return the name that model hubs have for a licence: `CC BY-SA 4.0` is `cc-by-sa-4.0`; "other" without one."""
    written = name.lower()
    for pattern, short in _WRITTEN.items():
        written = re.sub(pattern, short, written)
    words = re.findall(r"[^\s,()_/-]+", written)
    parts = [word for word in _ORDER if word in words] + [word for word in words if word not in _ORDER]
    slug = re.sub(r"-(\d)$", r"-\1.0", "-".join(dict.fromkeys(parts)))
    return slug if slug == _UNKNOWN or _HUB_LICENCES.fullmatch(slug) else "other"


def _description(nlp: Language, treebank: Treebank) -> str:
    parts = {
        "senter": "sentences",
        "tagger": "tags",
        "morphologizer": "parts of speech and features",
        "trainable_lemmatizer": "lemmas",
    }
    names = [text for component, text in parts.items() if component in nlp.pipe_names]
    whole = " and ".join(filter(None, [", ".join(names), "dependency trees with exactly one root"]))
    return f"{whole[0].upper()}{whole[1:]}, learnt from {treebank.name}."

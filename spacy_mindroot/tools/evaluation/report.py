"""An evaluation: the official scores and our own measures, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...conllu import Sentence
from ...errors import CorpusError
from .measures import Measures, measure
from .official import OfficialScore, official_scores

__all__ = [
    "COST_HEADER",
    "OFFICIAL_HEADER",
    "Evaluation",
    "Rows",
    "cost_rows",
    "evaluate",
    "measure_rows",
    "official_rows",
    "to_json",
]

Rows = list[tuple[str, ...]]

COST_HEADER = ("F1", "raw text", "gold tokens and sentences", "difference")
OFFICIAL_HEADER = ("CoNLL 2018", "precision", "recall", "F1", "of aligned words")


@dataclass(frozen=True)
class Evaluation:
    """A system's output on a treebank, evaluated."""

    official: dict[str, OfficialScore]  # of the CoNLL 2018 script: see `official.METRICS`
    measures: Measures  # what the script lacks


def evaluate(gold: Sequence[Sentence], system: Sequence[Sentence]) -> Evaluation:
    """Evaluate a system's output, another division of the same text into sentences and words."""
    for name, sentences in (("treebank", gold), ("output", system)):
        if not sentences:
            raise CorpusError(f"There are no sentences in the {name}.")
    return Evaluation(official_scores(gold, system), measure(gold, system))


def official_rows(evaluation: Evaluation) -> Rows:
    """Return the rows of the first table: each metric with precision, recall, F1 and accuracy on aligned words."""
    return [
        (name, *(f"{100 * value:.2f}" for value in score[:3]), "" if score.aligned is None else _percent(score.aligned))
        for name, score in evaluation.official.items()
    ]


def measure_rows(evaluation: Evaluation) -> Rows:
    """Return the rows of the second table: a name and a value each."""
    own = evaluation.measures
    recall = "" if own.nonprojective_recall is None else f" ({_percent(own.nonprojective_recall)} % of gold's found)"
    rows: Rows = [
        ("sentences: gold, output", f"{own.sentences:,}, {own.system_sentences:,}"),
        ("words: gold, output", f"{own.words:,}, {own.system_words:,}"),
        ("multiword tokens in gold", f"{own.multiword_tokens:,}"),
        ("LAS, subtypes included", _percent(own.las_with_subtypes)),
        ("exact match: unlabelled, labelled", f"{_percent(own.exact_match)}, {_percent(own.labelled_exact_match)}"),
        ("root accuracy", _percent(own.root_accuracy)),
        ("single-rooted trees", _percent(own.single_root)),
        ("non-projective arcs: gold, output", f"{own.nonprojective:,}, {own.system_nonprojective:,}{recall}"),
    ]
    if own.calibration is not None:
        found = own.calibration
        rows += [
            (
                "heads with a probability: right, mean probability",
                f"{_percent(found.right)}, {_percent(found.mean_probability)}",
            ),
            ("calibration error of heads (ECE), points", _percent(found.error)),
        ]
    return rows


def cost_rows(raw: Evaluation, gold: Evaluation) -> Rows:
    """Return the rows of the third table: F1 from raw text, from gold tokens and sentences, and the difference."""
    names = [name for name in gold.official if name in ("UPOS", "UFeats", "Lemmas", "UAS", "LAS")]
    pairs = [(raw.official[name].f1, gold.official[name].f1) for name in names]
    return [
        (name, _percent(own), _percent(best), _percent(best - own))
        for name, (own, best) in zip(names, pairs, strict=True)
    ]


def to_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON: `official`, with F1 and the rest for each metric, and `measures`; from 0 to 1."""
    return {
        "official": {name: score._asdict() for name, score in evaluation.official.items()},
        "measures": asdict(evaluation.measures),
    }


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"

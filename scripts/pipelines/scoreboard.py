"""The scoreboard: the runs in a file and published figures, as a page of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import srsly

from spacy_mindroot.tools.audit.report import markdown_table

from .contestants import BUILT

__all__ = ["TREEBANKS", "Row", "config_number", "is_current", "read_runs", "rows_of", "to_page"]

# Increase the number when `init-config` gives our contestants other settings for less than so many training sentences:
# runs with the old ones are then made again.
_CONFIGS = ((100, 7), (float("inf"), 5))
_MIXED = 6  # the same for a training set with related treebanks

_HERE = Path(__file__).parent

TREEBANKS = (
    *("Afrikaans-AfriBooms", "Irish-IDT", "Vietnamese-VTB", "Hungarian-Szeged", "Turkish-IMST", "English-GUM"),
    *("Marathi-UFAL", "Lithuanian-HSE", "Kazakh-KTB", "Upper_Sorbian-UFAL", "Kurmanji-MG"),
)


class Row(NamedTuple):
    """The runs on a treebank with one budget.

    treebank (str): Its name, without `UD_`.
    sentences (int): Training sentences.
    budget (float): CPU seconds of training.
    runs (dict[str, list[dict]]): The runs of each contestant.
    """

    treebank: str
    sentences: int
    budget: float
    runs: dict[str, list[dict[str, Any]]]

    def score(self, contestant: str, mode: str, *keys: str) -> float | None:
        """Return the mean of a figure over seeds, in percent; None if a run is missing or failed."""
        values = []
        for run in self.runs.get(contestant, []):
            value: Any = run[mode]
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            if value is None:
                return None
            values.append(value)
        return 100 * mean(values) if values else None

    def fact(self, contestant: str, name: str) -> float | None:
        """Return the mean of a fact about the runs over seeds."""
        values = [run[name] for run in self.runs.get(contestant, [])]
        return mean(values) if values else None


def read_runs(path: Path) -> list[dict[str, Any]]:
    """Return the runs in a file. Of several with the same treebank, contestant, seed and budget, the last counts."""
    runs = {}
    for run in srsly.read_jsonl(path):
        runs[run["treebank"], run["contestant"], run["seed"], run["budget"]] = run
    return list(runs.values())


def config_number(sentences: int, *, mixed: bool = False) -> int:
    """Return the number of the config that our contestants have now for some training sentences."""
    return _MIXED if mixed else next(number for limit, number in _CONFIGS if sentences < limit)


def is_current(run: dict[str, Any]) -> bool:
    """Whether a run was made with the config that its contestant has now."""
    now = config_number(run["sentences"], mixed="mixture" in run)
    return bool(run["contestant"] in ("spacy", "udpipe") or run.get("config") == now)


def rows_of(runs: Sequence[dict[str, Any]]) -> list[Row]:
    """Return the runs by treebank and budget, in the order of TREEBANKS; other treebanks follow.

    Runs with different budgets are never in one row. If a treebank has rows with several contestants, those with only
    one are left out: there is nothing to compare them with. `built` is not a contestant here: see `_built`.
    """
    rows = _grouped([run for run in runs if run["contestant"] != BUILT])
    compared = {row.treebank for row in rows if len(row.runs) > 1}
    return [row for row in rows if row.treebank not in compared or len(row.runs) > 1]


def _grouped(runs: Sequence[dict[str, Any]]) -> list[Row]:
    groups: dict[tuple[str, float], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    sentences = {}
    for run in runs:
        groups[run["treebank"], run["budget"]][run["contestant"]].append(run)
        sentences[run["treebank"]] = run["sentences"]
    order = {name: i for i, name in enumerate(TREEBANKS)}
    keys = sorted(groups, key=lambda key: (order.get(key[0], len(order)), key))
    return [Row(name, sentences[name], budget, dict(groups[name, budget])) for name, budget in keys]


def to_page(runs: Sequence[dict[str, Any]]) -> str:
    """Return the scoreboard as a page of the documentation."""
    published = srsly.read_json(_HERE / "published.json")
    rows = rows_of(runs)
    complete = {row.treebank for row in rows if {"mindroot", "spacy"} <= set(row.runs)}
    missing = [name for name in TREEBANKS if name not in complete]
    return (
        (_HERE / "scoreboard.md")
        .read_text("utf8")
        .format(
            gold=_table(_GOLD_HEADER, [_gold(row, published["udpipe"]) for row in rows]),
            raw=_raw(rows, published["stanza"]),
            averaged=_averaged(rows),
            built=_built(runs, rows, published["stanza"]),
            related=_related(rows),
            pipelines=_table(_PIPELINE_HEADER, [_pipeline(row) for row in rows]),
            summary="\n".join(f"- {line}" for line in _summary(rows)),
            missing=f"{', '.join(missing)}." if missing else "none.",
            notes=_notes(rows),
            udpipe=published["sources"]["udpipe"],
            udpipe_here=_UDPIPE_HERE if any("udpipe" in row.runs for row in rows) else "",
            stanza=published["sources"]["stanza"],
        )
    )


_GOLD_HEADER = (
    "treebank",
    "training sentences",
    "CPU minutes",
    "seeds",
    "ours",
    "exact",
    "spaCy",
    "exact",
    "UDPipe 1.2",
)
_UDPIPE_HERE = (
    "\n- **UDPipe 1**: its tokenizer, tagger and parser with their defaults, without vectors, trained on the same "
    "data, without a time limit.\n"
)
_SHOWN = {"mindroot": "ours", "spacy": "spaCy", "udpipe": "UDPipe 1"}
_PIPELINE_HEADER = (
    "treebank",
    "UPOS: ours",
    "spaCy",
    "UFeats: ours",
    "spaCy",
    "Lemmas: ours",
    "spaCy",
    "one root: ours",
    "spaCy",
)


def _gold(row: Row, published: dict[str, list[float]]) -> tuple[str, ...]:
    return (
        row.treebank,
        f"{row.sentences:,}",
        f"{row.budget / 60:g}",
        "/".join(str(len(row.runs.get(name, []))) for name in ("mindroot", "spacy")),
        _trees(row, "mindroot", "gold"),
        _shown(row.score("mindroot", "gold", "measures", "exact_match")),
        _trees(row, "spacy", "gold"),
        _shown(row.score("spacy", "gold", "measures", "exact_match")),
        _pair(published.get(row.treebank)),
    )


def _raw(rows: Sequence[Row], published: dict[str, list[float]]) -> str:
    """Return a table of the scores from raw text. UDPipe has columns if there are runs of it."""
    names = [name for name in _SHOWN if name != "udpipe" or any(name in row.runs for row in rows)]
    ours, *others = (_SHOWN[name] for name in names)
    header = ["treebank"]
    for group in ("words: ", "sentences: ", ""):  # UAS / LAS, as the heading says
        header += [f"{group}{ours}", *others]
    header += ["Stanza 1.0", f"MLAS: {ours}", *others]
    table = [
        (
            row.treebank,
            *(_shown(row.score(name, "raw", "official", "Words", "f1")) for name in names),
            *(_shown(row.score(name, "raw", "official", "Sentences", "f1")) for name in names),
            *(_trees(row, name, "raw") for name in names),
            _pair(published.get(row.treebank)),
            *(_shown(row.score(name, "raw", "official", "MLAS", "f1")) for name in names),
        )
        for row in rows
    ]
    return _table(tuple(header), table)


def _pipeline(row: Row) -> tuple[str, ...]:
    both = ("mindroot", "spacy")
    metrics = ("UPOS", "UFeats", "Lemmas")
    return (
        row.treebank,
        *(_shown(row.score(name, "gold", "official", metric, "f1")) for metric in metrics for name in both),
        *(_shown(row.score(name, "raw", "measures", "single_root")) for name in both),
    )


def _summary(rows: Sequence[Row]) -> list[str]:
    """Return what the tables say, counted."""
    lines = []
    for mode, metric, text in (
        ("gold", ("official", "UAS", "f1"), "UAS on gold tokens"),
        ("gold", ("official", "LAS", "f1"), "LAS on gold tokens"),
        ("gold", ("measures", "exact_match"), "exact match on gold tokens"),
        ("gold", ("official", "UPOS", "f1"), "UPOS on gold tokens"),
        ("gold", ("official", "UFeats", "f1"), "features on gold tokens"),
        ("gold", ("official", "Lemmas", "f1"), "lemmas on gold tokens"),
        ("raw", ("official", "LAS", "f1"), "LAS from raw text"),
        ("raw", ("official", "Sentences", "f1"), "sentences from raw text"),
    ):
        pairs = [(row.score("mindroot", mode, *metric), row.score("spacy", mode, *metric)) for row in rows]
        differences = [ours - theirs for ours, theirs in pairs if ours is not None and theirs is not None]
        if differences:
            better = sum(difference > 0 for difference in differences)
            lines.append(
                f"{text}: ours is higher than spaCy's on {better} of {len(differences)} treebanks; the "
                f"differences are {min(differences):+.1f} to {max(differences):+.1f} points."
            )
    return lines or ["No treebank has runs of both contestants yet."]


_RELATED_HEADER = (
    "treebank",
    "with",
    "CPU minutes",
    "gold: alone",
    "with",
    "raw: alone",
    "with",
    "UFeats: alone",
    "with",
)


def _related(rows: Sequence[Row]) -> str:
    """Return a table of the treebanks that were trained with related ones, too."""
    mixed = [row for row in rows if "related" in row.runs]
    if not mixed:
        return "There are no runs yet."
    return _table(_RELATED_HEADER, [_mixed(row) for row in mixed])


def _mixed(row: Row) -> tuple[str, ...]:
    both = ("mindroot", "related")
    sources = row.runs["related"][0]["mixture"]["related"]
    names = [f"{each['name'].removeprefix('UD_')} ({each['part']}, {each['sentences']:,})" for each in sources]
    return (
        row.treebank,
        ", ".join(names),
        f"{row.budget / 60:g}",
        *(_trees(row, name, mode) for mode in ("gold", "raw") for name in both),
        *(_shown(row.score(name, "gold", "official", "UFeats", "f1")) for name in both),
    )


_AVERAGED_HEADER = (
    *("treebank", "CPU minutes", "seeds"),
    *("gold: one", "averaged", "exact: one", "averaged", "gold: spaCy"),
)


def _averaged(rows: Sequence[Row]) -> str:
    """Return a table of the treebanks with averages."""
    found = [row for row in rows if "averaged" in row.runs]
    if not found:
        return "There are no runs yet."
    both = ("mindroot", "averaged")
    table = [
        (
            row.treebank,
            f"{row.budget / 60:g}",
            "/".join(str(len(row.runs.get(name, []))) for name in both),
            *(_trees(row, name, "gold") for name in both),
            *(_shown(row.score(name, "gold", "measures", "exact_match")) for name in both),
            _trees(row, "spacy", "gold"),
        )
        for row in found
    ]
    return _table(_AVERAGED_HEADER, table)


_BUILT_HEADER = (
    *("treebank", "minutes: given", "used to train", "gold: after", "built"),
    *("raw: after", "built", "Stanza 1.0", "UFeats: after", "built", "MLAS: after", "built"),
)


def _built(runs: Sequence[dict[str, Any]], rows: Sequence[Row], published: dict[str, list[float]]) -> str:
    """Return a table of what `build --minutes N` made, beside the rows of the other tables."""
    short = {row.treebank: row for row in reversed(rows) if "mindroot" in row.runs}  # the first of each
    found = [row for row in _grouped([run for run in runs if run["contestant"] == BUILT]) if row.treebank in short]
    if not found:
        return "There are no runs yet."
    table = []
    for row in found:
        both = ((short[row.treebank], "mindroot"), (row, BUILT))
        table.append(
            (
                row.treebank,
                f"{row.budget / 60:g}",
                f"{(row.fact(BUILT, 'cpu_seconds') or 0) / 60:.0f}",
                *(_trees(each, name, mode) for mode in ("gold", "raw") for each, name in both),
                _pair(published.get(row.treebank)),
                *(_shown(each.score(name, "gold", "official", "UFeats", "f1")) for each, name in both),
                *(_shown(each.score(name, "raw", "official", "MLAS", "f1")) for each, name in both),
            )
        )
    return _table(_BUILT_HEADER, table)


def _trees(row: Row, contestant: str, mode: str) -> str:
    scores = [row.score(contestant, mode, "official", metric, "f1") for metric in ("UAS", "LAS")]
    return _pair([score for score in scores if score is not None])


def _pair(scores: Sequence[float] | None) -> str:
    return "{:.1f} / {:.1f}".format(*scores) if scores and len(scores) == 2 else "-"


def _shown(score: float | None) -> str:
    return "-" if score is None else f"{score:.1f}"


def _notes(rows: Sequence[Row]) -> str:
    """Return what is special about some of the runs."""
    lines = []
    old = [row.treebank for row in rows if not all(map(is_current, row.runs.get("mindroot", [])))]
    if old:
        lines.append(f"The runs of ours on {', '.join(old)} used an older config and will be repeated.")
    failed = [
        f"{row.treebank} ({name}: {run['raw']['error']})"
        for row in rows
        for name, found in row.runs.items()
        for run in found
        if "error" in run["raw"]
    ]
    if failed:
        lines.append(f"The raw text could not be parsed: {'; '.join(failed)}.")
    return "\n\n".join(["", *lines]) if lines else ""


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "\n".join(markdown_table(header, rows))

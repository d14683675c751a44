"""`spacy mindroot score`: writes the arc scores that a pipeline gives to a corpus to a score file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import typer
from tqdm import tqdm

from ..errors import LabelsError
from ..score_file import write_score_file
from ..scored import ScoredSentence
from ..tools.gold import load_pipeline, score_sentences
from .corpora import read_for
from .files import PathsError, check_paths, errors_as_messages, model_folder

__all__ = ["run"]


def run(model: str, corpus: Path, out: Path, surface_tokens: bool | None = None) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot score --help`."""
    with errors_as_messages(nothing_written=True):
        check_paths({"MODEL": model_folder(model), "CORPUS": corpus}, {"OUT": out})
        if out.suffix != ".npz":
            raise PathsError(f"OUT is {out}. Let it end in .npz, so that the other commands recognize it.")
        nlp = load_pipeline(model)
        gold = read_for(nlp, corpus, surface_tokens)
        scored = list(tqdm(score_sentences(nlp, gold), unit=" sentences", disable=None, leave=False))
        _write(out, scored)
    with errors_as_messages():
        typer.echo(f"Wrote the arc scores of {len(scored):,} sentences to {out}.")


def _write(out: Path, scored: list[ScoredSentence]) -> None:
    names = scored[0].label_names or ["dep"]
    best_labels = []
    for sentence in scored:
        if (sentence.label_names or ["dep"]) != names:
            raise LabelsError(f"{sentence.name} has other doc._.arc_label_names than {scored[0].name}.")
        # Without labels, each arc has the label that such a tree gets anyway.
        best = sentence.best_labels
        best_labels.append(np.zeros(sentence.scores.shape, dtype=np.uint8) if best is None else best)
    write_score_file(
        out,
        scores=[sentence.scores for sentence in scored],
        words=[sentence.words for sentence in scored],
        labels=names,
        best_labels=best_labels,
        gold_heads=[cast(Any, sentence.gold_heads) for sentence in scored],
        gold_labels=[sentence.gold_labels or [] for sentence in scored],
    )

"""`spacy mindroot calibrate`: calibrates the probabilities of a trained pipeline."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import table

from ..conllu.docs import sentence_to_doc
from ..doc.reading import blank_doc
from ..inference.arc_confidence import confidences_of
from ..inference.calibration import (
    Calibration,
    calibration_error_by_chance,
    expected_calibration_error,
    label_probabilities,
)
from ..inference.conformal import head_sets
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.calibration import set_calibration
from ..pipeline.held_out import HeldOut, cross_validate, score_held_out
from ..pipeline.scoring import find_mind_root
from ..tools.gold import GoldSentence, load_pipeline
from ..trees import MISSING
from .corpora import read_for
from .files import PathsError, check_paths, errors_as_messages, model_folder, opened_to_write, outputs
from .folders import check_new_folder, new_folder

__all__ = ["describe_fit", "run"]

_SHOWN_COVERAGE = 0.9
_FOLDS = 5  # if there is a training set in addition to the development set


def run(
    model: str,
    corpus: Path,
    output: Path | None,
    folds: int | None,
    component: str | None,
    surface_tokens: bool | None = None,
    train: Path | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot calibrate --help`."""
    with errors_as_messages(nothing_written=True):
        folder = Path(model)
        if output is None and not folder.is_dir():
            raise PathsError(f"{model} is an installed package. Choose a folder for the calibrated pipeline: --output.")
        if output is not None:
            check_new_folder(output, "--output")
        nlp = load_pipeline(model)
        name, mind_root = find_mind_root(nlp, component)
        check_paths(
            {"MODEL": model_folder(model), "CORPUS": corpus, "--train": train}, {"--output": output}, made="--output"
        )
        gold = [sentence for sentence in read_for(nlp, corpus, surface_tokens) if len(sentence.words)]
        held_out, methods = HeldOut(), []
        if train is not None or not folds:
            held_out = score_held_out(nlp, ([sentence] for sentence in gold), name)
            methods.append("held-out")
        if train is not None or folds:
            to_train = gold if train is None else list(read_for(nlp, train, surface_tokens))
            held_out.extend(_cross_validate(nlp, to_train, folds or _FOLDS, name))
            methods.append(f"{folds or _FOLDS}-fold cross-validation")
        calibration = held_out.fit(" and ".join(methods))
        set_calibration(nlp, calibration, name)
        if output is None:
            with TemporaryDirectory() as made:
                mind_root.to_disk(Path(made) / name)
                srsly.write_json(Path(made) / "meta.json", nlp.meta)
                _replace(folder, Path(made), name)
        else:
            with new_folder(output) as made:
                nlp.to_disk(made)
    typer.echo(describe_fit(calibration, held_out))
    typer.echo(f"Wrote the calibration to {folder if output is None else output}.")


def _replace(folder: Path, made: Path, name: str) -> None:
    """Replace files of a pipeline by new ones, all or none of them: those of a component, and then meta.json."""
    files = [*sorted((made / name).iterdir()), made / "meta.json"]
    new = {folder / file.relative_to(made): file.read_bytes() for file in files}
    old = {path: path.read_bytes() if path.exists() else None for path in new}
    for path in (folder / name, *new):
        if path.is_symlink():
            raise PathsError(f"{path} is a symbolic link. Choose a folder for the calibrated pipeline: --output.")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        with outputs(folder / name) as opened:
            for path in new:
                if new[path] != old[path]:
                    with opened(path) as file:
                        file.write(new[path])
    except BaseException as error:
        for path, data in old.items():
            if data is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != data:
                with opened_to_write(path) as file:
                    file.write(data)
        error.__notes__ = []  # nothing was written after all
        raise


def _cross_validate(nlp: Language, sentences: list[GoldSentence], folds: int, name: str) -> HeldOut:
    whole = [sentence for sentence in sentences if len(sentence.words) and (sentence.heads != MISSING).all()]
    return cross_validate(nlp.config, partial(_examples, whole), folds, name=name)


def _examples(sentences: list[GoldSentence], nlp: Language) -> Iterator[Example]:
    """Yield annotated sentences as spaCy's training reads them: from CoNLL-U, with all annotation."""
    for sentence in sentences:
        blank = blank_doc(nlp.vocab, [sentence])
        if sentence.conllu is not None:
            gold = sentence_to_doc(nlp.vocab, sentence.conllu)
            yield Example(blank, gold)
            continue
        heads = [k if head == 0 else head - 1 for k, head in enumerate(sentence.heads.tolist())]
        deps = [SPACY_ROOT if label == UD_ROOT else label for label in sentence.labels]
        yield Example(blank, Doc(nlp.vocab, words=sentence.words, spaces=sentence.spaces, heads=heads, deps=deps))


def describe_fit(calibration: Calibration, held_out: HeldOut) -> str:
    """Return a table of what a calibration changes on the sentences that it was fitted to."""
    known = np.concatenate([own != MISSING for own in held_out.gold_heads])
    right = np.concatenate([own == gold for own, gold in zip(held_out.heads, held_out.gold_heads, strict=True)])
    rows = []
    for name, fit in (("before", Calibration()), ("after", calibration)):
        found, arcs = confidences_of(
            held_out.matrices,
            held_out.heads,
            temperature=fit.arc_temperature,
            lapse=fit.arc_lapse,
            projective=held_out.projective,
            marginals=True,
        )
        p = np.concatenate([one.head_prob for one in found])[known]
        labels, labels_right = _probabilities_of_labels(fit, held_out)
        errors = (expected_calibration_error(p, right[known]), expected_calibration_error(labels, labels_right))
        rows.append((name, f"{p.mean():.1%}", *_shown(errors, labels)))
    rows.append(
        ("by chance", "", *_shown((calibration_error_by_chance(p), calibration_error_by_chance(labels)), labels))
    )
    threshold = calibration.threshold(_SHOWN_COVERAGE)
    sets = [head_sets(p, threshold, heads=own) for p, own in zip(arcs, held_out.heads, strict=True)]
    size = np.mean([len(heads) for of_sentence in sets for heads in of_sentence])
    text = str(
        table(
            rows,
            header=("calibration", "mean probability", "ECE of heads", "ECE of labels"),
            divider=True,
            aligns=("l", "r", "r", "r"),
        )
    ).strip("\n")
    accuracy = f"{right[known].mean():.1%} on {calibration.tokens:,} tokens of {calibration.sentences:,} sentences"
    return "\n".join(
        [
            text,
            f"UAS {accuracy} ({calibration.method}).",
            "By chance: the error that perfect probabilities would have on so few tokens.",
            f"Heads: temperature {calibration.arc_temperature:.3g}, lapse {calibration.arc_lapse:.3g}. Labels: "
            f"temperature {calibration.label_temperature:.3g}, lapse {calibration.label_lapse:.3g}.",
            f"Head sets of coverage {_SHOWN_COVERAGE:.0%} have {size:.2f} heads on average.",
        ]
    )


def _shown(errors: tuple[float, float], labels: npt.NDArray[np.float64]) -> tuple[str, str]:
    """Return the errors of heads and of labels in points; "-" if there are no labels."""
    return f"{100 * errors[0]:.2f}", f"{100 * errors[1]:.2f}" if len(labels) else "-"


def _probabilities_of_labels(
    fit: Calibration, held_out: HeldOut
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the probability of each label, and whether it is right, for the tokens with the right head."""
    p, right = [np.empty(0)], [np.empty(0, dtype=bool)]
    for heads, gold, scores, labels in zip(
        held_out.heads, held_out.gold_heads, held_out.label_scores, held_out.gold_labels, strict=True
    ):
        if scores is not None:
            used = (heads == gold) & (heads > 0)
            found = label_probabilities(scores, fit.label_temperature, fit.label_lapse)[used]
            p.append(found.max(axis=1))
            right.append(found.argmax(axis=1) == labels[used])
    return np.concatenate(p), np.concatenate(right)

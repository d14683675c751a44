"""`spacy mindroot calibrate`: calibrates the probabilities of a trained pipeline."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import srsly
import typer

from . import options
from .files import new_folder, opened_to_write, outputs
from .paths import PathsError, check_new_folder, check_paths, model_folder
from .printing import found, say
from .running import command, warn

__all__ = ["calibrate_cli"]


@command("model", tables=True)
def calibrate_cli(
    model: str = options.model(),
    corpus: Path = options.corpus(
        "Annotated sentences that MODEL was not trained on", "With --folds, its training set"
    ),
    output: Path | None = typer.Option(None, "--output", "--out", "-o", metavar="FOLDER", callback=options.ending()),
    in_place: bool = typer.Option(False, "--in-place"),
    folds: int | None = typer.Option(None, "--folds", metavar="K", min=2),
    train: Path | None = typer.Option(None, "--train", metavar="FILE"),
    component: str | None = typer.Option(None, "--component", metavar="NAME"),
    surface_tokens: bool | None = options.surface_tokens("Read"),
    code: Path | None = options.code("-c"),
) -> None:
    """Calibrate the probabilities of heads and labels of a trained pipeline.

    Fits a temperature and a lapse for arcs and another pair for labels, and the thresholds of head sets, to annotated
    sentences, and saves them with the pipeline. Trees and labels stay the same. Prints the expected calibration error
    (ECE, in points) on CORPUS without and with them: since they were fitted to it, the error on other text is
    greater. The last row is the error that chance would leave to perfect probabilities on so few tokens.
    `spacy train` does the same for pipelines from `init-config`.

    model: Pipeline with a mind_root: a folder, or a package.
    output: New folder for the calibrated pipeline (default: none; --in-place is needed then).
    in_place: Add the calibration to MODEL itself (default: off).
    folds: For lack of a development set: divide CORPUS into K parts, and train on all but one, in turn, as MODEL's
        config says (default: no training).
    train: With a small CORPUS: MODEL's training set. Its sentences count as well, each scored by a pipeline that
        was trained on the others, in --folds parts, 5 if not given (default: none).
    component: Name of the component (default: the first mind_root).
    """
    from ..pipeline.calibration import set_calibration
    from ..pipeline.scoring import find_mind_root
    from ..tools.calibration import describe_fit, held_out_scores, promise_of
    from ..tools.gold import load_pipeline
    from .corpora import read_for

    folder = Path(model)
    if (output is None) != in_place:
        raise typer.BadParameter(
            "choose a new folder for the calibrated pipeline with --output, or change MODEL itself with --in-place.",
            param_hint="--output",
        )
    if output is None and not folder.is_dir():
        raise PathsError(f"{model} is an installed package. Choose a folder for the calibrated pipeline: --output.")
    if output is not None:
        check_new_folder(output, "--output")
    nlp = load_pipeline(model)
    name, mind_root = find_mind_root(nlp, component)
    reads = {"MODEL": model_folder(model), "CORPUS": corpus, "--train": train, "--code": code}
    check_paths(reads, {"--output": output}, made="--output")
    sentences = read_for(nlp, corpus, surface_tokens)
    trained_on = None if train is None else read_for(nlp, train, surface_tokens)
    held_out, method = held_out_scores(nlp, sentences, trained_on, folds=folds, name=name)
    calibration = held_out.fit(method)
    set_calibration(nlp, calibration, name)
    if output is None:
        with TemporaryDirectory() as made:
            mind_root.to_disk(Path(made) / name)
            srsly.write_json(Path(made) / "meta.json", nlp.meta)
            _replace(folder, Path(made), name)
    else:
        with new_folder(output) as made:
            nlp.to_disk(made)
    text, figures = describe_fit(calibration, held_out)
    say(text)
    found(figures)
    if few := promise_of(calibration.sentences):
        warn(f"{few} A small development set and the training set count together with --train.")
    say(f"Wrote the calibration to {folder if output is None else output}.")


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

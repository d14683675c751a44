"""`spacy mindroot build`: from a treebank to a wheel, in steps that are not repeated when they are done."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from spacy.util import load_config
from wasabi import msg, table

from ..audit.corpus import load_pipeline
from ..building.average import average_trained
from ..building.card import Description, make_card, make_meta
from ..building.related import Mixture, mix_treebanks
from ..building.speed import words_per_cpu_second
from ..building.steps import Steps
from ..building.training import Trained, train
from ..building.treebank import Treebank, prepare_treebank, spacy_language
from ..building.wheel import build_wheel, check_name, check_tools
from ..conllu import Sentence, read_conllu
from ..errors import MindRootError
from ..evaluation.official import load_script
from ..evaluation.predicting import predict, sentences_in
from ..evaluation.raw_text import text_of
from ..evaluation.report import evaluate, to_json
from ..pipeline.calibration import callback_settings
from .corpora import warn
from .files import PathsError, errors_as_messages
from .init_config import check_language, make_config

__all__ = ["build", "run"]

_SHOWN = ("Sentences", "Words", "UPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS")
_LONGEST_EXAMPLE = 80  # characters


def run(
    source: Path,
    out: Path,
    about: Description,
    lang: str,
    optimize: str,
    config: Path | None,
    steps: int | None,
    seed: int,
    related: Sequence[Path] = (),
    seeds: int = 1,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot build --help`."""
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    if lang:
        check_language(lang)
    with errors_as_messages():
        found = build(
            source,
            out,
            about,
            lang=lang,
            optimize=optimize,
            config=config,
            steps=steps,
            seeds=range(seed, seed + seeds),
            related=related,
        )
        _print(found)


def build(
    source: Path,
    out: Path,
    about: Description,
    *,
    lang: str = "",
    optimize: str = "accuracy",
    config: Path | None = None,
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    related: Sequence[Path] = (),
    show: bool = True,
) -> dict[str, Any]:
    """Build a wheel from a treebank, and return the content of pipeline.json.

    source (Path): The treebank. See `building.treebank.prepare_treebank`.
    out (Path): The folder for everything that is made.
    about (Description): Name, version and so on of the package. Without a name, it has the treebank's.
    lang (str): The language of the pipeline; "" for the one in the names of the files.
    optimize (str): "accuracy" or "efficiency".
    config (Optional[Path]): A config to train with, in place of that of `init-config`.
    steps (Optional[int]): Training steps; None for those of the config.
    seeds (Sequence[int]): Seeds to train with. If there are several, a pipeline is trained with each, and their arc
        scores are averaged. See `arc_scorer.average.average_pipelines`.
    related (Sequence[Path]): Related treebanks to mix into the training set. See `building.related.mix_treebanks`.
    show (bool): Whether to show the progress of training and evaluation.
    RAISES (MindRootError): If a step fails. What the steps before have made is kept.
    """
    check_tools()  # so that what is missing is known before training
    load_script()
    about = Description(**{**asdict(about), "name": about.name or _package_name(source)})
    check_name(about.name)
    _check_folders(source, out)
    treebank = prepare_treebank(source, out / "corpus")
    mixture = mix_treebanks(treebank, related) if related else None
    unused = {treebank.name: treebank.unused}
    unused |= {each.name: each.unused for each in (mixture.related if mixture is not None else [])}
    for name, files in unused.items():
        if files:
            warn(f"Not used of {name}: {', '.join(files)}. No `train`, `dev` or `test` is in the name.")
    code = lang or spacy_language(treebank.language)
    if config is None:
        components, sentences = ["senter", *treebank.annotated], treebank.parts["train"].sentences
        sentences += mixture.sentences if mixture is not None else 0
        text = make_config(code, optimize, components, None, sentences=sentences)
    else:
        text = config.read_text("utf8")
    (out / "config.cfg").write_text(text, encoding="utf8")
    versions = {name: version(name) for name in ("spacy-mindroot", "spacy", "thinc", "numpy", "udtools")}
    chain = Steps(
        out / "pipeline.json",
        {
            "treebank": treebank.facts(),
            **({"mixture": mixture.facts()} if mixture is not None else {}),
            "config": text,
            "steps": steps,
            "seeds": list(seeds),
            "versions": versions,
        },
    )

    best, trained = _train(chain, treebank, out, mixture=mixture, steps=steps, seeds=seeds, show=show)
    part = next((part for part in ("test", "dev") if part in treebank.parts), None)
    scores, speed = ({}, 0) if part is None else _evaluate(chain, best, out, part, show)
    megabytes = round(sum(path.stat().st_size for path in best.rglob("*") if path.is_file()) / 1e6, 1)

    def package() -> dict[str, Any]:
        meta = make_meta(load_pipeline(str(best)), treebank, about, scores, mixture)
        card = make_card(
            meta,
            treebank,
            trained,
            scores,
            evaluated_on=part or "",
            speed=speed,
            megabytes=megabytes,
            example=_example(treebank),
            mixture=mixture,
        )
        (out / "README.md").write_text(card, encoding="utf8")
        wheel = build_wheel(best, out / "dist", meta, card, treebank.licence_file)
        size = round(wheel.stat().st_size / 1e6, 2)
        return {"about": asdict(about), "wheel": wheel.name, "megabytes": size, "unpacked_megabytes": megabytes}

    if chain.results.get("package", {}).get("about") != asdict(about):
        chain.results.pop("package", None)
    wheel = out / "dist" / chain.results.get("package", {}).get("wheel", "none")
    _step(chain, "package", package, needs=wheel)
    return chain.results | {"evaluated_on": part, "out": str(out)}


def _check_folders(source: Path, out: Path) -> None:
    if out.resolve() == source.resolve() or out.resolve() in source.resolve().parents:
        raise PathsError(f"OUT is {out}, which holds the treebank. Choose another folder.")
    if source.resolve() in out.resolve().parents:
        raise PathsError(f"OUT is {out}, in the folder of the treebank, where it would count as data. Choose another.")


def _step(chain: Steps, name: str, make: Callable[[], Any], needs: Path | None = None) -> tuple[Any, bool]:
    result, is_new = chain.run(name, make, needs=needs)
    msg.text(f"{name}: {'done' if is_new else 'was done before'}")
    return result, is_new


def _train(
    chain: Steps,
    treebank: Treebank,
    out: Path,
    *,
    mixture: Mixture | None,
    steps: int | None,
    seeds: Sequence[int],
    show: bool,
) -> tuple[Path, Trained]:
    """Return the folder of the pipeline and its training. With several seeds, it is an average of pipelines."""
    training, config, has_dev = out / "training", out / "config.cfg", treebank.file("dev") is not None
    best = "model-best" if has_dev else "model-last"
    several = len(seeds) > 1

    def train_with(seed: int, folder: Path) -> dict[str, Any]:
        return asdict(
            train(config, treebank, folder, mixture=mixture, steps=steps, seed=seed, calibrate=not several, show=show)
        )

    if several:
        for name in ("model-best", "model-last"):  # of a build with a single seed
            shutil.rmtree(training / name, ignore_errors=True)
    folders, trained = [], []
    for seed in seeds:
        name = f"training with seed {seed}" if several else "training"
        folder = training / f"seed-{seed}" if several else training
        found, _ = _step(chain, name, partial(train_with, seed, folder), needs=folder / best / "meta.json")
        folders.append(folder / best)
        trained.append(Trained(**found))
    if not several:
        return folders[0], trained[0]

    def average() -> dict[str, Any]:
        calibration = callback_settings(load_config(config, interpolate=False))
        if calibration is not None and mixture is not None:
            calibration = calibration | {"folds": 0}  # copies of a sentence would be in several parts
        nlp, joined = average_trained(folders, trained, calibration, has_dev=has_dev)
        nlp.to_disk(training / joined.best)
        return asdict(joined)

    found, _ = _step(chain, "average", average, needs=training / "average" / "meta.json")
    return training / found["best"], Trained(**found)


def _evaluate(chain: Steps, best: Path, out: Path, part: str, show: bool) -> tuple[dict[str, Any], int]:
    """Return the evaluations of a pipeline from gold tokens and from raw text, and its words per CPU second.

    An evaluation that failed is left out. Without one of raw text, the speed is 0.
    """
    scores: dict[str, Any] = {}
    speed = 0
    gold = list(read_conllu(out / "corpus" / f"{part}.conllu"))
    for name, raw in (("gold tokens", False), ("raw text", True)):
        output = out / f"{name.replace(' ', '-')}.conllu"
        found, _ = _step(chain, name, partial(_evaluation, best, gold, raw, output, show), needs=output)
        if "error" not in found:
            scores[name] = found
    if "raw text" in scores:
        measure = partial(words_per_cpu_second, load_pipeline(str(best)), gold)
        speed, _ = _step(chain, "words per CPU second", measure)
    return scores, speed


def _evaluation(best: Path, gold: list[Sentence], raw: bool, output: Path, show: bool) -> dict[str, Any]:
    """Write the output of a pipeline on a treebank to a file, and return its evaluation as JSON."""
    try:
        text = predict(load_pipeline(str(best)), gold, raw=raw, show=show)
    except MindRootError as error:
        if not raw:
            raise
        warn(f"The raw text could not be evaluated: {error}")  # such as a sentence that is too long
        text = ""
    output.write_text(text, encoding="utf8")
    return to_json(evaluate(gold, sentences_in(text, str(output)))) if text else {"error": "could not be parsed"}


def _package_name(source: Path) -> str:
    """Return the name of a treebank as part of a package's: `UD_Afrikaans-AfriBooms` becomes `afrikaans_afribooms`."""
    name = source.resolve().name.partition(".conllu")[0].removeprefix("UD_").lower()
    return "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in name).split()) or "pipeline"


def _example(treebank: Treebank) -> str:
    """Return a short sentence of the training set."""
    path = treebank.file("train")
    texts = [text_of(sentence).strip() for sentence in islice(read_conllu(path), 200)] if path is not None else []
    short = [text for text in texts if len(text) <= _LONGEST_EXAMPLE]
    return max(short, key=len, default=texts[0][:_LONGEST_EXAMPLE])


def _print(found: dict[str, Any]) -> None:
    names = [name for name in ("gold tokens", "raw text") if "official" in found.get(name, {})]
    if names:
        metrics = [name for name in _SHOWN if all(name in found[mode]["official"] for mode in names)]
        rows = [(name, *(f"{100 * found[mode]['official'][name]['f1']:.2f}" for mode in names)) for name in metrics]
        header = (f"{found['evaluated_on']} set, F1", *names)
        typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * len(names)), max_col=60))
    out = Path(found["out"])
    wheel = out / "dist" / found["package"]["wheel"]
    msg.good(f"{wheel} ({found['package']['megabytes']} MB). Install it with: pip install {wheel}")
    typer.echo(f"README.md in {out} is the model card, and pipeline.json has all figures.")

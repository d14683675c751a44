"""Builds a wheel from a treebank, in steps that are not repeated when they are done."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import load_config_from_str, load_model
from thinc.api import Config

from ...arc_scorer.lexicon import describe_lexicon, known_share, make_lexicon
from ...conllu import Sentence, read_conllu
from ...doc.targets import copies_beside
from ...errors import CorpusError, MindRootError
from ...pipeline.calibration import FOLDS, callback_settings
from ..evaluation.official import load_script
from ..evaluation.predicting import predict, words_per_cpu_second
from ..evaluation.raw_text import text_of
from ..evaluation.report import evaluate, to_json
from .card import Description, licences_of, make_card, make_meta
from .config import FEWEST_STEPS, lexicons_of, make_config, read_config, size_for
from .distilling import RawText, Taught, read_raw_text, teach, warn_of_language
from .related import mix_treebanks
from .steps import OF_STEPS, Steps, digest
from .training import Trained, average_trained, train
from .treebank import PARTS, Related, Treebank, prepare_treebank, spacy_language
from .wheel import PackagingError, build_wheel, check_description, check_tools, package_name, wheel_name

__all__ = ["build"]

_SPEED = "words per CPU second"  # the step that measures it
_LONGEST_EXAMPLE = 80  # characters
_FEW_KNOWN = 0.1  # share of the words with letters
_MUCH_LESS_KNOWN = 0.1  # than in the training set; the words of other text are then unlike those learnt from
_PIPELINE_BYTES = 100_000_000  # of disk for each pipeline to train, and for the temporary files of a wheel

Log = Callable[[str], Any]


def build(
    source: Path,
    out: Path,
    about: Description,
    *,
    lang: str = "",
    optimize: str = "accuracy",
    tokenizer: str = "learnt",
    loss: str = "tree",
    lexicons: Sequence[Path] = (),
    minutes: float | None = None,
    config: Path | None = None,
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    related: Sequence[Path] = (),
    distill: bool = False,
    raw: Sequence[Path] = (),
    code: Path | None = None,
    speed: bool = False,
    note: Log = print,
    warn: Log = warnings.warn,
    show: bool = True,
) -> dict[str, Any]:
    """Build a wheel from a treebank, and return the results of all steps by their names.

    What can go wrong after the training is tried before it, with an empty pipeline. If a step fails, what the steps
    before have made is kept.

    source (Path): The treebank. See `building.treebank.prepare_treebank`.
    out (Path): The folder for everything that is made: a new one, or that of an earlier build. See `building.steps`.
    about (Description): Name, version and so on of the package. Without a name, it has the treebank's.
    lang (str): The language of the pipeline; "" for the one in the names of the files.
    tokenizer (str): See `building.config.make_config`. A treebank without text gets spaCy's.
    lexicons (Sequence[Path]): Files of a lexicon. See `arc_scorer.lexicon_files`.
    minutes (Optional[float]): Time for all pipelines that are trained, those for calibration included, in minutes on
        one core. See `building.config.size_for`.
    config (Optional[Path]): A config to train with, in place of that of `init-config`.
    seeds (Sequence[int]): Seeds to train with. If there are several, a pipeline is trained with each, and their arc
        scores are averaged. See `arc_scorer.average.average_pipelines`.
    related (Sequence[Path]): Related treebanks to mix into the training set. See `building.related.mix_treebanks`.
    distill (bool): Whether the pipelines that are trained teach another one, which is the result: a `student` of the
        size that `optimize` says. The teachers are accurate ones.
    raw (Sequence[Path]): Files of raw text, which the teachers label for the student. Without any, they label the
        training set with other words: see `building.distilling.swap_words`.
    code (Optional[Path]): A Python file that the config needs, which has been imported. It goes into the wheel.
    speed (bool): Whether the speed is measured, for the model card. Without it, the same build gives the same wheel.
    note, warn (Callable): Receive what has been done, and warnings.
    show (bool): Whether what spaCy prints in training is shown.
    """
    check_tools()  # so that what is missing is known before training
    load_script()
    about = check_description(replace(about, name=about.name or _name_of(source)))
    text = read_raw_text(raw) if raw else None
    chain = Steps(out)
    try:
        made = _Build(chain, about, seeds, steps, code, speed, note, warn, show, optimize if distill else "", text)
        settings: dict[str, Any] = {"optimize": optimize, "tokenizer": tokenizer, "loss": loss}
        settings["lexicons"] = [str(Path(path).absolute()) for path in lexicons]
        settings["minutes"] = minutes
        return made.run(source, related, config, lang, settings | ({"optimize": "accuracy"} if distill else {}))
    except BaseException:
        chain.abandon()
        raise


@dataclass
class _Build:
    """A build: what its steps share."""

    chain: Steps
    about: Description
    seeds: Sequence[int]
    steps: int | None
    code: Path | None
    speed: bool
    note: Log
    warn: Log
    show: bool = True
    student: str = ""  # what a student of the pipelines is optimized for; "" for none
    raw: RawText | None = None
    treebank: Treebank = field(init=False)
    part: str = ""  # of the treebank, to evaluate on
    config: Config = field(init=False)
    known: dict[str, float] = field(default_factory=dict)  # share of the words of each part that a lexicon has
    plan: dict[str, list[str]] = field(init=False)  # the files and folders that each step makes, the main one first

    def run(
        self, source: Path, related: Sequence[Path], config: Path | None, lang: str, settings: dict[str, Any]
    ) -> dict[str, Any]:
        """Take all steps. See `build`.

        settings (dict[str, Any]): Those of `make_config`, for lack of a config, with `minutes` for all pipelines.
        """
        chain, out = self.chain, self.chain.folder
        unfinished = chain.begin_unfinished()
        self._prepare(source, related, unfinished / "corpus")
        if self.raw is not None:
            warn_of_language(self.raw, self.treebank, self.warn)
        settings = self._usable(settings) if config is None else settings
        text = self._config(lang, settings) if config is None else config.read_text("utf8")
        (unfinished / "config.cfg").write_text(text, encoding="utf8")
        given = [*(f"corpus/{name}.conllu" for name in (*PARTS, "mixed")), "config.cfg"]
        of_student = ""
        if self.student:
            of_student = self._config(lang, settings | {"optimize": self.student}) if config is None else text
            (unfinished / "student.cfg").write_text(of_student, encoding="utf8")
            given.append("student.cfg")
        self.config = load_config_from_str(text, interpolate=False) if config is None else read_config(config)
        if self.student and self.config["corpora"].get("train", {}).get("distilled") != "${paths.distilled}":
            raise CorpusError(
                "A student needs a config in which distilled = ${paths.distilled} under [corpora.train], as in those "
                "of init-config."
            )
        code = str(self.config["nlp"]["lang"])
        self.about = replace(self.about, name=package_name(self.about.name, code))
        lexicons = lexicons_of(self.config)
        self._check_licence(self._check_lexicon(lexicons) if lexicons else [])
        facts = self._facts(text, of_student)
        self.plan = self._plan(code)
        remaining = chain.remaining(facts, self.plan)
        if remaining and remaining != ["package"]:
            self._rehearse(code)
        chain.begin(facts, self.plan, *given)
        self.treebank.folder = out / "corpus"
        if self.treebank.mixture is not None:
            self.treebank.mixture.file = self.treebank.folder / self.treebank.mixture.file.name

        best, trained = self._distill() if self.student else self._train()
        load = cache(lambda: load_model(best))
        scores, speed = self._evaluate(load) if self.part else ({}, 0)
        self._step("package", lambda work: self._package(work, best, load(), trained, scores, speed))
        return chain.results | {"evaluated_on": self.part or None}

    def _prepare(self, source: Path, related: Sequence[Path], folder: Path) -> None:
        treebank = self.treebank = prepare_treebank(source, folder)
        used: list[Treebank | Related] = [treebank, *(mix_treebanks(treebank, related).related if related else ())]
        self.part = next((part for part in ("test", "dev") if part in treebank.parts), "")
        for each in used:
            if each.unused:
                files = ", ".join(each.unused)
                self.warn(f"Not used of {each.name}: {files}. No `train`, `dev` or `test` is in the name.")

    def _usable(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings of a config that suit the treebank."""
        if settings["minutes"] is not None:
            calibrated = 1 if self.student else len(self.seeds)
            by_folds = "dev" not in self.treebank.parts and self.treebank.mixture is None
            pipelines = len(self.seeds) + bool(self.student) + by_folds * FOLDS * calibrated
            minutes = max(0.01, round(settings["minutes"] / pipelines, 2))
            if size_for(settings["optimize"], self._sentences, minutes).steps == FEWEST_STEPS:
                self.warn(
                    f"--minutes leaves {minutes:g} for each pipeline, too few for {FEWEST_STEPS} steps, which are the "
                    "least. The build will take longer."
                )
            settings = settings | {"minutes": minutes}
        if settings["tokenizer"] != "learnt" or self.treebank.has_text:
            return settings
        self.warn(
            f"{self.treebank.name} has neither SpaceAfter=No nor a text with multiword tokens, so nothing can be "
            "learnt about tokens: the pipeline gets spaCy's tokenizer."
        )
        return settings | {"tokenizer": "spacy"}

    def _config(self, lang: str, settings: dict[str, Any]) -> str:
        treebank = self.treebank
        code = spacy_language(lang or treebank.language, settings["tokenizer"])
        extras = ["senter", *treebank.annotated]
        return make_config(code, extras=extras, transformer=None, sentences=self._sentences, **settings)

    @property
    def _sentences(self) -> int:
        mixture = self.treebank.mixture
        return self.treebank.parts["train"].sentences + (mixture.sentences if mixture else 0)

    def _check_lexicon(self, files: list[str]) -> list[dict[str, Any]]:
        """Say how many words of the treebank a lexicon has, and whose licence the wheel will be under.

        RETURNS (list[dict[str, Any]]): What is known of its files.
        """
        table = make_lexicon(files)
        for part in self.treebank.parts:
            path = self.treebank.folder / f"{part}.conllu"
            words = [word for sentence in read_conllu(path) for word in sentence.words]
            self.known[part] = known_share(table, words)
            if part == "train":
                of_letters = known_share(table, [word for word in words if any(map(str.isalpha, word))])
        for each in table["about"]:
            self.note(
                f"Lexicon {each['name']}: {each['readings']:,} readings of words, in the format {each['format']}."
            )
        shares = ", ".join(f"{100 * share:.1f} % of {part}" for part, share in self.known.items())
        names = ", ".join(each["name"] for each in table["about"])
        if not of_letters:
            raise CorpusError(
                f"The lexicon ({names}) has none of the words of {self.treebank.name}. Is it for another language, or "
                "in another script, Unicode normalization or order of columns?"
            )
        self.note(f"The lexicon has {shares} (words of the treebank, punctuation included).")
        if of_letters < _FEW_KNOWN:
            self.warn(f"The lexicon has few words of {self.treebank.name}. It will hardly help.")
        elif self.known["train"] - min(self.known.values()) > _MUCH_LESS_KNOWN:
            self.warn(
                "The lexicon has far more of the words of train than of other text, so a parser gains little. Add the "
                "words of the texts to be parsed to the lexicon, before or after the training."
            )
        for each in table["about"]:
            if "licence" in each:
                self.note(f"The wheel will contain what {each['name']} says of words, under {each['licence']}.")
            else:
                self.warn(
                    f"The licence of {each['name']} is unknown, and the wheel will contain what it says of words. Put "
                    "a line '# licence: NAME' at the beginning of the file now: adding it later starts the build over."
                )
        return list(table["about"])

    def _check_licence(self, lexicon: Sequence[Mapping[str, Any]]) -> None:
        """Warn if the licence that the wheel is given is not that of the data."""
        given = self.about.licence
        others = [name for name in licences_of(self.treebank, lexicon) if _letters(name) not in _letters(given)]
        if given and others:
            self.warn(
                f"The licence of the wheel is given as {given}, but it is made from data under {' and '.join(others)}. "
                "Make sure that these licences allow it."
            )

    def _facts(self, text: str, of_student: str) -> dict[str, Any]:
        """Return everything that the results depend on. The teachers do not depend on the raw text, or the student."""
        return {
            "treebank": self.treebank.facts(),
            **({"mixture": self.treebank.mixture.facts()} if self.treebank.mixture is not None else {}),
            "config": text,
            **({"code": self.code.read_text("utf8")} if self.code is not None else {}),
            **{f"lexicon {path}": digest(Path(path)) for path in lexicons_of(self.config)},
            "steps": self.steps,
            "seeds": list(self.seeds),
            **({OF_STEPS: {"labelling": self.raw and self.raw.digest, "student": of_student}} if self.student else {}),
            "versions": {name: version(name) for name in ("spacy-mindroot", "spacy", "thinc", "numpy", "udtools")},
        }

    def _plan(self, lang: str) -> dict[str, list[str]]:
        both = ("model-best", "model-last") if "dev" in self.treebank.parts else ("model-last", "model-best")
        plan = {}
        for seed in self.seeds:
            own = (f"training with seed {seed}", f"training/seed-{seed}")
            name, folder = ("training", "training") if len(self.seeds) == 1 and not self.student else own
            plan[name] = [f"{folder}/{each}" for each in (*both, "log.txt")]
        if self.student:
            plan["labelling"] = ["training/taught.spacy"]
            plan["student"] = [f"training/student/{each}" for each in (*both, "log.txt")]
        elif len(self.seeds) > 1:
            plan["average"] = ["training/average"]
        if self.part:
            plan |= {name: [_output_of(name)] for name in ("gold tokens", "raw text")}
        wheel = self.chain.results.get("package", {})
        unmeasured = self.speed and _SPEED not in self.chain.results
        if wheel.get("about") != asdict(self.about) or unmeasured:
            self.chain.results.pop("package", None)
            wheel = {"wheel": wheel_name(lang, self.about)}
        return {**plan, "package": [f"dist/{wheel['wheel']}", "README.md"]}

    def _rehearse(self, lang: str) -> None:
        """Make a wheel of an empty pipeline, so that what is at fault is known before training."""
        for folder, pipelines in ((self.chain.folder, len(self.seeds) + bool(self.student)), (Path(gettempdir()), 1)):
            free, needed = shutil.disk_usage(folder).free, pipelines * _PIPELINE_BYTES
            if free < needed:
                raise PackagingError(
                    f"There are {free / 1e6:,.0f} MB free for {folder}. Training and packaging may need "
                    f"{needed / 1e6:,.0f} MB. Free some space first."
                )
        with TemporaryDirectory() as work:
            tokenizer = self.config["nlp"].get("tokenizer")
            nlp = spacy.blank(spacy_language(lang), config={"nlp": {"tokenizer": tokenizer}} if tokenizer else {})
            nlp.to_disk(Path(work) / "model")
            meta = make_meta(nlp, self.treebank, self.about, {})
            build_wheel(Path(work) / "model", Path(work), meta, "", self.treebank.licence_file, self.code)

    def _step(self, name: str, make: Callable[[Path], Any]) -> Any:
        result, is_new = self.chain.run(name, make, self.plan.get(name, ()))
        self.note(f"{name}: {'done' if is_new else 'was done before'}")
        return result

    def _train_all(self) -> tuple[list[Path], list[Trained]]:
        """Train a pipeline with each seed, and return their folders and trainings."""
        out = self.chain.folder
        folders, trainings = [], []
        for name, seed in zip(self.plan, self.seeds, strict=False):  # the first steps of the plan
            best = self.plan[name][0]

            def train_one(work: Path, seed: int = seed, folder: str = str(Path(best).parent)) -> dict[str, Any]:
                calibrate = len(self.seeds) == 1 and not self.student
                return asdict(self._trained("config.cfg", work / folder, seed=seed, calibrate=calibrate))

            trainings.append(Trained(**self._step(name, train_one)))
            folders.append(out / best)
        return folders, trainings

    def _trained(self, config: str, folder: Path, **settings: Any) -> Trained:
        settings |= {"steps": self.steps, "code": self.code, "show": self.show}
        return train(self.chain.folder / config, self.treebank, folder, **settings)

    def _distill(self) -> tuple[Path, Trained]:
        """Return the folder of a student of the pipelines, and its training."""
        out, treebank = self.chain.folder, self.treebank
        folders, trainings = self._train_all()

        def label(work: Path) -> dict[str, Any]:
            (work / "training").mkdir()
            file = work / "training" / "taught.spacy"
            return asdict(teach(folders, treebank, self.raw, file, note=self.note))

        taught = Taught(**self._step("labelling", label))

        def train_student(work: Path) -> dict[str, Any]:
            mixture, sentences = treebank.mixture, treebank.parts["train"].sentences
            annotated = sentences if mixture is None else mixture.sentences + mixture.copies * sentences
            copies = copies_beside(annotated, taught.sentences)
            file = str((out / "training" / "taught.spacy").absolute())
            settings = {"paths.distilled": file, "corpora.train.divisions": copies}
            trained = self._trained("student.cfg", work / "training/student", seed=self.seeds[0], settings=settings)
            trained.cpu_seconds = round(trained.cpu_seconds + sum(each.cpu_seconds for each in trainings), 1)
            trained.seconds = round(trained.seconds + sum(each.seconds for each in trainings), 1)
            return asdict(trained)

        return out / self.plan["student"][0], Trained(**self._step("student", train_student))

    def _train(self) -> tuple[Path, Trained]:
        """Return the folder of the pipeline and its training. With several seeds, it is an average of pipelines."""
        out, treebank = self.chain.folder, self.treebank
        folders, trainings = self._train_all()
        if len(folders) == 1:
            return folders[0], trainings[0]

        def average(work: Path) -> dict[str, Any]:
            calibration = callback_settings(self.config)
            if calibration is not None and treebank.mixture is not None:
                calibration = calibration | {"folds": 0}  # copies of a sentence would be in several parts
            nlp, joined = average_trained(folders, trainings, calibration, has_dev=treebank.file("dev") is not None)
            (work / "training").mkdir()
            nlp.to_disk(work / "training" / "average")
            return asdict(joined)

        return out / self.plan["average"][0], Trained(**self._step("average", average))

    def _evaluate(self, load: Callable[[], Language]) -> tuple[dict[str, Any], int]:
        """Return the evaluations of a pipeline from gold tokens and from raw text, and its words per CPU second.

        An evaluation that failed is left out. The speed is 0 if it is not measured, or without one of raw text.
        """
        gold = list(read_conllu(self.treebank.folder / f"{self.part}.conllu"))
        scores: dict[str, Any] = {}
        for name in ("gold tokens", "raw text"):

            def evaluation(work: Path, name: str = name) -> dict[str, Any]:
                return self._evaluation(load(), gold, name == "raw text", work / _output_of(name))

            found = self._step(name, evaluation)
            if "error" in found:
                self.warn(f"The {name} could not be evaluated: {found['error']}")
            else:
                scores[name] = found
        if "raw text" not in scores or not self.speed:
            return scores, 0
        return scores, self._step(_SPEED, lambda _: words_per_cpu_second(load(), gold))

    def _evaluation(self, nlp: Language, gold: list[Sentence], raw: bool, output: Path) -> dict[str, Any]:
        """Write the output of a pipeline on a treebank to a file, and return its evaluation as JSON."""
        try:
            system = predict(nlp, gold, raw=raw)
        except MindRootError as error:  # such as a sentence that is too long: no reason to make no wheel
            output.touch()
            return {"error": str(error)}
        output.write_bytes(b"".join(sentence.to_bytes() for sentence in system))
        return to_json(evaluate(gold, system))

    def _package(
        self, work: Path, best: Path, nlp: Language, trained: Trained, scores: Mapping[str, Any], speed: int
    ) -> dict[str, Any]:
        megabytes = round(sum(path.stat().st_size for path in best.rglob("*") if path.is_file()) / 1e6, 1)
        meta = make_meta(nlp, self.treebank, self.about, scores)
        facts = {"evaluated_on": self.part, "speed": speed, "megabytes": megabytes, "taught": None, "known": self.known}
        if self.student:
            facts["taught"] = self.chain.results["labelling"] | {
                "teachers": len(self.seeds),
                "raw": self.raw is not None,
            }
        lexicon = describe_lexicon(nlp.vocab)
        card = make_card(meta, self.treebank, trained, scores, _example(self.treebank), lexicon, **facts)
        (work / "README.md").write_text(card, encoding="utf8")
        wheel = build_wheel(best, work / "dist", meta, card, self.treebank.licence_file, self.code)
        size = round(wheel.stat().st_size / 1e6, 2)
        return {"about": asdict(self.about), "wheel": wheel.name, "megabytes": size, "unpacked_megabytes": megabytes}


def _output_of(name: str) -> str:
    return f"{name.replace(' ', '-')}.conllu"


def _letters(licence: str) -> str:
    """Return a licence as `ccbysa40`, however it is written."""
    return "".join(filter(str.isalnum, licence.lower()))


def _name_of(source: Path) -> str:
    """Return the name of a treebank as part of a package's: `UD_Afrikaans-AfriBooms` becomes `afrikaans_afribooms`."""
    name = source.resolve().name.partition(".conllu")[0].removeprefix("UD_").lower()
    return "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in name).split()) or "pipeline"


def _example(treebank: Treebank) -> str:
    """Return a short sentence of the training set."""
    path = treebank.file("train")
    texts = [text_of(sentence).strip() for sentence in islice(read_conllu(path), 200)] if path is not None else []
    short = [text for text in texts if len(text) <= _LONGEST_EXAMPLE]
    return max(short, key=len, default=texts[0][:_LONGEST_EXAMPLE])

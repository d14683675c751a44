"""Learning curves of distillation: a part of a treebank is labelled, and the rest of its training set is raw text.

Parsers see words alone. Tokens and sentence boundaries of the raw text and of the development set are gold; heads,
labels and parts of speech are predicted. A student has the cost of one parser.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, fields, replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str

from spacy_mindroot.arc_scorer.average import average_pipelines
from spacy_mindroot.arc_scorer.distillation import distill, expected_uas
from spacy_mindroot.conllu.columns import DEPREL
from spacy_mindroot.doc.reading import AnnotatedSentence, blank_doc, read_annotated
from spacy_mindroot.doc.targets import copies_beside
from spacy_mindroot.inference.arc_confidence import confidences_of
from spacy_mindroot.inference.calibration import expected_calibration_error, fit_to_trees
from spacy_mindroot.pipeline.held_out import HeldOut, score_held_out
from spacy_mindroot.tools.building.config import make_config, size_for
from spacy_mindroot.tools.building.distilling import swap_words
from spacy_mindroot.tools.folds import new_parser, train, with_steps
from spacy_mindroot.tools.gold import GoldSentence

from .runs import note_run, read_runs
from .training_size import gold_docs, treebank_part

__all__ = [
    "KINDS",
    "Job",
    "Run",
    "all_jobs",
    "kinds",
    "means",
    "measure",
    "plot",
    "ready",
    "run",
    "run_all",
]

# Parsers with the accurate config: those of three seeds, and their mean; a student of the three. The small config, as a
# student and alone. Of one seed: students of the half of the raw text of which the teachers are surer, and of the
# labelled text alone, as it is and with half of the words replaced by others of the same part of speech and features.
_OF_ONE_SEED = ("student of sure", "student of labelled", "student of swapped")
KINDS = ("one", "mean", "student", "small student", "small", *_OF_ONE_SEED)
# Raw text of other domains, in the data folder, and the language of its tokenizer: for a `student of` each.
DOMAINS = {
    "English-GUM": (["en-web"], "en"),
    "Irish-IDT": (["ga-twitter"], "ga"),
    "Turkish-IMST": (["tr-dictionary", "tr-reviews"], "tr"),
}
_MOST_RAW = 1500  # sentences of raw text
TEACHERS = (1, 2, 3)  # their seeds
_LABELS = ":"  # labels are compared up to it


@dataclass(frozen=True)
class Job:
    """A parser to train and to measure."""

    treebank: str
    size: int  # labelled sentences
    kind: str
    seed: int
    lexicon: bool = False

    def needs(self) -> set[Job]:
        """Return the jobs that have to be done before."""
        if self.kind == "mean":
            return {replace(self, kind="one", seed=seed) for seed in TEACHERS}
        return {replace(self, kind="mean", seed=0)} if self.text else set()

    def folder(self, work: Path) -> Path:
        """Return the folder of what its teachers and it share."""
        return work / f"{self.treebank}-{self.size}{'-lexicon' * self.lexicon}"

    @property
    def text(self) -> str:
        """Return the text that its teachers label; "" without any."""
        return self.kind.partition(" of ")[2] or ("raw" if "student" in self.kind else "")


@dataclass(frozen=True)
class Run:
    """A parser, measured on the development set. Shares and errors are in percent.

    raw (int): Sentences that its teachers have labelled.
    ece, calibrated_ece: Expected calibration errors of the heads, before and after calibration on the other half of the
        development set.
    expected_uas: The accuracy that the teachers expect in the raw text; 0 for all but the mean.
    """

    treebank: str
    size: int
    kind: str
    seed: int
    steps: int
    cpu_seconds: float
    words_per_second: float
    uas: float
    las: float
    ece: float
    calibrated_ece: float
    raw: int = 0
    expected_uas: float = 0.0
    lexicon: bool = False


def measure(found: HeldOut) -> dict[str, float]:
    """Return the accuracy and the calibration errors of a parser, given its predictions for a development set."""
    right = np.concatenate([own == gold for own, gold in zip(found.heads, found.gold_heads, strict=True)])
    labelled = np.concatenate(
        [
            np.where(heads == 0, gold == 0, scores.argmax(axis=1) == labels)
            for heads, gold, scores, labels in zip(
                found.heads, found.gold_heads, found.label_scores, found.gold_labels, strict=True
            )
        ]
    )
    halves = [np.arange(start, len(found.heads), 2) for start in (0, 1)]

    def probabilities(numbers: Iterable[int], temperature: float = 1.0, lapse: float = 0.0) -> np.ndarray:
        own = [found.matrices[k] for k in numbers], [found.heads[k] for k in numbers]
        of_each, _ = confidences_of(*own, temperature=temperature, lapse=lapse, projective=found.projective)
        return np.concatenate([each.head_prob for each in of_each])

    after, right_after = [], []
    for fitted_to, measured in (halves, halves[::-1]):
        parts = ([values[k] for k in fitted_to] for values in (found.matrices, found.heads, found.gold_heads))
        fit = fit_to_trees(*parts, projective=found.projective)
        after.append(probabilities(measured, fit.arc_temperature, fit.arc_lapse))
        right_after += [found.heads[k] == found.gold_heads[k] for k in measured]
    return {
        "uas": 100 * float(right.mean()),
        "las": 100 * float((right & labelled).mean()),
        "ece": 100 * expected_calibration_error(probabilities(range(len(found.heads))), right),
        "calibrated_ece": 100 * expected_calibration_error(np.concatenate(after), np.concatenate(right_after)),
    }


def run(job: Job, data: Path, work: Path, lexicons: Path | None, gpu: bool) -> Run:
    """Do a job. Teachers and the text that they have labelled are kept in a folder."""
    if gpu:
        spacy.require_gpu()
    probe = spacy.blank("xx")
    treebank = data / "ud" / f"UD_{job.treebank}"
    every = [_plain(each) for each in treebank_part(treebank, "train", probe.vocab)]
    dev = [_plain(each) for each in treebank_part(treebank, "dev", probe.vocab)]
    order = np.random.default_rng(0).permutation(len(every)).tolist()
    texts: dict[str, Sequence[AnnotatedSentence]] = {
        "labelled": [every[k] for k in order[: job.size]],
        "raw": [every[k] for k in order[job.size :][:_MOST_RAW]],
    }
    texts["swapped"] = list(swap_words(texts["labelled"]))
    files, lang = DOMAINS.get(job.treebank, ([], "xx"))
    texts |= {name: _tokenized(data / "raw" / f"{name}.txt", lang) for name in files if job.kind == "mean"}
    labelled = texts["labelled"]
    own = job.folder(work)
    own.mkdir(parents=True, exist_ok=True)
    steps, extra = 0, {}
    lexicon = lexicons / f"{job.treebank}.txt" if lexicons and job.lexicon else None

    def load(seed: int) -> Language:
        return _make("accuracy", len(labelled), seed, lexicon)[0].from_bytes((own / f"{seed}.teacher").read_bytes())

    began = time.process_time()
    if job.kind == "mean":
        teachers = [load(seed) for seed in TEACHERS]
        expected = {name: _label(own, teachers, name, text) for name, text in texts.items()}
        extra["expected_uas"] = 100 * expected["raw"]
        extra["raw"] = len(texts["raw"])
        nlp = average_pipelines(teachers)
    else:
        optimize = "efficiency" if "small" in job.kind else "accuracy"
        stored = DocBin().from_disk(own / f"{job.text}.spacy") if job.text else DocBin()
        extra["raw"] = len(stored)
        nlp, steps = _make(optimize, len(labelled), job.seed, lexicon)
        docs = gold_docs(nlp, labelled)
        if job.text:
            docs = docs * copies_beside(len(docs), len(stored)) + list(stored.get_docs(nlp.vocab))
        averages = train(nlp, docs, steps, job.seed)
        with nlp.use_params(averages):
            weights = nlp.to_bytes()
        nlp.from_bytes(weights)
        if job.kind == "one" and job.seed in TEACHERS:
            part = own / f"{job.seed}.part"
            part.write_bytes(weights)
            part.replace(own / f"{job.seed}.teacher")
    seconds = time.process_time() - began
    began = time.process_time()
    found = score_held_out(nlp, [[each] for each in dev])
    speed = sum(len(each.words) for each in dev) / (time.process_time() - began)
    measures = {name: round(value, 3) for name, value in (measure(found) | extra).items()}
    return Run(**vars(job), steps=steps, cpu_seconds=round(seconds, 1), words_per_second=round(speed), **measures)


def _tokenized(path: Path, lang: str) -> list[AnnotatedSentence]:
    """Return the sentences of raw text, one a line, as spaCy tokenizes them."""
    lines = path.read_text("utf8").splitlines()[:_MOST_RAW]
    docs = map(spacy.blank(lang).make_doc, filter(None, map(str.strip, lines)))
    return [sentence for doc in docs for sentence in read_annotated(doc)]


def _plain(sentence: GoldSentence) -> GoldSentence:
    """Return a sentence whose labels end before the colon."""
    for word, label in enumerate(sentence.labels, 1):
        sentence.conllu.replace(word, DEPREL, label.partition(_LABELS)[0])
    return GoldSentence(**{**vars(sentence), "labels": [label.partition(_LABELS)[0] for label in sentence.labels]})


def _make(optimize: str, labelled: int, seed: int, lexicon: Path | None) -> tuple[Language, int]:
    """Return an untrained parser for so many labelled sentences, and its number of steps."""
    files = [str(lexicon)] if lexicon else []
    text = make_config("xx", optimize, [], None, whole_doc=True, sentences=labelled, lexicons=files)
    config = load_config_from_str(text)
    steps = size_for(optimize, labelled).steps
    return new_parser(with_steps(config, steps), seed), steps


def _label(folder: Path, teachers: Sequence[Language], name: str, text: Sequence[AnnotatedSentence]) -> float:
    """Let the teachers label some text, and return the accuracy that they expect."""
    docs = list(distill(teachers, (blank_doc(teachers[0].vocab, [each]) for each in text)))
    if name == "raw":
        expected = [expected_uas([doc]) for doc in docs]
        _store([doc for doc, own in zip(docs, expected, strict=True) if own >= np.median(expected)], folder, "sure")
    _store(docs, folder, name)
    return expected_uas(docs)


def _store(docs: list[Doc], folder: Path, name: str) -> None:
    part = folder / f"{name}.part"
    DocBin(docs=docs, store_user_data=True).to_disk(part)
    part.replace(folder / f"{name}.spacy")


def ready(waiting: Iterable[Job], done: set[Job]) -> list[Job]:
    """Return the jobs that can be begun."""
    return [job for job in waiting if job.needs() <= done]


def kinds(treebank: str, domains: bool) -> list[str]:
    """Return the kinds of parsers of a treebank, with or without students of other domains."""
    return [*KINDS, *(f"student of {name}" for name in DOMAINS.get(treebank, ([], ""))[0] if domains)]


def all_jobs(
    treebanks: Sequence[str], sizes: Sequence[int], seeds: int, *, domains: bool = False, lexicon: bool = False
) -> list[Job]:
    """Return all jobs, in the order in which they are done if what they need is there.

    lexicon (bool): All parsers but those of one seed have a lexicon.
    """
    found = []
    for size, treebank in product(sizes, treebanks):
        for rank, kind in enumerate(kinds(treebank, domains)):
            own = {"one": TEACHERS, "mean": [0]}.get(kind, [1] if kind in _OF_ONE_SEED else range(1, seeds + 1))
            if not (lexicon and kind in _OF_ONE_SEED):
                found += [(sizes.index(size), rank, Job(treebank, size, kind, seed, lexicon)) for seed in own]
    return [job for _, _, job in sorted(found, key=lambda each: each[:2])]


def run_all(
    data: Path,
    jobs: Sequence[Job],
    results: Path,
    work: Path,
    *,
    lexicons: Path | None = None,
    workers: int = 1,
    gpu: bool = False,
) -> Iterator[Run]:
    """Do the jobs that are not in a file yet, in several processes, and add each to the file when it ends."""
    names = [field.name for field in fields(Job)]
    noted = {Job(**{name: each[name] for name in names if name in each}) for each in read_runs(results)}
    done = {job for job in noted if _is_kept(job, work)}
    needed = {need for job in jobs if job not in noted for need in job.needs()}
    needed |= {need for job in needed for need in job.needs()}
    waiting = [job for job in jobs if job not in noted or (job in needed and job not in done)]
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Run], Job] = {}
        while waiting or running:
            for job in ready(waiting, done)[: workers - len(running)]:
                running[pool.submit(run, job, data, work, lexicons, gpu)] = job
                waiting.remove(job)
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                job = running.pop(future)
                found = future.result()
                done.add(job)
                if job not in noted:
                    note_run(results, found)
                    yield found


def _is_kept(job: Job, work: Path) -> bool:
    """Whether what others need of a job that has been done is still there."""
    folder = job.folder(work)
    if job.kind == "one" and job.seed in TEACHERS:
        return (folder / f"{job.seed}.teacher").exists()
    texts = ["raw", *DOMAINS.get(job.treebank, ([], ""))[0]]
    return job.kind != "mean" or all((folder / f"{name}.spacy").exists() for name in texts)


def means(runs: Sequence[dict], measure_name: str) -> dict[tuple[str, int, bool, str], tuple[float, int]]:
    """Return the mean of a measure over the seeds, and their number, by treebank, size, lexicon and kind."""
    groups = defaultdict(list)
    for each in runs:
        groups[each["treebank"], each["size"], each.get("lexicon", False), each["kind"]].append(each[measure_name])
    return {group: (float(np.mean(values)), len(values)) for group, values in groups.items()}


def plot(runs: Sequence[dict], path: Path) -> bool:
    """Plot the LAS gained over one parser against the number of labelled sentences; return whether there are several.

    Parsers that were trained with one number of sentences alone are left out.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    curves: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for (treebank, size, lexicon, kind), (las, _) in means(runs, "las").items():
        if not lexicon:
            curves[treebank][kind][size] = las
    curves = {treebank: own for treebank, own in sorted(curves.items()) if len(own["one"]) > 1}
    if not curves:
        return False
    looks = {"mean": "#d55e00", "student": "#009e73", "small student": "#0072b2"}
    figure, axes = pyplot.subplots(1, len(curves), figsize=(max(6.5, 4 * len(curves)), 3.6), sharey=True, squeeze=False)
    for (treebank, own), axis in zip(curves.items(), axes[0], strict=True):
        for kind in (kind for kind in looks if len(own[kind]) > 1):
            sizes = sorted(own[kind])
            gains = [own[kind][size] - own["one"][size] for size in sizes]
            axis.plot(sizes, gains, color=looks[kind], marker="o", label=kind)
        axis.set_xscale("log")
        ticks = sorted(own["one"])
        axis.set_xticks(ticks, [str(size) for size in ticks])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.set(title=treebank, xlabel="labelled sentences")
    axes[0, 0].set(ylabel="LAS above that of one parser", ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncols=len(looks), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True

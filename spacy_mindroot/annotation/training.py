"""Trains a parser on the sentences that are accepted, in a process of its own, while the annotation goes on."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config_from_str, minibatch

from ..conllu import read_conllu, sentence_to_doc
from ..conllu.docs import sentence_without_tree
from ..decoding import decode_matrices
from ..doc.extensions import drop_extension
from ..doc.reading import read_annotated
from ..doc.words import copy_tokens
from ..errors import MindRootError
from ..inference.arc_confidence import confidences_of
from ..inference.calibration import Calibration
from ..pipeline.scoring import find_mind_root, scored
from ..tools.building.config import make_config
from ..tools.building.training import one_thread, reason
from ..tools.folds import new_parser, train, with_steps
from ..tools.gold import load_pipeline
from .suggestions import Suggester
from .treebank import Treebank

__all__ = ["Trainer", "main", "steps_for", "train_on"]

# Training steps by the number of sentences: as many as fit on a development set, roughly.
_STEPS = ((50, 300), (100, 400), (200, 600), (400, 900), (10**9, 1500))
_CONTINUED = 5e-4  # learning rate where a parser is trained further


def steps_for(sentences: int) -> int:
    """Return the number of training steps."""
    return next(steps for most, steps in _STEPS if sentences <= most)


def train_on(
    docs: Sequence[Doc], lang: str, model: str | None, steps: int, *, advance: Callable[[], object] = lambda: None
) -> Language:
    """Return a parser trained on annotated Docs: from nothing with a small config, or from a pipeline.

    advance (Callable): Called after each step.
    """
    if model is None:
        text = make_config(lang, "efficiency", [], None, whole_doc=True, sentences=len(docs), tokenizer="spacy")
        nlp = new_parser(with_steps(load_config_from_str(text), steps), 0)
        averages = train(nlp, docs, steps, 0, advance)
        with nlp.use_params(averages):
            trained = nlp.to_bytes()
        return nlp.from_bytes(trained)
    nlp = load_pipeline(model)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = _CONTINUED
    examples, shuffle = [Example(copy_tokens(doc), doc) for doc in docs], random.Random(0)
    done = 0
    while done < steps:
        for batch in minibatch(shuffle.sample(examples, len(examples)), size=16):
            nlp.update(batch, sgd=optimizer, drop=0.2)
            advance()
            done += 1
    return nlp


def main(job: str) -> None:
    """Do a job, which `Trainer.start` has written: train and save a parser, and order the sentences with it.

    Writes its progress, in percent, to standard output. Ends when standard input does: then the server is gone.
    """
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
    told = json.loads(Path(job).read_text("utf8"))
    folder = Path(job).parent
    sentences = list(read_conllu(folder / "sentences.txt"))
    nlp = None
    if told["accepted"]:
        vocab = Language().vocab if told["model"] is None else load_pipeline(told["model"]).vocab
        docs = [sentence_to_doc(vocab, sentences[k]) for k in told["accepted"]]
        for doc in docs:
            drop_extension(doc, "conllu")
        count = 0

        def advance() -> None:
            nonlocal count
            count += 1
            print(min(99, 100 * count // told["steps"]), flush=True)

        nlp = train_on(docs, told["lang"], told["model"], told["steps"], advance=advance)
        shutil.rmtree(folder / "model-new", ignore_errors=True)
        nlp.to_disk(folder / "model-new")
    nlp = nlp or load_pipeline(told["model"])
    rates = dict(zip(told["keys"], _rates(nlp, folder / "sentences.txt"), strict=True))
    (folder / "rates.json").write_text(json.dumps(rates), "utf8")


def _rates(nlp: Language, path: Path) -> list[float]:
    """Return the expected number of wrong heads per word of each sentence of a file."""
    _, component = find_mind_root(nlp)
    calibration = component.calibration or Calibration()
    found = []
    annotated = (read_annotated(sentence_without_tree(nlp.vocab, sentence)) for sentence in read_conllu(path))
    for _, sourced, _ in scored(nlp, annotated):
        matrix = sourced.matrices[0]
        heads, faults = decode_matrices([matrix], projective=component.projective)
        if faults:
            found.append(0.0)
            continue
        (own,), _ = confidences_of([matrix], heads, **calibration.distribution(projective=component.projective))
        found.append(float(np.mean(1 - np.minimum(own.head_prob, 1.0))))
    return found


class Trainer:
    """Trains in the background, one parser at a time.

    folder (Path): Where the parser is kept, as `model`, for the next time.
    lang (str): The language code of new parsers.
    model (Optional[str]): The pipeline that is trained further. None: each parser starts from nothing.
    """

    def __init__(self, folder: Path, lang: str = "xx", model: str | None = None) -> None:
        self.folder, self.lang, self.model = folder, lang, model
        self.progress: int | None = None  # in percent, 0 while sentences are ordered; None if nothing is going on
        self.error = ""
        self.trained = 0  # sentences that the parser in use was trained on here
        self._ready: tuple[Suggester, dict[str, float], int] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._watching: threading.Thread | None = None

    def kept(self) -> str | None:
        """Return the parser that was trained last, if it started from the same pipeline; otherwise that pipeline."""
        try:
            note = json.loads((self.folder / "trained.json").read_text("utf8"))
            if note["model"] == self.model and (self.folder / "model" / "meta.json").exists():
                self.trained = int(note["sentences"])
                return str(self.folder / "model")
        except (OSError, ValueError, KeyError):
            pass
        return self.model

    def start(self, treebank: Treebank, accepted: Sequence[int]) -> bool:
        """Begin to train on some sentences, from 0, or, if there are none, to order all. False if it can't begin now.

        The sentences are those in the file now: whatever the annotator does meanwhile waits for the next time.
        """
        if self.progress is not None or not len(treebank) or not (accepted or self.kept()):
            return False
        model = self.model if accepted else self.kept()
        job = {"accepted": list(accepted), "steps": steps_for(len(accepted)), "model": model, "lang": self.lang}
        job["keys"] = treebank.keys
        with open(self.folder / "sentences.txt", "wb") as file:
            for sentence in treebank:
                file.write(sentence.closed())
        (self.folder / "job.json").write_text(json.dumps(job), "utf8")
        code = "import sys; from spacy_mindroot.annotation.training import main; main(sys.argv[1])"
        command = [sys.executable, "-c", code, str(self.folder / "job.json")]
        self._process = subprocess.Popen(
            command, env=one_thread(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.progress, self.error = 0, ""
        self._watching = threading.Thread(target=self._watch, args=(self._process, len(accepted)), daemon=True)
        self._watching.start()
        return True

    def _watch(self, process: subprocess.Popen[str], sentences: int) -> None:
        said: list[str] = []
        errors = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
        errors.start()
        try:
            with process:
                for line in process.stdout or ():
                    if line.strip().isdigit():
                        self.progress = int(line)
                errors.join()
            if process.returncode:
                raise MindRootError(reason("".join(said)) or f"the process ended with status {process.returncode}")
            self._take(sentences)
        except Exception as error:  # whatever it is, the next training can begin
            self.error = f"The parser could not be trained: {error}"
            self.progress = None

    def _take(self, sentences: int) -> None:
        rates = json.loads((self.folder / "rates.json").read_text("utf8"))
        if sentences:
            model = self.folder / "model"
            shutil.rmtree(model, ignore_errors=True)
            os.replace(self.folder / "model-new", model)
            note = json.dumps({"model": self.model, "sentences": sentences})
            (self.folder / "trained.json").write_text(note, "utf8")
        suggester = Suggester(load_pipeline(str(self.kept())))
        self._ready = (suggester, rates, sentences)

    def take(self) -> tuple[Suggester, dict[str, float]] | None:
        """Return the parser that is ready, and the expected errors by sentence, once; None if there is none yet."""
        if self._ready is None:
            return None
        suggester, rates, sentences = self._ready
        self.trained = sentences or self.trained
        self._ready = self.progress = None
        return suggester, rates

    def stop(self) -> None:
        """End the training, if there is one."""
        if self._process is not None and self._watching is not None:
            self._process.kill()
            self._watching.join()

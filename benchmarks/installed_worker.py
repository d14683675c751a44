"""Trains and measures one pipeline in a process of its own, as installed: it sets no operations and no variables.

It imports nothing of the benchmarks, so that the interpreter of another installation can run it, too.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from pathlib import Path

import spacy
from spacy import util
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from thinc.api import fix_random_seed

UPDATES, BATCH = 30, 25
LONG_DOC = 10  # sentences
LONG_SENTENCE = 1000  # tokens


def read(path: Path) -> list[Doc]:
    """Return the sentences of a CoNLL-U file, one Doc each."""
    return list(conllu_to_docs(path.read_text("utf8"), n_sents=1, no_print=True))


def make_doc(nlp: Language, sentences: list[list[str]]) -> Doc:
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(nlp.vocab, words=words, sent_starts=starts)


def train(config: str, treebank: Path, target: str) -> dict[str, float]:
    """Make a pipeline that has seen some of a treebank, save it, and return the words per CPU second of training."""
    gold = read(next(treebank.glob("*-ud-train.conllu")))
    fix_random_seed(0)
    if config == "spacy":
        loaded = init_config(lang="xx", pipeline=["parser"], optimize="efficiency", gpu=False, silent=True)
    else:
        loaded = util.load_config(config)
    nlp = util.load_model_from_config(loaded, auto_fill=True)

    def examples(docs: list[Doc]) -> list[Example]:
        return [Example(make_doc(nlp, [[token.text for token in doc]]), doc) for doc in docs]

    optimizer = nlp.initialize(lambda: examples(gold))
    optimizer.learn_rate = 0.002
    words, began = 0, time.process_time()
    for k in range(UPDATES):
        batch = examples(gold[k * BATCH : (k + 1) * BATCH])
        words += sum(len(example.reference) for example in batch)
        nlp.update(batch, sgd=optimizer, drop=0.1)
    seconds = time.process_time() - began
    nlp.to_disk(target)
    return {"training, words per CPU second": words / seconds}


def measure(model: str, treebank: Path, repeats: int) -> dict[str, float]:
    """Return the figures of a saved pipeline."""
    began = time.process_time()
    nlp = spacy.load(Path(model))
    figures = {"CPU seconds to load": time.process_time() - began}
    sentences = [[token.text for token in doc] for doc in read(next(treebank.glob("*-ud-test.conllu")))]
    texts = {
        "sentences": [[sentence] for sentence in sentences],
        f"Docs of {LONG_DOC} sentences": [sentences[k : k + LONG_DOC] for k in range(0, len(sentences), LONG_DOC)],
    }
    words = sum(map(len, sentences))
    list(nlp.pipe([make_doc(nlp, text) for text in texts["sentences"][:100]]))
    for name, of_docs in texts.items():
        cpu, clock = [], []
        for _ in range(repeats):
            docs = [make_doc(nlp, text) for text in of_docs]
            began, began_clock = time.process_time(), time.perf_counter()
            list(nlp.pipe(docs, batch_size=64))
            cpu.append(time.process_time() - began)
            clock.append(time.perf_counter() - began_clock)
        figures[f"{name}, words per CPU second"] = words / statistics.median(cpu)
        figures[f"{name}, words per second"] = words / statistics.median(clock)
    some = (sentences * 25)[:: len(sentences) // 25][:50]
    times = []
    for sentence in [(sentence * 25)[:25] for sentence in some]:
        doc = make_doc(nlp, [sentence])
        began = time.process_time()
        nlp(doc)
        times.append(time.process_time() - began)
    figures["ms for one sentence of 25 tokens"] = 1000 * statistics.median(times)
    return figures


def measure_memory(model: str, treebank: Path) -> dict[str, float]:
    """Return the peak memory of a long sentence; in a process of its own, since the peak of a process never falls."""
    nlp = spacy.load(Path(model))
    words = [token.text for doc in read(next(treebank.glob("*-ud-test.conllu"))) for token in doc]
    nlp(make_doc(nlp, [words[:5]]))
    before = _megabytes("VmRSS")
    nlp(make_doc(nlp, [words[:LONG_SENTENCE]]))
    return {f"MB for {LONG_SENTENCE:,} tokens, over the loaded pipeline": _megabytes("VmHWM") - before}


def _megabytes(name: str) -> float:
    """Return a figure from Linux's /proc/self/status; 0 on other systems."""
    status = Path("/proc/self/status")
    found = re.search(rf"{name}:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found.group(1)) / 1024 if found else 0.0


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    if task == "train":
        print(json.dumps(train(arguments[0], Path(arguments[1]), arguments[2])))
    elif task == "memory":
        print(json.dumps(measure_memory(arguments[0], Path(arguments[1]))))
    else:
        print(json.dumps(measure(arguments[0], Path(arguments[1]), int(arguments[2]))))

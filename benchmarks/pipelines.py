"""Speed and memory of whole pipelines as installed: ours, spaCy's, and UDPipe 1, each in a fresh process.

Run as a script, this file is the process that trains or measures one of them. It imports nothing of this repository,
so that the interpreter of another installation can run it, too.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy import util
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from thinc.api import Config, NumpyOps, fix_random_seed, set_current_ops

ROOT = Path(__file__).parent.parent
OUR_CONFIG = ROOT / "configs" / "whole-doc-accurate.cfg"

UPDATES, BATCH = 30, 25  # of training; UDPipe sees the same sentences once
LONG_DOC = 40  # sentences
LONG_SENTENCE = 1000  # tokens
SHORT = 25  # tokens of the sentence that is parsed by itself
_PRESET = ("OPENBLAS_", "OMP_", "MKL_", "BLIS_")  # variables that change products and their threads

UDPIPE = "UDPipe 1, parsing with gold tags"
FIGURES = (
    "sentences, words per CPU second",
    "sentences, words per second",
    f"Docs of {LONG_DOC} sentences, words per CPU second",
    f"Docs of {LONG_DOC} sentences, words per second",
    f"nlp(text) of {SHORT} tokens, CPU ms",
    "mind_root, % of CPU time",
    "training, words per CPU second",
    "loading, CPU seconds",
    f"peak for {LONG_SENTENCE:,} tokens over the loaded pipeline, MB",
    "peak for the test set, whole process, MB",
)


class Contestant(NamedTuple):
    """A pipeline to measure.

    name (str): Its name in tables.
    config (str): The path of a config; "spacy" for spaCy's own tok2vec and parser; "udpipe".
    python (str): The interpreter that runs it.
    numpy (bool): All matrix products by numpy on one thread, instead of what the pipeline uses as installed.
    one_thread (bool): As installed, but for OPENBLAS_NUM_THREADS=1. For versions whose products run on all cores.
    parser (str): "own"; "spacy" for spaCy's parser on the tok2vec of the config.
    """

    name: str
    config: str
    python: str = sys.executable
    numpy: bool = False
    one_thread: bool = False
    parser: str = "own"


def contestants(other: Path | None = None, other_configs: Path | None = None) -> list[Contestant]:
    """Return all contestants, those of another installation included if its interpreter is given."""
    # sentences are given, as they are to UDPipe, and spaCy's parser finds them by itself
    configs = {f"cpu-{size}": str(ROOT / "configs" / f"whole-doc-{size}.cfg") for size in ("accurate", "small")}
    found = [
        *(Contestant(name, config) for name, config in configs.items()),
        Contestant("spaCy's tok2vec and parser", "spacy"),
        Contestant(UDPIPE, "udpipe"),
        *(Contestant(f"{name}, numpy's products", config, numpy=True) for name, config in configs.items()),
        Contestant("spaCy's tok2vec and parser, numpy's products", "spacy", numpy=True),
        *(
            Contestant(f"spaCy's parser on the tok2vec of {name}", config, parser="spacy")
            for name, config in configs.items()
        ),
    ]
    if other is not None and other_configs is not None:
        for name in configs:
            config = str(other_configs / f"{name}.cfg")
            found.append(Contestant(f"{name}, other installation", config, str(other), one_thread=True))
            found.append(Contestant(f"{name}, other installation, numpy's products", config, str(other), numpy=True))
    return found


def missing(contestant: Contestant) -> str:
    """Return why a contestant can't be measured; "" if it can."""
    if contestant.config == "udpipe":
        try:
            import ufal.udpipe  # noqa: F401
        except ImportError:
            return f"{contestant.name}: install ufal.udpipe, or the extra `benchmark`"
    return ""


def measure_pipelines(
    chosen: list[Contestant], treebank: Path, rounds: int, repeats: int
) -> Iterator[tuple[int, str, dict[str, float]]]:
    """Yield round, contestant and figures; the contestants take turns in each round.

    treebank (Path): Folder of a UD treebank in CoNLL-U format.
    rounds (int): Number of fresh processes of each contestant.
    repeats (int): Number of runs over the test set in each process. The figure of a process is that of its fastest run,
        since whatever else the machine does only slows it down.
    """
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for k, contestant in enumerate(chosen):
                model, figures = f"{folder}/{k}", {}
                tasks = [["measure", model, str(treebank), str(repeats)], ["memory", model, str(treebank)]]
                # UDPipe trains 20 times as slowly as the others; once will do
                if number == 0 or contestant.config != "udpipe":
                    tasks.insert(0, ["train", contestant.config, str(treebank), model, contestant.parser])
                for task in tasks:
                    figures |= _run(contestant, task, folder)
                yield number, contestant.name, figures


def _run(contestant: Contestant, task: list[str], folder: str) -> dict[str, float]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_PRESET)}
    products = "numpy" if contestant.numpy else "installed"
    if contestant.numpy or contestant.one_thread:
        environment["OPENBLAS_NUM_THREADS"] = "1"
    done = subprocess.run(
        [contestant.python, "-P", __file__, products, *task],
        env=environment,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    if done.returncode:
        raise RuntimeError(f"{contestant.name}: {' '.join(task)} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def spacy_parser_config() -> Config:
    """Return the config that `spacy init config -p parser -o efficiency` makes."""
    return init_config(lang="xx", pipeline=["parser"], optimize="efficiency", gpu=False, silent=True)


def with_spacy_parser(config: Config) -> Config:
    """Return our config with spaCy's parser in place of `arc_scorer` and `mind_root`."""
    config["components"] = {
        "tok2vec": config["components"]["tok2vec"],
        "parser": spacy_parser_config()["components"]["parser"],
    }
    config["nlp"]["pipeline"] = ["tok2vec", "parser"]
    return config


def read(path: Path) -> list[Doc]:
    """Return the sentences of a CoNLL-U file, one Doc each."""
    return list(conllu_to_docs(path.read_text("utf8"), n_sents=1, no_print=True))


def make_doc(nlp: Language, sentences: list[list[str]]) -> Doc:
    """Return a Doc with sentence boundaries."""
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(nlp.vocab, words=words, sent_starts=starts)


def make_docs(nlp: Language, texts: list[list[str]]) -> list[Doc]:
    """Return Docs of one sentence each, with boundaries set."""
    return [make_doc(nlp, [words]) for words in texts]


def train(config: str, treebank: Path, target: str, parser: str) -> dict[str, float]:
    """Make a pipeline that has seen some of a treebank, save it, and return the words per CPU second of training."""
    path = next(treebank.glob("*-ud-train.conllu"))
    if config == "udpipe":
        return _train_udpipe(path, target)
    gold = read(path)
    fix_random_seed(0)
    loaded = spacy_parser_config() if config == "spacy" else util.load_config(config)
    nlp = util.load_model_from_config(with_spacy_parser(loaded) if parser == "spacy" else loaded, auto_fill=True)

    def examples(docs: list[Doc]) -> list[Example]:
        return [Example(make_doc(nlp, [[token.text for token in doc]]), doc) for doc in docs]

    optimizer = nlp.initialize(lambda: examples(gold))
    optimizer.learn_rate = 0.002
    words, began = 0, 0.0
    for k in range(UPDATES):
        if k == 1:  # the first update warms up
            began = time.process_time()
        batch = examples(gold[k * BATCH : (k + 1) * BATCH])
        words += sum(len(example.reference) for example in batch) if k else 0
        nlp.update(batch, sgd=optimizer, drop=0.1)
    seconds = time.process_time() - began
    nlp.to_disk(target)
    return {"training, words per CPU second": words / seconds}


def measure(model: str, treebank: Path, repeats: int) -> dict[str, float]:
    """Return the times of a saved pipeline."""
    path = next(treebank.glob("*-ud-test.conllu"))
    if Path(model).is_file():
        return _measure_udpipe(path, model, repeats)
    began = time.process_time()
    nlp = spacy.load(Path(model))
    figures = {"loading, CPU seconds": time.process_time() - began}
    sentences = [[token.text for token in doc] for doc in read(path)]
    words = sum(map(len, sentences))
    in_sentences = [[sentence] for sentence in sentences]
    in_docs = [sentences[k : k + LONG_DOC] for k in range(0, len(sentences), LONG_DOC)]
    for name, texts in {"sentences": in_sentences, f"Docs of {LONG_DOC} sentences": in_docs}.items():
        figures |= _throughput(
            name,
            words,
            repeats,
            lambda texts=texts: [make_doc(nlp, text) for text in texts],
            lambda docs: list(nlp.pipe(docs, batch_size=64)),
        )
    # Each component by itself, on Docs that the ones before have annotated.
    seconds = dict.fromkeys(nlp.pipe_names, 0.0)
    for _ in range(repeats):
        docs = make_docs(nlp, sentences)
        for name, component in nlp.pipeline:
            began = time.process_time()
            docs = list(component.pipe(docs, batch_size=64))
            seconds[name] += time.process_time() - began
    if "mind_root" in seconds:
        figures["mind_root, % of CPU time"] = 100 * seconds["mind_root"] / sum(seconds.values())
    texts = [" ".join(words) for words in _short_sentences(sentences)]
    figures |= _time_single(lambda k: nlp(texts[k]), len(texts))
    return figures


def measure_memory(model: str, treebank: Path) -> dict[str, float]:
    """Return the peak memory of a long sentence, and of the test set; in a process of its own, since peaks never fall.

    Both are 0 where there is no Linux /proc/self/status.
    """
    path = next(treebank.glob("*-ud-test.conllu"))
    if Path(model).is_file():
        parse, sentences = _load_udpipe(model), _read_udpipe(path)
        for sentence in sentences:
            parse(sentence)
        return {"peak for the test set, whole process, MB": _megabytes("VmHWM")}
    nlp = spacy.load(Path(model))
    sentences = [[token.text for token in doc] for doc in read(path)]
    words = [word for sentence in sentences for word in sentence]
    nlp(make_doc(nlp, [words[:5]]))
    before = _megabytes("VmRSS")
    nlp(make_doc(nlp, [words[:LONG_SENTENCE]]))
    figures = {f"peak for {LONG_SENTENCE:,} tokens over the loaded pipeline, MB": _megabytes("VmHWM") - before}
    list(nlp.pipe(make_docs(nlp, sentences), batch_size=64))
    return figures | {"peak for the test set, whole process, MB": _megabytes("VmHWM")}


def _throughput(
    name: str, words: int, repeats: int, make: Callable[[], Any], parse: Callable[[Any], Any]
) -> dict[str, float]:
    cpu, clock = [], []
    for k in range(repeats + 1):
        texts = make()
        began, began_clock = time.process_time(), time.perf_counter()
        parse(texts)
        if k:  # the first run warms up
            cpu.append(time.process_time() - began)
            clock.append(time.perf_counter() - began_clock)
    return {
        f"{name}, words per CPU second": words / min(cpu),
        f"{name}, words per second": words / min(clock),
    }


def _time_single(parse: Callable[[int], Any], count: int) -> dict[str, float]:
    times = []
    for _ in range(3):
        for k in range(count):
            began = time.process_time()
            parse(k)
            times.append(time.process_time() - began)
    return {f"nlp(text) of {SHORT} tokens, CPU ms": 1000 * statistics.median(times)}


def _short_sentences(sentences: list[list[str]]) -> list[list[str]]:
    """Return sentences of SHORT tokens each, which a tokenizer finds again in their text."""
    words = [word for sentence in sentences for word in sentence if word.isalpha()]
    return [words[k * SHORT : (k + 1) * SHORT] for k in range(min(60, len(words) // SHORT))]


def _train_udpipe(path: Path, target: str) -> dict[str, float]:
    """Train UDPipe's parser, once through the same sentences, with its own settings."""
    import ufal.udpipe as udpipe

    sentences = udpipe.Sentences()
    for sentence in _read_udpipe(path)[: UPDATES * BATCH]:
        sentences.append(sentence)
    words = sum(len(sentence.words) - 1 for sentence in sentences)
    error, none, began = udpipe.ProcessingError(), udpipe.Trainer.NONE, time.process_time()
    model = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), none, none, "iterations=1;use_gold_tags=1", error
    )
    seconds = time.process_time() - began
    if error.occurred():
        raise RuntimeError(error.message)
    Path(target).write_bytes(model if isinstance(model, bytes) else model.encode("utf8", "surrogateescape"))
    return {"training, words per CPU second": words / seconds}


def _measure_udpipe(path: Path, model: str, repeats: int) -> dict[str, float]:
    began = time.process_time()
    parse = _load_udpipe(model)
    figures = {"loading, CPU seconds": time.process_time() - began}
    sentences = _read_udpipe(path)
    figures |= _throughput(
        "sentences",
        sum(len(sentence.words) - 1 for sentence in sentences),
        repeats,
        lambda: _read_udpipe(path),
        lambda sentences: [parse(sentence) for sentence in sentences],
    )
    of_length = [sentence for sentence in sentences if abs(len(sentence.words) - 1 - SHORT) <= 1]
    return figures | _time_single(lambda k: parse(of_length[k]), len(of_length))


def _load_udpipe(path: str) -> Callable[[Any], None]:
    import ufal.udpipe as udpipe

    model, error = udpipe.Model.load(path), udpipe.ProcessingError()

    def parse(sentence: Any) -> None:
        if not model.parse(sentence, udpipe.Model.DEFAULT, error):
            raise RuntimeError(error.message)

    return parse


def _read_udpipe(path: Path) -> list[Any]:
    import ufal.udpipe as udpipe

    reader, error, found = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError(), []
    reader.setText(path.read_text("utf8"))
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        found.append(sentence)
        sentence = udpipe.Sentence()
    return found


def _megabytes(name: str) -> float:
    """Return a figure from Linux's /proc/self/status; 0 on other systems."""
    status = Path("/proc/self/status")
    found = re.search(rf"{name}:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found.group(1)) / 1024 if found else 0.0


def main(products: str, task: str, *arguments: str) -> None:
    """Do one task, and print its figures as JSON."""
    if products == "numpy":
        set_current_ops(NumpyOps(use_blis=False))
    if task == "train":
        figures = train(arguments[0], Path(arguments[1]), arguments[2], arguments[3])
    elif task == "measure":
        figures = measure(arguments[0], Path(arguments[1]), int(arguments[2]))
    else:
        figures = measure_memory(arguments[0], Path(arguments[1]))
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])

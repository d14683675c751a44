"""The contestant `udpipe`: UDPipe 1 with its defaults, trained on the same treebank. It has no vectors.

Its trainer knows no limit of time, so it takes as long as it takes; the result says how long.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy_mindroot.conllu import Sentence, read_pieces
from spacy_mindroot.conllu.sentence import format_rows
from spacy_mindroot.tools.building.treebank import Treebank
from spacy_mindroot.tools.evaluation.raw_text import paragraphs

__all__ = ["UDPIPE", "predict_udpipe", "train_udpipe"]

UDPIPE = "udpipe"
_MODEL = "morphodita_parsito"


def train_udpipe(treebank: Treebank, path: Path, *, tokenizer: str = "", tagger: str = "", parser: str = "") -> float:
    """Train tokenizer, tagger and parser, write the model to a file, and return the CPU seconds.

    tokenizer, tagger, parser (str): UDPipe's options; "" for its defaults.
    """
    from ufal.udpipe import ProcessingError, Trainer

    error = ProcessingError()
    train, held_out = (_read(treebank.file(part)) for part in ("train", "dev"))
    began = time.process_time()
    model: Any = Trainer.train(_MODEL, train, held_out, tokenizer, tagger, parser, error)
    if error.occurred():
        raise SystemExit(f"UDPipe could not be trained: {error.message}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model)
    return time.process_time() - began


def predict_udpipe(path: Path, gold: Sequence[Sentence], *, raw: bool) -> list[Sentence]:
    """Return the output of a model on a treebank, from gold tokens or from raw text."""
    from ufal.udpipe import Model, Pipeline, ProcessingError

    model, error = Model.load(str(path)), ProcessingError()
    pipeline = Pipeline(model, "tokenize" if raw else "conllu", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    texts = list(paragraphs(gold)) if raw else [_unannotated(sentence) for sentence in gold]
    parts = []
    for text in texts:
        parts.append(pipeline.process(text, error))
        if error.occurred():
            raise SystemExit(f"UDPipe failed: {error.message}")
    pieces = read_pieces(io.BytesIO("".join(parts).encode("utf8")), "UDPipe's output")
    return [piece for piece in pieces if isinstance(piece, Sentence)]


def _read(path: Path | None) -> Any:
    """Return the sentences of a file as UDPipe has them."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences

    found, error, sentence = Sentences(), ProcessingError(), Sentence()
    source = InputFormat.newConlluInputFormat()
    source.setText("" if path is None else path.read_text("utf8"))
    while source.nextSentence(sentence, error):
        found.append(sentence)
        sentence = Sentence()
    if error.occurred():
        raise SystemExit(f"{path}: {error.message}")
    return found


def _unannotated(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U with its words and nothing else."""
    rows = [[str(number), word, *["_"] * 8] for number, word in enumerate(sentence.words, 1)]
    return format_rows((), rows, sentence.multiword_tokens())

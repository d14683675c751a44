"""Writes parsed documents, in every output format. Equal documents give equal bytes."""

from __future__ import annotations

import gzip
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, cast

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc, DocBin

from ..conllu.columns import CONLLU, DEPREL, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS
from ..conllu.docs import keep_sentences, updated_sentences, write_predicted
from ..conllu.marks import SentenceWriter, with_attributes
from ..conllu.rows import Cells, ParsedSentence, parsed_sentences, rows_text
from ..conllu.sentence import Sentence, followed_by_space, format_rows
from ..doc.extensions import read_extension
from ..doc.reading import sentence_bounds
from ..text_files import gzipped
from .reading import Document
from .shards import import_parquet

__all__ = ["WRITERS", "Writer"]

_TEXT_COLUMNS = (  # of a sentence in JSON and Parquet: one string per word
    ("words", FORM),
    ("lemmas", LEMMA),
    ("upos", UPOS),
    ("xpos", XPOS),
    ("feats", FEATS),
    ("deprels", DEPREL),
)
_TOKEN_COLUMNS = (  # of a word in a row of its own
    ("word", FORM),
    ("lemma", LEMMA),
    ("upos", UPOS),
    ("xpos", XPOS),
    ("feats", FEATS),
    ("deprel", DEPREL),
)
_OF_HEAD = ("word", "lemma", "upos", "deprel")  # what such a row has of the head as well
_Marked = tuple[Sentence, dict[str, str], dict[int, dict[str, str]]]  # comments, and attributes of MISC by word
_ROWS = 20_000  # sentences in a row group of Parquet


class Writer(ABC):
    """Writes the documents of a shard to an open file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.sentences = 0
        self.words = 0

    @abstractmethod
    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        """Write a document and count its sentences and words. If this raises an error, nothing has been written."""

    def add_bytes(self, between: bytes) -> None:  # noqa: B027
        """Write what is between the sentences of a CoNLL-U file. Only CoNLL-U has a place for it."""

    def close(self) -> None:  # noqa: B027
        """Write what is still to be written. The file stays open."""

    def count(self, sentences: Sequence[ParsedSentence]) -> None:
        """Count sentences and words."""
        self.sentences += len(sentences)
        self.words += sum(len(sentence.rows) for sentence in sentences)


class ConlluWriter(Writer):
    """Writes CoNLL-U. Sentences that came from CoNLL-U keep every byte that the pipeline has not predicted.

    The file ends in an empty line, and does not begin with a byte order mark, so that files can be put together.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._sentences = SentenceWriter(cast(BinaryIO, self))

    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        if document.sentence is not None:
            write_predicted(document.sentence, doc)
            marked = _with_results([document.sentence], doc, cells)
        elif read_extension(doc, "conllu") is not None:
            marked = _with_results(updated_sentences(doc), doc, cells)
        else:
            sentences = parsed_sentences(doc, cells)
            text = _formatted(document, sentences).encode()
            self._sentences.use(CONLLU)
            self.write(text)
            self.count(sentences)
            return
        for each in marked:
            self._sentences.write(*each)
            self.sentences += 1
            self.words += len(each[0])

    def write(self, text: bytes) -> None:
        self.file.write(text)

    def add_bytes(self, between: bytes) -> None:
        self._sentences.write_between(between)


class GzipConlluWriter(ConlluWriter):
    """Writes CoNLL-U, compressed with gzip."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._gzip: gzip.GzipFile = gzipped(file)

    def write(self, text: bytes) -> None:
        self._gzip.write(text)

    def close(self) -> None:
        self._gzip.close()


def _formatted(document: Document, sentences: list[ParsedSentence]) -> str:
    """Return a document in CoNLL-U: its id, its metadata as JSON, and its sentences."""
    name = document.id
    comments = {"newdoc id": name}
    if document.meta:
        comments["meta"] = _json(document.meta)
    sent_id = "_".join(name.replace("/", "_").split())  # which may have neither
    parts = []
    for number, sentence in enumerate(sentences, 1):
        rows = sentence.rows
        for row, added in zip(rows, sentence.misc(), strict=False):
            row[MISC] = with_attributes(row[MISC], added)
        comments |= {"sent_id": f"{sent_id}-{number}", "text": rows_text(rows, sentence.ranges), **sentence.comments()}
        parts.append(format_rows([f"# {key} = {value}" for key, value in comments.items()], rows, sentence.ranges))
        comments = {}
    return "".join(parts)


def _with_results(sentences: list[Sentence], doc: Doc, cells: Cells) -> list[_Marked]:
    """Return all sentences of a Doc, from CoNLL-U, with what `mind_root` has left on it."""
    if not doc.user_data:
        return [(sentence, {}, {}) for sentence in sentences]
    results = {found.tokens[0]: found for found in parsed_sentences(doc, cells)}
    marked: list[_Marked] = []
    start = 0
    for sentence in sentences:
        end = start + len(sentence)
        found = next((results[token] for token in range(start, end) if token in results), None)
        if found is None:
            marked.append((sentence, {}, {}))
        else:
            words = [token - start + 1 for token in found.tokens]
            marked.append((sentence, found.comments(), dict(zip(words, found.misc(), strict=False))))
        start = end
    return marked


class JsonWriter(Writer):
    """Writes JSON lines, one document per line."""

    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        sentences = parsed_sentences(doc, cells)
        row = {
            "id": document.id,
            "meta": document.meta,
            "text": document.text if document.text is not None else doc.text,
            "sentences": [_as_row(sentence) for sentence in sentences],
        }
        text = f"{_json(row)}\n".encode()
        self.count(sentences)
        self.file.write(text)


def _as_row(sentence: ParsedSentence) -> dict[str, Any]:
    """Return a sentence as named columns: "" stands for an unknown cell, and None for an unknown head."""
    rows = sentence.rows
    found: dict[str, Any] = {"text": rows_text(rows, sentence.ranges)}
    for name, column in _TEXT_COLUMNS:
        cells = [row[column] for row in rows]
        found[name] = cells if name == "words" else ["" if cell == "_" else cell for cell in cells]
    found["heads"] = [None if row[HEAD] == "_" else int(row[HEAD]) for row in rows]
    found["space_after"] = [followed_by_space(row[MISC]) for row in rows]
    for first, last, cells in sentence.ranges:
        found["space_after"][first - 1 : last] = [False] * (last - first) + [followed_by_space(cells[MISC])]
    found["multiword_tokens"] = [
        {"form": cells[FORM], "first": first, "last": last} for first, last, cells in sentence.ranges
    ]
    if sentence.head_prob is not None and sentence.head_entropy is not None:
        found["head_prob"] = [round(value, 4) for value in sentence.head_prob]
        found["head_entropy"] = [round(value, 4) for value in sentence.head_entropy]
    if sentence.tree_logprob is not None and sentence.tree_margin is not None:
        found["tree_logprob"] = float(f"{sentence.tree_logprob:.6g}")
        # JSON has no infinity: there is no other tree.
        found["tree_margin"] = None if math.isinf(sentence.tree_margin) else float(f"{sentence.tree_margin:.6g}")
    if sentence.trees_in_set is not None:
        found["trees_in_set"] = None if math.isinf(sentence.trees_in_set) else float(f"{sentence.trees_in_set:.6g}")
    if sentence.trees:
        found["trees"] = [
            {"weight": float(f"{weight:.6g}"), "heads": np.asarray(heads).tolist()} for heads, weight in sentence.trees
        ]
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class ParquetWriter(Writer):
    """Writes Parquet, one sentence per row, with the columns of `JsonWriter` and `doc_id`, `doc_meta` and `number`."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        parquet = import_parquet()
        import pyarrow as pa

        self._pa = pa
        self._schema = pa.schema(self._columns(pa))
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def _columns(self, pa: Any) -> list[tuple[str, Any]]:
        words, numbers, number = pa.list_(pa.string()), pa.list_(pa.float64()), pa.int32()
        return [
            ("doc_id", pa.string()),
            ("doc_meta", pa.string()),
            ("number", number),
            ("text", pa.string()),
            *((name, words) for name, _ in _TEXT_COLUMNS),
            ("heads", pa.list_(pa.int32())),
            ("space_after", pa.list_(pa.bool_())),
            ("multiword_tokens", pa.list_(pa.struct([("form", pa.string()), ("first", number), ("last", number)]))),
            ("head_prob", numbers),
            ("head_entropy", numbers),
            ("tree_logprob", pa.float64()),
            ("tree_margin", pa.float64()),
            ("trees_in_set", pa.float64()),
            ("trees", pa.list_(pa.struct([("weight", pa.float64()), ("heads", pa.list_(pa.int32()))]))),
        ]

    def _rows_of(self, document: Document, sentences: list[ParsedSentence]) -> list[dict[str, Any]]:
        meta = _json(document.meta)
        return [
            {"doc_id": document.id, "doc_meta": meta, "number": number, **_as_row(sentence)}
            for number, sentence in enumerate(sentences, 1)
        ]

    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        sentences = parsed_sentences(doc, cells)
        self._rows += self._rows_of(document, sentences)
        self.count(sentences)
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


class TokenWriter(ParquetWriter):
    """Writes Parquet, one word per row with columns of its head, for queries. Unknown cells are null."""

    def _columns(self, pa: Any) -> list[tuple[str, Any]]:
        text, number = pa.string(), pa.int32()
        return [
            ("doc_id", text),
            ("number", number),
            ("token", number),
            *((name, text) for name, _ in _TOKEN_COLUMNS),
            ("head", number),
            *((f"head_{name}", text) for name, _ in _TOKEN_COLUMNS if name in _OF_HEAD),
            ("head_prob", pa.float64()),
        ]

    def _rows_of(self, document: Document, sentences: list[ParsedSentence]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number, sentence in enumerate(sentences, 1):
            words = [
                {name: row[at] if row[at] != "_" or at == FORM else None for name, at in _TOKEN_COLUMNS}
                for row in sentence.rows
            ]
            for token, (word, row) in enumerate(zip(words, sentence.rows, strict=True), 1):
                head = None if row[HEAD] == "_" else int(row[HEAD])
                of_head = {f"head_{name}": words[head - 1][name] for name in _OF_HEAD} if head else {}
                prob = None if sentence.head_prob is None else round(sentence.head_prob[token - 1], 4)
                place = {"doc_id": document.id, "number": number, "token": token}
                found.append({**place, **word, "head": head, **of_head, "head_prob": prob})
        return found


class DocBinWriter(Writer):
    """Writes a `DocBin`. The id and the metadata of a document are `doc.user_data["id"]` and `["meta"]`."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._docs = DocBin(store_user_data=True)

    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        doc.user_data["id"] = document.id
        if document.meta:
            doc.user_data["meta"] = document.meta
        if document.sentence is not None:
            write_predicted(document.sentence, doc)
            keep_sentences(doc, [document.sentence])
        self._docs.add(doc)
        # As in the other formats: white-space tokens, and sentences of nothing else, do not count.
        words = doc.to_array(IS_SPACE) == 0
        self.sentences += sum(bool(words[start:end].any()) for start, end in sentence_bounds(doc))
        self.words += int(words.sum())

    def close(self) -> None:
        self.file.write(self._docs.to_bytes())


class RelationWriter(Writer):
    """Writes how often each relation occurs, a line of tab-separated values each: head, label, dependent, frequency.

    Words are lemmas, or forms where there is no lemma; the head of the root is ROOT. The lines are in the order of
    their bytes up to the frequency, so that sorted files can be merged.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._counts: Counter[str] = Counter()

    def add(self, document: Document, doc: Doc, cells: Cells) -> None:
        sentences = parsed_sentences(doc, cells)
        for sentence in sentences:
            words = ["ROOT", *(row[FORM if row[LEMMA] == "_" else LEMMA] for row in sentence.rows)]
            self._counts.update(
                f"{words[int(row[HEAD])]}\t{row[DEPREL]}\t{word}"
                for row, word in zip(sentence.rows, words[1:], strict=True)
                if row[HEAD] != "_"
            )
        self.count(sentences)

    def close(self) -> None:
        lines = sorted((relation.encode(), count) for relation, count in self._counts.items())
        self.file.write(b"".join(b"%s\t%d\n" % line for line in lines))


WRITERS: dict[str, Callable[[BinaryIO], Writer]] = {  # by the format; see `Settings.ending` for the files' names
    "conllu": ConlluWriter,
    "conllu.gz": GzipConlluWriter,
    "spacy": DocBinWriter,
    "jsonl": JsonWriter,
    "parquet": ParquetWriter,
    "tokens": TokenWriter,
    "relations": RelationWriter,
}

"""The properties that fuzzing checks, one class per target written in Python.

Each has `seeds`, the inputs to start from, `mutations`, and `check(data, folder)`, which raises if a property fails.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import spacy
import typer
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_mindroot.cli import mindroot
from spacy_mindroot.conllu import (
    Sentence,
    doc_to_conllu,
    read_conllu,
    read_pieces,
    repair_sentence,
    sentence_to_doc,
    sentences_to_doc,
)
from spacy_mindroot.doc.words import multiword_tokens, word_forms
from spacy_mindroot.errors import ConlluError, MindRootError, ScoreFileError, TrainingError
from spacy_mindroot.labels import is_root_label
from spacy_mindroot.pipeline.annotate import restore_sentences
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.scored import decode_sentences
from spacy_mindroot.tokenizer.tokenizer import LearntTokenizer

from .mutation import Mutation, mutated_bytes, mutated_conllu, mutated_scores

CORPUS = Path(__file__).parent / "corpus"
WRITE_CONLLU = ("audit", "decode", "evaluate", "parse", "rank", "repair", "suspect", "vote")
_KIB, _MIB = 1 << 10, 1 << 20


def corpus_files(*names: str) -> list[Path]:
    """Return the files in these folders of the corpus, in order."""
    return sorted(path for name in names for path in (CORPUS / name).iterdir() if path.is_file())


class Target:
    """A function to fuzz.

    name (str): As on the command line.
    folders (tuple[str, ...]): The folders of the corpus that its seeds are in.
    mutations (tuple[Mutation, ...]): What is done to a seed.
    """

    name: ClassVar[str]
    folders: ClassVar[tuple[str, ...]]
    mutations: ClassVar[tuple[Mutation, ...]]

    def seeds(self) -> list[bytes]:
        return [path.read_bytes() for path in corpus_files(*self.folders)]

    def check(self, data: bytes, folder: Path) -> None:
        """Raise AssertionError, or any error that users should not see, if a property fails for this input.

        folder (Path): An empty folder for files.
        """
        raise NotImplementedError


class Conllu(Target):
    """The CoNLL-U reader: no errors but the package's own, and the pieces of a file make up the file."""

    name = "conllu"
    folders = ("conllu",)
    mutations = (mutated_conllu, mutated_conllu, mutated_conllu, mutated_bytes)

    def __init__(self) -> None:
        self.vocab = Vocab()

    def check(self, data: bytes, folder: Path) -> None:
        path = folder / "in.conllu"
        path.write_bytes(data)
        faults: list[ConlluError] = []
        pieces: list[Sentence | bytes] = []
        refused = None
        try:
            with open(path, "rb") as file:
                pieces = list(read_pieces(file, "in.conllu", faults.append))
        except ConlluError as error:  # no text at all: UTF-16, or damaged gzip
            refused = error
        else:
            assert _joined(pieces) == _unzipped(data), "the pieces are not the file"
        strict = None
        try:
            with open(path, "rb") as file:
                assert _joined(list(read_pieces(file, "in.conllu"))) == _unzipped(data), "the pieces are not the file"
        except ConlluError as error:
            strict = error
            assert str(error).strip(), "an error without a message"
        assert (strict is None) == (not faults and refused is None), "the strict reader and the tolerant one disagree"
        with contextlib.suppress(ConlluError):
            list(read_conllu(path))
        for piece in pieces:
            if isinstance(piece, Sentence):
                self.check_sentence(piece)

    def check_sentence(self, sentence: Sentence) -> None:
        before = sentence.to_bytes()
        for read in (
            lambda: (sentence.words, sentence.labels, sentence.comments, sentence.sent_id),
            lambda: (sentence.multiword_tokens(), sentence.empty_nodes(), sentence.text()),
            sentence.check_heads,
            lambda: sentence_to_doc(self.vocab, sentence, surface_tokens=True),
        ):
            with contextlib.suppress(ConlluError):
                read()
        assert sentence.to_bytes() == before, "reading has changed the sentence"
        try:
            doc = sentence_to_doc(self.vocab, sentence)
        except ConlluError:
            return
        assert len(doc) == len(sentence)
        written = doc_to_conllu(doc).encode()
        if written.startswith(b"# global.columns") and not before.startswith(b"# global.columns"):
            written = written.partition(b"\n")[2]  # CoNLL-U Plus: each Doc carries the header of its file
        assert written == before, "a Doc does not give back the bytes that it came from"


class Repair(Target):
    """The repair: what it writes is well formed, needs no second repair, and differs in HEAD and DEPREL alone."""

    name = "repair"
    folders = ("conllu",)
    mutations = (mutated_conllu,)

    def check(self, data: bytes, folder: Path) -> None:
        path = folder / "in.conllu"
        path.write_bytes(data)
        pieces: list[Sentence | bytes] = []
        with open(path, "rb") as file, contextlib.suppress(ConlluError):
            for piece in read_pieces(file, "in.conllu", lambda error: None):
                if isinstance(piece, Sentence):
                    check_repair(piece)
                pieces.append(piece)
        if not any(isinstance(piece, Sentence) for piece in pieces):
            return
        again = read_pieces(io.BytesIO(_joined(pieces)), "again", lambda error: None)
        heads = [[piece.heads for piece in some if isinstance(piece, Sentence)] for some in (pieces, again)]
        assert heads[0] == heads[1], "the repaired file reads otherwise"


def check_repair(sentence: Sentence) -> None:
    """Raise AssertionError if repairing the sentence breaks a property."""
    before = sentence.to_bytes()
    try:
        changes = repair_sentence(sentence)
    except ConlluError:
        assert sentence.to_bytes() == before, "a refused sentence has been changed"
        return
    after = sentence.to_bytes()
    assert bool(changes) == (after != before), "the changes reported are not the changes made"
    assert single_rooted(sentence.heads), f"malformed after the repair: {sentence.heads}"
    with contextlib.suppress(ConlluError):  # cells that are not UTF-8, in a sentence that was well formed
        for label, head in zip(sentence.labels, sentence.heads, strict=True):
            assert is_root_label(label) == (head == 0), f"label {label!r} with head {head}"
    assert not repair_sentence(sentence), "the repair is not idempotent"
    assert sentence.to_bytes() == after
    cells = {
        change.line - sentence.line: {(change.old_head, change.head), (change.old_label, change.label)}
        for change in changes
    }
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new)
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        if was != now:
            pairs = zip(
                was.decode("utf8", "replace").split("\t"), now.decode("utf8", "replace").split("\t"), strict=True
            )
            apart = {(old_cell, new_cell) for old_cell, new_cell in pairs if old_cell != new_cell}
            assert apart <= cells.get(number, set()), f"cells {apart} have changed; reported are {cells.get(number)}"


def single_rooted(heads: list[int]) -> bool:
    """Whether the heads form a tree with one root, found without the package."""
    if heads.count(0) != 1 or not all(0 <= head <= len(heads) for head in heads):
        return False
    for at in range(1, len(heads) + 1):
        for _ in heads:
            at = heads[at - 1] if at else 0
        if at:
            return False
    return True


class Scores(Target):
    """Score files: read, or refused with `ScoreFileError`, with memory in proportion to the file."""

    name = "scores"
    folders = ("scores",)
    mutations = (mutated_scores, mutated_scores, mutated_scores, mutated_bytes)

    # A deflated file holds at most 1032 times its size, and a reader may copy what it has read a few times. Any file
    # may take as much as `score_file` lets the smallest take, and each sentence is an object.
    most_memory_per_byte = 4 * 1032
    most_memory = 64 * _MIB

    def check(self, data: bytes, folder: Path) -> None:
        path = folder / "in.npz"
        path.write_bytes(data)
        tracemalloc.start()
        try:
            try:
                sentences = read_score_file(path)
            except ScoreFileError as error:
                assert str(path) in str(error), f"the message does not name the file: {error}"
                return
            finally:
                peak = tracemalloc.get_traced_memory()[1]
                allowed = self.most_memory + self.most_memory_per_byte * len(data)
                assert peak <= allowed, f"{peak / _MIB:.0f} MiB to read a file of {len(data) / _KIB:.1f} KiB"
            for sentence in sentences:
                assert sentence.scores.shape == (len(sentence.words), len(sentence.words) + 1)
            short = [sentence for sentence in sentences if 0 < len(sentence.words) <= 200][:50]
            try:
                decoded = list(decode_sentences(short, source=str(path)))
            except MindRootError:
                return
            for each in decoded:
                assert single_rooted(each.single_root.tolist()), each.single_root
                assert len(each.sentence.labels(each.single_root)) == len(each.single_root)
        finally:
            tracemalloc.stop()


class Files(Target):
    """Every command, with random options, on random files: a message and an exit status, never a traceback.

    The first bytes of an input choose the command and its options; the rest is the file. Properties: the inputs are as
    they were, unless one of them is the output; a command that fails writes nothing; no temporary file stays behind;
    CoNLL-U that a command writes reads back, but for what it was told to leave as it is.
    """

    name = "files"
    folders = ("conllu", "scores")
    mutations = (mutated_conllu, mutated_scores, mutated_bytes)
    prefix = 8

    def __init__(self) -> None:
        spacy.registry.cli.get_all()
        group: Any = typer.main.get_command(mindroot)
        self.commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
        self.others = [(path.name, path.read_bytes()) for path in corpus_files(*self.folders)]

    def seeds(self) -> list[bytes]:
        rng = random.Random(0)
        return [rng.randbytes(self.prefix) + seed for seed in super().seeds() for _ in range(8)]

    def check(self, data: bytes, folder: Path) -> None:
        rng = random.Random(data[: self.prefix])
        inputs = folder / "inputs"
        (inputs / "folder").mkdir(parents=True)
        name, other = rng.choice(self.others)
        for file, content in (
            ("a.conllu", data[self.prefix :]),
            ("a.npz", data[self.prefix :]),
            (f"b-{name}", other),
            ("folder/a.conllu", data[self.prefix :]),
            ("empty.conllu", b""),
        ):
            (inputs / file).write_bytes(content)
        before = _contents(inputs)
        outputs = folder / "outputs"
        outputs.mkdir()
        command = rng.choice(sorted(self.commands))
        arguments = self.arguments(self.commands[command], rng, inputs, outputs)
        with contextlib.chdir(outputs):  # where a command may take "-" for a folder
            result = CliRunner().invoke(mindroot, [command, *arguments], input=data[self.prefix :])
        shown = f"`{command} {' '.join(arguments)}`"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"{shown} ends in a traceback") from result.exception
        assert result.exit_code in (0, 1, 2), f"{shown}: exit status {result.exit_code}"
        assert "Traceback (most recent" not in result.output, shown
        after = _contents(inputs)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        written = _contents(outputs)
        assert not [path for path in (*written, *after) if Path(path).name.startswith(".")], f"{shown}: {written}"
        if command in WRITE_CONLLU and "--skip-invalid" not in arguments:
            for name, content in written.items():
                if (len(Path(name).parts) == 1 or name.endswith(".conllu")) and not content.startswith((b"{", b"[")):
                    list(read_pieces(io.BytesIO(content), name))  # not a report, in JSON
        if result.exit_code and "--check" not in arguments:  # which exits with 1 if it finds something to report
            assert not changed, f"{shown} fails and has changed {changed}"
            assert not written, f"{shown} fails and has written {list(written)}"

    def arguments(self, command: Any, rng: random.Random, inputs: Path, outputs: Path) -> list[str]:
        """Return random values for the parameters of a command. Options that are required are always given."""
        given: list[str] = []
        files = [str(path) for path in sorted(inputs.rglob("*"))] + [str(inputs), "-", str(inputs / "missing")]
        for parameter in command.params:
            is_option = parameter.param_type_name == "option"
            if is_option and (parameter.name == "help" or (not parameter.required and rng.random() < 0.6)):
                continue
            if not is_option and not parameter.required and rng.random() < 0.3:
                continue
            name = [max(parameter.opts, key=len)] if is_option else []
            if getattr(parameter, "is_flag", False):
                given += name
                continue
            for _ in range(rng.choice((1, 2, 3)) if parameter.nargs == -1 else 1):
                given += [*name, self.value(parameter, rng, files, outputs)]
        return given

    @staticmethod
    def value(parameter: Any, rng: random.Random, files: list[str], outputs: Path) -> str:
        """Return a random value for a parameter, most often of a kind that fits."""
        numbers = ("-1", "0", "1", "2", "3", "0.5", "nan", "1e308")
        texts = ("", "x", "en", "_", "root", "dep", "a b", "1,2", "1e308,1e308", "nan", "tagger", "efficiency", "a\nb")
        if parameter.name in ("out", "report"):  # what is written stays in a folder of its own
            name = rng.choice(("out", "o.conllu", "o.jsonl", "o.html", "o.svg", "no/out"))
            return rng.choice((str(outputs / name), "-"))
        if isinstance(parameter.default, int | float):
            return rng.choice(numbers)
        if isinstance(parameter.default, str):
            return rng.choice(texts)
        if parameter.required or parameter.param_type_name == "argument":
            return rng.choice(files)
        return rng.choice([*texts, *numbers, *files])


class Docs(Target):
    """Docs: written as CoNLL-U, read and written again they give the same text, also if they are stored in between.

    An input is CoNLL-U, and also the text of a Doc.
    """

    name = "docs"
    folders = ("conllu",)
    mutations = (mutated_conllu, mutated_conllu, mutated_bytes)

    def __init__(self) -> None:
        self.nlp = spacy.blank("en")
        self.nlp.add_pipe("sentencizer")

    def check(self, data: bytes, folder: Path) -> None:
        text = data.decode("utf8", "replace").replace("\0", "")  # with many of them, it would be taken for UTF-16
        self.check_doc(self.nlp(text[:2000]))
        good = []
        with contextlib.suppress(ConlluError):
            for piece in read_pieces(io.BytesIO(data), "in.conllu", lambda error: None):
                with contextlib.suppress(ConlluError):
                    if isinstance(piece, Sentence) and sentence_to_doc(self.nlp.vocab, piece):
                        good.append(piece)
        doc = sentences_to_doc(self.nlp.vocab, good)
        text = doc_to_conllu(doc)
        for stored in self.stored(doc):
            assert doc_to_conllu(stored) == text, "storing a Doc changes its CoNLL-U"
        found = [piece for piece in read_pieces(io.BytesIO(text.encode()), "out") if isinstance(piece, Sentence)]
        assert [sentence.words for sentence in found] == [sentence.words for sentence in good], "sentences are lost"
        doc._.conllu = None
        self.check_doc(doc)

    def check_doc(self, doc: Doc) -> None:
        text = doc_to_conllu(doc)
        sentences = [piece for piece in read_pieces(io.BytesIO(text.encode()), "out") if isinstance(piece, Sentence)]
        assert "".join(sentence.text() for sentence in sentences) == text, "a Doc gives more than sentences"
        again = sentences_to_doc(self.nlp.vocab, sentences)
        assert doc_to_conllu(again) == text
        again._.conllu = None
        text = _without_white_space(text)
        for stored in self.stored(again, Doc(self.nlp.vocab).from_json(again.to_json())):
            assert doc_to_conllu(stored) == text, "a Doc that was read has another text"

    def stored(self, doc: Doc, *others: Doc) -> list[Doc]:
        """Return the Doc, and what comes back if it is stored; not if words lack a head, of which spaCy loses track."""
        if doc.has_annotation("DEP") and not doc.has_annotation("DEP", require_complete=True):
            return [doc]
        docs = list(DocBin(docs=[doc], store_user_data=True).get_docs(self.nlp.vocab))
        docs += [Doc(self.nlp.vocab).from_bytes(doc.to_bytes()), *others]
        for each in docs:
            restore_sentences(each)
        return [doc, *docs]


def _without_white_space(text: str) -> str:
    """Return CoNLL-U without the attributes for white space that a Doc made from it has no place for."""
    lines = []
    for line in text.split("\n"):
        *cells, misc = line.split("\t")
        if cells:
            misc = "|".join(each for each in misc.split("|") if not each.startswith("Spaces")) or "_"
        lines.append("\t".join([*cells, misc]))
    return "\n".join(lines)


def _joined(pieces: list[Sentence | bytes]) -> bytes:
    return b"".join(piece.to_bytes() if isinstance(piece, Sentence) else piece for piece in pieces)


def _unzipped(data: bytes) -> bytes:
    """Return what is in a gzip file, and other data as they are."""
    with contextlib.suppress(OSError, EOFError, zlib.error):
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    return data


def _contents(folder: Path) -> dict[str, bytes]:
    return {os.path.relpath(path, folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Words(Target):
    """The tokenizer: it learns from any sentences, no text changes, and a damaged file is refused or harmless."""

    name = "words"
    folders = ("conllu",)
    mutations = (mutated_conllu, mutated_conllu, mutated_bytes)

    def __init__(self) -> None:
        self.nlp = spacy.blank("xx")

    def check(self, data: bytes, folder: Path) -> None:
        docs = []
        with contextlib.suppress(ConlluError):
            for piece in read_pieces(io.BytesIO(data), "in.conllu", lambda error: None):
                with contextlib.suppress(ConlluError):
                    if isinstance(piece, Sentence):
                        docs.append(sentence_to_doc(self.nlp.vocab, piece))
        tokenizer = LearntTokenizer.for_language(self.nlp)
        if docs:
            tokenizer.initialize(lambda: (Example(doc, doc) for doc in docs))
        text = data.decode("utf8", "replace").replace("\0", "")[:2000]  # with many, CoNLL-U would be taken for UTF-16
        self.check_text(tokenizer, text)
        state = bytearray(tokenizer.to_bytes())
        self.check_text(LearntTokenizer.for_language(self.nlp).from_bytes(bytes(state)), text)
        state[random.Random(data).randrange(len(state))] ^= 1
        with contextlib.suppress(TrainingError):
            self.check_text(LearntTokenizer.for_language(self.nlp).from_bytes(bytes(state)), text)

    def check_text(self, tokenizer: LearntTokenizer, text: str) -> None:
        doc = tokenizer(text)
        assert doc.text == text, "the text has changed"
        for token in multiword_tokens(doc):
            assert token.surface == doc[token.start : token.end].text and len(token.words) > 1
        pieces = read_pieces(io.BytesIO(doc_to_conllu(doc).encode()), "out")
        found = [word for each in pieces if isinstance(each, Sentence) for word in each.words]
        forms = [" ".join(form.split()) for form in word_forms(doc)]
        assert found == [form for form in forms if form], "words are lost in CoNLL-U"


TARGETS: dict[str, Callable[[], Target]] = {
    "conllu": Conllu,
    "repair": Repair,
    "scores": Scores,
    "files": Files,
    "docs": Docs,
    "words": Words,
}

"""A treebank of one's own or of UD: its parts, what is annotated in it, and its licence."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.util import get_lang_class
from spacy.vocab import Vocab

from ...conllu import Sentence, conllu_files, read_conllu, sentence_to_doc
from ...conllu.columns import COLUMNS, FEATS, LEMMA, UPOS, XPOS
from ...conllu.files import refuse_link_out
from ...conllu.marks import SentenceWriter
from ...errors import ConlluError, CorpusError
from ...escapes import printable
from ...pipeline.calibration import callback_settings

__all__ = [
    "PARTS",
    "Mixture",
    "Part",
    "Related",
    "Treebank",
    "checked_sentences",
    "find_parts",
    "licence_of",
    "prepare_treebank",
    "spacy_language",
]

PARTS = ("train", "dev", "test")
_PART = re.compile(r"(?:^|[-_.])(train|dev|test)(?=[-_.]|$)")
_UD_FILE = re.compile(r"([a-z]{2,3})_[a-z0-9]+-(?:ud-)?(?:train|dev|test)")
_LAYERS = {"morphologizer": FEATS, "trainable_lemmatizer": LEMMA}  # the columns that some components learn
_FEWEST = 20  # sentences of a treebank that is divided here
_ANY_LANGUAGE = "xx"
_TREEBANK_ROWS = 50  # few treebanks share a row of the four that each has


@dataclass
class Part:
    """The training, development or test set of a treebank."""

    sentences: int = 0
    words: int = 0
    multiword_tokens: int = 0

    def add(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.words += len(sentence)
        self.multiword_tokens += len(sentence.multiword_tokens())


@dataclass
class Related:
    """A related treebank."""

    name: str  # of its folder, or of its file
    part: str  # mixed in: "train", or "dev" if it has no training set, or "" if it is not divided
    sentences: int = 0
    words: int = 0
    licence: str = ""  # what the README of a UD treebank says; "" if it is unknown
    unused: list[str] = field(default_factory=list)


@dataclass
class Mixture:
    """A treebank and related ones, mixed in one file."""

    file: Path
    related: list[Related]
    copies: int  # of each sentence of the treebank itself
    digest: str

    @property
    def sentences(self) -> int:
        """The number of different sentences of the related treebanks."""
        return sum(each.sentences for each in self.related)

    def overrides(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a config that change for training on the mixture, by their names with dots.

        `PassageCorpus` reads the mixture once, since it has the copies already. `NGramHashEmbed` learns a vector for
        each treebank. There is no calibration by cross-validation, since copies of a sentence would be in several
        parts.
        """
        changed: dict[str, Any] = {"paths.train": str(self.file)}
        if config["corpora"]["train"].get("@readers") == "spacy-mindroot.PassageCorpus.v1":
            changed |= {"corpora.train.divisions": 1, "corpora.train.tags_from_pos": False}
        encoder = config.get("components", {}).get("tok2vec", {}).get("model", {})
        if encoder.get("embed", {}).get("@architectures") == "spacy-mindroot.NGramHashEmbed.v1":
            changed["components.tok2vec.model.embed.treebank_rows"] = _TREEBANK_ROWS
        if callback_settings(config) is not None:
            changed["training.before_to_disk.folds"] = 0
        return changed

    def facts(self) -> dict[str, Any]:
        """Return everything about the mixture, for JSON, except where it is."""
        facts = asdict(self)
        del facts["file"]
        return facts


@dataclass
class Treebank:
    """A treebank, copied to a folder with one file for each part."""

    name: str  # of its folder, or of its file
    folder: Path  # with train.conllu and, if it has these parts, dev.conllu and test.conllu
    language: str  # in its file names, such as "af" in af_afribooms-ud-train.conllu; "" if there is none
    parts: dict[str, Part] = field(default_factory=dict)
    # Components that can be trained on it, besides the parser: `tagger` if its tags (XPOS) say more than UPOS,
    # `morphologizer` for UPOS or features, and `trainable_lemmatizer`.
    annotated: list[str] = field(default_factory=list)
    has_text: bool = False  # whether something can be learnt of the training set about tokens in text
    licence: str = ""  # what the README of a UD treebank says, such as "CC BY-SA 4.0"; "" if it is unknown
    licence_file: Path | None = None
    unused: list[str] = field(default_factory=list)  # files without a part in their names, although others have one
    divided: bool = False  # here, since no file was named after a part
    digest: str = ""
    mixture: Mixture | None = None  # with related treebanks, to train on instead of the training set

    def file(self, part: str) -> Path | None:
        """Return the file of a part; None if the treebank lacks it."""
        return self.folder / f"{part}.conllu" if part in self.parts else None

    def facts(self) -> dict[str, Any]:
        """Return everything about the treebank, for JSON, except where it is."""
        facts = asdict(self)
        del facts["folder"], facts["licence_file"], facts["mixture"]
        return facts


def prepare_treebank(source: Path, folder: Path) -> Treebank:
    """Check a treebank, copy its parts to a folder, and count what is in it.

    Files belong to the part in their names: `train`, `dev` or `test` between hyphens, dots, underscores. If no name has
    one, the first 80 % of the sentences are for training, 10 % for development and the last 10 % for testing.
    Otherwise, files without a part are not used.

    RAISES (CorpusError): If there are no training sentences, or too few to divide. ConlluError: for the first sentence
        that is at fault, or whose tree is not single-rooted.
    """
    name, files, unused = find_parts(source, "treebank")
    divided = not any(files.get(part) for part in PARTS)
    if not divided and "train" not in files:
        raise CorpusError(
            f"There is no training set in {source}. Let its file name contain `train`, or name no file after a part."
        )
    codes = {match[1] for paths in files.values() for path in paths if (match := _UD_FILE.match(path.name))}
    language = codes.pop() if len(codes) == 1 else ""
    treebank = Treebank(name, folder, language, unused=unused, divided=divided)
    folder.mkdir(parents=True, exist_ok=True)
    tags: set[tuple[str, str]] = set()  # UPOS and XPOS
    layers: set[str] = set()
    named = {part: checked_sentences(files.get(part, [])) for part in PARTS}
    streams = _divided(files[""]) if divided else named
    digest = hashlib.sha256()
    for part, sentences in streams.items():
        counts = Part()
        path = folder / f"{part}.conllu"
        with open(path, "wb") as file:
            writer = SentenceWriter(file)
            for sentence in sentences:
                counts.add(sentence)
                if part == "train":
                    tags.update(zip(sentence.column(UPOS), sentence.column(XPOS), strict=True))
                    treebank.has_text |= _has_text(sentence)
                    layers |= {name for name, column in _LAYERS.items() if {*sentence.column(column)} - {"_"}}
                digest.update(writer.write(sentence))
        digest.update(part.encode())
        if counts.sentences:
            treebank.parts[part] = counts
        else:
            path.unlink()
    if "train" not in treebank.parts:
        raise CorpusError(f"There are no training sentences in {source}.")
    treebank.digest = digest.hexdigest()
    of_upos = Counter(upos for upos, xpos in tags if xpos != "_")
    if any(number > 1 for number in of_upos.values()):  # UPOS does not determine the tag
        layers.add("tagger")
    if any(upos != "_" for upos, _ in tags):
        layers.add("morphologizer")
    treebank.annotated = [name for name in ("tagger", *_LAYERS) if name in layers]
    treebank.licence, treebank.licence_file = licence_of(source)
    return treebank


def _has_text(sentence: Sentence) -> bool:
    """Whether a sentence says that no space follows a token, or else has a text and a multiword token."""
    has_multiword_text = sentence.comment("text") is not None and bool(sentence.multiword_tokens())
    return has_multiword_text or any(b"SpaceAfter=No" in line for line in sentence.lines)


def find_parts(source: Path, what: str) -> tuple[str, dict[str, list[Path]], list[str]]:
    """Return the name of a treebank, its files by their part, and those without a part if others have one."""
    if not source.exists():
        raise CorpusError(f"There is no {what} {source}.")
    files: dict[str, list[Path]] = {}
    for path in conllu_files(source):
        files.setdefault(_part_of(path), []).append(path)
    unused = [str(path.relative_to(source)) for path in files.get("", [])] if len(files) > 1 else []
    return printable(source.resolve().name.partition(".conllu")[0]), files, unused


def spacy_language(code: str, tokenizer: str = "learnt") -> str:
    """Return a language code if spaCy has the language, or `xx`, which stands for any."""
    try:
        language = get_lang_class(code) if code.isidentifier() else None
    except ImportError:
        language = None
    if language is None:
        return _ANY_LANGUAGE
    try:
        if tokenizer == "spacy":
            language()
    except ImportError as error:
        raise CorpusError(
            f"spaCy's tokenizer for the language {code!r} can't be loaded: {error}\nInstall what it needs, or leave "
            "out --tokenizer spacy."
        ) from error
    return code


def _part_of(path: Path) -> str:
    """Return the part that a file name says, `train`, `dev` or `test`; "" if it says none."""
    match = _PART.search(path.name.partition(".conllu")[0])
    return match[1] if match else ""


def checked_sentences(paths: Iterable[Path]) -> Iterator[Sentence]:
    """Yield the sentences of files. Raise ConlluError for the first that spaCy can't be trained on."""
    vocab = Vocab()
    for path in paths:
        for sentence in read_conllu(path):
            if sentence.columns.names != COLUMNS:
                raise ConlluError(f"{path} has other columns than CoNLL-U's ten. Convert it to plain CoNLL-U first.")
            sentence_to_doc(vocab, sentence)
            yield sentence


def _divided(paths: list[Path]) -> dict[str, Iterator[Sentence]]:
    n = sum(1 for _ in checked_sentences(paths))
    if n < _FEWEST:
        raise CorpusError(
            f"There are {n} sentences in {', '.join(map(str, paths))}, too few to divide into parts: {_FEWEST} are "
            "needed. To train on all of them, let the file name contain `train`."
        )
    held_out = n // 10
    stream = checked_sentences(paths)
    return {
        "train": islice(stream, n - 2 * held_out),
        "dev": islice(stream, held_out),
        "test": islice(stream, held_out),
    }


def licence_of(source: Path) -> tuple[str, Path | None]:
    """Return the licence in the machine-readable part of the README of a UD treebank, and the licence file.

    RAISES (CorpusError): If one of these files is a link out of the folder. The licence file becomes part of a wheel.
    """
    folder, licence = source if source.is_dir() else source.parent, ""
    for path in _files(folder, "README*"):
        match = re.search(r"^Licen[sc]e:\s*(.+?)\s*$", path.read_text("utf8", errors="replace"), flags=re.MULTILINE)
        licence = licence or (match[1].rstrip(".") if match else "")
    return licence, next((path for pattern in ("LICENSE*", "LICENCE*") for path in _files(folder, pattern)), None)


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    for path in sorted(folder.glob(pattern)):
        if path.is_file():
            refuse_link_out(path, folder)
            yield path

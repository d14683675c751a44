"""Corpora and texts as the commands read them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language

from ..conllu.files import is_conllu, is_conllu_text
from ..corpora.sources import format_of
from ..errors import CorpusError
from ..escapes import printable
from ..text_files import text_lines
from ..tools.gold import GoldSentence, read_corpus, reads_surface_tokens
from .files import opened_to_read
from .paths import PathsError
from .running import warn

__all__ = ["corpus_or_text", "read_for", "read_text"]


def read_for(nlp: Language, corpus: Path, surface_tokens: bool | None) -> Iterator[GoldSentence]:
    """Yield the sentences of a corpus. Warn at its end if it is unknown whether their tokens fit the pipeline.

    surface_tokens (Optional[bool]): Whether the tokens of CoNLL-U are its multiword tokens or the words in them.
        None: as the corpus reader in the pipeline's config has it, or words if that names none.
    """
    chosen = reads_surface_tokens(nlp) if surface_tokens is None else surface_tokens
    multiword_tokens = 0
    for sentence in read_corpus(corpus, nlp.vocab, surface_tokens=bool(chosen)):
        multiword_tokens += len(sentence.multiword)
        yield sentence
    if chosen is None and multiword_tokens:
        warn(
            f"{corpus} has {multiword_tokens:,} multiword tokens, and the words in them were scored. If the pipeline "
            "was trained on the multiword tokens themselves, use --surface-tokens. If it was trained on the words, "
            "--words silences this message."
        )


def corpus_or_text(given: str) -> tuple[Path | None, bool]:
    """Return the file that INPUT names, or None for a text and "-", and whether its sentences have their tokens."""
    looks_missing = len(given.split()) == 1 and (format_of(given) is not None or given.endswith((".conll", ".conllx")))
    if not (os.path.lexists(given) or looks_missing):
        return None, False
    path = Path(given)
    if not path.exists():
        raise PathsError(f"{printable(path)}: there is no such file.")
    named = format_of(path.name)
    if named is not None and named.format in ("jsonl", "parquet"):
        raise PathsError(f"{printable(path)} is {named.format}. Give a text, CoNLL-U or a .spacy file.")
    return path, path.is_dir() or path.suffix == ".spacy" or (path.is_file() and is_conllu(path))


def read_text(path: Path) -> str:
    """Return the text of a file, or of standard input for "-". It may be compressed with gzip."""
    from_stdin = str(path) == "-"
    name = "<stdin>" if from_stdin else printable(path)
    with opened_to_read(path) as file:
        content = b"".join(text_lines(file, name))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{name}: line {line} is not UTF-8: it has the byte 0x{content[error.start]:02x}. Convert it to UTF-8 "
            "first, for example with `iconv -f LATIN1 -t UTF-8`."
        ) from error
    if "\0" in text:
        raise CorpusError(f"{name} is a binary file, not text.")
    if from_stdin and is_conllu_text(line.encode() for line in text.splitlines()):
        raise PathsError("Standard input is CoNLL-U. Give the name of the file.")
    return text

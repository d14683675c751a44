"""Corpora as the commands read them for a pipeline: with the tokens that it was trained on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer
from spacy.language import Language
from spacy.util import import_file

from ..errors import CorpusError
from ..tools.gold import GoldSentence, read_corpus, reads_surface_tokens
from .files import errors_as_messages, printable

__all__ = ["import_code", "read_for", "warn"]


def read_for(nlp: Language, corpus: Path, surface_tokens: bool | None) -> Iterator[GoldSentence]:
    """Yield the sentences of a corpus. Warn at its end if it is unknown whether their tokens fit the pipeline.

    surface_tokens (Optional[bool]): Whether the tokens of CoNLL-U are its multiword tokens or the words in them.
        None: as the corpus reader in the pipeline's config has it, or words if that names none.
    RAISES (CorpusError, ConlluError): See `tools.gold.read_corpus`.
    """
    chosen = reads_surface_tokens(nlp) if surface_tokens is None else surface_tokens
    multiword_tokens = 0
    for sentence in read_corpus(corpus, nlp.vocab, surface_tokens=bool(chosen)):
        multiword_tokens += sentence.multiword_tokens
        yield sentence
    if chosen is None and multiword_tokens:
        warn(
            f"{corpus} has {multiword_tokens:,} multiword tokens, and the words in them were scored. If the pipeline "
            "was trained on the multiword tokens themselves, use --surface-tokens. If it was trained on the words, "
            "--words silences this message."
        )


def import_code(path: Path) -> None:
    """Import a Python file, for what it registers with spaCy. An error in it becomes a message and exit status 1."""
    with errors_as_messages():
        try:
            import_file("python_code", path)
        except Exception as error:  # of any kind
            raise CorpusError(
                f"--code {printable(path)} can't be imported ({type(error).__name__}): {error}"
            ) from error


def warn(message: str) -> None:
    """Print a warning to standard error."""
    typer.secho(f"Warning: {message}", fg="yellow", err=True)

"""The registered corpus reader spacy-mindroot.ConlluCorpus.v1: `spacy train` from CoNLL-U."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, minibatch

from ..errors import ConlluError
from ..pipeline.annotate import drop_extension
from ..trees import MISSING
from .docs import sentences_to_doc
from .sentence import Sentence, read_conllu


def conllu_files(path: Path) -> list[Path]:
    """The file itself, or all files *.conllu in a folder and below, in order.

    RAISES (ConlluError): If there are none.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.conllu") if file.is_file())
        if not files:
            raise ConlluError(f"{path}: there is no file *.conllu in this folder.")
        return files
    if not path.exists():
        raise ConlluError(f"{path}: there is no such file or folder.")
    return [path]


def make_conllu_corpus(
    path: Path, sentences_per_doc: int = 1, limit: int = 0, surface_tokens: bool = False
) -> "ConlluCorpus":
    """Reads a corpus from CoNLL-U.

    path (Path): A file, or a folder, of which all files *.conllu are read, in order.
    sentences_per_doc (int): How many sentences make a Doc. No Doc goes from one file into another.
    limit (int): The most Docs to read; 0 for all.
    surface_tokens (bool): Tokens are multiword tokens, not the words in them. See `conllu.sentences_to_doc`.
    """
    return ConlluCorpus(path, sentences_per_doc, limit, surface_tokens)


class ConlluCorpus:
    """See `make_conllu_corpus`. Tokens are those of the file, in what is predicted, too: nothing is tokenized.

    A word whose HEAD is "_" has no gold head. What there is of multiword tokens, empty nodes and words without a head is logged
    the first time that the corpus is read.
    """

    def __init__(self, path: Path, sentences_per_doc: int = 1, limit: int = 0, surface_tokens: bool = False) -> None:
        if sentences_per_doc < 1 or limit < 0:
            raise ConlluError(
                f"sentences_per_doc is {sentences_per_doc}, which must be 1 or more, and limit is {limit}, which must be 0 or more."
            )
        self.path = Path(path)
        self.sentences_per_doc = sentences_per_doc
        self.limit = limit
        self.surface_tokens = surface_tokens
        self._logged = False

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """YIELDS (Example): What is predicted has the tokens and nothing else.

        RAISES (ConlluError): For the first sentence at fault: it is not CoNLL-U, or has several roots or a cycle.
        """
        counts: Counter[str] = Counter()
        batches = (
            batch
            for file in conllu_files(self.path)
            for batch in minibatch(read_conllu(file), size=self.sentences_per_doc)
        )
        for sentences in islice(batches, self.limit or None):
            reference = sentences_to_doc(nlp.vocab, sentences, surface_tokens=self.surface_tokens)
            drop_extension(reference, "conllu")  # training keeps all Docs
            if not self._logged:
                for sentence in sentences:
                    _count(sentence, counts)
            spaces = [bool(token.whitespace_) for token in reference]
            predicted = Doc(nlp.vocab, words=[token.text for token in reference], spaces=spaces)
            yield Example(predicted, reference)
        if not self._logged:
            self._logged = True
            found = ", ".join(f"{counts[name]:,} {name}" for name in _COUNTED)
            logger.info("%s: %s", self.path, found)


_COUNTED = ("sentences", "words", "multiword tokens", "empty nodes", "words without a head")


def _count(sentence: Sentence, counts: Counter[str]) -> None:
    has_other_lines = len(sentence.lines) > len(sentence.rows) + 1
    values = (
        1,
        len(sentence),
        len(sentence.multiword_tokens()) if has_other_lines else 0,
        len(sentence.empty_nodes()) if has_other_lines else 0,
        sentence.heads.count(MISSING),
    )
    counts.update(dict(zip(_COUNTED, values, strict=True)))

"""The registered corpus reader spacy-mindroot.ConlluCorpus.v1, for `spacy train` from CoNLL-U."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger, minibatch

from ..doc.extensions import drop_extension
from ..doc.words import copy_tokens
from ..errors import ConlluError
from ..trees import MISSING
from .docs import sentences_to_doc
from .files import conllu_files
from .sentence import Sentence, read_conllu
from .treebanks import mark_docs, treebanks_of

__all__ = ["ConlluCorpus"]


class ConlluCorpus:
    """A corpus in CoNLL-U.

    Predicted Docs have the tokens of the file, too: nothing is tokenized. A word whose HEAD is "_" has no gold head.
    The numbers of multiword tokens, empty nodes and words without a head are logged the first time the corpus is read.

    path (Path): A file, or a folder, of which all files *.conllu, *.conllup and *.cupt are read, in alphabetical order.
        Each may be compressed with gzip (*.gz).
    sentences_per_doc (int): The number of sentences in a Doc. No Doc goes from one file into another.
    limit (int): The maximum number of Docs to read; 0 for all.
    surface_tokens (bool): Whether tokens are multiword tokens instead of the words in them. See
        `conllu.sentences_to_doc`.
    """

    def __init__(self, path: Path, sentences_per_doc: int = 1, limit: int = 0, surface_tokens: bool = False) -> None:
        if sentences_per_doc < 1 or limit < 0:
            raise ConlluError(
                f"sentences_per_doc is {sentences_per_doc} and limit is {limit}. sentences_per_doc must be 1 or more, "
                "and limit 0 or more."
            )
        self.path = Path(path)
        self.sentences_per_doc = sentences_per_doc
        self.limit = limit
        self.surface_tokens = surface_tokens
        self._logged = False

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Iterate over the Docs of the corpus.

        YIELDS (Example): The predicted Doc has the tokens and nothing else.
        RAISES (ConlluError): For the first sentence that is not CoNLL-U, or has several roots or a cycle.
        """
        counts = _Counts()
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
                    counts.add(sentence)
            predicted = copy_tokens(reference)
            mark_docs(reference, [reference, predicted], treebanks_of(sentences))
            yield Example(predicted, reference)
        if not self._logged:
            self._logged = True
            logger.info("%s: %s", self.path, counts)


@dataclass
class _Counts:
    """The size of a corpus."""

    sentences: int = 0
    words: int = 0
    multiword_tokens: int = 0
    empty_nodes: int = 0
    headless: int = 0

    def add(self, sentence: Sentence) -> None:
        self.sentences += 1
        self.words += len(sentence)
        self.headless += sentence.heads.count(MISSING)
        if len(sentence.lines) > len(sentence) + 1:
            self.multiword_tokens += len(sentence.multiword_tokens())
            self.empty_nodes += len(sentence.empty_nodes())

    def __str__(self) -> str:
        return (
            f"{self.sentences:,} sentences, {self.words:,} words, {self.multiword_tokens:,} multiword tokens, "
            f"{self.empty_nodes:,} empty nodes, {self.headless:,} words without a head"
        )

"""The registered callback spacy-mindroot.tokenizer_cases.v1: special cases of the tokenizer, from a treebank."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import logger

from .passages import PassageCorpus

__all__ = ["TokenizerCases"]

_LONGEST = 5  # words in a string that the tokenizer leaves whole


class TokenizerCases:
    """A callback for `[initialize.before_init]` that teaches the tokenizer the words of a treebank.

    A string becomes a special case of spaCy's tokenizer if the treebank has it as one word and the tokenizer splits it,
    or the other way round. Raw text is then tokenized more like the treebank.

    path (Optional[Path]): The training corpus, as for spacy-mindroot.PassageCorpus.v1. None: nothing is done.
    min_count (int): How often a string has to be tokenized otherwise than in the treebank. The treebank has to agree
        with itself in nine of ten cases.
    surface_tokens (bool): Whether the tokens of CoNLL-U are multiword tokens instead of the words in them.
    """

    def __init__(self, path: Path | None, min_count: int = 3, surface_tokens: bool = False) -> None:
        self.path = path
        self.min_count = min_count
        self.surface_tokens = surface_tokens

    def __call__(self, nlp: Language) -> Language:
        """Add the special cases. A tokenizer that is not spaCy's own is left alone.

        nlp (Language): The pipeline.
        RETURNS (Language): The same.
        """
        if self.path is None or not isinstance(nlp.tokenizer, Tokenizer):
            return nlp
        cases = self.find(nlp)
        for pieces in cases:
            nlp.tokenizer.add_special_case("".join(pieces), [{ORTH: piece} for piece in pieces])
        logger.info("%s: %d special cases for the tokenizer", self.path, len(cases))
        return nlp

    def find(self, nlp: Language) -> list[tuple[str, ...]]:
        """Return the words of each string that is to be a special case, in alphabetical order."""
        corpus = PassageCorpus(self.path, min_sentences=1, max_sentences=1, surface_tokens=self.surface_tokens)
        wrong: Counter[tuple[str, ...]] = Counter()  # as in the treebank, where the tokenizer differs
        seen: Counter[tuple[str, ...]] = Counter()  # all strings of the treebank without a space inside
        for example in corpus(nlp):
            gold = example.reference
            own = {(token.idx, token.idx + len(token)) for token in nlp.tokenizer(gold.text)}
            starts, ends = {start for start, _ in own}, {end for _, end in own}
            for pieces, start in _strings(gold):
                seen[pieces] += 1
                end = start + sum(map(len, pieces))
                is_token = (start, end) in own
                if (len(pieces) > 1) == is_token and start in starts and end in ends:
                    wrong[pieces] += 1
        ways: dict[str, list[tuple[str, ...]]] = {}
        for pieces in seen:
            ways.setdefault("".join(pieces), []).append(pieces)
        return sorted(
            pieces
            for pieces, count in wrong.items()
            if count >= self.min_count and seen[pieces] >= 0.9 * sum(seen[way] for way in ways["".join(pieces)])
        )


def _strings(doc: Doc) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each word, and each run of adjacent words between white space, with the place where it starts."""
    run: list[str] = []
    start = 0
    for token in doc:
        if not run:
            start = token.idx
        run.append(token.text)
        yield (token.text,), token.idx
        if token.whitespace_ or token.i + 1 == len(doc):
            for first in range(len(run)):
                for last in range(first + 2, min(len(run), first + _LONGEST) + 1):
                    yield tuple(run[first:last]), start + sum(map(len, run[:first]))
            run = []

"""Orders sentences or tokens of a corpus for correction: those first that are most likely wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ...doc.extensions import describe, read_extension
from ...doc.words import texts_of
from ...errors import CorpusError
from ...labels import UD_ROOT
from ...trees import MISSING
from ..gold import GoldSentence
from ..parses import parses_of

__all__ = [
    "RankedToken",
    "SureSentence",
    "SureToken",
    "expected_yield",
    "order_sentences",
    "order_tokens",
    "sure_sentence",
]

_DIGITS = 6  # smaller differences are ties, so that the order is the same on all machines


class SureToken(NamedTuple):
    """A token of a parse, with the probability of its head."""

    word: int  # its number in the sentence, from 1
    form: str
    head: int  # in the parse; 0 = ROOT
    label: str
    head_prob: float
    next_head: int | None  # of the most probable arc with another head; None if there is none
    next_label: str | None
    next_prob: float
    given: bool = False  # whether the head was known before the parse

    def record(self) -> dict[str, Any]:
        """Return the token as it is written to JSON. Probabilities have four decimal places."""
        record: dict[str, Any] = {
            "word": self.word,
            "form": self.form,
            "head": self.head,
            "deprel": self.label,
            "head_prob": round(self.head_prob, 4),
        }
        if self.next_head is not None:
            record |= {
                "next_head": self.next_head,
                "next_deprel": self.next_label,
                "next_prob": round(self.next_prob, 4),
            }
        return record


@dataclass(frozen=True)
class SureSentence:
    """A parsed sentence, with the probability of each head."""

    position: int  # in the corpus, from 0
    tokens: list[SureToken]
    gold: GoldSentence
    in_set: float | None = None  # the number of trees in `span._.tree_set`

    @property
    def text(self) -> str:
        """The text of the sentence."""
        tokens = zip(*texts_of(self.gold.words, self.gold.spaces, self.gold.multiword), strict=True)
        return "".join(text + " " * space for text, space in tokens).strip()

    @property
    def unknown(self) -> list[SureToken]:
        """The tokens whose heads were not given: those that there are to read."""
        return [token for token in self.tokens if not token.given]

    @property
    def expected_errors(self) -> float:
        """The expected number of wrong heads among the tokens to read."""
        return sum(1 - token.head_prob for token in self.unknown)

    @property
    def rate(self) -> float:
        """The expected number of wrong heads per token to read; 0 if there are none."""
        return self.expected_errors / max(1, len(self.unknown))


class RankedToken(NamedTuple):
    """A token and its sentence."""

    sentence: SureSentence
    token: SureToken


def sure_sentence(doc: Doc, gold: GoldSentence, position: int, *, given: bool = False) -> SureSentence:
    """Return a sentence that was parsed after `gold.keep_probabilities`. `given`: its known heads were required."""
    (parse,) = parses_of(doc)
    names, labels = read_extension(doc, "arc_label_names"), read_extension(doc, "arc_labels")
    tokens = []
    for i, (form, head, label) in enumerate(zip(parse.words, parse.heads, parse.labels, strict=True)):
        known, prob = given and gold.heads[i] != MISSING, parse.head_prob[i]
        if head is None or (prob is None and not known):
            raise CorpusError(
                f"{describe(doc)}: there is no probability of the head of token {i} ({form!r}). Does a component after "
                "mind_root change heads?"
            )
        next_head, next_prob = (None, 0.0) if known else parse.next_best(i + 1) or (None, 0.0)
        next_label = UD_ROOT if next_head == 0 else None
        if next_head and labels and names:
            next_label = names[int(labels[0][i, next_head])]
        head_prob = 1.0 if known or prob is None else min(1.0, prob)
        tokens.append(SureToken(i + 1, form, head, label, head_prob, next_head, next_label, next_prob, known))
    return SureSentence(position, tokens, gold, parse.in_set)


def order_sentences(sentences: Iterable[SureSentence], criterion: str = "rate") -> list[SureSentence]:
    """Return the sentences in the order in which to read them. Those without a token to read are left out.

    criterion (str): "rate": by the expected number of wrong heads per token. Whatever number of tokens is read in this
        order, no other order of sentences has more wrong heads expected among them, apart from the last sentence.
        "errors": by the expected number of wrong heads, so that long sentences come first.

    Ties, up to the sixth decimal place, are in the order of the corpus.
    """

    def key(each: SureSentence) -> tuple[float, int]:
        value = each.rate if criterion == "rate" else each.expected_errors
        return -round(value, _DIGITS), each.position

    return sorted((each for each in sentences if each.unknown), key=key)


def order_tokens(sentences: Iterable[SureSentence]) -> list[RankedToken]:
    """Return the tokens in the order in which to read them: the least probable heads first. Ties as for sentences."""
    every = [RankedToken(sentence, token) for sentence in sentences for token in sentence.unknown]
    return sorted(
        every, key=lambda each: (round(each.token.head_prob, _DIGITS), each.sentence.position, each.token.word)
    )


def expected_yield(pieces: Sequence[Sequence[SureToken]], shares: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield, for each share of all tokens, how many tokens these are, and the share of wrong heads expected among them.

    pieces (Sequence): What is read at a time, in order: the tokens of a sentence, or one token. Part of a sentence
        counts as a part of its errors.
    """
    sizes = [len(piece) for piece in pieces]
    errors = [sum(1 - token.head_prob for token in piece) for piece in pieces]
    total, wrong = sum(sizes), sum(errors)
    for share in shares:
        left = budget = round(share * total)
        found = 0.0
        for size, own in zip(sizes, errors, strict=True):
            taken = min(size, left)
            found += own * taken / size
            left -= taken
            if not left:
                break
        yield budget, found / wrong if wrong else 0.0

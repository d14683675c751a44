"""Orders sentences or tokens of a corpus for correction: those first that are most likely wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc, Token

from ...doc.extensions import describe, drop_extension, read_extension
from ...errors import CorpusError
from ...labels import SPACY_ROOT, UD_ROOT
from ...pipeline.head_marginals import head_marginals
from ...trees import MISSING
from ..gold import GoldSentence

__all__ = [
    "CRITERIA",
    "Criterion",
    "RankedToken",
    "SureSentence",
    "SureToken",
    "expected_yield",
    "order_sentences",
    "order_tokens",
    "sure_sentence",
]

Criterion = Literal["rate", "errors"]
CRITERIA = ("rate", "errors")

_DIGITS = 6  # smaller differences are ties, so that the order is the same on all machines


class SureToken(NamedTuple):
    """A token of a parse, with the probability of its head.

    word (int): Its number in the sentence, from 1.
    form (str): The token.
    head, label (int, str): Its arc in the parse; 0 = ROOT.
    head_prob (float): The probability of the head.
    next_head, next_label (Optional[int], Optional[str]): The most probable arc with another head; None if there is
        none.
    next_prob (float): The probability of that head.
    given (bool): Whether the head was known before the parse.
    """

    word: int
    form: str
    head: int
    label: str
    head_prob: float
    next_head: int | None
    next_label: str | None
    next_prob: float
    given: bool = False

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
    """A parsed sentence, with the probability of each head.

    position (int): Its place in the corpus, from 0.
    tokens (list[SureToken]): All its tokens.
    gold (GoldSentence): The sentence of the corpus.
    doc (Doc): The parse.
    """

    position: int
    tokens: list[SureToken]
    gold: GoldSentence
    doc: Doc

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
    """Return a parse with the probabilities of its heads.

    doc (Doc): A Doc of one sentence, parsed by a pipeline after `corpus.keep_probabilities`. The probability of each
        head is `token._.head_prob`. Its arc scores and labels are removed.
    gold (GoldSentence): The sentence of the corpus.
    position (int): Its place in the corpus.
    given (bool): Whether the heads in the corpus were required.
    RAISES (CorpusError): If a head has no probability.
    """
    marginals = head_marginals(doc)
    names = read_extension(doc, "arc_label_names")
    labels = read_extension(doc, "arc_labels")
    tokens = []
    for i, token in enumerate(doc):
        head = 0 if token.head.i == i else token.head.i + 1
        known = given and gold.heads[i] != MISSING
        next_head, next_label, next_prob = None, None, 0.0
        if marginals is not None and not known:
            row = marginals[0][i].copy()
            row[[head, i + 1]] = 0.0
            best = int(row.argmax())
            if row[best] > 0:
                next_head, next_prob = best, float(row[best])
                next_label = UD_ROOT if best == 0 else names[int(labels[0][i, best])] if labels and names else None
        tokens.append(
            SureToken(
                word=i + 1,
                form=token.text,
                head=head,
                label=UD_ROOT if token.dep_ == SPACY_ROOT else token.dep_,
                head_prob=1.0 if known else _head_prob(token, None if marginals is None else marginals[0], head),
                next_head=next_head,
                next_label=next_label,
                next_prob=next_prob,
                given=known,
            )
        )
    for name in ("arc_scores", "arc_labels", "arc_label_names", "arc_distribution"):
        drop_extension(doc, name)  # the Docs of a whole corpus are kept
    return SureSentence(position, tokens, gold, doc)


def _head_prob(token: Token, marginals: npt.NDArray[np.float64] | None, head: int) -> float:
    prob = token._.head_prob
    if prob is None and marginals is not None:  # a component after the parser has changed the head
        prob = marginals[token.i, head]
    if prob is None:
        raise CorpusError(
            f"{describe(token.doc)}: there is no probability of the head of token {token.i} ({token.text!r}). Does a "
            "component after mind_root change heads?"
        )
    return min(1.0, float(prob))


def order_sentences(sentences: Iterable[SureSentence], criterion: Criterion = "rate") -> list[SureSentence]:
    """Return the sentences in the order in which to read them. Those without a token to read are left out.

    criterion (str): "rate": by the expected number of wrong heads per token. Whatever number of tokens is read in this
        order, no other order of sentences has more wrong heads expected among them, apart from the last sentence.
        "errors": by the expected number of wrong heads, so that long sentences come first.

    Ties, up to the sixth decimal place, are in the order of the corpus.
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion is {criterion!r}")

    def key(each: SureSentence) -> tuple[float, int]:
        value = each.rate if criterion == "rate" else each.expected_errors
        return -round(value, _DIGITS), each.position

    return sorted((each for each in sentences if each.unknown), key=key)


def order_tokens(sentences: Iterable[SureSentence]) -> list[RankedToken]:
    """Return the tokens in the order in which to read them: those with the least probable heads first.

    The probability that reading a token finds an error is one minus the probability of its head. Ties, up to the sixth
    decimal place, are in the order of the corpus.
    """
    every = [RankedToken(sentence, token) for sentence in sentences for token in sentence.unknown]
    return sorted(
        every, key=lambda each: (round(each.token.head_prob, _DIGITS), each.sentence.position, each.token.word)
    )


def expected_yield(pieces: Sequence[Sequence[SureToken]], shares: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield, for each share of all tokens, how many tokens these are, and the share of wrong heads expected among them.

    pieces (Sequence): What is read at a time, in order: the tokens of a sentence, or one token.
    shares (Sequence[float]): Shares of all tokens, from 0 to 1. Part of a sentence counts as a part of its errors.
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

"""Output of `rank` and `suspect`: sentences with marks, records, and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import numpy as np
import srsly

from ...conllu import Sentence
from ...conllu.columns import MISC
from ...conllu.marks import SentenceWriter
from ...escapes import printable, visible
from ...tables import text_table
from ...trees import MISSING
from ..gold import GoldSentence
from ..parses import Parse
from .ranking import RankedToken, SureSentence, SureToken, expected_yield
from .suspicion import RATE, Suspect, expected_errors

__all__ = [
    "expected_finds",
    "ranked_sentences",
    "ranked_tokens",
    "sentence_records",
    "sentence_table",
    "suspect_parses",
    "suspect_records",
    "suspect_sentences",
    "suspect_summary",
    "suspect_table",
    "token_records",
    "token_table",
    "unmarked",
    "write_ordered",
]

_T = TypeVar("_T")

_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
_CLOSE = 0.05  # a next best head of at least this probability is written to MISC
_COUNTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MARKS = {
    "comments": ("rank", "suspects", "expected_errors", "tokens_to_read", "trees_in_set"),
    "misc": (
        "Rank", "HeadProb", "GivenProb", "DeprelProb", "NextHead", "NextProb", "NextDeprel",
        "OtherHead", "OtherDeprel", "OtherHeadProb", "OtherGivenProb", "OtherDeprelProb",
    ),
}  # fmt: skip

Marked = tuple[Sentence, dict[str, object], dict[int, dict[str, object]]]  # comments, and attributes of MISC by word


def write_ordered(
    marked: Iterable[Marked], records: Iterable[Mapping[str, Any]], *, out: BinaryIO | None, report: BinaryIO | None
) -> None:
    """Write sentences as CoNLL-U to `out`, and records as lines of JSON to `report`. None: not written."""
    if out is not None:
        writer = SentenceWriter(out)
        for each in marked:
            writer.write(*each)
    if report is not None:
        for record in records:
            report.write((srsly.json_dumps(record) + "\n").encode("utf8"))


def unmarked(sentence: Sentence) -> tuple[Sentence, dict[str, None], dict[int, dict[str, None]]]:
    """Return a sentence with what `SentenceWriter` needs to remove the marks of `rank` and `suspect` from it."""
    misc = {
        word: dict.fromkeys(names)
        for word, cell in enumerate(sentence.column(MISC), 1)
        if (names := {each.partition("=")[0] for each in cell.split("|")} & {*_MARKS["misc"]})
    }
    return sentence, dict.fromkeys(_MARKS["comments"]), misc


def _marked(each: SureSentence, comments: dict[str, object], ranks: dict[int, int] | None = None) -> Marked:
    """Return a sentence with the tree of the parse, its comments, and attributes of MISC. `ranks` are of its words."""
    heads = [token.head for token in each.tokens]
    labels = [None if token.given else token.label or "_" for token in each.tokens]
    numbers = each.gold.numbers()
    misc = {}
    for token in each.tokens:
        if token.word in numbers:
            rank = {"Rank": ranks[token.word]} if ranks is not None and token.word in ranks else {}
            misc[numbers[token.word]] = rank | _misc(token, {0: 0, **numbers})
    return each.gold.with_tree(heads, labels), comments, misc


def _misc(token: SureToken, numbers: dict[int, int]) -> dict[str, object]:
    attributes: dict[str, object] = {} if token.given else {"HeadProb": f"{token.head_prob:.4f}"}
    if token.next_head in numbers and token.next_prob >= _CLOSE:
        attributes |= {"NextHead": numbers[token.next_head], "NextProb": f"{token.next_prob:.4f}"}
        if token.next_label:
            attributes["NextDeprel"] = token.next_label
    return attributes


def ranked_sentences(ordered: Sequence[SureSentence]) -> Iterator[Marked]:
    """Yield each sentence with its comments and MISC attributes."""
    for rank, each in enumerate(ordered, 1):
        errors = f"{each.expected_errors:.2f}"
        comments: dict[str, object] = {"rank": rank, "expected_errors": errors, "tokens_to_read": len(each.unknown)}
        if each.in_set is not None:
            comments["trees_in_set"] = f"{each.in_set:.6g}"
        yield _marked(each, comments)


def ranked_tokens(ordered: Sequence[RankedToken]) -> Iterator[Marked]:
    """Yield the sentences of the tokens, in the order of the first of them in each. `Rank` in MISC marks the tokens."""
    for own in _grouped(ordered, lambda each: each.sentence.position):
        ranks = {each.token.word: rank for rank, each in own}
        first, each = own[0]
        yield _marked(each.sentence, {"rank": first, "tokens_to_read": len(own)}, ranks)


def _grouped(ordered: Iterable[_T], key: Callable[[_T], int]) -> list[list[tuple[int, _T]]]:
    """Return ranks and items of each key, in the order of the first of them."""
    found: dict[int, list[tuple[int, _T]]] = {}
    for rank, each in enumerate(ordered, 1):
        found.setdefault(key(each), []).append((rank, each))
    return list(found.values())


def sentence_records(ordered: Sequence[SureSentence]) -> Iterator[dict[str, Any]]:
    for rank, each in enumerate(ordered, 1):
        yield {
            "rank": rank,
            "id": each.gold.name,
            "text": each.text,
            "tokens_to_read": len(each.unknown),
            "expected_errors": round(each.expected_errors, 4),
            "expected_errors_per_token": round(each.rate, 4),
            **({} if each.in_set is None else {"trees_in_set": None if math.isinf(each.in_set) else each.in_set}),
            "tokens": [token.record() | ({"given": True} if token.given else {}) for token in each.tokens],
        }


def token_records(ordered: Sequence[RankedToken]) -> Iterator[dict[str, Any]]:
    for rank, (sentence, token) in enumerate(ordered, 1):
        yield {"rank": rank, "id": sentence.gold.name, **token.record()}


def sentence_table(ordered: Sequence[SureSentence]) -> str:
    rows = [
        (rank, each.gold.name, len(each.unknown), f"{each.expected_errors:.1f}", f"{each.rate:.1%}", each.text)
        for rank, each in enumerate(ordered, 1)
    ]
    header = ("rank", "sentence", "tokens", "expected errors", "per token", "text")
    return text_table(rows, header, "rlrrrl")


def token_table(ordered: Sequence[RankedToken]) -> str:
    rows = [
        (
            rank,
            sentence.gold.name,
            _head_of(sentence.gold.words, token.word),
            _head_of(sentence.gold.words, token.head),
            token.label,
            f"{token.head_prob:.1%}",
            _head_of(sentence.gold.words, token.next_head),
            f"{token.next_prob:.1%}" if token.next_head is not None else "",
        )
        for rank, (sentence, token) in enumerate(ordered, 1)
    ]
    header = ("rank", "sentence", "word", "head", "label", "probability", "next best head", "probability")
    return text_table(rows, header, "rllllrlr")


def expected_finds(
    sentences: Sequence[SureSentence], pieces: Sequence[Sequence[SureToken]]
) -> tuple[str, dict[str, Any]]:
    """Return how many of the wrong heads are expected in the first tokens, in words and as JSON."""
    tokens = sum(len(sentence.unknown) for sentence in sentences)
    errors = sum(sentence.expected_errors for sentence in sentences)
    expected = list(expected_yield(pieces, _SHARES))
    found = "; ".join(
        f"{count:,} tokens ({share:.0%}): {part:.0%} of them"
        for share, (count, part) in zip(_SHARES, expected, strict=True)
    )
    single = [each for each in sentences if each.in_set == 1]
    no_need = (
        f" The sets of {len(single):,} sentences ({sum(len(each.unknown) for each in single):,} tokens) have one tree, "
        "so these need no reading."
        if any(each.in_set is not None for each in sentences)
        else ""
    )
    text = (
        f"{tokens:,} tokens to read, with {errors:,.1f} wrong heads expected by the probabilities of the model. "
        f"Reading in this order is expected to find, in {found}.{no_need}"
    )
    rows = [{"first_tokens": count, "share_of_errors": part} for count, part in expected]
    return text, {"tokens_to_read": tokens, "expected_errors": errors, "expected_finds": rows}


def _conllu(sentence: GoldSentence) -> Sentence:
    assert sentence.conllu is not None  # read as words
    return sentence.conllu


def suspect_sentences(suspects: Sequence[Suspect], sentences: Sequence[GoldSentence]) -> Iterator[Marked]:
    """Yield the sentences of suspects, in the order of the first of them in each, with comments and MISC attributes."""
    for own in _grouped(suspects, lambda each: each.sentence):
        misc: dict[int, dict[str, object]] = {
            each.word: {
                "Rank": rank,
                "HeadProb": f"{each.head_prob:.4f}",
                "GivenProb": f"{each.given_prob:.4f}",
                "DeprelProb": f"{each.label_prob:.4f}",
                "OtherHead": each.other_head,
                "OtherDeprel": each.other_label,
                "OtherHeadProb": f"{each.other_prob:.4f}",
                "OtherGivenProb": f"{each.other_given_prob:.4f}",
                "OtherDeprelProb": f"{each.other_label_prob:.4f}",
            }
            for rank, each in own
        }
        yield _conllu(sentences[own[0][1].sentence]), {"rank": own[0][0], "suspects": len(own)}, misc


def suspect_records(
    suspects: Sequence[Suspect], sentences: Sequence[GoldSentence], what: str
) -> Iterator[dict[str, Any]]:
    for rank, each in enumerate(suspects, 1):
        sentence = sentences[each.sentence]
        conllu = _conllu(sentence)
        yield {
            "rank": rank,
            "file": printable(conllu.source),
            "line": conllu.line_of(each.word),
            "id": sentence.name,
            "word": each.word,
            "form": sentence.words[each.word - 1],
            "kind": each.kind,
            "head": each.head,
            "deprel": each.label,
            "head_prob": round(each.head_prob, 4),
            "given_prob": round(each.given_prob, 4),
            "deprel_prob": round(each.label_prob, 4),
            "other_head": each.other_head,
            "other_deprel": each.other_label,
            "other_head_prob": round(each.other_prob, 4),
            "other_given_prob": round(each.other_given_prob, 4),
            "other_deprel_prob": round(each.other_label_prob, 4),
            "log_odds": round(each.log_odds(what), 4),
            "fold": each.fold,
        }


def suspect_table(suspects: Sequence[Suspect], sentences: Sequence[GoldSentence]) -> str:
    rows = []
    for rank, each in enumerate(suspects, 1):
        sentence = sentences[each.sentence]
        odds = max(each.log_odds("heads"), each.log_odds("labels"))
        times = f"{math.exp(odds):,.0f}" if odds < math.log(99_999) else ">99,999"
        rows.append((rank, sentence.name, *_arcs_of(each, sentence.words), times))
    return text_table(rows, ("rank", "sentence", "word", "annotated", "preferred", "times"), "rllllr")


def _arcs_of(each: Suspect, words: Sequence[str]) -> tuple[str, str, str]:
    """Return the word, its annotated arc and the arc that the parser prefers."""
    arcs = [(each.label, each.head), (each.other_label, each.other_head)]
    annotated, preferred = (f"{label} of {_head_of(words, head)}" if head else label for label, head in arcs)
    return _head_of(words, each.word), visible(annotated), visible(preferred)


def suspect_parses(suspects: Sequence[Suspect], sentences: Sequence[GoldSentence]) -> Iterator[Parse]:
    """Yield the annotated trees of sentences with suspects, as pictures need them, in the order of the first in each.

    Only suspects have probabilities, given the other arcs, and next best heads: those that the parsers prefer.
    """
    for own in _grouped(suspects, lambda each: each.sentence):
        sentence = sentences[own[0][1].sentence]
        head_prob: list[float | None] = [None] * len(sentence.words)
        probabilities = np.zeros((len(sentence.words), len(sentence.words) + 1))
        about = []
        for rank, each in own:
            head_prob[each.word - 1] = probabilities[each.word - 1, each.head] = each.given_prob
            probabilities[each.word - 1, each.other_head] = each.other_given_prob
            word, annotated, preferred = _arcs_of(each, sentence.words)
            about.append(f"{rank}. {word}: {annotated}, or rather {preferred}?")
        yield Parse(
            words=list(sentence.words),
            heads=[None if head == MISSING else head for head in sentence.heads.tolist()],
            labels=list(sentence.labels),
            head_prob=head_prob,
            marginals=probabilities,
            name=f"{' '.join(about)} ({sentence.name})",
            multiword=sentence.multiword,
        )


def suspect_summary(
    every: Sequence[Suspect],
    suspects: Sequence[Suspect],
    listed: int,
    precision: float,
    what: str,
    *,
    cut: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Return what there is to know about the list, in words and as JSON: its end, and how many errors to expect in it.

    cut (bool): Whether it ends at the greatest number of arcs to list.
    """
    after = (
        "--most ends the list"
        if cut
        else f"Those after the list would be errors too rarely (--precision {precision:g})"
    )
    heads = sum(each.kind == "label" or each.other_given_prob <= each.given_prob for each in every)
    counts = [count for count in _COUNTS if count < listed] + [listed] * (listed > 0)
    errors = expected_errors(every, counts, what)
    expected = [f"{right:,.0f} of the first {count:,}" for count, right in zip(counts, errors, strict=True)]
    text = (
        f"{listed:,} of {len(every):,} annotated arcs are listed, in the order of how many times more probable the "
        "parsers find the arc that they prefer, given the other arcs of the sentence.\n"
        + f"If {RATE:.0%} of the {'labels' if what == 'labels' else 'heads'} were replaced at random, these would be "
        + f"{', '.join(expected) or 'no suspects'}. Real errors may be harder to see.\n"
        + f"{len(suspects):,} arcs are less probable than another. "
        + f"{after}. " * (listed < len(suspects))
        + f"The parsers prefer the annotated head of {heads / len(every):.1%} of words."
    )
    rows = [{"first_arcs": count, "errors": right} for count, right in zip(counts, errors, strict=True)]
    return text, {"annotated_arcs": len(every), "less_probable_arcs": len(suspects), "expected_errors": rows}


def _head_of(words: Sequence[str], head: int | None) -> str:
    """Return a head for a table: the word and its number."""
    return "" if head is None else "ROOT" if head == 0 else f"{visible(words[head - 1])} ({head})"

"""`spacy mindroot rank`: orders sentences or tokens of a corpus for correction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import srsly
import typer
from tqdm import tqdm
from wasabi import table

from ..conllu import Sentence
from ..conllu.marks import SentenceWriter
from ..errors import CorpusError
from ..escapes import visible
from ..tools.correction.ranking import (
    CRITERIA,
    Criterion,
    RankedToken,
    SureSentence,
    SureToken,
    expected_yield,
    order_sentences,
    order_tokens,
    sure_sentence,
)
from ..tools.gold import keep_probabilities, load_pipeline, parse_sentences
from .corpora import read_for
from .files import check_paths, errors_as_messages, model_folder, outputs, printable

__all__ = ["head_of", "run", "shortened"]

_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
_SHOWN = 10  # rows of the table
_Marked = tuple[Sentence, dict[str, object], dict[int, dict[str, object]]]
_CLOSE = 0.05  # a next best head of at least this probability is written to MISC


def run(
    corpus: Path,
    model: str,
    by: str,
    criterion: str,
    most: int | None,
    given: bool,
    out: Path | None,
    report: Path | None,
    surface_tokens: bool | None = None,
    code: Path | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot rank --help`."""
    if by not in ("sentence", "token"):
        raise typer.BadParameter("choose sentence or token.", param_hint="--by")
    if criterion not in CRITERIA:
        raise typer.BadParameter(f"choose {' or '.join(CRITERIA)}.", param_hint="--criterion")
    with errors_as_messages(nothing_written=out is not None or report is not None):
        reads = {"CORPUS": corpus, "MODEL": model_folder(model), "--code": code}
        check_paths(reads, {"--out": out, "--report": report})
        nlp = load_pipeline(model)
        keep_probabilities(nlp)
        parsed = parse_sentences(nlp, read_for(nlp, corpus, surface_tokens), given=given)
        sentences = [
            sure_sentence(doc, gold, position, given=given)
            for position, (doc, gold) in enumerate(tqdm(parsed, unit=" sentences", disable=None, leave=False))
        ]
        if not any(sentence.unknown for sentence in sentences):
            raise CorpusError(f"All heads in {printable(corpus)} are given, so there is nothing to rank.")
        to_stderr = "-" in (str(out), str(report))
        with outputs() as opened, ExitStack() as stack:
            conllu = None if out is None else stack.enter_context(opened(out))
            lines = None if report is None else stack.enter_context(opened(report))
            if by == "sentence":
                ordered = order_sentences(sentences, cast(Criterion, criterion))
                texts, records = _of_sentences(ordered[:most]), _sentence_records(ordered[:most])
                shown = _sentence_table(ordered[:most][:_SHOWN])
                pieces = [sentence.unknown for sentence in ordered]
            else:
                tokens = order_tokens(sentences)
                texts, records = _of_tokens(tokens[:most]), _token_records(tokens[:most])
                shown = _token_table(tokens[:most][:_SHOWN])
                pieces = [[each.token] for each in tokens]
            if conllu is not None:
                writer = SentenceWriter(conllu)
                for marked in texts:
                    writer.write(*marked)
            if lines is not None:
                for record in records:
                    lines.write((srsly.json_dumps(record) + "\n").encode("utf8"))
        typer.echo(shown, err=to_stderr)
        typer.echo(_yield_text(sentences, pieces), err=to_stderr)


def _marked(each: SureSentence, comments: dict[str, object], ranks: dict[int, int] | None = None) -> _Marked:
    """Return a sentence with the tree of the parse, its comments, and its attributes of MISC.

    ranks (Optional[dict[int, int]]): The rank of each token that has one, by its number.
    """
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


def _of_sentences(ordered: Sequence[SureSentence]) -> Iterator[_Marked]:
    """Yield each sentence with its comments and MISC attributes."""
    for rank, each in enumerate(ordered, 1):
        errors = f"{each.expected_errors:.2f}"
        comments: dict[str, object] = {"rank": rank, "expected_errors": errors, "tokens_to_read": len(each.unknown)}
        yield _marked(each, comments)


def _of_tokens(ordered: Sequence[RankedToken]) -> Iterator[_Marked]:
    """Yield the sentences of the tokens, in the order of the first of them in each. `Rank` in MISC marks the tokens."""
    ranks: dict[int, dict[int, int]] = {}
    sentences: dict[int, SureSentence] = {}
    for rank, each in enumerate(ordered, 1):
        ranks.setdefault(each.sentence.position, {})[each.token.word] = rank
        sentences.setdefault(each.sentence.position, each.sentence)
    for position, sentence in sentences.items():
        own = ranks[position]
        yield _marked(sentence, {"rank": min(own.values()), "tokens_to_read": len(own)}, own)


def _sentence_records(ordered: Sequence[SureSentence]) -> Iterator[dict[str, Any]]:
    for rank, each in enumerate(ordered, 1):
        yield {
            "rank": rank,
            "id": each.gold.name,
            "text": each.text,
            "tokens_to_read": len(each.unknown),
            "expected_errors": round(each.expected_errors, 4),
            "expected_errors_per_token": round(each.rate, 4),
            "tokens": [token.record() | ({"given": True} if token.given else {}) for token in each.tokens],
        }


def _token_records(ordered: Sequence[RankedToken]) -> Iterator[dict[str, Any]]:
    for rank, (sentence, token) in enumerate(ordered, 1):
        yield {"rank": rank, "id": sentence.gold.name, **token.record()}


def shortened(text: str, width: int = 60) -> str:
    """Return a text for a table: on one line, with control characters spelled out, and cut where it is too long."""
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= width else f"{shown[: width - 3]}..."


def head_of(words: Sequence[str], head: int | None) -> str:
    """Return a head for a table: the word and its number."""
    return "" if head is None else "ROOT" if head == 0 else f"{visible(words[head - 1])} ({head})"


def _sentence_table(ordered: Sequence[SureSentence]) -> str:
    rows = [
        (
            rank,
            shortened(each.gold.name, 30),
            len(each.unknown),
            f"{each.expected_errors:.1f}",
            f"{each.rate:.1%}",
            shortened(each.text),
        )
        for rank, each in enumerate(ordered, 1)
    ]
    header = ("rank", "sentence", "tokens", "expected errors", "per token", "text")
    return str(table(rows, header=header, divider=True, aligns=("r", "l", "r", "r", "r", "l"), max_col=70))


def _token_table(ordered: Sequence[RankedToken]) -> str:
    rows = [
        (
            rank,
            shortened(sentence.gold.name, 30),
            f"{visible(token.form)} ({token.word})",
            head_of(sentence.gold.words, token.head),
            token.label,
            f"{token.head_prob:.1%}",
            head_of(sentence.gold.words, token.next_head),
            f"{token.next_prob:.1%}" if token.next_head is not None else "",
        )
        for rank, (sentence, token) in enumerate(ordered, 1)
    ]
    header = ("rank", "sentence", "word", "head", "label", "probability", "next best head", "probability")
    return str(table(rows, header=header, divider=True, aligns=tuple("rllllrlr"), max_col=40))


def _yield_text(sentences: Sequence[SureSentence], pieces: Sequence[Sequence[SureToken]]) -> str:
    tokens = sum(len(sentence.unknown) for sentence in sentences)
    errors = sum(sentence.expected_errors for sentence in sentences)
    found = "; ".join(
        f"{count:,} tokens ({share:.0%}): {part:.0%} of them"
        for share, (count, part) in zip(_SHARES, expected_yield(pieces, _SHARES), strict=True)
    )
    return (
        f"{tokens:,} tokens to read, with {errors:,.1f} wrong heads expected by the probabilities of the model. "
        f"Reading in this order is expected to find, in {found}."
    )

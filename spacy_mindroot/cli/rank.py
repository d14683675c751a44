"""`spacy mindroot rank`: orders sentences or tokens of a corpus for correction."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer
from tqdm import tqdm

from ..errors import CorpusError
from ..escapes import printable
from . import options
from .files import if_given, outputs
from .paths import PathsError, check_paths, model_folder
from .printing import found, say
from .running import command

__all__ = ["rank_cli"]

_SHOWN = 10  # rows of the table

By = StrEnum("By", "SENTENCE TOKEN")
Order = StrEnum("Order", "RATE ERRORS")


@command("out", "report", tables=True)
def rank_cli(
    model: str = options.model(),
    corpus: Path = typer.Argument(..., metavar="CORPUS", exists=True),
    by: By = typer.Option(By.SENTENCE, "--by", "-b", metavar="sentence|token"),
    criterion: Order = typer.Option(Order.RATE, "--criterion", "-c", metavar="rate|errors"),
    most: int | None = typer.Option(None, "--most", metavar="N", min=1),
    given: bool = typer.Option(False, "--given"),
    coverage: float | None = options.coverage("Count the trees in the set"),
    out: Path | None = options.out_file(),
    report: Path | None = options.report("the ranking"),
    surface_tokens: bool | None = options.surface_tokens("Parse"),
    code: Path | None = options.code(),
) -> None:
    """Parse a corpus, and order its sentences or tokens for correction: the least certain first.

    The chance that a head is wrong is one minus its probability. By sentence, those with the most wrong heads expected
    per token come first, so that each token read finds as many errors as possible; by token, those with the least
    probable heads. Ties keep the order of the corpus. Prints the first of them, and how many of the wrong heads are
    expected in the first tokens.

    Writes CoNLL-U in this order, with the trees of the parser; comments (`# rank = 1`, `# expected_errors = 2.31`,
    `# tokens_to_read = 12`); and, in MISC, HeadProb and, where there is a second likely head, NextHead, NextProb and
    NextDeprel. By token, Rank marks the tokens to read.

    model: Pipeline with an arc_scorer and a mind_root.
    corpus: Sentences to parse: a .spacy file, or a CoNLL-U file or folder, whose tokens are kept; or a text, with empty
        lines between paragraphs.
    by: What to order.
    criterion: Order of sentences: by the expected number of wrong heads per token to read, or in the whole
        sentence.
    most: Number of sentences or tokens to write (default: all).
    given: Keep the heads in CORPUS: the trees contain them, and only words without a head are ranked (default:
        parse all words anew).
    out: CoNLL-U file to write, or - for standard output (default: print tables only).
    """
    from ..tools.correction import report as reports
    from ..tools.correction.ranking import order_sentences, order_tokens, sure_sentence
    from ..tools.gold import keep_probabilities, load_pipeline, parse_sentences, sentences_in_text
    from .corpora import corpus_or_text, read_for, read_text

    _, has_tokens = corpus_or_text(str(corpus))
    if given and not has_tokens:
        raise PathsError("--given keeps the heads of an annotated file, but CORPUS is a text. Leave it out.")
    reads = {"CORPUS": corpus, "MODEL": model_folder(model), "--code": code}
    check_paths(reads, {"--out": out, "--report": report})
    nlp = load_pipeline(model)
    keep_probabilities(nlp, coverage=coverage)
    if has_tokens:
        read = read_for(nlp, corpus, surface_tokens)
    else:
        read = sentences_in_text(nlp, read_text(corpus), printable(corpus.stem))
    parsed = parse_sentences(nlp, read, given=given)
    sentences = [
        sure_sentence(doc, gold, position, given=given)
        for position, (doc, gold) in enumerate(tqdm(parsed, unit=" sentences", disable=None, leave=False))
    ]
    if not sentences:
        raise CorpusError(f"There are no words in {printable(corpus)}.")
    if not any(sentence.unknown for sentence in sentences):
        raise CorpusError(f"All heads in {printable(corpus)} are given, so there is nothing to rank.")
    with outputs() as opened, if_given(opened, out) as conllu, if_given(opened, report) as lines:
        if by == "sentence":
            ordered = order_sentences(sentences, criterion.value)
            marked, records = reports.ranked_sentences(ordered[:most]), [*reports.sentence_records(ordered[:most])]
            shown = reports.sentence_table(ordered[:most][:_SHOWN])
            pieces = [sentence.unknown for sentence in ordered]
        else:
            tokens = order_tokens(sentences)
            marked, records = reports.ranked_tokens(tokens[:most]), [*reports.token_records(tokens[:most])]
            shown = reports.token_table(tokens[:most][:_SHOWN])
            pieces = [[each.token] for each in tokens]
        reports.write_ordered(marked, records, out=conllu, report=lines)
    text, expected = reports.expected_finds(sentences, pieces)
    say(shown)
    say(text)
    found({"ranking": records, **expected})

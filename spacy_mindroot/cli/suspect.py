"""`spacy mindroot suspect`: lists the annotated arcs of a treebank that cross-validated parsers consider unlikely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import spacy
import srsly
import typer
from spacy.util import load_config, load_config_from_str
from thinc.api import Config
from tqdm import tqdm
from wasabi import table

from ..conllu import Sentence
from ..conllu.marks import SentenceWriter
from ..errors import CorpusError
from ..escapes import visible
from ..tools.building.config import make_config
from ..tools.correction.suspicion import WHAT, Suspect, What, cross_validated, order_suspects
from ..tools.folds import find_documents, split_documents, with_steps
from ..tools.gold import GoldSentence, read_corpus
from ..trees import MISSING
from .files import PathsError, check_paths, errors_as_messages, outputs, printable
from .init_config import check_language
from .rank import head_of, shortened

__all__ = ["run"]

_SHOWN = 20  # rows of the table


def run(
    gold: Path,
    out: Path | None,
    report: Path | None,
    what: str,
    most: int | None,
    folds: int,
    steps: int,
    seed: int,
    config: Path | None,
    optimize: str,
    lang: str,
    parsers: int = 1,
    code: Path | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot suspect --help`."""
    if what not in WHAT:
        raise typer.BadParameter(f"choose one of {', '.join(WHAT)}.", param_hint="--what")
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    check_language(lang)
    with errors_as_messages(nothing_written=out is not None or report is not None):
        if gold.suffix == ".spacy":
            raise PathsError(f"{printable(gold)} is not CoNLL-U. Give the CoNLL-U file or folder that it is from.")
        own = _config(config, optimize, lang)
        reads = {"GOLD": gold, "--config": config, "--code": code, "a file of --config": _files_of(own)}
        check_paths(reads, {"--out": out, "--report": report})
        parser = with_steps(own, steps)
        sentences = list(read_corpus(gold, spacy.blank("xx").vocab))
        if all((sentence.heads == MISSING).all() for sentence in sentences):
            raise CorpusError(f"No word in {printable(gold)} has a head.")
        documents, kind = find_documents(sentences, folds)
        parts = split_documents(documents, folds, seed)
        to_stderr = "-" in (str(out), str(report))
        typer.echo(f"{len(sentences):,} sentences in {folds} folds, by {kind}.", err=True)
        with outputs() as opened, ExitStack() as stack:
            conllu = None if out is None else stack.enter_context(opened(out))
            lines = None if report is None else stack.enter_context(opened(report))
            number = folds * parsers
            with tqdm(total=number * steps, unit=" steps", desc=f"Training {number} parsers", disable=None) as bar:
                settings = {"steps": steps, "seed": seed, "parsers": parsers}
                every = list(cross_validated(sentences, parts, parser, **settings, advance=bar.update))
            suspects = [each for each in order_suspects(every, cast(What, what)) if each.log_odds(cast(What, what)) > 0]
            chosen = suspects[:most]
            if conllu is not None:
                writer = SentenceWriter(conllu)
                for marked in _marked(chosen, sentences):
                    writer.write(*marked)
            if lines is not None:
                for record in _records(chosen, sentences, cast(What, what)):
                    lines.write((srsly.json_dumps(record) + "\n").encode("utf8"))
        typer.echo(_table(chosen[:_SHOWN], sentences), err=to_stderr)
        typer.echo(_summary(every, suspects), err=to_stderr)


def _config(path: Path | None, optimize: str, lang: str) -> Config:
    if path is None:
        return load_config_from_str(make_config(lang, optimize, [], None))
    try:
        return load_config(path)
    except (ValueError, OSError) as error:
        raise CorpusError(f"{printable(path)} is not a config that spaCy can read: {error}") from error


def _files_of(config: Config) -> list[str]:
    """Return the files that a config names, such as word vectors."""
    named = [*config.get("paths", {}).values(), *config.get("initialize", {}).values()]
    return [value for value in named if isinstance(value, str) and value]


def _conllu(sentence: GoldSentence) -> Sentence:
    assert sentence.conllu is not None  # read as words
    return sentence.conllu


def _marked(
    suspects: Sequence[Suspect], sentences: Sequence[GoldSentence]
) -> Iterator[tuple[Sentence, dict[str, object], dict[int, dict[str, object]]]]:
    """Yield the sentences of suspects, in the order of the first of them in each, with comments and MISC attributes."""
    by_sentence: dict[int, list[tuple[int, Suspect]]] = {}
    for rank, each in enumerate(suspects, 1):
        by_sentence.setdefault(each.sentence, []).append((rank, each))
    for number, own in by_sentence.items():
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
        yield _conllu(sentences[number]), {"rank": own[0][0], "suspects": len(own)}, misc


def _records(suspects: Sequence[Suspect], sentences: Sequence[GoldSentence], what: What) -> Iterator[dict[str, Any]]:
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


def _table(suspects: Sequence[Suspect], sentences: Sequence[GoldSentence]) -> str:
    rows = []
    for rank, each in enumerate(suspects, 1):
        sentence = sentences[each.sentence]
        words = sentence.words
        rows.append(
            (
                rank,
                shortened(sentence.name, 30),
                f"{visible(words[each.word - 1])} ({each.word})",
                head_of(words, each.head),
                visible(each.label),
                f"{each.given_prob:.1%}, {each.label_prob:.1%}",
                head_of(words, each.other_head),
                visible(each.other_label),
                f"{each.other_given_prob:.1%}, {each.other_label_prob:.1%}",
            )
        )
    header = ("rank", "sentence", "word", "head", "label", "probabilities", "other head", "label", "probabilities")
    return str(table(rows, header=header, divider=True, aligns=tuple("rllllrllr"), max_col=40))


def _summary(every: Sequence[Suspect], suspects: Sequence[Suspect]) -> str:
    heads = sum(each.kind == "label" or each.other_given_prob <= each.given_prob for each in every)
    return (
        f"{len(suspects):,} of {len(every):,} annotated arcs are less probable than another. Given the other arcs of a "
        f"sentence that they have not seen, the parsers prefer the annotated head of {heads / len(every):.1%} of words."
    )

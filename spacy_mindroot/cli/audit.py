"""`spacy mindroot audit`: what the root constraint changes on a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import srsly
import typer
from spacy.language import Language
from spacy.util import load_model
from tqdm import tqdm
from wasabi import table

from ..arc_scorer.component import ArcScorer
from ..audit.corpus import read_corpus, score_sentences
from ..audit.measures import Audit, AuditedSentence, AuditedTree, audit_sentences, summarize
from ..audit.report import NOTE, SCORE_HEADER, count_rows, score_rows, to_html, to_json, to_markdown
from ..conllu import conllu_files, format_sentence, read_conllu
from ..conllu.sentence import DEPREL, HEAD
from ..errors import CorpusError, MindRootError
from ..score_file import read_score_file
from ..scored import ScoredSentence
from .files import outputs, tolerant_streams


def run(model: str, corpus: Path | None, out: Path | None, most: int, seed: int) -> None:
    """The command, with its errors as messages. See `spacy mindroot audit --help`."""
    tolerant_streams()
    try:
        audited = list(_audited(model, corpus))
        audit = summarize(audited, seed=seed)
        facts = {
            **({"scores": model} if corpus is None else {"model": model, "corpus": str(corpus)}),
            "versions": ", ".join(f"{name} {version(name)}" for name in ("spacy-mindroot", "spacy", "numpy")),
        }
        if out is not None:
            _write(out, corpus, audited, audit, facts, most)
    except (MindRootError, OSError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(1) from error
    typer.echo(table(count_rows(audit), aligns=("l", "r"), max_col=60))
    if audit.scores:
        typer.echo(table(score_rows(audit), header=SCORE_HEADER, divider=True, aligns=("l", *"rrrrr"), max_col=60))
        typer.echo(NOTE)
    if out is not None:
        typer.echo(
            f"\nSee {out / 'audit.html'} for the sentences that change; audit.md, .json and .jsonl lie beside it."
        )


def _warn_of_loss(nlp: Language) -> None:
    for name, component in nlp.pipeline:
        if isinstance(component, ArcScorer) and component.loss == "tree":
            typer.secho(
                f'{name} was trained with loss = "tree", by which nothing is learnt of how many roots there should be. How many its '
                'unconstrained trees have, and all that is called "unconstrained" here, means little: train with loss = "head" or "both" to '
                "know what the constraint changes.",
                fg="yellow",
                err=True,
            )


def _audited(model: str, corpus: Path | None) -> Iterator[AuditedSentence]:
    total, sentences = _scored(model, corpus)
    yield from tqdm(
        audit_sentences(sentences, source=model if corpus is None else str(corpus)),
        total=total,
        unit=" sentences",
        disable=None,
        leave=False,
    )


def _scored(model: str, corpus: Path | None) -> tuple[int, Iterator[ScoredSentence]]:
    """How many sentences there are, and these."""
    if corpus is None:
        if not model.endswith(".npz"):
            raise CorpusError(f"{model} is no score file (.npz). For a pipeline, name the corpus too: MODEL CORPUS.")
        scored = read_score_file(model)
        if not any(sentence.words for sentence in scored):
            raise CorpusError(f"There are no sentences in {model}.")
        stem = Path(model).stem
        return len(scored), (replace(sentence, name=f"{stem}-{k}") for k, sentence in enumerate(scored, 1))
    if ".npz" in (corpus.suffix, Path(model).suffix):
        raise CorpusError("a score file is audited by itself, without a pipeline: spacy mindroot audit FILE.npz")
    try:
        nlp = load_model(model)
    except (
        OSError,
        ValueError,
        ImportError,
    ) as error:  # no such folder or package; a bad config; a plug-in that is not there
        raise CorpusError(f"{model} is no pipeline that spaCy can load: {error}") from error
    _warn_of_loss(nlp)
    gold = read_corpus(corpus, nlp.vocab)
    return len(gold), score_sentences(nlp, gold)


def _write(
    out: Path, corpus: Path | None, audited: list[AuditedSentence], audit: Audit, facts: dict[str, Any], most: int
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    names = ["unconstrained.conllu", "single_root.conllu"]
    if corpus is not None and any((out / name).exists() and (out / name).samefile(corpus) for name in names):
        raise CorpusError(f"{corpus} is a file that the audit would write. Choose another folder for it.")
    texts = {
        "audit.jsonl": "".join(f"{srsly.json_dumps(each.record())}\n" for each in audited),
        "audit.md": to_markdown(audit, facts),
        "audit.html": to_html(audit, facts, audited, most=most),
        "audit.json": srsly.json_dumps(to_json(audit, facts), indent=2) + "\n",
    }
    with outputs() as opened:
        for name in names:
            with opened(out / name) as file:
                file.writelines(_trees(name.removesuffix(".conllu"), corpus, audited))
        for name, text in texts.items():
            with opened(out / name) as file:
                file.write(text.encode("utf8"))


def _trees(name: str, corpus: Path | None, audited: list[AuditedSentence]) -> Iterator[bytes]:
    """The trees in CoNLL-U: if the corpus is, all of it, with other values of HEAD and DEPREL."""
    if corpus is None or corpus.suffix == ".spacy":
        for each in audited:
            tree: AuditedTree = getattr(each, name)
            words, sent_id = each.sentence.words, each.sentence.name
            yield format_sentence(words, tree.heads.tolist(), tree.labels, sent_id=sent_id).encode("utf8")
        return
    sentences = (sentence for path in conllu_files(corpus) for sentence in read_conllu(path))
    for sentence, each in zip(sentences, audited, strict=True):
        tree = getattr(each, name)
        for word, (head, label) in enumerate(zip(tree.heads.tolist(), tree.labels, strict=True), 1):
            sentence.replace(word, HEAD, str(head))
            sentence.replace(word, DEPREL, label)
        yield sentence.to_bytes()

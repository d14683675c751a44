"""`spacy mindroot audit`: reports what the root constraint changes on a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from itertools import repeat, tee
from pathlib import Path
from typing import Any, BinaryIO

import srsly
import typer
from spacy.language import Language
from tqdm import tqdm
from wasabi import table

from ..arc_scorer.component import ArcScorer
from ..conllu import format_sentence
from ..conllu.marks import SentenceWriter
from ..conllu.repair import pos_of_sentence
from ..errors import CorpusError
from ..pipeline.scoring import mind_roots
from ..rules import to_rules
from ..score_file import read_score_file
from ..tools.audit.measures import SIDES, Audit, AuditedSentence, Tally, audit_sentences
from ..tools.audit.report import NOTE, SCORE_HEADER, count_rows, score_rows, to_html, to_json, to_markdown
from ..tools.audit.valid import SCORE_HEADER as RULE_HEADER
from ..tools.audit.valid import VIOLATION_HEADER, RuleAudit, RuleTally, ValidSentence, audit_rules
from ..tools.gold import GoldSentence, load_pipeline, score_sentences
from .corpora import read_for, warn
from .files import Opened, check_paths, errors_as_messages, model_folder, outputs, printable, rules_file
from .folders import refuse_links_out

__all__ = ["run"]

_FILES = (*(f"{name}.conllu" for name in SIDES), "audit.jsonl", "audit.md", "audit.html", "audit.json")
_MANY_UNKNOWN = 0.05  # share of tokens with unknown gold labels that is worth a warning

# An audited sentence, and the gold sentence that it was read from: None for a score file.
_Pairs = Iterator[tuple[AuditedSentence, GoldSentence | None]]


def run(
    model: str,
    corpus: Path | None,
    out: Path | None,
    most: int,
    seed: int,
    surface_tokens: bool | None = None,
    rules: str | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot audit --help`."""
    with errors_as_messages(nothing_written=out is not None):
        files = [] if out is None else [out / name for name in _FILES]
        reads = {"MODEL": model_folder(model), "CORPUS": corpus, "--rules": rules_file(rules)}
        check_paths(reads, {"--out": files}, made="--out")
        if out is not None:
            refuse_links_out(out, files)
        known = None if rules is None else to_rules(rules, what="--rules")
        tally, valid_tally = Tally(), None if known is None else RuleTally(known)
        with outputs(out) as opened:
            total, pairs, aside = _audited(model, corpus, surface_tokens, all_labels=known is not None)
            with ExitStack() as stack:
                report = None if out is None else _Report(out, stack, opened, most)
                for audited, gold in tqdm(pairs, total=total, unit=" sentences", disable=None, leave=False):
                    tally.add(audited)
                    if report is not None:
                        report.add(audited, gold)
                    if known is not None and valid_tally is not None:
                        valid = audit_rules(audited, known, _gold_pos(gold))
                        valid_tally.add(valid)
                        if report is not None:
                            report.add_valid(valid)
                audit = tally.summarize(seed=seed)
                valid_audit = None if valid_tally is None else valid_tally.summarize(seed=seed)
                if report is not None:
                    report.finish(audit, _facts(model, corpus, aside), valid_audit)
        _print(audit, out)
        if valid_audit is not None:
            _print_valid(valid_audit)
        if aside:
            typer.echo(
                f"\nThe pipeline has {aside}. The trees above do not take that into account: they are the best ones of "
                "its scores, with and without the root constraint."
                + (" To see what rules change, use --rules." if known is None and "rules" in aside else "")
            )


def _gold_pos(gold: GoldSentence | None) -> list[str | None] | None:
    return None if gold is None or gold.conllu is None else pos_of_sentence(gold.conllu)


def _audited(
    model: str, corpus: Path | None, surface_tokens: bool | None, *, all_labels: bool
) -> tuple[int | None, _Pairs, str]:
    """Return the number of sentences, if it is known, and the audited sentences, each with its gold sentence.

    The third is the settings of the pipeline's `mind_root` that the audit does not apply; "" if there are none.
    """
    if corpus is None:
        if all_labels:
            raise CorpusError(
                "--rules needs the scores of all labels, which score files do not have. Audit a pipeline: MODEL CORPUS."
            )
        if not model.endswith(".npz"):
            raise CorpusError(f"{model} is not a score file (.npz). For a pipeline, give a corpus too: MODEL CORPUS.")
        scored = read_score_file(model)
        if not any(sentence.words for sentence in scored):
            raise CorpusError(f"There are no sentences in {model}.")
        stem = printable(Path(model).stem)
        named = (replace(sentence, name=f"{stem}-{k}") for k, sentence in enumerate(scored, 1))
        return len(scored), zip(audit_sentences(named, source=printable(model)), repeat(None), strict=False), ""
    if ".npz" in (corpus.suffix, Path(model).suffix):
        raise CorpusError("a score file is audited by itself, without a pipeline: spacy mindroot audit FILE.npz")
    nlp = load_pipeline(model)
    _warn_of_loss(nlp)
    gold, to_score = tee(read_for(nlp, corpus, surface_tokens))
    audited = audit_sentences(score_sentences(nlp, to_score, all_labels=all_labels), source=printable(corpus))
    return None, zip(audited, gold, strict=True), _settings_aside(nlp)


def _settings_aside(nlp: Language) -> str:
    component = next(iter(mind_roots(nlp).values()), None)
    if component is None:
        return ""
    rules = component.rules if component.rules is None or isinstance(component.rules, str) else "a table"
    settings = ["projective = true"] * component.projective + [f"rules = {rules}"] * (rules is not None)
    return " and ".join(settings)


def _warn_of_loss(nlp: Language) -> None:
    for name, component in nlp.pipeline:
        if isinstance(component, ArcScorer) and component.loss == "tree":
            warn(
                f'{name} was trained with loss = "tree", which does not teach it how many roots a sentence has. All '
                'that is called "unconstrained" here is therefore meaningless. To see what the constraint changes, '
                'train with loss = "head" or "both".'
            )


def _facts(model: str, corpus: Path | None, aside: str) -> dict[str, str]:
    """Return the names of the model and the corpus, and the versions of the packages, for the reports."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("spacy-mindroot", "spacy", "numpy"))
    if corpus is None:
        return {"scores": printable(model), "versions": versions}
    facts = {"model": printable(model), "corpus": printable(corpus), "versions": versions}
    return facts | ({"not applied": f"the pipeline's {aside}"} if aside else {})


def _print(audit: Audit, out: Path | None) -> None:
    typer.echo(table(count_rows(audit), aligns=("l", "r"), max_col=60))
    if audit.scores:
        typer.echo(table(score_rows(audit), header=SCORE_HEADER, divider=True, aligns=("l", *"rrrrr"), max_col=60))
        typer.echo(NOTE)
    unknown = sum(audit.unknown_labels.values())
    if unknown > _MANY_UNKNOWN * audit.tokens:
        warn(
            f"{unknown / audit.tokens:.0%} of the tokens have a gold label that the scorer does not have. Was the "
            "pipeline trained on another annotation scheme, or on other tokens (--surface-tokens, --words)?"
        )
    if out is not None:
        typer.echo(
            f"\n{out / 'audit.html'} shows the sentences that change. audit.md, audit.json, audit.jsonl and the "
            "trees are in the same folder."
        )


def _print_valid(valid: RuleAudit) -> None:
    typer.echo(table(valid.count_rows(), aligns=("l", "r"), max_col=60))
    typer.echo(table(valid.violation_rows(), header=VIOLATION_HEADER, divider=True, aligns=("l", "r", "r", "r")))
    if valid.scores:
        typer.echo(table(valid.score_rows(), header=RULE_HEADER, divider=True, aligns=("l", *"rrrr"), max_col=60))


class _Report:
    """The files of an audit. Trees and records are written sentence by sentence; the rest is written at the end."""

    def __init__(self, out: Path, stack: ExitStack, opened: Opened, most: int) -> None:
        self._files: dict[str, BinaryIO] = {name: stack.enter_context(opened(out / name)) for name in _FILES}
        self._trees = {name: SentenceWriter(self._files[f"{name}.conllu"]) for name in SIDES}
        self._most = most
        self._changed: list[AuditedSentence] = []
        self._mended: list[ValidSentence] = []

    def add(self, audited: AuditedSentence, gold: GoldSentence | None) -> None:
        for name, tree in zip(SIDES, (audited.before, audited.after), strict=True):
            heads, labels = tree.heads.tolist(), tree.labels
            if gold is not None:
                self._trees[name].write(gold.with_tree(heads, labels))
                continue
            text = format_sentence(audited.sentence.words, heads, labels, sent_id=audited.sentence.name)
            self._write(f"{name}.conllu", text)
        self._write("audit.jsonl", srsly.json_dumps(audited.record()) + "\n")
        if len(self._changed) < self._most and audited.changed:
            self._changed.append(audited)

    def add_valid(self, valid: ValidSentence) -> None:
        if len(self._mended) < self._most and valid.changed:
            self._mended.append(valid)

    def finish(self, audit: Audit, facts: dict[str, Any], valid: RuleAudit | None = None) -> None:
        self._write("audit.md", to_markdown(audit, facts, valid))
        self._write("audit.html", to_html(audit, facts, self._changed, valid, self._mended))
        self._write("audit.json", srsly.json_dumps(to_json(audit, facts, valid), indent=2) + "\n")

    def _write(self, name: str, text: str) -> None:
        self._files[name].write(text.encode("utf8"))

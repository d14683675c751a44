"""`spacy mindroot audit`: reports what the root constraint changes on a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from itertools import repeat, tee
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from tqdm import tqdm

from ..errors import CorpusError
from ..escapes import printable
from ..rules import to_rules
from ..score_file import read_score_file
from ..tables import text_table
from . import options
from .files import outputs
from .paths import check_paths, model_folder, refuse_links_out, rules_file
from .printing import found, say
from .running import command, warn

if TYPE_CHECKING:
    from spacy.language import Language

    from ..inference.calibration import Calibration
    from ..tools.audit.measures import Audit, AuditedSentence
    from ..tools.audit.valid import RuleAudit, Table
    from ..tools.gold import GoldSentence

    # An audited sentence, and the gold sentence that it was read from: None for a score file.
    Pairs = Iterator[tuple[AuditedSentence, GoldSentence | None]]

__all__ = ["audit_cli"]

_PIPELINES = "the pipeline's "
_MANY_UNKNOWN = 0.05  # share of tokens with unknown gold labels that is worth a warning


@command("out", tables=True)
def audit_cli(
    model: str = options.model(),
    corpus: Path | None = options.corpus(
        "Annotated corpus", "Its trees must be single-rooted; `spacy mindroot repair` makes them so", default=None
    ),
    out: Path | None = typer.Option(
        None, "--out", "--output", "-o", metavar="FOLDER", file_okay=False, callback=options.ending()
    ),
    most: int = typer.Option(200, "--most", "-m", metavar="N", min=0),
    seed: int = options.seed("the bootstrap"),
    surface_tokens: bool | None = options.surface_tokens("Score"),
    rules: str | None = options.rules("Also report what rules change", "Needs a pipeline"),
    code: Path | None = options.code("-c"),
) -> None:
    """Report what the root constraint changes on a corpus.

    Decodes every sentence, with gold tokens and boundaries, without and with the root constraint. Prints how often
    the best unconstrained tree is multi-rooted, how probable several roots are by the scores (with the calibration of
    the pipeline, or one that is fitted to the score file), what the constraint costs, and UAS, LAS, exact match and
    more both ways, with a 95 % interval on each difference.

    model: Pipeline with an arc_scorer or any other component that sets arc scores; or a score file (.npz), which
        needs no CORPUS.
    out: Folder for the report: audit.html (pictures of the changed sentences), audit.md, audit.json, audit.jsonl
        (one line per sentence), and both trees of each sentence as CoNLL-U (default: print tables only).
    most: Largest number of changed sentences in audit.html.
    """
    from ..conllu.repair import pos_of_sentence
    from ..tools.audit.folder import FILES, AuditFolder
    from ..tools.audit.measures import Tally
    from ..tools.audit.report import to_json
    from ..tools.audit.valid import RuleTally, audit_rules

    files = [] if out is None else [out / name for name in FILES]
    reads = {"MODEL": model_folder(model), "CORPUS": corpus, "--rules": rules_file(rules), "--code": code}
    check_paths(reads, {"--out": files}, made="--out")
    if out is not None:
        refuse_links_out(out, files)
    known = None if rules is None else to_rules(rules, what="--rules")
    valid_tally = None if known is None else RuleTally(known)
    with outputs(*([] if out is None else [out])) as opened, ExitStack() as stack:
        total, pairs, facts, calibration = _audited(model, corpus, surface_tokens, all_labels=known is not None)
        tally = Tally(calibration)
        folder = None if out is None else AuditFolder(out, stack, opened, most)
        for audited, gold in tqdm(pairs, total=total, unit=" sentences", disable=None, leave=False):
            tally.add(audited)
            valid = None
            if known is not None and valid_tally is not None:
                pos = None if gold is None or gold.conllu is None else pos_of_sentence(gold.conllu)
                valid = audit_rules(audited, known, pos)
                valid_tally.add(valid)
            if folder is not None:
                folder.add(audited, gold, valid)
        audit = tally.summarize(seed=seed)
        valid_audit = None if valid_tally is None else valid_tally.summarize(seed=seed)
        if folder is not None:
            folder.finish(audit, _facts(model, corpus) | facts, valid_audit)
    _print(audit, valid_audit, out)
    found(to_json(audit, _facts(model, corpus) | facts, valid_audit))
    if "root scores" in facts:
        say(f"\n{facts['root scores']}")
    aside = facts.get("not applied", "").removeprefix(_PIPELINES)
    if aside:
        say(
            f"\nThe pipeline has {aside}. The trees above do not take that into account: they are the best ones of "
            "its scores, with and without the root constraint."
            + (" To see what rules change, use --rules." if known is None and "rules" in aside else "")
        )


def _audited(
    model: str, corpus: Path | None, surface_tokens: bool | None, *, all_labels: bool
) -> tuple[int | None, Pairs, dict[str, str], Calibration | None]:
    """Return the number of sentences, if it is known, and the audited sentences, each with its gold sentence.

    The third is what to know about them: what was done to scores, and settings of `mind_root` that are not applied. The
    fourth is the calibration of the pipeline, or one that is fitted to the score file.
    """
    from ..pipeline.scoring import mind_roots
    from ..tools.audit.levels import NOTE, with_one_root_expected
    from ..tools.audit.measures import audit_sentences
    from ..tools.audit.roots import calibration_of
    from ..tools.gold import load_pipeline, score_sentences
    from .corpora import read_for

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
        pairs = zip(audit_sentences(named, source=printable(model)), repeat(None), strict=False)
        return len(scored), pairs, {}, calibration_of(scored)
    if ".npz" in (corpus.suffix, Path(model).suffix):
        raise CorpusError("a score file is audited by itself, without a pipeline: spacy mindroot audit FILE.npz")
    nlp = load_pipeline(model)
    gold, to_score = tee(read_for(nlp, corpus, surface_tokens))
    sentences = score_sentences(nlp, to_score, all_labels=all_labels)
    facts: dict[str, str] = {}
    if _learnt_by_trees(nlp):
        sentences = (replace(each, scores=with_one_root_expected(each.scores)) for each in sentences)
        facts = {"root scores": NOTE}
    aside = _settings_aside(nlp)
    audited = audit_sentences(sentences, source=printable(corpus))
    facts |= {"not applied": _PIPELINES + aside} if aside else {}
    component = next(iter(mind_roots(nlp).values()), None)
    return None, zip(audited, gold, strict=True), facts, None if component is None else component.calibration


def _settings_aside(nlp: Language) -> str:
    from ..pipeline.scoring import mind_roots

    component = next(iter(mind_roots(nlp).values()), None)
    if component is None:
        return ""
    rules = component.rules if component.rules is None or isinstance(component.rules, str) else "a table"
    settings = ["projective = true"] * component.projective + [f"rules = {rules}"] * (rules is not None)
    return " and ".join(settings)


def _learnt_by_trees(nlp: Language) -> bool:
    """Whether the scores of a pipeline are from training with the root constraint."""
    from ..arc_scorer.component import ArcScorer

    return any(isinstance(component, ArcScorer) and component.loss == "tree" for _, component in nlp.pipeline)


def _facts(model: str, corpus: Path | None) -> dict[str, str]:
    """Return the names of the model and the corpus, and the versions of the packages, for the reports."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("spacy-mindroot", "spacy", "numpy"))
    if corpus is None:
        return {"scores": printable(model), "versions": versions}
    return {"model": printable(model), "corpus": printable(corpus), "versions": versions}


def _print(audit: Audit, valid: RuleAudit | None, out: Path | None) -> None:
    from ..tools.audit.report import NOTE, audit_tables

    _print_tables(audit_tables(audit))
    if audit.scores:
        say(NOTE)
    unknown = sum(audit.unknown_labels.values())
    if unknown > _MANY_UNKNOWN * audit.tokens:
        warn(
            f"{unknown / audit.tokens:.0%} of the tokens have a gold label that the scorer does not have. Was the "
            "pipeline trained on another annotation scheme, or on other tokens (--surface-tokens, --words)?"
        )
    if out is not None:
        say(
            f"\n{out / 'audit.html'} shows the sentences that change. audit.md, audit.json, audit.jsonl and the "
            "trees are in the same folder."
        )
    if valid is not None:
        _print_tables(valid.tables())


def _print_tables(tables: list[Table]) -> None:
    for header, rows in tables:
        say(text_table(rows, header if any(header) else ()))

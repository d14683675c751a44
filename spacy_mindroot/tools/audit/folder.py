"""The folder of an audit: reports, records, and both trees of each sentence."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import BinaryIO

import srsly

from ...conllu import format_sentence
from ...conllu.marks import SentenceWriter
from ..gold import GoldSentence
from .measures import SIDES, Audit, AuditedSentence
from .report import to_html, to_json, to_markdown
from .valid import RuleAudit, ValidSentence

__all__ = ["FILES", "AuditFolder"]

FILES = (*(f"{name}.conllu" for name in SIDES), "audit.jsonl", "audit.md", "audit.html", "audit.json")

Opened = Callable[[Path], AbstractContextManager[BinaryIO]]


class AuditFolder:
    """The files of an audit. Trees and records are written sentence by sentence; the rest is written at the end."""

    def __init__(self, out: Path, stack: ExitStack, opened: Opened, most: int) -> None:
        self._files: dict[str, BinaryIO] = {name: stack.enter_context(opened(out / name)) for name in FILES}
        self._trees = {name: SentenceWriter(self._files[f"{name}.conllu"]) for name in SIDES}
        self._most = most
        self._changed: list[AuditedSentence] = []
        self._mended: list[ValidSentence] = []

    def add(self, audited: AuditedSentence, gold: GoldSentence | None, valid: ValidSentence | None = None) -> None:
        """Write both trees and the record of a sentence, and keep it for the page if its tree changes."""
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
        if len(self._mended) < self._most and valid is not None and valid.changed:
            self._mended.append(valid)

    def finish(self, audit: Audit, facts: dict[str, str], valid: RuleAudit | None = None) -> None:
        """Write the reports."""
        self._write("audit.md", to_markdown(audit, facts, valid))
        self._write("audit.html", to_html(audit, facts, self._changed, valid, self._mended))
        self._write("audit.json", srsly.json_dumps(to_json(audit, facts, valid), indent=2) + "\n")

    def _write(self, name: str, text: str) -> None:
        self._files[name].write(text.encode("utf8"))

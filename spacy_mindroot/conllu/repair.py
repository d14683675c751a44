"""Repair and checking of a sentence of a CoNLL-U file: cells HEAD and DEPREL of the words that are wrong, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import HeadsError
from ..labels import is_root_label
from ..repair import looks_like_punctuation, repair_heads, repair_labels
from ..trees import MISSING, is_tree, shown_cycle
from .sentence import DEPREL, DEPS, HEAD, UPOS, Sentence


class ArcChange(NamedTuple):
    """A word whose head or label a repair has changed.

    file (str), line (int): Where the word is.
    sent_id (Optional[str]): Of its sentence, if that has one.
    word (int): Its ID.
    form (str): The word itself.
    old_head, old_label (str): The cells HEAD and DEPREL as they were.
    head, label (str): As they are now.
    why (str): See `repair.Change`. "label" where only the label has changed.
    cycle (Optional[list[int]]): The words of the cycle that the word was in, each of which hangs on the next.
    """

    file: str
    line: int
    sent_id: str | None
    word: int
    form: str
    old_head: str
    old_label: str
    head: str
    label: str
    why: str
    cycle: list[int] | None

    def __str__(self) -> str:
        arc = f"head {self.old_head} ({self.old_label}) -> {self.head} ({self.label})"
        sentence = f"sentence {self.sent_id}, " if self.sent_id else ""
        cycle = f" ({shown_cycle(self.cycle)})" if self.cycle else ""
        return f"{self.file}:{self.line}: {sentence}word {self.word} {self.form!r}: {self.why}{cycle}: {arc}"


def is_well_formed(sentence: Sentence) -> bool:
    """Is the basic tree one with exactly one root, which alone has ROOT's label? In a hurry: most sentences of most files are."""
    heads, rows = sentence.heads, sentence.rows
    if heads.count(0) != 1 or min(heads) < 0 or max(heads) > len(heads):
        return False
    labels = b"\t".join([row[DEPREL] for row in rows]).lower()
    if labels.count(b"root") != 1 or not is_root_label(rows[heads.index(0)][DEPREL].decode("utf8", "replace")):
        names = sentence.labels
        if any(is_root_label(name) != (head == 0) for name, head in zip(names, heads, strict=True)):
            return False
    return is_tree(heads)


def repair_sentence(
    sentence: Sentence, *, root_label: str = "root", demoted_label: str | None = None
) -> list[ArcChange]:
    """Repairs the basic tree of a sentence, in place. See `repair.repair_heads` and `repair.repair_labels`.

    sentence (Sentence): Only HEAD and DEPREL of words that change are written to.
    root_label (str): What a new root gets; if a word of the sentence has ROOT's label in another spelling, that.
    demoted_label (Optional[str]): What a demoted root gets.
    RETURNS (list[ArcChange]): The changes, in order.
    RAISES (ConlluError): If no word has a head.
    """
    if is_well_formed(sentence):
        return []
    words, labels = sentence.words, sentence.labels
    pos: list[str | None] = [*sentence.column(UPOS)]
    before = sentence.heads.copy()
    is_punct = [looks_like_punctuation(word, tag) for word, tag in zip(words, pos, strict=True)]
    try:
        repair = repair_heads(before, labels=labels, pos=pos, is_punct=is_punct)
    except HeadsError as error:
        if any(head != MISSING for head in before):
            raise
        raise sentence.fault(
            1, "has no HEAD, nor has any other word of its sentence. Parse it first; there is nothing to repair."
        ) from error
    after = repair.heads.tolist()
    roots = [label for label in labels if is_root_label(label)]
    if root_label not in roots:
        root_label = next(iter(roots), root_label)
    new_labels = repair_labels(
        labels, before, after, pos=pos, is_punct=is_punct, root_label=root_label, demoted_label=demoted_label
    )
    sent_id = sentence.sent_id
    cycles = {word: cycle for cycle in repair.cycles for word in cycle}
    reasons = {change.dependent: change.why for change in repair.changes}
    changes = []
    for word, (form, head, label) in enumerate(zip(words, after, new_labels, strict=True), 1):
        old_label = labels[word - 1]
        if head == before[word - 1] and label == old_label:
            continue
        changes.append(
            ArcChange(
                file=sentence.source,
                line=sentence.line_of(word),
                sent_id=sent_id,
                word=word,
                form=form,
                old_head=sentence.rows[word - 1][HEAD].decode(),
                old_label=old_label,
                head=str(head),
                label=label,
                why=reasons.get(word, "label"),
                cycle=cycles.get(word) if word in reasons else None,
            )
        )
        if head != before[word - 1]:
            sentence.replace(word, HEAD, str(head))
        if label != old_label:
            sentence.replace(word, DEPREL, label)
    return changes


def enhanced_root_disagrees(sentence: Sentence) -> bool:
    """Does the enhanced layer (column DEPS), where there is one, not have the basic root for a root?"""
    rows = sentence.rows
    deps = rows[sentence.heads.index(0)][DEPS]
    if deps.startswith(b"0:") or b"|0:" in deps:
        return False
    return deps != b"_" or any(row[DEPS] != b"_" for row in rows)

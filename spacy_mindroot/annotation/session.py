"""An annotation that goes on: the file, the journal, the parser's suggestions, and what the annotator sees of them."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.util import get_lang_class

from ..conllu import Sentence
from ..conllu.columns import FORM, MISC
from ..conllu.marks import marked_sentence
from ..conllu.repair import is_complete, pos_of_sentence, root_label_of
from ..errors import MindRootError
from ..labels import NO_LABEL, UD_RELATIONS, is_root_label
from ..rules import Rules
from ..rules.reasons import reason_of
from ..trees import MISSING, is_tree
from .decisions import EDITABLE, DecisionError, Work, check_step, fold, is_text
from .journal import Journal, renamed
from .picture import draw
from .suggestions import Alternative, Scores, Suggester, Suggestion
from .treebank import Treebank, copied, new_sentences, text_of

__all__ = ["Conflict", "Session"]

_HELD_OUT, _ENOUGH = 60, 300  # the latest sentences to calibrate with, and their least number of words
_MOST_NEW = 10_000  # words that are added at a time
_NUMBERED = re.compile("s[0-9]{1,9}")  # the names of sentences that were added


class Conflict(MindRootError):
    """A decision on a sentence that has changed since it was shown."""


@dataclass
class Session:
    """The annotation of a file.

    treebank (Treebank): The file.
    journal (Journal): The steps taken so far.
    suggester (Suggester): The parser, which can be replaced at any time.
    rules (Optional[Rules]): Rules whose violations are shown.
    review (bool): Whether complete trees of the file are still to be checked. Otherwise they count as accepted.
    second (Mapping): Heads and labels of another annotator, by the keys of sentences. Only differences are then to be
        decided on.
    provenance (bool): Whether MISC says which heads were decided by hand.
    """

    treebank: Treebank
    journal: Journal
    suggester: Suggester
    rules: Rules | None = None
    review: bool = False
    second: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    provenance: bool = False
    lang: str = "xx"

    def __post_init__(self) -> None:
        self.rates: dict[str, float] = {}  # expected wrong heads per word, by the keys of sentences
        self.log: list[str] = []  # the keys of the sentences of all steps of this session
        self._trees: dict[str, tuple[list[int], list[str]]] = {}  # that were shown last
        self._revisions: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._order: list[int] | None = None
        self._held_out: deque[tuple[Scores, list[int]]] = deque(maxlen=_HELD_OUT)  # not learnt when they were accepted
        self.root = root_label_of(self.treebank)
        self.changed = self._reconcile()  # sentences that another program has changed since

    # What there is

    def state(self, number: int) -> str:
        """Return "accepted", "begun" or "new"."""
        key = self.treebank.keys[number]
        if key not in self._states:
            steps = self.journal.steps.get(key)
            if steps:
                written = steps[-1].get("written")  # if it was accepted last
                found = "accepted" if written and written == self._digest(number) else "begun"
            elif self.second:
                found = "new" if self._differences(number) else "accepted"
            else:
                found = "accepted" if not self.review and is_complete(self.base(number)) else "new"
            self._states[key] = found
        return self._states[key]

    def accepted(self) -> list[int]:
        """Return the numbers of the sentences that are accepted."""
        return [number for number in range(len(self.treebank)) if self.state(number) == "accepted"]

    def order(self) -> list[int]:
        """Return the sentences in the order in which to read them: the least certain first, if that is known."""
        if self._order is None:
            rates = [-round(self.rates.get(key, 0.0), 6) for key in self.treebank.keys]
            self._order = sorted(range(len(rates)), key=lambda number: (rates[number], number))
        return self._order

    def after(self, number: int | None) -> int | None:
        """Return the next sentence that is not accepted: the first in order, or the one after a sentence."""
        order = self.order()
        at = 0 if number is None else order.index(number) + 1
        left = [each for each in [*order[at:], *order[:at]] if each != number and self.state(each) != "accepted"]
        return left[0] if left else None

    def overview(self) -> list[dict[str, Any]]:
        """Return what a list of all sentences shows, in the order in which to read them."""
        return [
            {"number": n, "name": self.name(n), "text": text_of(self.treebank[n])[:300], "state": self.state(n)}
            for n in self.order()
        ]

    def name(self, number: int) -> str:
        """Return the name of a sentence."""
        return self.treebank[number].sent_id or str(number + 1)

    def labels(self) -> list[str]:
        """Return all labels that are known: the file's, the parser's, and those of Universal Dependencies."""
        nlp = self.suggester.nlp
        of_parser = nlp.get_pipe("arc_scorer").labels if nlp is not None and nlp.has_pipe("arc_scorer") else ()
        found = {*UD_RELATIONS, *of_parser, *(label for sentence in self.treebank for label in sentence.labels)}
        return sorted(label for label in found - NO_LABEL if not is_root_label(label))

    # What a sentence looks like

    def base(self, number: int) -> Sentence:
        """Return a sentence as it was before the first decision on it."""
        known, now = self.journal.bases.get(self.treebank.keys[number]), self.treebank[number]
        return now if known is None else copied(now, known.encode("utf8"))

    def edited(self, number: int, work: Work) -> Sentence:
        """Return a sentence with the cells that were edited, and the arcs accepted last or, before, of its base."""
        sentence = copied(self.base(number))
        before = text_of(sentence)
        for (word, column), value in work.cells.items():
            sentence.replace(word, column, value)
        if work.tree is not None:
            sentence.replace_arcs(*work.tree)
        if any(column == FORM for _, column in work.cells) and sentence.comment("text") == before:
            sentence = copied(sentence, marked_sentence(sentence, {"text": text_of(sentence)}))
        return sentence

    def suggestion(self, work: Work, sentence: Sentence) -> tuple[Suggestion, list[str | None], str]:
        """Return the tree around what is decided, the parts of speech as rules see them, and why rules are not met."""
        scores = self.suggester.scores(sentence)
        pos = pos_of_sentence(sentence)
        if scores is not None:
            pos = [scores.cells.get((k, 3), tag) if tag in ("_", None) else tag for k, tag in enumerate(pos, 1)]
        told = (scores, work.fixed, sentence.heads, sentence.labels)
        fault = ""
        if work.valid and not work.accepted and self.rules is not None:
            meant = {rule for rule, _ in work.intended}.union(*(_intended(sentence, k + 1) for k in range(len(pos))))
            rules = self.rules.without(meant.intersection(self.rules.names))
            try:
                return self.suggester.suggest(*told, rules=rules, pos=pos), pos, ""
            except MindRootError as error:  # no tree meets the rules
                fault = str(error)
        return self.suggester.suggest(*told), pos, fault

    def view(self, number: int, *, vertical: bool = False) -> dict[str, Any]:
        """Return all that is shown of a sentence, as JSON."""
        key = self.treebank.keys[number]
        work = fold(self.journal.steps.get(key, ()))
        sentence = self.edited(number, work)
        tree, pos, fault = self.suggestion(work, sentence)
        before = self._trees.get(key)
        latest = self.journal.steps[key][-1].get("word") if self.journal.steps.get(key) else None
        arcs = list(zip(tree.heads, tree.labels, strict=True))
        changed = []
        if before is not None and before != (tree.heads, tree.labels):
            old = zip(*before, strict=True)
            changed = [k for k, (now, was) in enumerate(zip(arcs, old, strict=True), 1) if now != was and k != latest]
        self._trees[key] = (tree.heads, tree.labels)
        violations = self._violations(sentence, tree, pos, work)
        faulty = {each["word"] for each in violations if not each["intended"]}
        second = self.second.get(key, ())
        alternatives = [list(each) for each in tree.alternatives]
        base = self.base(number)
        first = zip(base.heads, base.labels, strict=True)
        for word, of_both in enumerate(zip(first, second, strict=False), 1):
            # In place of a probability: -1 for the first annotator, -2 for the second.
            options = [
                Alternative(*arc, -1.0 - k)
                for k, arc in enumerate(of_both)
                if arc != arcs[word - 1] and arc not in of_both[:k]
            ]
            rest = [each for each in alternatives[word - 1] if each[:2] not in [option[:2] for option in options]]
            alternatives[word - 1] = [*options, *rest][:3]
        return {
            "number": number,
            "revision": self._revisions.get(key, 0),
            "name": self.name(number),
            "text": sentence.comment("text") or text_of(sentence),
            "translations": [c[1:].strip() for c in sentence.comments if c[1:].strip().startswith("text_")],
            "state": self.state(number),
            "words": self._words(sentence),
            "surface": [[first, last, cells[FORM]] for first, last, cells in sentence.multiword_tokens()],
            "heads": tree.heads,
            "labels": tree.labels,
            "headProbs": tree.head_probs,
            "labelProbs": tree.label_probs,
            "fixed": sorted(work.fixed),
            "changed": changed,
            "alternatives": [[[head, label, prob] for head, label, prob in own] for own in alternatives],
            "otherLabels": [[[head, label, prob] for head, label, prob in own] for own in tree.other_labels],
            "doubt": self._doubt(number, tree, work),
            "violations": violations,
            "valid": work.valid and not fault,
            "certified": tree.certified,
            "fault": fault,
            "steps": len(self.journal.steps.get(key, ())),
            "svg": draw(
                sentence, tree, fixed=work.fixed, changed=changed, faulty=faulty, second=second, vertical=vertical
            ),
            "next": self.after(number),
        }

    def _words(self, sentence: Sentence) -> list[dict[str, Any]]:
        scores = self.suggester.scores(sentence)
        predicted = {} if scores is None else scores.cells
        columns = {name: sentence.column(column) for name, column in EDITABLE.items()}
        return [
            {
                "cells": {name: cells[k - 1] for name, cells in columns.items()},
                "predicted": {
                    name: predicted[k, EDITABLE[name]]
                    for name, cells in columns.items()
                    if cells[k - 1] == "_" and (k, EDITABLE[name]) in predicted
                },
            }
            for k in range(1, len(sentence) + 1)
        ]

    def _differences(self, number: int) -> list[int]:
        own, theirs = self.base(number), self.second.get(self.treebank.keys[number], ())
        pairs = zip(own.heads, own.labels, theirs, strict=False)
        return [word for word, (head, label, arc) in enumerate(pairs, 1) if (head, label) != tuple(arc)]

    def _doubt(self, number: int, tree: Suggestion, work: Work) -> list[int]:
        """Return the words to look at that are not decided, the least certain first."""
        words: Sequence[int] = range(1, len(tree.heads) + 1)
        if self.second:
            words = self._differences(number)
        free = [word for word in words if word not in work.fixed]

        def sureness(word: int) -> float:
            head, label = tree.head_probs[word - 1], tree.label_probs[word - 1]
            if head is None or label is None:
                return -1.0 if tree.heads[word - 1] == MISSING or tree.labels[word - 1] in NO_LABEL else 1.0
            return round(head * label, 6)

        return sorted(free, key=lambda word: (sureness(word), word))

    def _violations(
        self, sentence: Sentence, tree: Suggestion, pos: Sequence[str | None], work: Work
    ) -> list[dict[str, Any]]:
        if self.rules is None or not is_tree(tree.heads):
            return []
        words = sentence.words
        found = {}
        for rule in self.rules:
            for word in rule.faults(tree.heads, tree.labels, pos):
                reason = reason_of(rule, word, words, tree.heads, tree.labels, pos)
                intended = (rule.name, word) in work.intended or rule.name in _intended(sentence, word)
                found[rule.name, word] = {"rule": rule.name, "word": word, "reason": reason, "intended": intended}
        return list(found.values())

    # What the annotator does

    def act(self, number: int, step: Any, revision: int | None = None) -> list[int]:
        """Take a decision on a sentence, and return the words whose arcs it has set free.

        revision (Optional[int]): The one that was shown. Raises Conflict if it is no longer that.
        """
        self.check_revision(number, revision)
        names = self.rules.names if self.rules is not None else []
        step = check_step(step, len(self.treebank[number]), names, self.root)
        if step["do"] == "valid" and self.rules is None:
            raise DecisionError("There are no rules. Start with --rules ud, or another table of rules.")
        if step["do"] == "accept":
            self.accept(number, step)
            return []
        given_up: list[int] = []
        if step["do"] == "arc":
            work = fold(self.journal.steps.get(self.treebank.keys[number], ()))
            given_up = work.fix(step["word"], step["head"], step["label"])
        self._note(number, step)
        return given_up

    def check_revision(self, number: int, revision: int | None) -> None:
        """Raise Conflict if a sentence has changed since this revision of it was shown."""
        if revision is not None and revision != self._revisions.get(self.treebank.keys[number], 0):
            raise Conflict("This sentence was changed in another tab. It is shown as it is now; decide again.")

    def undo(self, number: int, revision: int | None = None) -> int:
        """Take back the last step on a sentence, or, if there is none, the last step of all. Return its sentence."""
        self.check_revision(number, revision)
        keys = self.treebank.keys
        steps = self.journal.steps
        if not steps.get(keys[number]):
            left = [key for key in self.log if steps.get(key) and key in keys]
            if not left:
                raise DecisionError("There is nothing to undo.")
            number = keys.index(left[-1])
        key = keys[number]
        if key in self.log:
            del self.log[len(self.log) - 1 - self.log[::-1].index(key)]
        self._note(number, {"do": "undo"}, log=False)
        return number

    def accept(self, number: int, step: Mapping[str, Any]) -> None:
        """Accept a sentence: write it to the file.

        RAISES (DecisionError): If its tree is not complete.
        RAISES (ChangedError, OSError): If it can't be written. Then it is not accepted.
        """
        keys = list(self.treebank.keys)
        key = keys[number]
        work = fold(self.journal.steps.get(key, ()))
        sentence = self.edited(number, work)
        tree, pos, _ = self.suggestion(work, sentence)
        _check_complete(sentence, tree)
        words = enumerate(self._words(sentence), 1)
        cells = [[k, name, value] for k, word in words for name, value in word["predicted"].items()]
        for k, name, value in cells:
            sentence.replace(k, EDITABLE[name], value)
        sentence.replace_arcs(tree.heads, tree.labels)
        marks = self._marks(sentence, tree, pos, work)
        if marks:
            sentence = copied(sentence, marked_sentence(sentence, misc=marks))
        base = self.base(number).text()
        scores = self.suggester.scores(sentence)
        self.treebank.replace(number, sentence)
        if scores is not None and key not in self.journal.bases:
            self._held_out.append((scores, tree.heads))
        if key not in self.journal.bases:
            self.journal.add(key, {"do": "base", "base": base})
        self._rename({old: new for old, new in zip(keys, self.treebank.keys, strict=True) if old != new})
        kept = {"heads": tree.heads, "labels": tree.labels, "cells": cells, "written": self._digest(number)}
        self._note(number, {**step, **kept})

    def _rename(self, keys: Mapping[str, str]) -> None:
        if keys:
            self.journal.add("", {"do": "rename", "keys": keys})
            self.rates, self._trees = renamed(self.rates, keys), renamed(self._trees, keys)
            self._revisions, self._states = renamed(self._revisions, keys), renamed(self._states, keys)
            self.second = renamed(self.second, keys)
            self.log = [keys.get(key, key) for key in self.log]

    def _digest(self, number: int) -> str:
        return hashlib.sha1(self.treebank[number].closed()).hexdigest()

    def _marks(
        self, sentence: Sentence, tree: Suggestion, pos: Sequence[str | None], work: Work
    ) -> dict[int, dict[str, object]]:
        marks: dict[int, dict[str, object]] = {}
        for each in self._violations(sentence, tree, pos, work):
            word = each["word"]
            names = _intended(sentence, word)
            if (each["rule"], word) in work.intended and each["rule"] not in names:
                before = marks.get(word, {}).get("Intended")
                marks.setdefault(word, {})["Intended"] = ",".join([*([str(before)] if before else names), each["rule"]])
        if self.provenance:
            for word in range(1, len(sentence) + 1):
                marks.setdefault(word, {})["HeadFrom"] = "annotator" if word in work.fixed else "parser"
        return marks

    def _note(self, number: int, step: Mapping[str, Any], *, log: bool = True) -> None:
        key = self.treebank.keys[number]
        self._revisions[key] = self._revisions.get(key, 0) + 1
        self._states.pop(key, None)
        if log:
            self.log.append(key)
        self.journal.add(key, dict(step))

    # What happens to the file otherwise

    def reload(self) -> int:
        """Read the file anew, and return how many sentences another program has changed.

        Decisions on them are kept. Sentences that were accepted count as their trees in the file say.
        """
        before = {key: self.treebank[k].to_bytes() for k, key in enumerate(self.treebank.keys)}
        self.treebank.read()
        changed = 0
        for number, key in enumerate(self.treebank.keys):
            if before.get(key) == self.treebank[number].to_bytes():
                continue
            changed += 1
            self._trees.pop(key, None)
            self._revisions[key] = self._revisions.get(key, 0) + 1
        self._reconcile()
        self._forget()
        return changed

    def _reconcile(self) -> int:
        """Take what another program has written in place of what was accepted. Return the number of such sentences.

        If it has put back what was there before the first decision, all decisions stay, and can be accepted again.
        """
        changed = 0
        for number, key in enumerate(self.treebank.keys):
            if key not in self.journal.bases or self._digest(number) == self.journal.written.get(key):
                continue
            if self.treebank[number].closed() != self.base(number).closed():
                changed += 1
                steps = list(self.journal.steps.get(key, ()))
                self.journal.add(key, {"do": "clear"})
                for step in steps if steps and steps[-1]["do"] != "accept" else ():
                    if step["do"] != "accept":
                        self.journal.add(key, step)
        return changed

    def add_text(self, text: str) -> int:
        """Add sentences to the file, one per line, and return their number. Words are divided as spaCy does."""
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        if not lines:
            raise DecisionError("There is no text. Write one sentence per line.")
        nlp = self.suggester.nlp or get_lang_class(self.lang)()
        if not all(map(is_text, lines)):
            raise DecisionError("The text has control characters in it. Take them out.")
        if max(map(len, lines)) > nlp.max_length:
            raise DecisionError(f"A line has more than {nlp.max_length:,} characters. Write one sentence per line.")
        docs = [nlp.make_doc(line) for line in lines]
        if sum(map(len, docs)) > _MOST_NEW:
            raise DecisionError(f"That is more than {_MOST_NEW:,} words. Add less at a time, or write CoNLL-U.")
        pairs = [([token.text for token in doc], [bool(token.whitespace_) for token in doc]) for doc in docs]
        taken = [int(name[1:]) for each in self.treebank if _NUMBERED.fullmatch(name := each.sent_id or "")]
        self.treebank.append(new_sentences(pairs, max(len(self.treebank), *taken, 0) + 1))
        self._forget()
        return len(lines)

    def use(self, suggester: Suggester, rates: Mapping[str, float]) -> None:
        """Take another parser from now on, and the order that follows from it."""
        if sum(len(heads) for _, heads in self._held_out) >= _ENOUGH:
            suggester.calibrate(self._held_out)
        self.suggester = suggester
        self.rates = dict(rates)
        self._trees.clear()
        self._forget()

    def _forget(self) -> None:
        self._states.clear()
        self._order = None
        self.root = root_label_of(self.treebank)


def _check_complete(sentence: Sentence, tree: Suggestion) -> None:
    pairs = list(enumerate(zip(sentence.words, tree.heads, tree.labels, strict=True), 1))
    no_head = [f"{word} ({form})" for word, (form, head, _) in pairs if head == MISSING]
    no_label = [f"{word} ({form})" for word, (form, _, label) in pairs if label in NO_LABEL]
    for missing, what in ((no_head, "a head"), (no_label, "a label")):
        if missing:
            words = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            raise DecisionError(f"The sentence is not complete. Without {what}: word {words}.")
    if not is_tree(tree.heads, single_root=True):
        raise DecisionError("The sentence has no root. Choose one with the key r.")


def _intended(sentence: Sentence, word: int) -> list[str]:
    attributes = dict(each.partition("=")[::2] for each in sentence.column(MISC)[word - 1].split("|"))
    return [name for name in attributes.get("Intended", "").split(",") if name]

"""Decisions of an annotator on a sentence, step by step, and what follows from them.

A step is a dict that can be written as JSON. The last one can always be taken back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..conllu.columns import COLUMNS, FEATS, FORM, LEMMA, UPOS, XPOS
from ..errors import MindRootError
from ..labels import NO_LABEL, UD_ROOT, is_root_label

__all__ = ["EDITABLE", "DecisionError", "Step", "Work", "check_step", "fold", "is_text"]

Step = Mapping[str, Any]
EDITABLE = {COLUMNS[column]: column for column in (FORM, LEMMA, UPOS, XPOS, FEATS)}
_LONGEST = 500  # characters of a cell or label
_FEATS = re.compile(r"[^\s|=]+=[^\s|=]+(\|[^\s|=]+=[^\s|=]+)*")


class DecisionError(MindRootError):
    """A decision that can't be taken. The message is for the annotator."""


@dataclass
class Work:
    """The state of a sentence after some steps.

    fixed (dict): Head and label of each word, from 1, that the annotator has decided on, the latest last. They have at
        most one root and no cycle, so that there is always a tree that contains them.
    cells (dict): Other cells that were edited, by word and column.
    intended (set): The rule and the word of each violation that is meant to be there.
    valid (bool): Whether the rest of the tree must meet the rules.
    accepted (bool): Whether the sentence was accepted after the last decision.
    tree (Optional[tuple]): The heads and labels that were accepted last.
    """

    fixed: dict[int, tuple[int, str]] = field(default_factory=dict)
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    intended: set[tuple[str, int]] = field(default_factory=set)
    valid: bool = False
    accepted: bool = False
    tree: tuple[list[int], list[str]] | None = None

    def fix(self, word: int, head: int, label: str) -> list[int]:
        """Fix an arc, and return the words, decided earlier, whose arcs no tree can have beside it. They are free."""
        self.fixed.pop(word, None)
        given_up = [other for other, (theirs, _) in self.fixed.items() if head == theirs == 0]
        path, at = [], head
        while at in self.fixed:
            path.append(at)
            at = self.fixed[at][0]
        if at == word:  # a cycle: its oldest arc goes
            given_up.append(min(path, key=list(self.fixed).index))
        for other in given_up:
            del self.fixed[other]
        self.fixed[word] = (head, label)
        return given_up


def fold(steps: Iterable[Step]) -> Work:
    """Return what follows from steps that `check_step` has passed."""
    work = Work()
    for step in steps:
        kind = step["do"]
        work.accepted = kind == "accept"
        if kind == "arc":
            work.fix(step["word"], step["head"], step["label"])
        elif kind == "cell":
            work.cells[step["word"], EDITABLE[step["column"]]] = step["value"]
        elif kind == "intend":
            mark = (step["rule"], step["word"])
            work.intended = work.intended | {mark} if step["on"] else work.intended - {mark}
        elif kind == "valid":
            work.valid = True
        elif kind == "accept":
            work.tree = (step["heads"], step["labels"])
            work.cells |= {(word, EDITABLE[column]): value for word, column, value in step["cells"]}
    return work


def check_step(step: Any, words: int, rules: Sequence[str] = (), root: str = UD_ROOT) -> dict[str, Any]:
    """Return a step with the keys that belong to it. Raise DecisionError if it is none in a sentence of so many words.

    rules (Sequence[str]): The names of the rules that can be broken on purpose.
    root (str): The label of roots in the file, besides `root`.
    """
    if not isinstance(step, Mapping):
        raise DecisionError(f"A decision is an object; found {str(step)[:100]}.")
    kind = step.get("do")
    if kind in ("accept", "valid"):
        return {"do": kind}
    word = _number(step, "word", 1, words)
    if kind == "arc":
        head, label = _number(step, "head", 0, words), step.get("label")
        if head == word:
            raise DecisionError(f"Word {word} can't be its own head.")
        if not isinstance(label, str) or label != "".join(label.split()) or len(label) > _LONGEST:
            raise DecisionError(f"A label is a text without white space; found {str(label)[:100]!r}.")
        if not is_text(label):
            raise DecisionError("A label can't have control characters in it.")
        if label not in NO_LABEL and is_root_label(label) != (head == 0) and (head, label) != (0, root):
            raise DecisionError("The root, and no other word, has the label root. The key r makes a word the root.")
        return {"do": "arc", "word": word, "head": head, "label": label}
    if kind == "cell":
        return {"do": "cell", "word": word, **_cell(step.get("column"), step.get("value"))}
    if kind == "intend":
        if step.get("rule") not in rules:
            raise DecisionError(f"There is no rule {str(step.get('rule'))[:100]!r}.")
        return {"do": "intend", "word": word, "rule": step["rule"], "on": bool(step.get("on", True))}
    raise DecisionError(f"There is no decision of the kind {str(kind)[:100]!r}.")


def is_text(text: str) -> bool:
    """Whether a text can be written to a file: it has no control characters, and no halves of characters."""
    return not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def _number(step: Step, name: str, least: int, most: int) -> int:
    value = step.get(name)
    if type(value) is not int or not least <= value <= most:
        raise DecisionError(f"{name} is a number from {least} to {most}; found {str(value)[:100]}.")
    return value


def _cell(column: Any, value: Any) -> dict[str, str]:
    if not isinstance(column, str) or column not in EDITABLE:
        raise DecisionError(f"The columns to edit are {', '.join(EDITABLE)}; found {str(column)[:100]!r}.")
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise DecisionError(f"{column} is a text of at most {_LONGEST} characters.")
    value = " ".join(value.split())
    spaced = column in ("FORM", "LEMMA")
    if not is_text(value) or (not spaced and " " in value):
        raise DecisionError(f"{column} can't have {'control characters' if spaced else 'white space'} in it.")
    if column == "FORM" and not value:
        raise DecisionError("A word needs a form. Word boundaries are the business of other tools.")
    if column == "FEATS" and value not in ("", "_") and not _FEATS.fullmatch(value):
        raise DecisionError(f"FEATS are written as in Case=Nom|Number=Sing; found {value!r}.")
    return {"column": column, "value": value or "_"}

"""Repair and check the tree of a sentence in CoNLL-U. Only HEAD and DEPREL of the words at fault change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, NamedTuple

from ..errors import ConlluError, DecodingError, HeadsError, NoValidTreeError, SearchLimitError
from ..labels import NO_LABEL, UD_ROOT, is_root_label
from ..repair import looks_like_punctuation, repair_heads, repair_labels
from ..rules import LabelledTree, Rules, mend_tree
from ..scored import ScoredSentence
from ..text_files import text_lines
from ..trees import MISSING, is_tree, shown_cycle
from .columns import DEPREL, DEPS, FEATS, HEAD, UPOS
from .sentence import Sentence, pieces_of

__all__ = [
    "ArcChange",
    "Changes",
    "enhanced_root_disagrees",
    "is_complete",
    "is_well_formed",
    "lines_and_root_label",
    "pos_of_sentence",
    "repair_sentence",
    "root_label_of",
]

_ROOT_CELL = UD_ROOT.encode()
_IN_MEMORY = 1 << 24  # bytes of a file whose roots have another label; more of it waits in a temporary file


class ArcChange(NamedTuple):
    """A word whose head or label a repair has changed.

    file (str), line (int): The place of the word.
    sent_id (Optional[str]): The name of its sentence, if it has one.
    word (int): Its ID.
    form (str): Its FORM.
    old_head, old_label (str): The cells HEAD and DEPREL before the repair.
    head, label (str): The same cells after it.
    why (str): The reason; see `repair.Change`. "label" if only the label has changed.
    cycle (Optional[list[int]]): The words of the cycle that the word was in. Each depends on the next, the last on the
        first.
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


class Changes(list[ArcChange]):
    """The words that a repair has changed, in order.

    broken (list[str]): The rules that the single-rooted tree broke before it was mended, once for each violation.
    """

    def __init__(self, changes: Iterable[ArcChange] = (), broken: Iterable[str] = ()) -> None:
        super().__init__(changes)
        self.broken = list(broken)


def root_label_of(sentences: Iterable[Sentence]) -> str:
    """Return the label of the roots of a file: `root` in any spelling, or the most frequent one in another scheme.

    If any word is labelled `root`, or no root has a label, that is the root's label. Reads no further than it has to.
    """
    found: Counter[str] = Counter()
    for sentence in sentences:
        try:
            labels = sentence.labels
        except ConlluError:  # not UTF-8; reported where the sentence is repaired
            continue
        if any(map(is_root_label, labels)):
            return UD_ROOT
        found.update(
            label for label, head in zip(labels, sentence.heads, strict=True) if head == 0 and label not in NO_LABEL
        )
    return max(found, key=found.__getitem__, default=UD_ROOT)


@contextmanager
def lines_and_root_label(file: BinaryIO, source: str) -> Iterator[tuple[Iterator[bytes], str]]:
    """Yield the lines of a CoNLL-U file, for `pieces_of`, and the label of its roots. See `root_label_of`.

    A file whose roots have another label than `root` is read to its end first. It need not be one that can be read
    twice, such as a pipe.

    file (BinaryIO), source (str): As for `read_pieces`.
    """
    lines = text_lines(file, source)
    with SpooledTemporaryFile(_IN_MEMORY) as seen:

        def recorded() -> Iterator[bytes]:
            for line in lines:
                seen.write(line)
                yield line

        pieces = pieces_of(recorded(), source, on_fault=lambda _: None)
        label = root_label_of(piece for piece in pieces if isinstance(piece, Sentence))
        seen.seek(0)
        yield chain(seen, lines), label


def is_complete(sentence: Sentence) -> bool:
    """Whether a sentence has a tree with one root, and all its labels."""
    return is_tree(sentence.heads, single_root=True) and NO_LABEL.isdisjoint(sentence.labels)


def is_well_formed(sentence: Sentence, root_label: str = UD_ROOT) -> bool:
    """Whether the basic tree has exactly one root, and only that word has the root's label.

    In another scheme, which has another root_label than `root`, the root needs any label.

    This is fast for well-formed sentences, because nearly all sentences of most files are.
    """
    heads, rows = sentence.heads, sentence.rows
    if heads.count(0) != 1 or min(heads) < 0 or max(heads) > len(heads):
        return False
    root = rows[heads.index(0)][DEPREL].decode("utf8", "replace")
    if not is_root_label(root_label):
        return root not in NO_LABEL and is_tree(heads)
    labels = b"\t".join([row[DEPREL] for row in rows]).lower()
    if labels.count(_ROOT_CELL) != 1 or not is_root_label(root):
        names = sentence.labels
        if any(is_root_label(name) != (head == 0) for name, head in zip(names, heads, strict=True)):
            return False
    return is_tree(heads)


def repair_sentence(
    sentence: Sentence,
    *,
    root_label: str = UD_ROOT,
    demoted_label: str | None = None,
    rules: Rules | None = None,
    prior: ScoredSentence | None = None,
    keep: float = math.inf,
) -> Changes:
    """Repair the basic tree of a sentence in place. See `repair.repair_heads` and `repair.repair_labels`.

    With rules, the single-rooted tree is then mended with the fewest changes of heads and labels, see
    `rules.mend_tree`.

    sentence (Sentence): Only HEAD and DEPREL of words that change are written.
    root_label (str): The label of a new root. If the sentence spells its root label in another way, that spelling is
        used. If it is not `root` in any spelling, the labels are of another scheme, and roots keep theirs;
        `root_label_of` finds it in a file. Rules are for trees with the label `root`.
    demoted_label (Optional[str]): The label of a word that is no longer a root.
    rules (Optional[Rules]): Rules that the tree must meet. Those with a price are left out.
    prior (Optional[ScoredSentence]): The scores that a parser gives to the words. They choose between trees, and labels
        that have to change are those of the parser; with rules, it needs scores of labels.
    keep (float): What a given head or label is worth in comparison with the scores; see `repair.repair_heads`.
    RETURNS (Changes): A list of `ArcChange`. `why` is the name of the rule that a word broke, or "rules" if it changes
        so that another word can meet one.
    RAISES (ConlluError): If no word has a head, or if no tree meets the rules.
    """
    well_formed = is_well_formed(sentence, root_label)
    if well_formed and rules is None:
        return Changes()
    tree = _Tree(sentence.heads, sentence.labels, {}, {})
    if not well_formed:
        tree = _single_rooted(sentence, root_label, demoted_label, prior, keep)
    broken = []
    if rules is not None:
        pos = pos_of_sentence(sentence)
        violations = rules.hard.violations(tree.heads, tree.labels, pos)
        broken = [violation.rule for violation in violations]
        if violations:
            by_word = {violation.token: violation.rule for violation in reversed(violations)}
            mend = partial(mend_tree, rules=rules, pos=pos, prior=prior, keep=keep)
            tree = _mended(sentence, tree, mend, by_word)
    return Changes(_written(sentence, tree) if tree.why else (), broken)


def pos_of_sentence(sentence: Sentence) -> list[str | None]:
    """Return the part of speech of each word as rules see it: the feature `ExtPos` if there is one, else UPOS."""
    pos: list[str | None] = [*sentence.column(UPOS)]
    for k, row in enumerate(sentence.rows):
        if b"ExtPos=" in row[FEATS]:
            features = dict(feature.partition("=")[::2] for feature in row[FEATS].decode("utf8", "replace").split("|"))
            pos[k] = features.get("ExtPos", pos[k])
    return pos


class _Tree(NamedTuple):
    """Heads and labels, with the reason for each word that a step has changed, and the cycle of each word in one."""

    heads: list[int]
    labels: list[str]
    why: dict[int, str]
    cycles: dict[int, list[int]]


def _single_rooted(
    sentence: Sentence, root_label: str, demoted_label: str | None, prior: ScoredSentence | None, keep: float
) -> _Tree:
    words, before, labels = sentence.words, sentence.heads, sentence.labels
    pos: list[str | None] = [*sentence.column(UPOS)]
    is_punct = [looks_like_punctuation(word, tag) for word, tag in zip(words, pos, strict=True)]
    try:
        known = [UD_ROOT if label == root_label else label for label in labels]
        scores = None if prior is None else prior.scores
        repair = repair_heads(before, scores=scores, keep=keep, labels=known, pos=pos, is_punct=is_punct)
    except DecodingError as error:
        raise sentence.fault(1, f"begins a sentence that can't be repaired: {error}") from error
    except HeadsError as error:
        if any(head != MISSING for head in before):
            raise
        raise sentence.fault(
            1, "has no HEAD, nor has any other word of its sentence. Parse it, for example with `repair --prior`."
        ) from error
    heads = repair.heads.tolist()
    roots = [label for label in labels if is_root_label(label)]
    if root_label not in roots:
        root_label = next(iter(roots), root_label)
    new_labels = repair_labels(
        labels, before, heads, pos=pos, is_punct=is_punct, root_label=root_label, demoted_label=demoted_label
    )
    if prior is not None:  # where a label has to change, the parser knows more than `dep`
        parsed = prior.labels(repair.heads)
        for k, (old, new, head) in enumerate(zip(labels, new_labels, heads, strict=True)):
            if old != new and head != 0 and not (demoted_label and before[k] == 0):
                new_labels[k] = parsed[k]
    why: dict[int, str] = {
        word: "label" for word, (old, new) in enumerate(zip(labels, new_labels, strict=True), 1) if old != new
    }
    moved = {change.dependent: change.why for change in repair.changes}
    cycles = {word: cycle for cycle in repair.cycles for word in cycle if word in moved}
    return _Tree(heads, new_labels, why | moved, cycles)


def _mended(sentence: Sentence, tree: _Tree, mend: Callable[..., LabelledTree], by_word: dict[int, str]) -> _Tree:
    """Return the tree that `mend` makes of this one. `by_word` has the rule that each word breaks."""
    try:
        mended = mend(tree.heads, tree.labels)
    except (NoValidTreeError, SearchLimitError) as error:
        raise sentence.fault(1, f"begins a sentence that can't be mended: {error}") from error
    heads = mended.heads.tolist()
    changed = [
        word
        for word, arcs in enumerate(zip(tree.heads, heads, tree.labels, mended.labels, strict=True), 1)
        if arcs[0] != arcs[1] or arcs[2] != arcs[3]
    ]
    return _Tree(heads, mended.labels, {word: by_word.get(word, "rules") for word in changed} | tree.why, tree.cycles)


def _written(sentence: Sentence, tree: _Tree) -> list[ArcChange]:
    """Write a tree to a sentence, and return the changes."""
    sent_id, forms, labels = sentence.sent_id, sentence.words, sentence.labels
    heads = [row[HEAD].decode() for row in sentence.rows]
    return [
        ArcChange(
            file=sentence.source,
            line=sentence.line_of(word),
            sent_id=sent_id,
            word=word,
            form=forms[word - 1],
            old_head=heads[word - 1],
            old_label=labels[word - 1],
            head=str(tree.heads[word - 1]),
            label=tree.labels[word - 1],
            why=tree.why[word],
            cycle=tree.cycles.get(word),
        )
        for word in sentence.replace_arcs(tree.heads, tree.labels)
    ]


def enhanced_root_disagrees(sentence: Sentence) -> bool:
    """Whether the enhanced layer (column DEPS) exists and the basic root is not one of its roots."""
    rows = sentence.rows
    deps = rows[sentence.heads.index(0)][DEPS]
    if deps.startswith(b"0:") or b"|0:" in deps:
        return False
    return deps != b"_" or any(row[DEPS] != b"_" for row in rows)

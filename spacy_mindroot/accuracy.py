"""Accuracy of the trees of a parser, and whether another parser is better, with a confidence interval.

All tokens count, punctuation included, except those without a gold head.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import HeadsError, LabelsError, MindRootError
from .scores import Ints, to_count, to_list, to_texts
from .trees import to_heads

__all__ = ["Comparison", "attachment_scores", "compare_parsers", "comparison_table"]

NAMES = {
    "uas": "UAS",
    "las": "LAS",
    "las_universal": "LAS, labels up to the colon",
    "uem": "exact match (UEM)",
    "lem": "labelled exact match (LEM)",
    "root_acc": "root accuracy",
    "nonprojective": "non-projective sentences",
}

_SAMPLES = 2000  # bootstrap samples
_CONFIDENCE = 0.95
_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip

Counts = npt.NDArray[np.int64]  # (3, sentences): what is right in one tree, in the other, and out of how many
Trees = Iterable[npt.ArrayLike]
Labels = Iterable[Sequence[str]]


class Right(NamedTuple):
    """Counts of what is right in one sentence.

    tokens, heads, labelled (int): Tokens with a gold head, those that have this head, and those with its label, too.
    universal (int): As `labelled`, with labels that agree up to the colon, as the CoNLL shared tasks count.
    tree, labelled_tree (int): 1 if all heads are right, and if all labels are, too.
    has_root, root (int): 1 if the gold root is known, and if the tree has this root and no other.
    """

    tokens: int
    heads: int
    labelled: int
    universal: int
    tree: int
    labelled_tree: int
    has_root: int
    root: int


# Each measure: its name, its count in a sentence, and the total that the count is a share of.
_SCORES: tuple[tuple[str, Callable[[Right], int], Callable[[Right], int]], ...] = (
    ("uas", lambda right: right.heads, lambda right: right.tokens),
    ("las", lambda right: right.labelled, lambda right: right.tokens),
    ("las_universal", lambda right: right.universal, lambda right: right.tokens),
    ("uem", lambda right: right.tree, lambda right: int(right.tokens > 0)),
    ("lem", lambda right: right.labelled_tree, lambda right: int(right.tokens > 0)),
    ("root_acc", lambda right: right.root, lambda right: right.has_root),
)
_WITHOUT_LABELS = ("uas", "uem", "root_acc")


@dataclass(frozen=True)
class Comparison:
    """One measure of two parsers, or before and after a constraint is applied. Shares are from 0 to 1.

    Attributes
    ----------
    before, after : float
        The measure of the first and of the second.
    difference : float
        The second minus the first.
    relative : float or None
        The difference in percent of the first; None if that is 0.
    interval : pair of floats
        The 95 % interval of the difference, from a percentile bootstrap over sentences.
    relative_interval : pair of floats, or None
        The same for `relative`, over the samples in which it exists.
    better, worse : int
        Sentences in which the measure goes up, and down. Where these are few, they say more than the interval.
    """

    before: float
    after: float
    difference: float
    relative: float | None
    interval: tuple[float, float]
    relative_interval: tuple[float, float] | None
    better: int
    worse: int

    def row(self, name: str) -> tuple[str, ...]:
        """Return the measure as cells: name, before, after, difference with its interval, ups and downs."""
        low, high = (100 * bound for bound in self.interval)
        return (
            name,
            f"{100 * self.before:.2f}",
            f"{100 * self.after:.2f}",
            f"{100 * self.difference:+.2f} [{low:+.2f}, {high:+.2f}]",
            f"{self.better} / {self.worse}",
        )


def attachment_scores(
    heads: Trees, gold_heads: Trees, *, labels: Labels | None = None, gold_labels: Labels | None = None
) -> dict[str, float]:
    """Return how much of the trees of a parser is right, from 0 to 1.

    Parameters
    ----------
    heads : iterable of array-likes of ints, (n,) each
        The heads of each sentence, such as `decode_batch` returns: 0 = ROOT, j = token j-1.
    gold_heads : iterable of array-likes of ints, (n,) each
        The right heads. Tokens whose head is -1 (unknown) do not count.
    labels, gold_labels : iterables of sequences of str, (n,) each, optional
        The labels of each sentence. Give both, or neither.

    Returns
    -------
    dict
        "uas", the share of tokens with the right head; "uem", the share of sentences with the right tree; "root_acc",
        that of sentences with the right root and no other. With labels, also "las" and "lem", for which labels must be
        right, too; and "las_universal", for which they must agree up to a colon, as in the CoNLL shared tasks.

    Raises
    ------
    HeadsError, LabelsError
        If heads or labels are none, or are those of other sentences than the gold heads.

    Examples
    --------
    >>> from spacy_mindroot.accuracy import attachment_scores
    >>> attachment_scores([[2, 0, 1], [0]], [[2, 0, 2], [0]])
    {'uas': 0.75, 'uem': 0.5, 'root_acc': 1.0}
    """
    right = _count_all(heads, gold_heads, labels, gold_labels)
    counts = by_measure([counts_of(own, own) for own in right], labelled=labels is not None)
    return {name: float(own[0].sum() / own[2].sum()) for name, own in counts.items()}


def compare_parsers(
    one: Trees,
    other: Trees,
    gold_heads: Trees,
    *,
    labels: tuple[Labels, Labels] | None = None,
    gold_labels: Labels | None = None,
    seed: int = 0,
) -> dict[str, Comparison]:
    """Compare the trees that two parsers give the same sentences.

    Parameters
    ----------
    one, other, gold_heads
        The heads of each parser, and the right ones. See `attachment_scores`.
    labels : pair of iterables, optional
        The labels of each parser. They go with `gold_labels`.
    seed : int
        The random seed of the bootstrap.

    Returns
    -------
    dict of str to Comparison
        The measures of `attachment_scores`, by name. `comparison_table` makes a table of them.

    Raises
    ------
    HeadsError, LabelsError
        As `attachment_scores`.

    Notes
    -----
    Sentences are drawn with replacement 2000 times, the same for both parsers (paired bootstrap).

    Examples
    --------
    >>> from spacy_mindroot.accuracy import compare_parsers
    >>> gold = [[2, 0, 2], [0, 1], [2, 0]] * 50
    >>> found = compare_parsers([[2, 0, 1], [0, 1], [2, 0]] * 50, gold, gold)
    >>> found["uas"].difference > 0, found["uas"].better, found["uas"].worse
    (True, 50, 0)
    """
    seed = to_count(seed, "seed", what="the bootstrap", least=0)
    gold = to_list(gold_heads, "gold_heads", HeadsError)
    names = None if gold_labels is None else to_list(gold_labels, "gold_labels", LabelsError)
    own = (None, None) if labels is None else to_list(labels, "labels", LabelsError)
    if len(own) != 2:
        raise LabelsError("labels must be a pair: the labels of one parser, and those of the other.")
    right = [_count_all(trees, gold, tags, names) for trees, tags in zip((one, other), own, strict=True)]
    return compare(by_measure(list(map(counts_of, *right)), labelled=labels is not None), seed)


def comparison_table(
    comparisons: Mapping[str, Comparison],
    form: Literal["latex", "csv"] = "latex",
    *,
    names: tuple[str, str] = ("before", "after"),
) -> str:
    """Return comparisons as a table: each measure of both parsers, their difference with its interval, and counts.

    Parameters
    ----------
    comparisons : dict of str to Comparison
        From `compare_parsers`.
    form : {"latex", "csv"}
        The result: a tabular for the package booktabs, or comma-separated values with all digits.
    names : pair of str
        The names of the two parsers.

    Examples
    --------
    >>> from spacy_mindroot.accuracy import compare_parsers, comparison_table
    >>> gold = [[2, 0, 2], [0, 1], [2, 0]] * 50
    >>> found = compare_parsers([[2, 0, 1], [0, 1], [2, 0]] * 50, gold, gold)
    >>> print(comparison_table(found, names=("baseline", "ours")))
    \\begin{tabular}{lrrrr}
    \\toprule
     & baseline & ours & difference [95 \\% interval] & better / worse in \\\\
    \\midrule
    UAS & 85.71 & 100.00 & $+$14.29 [$+$11.50, $+$16.90] & 50 / 0 \\\\
    exact match (UEM) & 66.67 & 100.00 & $+$33.33 [$+$26.00, $+$40.67] & 50 / 0 \\\\
    root accuracy & 100.00 & 100.00 & $+$0.00 [$+$0.00, $+$0.00] & 0 / 0 \\\\
    \\bottomrule
    \\end{tabular}
    """
    if form not in ("latex", "csv"):
        raise MindRootError(f'form is {form!r}; it must be "latex" or "csv".')
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("measure", *names, "difference", "low", "high", "better", "worse"))
        for name, own in comparisons.items():
            writer.writerow((name, own.before, own.after, own.difference, *own.interval, own.better, own.worse))
        return text.getvalue()
    header = ("", *names, "difference [95 % interval]", "better / worse in")
    rows = [tuple(map(to_latex, row)) for row in (header, *(own.row(NAMES[k]) for k, own in comparisons.items()))]
    for k, (name, before, after, difference, counts) in enumerate(rows[1:], 1):
        rows[k] = (name, before, after, re.sub(r"[+-](?=\d)", r"$\g<0>$", difference), counts)
    lines = [" & ".join(row) for row in rows]
    return "\n".join(
        [
            r"\begin{tabular}{lrrrr}",
            r"\toprule",
            rf"{lines[0]} \\",
            r"\midrule",
            *(rf"{line} \\" for line in lines[1:]),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def count_right(
    heads: Ints, gold_heads: Ints, labels: Sequence[str] | None = None, gold_labels: Sequence[str] | None = None
) -> Right:
    """Compare a tree with the gold tree, without checks.

    heads, gold_heads (np.ndarray): (n,), 0 = ROOT. A gold head of -1 is unknown.
    labels, gold_labels (Optional[Sequence[str]]): The label of each token. Without both of them, no label is right.
    """
    right, is_root = heads == gold_heads, heads == 0
    tokens, n_right = int(np.count_nonzero(gold_heads >= 0)), int(np.count_nonzero(right))
    labelled = universal = 0
    if labels is not None and gold_labels is not None:
        pairs = list(zip(labels, gold_labels, strict=True))
        same = np.array([own == gold for own, gold in pairs], dtype=bool)
        similar = np.array([own.split(":")[0] == gold.split(":")[0] for own, gold in pairs], dtype=bool)
        labelled, universal = int(np.count_nonzero(right & same)), int(np.count_nonzero(right & similar))
    return Right(
        tokens=tokens,
        heads=n_right,
        labelled=labelled,
        universal=universal,
        tree=int(0 < tokens == n_right),
        labelled_tree=int(0 < tokens == labelled),
        has_root=int(np.count_nonzero(gold_heads == 0) > 0),
        root=int(np.count_nonzero(is_root) == 1 and bool(right[is_root.argmax()])),
    )


def counts_of(before: Right, after: Right) -> list[int]:
    """Return three numbers for each measure: what is right in one tree, in the other, and out of how many."""
    return [count for _, of, out_of in _SCORES for count in (of(before), of(after), out_of(before))]


def by_measure(counts: npt.ArrayLike, *, labelled: bool) -> dict[str, Counts]:
    """Return the counts of each measure, for `compare`. Those of `counts_of` are given, sentence after sentence."""
    table = np.array(counts, dtype=np.int64).reshape(-1, len(_SCORES), 3)
    return {
        name: np.ascontiguousarray(table[:, k].T)
        for k, (name, _, _) in enumerate(_SCORES)
        if table[:, k, 2].any() and (labelled or name in _WITHOUT_LABELS)
    }


def _count_all(heads: Any, gold_heads: Any, labels: Any, gold_labels: Any) -> list[Right]:
    """Count what is right in each sentence, after checks."""
    trees = [to_heads(own) for own in to_list(heads, "heads", HeadsError)]
    gold = [to_heads(own) for own in to_list(gold_heads, "gold_heads", HeadsError)]
    if len(trees) != len(gold):
        raise HeadsError(f"there are heads of {len(trees)} sentences, and gold heads of {len(gold)}.")
    for k, (own, right) in enumerate(zip(trees, gold, strict=True)):
        if len(own) != len(right):
            raise HeadsError(f"sentence {k} has heads of {len(own)} tokens, and gold heads of {len(right)}.")
        to_heads(own, len(own))
        to_heads(right, len(own), may_be_missing=True)
    texts: list[Any] = [[None] * len(gold)] * 2
    if labels is not None or gold_labels is not None:
        if labels is None or gold_labels is None:
            raise LabelsError("labels and gold_labels go together. Give both, or neither.")
        texts = [to_list(labels, "labels", LabelsError), to_list(gold_labels, "gold_labels", LabelsError)]
        if {len(own) for own in texts} != {len(gold)}:
            raise LabelsError(f"labels and gold_labels must be those of {len(gold)} sentences.")
        texts = [
            [to_texts(own, "labels", len(tree), LabelsError) for own, tree in zip(each, gold, strict=True)]
            for each in texts
        ]
    return list(map(count_right, trees, gold, *texts))


def compare(counts: Mapping[str, Counts], seed: int) -> dict[str, Comparison]:
    """Compare measures. All counts are over the same sentences, which are resampled together."""
    if not counts:
        return {}
    sampled = _resampled(np.concatenate(list(counts.values())), np.random.default_rng(seed))
    parts = np.split(sampled, len(counts))
    return {name: _comparison(own, part) for (name, own), part in zip(counts.items(), parts, strict=True)}


def _comparison(counts: Counts, sampled: Counts) -> Comparison:
    one, other, size = counts
    sampled = sampled[:, sampled[2] > 0]
    relative, relative_interval = None, None
    if one.sum():
        relative = 100 * float(other.sum() - one.sum()) / float(one.sum())
        some = sampled[0] > 0
        relative_interval = _interval(100 * (sampled[1] - sampled[0])[some] / sampled[0][some])
    return Comparison(
        before=float(one.sum() / size.sum()),
        after=float(other.sum() / size.sum()),
        difference=float((other.sum() - one.sum()) / size.sum()),
        relative=relative,
        interval=_interval((sampled[1] - sampled[0]) / sampled[2]),
        relative_interval=relative_interval,
        better=int((other > one).sum()),
        worse=int((other < one).sum()),
    )


def _resampled(counts: Counts, rng: np.random.Generator) -> Counts:
    """Return the sums of counts (measures, n) over sentences drawn with replacement, (measures, samples)."""
    n = counts.shape[1]
    sums = [counts @ np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(_SAMPLES)]
    return np.stack(sums, axis=1)


def _interval(values: npt.NDArray[np.floating[Any]]) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]).tolist()
    return low, high


def to_latex(text: str) -> str:
    """Return a text as LaTeX prints it."""
    return "".join(_LATEX.get(character, character) for character in text)

"""The last step of the demo: prints what the trained parser does, and what the root constraint changes.

Usage: python -m scripts.demo MODEL CORPUS.spacy METRICS.json FOLDS_FOLDER OUT_FOLDER

FOLDS_FOLDER holds the score files that scripts.demo_folds wrote.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language

from scripts.demo_picture import drawn, picture, score_text
from spacy_mindroot import render, tree_weight
from spacy_mindroot.accuracy import Comparison
from spacy_mindroot.inference import kbest, log_partition, marginals
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.tools.audit.measures import Audit, AuditedSentence, Tally, audit_sentences
from spacy_mindroot.tools.drawing.render import percent
from spacy_mindroot.tools.drawing.text import side_by_side, tree_lines
from spacy_mindroot.tools.gold import read_corpus, score_sentences

NEW_SENTENCE = "Tom found the old key in the garden."
TWO_CLAUSES = "Open the window, it is hot in here."


def title(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}\n")


def print_scores(metrics: Path, corpus: Path, audited: list[AuditedSentence]) -> None:
    """Print how good the trained parser is on the test set."""
    scores = json.loads(metrics.read_text("utf8"))
    tokens = sum(len(each.sentence.words) for each in audited)
    print(f"On the {len(audited)} sentences ({tokens} tokens) of {corpus}, which it has not seen:\n")
    for name, key in (("heads right (UAS)", "dep_uas"), ("heads and labels right (LAS)", "dep_las")):
        print(f"    {name:<40}{100 * scores[key]:6.1f} %")
    one_root = {
        "trees with exactly one root": sum(len(each.after.roots) == 1 for each in audited),
        "the same without the root constraint": sum(len(each.before.roots) == 1 for each in audited),
    }
    for name, number in one_root.items():
        print(f"    {name:<40}{number:>4} of {len(audited)}")


def print_parse(nlp: Language, text: str, out: Path) -> None:
    """Print a parse with the probability of each head and the words with two likely heads, and draw it."""
    sentence = score_text(nlp, text)
    words, probabilities = sentence.words, marginals(sentence.scores)
    trees = [heads for heads, _ in kbest(sentence.scores, 2)]
    labels = [
        f"{label} {percent(probabilities[token, head])}"
        for token, (head, label) in enumerate(zip(trees[0].tolist(), sentence.labels(trees[0]), strict=True))
    ]
    shares = [np.exp(tree_weight(sentence.scores, heads) - log_partition(sentence.scores)) for heads in trees]
    print(text + "\n")
    print("\n".join(tree_lines(words, trees[0].tolist(), labels)))
    print(
        "\nEach percentage is the probability of the head, summed over all trees with one root. This tree\n"
        f"has {percent(shares[0])} of the probability, the next best one {percent(shares[1])}. They differ in:\n"
    )
    for token in np.flatnonzero(trees[0] != trees[1]).tolist():
        heads = [f"{head_word(words, tree[token])} ({percent(probabilities[token, tree[token]])})" for tree in trees]
        print(f"    the head of {words[token]!r}: {' or '.join(heads)}")
    out.write_text(render(nlp(text), form="svg"), "utf8")
    print(f"\nAs a picture: {out}")


def head_word(words: list[str], head: int) -> str:
    return repr(words[head - 1]) if head else "ROOT"


def print_change(nlp: Language, audited: list[AuditedSentence], out: Path) -> None:
    """Print and draw a sentence that the constraint changes: a new one, or else the shortest of the test set."""
    new = list(audit_sentences([score_text(nlp, TWO_CLAUSES)], source="the demo"))
    changed = [each for each in new + sorted(audited, key=lambda each: len(each.sentence.words)) if each.changed]
    if not changed:
        print("In this run, no sentence has more than one root without the constraint.")
        return
    each = changed[0]
    words, before, after = each.sentence.words, each.before, each.after
    print(f"{' '.join(words)}    (* = another head)\n")
    blocks = [
        [f"{name}: {len(tree.roots)} root{'s' if len(tree.roots) > 1 else ''}", ""]
        + tree_lines(words, tree.heads.tolist(), tree.labels, marked=each.changed)
        for name, tree in (("without the constraint", before), ("with the constraint", after))
    ]
    print("\n".join(side_by_side(*blocks)))
    captions = (f"Without the constraint: {len(before.roots)} roots", "With the constraint: exactly one root")
    above, below = (drawn(each.sentence, tree.heads) for tree in (before, after))
    out.write_text(picture(words, above, below, captions), "utf8")
    print(f"\nAs a picture: {out}")


def print_folds(folder: Path) -> list[AuditedSentence]:
    """Print what the constraint changes in each fold, one per line, and return the sentences of all folds."""
    print(f"{'':<8}{'sentences':>9}{'multi-rooted':>14}   {'UAS without':>11}{'with':>8}{'difference':>12}\n")
    everything: list[AuditedSentence] = []
    for path in sorted(folder.glob("fold-*.npz"), key=lambda path: int(path.stem.removeprefix("fold-"))):
        audited = list(audit_sentences(read_score_file(path), source=str(path)))
        print_row(path.stem.replace("-", " "), audited)
        everything += audited
    print_row("all", everything)
    return everything


def summarize(audited: list[AuditedSentence]) -> Audit:
    tally = Tally()
    for each in audited:
        tally.add(each)
    return tally.summarize()


def print_row(name: str, audited: list[AuditedSentence]) -> None:
    uas = summarize(audited).scores["uas"]
    multi_rooted = sum(each.multi_rooted for each in audited)
    print(
        f"{name:<8}{len(audited):>9}{multi_rooted:>14}   "
        f"{100 * uas.before:>11.2f}{100 * uas.after:>8.2f}{100 * uas.difference:>+12.2f}"
    )


def compare_multi_rooted(audited: list[AuditedSentence]) -> Comparison:
    """Return the share of multi-rooted sentences without and with the constraint.

    A bootstrap sample of n sentences has a binomial number of multi-rooted ones, so the interval is drawn from that.
    """
    n = len(audited)
    before = sum(each.multi_rooted for each in audited)
    after = sum(len(each.after.roots) > 1 for each in audited)
    if after:
        raise ValueError(f"{after} trees of the constrained decoder have more than one root.")
    samples = np.random.default_rng(0).binomial(n, before / n, 2000) / n
    low, high = np.quantile(-samples, [0.025, 0.975]).tolist()
    return Comparison(
        before=before / n,
        after=0.0,
        difference=-before / n,
        relative=None,
        interval=(low, high),
        relative_interval=None,
        better=0,
        worse=before,
    )


def print_summary(audited: list[AuditedSentence]) -> None:
    """Print each measure without and with the constraint, and what the intervals support."""
    scores = summarize(audited).scores
    measures = {
        "heads right (UAS)": scores["uas"],
        "heads and labels right (LAS)": scores["las"],
        "exact match (UEM)": scores["uem"],
        "root accuracy": scores["root_acc"],
        "multi-rooted sentences": compare_multi_rooted(audited),
    }
    print(
        f"\n{'Over all sentences, in %':<31}{'without':>9}{'with':>9}   {'difference [95 %]':<26}sentences up, down\n"
    )
    for name, measure in measures.items():
        low, high = (100 * end for end in measure.interval)
        interval = f"{100 * measure.difference:+.2f} [{low:+.2f}, {high:+.2f}]"
        print(
            f"{name:<31}{100 * measure.before:>9.2f}{100 * measure.after:>9.2f}   "
            f"{interval:<26}{measure.better:>12}, {measure.worse}"
        )
    higher = [name for name, measure in measures.items() if measure.interval[0] > 0]
    lower = [name for name, measure in measures.items() if measure.interval[1] < 0]
    unknown = [name for name in measures if name not in higher + lower]
    print("\nBy the intervals, the constraint")
    print(f"    raises   {'; '.join(higher) or 'nothing'}")
    print(f"    lowers   {'; '.join(lower) or 'nothing'}")
    print("The intervals of these include zero, so whether they rise or fall is not known:")
    print(f"             {'; '.join(unknown) or 'none'}")
    print_caveats(audited)


def print_caveats(audited: list[AuditedSentence]) -> None:
    """Print what the figures depend on, and what they do not show."""
    multi_rooted = [each for each in audited if each.multi_rooted]
    right = sum(each.after.right.root for each in multi_rooted)
    print(
        "\nHow to read this:\n"
        "  - With the constraint, no sentence is multi-rooted: that is what it is for, not a finding.\n"
        "  - Root accuracy counts a multi-rooted tree as wrong, so it can't fall. With the constraint, the root is\n"
        f"    right in {right} of the {len(multi_rooted)} multi-rooted sentences.\n"
        "  - These parsers were trained for seconds on few sentences. Multi-rooted trees are much rarer with\n"
        "    well-trained parsers: 1.8 % of sentences on average over 63 treebanks (Zmigrod, Vieira and\n"
        "    Cotterell 2020).\n"
        "  - The intervals come from resampling the sentences. They leave out what another seed would change.\n"
        "  - The figures are for this treebank. They say nothing about other languages."
    )


def main(model: str, corpus: str, metrics: str, folds: str, out: str) -> None:
    nlp = spacy.load(model)
    out_folder = Path(out)
    audited = list(audit_sentences(score_sentences(nlp, read_corpus(Path(corpus), nlp.vocab)), source=corpus))
    title("1. The parser that was just trained")
    print_scores(Path(metrics), Path(corpus), audited)
    title("2. A new sentence, and how sure the parser is")
    print_parse(nlp, NEW_SENTENCE, out_folder / "parse.svg")
    title("3. What the root constraint does to a sentence")
    print_change(nlp, audited, out_folder / "constraint.svg")
    title("4. What the root constraint changes, by cross-validation")
    print(
        f"The {len(audited)} test sentences are too few to show what the constraint does to accuracy. So the whole\n"
        "treebank was split into folds, and each fold was parsed by a parser trained on the others\n"
        "(scripts/demo_folds.py).\n"
    )
    print_summary(print_folds(Path(folds)))
    title("Go on")
    print(
        f"    nlp = spacy.load({model!r})\n"
        "    doc = nlp('A sentence of yours.')\n\n"
        "README.md shows how to train a parser on your treebank, repair trees of other parsers, and more."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

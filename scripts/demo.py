"""The last step of the demo: prints what the trained parser does, and what the root constraint changes.

Usage: python -m scripts.demo MODEL CORPUS.spacy METRICS.json SCORES_FOLDER OUT_FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language

from scripts.demo_picture import GREEN, RED, drawn, picture, score_text
from spacy_mindroot import tree_weight
from spacy_mindroot.audit.corpus import read_corpus, score_sentences
from spacy_mindroot.audit.drawing import DrawnTree
from spacy_mindroot.audit.measures import Audit, AuditedSentence, Comparison, audit_sentences, summarize
from spacy_mindroot.cli.text_trees import side_by_side, tree_lines
from spacy_mindroot.inference import kbest, log_partition, marginals
from spacy_mindroot.score_file import read_score_file

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
        "trees with exactly one root": sum(len(each.single_root.roots) == 1 for each in audited),
        "the same without the root constraint": sum(len(each.unconstrained.roots) == 1 for each in audited),
    }
    for name, number in one_root.items():
        print(f"    {name:<40}{number:>4} of {len(audited)}")


def print_parse(nlp: Language, text: str, out: Path) -> None:
    """Print a parse with the probability of each head, and draw it with the next best tree."""
    sentence = score_text(nlp, text)
    words, probabilities = sentence.words, marginals(sentence.scores)
    trees = [heads for heads, _ in kbest(sentence.scores, 2)]
    labels = [
        [
            f"{label} {percent(probabilities[token, head])}"
            for token, (head, label) in enumerate(zip(heads.tolist(), sentence.labels(heads), strict=True))
        ]
        for heads in trees
    ]
    shares = [np.exp(tree_weight(sentence.scores, heads) - log_partition(sentence.scores)) for heads in trees]
    print(text + "\n")
    print("\n".join(tree_lines(words, trees[0].tolist(), labels[0])))
    print(
        "\nEach percentage is the probability of the head, summed over all trees with one root. This tree\n"
        f"has {percent(shares[0])} of the probability, the next best one {percent(shares[1])}. They differ in:\n"
    )
    for token in np.flatnonzero(trees[0] != trees[1]).tolist():
        heads = [f"{head_word(words, tree[token])} ({percent(probabilities[token, tree[token]])})" for tree in trees]
        print(f"    the head of {words[token]!r}: {' or '.join(heads)}")
    captions = (f"Most probable tree ({percent(shares[0])})", f"Next best tree ({percent(shares[1])})")
    above, below = (DrawnTree(heads.tolist(), of_tree) for heads, of_tree in zip(trees, labels, strict=True))
    out.write_text(picture(words, above, below, captions, colours=(GREEN, RED)), "utf8")
    print(f"\nBoth as a picture: {out}")


def percent(share: float) -> str:
    """Return a probability in percent; only certainty is 100%."""
    return "<1%" if 0 < share < 0.005 else ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


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
    words, before, after = each.sentence.words, each.unconstrained, each.single_root
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


def print_treebanks(folder: Path) -> Audit:
    """Print what the constraint changes on the test sets of treebanks, one per line, and return the sum over all."""
    print(f"{'':<22}{'sentences':>9}  {'multi-rooted':>14}  {'UAS without, with':>18}  {'difference [95 %]':>22}\n")
    everything: list[AuditedSentence] = []
    for path in sorted(folder.glob("*.npz")):
        audited = list(audit_sentences(read_score_file(path), source=str(path)))
        print_row(path.stem, audited)
        everything += audited
    return print_row("all", everything)


def print_row(name: str, audited: list[AuditedSentence]) -> Audit:
    audit = summarize(audited)
    uas = audit.scores["uas"]
    multi_rooted = count_multi_rooted(audited)
    print(
        f"{name:<22}{len(audited):>9,}  {multi_rooted:>6,} ({multi_rooted / len(audited):5.1%})"
        f"  {100 * uas.unconstrained:>10.2f}  {100 * uas.single_root:.2f}  {difference(uas):>22}"
    )
    return audit


def count_multi_rooted(audited: list[AuditedSentence]) -> int:
    return sum(len(each.unconstrained.roots) > 1 for each in audited)


def difference(score: Comparison) -> str:
    """Return the difference in points with its interval."""
    low, high = score.interval
    return f"{100 * score.difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]"


def print_summary(audit: Audit) -> None:
    names = {
        "uas": "heads right (UAS)",
        "las": "heads and labels right (LAS)",
        "uem": "whole trees right",
        "root_acc": "root right and the only one",
    }
    print(
        f"\n{'Over all sentences, in %':<31}{'without':>9}{'with':>9}   {'difference [95 %]':<23}sentences up, down\n"
    )
    for key, name in names.items():
        score = audit.scores[key]
        print(
            f"{name:<31}{100 * score.unconstrained:>9.2f}{100 * score.single_root:>9.2f}   "
            f"{difference(score):<23}{score.better:>5}, {score.worse}"
        )
    higher = [name for key, name in names.items() if audit.scores[key].interval[0] > 0]
    lower = [name for key, name in names.items() if audit.scores[key].interval[1] < 0]
    print("\nBy intervals that exclude zero, the constraint")
    print(f"    raises   {'; '.join(higher) or 'nothing'}")
    print(f"    lowers   {'; '.join(lower) or 'nothing'}")


def main(model: str, corpus: str, metrics: str, scores: str, out: str) -> None:
    nlp = spacy.load(model)
    out_folder = Path(out)
    audited = list(audit_sentences(score_sentences(nlp, read_corpus(Path(corpus), nlp.vocab)), source=corpus))
    title("1. The parser that was just trained")
    print_scores(Path(metrics), Path(corpus), audited)
    title("2. A new sentence, and how sure the parser is")
    print_parse(nlp, NEW_SENTENCE, out_folder / "parse.svg")
    title("3. What the root constraint does to a sentence")
    print_change(nlp, audited, out_folder / "constraint.svg")
    title("4. What the root constraint does to eight treebanks")
    print(
        "The few test sentences above say little about accuracy. These are the test sets of eight treebanks of\n"
        "Universal Dependencies, with arc scores of parsers trained on each of them (assets/scores/README.md).\n"
        "Without the constraint, spaCy would split every multi-rooted sentence in two or more.\n"
    )
    audit = print_treebanks(Path(scores))
    print_summary(audit)
    title("Go on")
    print(
        f"    nlp = spacy.load({model!r})\n"
        "    doc = nlp('A sentence of yours.')\n\n"
        "README.md shows how to train a parser on your treebank, repair trees of other parsers, and more."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

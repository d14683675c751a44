"""Pictures of the demo and of the README: two trees of one sentence, as an SVG file that stands alone.

Usage: python -m scripts.demo_picture MODEL "A sentence." OUT.svg

draws the best tree without the root constraint above the words, and the best single-rooted tree below them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import spacy

from spacy_mindroot import decode
from spacy_mindroot.decoding import Heads
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.drawing.arcs import Tree, draw_trees
from spacy_mindroot.tools.drawing.drawing import on_card, write_line
from spacy_mindroot.tools.drawing.style import for_file


def score_text(nlp: spacy.language.Language, text: str) -> ScoredSentence:
    """Return the arc scores that a pipeline with an `arc_scorer` gives one sentence."""
    nlp.get_pipe("mind_root").keep_scores = True
    doc = nlp(text)
    if len(doc._.arc_scores) != 1:
        raise ValueError(f"{text!r} has {len(doc._.arc_scores)} sentences for the pipeline. Choose a single one.")
    return ScoredSentence(
        scores=doc._.arc_scores[0],
        words=[token.text for token in doc],
        best_labels=doc._.arc_labels[0],
        label_names=doc._.arc_label_names,
    )


def picture(words: list[str], above: Tree, below: Tree, captions: tuple[str, str]) -> str:
    """Return an SVG document with one tree above the words and one below, each with a caption in its colour."""
    arcs = (zip(*tree, strict=True) for tree in (above, below))
    marked = [token for token, (one, other) in enumerate(zip(*arcs, strict=True), 1) if one != other]
    parts = [write_line("caption above", captions[0]), write_line("caption below", captions[1])]
    parts.insert(1, draw_trees(words, above, below, marked=marked))
    card = on_card(parts, description=f"{captions[0]}. {captions[1]}. {' '.join(words)}")
    return for_file(card.to_svg(), "light") + "\n"


def drawn(sentence: ScoredSentence, heads: Heads) -> Tree:
    """Return a tree of a sentence, with the best label of each arc, for `picture`."""
    return heads.tolist(), sentence.labels(heads)


def main(model: str, text: str, out: str) -> None:
    sentence = score_text(spacy.load(model), text)
    trees = [decode(sentence.scores, single_root=single_root) for single_root in (False, True)]
    roots = int((trees[0] == 0).sum())
    if roots < 2:
        raise ValueError(f"The best unconstrained tree of {text!r} has one root: there is nothing to show.")
    captions = (f"Without the constraint: {roots} roots", "With spacy-mindroot: exactly one root")
    above, below = (drawn(sentence, heads) for heads in trees)
    Path(out).write_text(picture(sentence.words, above, below, captions), "utf8")


if __name__ == "__main__":
    main(*sys.argv[1:])

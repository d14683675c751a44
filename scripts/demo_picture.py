"""Pictures of the demo and of the README: two trees of one sentence, as an SVG file that stands alone.

Usage: python -m scripts.demo_picture MODEL "A sentence." OUT.svg

draws the best tree without the root constraint above the words, and the best single-rooted tree below them.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

import spacy

from spacy_mindroot import decode
from spacy_mindroot.decoding import Heads
from spacy_mindroot.drawing.style import PICTURE_STYLE
from spacy_mindroot.drawing.trees import DrawnTree, draw_trees
from spacy_mindroot.scored import ScoredSentence

# Red for the tree above the words and blue for the one below. The arcs that differ are thicker as well.
STYLE = f"""{PICTURE_STYLE}
.mindroot .marked.arc {{ stroke-width: 2.8; }} .mindroot text.marked {{ font-weight: 700; }}
.mindroot .above.marked.arc {{ stroke: var(--mr-p0); }} .mindroot .below.marked.arc {{ stroke: var(--mr-p5); }}
.mindroot .above.marked.tip, .mindroot text.above.marked, .mindroot .caption.above {{ fill: var(--mr-p0); }}
.mindroot .below.marked.tip, .mindroot text.below.marked, .mindroot .caption.below {{ fill: var(--mr-p5); }}
.mindroot text.caption {{ text-anchor: start; }}
"""
MARGIN, CAPTION, CHARACTER = 18, 28, 8


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


def picture(words: list[str], above: DrawnTree, below: DrawnTree, captions: tuple[str, str]) -> str:
    """Return an SVG document with one tree above the words and one below, each with a caption in its colour."""
    arcs = (zip(tree.heads, tree.labels, strict=True) for tree in (above, below))
    marked = [token for token, (one, other) in enumerate(zip(*arcs, strict=True), 1) if one != other]
    trees = draw_trees(words, above, below, marked=marked)
    width, height = (int(re.search(rf'{side}="(\d+)"', trees)[1]) for side in ("width", "height"))
    full_width = max(width, CHARACTER * max(map(len, captions))) + 2 * MARGIN
    full_height = height + 2 * MARGIN + 2 * CAPTION
    content = re.sub(r"^<svg[^>]*>|</svg>$", "", trees)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mindroot" viewBox="0 0 {full_width} {full_height}" '
        f'width="{full_width}" height="{full_height}">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="card" x="0.5" y="0.5" width="{full_width - 1}" height="{full_height - 1}" rx="10"/>\n'
        f'<text class="caption above" x="{MARGIN}" y="{MARGIN + 10}">{escape(captions[0])}</text>\n'
        f'<g transform="translate({(full_width - width) / 2:.0f},{MARGIN + CAPTION})">{content}</g>\n'
        f'<text class="caption below" x="{MARGIN}" y="{full_height - MARGIN + 2}">{escape(captions[1])}</text>\n'
        "</svg>\n"
    )


def drawn(sentence: ScoredSentence, heads: Heads) -> DrawnTree:
    """Return a tree of a sentence, with the best label of each arc, for `picture`."""
    return DrawnTree(heads.tolist(), sentence.labels(heads))


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

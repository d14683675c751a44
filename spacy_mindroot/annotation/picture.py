"""The picture of a sentence that is being annotated: as `show` draws it, with classes that name words and arcs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..conllu import Sentence
from ..conllu.columns import FORM, UPOS
from ..doc.words import MultiwordToken
from ..tools.drawing.arcs import Arc, draw_arcs
from ..tools.drawing.render import arcs_of
from ..tools.parses import Parse
from ..trees import MISSING
from .suggestions import Suggestion

__all__ = ["draw"]


def draw(
    sentence: Sentence,
    tree: Suggestion,
    *,
    fixed: Collection[int] = (),
    changed: Collection[int] = (),
    faulty: Collection[int] = (),
    second: Sequence[tuple[int, str]] = (),
    vertical: bool = False,
) -> str:
    """Return the picture as an `<svg>` element.

    Words have the class `t3`, arcs and their labels `d3` by their dependent, from 1, and `fixed`, `changed` or `faulty`
    as the arguments say. `style.py` has the other classes.

    second (Sequence): Heads and labels of another annotator, which are drawn below the words where they differ.
    """
    parse = Parse(
        words=sentence.words,
        heads=[None if head == MISSING else head for head in tree.heads],
        labels=["" if label == "_" else label for label in tree.labels],
        head_prob=[None if word in fixed else prob for word, prob in enumerate(tree.head_probs, 1)],
        marginals=None if second else tree.marginals,
        tags=["" if tag == "_" else tag for tag in sentence.column(UPOS)],
        multiword=[
            MultiwordToken(first - 1, last, tuple(sentence.words[first - 1 : last]), cells[FORM])
            for first, last, cells in sentence.multiword_tokens()
        ],
    )
    words, above, below = arcs_of(parse)
    below += [
        Arc(head, word, label, "gold", "")
        for word, (head, label) in enumerate(second, 1)
        if head != MISSING and (head, label) != (tree.heads[word - 1], tree.labels[word - 1])
    ]
    kinds = (("fixed", fixed), ("changed", changed), ("faulty", faulty))

    def named(arc: Arc) -> Arc:
        own = [name for name, tokens in kinds if arc.dependent in tokens]
        return arc._replace(classes=" ".join([arc.classes, f"d{arc.dependent}", *own]).strip(), title="")

    return draw_arcs(
        [word._replace(classes=f"t{k}", title="") for k, word in enumerate(words, 1)],
        list(map(named, above)),
        list(map(named, below)),
        description=f"Dependency tree of: {' '.join(parse.words)}",
        vertical=vertical,
    ).to_svg()

"""`spacy_mindroot.render`: parses as HTML or SVG, with the probability of each head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal
from zlib import crc32

import numpy as np
from spacy.tokens import Doc, Span

from ...errors import MindRootError
from ..parses import Parse, parses_of
from .arcs import Arc, Word, draw_arcs
from .drawing import Drawing, beside, on_card, write_line
from .style import FLOORS, TEMPLATES, THEMES, Theme, attributes, fill_template, for_file, probability_class
from .tikz import to_tikz

__all__ = ["Form", "Parse", "Picture", "parses_of", "percent", "picture_of", "render", "render_parses", "trees_in_set"]

Form = Literal["fragment", "page", "svg", "tikz"]
_FORMS = ("fragment", "page", "svg", "tikz")
_SHOWN = 0.95  # a probability below it is written on the arc
_KEY_LINE = 24.0  # length of the lines of the key, in pixels
_LISTED = 0.01  # a head of at least this probability is named where the pointer is on the word


class Picture(str):
    """HTML, SVG or LaTeX as a string. A notebook displays HTML and SVG if they are the result of a cell."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return str(self) if self.startswith(("<div", "<!")) else None

    def _repr_svg_(self) -> str | None:
        return str(self) if self.startswith("<svg") else None


def render(
    docs: Doc | Span | Iterable[Doc | Span],
    *,
    form: Form = "fragment",
    close: float = 0.15,
    title: str = "Parses",
    right_to_left: bool | None = None,
    vertical: bool | None = None,
    theme: Theme = "auto",
) -> Picture:
    """Draw parses as HTML, SVG or LaTeX. Arcs are coloured by the probability of the head.

    The surer an arc, the thicker and bluer its line; a probability under 95 % is written on it. Below the words, a
    dashed arc leads from the next most probable head where that is close. All probabilities appear while the pointer is
    on an arc or a word. If the Doc has several trees of a sentence (`kbest` of `mind_root`), buttons step through them.
    HTML needs no script. A notebook displays HTML and SVG if they are the result of a cell. Any program that reads SVG
    can read the SVG document.

    The probability of the head is `token._.head_prob`, which `mind_root` sets if `confidence` is true. The next best
    heads need the arc scores on the Doc: `keep_scores = true`. Without either, arcs are drawn in one colour.

    Parameters
    ----------
    docs : Doc, Span or iterable of these
        What to draw: the sentences of each Doc; or those of a Span, which must consist of whole sentences.
    form : {"fragment", "page", "svg", "tikz"}
        The result: HTML to put in a page, a complete HTML page, an SVG document of a single sentence, or LaTeX for the
        package tikz-dependency.
    close : float
        A next best head is drawn if its probability is at least this. More than 1 for none.
    title : str
        The title of a page.
    right_to_left : bool, optional
        Whether the first word is on the right. By default, it is if most letters are of Arabic, Hebrew or another
        script that is written so.
    vertical : bool, optional
        Whether there is one word per line. By default, there is if the sentence is too long for a page. LaTeX is
        always horizontal.
    theme : {"auto", "light", "dark"}
        The colours. With "auto", HTML follows the theme of the page or system, and SVG is light. LaTeX is always light.

    Returns
    -------
    Picture
        A string.

    Raises
    ------
    MindRootError
        If `form` or `theme` is unknown, or `form` is "svg" and there are several sentences or none; or if a head is in
        another sentence.
    """
    each = [docs] if isinstance(docs, (Doc, Span)) else list(docs)
    parses = [parse for one in each for parse in parses_of(one)]
    return render_parses(
        parses, form=form, close=close, title=title, right_to_left=right_to_left, vertical=vertical, theme=theme
    )


def render_parses(
    parses: Sequence[Parse],
    *,
    form: Form = "fragment",
    close: float = 0.15,
    title: str = "Parses",
    right_to_left: bool | None = None,
    vertical: bool | None = None,
    theme: Theme = "auto",
) -> Picture:
    """Draw parses. See `render`."""
    for name, value, known in (("form", form, _FORMS), ("theme", theme, THEMES)):
        if value not in known:
            raise MindRootError(f"{name} is {value!r}. Choose one of {', '.join(map(repr, known))}.")
    if form == "tikz":
        return Picture("\n".join(f"{to_tikz(*arcs_of(parse, close=close))}\n" for parse in parses))
    key = _key(parses, close)
    draw = partial(picture_of, close=close, right_to_left=right_to_left, vertical=vertical)
    pictures = [draw(parse) for parse in parses]
    if form == "svg":
        if len(parses) != 1:
            raise MindRootError(
                f'There are {len(parses)} sentences, but form = "svg" draws one. Choose another form, or one sentence: '
                "list(doc.sents)[0]."
            )
        parts = [*pictures, beside(key)] if key else pictures
        return Picture(for_file(on_card(parts, pictures[0].description).to_svg(), theme) + "\n")
    return Picture(
        fill_template(
            TEMPLATES / f"{form}.html.jinja",
            title=title,
            theme=theme,
            key=[each.to_svg() for each in key],
            figures=[
                {
                    "name": parse.name or str(number),
                    "expected": _expected(parse),
                    "trees": [("best tree", picture.to_svg()), *_other_trees(parse, draw)],
                    "group": f"mindroot-{number}-{crc32(picture.content.encode())}",
                    "rows": _table(parse) if key else [],
                }
                for number, (parse, picture) in enumerate(zip(parses, pictures, strict=True), 1)
            ],
        )
    )


def _other_trees(parse: Parse, draw: Callable[[Parse], Drawing]) -> list[tuple[str, str]]:
    """Return the next best trees: what their buttons say, and their pictures."""
    best = parse.trees[0][2] if parse.trees else 0.0
    return [
        (f"{number}: weight {weight - best:+.2f}".replace("-", "−"), draw(parse.with_tree(heads, labels)).to_svg())
        for number, (heads, labels, weight) in enumerate(parse.trees[1:], 2)
    ]


def picture_of(
    parse: Parse, *, close: float = 0.15, right_to_left: bool | None = None, vertical: bool | None = None
) -> Drawing:
    """Return the drawing of a parse."""
    return draw_arcs(
        *arcs_of(parse, close=close),
        description=f"Dependency tree of: {' '.join(parse.words)}",
        right_to_left=right_to_left,
        vertical=vertical,
    )


def arcs_of(parse: Parse, *, close: float = 0.15) -> tuple[list[Word], list[Arc], list[Arc]]:
    """Return what to draw of a parse: its words, and the arcs above and below them."""
    solid, below, words = [], [], []
    starts = {each.start: (each.surface, len(each.words)) for each in parse.multiword}
    for token, (text, head) in enumerate(zip(parse.words, parse.heads, strict=True), 1):
        prob, other = parse.head_prob[token - 1], parse.next_best(token)
        tag = parse.tags[token - 1] if parse.tags else ""
        surface, covers = starts.get(token - 1, ("", 1))
        words.append(Word(text, "", _candidates(parse, token), tag, surface, covers))
        label = parse.labels[token - 1]
        if head is not None:
            shown = f"{label} {percent(prob)}".lstrip() if prob is not None and prob < _SHOWN else label
            solid.append(
                Arc(head, token, shown, "" if prob is None else probability_class(prob), _arc_title(parse, token))
            )
        if other is not None and other[1] >= close:
            title = f"{_arrow(parse, token, other[0])}: {percent(other[1])}, the next best head"
            below.append(Arc(other[0], token, percent(other[1]), "next", title))
    for token, (head, label) in enumerate(parse.gold or (), 1):
        if head is not None and head != parse.heads[token - 1]:
            below.append(Arc(head, token, label, "gold", f"{_arrow(parse, token, head)}: {label}, in the file"))
    solid.sort(key=lambda arc: arc.classes, reverse=True)  # doubtful arcs over sure ones
    return words, solid, below


def percent(share: float | None) -> str:
    """Return a probability in percent. Only certainty is 100%, and only what can't be is 0%; "" for None."""
    if share is None:
        return ""
    return "<1%" if 0 < share < 0.005 else ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def trees_in_set(size: float | None) -> str:
    """Return in words how many trees a set has; "" for None."""
    if size is None:
        return ""
    return "its set has one tree" if size == 1 else f"its set has {size:.4g} trees"


def _arrow(parse: Parse, token: int, head: int | None) -> str:
    return f"{parse.word(head)} → {parse.words[token - 1]}"


def _arc_title(parse: Parse, token: int) -> str:
    text = f"{_arrow(parse, token, parse.heads[token - 1])}: {parse.labels[token - 1]}"
    prob = parse.head_prob[token - 1]
    return text if prob is None else f"{text}. Probability of the head: {percent(prob)}"


def _candidates(parse: Parse, token: int) -> str:
    """Return the heads of a token with their probabilities, best first."""
    if parse.marginals is None:
        return ""
    row = parse.marginals[token - 1]
    heads = [head for head in np.argsort(-row, kind="stable").tolist() if row[head] >= _LISTED][:6]
    lines = [f"{parse.word(head)}{f' ({head})' if head else ''}: {percent(float(row[head]))}" for head in heads]
    return "\n".join([f"{token} {parse.words[token - 1]}. Heads:", *lines])


def _expected(parse: Parse) -> str:
    known = [prob for prob in parse.head_prob if prob is not None]
    if not known or len(known) < sum(head is not None for head in parse.heads):
        return ""
    wrong = sum(1 - prob for prob in known)
    return "; ".join(filter(None, [f"expected wrong heads: {wrong:.1f} of {len(known)}", trees_in_set(parse.in_set)]))


def _table(parse: Parse) -> list[tuple[str, ...]]:
    """Return the heads and probabilities as a table, for those who can't see the picture or point at it.

    The first row has the headings. There are lemmas if the Doc has some.
    """
    has_lemmas = bool(parse.lemmas)
    rows = [("", "word", *["lemma"] * has_lemmas, "label", "head", "probability", "next best head")]
    for token, word in enumerate(parse.words, 1):
        other = parse.next_best(token)
        rows.append(
            (
                str(token),
                word,
                *parse.lemmas[token - 1 : token],
                parse.labels[token - 1],
                parse.word(parse.heads[token - 1]),
                percent(parse.head_prob[token - 1]),
                "" if other is None or other[1] < _LISTED else f"{parse.word(other[0])} {percent(other[1])}",
            )
        )
    return rows


def _key(parses: Sequence[Parse], close: float) -> list[Drawing]:
    """Return the entries of the key; none if there are no probabilities."""
    if all(prob is None for parse in parses for prob in parse.head_prob):
        return []
    ends = zip(FLOORS, (*FLOORS[1:], 1.0), strict=True)
    entries = [(f"p{k}", f"{100 * low:.0f}–{high:.0%}") for k, (low, high) in enumerate(ends)][::-1]
    if close <= 1 and any(parse.marginals is not None for parse in parses):
        entries.append(("next", "next best head"))
    if any(parse.gold is not None for parse in parses):
        entries.append(("gold", "head in the file"))
    return [write_line("key", "Probability of the head:", 11), *(_key_entry(*entry) for entry in entries)]


def _key_entry(classes: str, text: str) -> Drawing:
    name = write_line("key", text, 11)
    line = f'<path {attributes(f"arc {classes}")} d="M0,8 h{_KEY_LINE:.0f}"/>'
    return Drawing(line + name.at(_KEY_LINE + 6, 0), _KEY_LINE + 6 + name.width, name.height)

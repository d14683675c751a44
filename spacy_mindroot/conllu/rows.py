"""The rows of a Doc in CoNLL-U: ten cells for each token, fast enough to write a whole corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, ORTH, POS, SPACY, TAG
from spacy.parts_of_speech import NAMES
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..doc.extensions import SPAN_ATTRIBUTES, Trees, describe, key_of
from ..doc.reading import sentence_bounds
from ..doc.words import MultiwordToken, multiword_tokens, shifted
from ..errors import ConlluError
from ..labels import SPACY_ROOT, UD_ROOT
from ..trees import MISSING
from . import columns
from .sentence import Ranges, surface_forms

__all__ = [
    "Cells",
    "ParsedSentence",
    "SentenceRows",
    "doc_rows",
    "heads_among",
    "parsed_sentences",
    "rows_text",
    "token_rows",
]

_ATTRIBUTES = (ORTH, SPACY, LEMMA, POS, TAG, MORPH, HEAD, DEP)
_ESCAPES = str.maketrans({" ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n"})  # UDPipe's; no others are read

Rows = list[list[str]]


class Cells(dict[int, str]):
    """The cell in which a string is written, by the hash of the string. Strings are looked up once each."""

    def __init__(self, strings: StringStore) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, key: int) -> str:
        cell = self[key] = " ".join(self._strings[key].split()) if key else ""
        return cell


class SentenceRows(NamedTuple):
    """A sentence of a Doc in CoNLL-U.

    tokens (list[int]): The number of each token in the Doc. White-space tokens are left out.
    rows (list[list[str]]): The ten cells of each token.
    ranges (list): Its multiword tokens. See `Sentence.multiword_tokens`.
    """

    tokens: Sequence[int]
    rows: Rows
    ranges: Ranges


@dataclass
class ParsedSentence:
    """A sentence of a parsed Doc.

    tokens, rows, ranges (list): See `SentenceRows`.
    tree_logprob, tree_margin (Optional[float]), trees (list): See `span._.tree_logprob`, `tree_margin` and `trees`. The
        heads of `trees` are those of the tokens above.
    trees_in_set (Optional[float]): The size of `span._.tree_set`.
    head_prob, head_entropy (Optional[list[float]]): See `token._.head_prob` and `head_entropy`.
    """

    tokens: Sequence[int]
    rows: Rows
    ranges: Ranges
    tree_logprob: float | None = None
    tree_margin: float | None = None
    trees_in_set: float | None = None
    trees: Trees = field(default_factory=list)
    head_prob: list[float] | None = None
    head_entropy: list[float] | None = None

    def comments(self) -> dict[str, str]:
        """Return what is known of the tree, as comments by their names."""
        found = {
            f"tree_{number}": f"weight={weight:.6g} heads={','.join(map(str, heads.tolist()))}"
            for number, (heads, weight) in enumerate(self.trees, 1)
        }
        if self.tree_logprob is not None:
            found["tree_logprob"] = f"{self.tree_logprob:.6g}"
        if self.tree_margin is not None:
            found["tree_margin"] = f"{self.tree_margin:.6g}"
        if self.trees_in_set is not None:
            found["trees_in_set"] = f"{self.trees_in_set:.6g}"
        return found

    def misc(self) -> list[dict[str, str]]:
        """Return what is known of each head, as attributes of MISC by their names; [] if nothing is."""
        if self.head_prob is None or self.head_entropy is None:
            return []
        pairs = zip(self.head_entropy, self.head_prob, strict=True)
        return [{"HeadEntropy": f"{entropy:.4f}", "HeadProb": f"{prob:.4f}"} for entropy, prob in pairs]


def parsed_sentences(doc: Doc, cells: Cells) -> list[ParsedSentence]:
    """Return the sentences of a Doc, with what `mind_root` has left on it with the settings `confidence` and `kbest`.

    cells (Cells): Of the vocabulary of the Doc. It grows, so start with an empty one from time to time.
    RAISES (ConlluError): If a head is in another sentence.
    """
    sentences = [ParsedSentence(*sentence) for sentence in doc_rows(doc, cells)]
    if doc.user_data:
        for sentence in sentences:
            _add_results(doc, sentence)
    return sentences


def _add_results(doc: Doc, sentence: ParsedSentence) -> None:
    data = doc.user_data
    span = doc[sentence.tokens[0]].sent
    sentence.tree_logprob = data.get(key_of("tree_logprob", span))
    if sentence.tree_logprob is not None:
        sentence.tree_margin = SPAN_ATTRIBUTES["tree_margin"].read(span, data.get(key_of("tree_margin", span)))
        in_set = data.get(key_of("tree_set", span))
        if in_set is not None:
            sentence.trees_in_set = SPAN_ATTRIBUTES["tree_set"].read(span, in_set).size
        for name in ("head_prob", "head_entropy"):
            values = [data.get(key_of(name, doc[i])) for i in sentence.tokens]
            setattr(sentence, name, None if None in values else values)
    kept = [i - span.start for i in sentence.tokens]
    sentence.trees = [
        (np.array(heads_among(kept, heads.tolist()), dtype=heads.dtype), weight) for heads, weight in span._.trees or []
    ]


def rows_text(rows: Rows, ranges: Ranges) -> str:
    """Return the text of a sentence: its surface forms, with single spaces for any white space between them."""
    tokens = surface_forms([row[columns.FORM] for row in rows], [row[columns.MISC] for row in rows], ranges)
    return "".join(form + " " * space for form, space in tokens).rstrip()


def doc_rows(
    doc: Doc, cells: Cells | None = None, bounds: Sequence[tuple[int, int]] | None = None
) -> list[SentenceRows]:
    """Return the sentences of a Doc in CoNLL-U.

    CoNLL-U has no white-space tokens. Their text goes to MISC (`SpacesAfter`, or `SpacesBefore` for the first word),
    and their dependents attach to their heads. Sentences of nothing else are left out.

    cells (Optional[Cells]): Of the vocabulary of the Doc.
    bounds (Optional[Sequence]): The first token of each sentence, and the token after its last, if the sentences are
        not those of the Doc.
    RAISES (ConlluError): If a head is in another sentence.
    """
    bounds = sentence_bounds(doc) if bounds is None else bounds
    sentences = list(token_rows(doc, bounds, cells))
    multiword = multiword_tokens(doc)
    if all(row[columns.FORM] for rows in sentences for row in rows):
        return [_with_ranges(range(*span), rows, multiword) for span, rows in zip(bounds, sentences, strict=True)]
    misc = _misc_of_words(doc)
    found = []
    for (start, _), rows in zip(bounds, sentences, strict=True):
        kept = [i for i, row in enumerate(rows) if row[columns.FORM]]
        heads = [MISSING if row[columns.HEAD] == "_" else int(row[columns.HEAD]) for row in rows]
        for number, (i, head) in enumerate(zip(kept, heads_among(kept, heads), strict=True), 1):
            row = rows[i]
            if head == MISSING:
                row[columns.DEPREL] = "_"
            elif head == 0 and heads[i]:
                row[columns.DEPREL] = UD_ROOT
            row[columns.ID], row[columns.MISC] = str(number), misc[start + i]
            row[columns.HEAD] = "_" if head == MISSING else str(head)
        if kept:
            found.append(_with_ranges([start + i for i in kept], [rows[i] for i in kept], multiword))
    return found


def _with_ranges(tokens: Sequence[int], rows: Rows, multiword: Sequence[MultiwordToken]) -> SentenceRows:
    """Return a sentence with its multiword tokens, to which white space around their words is moved."""
    ranges: Ranges = []
    own = shifted(multiword, tokens[0], tokens[-1] + 1) if multiword else ()
    numbers = {token - tokens[0]: number for number, token in enumerate(tokens, 1)} if own else {}
    for token in own:
        first, last = numbers.get(token.start), numbers.get(token.end - 1)
        if first is not None and last is not None:
            space = [rows[last - 1][columns.MISC]]
            space += [each for each in rows[first - 1][columns.MISC].split("|") if each.startswith("SpacesBefore=")]
            misc = "|".join(each for each in space if each != "_") or "_"
            ranges.append((first, last, [f"{first}-{last}", " ".join(token.surface.split()), *["_"] * 7, misc]))
            for row in rows[first - 1 : last]:
                row[columns.MISC] = "_"
    return SentenceRows(tokens, rows, ranges)


def token_rows(doc: Doc, bounds: Sequence[tuple[int, int]], cells: Cells | None = None) -> Iterator[Rows]:
    """Yield the rows of each sentence, with one for each token. White-space tokens have an empty FORM.

    FORM of a word of a multiword token is the word's form, unless a sentence ends within the multiword token. A token
    without a dep has no head. The last token of the Doc counts as followed by a space.

    bounds (Sequence[tuple[int, int]]): The first token of each sentence, and the token after its last.
    RAISES (ConlluError): If a head is in another sentence.
    """
    if not len(doc):
        return
    cells = Cells(doc.vocab.strings) if cells is None else cells
    array = doc.to_array(_ATTRIBUTES)
    forms, lemmas, tags, morphs, deps = ([cells[key] for key in array[:, k].tolist()] for k in (0, 2, 4, 5, 7))
    starts = {start for start, _ in bounds}
    for token in multiword_tokens(doc):
        if starts.isdisjoint(range(token.start + 1, token.end)):
            forms[token.start : token.end] = [" ".join(form.split()) for form in token.words]
    spaces = array[:, 1].tolist()
    spaces[-1] = 1
    names = [NAMES[number] for number in array[:, 3].tolist()]
    heads = np.arange(len(array)) + array[:, 6].astype(np.int64)
    for start, end in bounds:
        own = heads[start:end]
        for i in (np.flatnonzero((own < start) | (own >= end)) + start).tolist():
            if deps[i]:
                raise ConlluError(f"{describe(doc)}: the head of token {i} ({doc[i].text!r}) is in another sentence.")
        rows = []
        for i, (form, space, lemma, pos, tag, morph, head, label) in enumerate(
            zip(
                forms[start:end],
                spaces[start:end],
                lemmas[start:end],
                names[start:end],
                tags[start:end],
                morphs[start:end],
                (own - (start - 1)).tolist(),
                deps[start:end],
                strict=True,
            ),
            1,
        ):
            if not label:
                shown = "_"
            elif head == i:
                shown = "0"
                label = UD_ROOT if label == SPACY_ROOT else label
            else:
                shown = str(head)
            rows.append(
                [
                    str(i),
                    form,
                    lemma or "_",
                    pos or "_",
                    tag or "_",
                    morph or "_",
                    shown,
                    label or "_",
                    "_",
                    "_" if space else "SpaceAfter=No",
                ]
            )
        yield rows


def heads_among(kept: Sequence[int], heads: Sequence[int]) -> list[int]:
    """Return the heads of some tokens of a sentence, as if it had no others.

    What depends on another token attaches to its head. If the root is left out, the first of its dependents takes its
    place. A token has no head if it is in a cycle through others.

    kept (Sequence[int]): The tokens, from 0.
    heads (Sequence[int]): The heads of all tokens; 0 = ROOT, MISSING = none.
    """
    if len(kept) == len(heads):
        return list(heads)
    numbers = {i + 1: number for number, i in enumerate(kept, 1)}
    new_root = 0
    found = []
    for number, i in enumerate(kept, 1):
        head, seen = heads[i], set[int]()
        while head > 0 and head not in numbers and head not in seen:
            seen.add(head)
            head = heads[head - 1]
        if head > 0:
            found.append(MISSING if head in seen or head == i + 1 else numbers[head])
        elif head == 0 and seen:
            found.append(new_root)
            new_root = new_root or number
        else:
            found.append(head)
    return found


def _misc_of_words(doc: Doc) -> dict[int, str]:
    """Return MISC of each token that is more than white space: the white space around it.

    Space before is given for the first of these tokens alone. The last counts as followed by a space.
    """
    text = doc.text
    words = [token for token in doc if not token.text.isspace()]
    found = {}
    for number, token in enumerate(words):
        end = token.idx + len(token.text)
        after = text[end : words[number + 1].idx] if number + 1 < len(words) else text[end:] or " "
        parts = [] if after == " " else [f"SpacesAfter={after.translate(_ESCAPES)}" if after else "SpaceAfter=No"]
        if not number and token.idx:
            parts.append(f"SpacesBefore={text[: token.idx].translate(_ESCAPES)}")
        found[token.i] = "|".join(parts) or "_"
    return found

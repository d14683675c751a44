"""The cells of a parsed Doc, as fast as writing a whole corpus needs them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, ORTH, POS, SPACY, TAG
from spacy.parts_of_speech import NAMES
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from ..conllu.docs import doc_rows
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.extensions import Trees, key_of
from ..pipeline.reading import sentence_bounds

__all__ = ["Cells", "ParsedSentence", "parsed_sentences"]

_ATTRIBUTES = (ORTH, SPACY, LEMMA, POS, TAG, MORPH, HEAD, DEP)
_ADDED = (("head_entropy", "HeadEntropy"), ("head_prob", "HeadProb"))  # attributes of tokens, and their names in MISC


@dataclass
class ParsedSentence:
    """A sentence of a parsed Doc.

    tokens (list[int]): The number of each token in the Doc. White-space tokens are left out.
    rows (list[list[str]]): The ten cells of each token in CoNLL-U.
    tree_logprob, tree_margin (Optional[float]), trees (list): See `span._.tree_logprob`, `tree_margin` and `trees`. The
        heads of `trees` are those of the tokens above.
    head_prob, head_entropy (Optional[list[float]]): See `token._.head_prob` and `head_entropy`.
    """

    tokens: Sequence[int]
    rows: list[list[str]]
    tree_logprob: float | None = None
    tree_margin: float | None = None
    trees: Trees = field(default_factory=list)
    head_prob: list[float] | None = None
    head_entropy: list[float] | None = None

    def comments(self) -> list[str]:
        """Return what is known of the tree as comments in CoNLL-U, with their "#"."""
        lines = [
            f"# tree_{number} = weight={weight:.6g} heads={','.join(map(str, heads.tolist()))}"
            for number, (heads, weight) in enumerate(self.trees, 1)
        ]
        if self.tree_logprob is not None:
            lines.append(f"# tree_logprob = {self.tree_logprob:.6g}")
        if self.tree_margin is not None:
            lines.append(f"# tree_margin = {self.tree_margin:.6g}")
        return lines

    def misc(self) -> list[str]:
        """Return what is known of each head as attributes of MISC; [] if nothing is."""
        if self.head_prob is None or self.head_entropy is None:
            return []
        pairs = zip(self.head_entropy, self.head_prob, strict=True)
        return [f"HeadEntropy={entropy:.4f}|HeadProb={prob:.4f}" for entropy, prob in pairs]


class Cells(dict[int, str]):
    """The cell in which a string is written, by the hash of the string. Strings are looked up once each."""

    def __init__(self, strings: StringStore) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, key: int) -> str:
        cell = self[key] = " ".join(self._strings[key].split()) if key else ""
        return cell


def parsed_sentences(doc: Doc, cells: Cells) -> list[ParsedSentence]:
    """Return the sentences of a Doc.

    cells (Cells): Of the vocabulary of the Doc. It grows, so start with an empty one from time to time.
    RAISES (ConlluError): If a head is in another sentence.
    """
    sentences = _fast_rows(doc, cells)
    if sentences is None:
        sentences = [ParsedSentence(tokens, rows) for tokens, rows in doc_rows(doc)]
    if doc.user_data:
        for sentence in sentences:
            _add_results(doc, sentence)
    return sentences


def _fast_rows(doc: Doc, cells: Cells) -> list[ParsedSentence] | None:
    """Return what `doc_rows` returns, if the Doc has neither white-space tokens nor heads in other sentences."""
    array = doc.to_array(_ATTRIBUTES)
    if not len(array):
        return []
    forms, lemmas, tags, morphs, deps = ([cells[key] for key in array[:, k].tolist()] for k in (0, 2, 4, 5, 7))
    if "" in forms:
        return None
    spaces = array[:, 1].tolist()
    spaces[-1] = 1
    names = [NAMES[number] for number in array[:, 3].tolist()]
    offsets = array[:, 6].view(np.int64) if array.flags.c_contiguous else array[:, 6].astype(np.int64)
    heads = np.arange(len(array)) + offsets
    found = []
    for start, end in sentence_bounds(doc):
        own = heads[start:end]
        dep = deps[start:end]
        outside = (own < start) | (own >= end)
        if outside.any() and any(label for label, bad in zip(dep, outside.tolist(), strict=True) if bad):
            return None
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
                dep,
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
        found.append(ParsedSentence(range(start, end), rows))
    return found


def _add_results(doc: Doc, sentence: ParsedSentence) -> None:
    """Add what `mind_root` has left on a Doc with the settings `confidence` and `kbest`."""
    data = doc.user_data
    span = doc[sentence.tokens[0]].sent
    logprob_key, margin_key = key_of("tree_logprob", span), key_of("tree_margin", span)
    if logprob_key in data:
        sentence.tree_logprob = data[logprob_key]
        margin = data.get(margin_key)
        sentence.tree_margin = math.inf if margin is None else margin
        for name, _ in _ADDED:
            values = [data.get(key_of(name, doc[i])) for i in sentence.tokens]
            setattr(sentence, name, None if None in values else values)
    trees = span._.trees
    if trees:
        sentence.trees = [(_without_spaces(heads, span, sentence.tokens), weight) for heads, weight in trees]


def _without_spaces(heads: np.ndarray, span: Span, tokens: Sequence[int]) -> np.ndarray:
    """Return the heads of a sentence without its white-space tokens. Their dependents attach to their heads."""
    if len(tokens) == len(span):
        return heads
    numbers = {i - span.start + 1: number for number, i in enumerate(tokens, 1)}
    kept, root = [], 0
    for word in numbers:
        head = int(heads[word - 1])
        while head and head not in numbers:
            head = int(heads[head - 1])
        if head:
            kept.append(numbers[head])
        elif int(heads[word - 1]) == 0 or not root:
            # The root itself, or the first dependent of a root that is white space.
            root = root or numbers[word]
            kept.append(0 if root == numbers[word] else root)
        else:
            kept.append(root)
    return np.array(kept, dtype=heads.dtype)

"""Vote over the parses of a sentence in several CoNLL-U files. Only HEAD and DEPREL of the first change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..errors import ConlluError, NoValidTreeError, SearchLimitError
from ..labels import NO_LABEL, UD_ROOT
from ..repair import looks_like_punctuation, repair_labels
from ..rules import Rules, vote_labelled
from ..trees import MISSING
from ..voting import vote_heads, vote_labels
from .columns import FORM, UPOS
from .repair import pos_of_sentence
from .sentence import Sentence

__all__ = ["check_same_words", "in_step", "vote_sentence"]


def vote_sentence(
    sentences: Sequence[Sentence],
    weights: Sequence[float] | None = None,
    *,
    root_label: str = UD_ROOT,
    demoted_label: str | None = None,
    rules: Rules | None = None,
    broken: Counter[str] | None = None,
) -> int:
    """Write the winning tree and its labels to the first of the sentences, in place.

    See `voting.vote_heads` and `voting.vote_labels`.

    sentences (Sequence[Sentence]): The parses of one sentence, all with the same words.
    weights (Optional[Sequence[float]]): The weight of each parse.
    root_label (str): The label of a root for which no parse has a label. See `repair.repair_sentence`.
    demoted_label (Optional[str]): The label of a former root for which no parse has a label. See
        `repair.repair_labels`.
    rules (Optional[Rules]): Rules that the tree must meet, apart from those with a price. See `rules.vote_labelled`.
    broken (Optional[Counter[str]]): Counts the violations of each rule in the tree that would win without rules.
    RETURNS (int): The number of words of the first sentence whose head or label has changed.
    RAISES (ConlluError): If words differ, if no word has a head in any of the sentences, or if no tree meets the rules.
    """
    first = sentences[0]
    check_same_words(sentences)
    if all(head == MISSING for sentence in sentences for head in sentence.heads):
        raise first.fault(
            1, "has no HEAD, nor has any other word of its sentence, in any of the files. Parse it first."
        )
    parses = [sentence.heads for sentence in sentences]
    heads = vote_heads(parses, weights).tolist()
    names = [sentence.labels for sentence in sentences]
    if all(parse == heads for parse in parses) and all(labels == names[0] for labels in names):
        voted: list[str] = names[0]
    else:
        voted = [label or "_" for label in vote_labels(heads, parses, names, weights, root_label=root_label)]
    tags = pos_of_sentence(first)
    own = [] if rules is None else rules.violations(heads, ["" if name in NO_LABEL else name for name in voted], tags)
    if broken is not None:
        broken.update(violation.rule for violation in own)
    if rules is not None and own:
        try:
            tree = vote_labelled(parses, names, rules, weights, pos=tags)
        except (NoValidTreeError, SearchLimitError) as error:
            raise first.fault(1, f"begins a sentence without a valid tree: {error}") from error
        heads, voted = tree.heads.tolist(), tree.labels
    pos: list[str | None] = [*first.column(UPOS)]
    is_punct = [looks_like_punctuation(word, tag) for word, tag in zip(first.words, pos, strict=True)]
    before = [0 if head == 0 else own for head, own in zip(heads, first.heads, strict=True)]  # its label was voted for
    labels = repair_labels(
        voted, before, heads, pos=pos, is_punct=is_punct, root_label=root_label, demoted_label=demoted_label
    )
    return len(first.replace_arcs(heads, labels))


def check_same_words(sentences: Sequence[Sentence]) -> None:
    """Raise ConlluError unless all sentences have the words of the first. The message names the first that differs."""
    first = sentences[0]
    words = [row[FORM] for row in first.rows]
    for other in sentences[1:]:
        others = [row[FORM] for row in other.rows]
        if others == words:
            continue
        for word, (own, theirs) in enumerate(zip_longest(words, others), 1):
            if own == theirs:
                continue
            if own is None:
                where = f"{first.source}:{first.line} has a sentence of {len(words)} words"
                raise other.fault(word, f"has word {word}, {_shown(theirs)}; {where}. {_REMEDY}")
            where = f"{first.source}:{first.line_of(word)}"
            if theirs is None:
                raise other.fault(
                    len(others),
                    f"ends a sentence of {len(others)} words, but word {word} is {_shown(own)} in {where}. {_REMEDY}",
                )
            raise other.fault(word, f"has word {word} {_shown(theirs)}, but it is {_shown(own)} in {where}. {_REMEDY}")


def in_step(streams: Sequence[Iterator[Sentence | bytes]], names: Sequence[str]) -> Iterator[list[Sentence] | bytes]:
    """Iterate over several files in parallel, sentence by sentence.

    streams (Sequence[Iterator]): One result of `read_pieces` for each file.
    names (Sequence[str]): The names of the files in messages.
    YIELDS (list[Sentence] | bytes): The sentences that belong together, one from each file, and the bytes between the
        sentences of the first file.
    RAISES (ConlluError): If a file has more sentences than another.
    """
    others = [(piece for piece in stream if isinstance(piece, Sentence)) for stream in streams[1:]]
    for piece in streams[0]:
        if isinstance(piece, bytes):
            yield piece
            continue
        sentences = [piece]
        for other, name in zip(others, names[1:], strict=True):
            sentence = next(other, None)
            if sentence is None:
                place = f"the sentence that begins in line {piece.line} of {names[0]}"
                raise ConlluError(f"{name}: the file ends before {place}. {_REMEDY}")
            sentences.append(sentence)
        yield sentences
    for other in others:
        for sentence in other:
            raise sentence.fault(1, f"begins a sentence, but {names[0]} has no more. {_REMEDY}")


_REMEDY = "All files must be parses of the same sentences and words."


def _shown(form: bytes | None) -> str:
    return repr((form or b"").decode("utf8", "replace"))

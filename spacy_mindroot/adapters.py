"""Sentences with arc scores from the models of other libraries: Stanza, supar, diaparser, and any torch model.

Nothing here imports torch. A tensor is anything with `detach` and `cpu`; arrays of NumPy will do as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .decoding import unpad
from .errors import LabelsError, ScoresShapeError
from .labels import SPACY_ROOT, UD_ROOT, is_root_label
from .scored import ScoredSentence
from .scores import Layout, rearrange, reduce_labels, to_list

__all__ = ["from_batch", "from_supar", "recorded_from_stanza", "set_scores"]

_LEAST = 1e-30  # a probability that is 0 in float32


def from_batch(
    arc_scores: Any,
    lengths: Any,
    *,
    words: Sequence[Sequence[str]] | None = None,
    label_scores: Any = None,
    best_labels: Any = None,
    labels: Sequence[str] = (),
    layout: Layout = "square",
) -> list[ScoredSentence]:
    """Return the sentences of a padded batch.

    Parameters
    ----------
    arc_scores : tensor or array, (batch, m+1, m+1) in layout "square"
        Scores of arcs, such as logits or log-probabilities: the output of the biaffine attention for arcs. Tensors may
        be on any device and of any float dtype, and may require gradients.
    lengths : ints, (batch,)
        The number of tokens of each sentence, without ROOT. Masks that count ROOT have one more.
    words : sequences of str, optional
        The tokens of each sentence.
    label_scores : tensor or array, (batch, m+1, m+1, labels), optional
        Scores of labels, laid out like the arcs. On arcs from ROOT, the label `root` is taken, and nowhere else.
    best_labels : tensor or array of ints, (batch, m+1, m+1), optional
        The best label of each arc, in place of `label_scores`.
    labels : sequence of str
        The names of the labels.
    layout : str
        "square": `[dependent, head]`, index 0 is ROOT, as in Stanza, supar and diaparser. "square_transposed" if heads
        come first. See `scores.LAYOUTS`.

    Returns
    -------
    list of ScoredSentence
        For `write_scored`, `decode`, `marginals` and so on.

    Raises
    ------
    ScoresShapeError, ScoresTypeError
        If shapes or lengths do not fit, or scores are no numbers.
    LabelsError
        If there are not as many names as labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_mindroot import decode
    >>> from spacy_mindroot.adapters import from_batch
    >>> scores = np.zeros((1, 4, 4))  # two tokens, ROOT, and padding
    >>> scores[0, 1, 2] = scores[0, 2, 0] = 1
    >>> [decode(sentence.scores).tolist() for sentence in from_batch(scores, [2], words=[["They", "win"]])]
    [[2, 0]]
    """
    names = [str(label) for label in labels]
    counts = np.asarray(to_array(lengths)).tolist()
    found = unpad(to_array(arc_scores), counts, layout=layout)
    best: list[npt.NDArray[Any]] | None = None
    if label_scores is not None:
        root = next((k for k, name in enumerate(names) if is_root_label(name)), None)
        batch = to_array(label_scores)
        if batch.shape[-1] != len(names):
            raise LabelsError(f"there are {len(names)} names of labels, but scores of {batch.shape[-1]}.")
        best_labels = np.stack([reduce_labels(own, root_label=root, layout=layout)[1] for own in batch])
    if best_labels is not None:
        array = to_array(best_labels)
        if array.size and not 0 <= array.min() <= array.max() < len(names):
            raise LabelsError(f"the best labels have numbers up to {array.max()}, but there are {len(names)} names.")
        best = [_cut(own, n, layout) for own, n in zip(array, counts, strict=True)]
    texts = [["_"] * n for n in counts] if words is None else [list(own) for own in words]
    if [len(own) for own in texts] != counts:
        raise ScoresShapeError("`words` are not one for each token of each sentence.")
    return [ScoredSentence(own, texts[k], None if best is None else best[k], names) for k, own in enumerate(found)]


def from_supar(dataset: Any) -> list[ScoredSentence]:
    """Return the sentences that supar or diaparser has parsed: what `parser.predict(..., prob=True)` returns.

    Their scores are the logarithms of the probabilities of heads. Each token has the label that was predicted for it
    on all its arcs, because these parsers keep no others.
    """
    sentences = []
    for sentence, probabilities in zip(dataset.sentences, dataset.probs, strict=True):
        words, rels = (to_list(sentence.values[k], name, ScoresShapeError) for k, name in ((1, "words"), (7, "rels")))
        names = list(dict.fromkeys([UD_ROOT, "dep", *rels]))
        numbers = np.array([names.index(rel) if not is_root_label(rel) else 1 for rel in rels], dtype=np.int64)
        best = np.repeat(numbers[:, np.newaxis], len(words) + 1, axis=1)
        best[:, 0] = 0
        scores = np.log(np.maximum(to_array(probabilities).astype(np.float64), _LEAST))
        sentences.append(ScoredSentence(rearrange(scores, "root_column"), list(words), best, names))
    return sentences


@contextmanager
def recorded_from_stanza(nlp: Any) -> Iterator[list[ScoredSentence]]:
    """Record the scores of all sentences that a `stanza.Pipeline` parses in the block, in the order of its batches.

    Stanza sorts the sentences of a text by their length within a batch; `words` tells which is which.
    """
    trainer = nlp.processors["depparse"].trainer
    vocab = trainer.vocab["deprel"]
    names = [str(name) for name in vocab.unmap(range(len(vocab)))]
    recorded: list[ScoredSentence] = []

    def keep(_: Any, inputs: Any, output: Any) -> None:
        heads, labels = output[1]
        lengths, words = inputs[12], inputs[14]  # of `Parser.forward`: lengths count ROOT
        recorded.extend(from_batch(heads, [n - 1 for n in lengths], words=words, best_labels=labels, labels=names))

    handle = trainer.model.register_forward_hook(keep)
    try:
        yield recorded
    finally:
        handle.remove()


def set_scores(doc: Any, sentences: Sequence[ScoredSentence]) -> None:
    """Set the scores of a Doc for `mind_root`: one sentence with arc scores for each sentence of the Doc, in order."""
    doc._.arc_scores = [sentence.scores for sentence in sentences]
    if all(sentence.best_labels is not None for sentence in sentences):
        names = list(dict.fromkeys(name for sentence in sentences for name in sentence.label_names))
        numbers = {name: number for number, name in enumerate(names)}
        doc._.arc_labels = [
            np.array([numbers[name] for name in sentence.label_names])[sentence.best_labels] for sentence in sentences
        ]
        doc._.arc_label_names = [SPACY_ROOT if is_root_label(name) else name for name in names]


def to_array(values: Any) -> npt.NDArray[Any]:
    """Return a tensor of any library as an array of the host."""
    for step in ("detach", "cpu"):
        values = getattr(values, step)() if hasattr(values, step) else values
    if str(getattr(values, "dtype", "")) == "torch.bfloat16":  # which NumPy does not have
        values = values.float()
    return np.asarray(values)


def _cut(array: npt.NDArray[Any], n: int, layout: Layout) -> npt.NDArray[Any]:
    """Return the part of one item of a padded batch that belongs to its n tokens, in layout "root_column"."""
    rows, columns = {"root_column": (n, n + 1), "root_diagonal": (n, n)}.get(layout, (n + 1, n + 1))
    return rearrange(array[:rows, :columns], layout)

"""Exact soft distillation: annotates text with the mean distributions of several parsers, for another to learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from ..decoding import Heads, decode_matrices
from ..doc.extensions import describe
from ..doc.reading import AnnotatedSentence, blank_doc, read_annotated
from ..doc.targets import Targets, read_targets, to_table, write_targets
from ..doc.words import multiword_tokens, set_multiword_tokens
from ..errors import TrainingError
from ..inference.matrix_tree import infer
from ..pipeline.scoring import mind_roots, piped
from ..scores import FloatArray
from ..trees import MISSING
from .component import ArcScorer, name_of_scorer
from .gold import lengths_to_score
from .label_biaffine import LabelScores
from .loss import log_softmax
from .model import ArcInput
from .products import one_thread

__all__ = ["distill", "expected_uas"]

_BATCH = 64  # Docs
_LAYERS = {"token.tag", "token.pos", "token.morph", "token.lemma", "attribute_ruler"}  # the last may set all of them
# What is elected together: the attribute of a token, and the argument of Doc.
_VOTES = (
    {"TAG": ("tag_", "tags"), "POS": ("pos_", "pos"), "MORPH": ("morph", "morphs")},
    {"LEMMA": ("lemma_", "lemmas")},
)


def distill(teachers: Sequence[Language], docs: Iterable[Doc]) -> Iterator[Doc]:
    """Yield the sentences of some text, each as a Doc with the mean of the distributions of several parsers.

    A parser that is trained on these Docs, together with annotated ones, learns the distributions: over the trees with
    a single root, and over the label and the part of speech of each token. Trained with other seeds, teachers err in
    other places, so their student is better than each of them, and takes as long as one.

    The Docs have the tree with the greatest expected number of right heads, and the tags, parts of speech, features and
    lemmas that most teachers found. Distributions are those before calibration. They are in `doc._.arc_targets`, which
    a `DocBin` with `store_user_data=True` keeps. `spacy-mindroot.PassageCorpus.v1` reads them.

    teachers (Sequence[Language]): Pipelines with an `arc_scorer` each, trained on the same data.
    docs (Iterable[Doc]): Tokens, from the tokenizer of the first teacher. If they have no sentence boundaries, the
        first teacher finds them. White space is no word: its tokens are left out.
    YIELDS (Doc): One sentence, with the vocabulary of the first teacher.
    RAISES (TrainingError): If the teachers have different labels, or other components for tags and lemmas.
    RAISES (MindRootError): As `ArcScorer.predict`.
    """
    names = [name_of_scorer(nlp, f"Teacher {number}") for number, nlp in enumerate(teachers, 1)]
    if not names:
        raise TrainingError("There is no teacher. Pass one or more trained pipelines.")
    scorers: list[ArcScorer] = [nlp.get_pipe(name) for nlp, name in zip(teachers, names, strict=True)]
    first = scorers[0]
    layers = [_layers(nlp, name) for nlp, name in zip(teachers, names, strict=True)]
    for number, (scorer, own) in enumerate(zip(scorers, layers, strict=True), 1):
        if scorer.model.name == "average":
            raise TrainingError(
                f"Teacher {number} is an average, which can't teach. Pass the pipelines that it was made from."
            )
        if scorer.labels != first.labels or scorer.cfg["tags"] != first.cfg["tags"]:
            raise TrainingError(
                f"Teacher {number} has other labels or parts of speech than teacher 1. Teachers must have been trained "
                "on the same treebank."
            )
        if own != layers[0]:
            raise TrainingError(
                f"Before its scorer, teacher {number} annotates {', '.join(sorted(own)) or 'nothing'}, and teacher 1 "
                f"{', '.join(sorted(layers[0])) or 'nothing'}. Teachers must have the same components, since they vote."
            )
    projective = [any(each.projective for each in mind_roots(nlp).values()) for nlp in teachers]
    of_doc = partial(lengths_to_score, whole_doc=first.whole_doc, max_length=first.max_length)
    for batch in minibatch(docs, _BATCH):
        parsed = [_words_alone(teachers[0], names[0], _annotated(teachers[0], names[0], batch))]
        sentences = [read_annotated(doc) for doc in parsed[0]]
        for nlp, name in zip(teachers[1:], names[1:], strict=True):
            parsed.append(_annotated(nlp, name, [blank_doc(nlp.vocab, own) for own in sentences]))
        lengths = [n for doc in parsed[0] for n in of_doc(doc)]
        if lengths:
            yield from _taught(scorers, projective, parsed, [each for own in sentences for each in own], lengths)


def expected_uas(docs: Iterable[Doc]) -> float:
    """Return the share of right heads that teachers expect in Docs of `distill`.

    RAISES (TrainingError): If a Doc is not from there.
    """
    right = words = 0.0
    for doc in docs:
        targets = read_targets(doc)
        if targets is None:
            raise TrainingError(f"{describe(doc)} does not have doc._.arc_targets, which `distill` sets.")
        tokens, heads, probs = targets.heads
        on_doc = np.array([token.head.i for token in doc])
        right += float(probs[heads == on_doc[tokens]].sum(dtype=np.float64))
        words += len(doc)
    return right / words


def _layers(nlp: Language, scorer: str) -> set[str]:
    """Return what the components before the scorer annotate that teachers vote on."""
    metas = map(nlp.get_pipe_meta, nlp.pipe_names[: nlp.pipe_names.index(scorer)])
    return {layer for meta in metas for layer in meta.assigns or [meta.factory]} & _LAYERS


def _words_alone(nlp: Language, scorer: str, docs: Sequence[Doc]) -> list[Doc]:
    """Return annotated Docs without tokens of white space, and without the Docs that have no others."""
    found = list(docs)
    again = [k for k, doc in enumerate(docs) if any(token.is_space for token in doc)]
    without = [blank_doc(nlp.vocab, [_without_white_space(own) for own in read_annotated(docs[k])]) for k in again]
    for k, doc in zip(again, _annotated(nlp, scorer, without), strict=True):
        found[k] = doc
    return [doc for doc in found if len(doc)]


def _without_white_space(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Return the tokens of a sentence without those of white space, in place of which there is a space. No tree."""
    is_word = np.array([not word.isspace() for word in sentence.words])
    kept = np.flatnonzero(is_word)
    places = np.cumsum(is_word) - 1
    return AnnotatedSentence(
        words=[sentence.words[k] for k in kept],
        spaces=[sentence.spaces[k] or not is_word[k + 1 : k + 2].all() for k in kept],
        heads=np.full(len(kept), MISSING),
        labels=[""] * len(kept),
        multiword=[
            each._replace(start=int(places[each.start]), end=int(places[each.end - 1]) + 1)
            for each in sentence.multiword
        ],
    )


def _annotated(nlp: Language, scorer: str, docs: Iterable[Doc]) -> list[Doc]:
    """Run a pipeline up to its scorer."""
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(scorer)]):
        return [doc for doc, _ in piped(nlp, ((doc, None) for doc in docs))]


def _taught(
    scorers: Sequence[ArcScorer],
    projective: Sequence[bool],
    parsed: Sequence[list[Doc]],
    sentences: Sequence[AnnotatedSentence],
    lengths: Sequence[int],
) -> Iterator[Doc]:
    bounds = list(pairwise(accumulate(lengths, initial=0)))
    means: list[FloatArray] = [np.zeros((n, n + 1)) for n in lengths]
    outputs = [scorer.model.predict(ArcInput(docs, lengths)) for scorer, docs in zip(scorers, parsed, strict=True)]
    for scorer, output, is_projective in zip(scorers, outputs, projective, strict=True):
        for group, block in zip(output.batch.groups, output.arcs, strict=True):
            host = scorer.model.ops.to_numpy(block)
            for row, k in enumerate(group.sentences.tolist()):
                own = host[row, : lengths[k], : lengths[k] + 1]
                means[k] += infer(own, projective=is_projective)[1] / len(scorers)
    trees = decode_matrices(means, projective=any(projective))[0]
    labels = _mean_softmax([_label_scores(output.labels, trees) for output in outputs])
    tags: npt.NDArray[np.floating[Any]] = np.zeros((len(labels), 0))
    if outputs[0].tags is not None:
        of_each = zip(scorers, outputs, strict=True)
        tags = _mean_softmax([scorer.model.ops.to_numpy(output.tags) for scorer, output in of_each])
    votes = _votes(parsed)
    names = scorers[0].labels
    hashes = np.array([scorers[0].vocab.strings.add(name) for name in names[1:]], dtype=np.uint64)
    numbers = np.array([POS_IDS[tag] for tag in scorers[0].cfg["tags"]], dtype=np.uint8)
    for each, mean, tree, (start, end) in zip(sentences, means, trees, bounds, strict=True):
        own_labels, own_tags = labels[start:end], tags[start:end]
        best = [names[k] for k in own_labels.argmax(axis=1)]
        doc = _new_doc(scorers[0].vocab, each, tree, best, {name: own[start:end] for name, own in votes.items()})
        places = np.arange(len(tree), dtype=np.int32)
        columns = np.concatenate([places[:, np.newaxis], np.tile(places, (len(tree), 1))], axis=1)
        write_targets(
            doc, Targets(to_table(mean, columns), to_table(own_labels[:, 1:], hashes), to_table(own_tags, numbers))
        )
        yield doc


def _label_scores(scores: LabelScores, trees: Sequence[Heads]) -> npt.NDArray[np.floating[Any]]:
    """Return the scores of all labels on the arcs of trees, (N, labels), ROOT first."""
    own = scores.on_host()
    with one_thread():
        return np.concatenate(
            [own.of_arcs(k, np.arange(len(tree)), tree.astype(np.int64)) for k, tree in enumerate(trees)]
        )


def _mean_softmax(scores: Sequence[npt.NDArray[np.floating[Any]]]) -> npt.NDArray[np.floating[Any]]:
    """Return the mean of the probabilities of classes, (N, classes)."""
    return np.mean([np.exp(log_softmax(np, own)) for own in scores], axis=0)


def _votes(parsed: Sequence[list[Doc]]) -> dict[str, list[str]]:
    """Return the annotation that most teachers found for each token, the first of them in a tie.

    Tags, parts of speech and features are elected together, so that they agree.
    """
    found: dict[str, list[str]] = {}
    for layers in _VOTES:
        names = [name for name in layers if any(doc.has_annotation(name) for doc in parsed[0])]
        if names:
            of_each = (
                [tuple(str(getattr(token, layers[name][0])) for name in names) for doc in docs for token in doc]
                for docs in parsed
            )
            elected = [Counter(own).most_common(1)[0][0] for own in zip(*of_each, strict=True)]
            found |= {layers[name][1]: list(own) for name, own in zip(names, zip(*elected, strict=True), strict=True)}
    return found


def _new_doc(
    vocab: Vocab, sentence: AnnotatedSentence, heads: Heads, labels: list[str], votes: dict[str, list[str]]
) -> Doc:
    blank = blank_doc(vocab, [sentence])
    doc = Doc(
        vocab,
        words=[token.text for token in blank],
        spaces=[bool(token.whitespace_) for token in blank],
        heads=[int(head) - 1 if head else i for i, head in enumerate(heads)],
        deps=labels,
        sent_starts=[i == 0 for i in range(len(blank))],
        **votes,
    )
    set_multiword_tokens(doc, multiword_tokens(blank))
    return doc

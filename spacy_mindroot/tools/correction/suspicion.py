"""Finds annotated arcs that parsers trained on the other parts of a treebank consider unlikely."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config

from ...arc_scorer.component import ArcScorer
from ...conllu import sentence_to_doc
from ...doc.extensions import drop_extension
from ...doc.reading import blank_doc
from ...errors import CorpusError
from ...inference.matrix_tree import marginals
from ...labels import SPACY_ROOT, UD_ROOT
from ...pipeline.arc_labels import ArcLabels
from ...trees import MISSING
from ..folds import new_parser, train
from ..gold import GoldSentence

__all__ = ["RATE", "Suspect", "assess", "cross_validated", "expected_errors", "order_suspects"]

_LEAST = 1e-12  # smaller probabilities count as this one
RATE = 0.01  # of arcs that are wrong, as `expected_errors` takes it
_DIGITS = 4  # smaller differences are ties, so that the order is the same on all machines


class Suspect(NamedTuple):
    """An annotated arc, with its probability, and the arc that the parser prefers.

    Heads have two probabilities. The first is the marginal, over all trees. The second takes the other annotated arcs
    of the sentence as given: the head may be any word that does not depend on the word itself, so that a single arc of
    the tree changes. What the parser gets wrong elsewhere in the sentence then has no influence. The root has no such
    alternative, so for it the second is the first.
    """

    sentence: int  # its number in the corpus, from 0
    word: int  # its number in the sentence, from 1
    head: int  # annotated; 0 = ROOT
    label: str
    head_prob: float  # over all trees
    given_prob: float  # given the other annotated arcs
    label_prob: float  # given the head; 0 if no sentence of the other folds has the label
    # The arc that the parser prefers, given the other annotated arcs: the most probable head, and its most probable
    # label. If that is the annotated arc, the next most probable head.
    other_head: int
    other_label: str
    other_prob: float
    other_given_prob: float
    other_label_prob: float  # given the other head
    fold: int = 0
    head_odds_if_wrong: float | None = None  # `log_odds` of a random head in its place that leaves a tree
    label_odds_if_wrong: float | None = None  # and of a random label

    @property
    def kind(self) -> str:
        """Whether the parser would change the "head", or else only the "label"."""
        return "head" if self.other_head != self.head else "label"

    def log_odds(self, what: str = "both") -> float:
        """Return the logarithm of how many times more probable the other arc is than the annotated one.

        Differences of probabilities would not do: parsers consider many correct arcs improbable, but few as improbable
        as most errors.

        what (str): "heads": of the two heads, given the other arcs. "labels": of the two labels, if the heads are the
            same. "both": of the heads if they differ, and of the labels otherwise. -inf if there is no such difference.
        """
        if what not in ("both", {"head": "heads", "label": "labels"}[self.kind]):
            return -math.inf
        if self.kind == "head":
            return _log(self.other_given_prob) - _log(self.given_prob)
        return _log(self.other_label_prob) - _log(self.label_prob)


def _log(probability: float) -> float:
    return math.log(max(probability, _LEAST))


def expected_errors(every: Sequence[Suspect], counts: Sequence[int], what: str = "both") -> list[float]:
    """Return how many of the first suspects are expected to be errors, for some numbers of first suspects.

    It is what one finds after replacing 1 % of the heads (or, for "labels", of the labels) at random, on average over
    all choices. What the parsers suspect in the annotation as it is counts as no error.
    """
    odds = [each.label_odds_if_wrong if what == "labels" else each.head_odds_if_wrong for each in every]
    wrong = [value for value in odds if value is not None]
    if not wrong:
        return [0.0] * len(counts)
    values = np.array([*(each.log_odds(what) for each in every), *wrong])
    weights = np.repeat([1, RATE * len(every) / len(wrong)], [len(every), len(wrong)])
    order = np.argsort(-values, kind="stable")
    found = np.cumsum(weights[order])
    errors = np.cumsum(np.where(order < len(every), 0, weights[order]))
    return [float(errors[min(at, len(errors) - 1)]) for at in np.searchsorted(found, counts)]


def order_suspects(suspects: Iterable[Suspect], what: str = "both") -> list[Suspect]:
    """Return suspects by `Suspect.log_odds`, the most suspicious first. Ties keep the order of the corpus."""
    return sorted(suspects, key=lambda each: (-round(each.log_odds(what), _DIGITS), each.sentence, each.word))


def cross_validated(
    sentences: Sequence[GoldSentence],
    folds: Sequence[Sequence[int]],
    config: Config,
    *,
    steps: int,
    seed: int,
    parsers: int = 1,
    advance: Callable[[], object] = lambda: None,
) -> Iterator[Suspect]:
    """Yield every annotated arc with its probability, by parsers that were trained on the other folds.

    sentences (Sequence[GoldSentence]): The treebank, read from CoNLL-U as words.
    config, steps, seed, advance: See `folds.train`. The pipeline needs an `arc_scorer`.
    parsers (int): The number of parsers for each fold, with different seeds. Their scores are averaged, see `assess`.
    """
    for number, fold in enumerate(folds, 1):
        held_out = set(fold)
        with ExitStack() as stack:
            trained = []
            for own_seed in range(seed, seed + parsers):
                nlp = new_parser(config, own_seed)
                gold = [_gold_doc(nlp, each) for k, each in enumerate(sentences) if k not in held_out]
                stack.enter_context(nlp.use_params(train(nlp, gold, steps, own_seed, advance)))
                trained.append(nlp)
            for k, suspects in zip(fold, assess(trained, [sentences[k] for k in fold], seed), strict=True):
                yield from (each._replace(sentence=k, fold=number) for each in suspects)


def _gold_doc(nlp: Language, sentence: GoldSentence) -> Doc:
    if sentence.conllu is None:
        raise CorpusError("The treebank must be CoNLL-U, read as words.")
    doc = sentence_to_doc(nlp.vocab, sentence.conllu)
    drop_extension(doc, "conllu")
    return doc


def assess(parsers: Sequence[Language], sentences: Sequence[GoldSentence], seed: int = 0) -> Iterator[list[Suspect]]:
    """Yield the annotated arcs of each sentence, with their probabilities and the arcs that the parsers prefer.

    parsers (Sequence[Language]): Trained pipelines with an `arc_scorer`, all on the same labels. Components after it
        are not run. Of several pipelines, the arc scores and the probabilities of labels are averaged.
    seed (int): Of the random arcs for `expected_errors`.
    """
    random = np.random.default_rng(seed)
    scored = [_scored(nlp, sentences) for nlp in parsers]
    for sentence, *docs in zip(sentences, *scored, strict=True):
        yield _suspects(docs, sentence, random)


def _scored(nlp: Language, sentences: Sequence[GoldSentence]) -> Iterator[Doc]:
    """Yield a Doc with arc scores and labels for each sentence."""
    at = next((i for i, (_, pipe) in enumerate(nlp.pipeline) if isinstance(pipe, ArcScorer)), None)
    if at is None:
        raise CorpusError(f"The pipeline has the components {', '.join(nlp.pipe_names) or 'none'}, but no arc_scorer.")
    with nlp.select_pipes(enable=nlp.pipe_names[: at + 1]):
        yield from nlp.pipe(blank_doc(nlp.vocab, [each]) for each in sentences)


def _suspects(docs: Sequence[Doc], sentence: GoldSentence, random: np.random.Generator) -> list[Suspect]:
    names = list(docs[0]._.arc_label_names)
    scores = np.mean([doc._.arc_scores[0] for doc in docs], axis=0)
    labels = [doc._.arc_labels[0] for doc in docs]
    probabilities = marginals(scores)
    known = np.flatnonzero(sentence.heads != MISSING)
    given, allowed = _given_the_rest(scores, sentence.heads, probabilities)
    heads = np.where(sentence.heads == MISSING, 0, sentence.heads)
    best = given.argmax(axis=1)
    without = given.copy()
    without[np.arange(len(heads)), heads] = -1.0
    second = without.argmax(axis=1)  # the best head that is not the annotated one
    of_gold, of_best, of_second = (
        np.mean([_label_probabilities(own, each, names) for own in labels], axis=0) for each in (heads, best, second)
    )
    is_label = np.array(names) != SPACY_ROOT
    found = []
    for i in known.tolist():
        head, label = int(heads[i]), sentence.labels[i]
        name = SPACY_ROOT if head == 0 else label
        label_prob = float(of_gold[i, names.index(name)]) if name in names else 0.0
        other, of_other = int(best[i]), of_best
        if other == head and (head == 0 or names[int(of_gold[i].argmax())] == label):
            other, of_other = int(second[i]), of_second
        chosen = int(of_other[i].argmax())
        found.append(
            Suspect(
                sentence=0,
                word=i + 1,
                head=head,
                label=label,
                head_prob=float(probabilities[i, head]),
                given_prob=float(given[i, head]),
                label_prob=label_prob,
                other_head=other,
                other_label=UD_ROOT if names[chosen] == SPACY_ROOT else names[chosen],
                other_prob=float(probabilities[i, other]),
                other_given_prob=float(given[i, other]),
                other_label_prob=float(of_other[i, chosen]),
                head_odds_if_wrong=_odds_of_another(given[i], allowed[i], head, random),
                label_odds_if_wrong=_odds_of_another(of_gold[i], is_label, names.index(name), random)
                if head and name in names
                else None,
            )
        )
    return found


def _odds_of_another(
    probabilities: npt.NDArray[np.float64], possible: npt.NDArray[np.bool_], own: int, random: np.random.Generator
) -> float | None:
    """Return by how much the best choice is more probable than a random wrong one, as a logarithm; None without one."""
    others = np.flatnonzero(possible)
    others = others[others != own]
    if not len(others):
        return None
    wrong = random.choice(others)
    rest = np.delete(probabilities, wrong)
    return _log(float(rest.max())) - _log(float(probabilities[wrong]))


def _given_the_rest(
    scores: npt.NDArray[Any], gold: npt.NDArray[np.int64], probabilities: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the probability of each head of each word, (n, n+1), given the annotated heads of all other words.

    The second says which heads leave a tree with the same root.

    Those of words below the word itself are 0, and so is that of ROOT. The rows of the root and of words without a head
    are those of `marginals`.
    """
    n = len(gold)
    below = np.eye(n + 1, dtype=bool)  # [i, j]: word j is word i, or depends on it, directly or not
    for word in range(1, n + 1):
        above = int(gold[word - 1])
        while above > 0 and not below[above, word]:  # a malformed tree may have a cycle
            below[above, word] = True
            above = int(gold[above - 1])
    found = probabilities.copy()
    allowed = ~below[1:] & (gold > 0)[:, None]
    allowed[:, 0] = False
    for i in np.flatnonzero(gold > 0).tolist():
        row = np.where(allowed[i], scores[i].astype(np.float64), -np.inf)
        weights = np.exp(row - row.max())
        found[i] = weights / weights.sum()
    return found, allowed


def _label_probabilities(
    labels: Any, heads: npt.NDArray[np.integer[Any]], names: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return the probabilities of all labels of the arcs. With `joint`, there is only the best label: it has 1."""
    scores = labels.scores_of_tree(heads) if isinstance(labels, ArcLabels) else None
    if scores is not None:
        weights = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
        probabilities: npt.NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return probabilities
    found = np.zeros((len(heads), len(names)))
    found[np.arange(len(heads)), labels[np.arange(len(heads)), heads]] = 1.0
    return found

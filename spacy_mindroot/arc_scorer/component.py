"""The component `arc_scorer`, which sets the scores of all arcs, and the best label of each, on the Doc."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import srsly
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..doc.extensions import describe, install_extensions
from ..doc.reading import looks_like_many, sentence_lengths
from ..errors import LabelsError, MindRootError, TrainingError
from ..labels import SPACY_ROOT, is_root_label
from ..pipeline.arc_labels import ArcLabels
from ..scores import FloatArray
from .gold import GoldArcs, join_soft, lengths_to_score, read_gold
from .label_biaffine import LabelScores
from .labels_on_demand import LabelsOnDemand
from .listening import is_foreign, remember
from .loss import class_loss, head_loss, log_softmax
from .model import ArcGradient, ArcInput, ArcOutput
from .products import one_thread
from .tree_loss import head_and_tree_loss, tree_loss

__all__ = [
    "ARC_LOSSES",
    "DEFAULT_MODEL",
    "DEFAULT_SETTINGS",
    "ArcScorer",
    "DocArcs",
    "make_arc_scorer",
    "name_of_scorer",
]

ARC_LOSSES = {"head": head_loss, "tree": tree_loss, "both": head_and_tree_loss}

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-mindroot.Biaffine.v1"
    arc_width = 128
    label_width = 64
    maxout_pieces = 2
    tag_width = 32
    nO = null

    [model.tok2vec]
    @architectures = "spacy.HashEmbedCNN.v2"
    pretrained_vectors = null
    width = 96
    depth = 4
    embed_size = 2000
    window_size = 1
    maxout_pieces = 3
    subword_features = true
    """
)["model"]


class DocArcs(NamedTuple):
    """Predictions for each sentence of a Doc."""

    scores: list[FloatArray]  # (n, n+1), [dependent, head], column 0 = ROOT
    labels: list[npt.NDArray[np.unsignedinteger[Any]] | ArcLabels]  # the best ones, as indexes into `ArcScorer.labels`


# The settings of the component apart from its model.
DEFAULT_SETTINGS = {
    "whole_doc": False,
    "log_probabilities": True,
    "joint": False,
    "loss": "tree",
    "tag_loss": 0.5,
    "max_length": 1000,
}


@Language.factory(
    "arc_scorer",
    assigns=["doc._.arc_scores", "doc._.arc_labels", "doc._.arc_label_names"],
    default_config={"model": DEFAULT_MODEL, **DEFAULT_SETTINGS},
)
def make_arc_scorer(
    nlp: Language,
    name: str,
    model: Model[ArcInput, ArcOutput],
    whole_doc: bool,
    log_probabilities: bool,
    joint: bool,
    loss: Literal["head", "tree", "both"],
    tag_loss: float,
    max_length: int,
) -> "ArcScorer":
    """Make the component from its config. See `ArcScorer` for the settings."""
    install_extensions()
    return ArcScorer(
        nlp.vocab,
        model,
        name,
        whole_doc=whole_doc,
        log_probabilities=log_probabilities,
        joint=joint,
        loss=loss,
        tag_loss=tag_loss,
        max_length=max_length,
    )


class ArcScorer(TrainablePipe):
    """Scores every arc of every sentence, for `mind_root` to decode, and finds the best label of each arc.

    An arc has the label ROOT if and only if it comes from ROOT. Training leaves out what is not annotated: a corpus may
    have Docs without a parse.

    vocab (Vocab): The shared vocabulary.
    model (Model[ArcInput, ArcOutput]): The model, with the architecture spacy-mindroot.Biaffine.v1.
    name (str): The component's name in the pipeline.
    whole_doc (bool): Treat a Doc without any sentence boundaries as one sentence. If False, such a Doc is an error. The
        component warns, once, if such a Doc looks like several sentences.
    log_probabilities (bool): Scores are log-probabilities of the heads of each dependent. If False, raw scores.
    joint (bool): The score of an arc includes the log-probability of its best label.
    loss (str): The loss of arcs: "head" (each head by itself), "tree" (the probability of the tree among all trees with
        a single root) or "both" (their mean). See `head_loss`, `tree_loss` and `head_and_tree_loss`.
    tag_loss (float): Weight of the auxiliary part-of-speech loss, if the model has parts of speech (see TagFeatures).
        Tokens without one in the training data are left out.
    max_length (int): Number of tokens that a sentence may have, 0 for no limit. Time and memory grow with its square.
        In prediction, a longer sentence is an error. In training, its arcs are left out, with one warning.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[ArcInput, ArcOutput],
        name: str = "arc_scorer",
        *,
        whole_doc: bool = False,
        log_probabilities: bool = True,
        joint: bool = False,
        loss: Literal["head", "tree", "both"] = "tree",
        tag_loss: float = 0.5,
        max_length: int = 1000,
    ) -> None:
        if max_length < 0:
            raise MindRootError(f"{name}: max_length must be 0 (no limit) or more, but it is {max_length}.")
        self.vocab = vocab
        self.model = model
        self.name = name
        self.whole_doc = whole_doc
        self.log_probabilities = log_probabilities
        self.joint = joint
        self.loss = loss
        self.tag_loss = tag_loss
        self.max_length = max_length
        self._warned: set[str] = set()
        self._updates_at_rate_0 = 0
        self._updated = False
        self.cfg: dict[str, Any] = {"labels": [], "tags": []}

    def __repr__(self) -> str:
        return f"ArcScorer({', '.join(f'{name}={getattr(self, name)!r}' for name in DEFAULT_SETTINGS)})"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of all labels, ROOT first. The numbers in `doc._.arc_labels` are indices into them."""
        return (SPACY_ROOT, *self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """The labels, for `spacy init labels`."""
        return self.labels

    def add_label(self, label: str) -> int:
        """Add a label, and return 1, or 0 if the component has it already.

        RAISES (LabelsError): If the model has been initialized, since its output can't grow.
        """
        if label in self.labels:
            return 0
        if self._initialized:
            raise LabelsError(
                f"{self.name}: can't add the label {label!r}, since the model is initialized for {len(self.labels)} "
                "labels. Pass all labels when initializing, or train a new model."
            )
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        return 1

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Collect the labels and initialize the model.

        get_examples (Callable[[], Iterable[Example]]): Returns a representative sample of the training data.
        labels (Optional[Sequence[str]]): The labels, as written by `spacy init labels`. By default, those of the
            examples.
        RAISES (TrainingError): If the component has been initialized before, or there are no labels.
        RAISES (LabelsError): If the model has sizes that the data does not fit.
        """
        validate_get_examples(get_examples, "ArcScorer.initialize")
        if self._initialized:
            raise TrainingError(
                f"{self.name} has been initialized before. To continue its training, use nlp.resume_training(). To "
                "train it from scratch, create a new pipeline from the config."
            )
        if labels is None:
            labels = sorted({token.dep_ for example in get_examples() for token in example.reference if token.dep})
        for label in labels:
            if not is_root_label(label):
                self.add_label(label)
        if not self.cfg["labels"]:
            raise TrainingError(
                f"{self.name}: there is nothing to learn, since no token of the training data has a label but ROOT's. "
                "Check that the data has heads and labels."
            )
        self._set_size(self.model, "nO", len(self.cfg["labels"]))
        tag_features = self.model.maybe_get_ref("tag_features")
        if tag_features is not None:
            tags = {token.pos_ for example in get_examples() for token in example.reference if token.pos}
            self.cfg["tags"] = sorted(tags) or ["X"]
            self._set_size(tag_features, "nT", len(self.cfg["tags"]))
        sample = list(islice((e for e in get_examples() if len(e.predicted) and len(e.reference)), 10))
        self.model.initialize(
            X=self._training_input([example.predicted for example in sample], self._read_gold(sample))
        )

    def _set_size(self, model: Model[Any, Any], dim: str, size: int) -> None:
        if model.has_dim(dim) and model.get_dim(dim) != size:
            raise LabelsError(
                f"{self.name}: the config sets {dim} = {model.get_dim(dim)}, but the training data has {size}. Leave "
                "it null to infer it from the data."
            )
        model.set_dim(dim, size)

    @property
    def _initialized(self) -> bool:
        has_weights: bool | None = self.model.get_ref("label_biaffine").has_param("W")
        return bool(has_weights)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return model, labels and settings. On disk, the settings are in the config of the pipeline instead."""
        settings = {name: getattr(self, name) for name in DEFAULT_SETTINGS}
        return srsly.msgpack_dumps({"settings": settings, "pipe": super().to_bytes(exclude=exclude)})

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "ArcScorer":
        """Load model, labels and settings. `Language.from_bytes` does not load the settings of a component."""
        contents = srsly.msgpack_loads(bytes_data)
        for name in DEFAULT_SETTINGS:
            if name in contents["settings"]:  # an older version has fewer
                setattr(self, name, contents["settings"][name])
        super().from_bytes(contents["pipe"], exclude=exclude)
        return self

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Score a stream of Docs, batch by batch.

        A Doc that can't be scored goes to the error handler (`nlp.set_error_handler`). If that does not raise, the Doc
        is left out of the stream, as in spaCy's own components. The other Docs of the batch are not affected.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): Number of Docs scored together.
        YIELDS (Doc): The scored Docs, in order.
        """
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                predictions = self.predict(docs)
            except Exception as error:
                if len(docs) == 1:
                    handle_error(self.name, self, docs, error)
                else:
                    yield from self.pipe(docs, batch_size=1)
            else:
                self.set_annotations(docs, predictions)
                yield from docs

    def predict(self, docs: Iterable[Doc]) -> list[DocArcs]:
        """Return the arc scores and labels of a batch of Docs, as numpy arrays.

        RAISES (MissingSentencesError): If a Doc has no sentence boundaries and `whole_doc` is False.
        RAISES (SentenceTooLongError): If a sentence has more than `max_length` tokens.
        """
        docs = list(docs)
        if self.whole_doc and "sentences" not in self._warned:
            self._warn_of_sentences(docs)
        lengths = [lengths_to_score(doc, whole_doc=self.whole_doc, max_length=self.max_length) for doc in docs]
        flat_lengths = [n for of_doc in lengths for n in of_doc]
        if not flat_lengths:
            return [DocArcs([], []) for _ in docs]
        if not self._updated and is_foreign(self.model, docs, self.cfg.get("heard")):
            self._warn_once(
                "vectors",
                "its vectors are unlike those that it was trained on, so trees will be poor. Does it come from another "
                "pipeline, and listen to the tok2vec of this one? Give it a copy of its own encoder before you add it: "
                f"source.replace_listeners('tok2vec', '{self.name}', ['model.tok2vec']). `spacy mindroot add` does all "
                "that is needed.",
                stacklevel=5,
            )
        with one_thread():  # labels are scored while they are read
            sentences = self._to_host(self.model.predict(ArcInput(docs, flat_lengths)))
        predictions, start = [], 0
        for of_doc in lengths:
            own = sentences[start : start + len(of_doc)]
            start += len(of_doc)
            predictions.append(DocArcs([scores for scores, _ in own], [labels for _, labels in own]))
        return predictions

    def set_annotations(self, docs: Iterable[Doc], predictions: list[DocArcs]) -> None:
        """Set the predictions on the Docs: `doc._.arc_scores`, `doc._.arc_labels` and `doc._.arc_label_names`."""
        names = list(self.labels)
        for doc, (scores, labels) in zip(docs, predictions, strict=True):
            doc._.arc_scores = scores
            doc._.arc_labels = labels
            doc._.arc_label_names = names

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of examples.

        examples (Iterable[Example]): The batch. Examples without tokens are left out.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer. Without it, gradients are only accumulated.
        losses (Optional[dict[str, float]]): The losses by component, to be updated.
        RETURNS (dict[str, float]): The updated losses.
        RAISES (TrainingError): If the loss is not finite.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "ArcScorer.update")
        examples = [example for example in examples if len(example.predicted) and len(example.reference)]
        if not examples:
            return losses
        set_dropout_rate(self.model, drop)
        gold = self._read_gold(examples)
        docs = [example.predicted for example in examples]
        output, backprop = self.model.begin_update(self._training_input(docs, gold))
        self.cfg["heard"] = remember(self.model, docs, self.cfg.get("heard"))
        self._updated = True  # from now on it hears what it learns from, or the running average of that
        loss, d_output = self._loss(gold, output)
        backprop(d_output)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights with the accumulated gradients.

        It warns, once, if the learning rate stays 0.

        sgd (Optimizer): The optimizer.
        """
        # `spacy train` with thinc's warmup_linear.v1 makes one such update, its first.
        self._updates_at_rate_0 = self._updates_at_rate_0 + 1 if getattr(sgd, "learn_rate", None) == 0 else 0
        if self._updates_at_rate_0 == 2:
            self._warn_once(
                "rate",
                "nothing is learned, since the learning rate of the optimizer is 0. In a training loop of your own, "
                "call optimizer.step_schedules() after each update, or set optimizer.learn_rate. In `spacy train`, "
                "raise total_steps of the schedule.",
            )
        with one_thread():  # the optimizer computes norms of gradients
            super().finish_update(sgd)

    def get_loss(self, examples: Iterable[Example], scores: ArcOutput) -> tuple[float, ArcGradient]:
        """Return the loss, summed over tokens, and its gradient.

        examples (Iterable[Example]): The batch.
        scores (ArcOutput): The output of the model for the batch and its gold heads.
        """
        validate_examples(examples, "ArcScorer.get_loss")
        return self._loss(self._read_gold(examples), scores)

    def _read_gold(self, examples: Iterable[Example]) -> list[GoldArcs]:
        labels = {self.vocab.strings.add(label): number for number, label in enumerate(self.cfg["labels"])}
        tags = {POS_IDS[tag]: number for number, tag in enumerate(self.cfg["tags"])}
        gold = []
        for example in examples:
            gold.append(read_gold(example, labels, tags, max_length=self.max_length))
            if gold[-1].too_long:
                self._warn_once(
                    "length",
                    f"{describe(example.reference)} of the training data has a sentence of {gold[-1].too_long[0]:,} "
                    f"tokens, but max_length is {self.max_length:,}. The arcs of such sentences are left out of "
                    "training. To train on them, raise max_length (0: no limit), or set sentence boundaries in the "
                    "data.",
                )
        return gold

    def _warn_of_sentences(self, docs: list[Doc]) -> None:
        """Warn, once, if a Doc is taken as one sentence and looks like several."""
        for doc in docs:
            second = None if sentence_lengths(doc) is not None else looks_like_many(doc)
            if second is not None:
                self._warn_once(
                    "sentences",
                    f"{describe(doc)} has no sentence boundaries and is parsed as one sentence (whole_doc = true), but "
                    f"a second sentence seems to begin at token {second} ({doc[second].text!r}). Put a `senter` "
                    "(trained) or a `sentencizer` (rules) before this component, or pass single sentences. This "
                    "warning is given once.",
                    stacklevel=5,
                )
                return

    def _warn_once(self, about: str, message: str, stacklevel: int = 4) -> None:
        if about not in self._warned:
            self._warned.add(about)
            warnings.warn(f"{self.name}: {message}", stacklevel=stacklevel)

    def _training_input(self, docs: list[Doc], gold: list[GoldArcs]) -> ArcInput:
        return ArcInput(docs, [n for arcs in gold for n in arcs.lengths], np.concatenate([arcs.heads for arcs in gold]))

    def _loss(self, gold: list[GoldArcs], output: ArcOutput) -> tuple[float, ArcGradient]:
        ops = self.model.ops
        arc_loss = ARC_LOSSES[self.loss]
        heads, labels, tags = (
            np.concatenate([getattr(arcs, name) for arcs in gold]) for name in ("heads", "labels", "tags")
        )
        soft = join_soft(gold, len(self.cfg["labels"]), len(self.cfg["tags"]))
        loss, d_arcs = arc_loss(ops, output.batch, output.arcs, heads, soft and soft.heads)
        of_labels, d_labels = class_loss(ops, output.labels, labels, soft and soft.labels)
        loss += of_labels
        d_tags = None
        if output.tags is not None:
            of_tags, d_tags = class_loss(ops, output.tags, tags, soft and soft.tags)
            loss += self.tag_loss * of_tags
            d_tags *= self.tag_loss
        if not np.isfinite(loss):
            raise TrainingError(
                f"{self.name}: the loss is {loss}. Training has diverged: lower the learning rate, or check the "
                "data and vectors."
            )
        return loss, ArcGradient(d_arcs, d_labels, d_tags)

    def _to_host(self, output: ArcOutput) -> list[tuple[FloatArray, Any]]:
        """Return scores and best labels of each sentence, in order. A GPU makes one transfer for each group.

        With `joint`, scores contain those of the best labels, so all of them are computed. Otherwise labels are left to
        be computed for the arcs that are asked for, on the host.
        """
        ops, xp = self.model.ops, self.model.ops.xp
        scorer = cast(LabelScores, output.labels)
        if not self.joint:
            scorer = scorer.on_host()
        dtype = np.min_scalar_type(len(self.cfg["labels"]))
        sentences: list[Any] = [None] * len(output.batch.lengths)
        for group, arcs in zip(output.batch.groups, output.arcs, strict=True):
            scores = log_softmax(xp, arcs) if self.log_probabilities else arcs
            if self.joint:
                labels, log_probabilities = [], []
                for part in scorer.of_all_arcs(group):  # for some of the dependents
                    labels.append((part.argmax(axis=3) + 1).astype(scores.dtype))
                    log_probabilities.append(log_softmax(xp, part).max(axis=3))
                best, log_probability = xp.concatenate(labels, axis=1), xp.concatenate(log_probabilities, axis=1)
                best[:, :, 0] = log_probability[:, :, 0] = 0
                scores = xp.stack([scores + log_probability, best])
            values = ops.to_numpy(scores)
            for row, k in enumerate(group.sentences.tolist()):
                n = output.batch.lengths[k]
                if self.joint:
                    scores, best = values[:, row, :n, : n + 1]
                    sentences[k] = (scores.copy(), best.astype(dtype))
                else:
                    sentences[k] = (values[row, :n, : n + 1].copy(), LabelsOnDemand(scorer, k, dtype))
        return sentences


def name_of_scorer(nlp: Language, title: str) -> str:
    """Return the name of the only `arc_scorer` of a pipeline.

    title (str): What the pipeline is called in the message.
    RAISES (TrainingError): If it has none, or several.
    """
    found = [name for name, pipe in nlp.pipeline if isinstance(pipe, ArcScorer)]
    if len(found) != 1:
        raise TrainingError(
            f"{title} has {len(found)} components arc_scorer, but it must have one. Its components: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
    return found[0]

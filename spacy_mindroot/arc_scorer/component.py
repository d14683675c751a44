"""The component `arc_scorer`: leaves the scores of all arcs, and the best label of each, on the Doc."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import srsly
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..errors import LabelsError, TrainingError
from ..pipeline.extensions import install_extensions
from ..scores import FloatArray
from .gold import GoldArcs, read_gold, sentence_lengths
from .loss import class_loss, head_loss, log_softmax
from .model import ArcGradient, ArcInput, ArcOutput
from .tree_loss import head_and_tree_loss, tree_loss

ROOT_LABEL = "ROOT"
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
    """What is predicted for one Doc.

    scores (list[np.ndarray]): Arc scores (n, n+1) of each sentence.
    labels (list[np.ndarray]): The best label of each arc, same shapes; 0 is ROOT's.
    """

    scores: list[FloatArray]
    labels: list[npt.NDArray[np.unsignedinteger[Any]]]


@Language.factory(
    "arc_scorer",
    assigns=["doc._.arc_scores", "doc._.arc_labels", "doc._.arc_label_names"],
    requires=["token.is_sent_start"],
    default_config={
        "model": DEFAULT_MODEL,
        "whole_doc": False,
        "log_probabilities": True,
        "joint": False,
        "loss": "tree",
        "tag_loss": 0.5,
    },
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
) -> "ArcScorer":
    """Makes the component from its config. See `ArcScorer` for the settings."""
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
    )


class ArcScorer(TrainablePipe):
    """Scores every arc of every sentence, for `mind_root` to decode, and finds the best label of each arc.

    Arcs from ROOT have ROOT's label and no other; no other arc has it.

    vocab (Vocab): The shared vocabulary.
    model (Model[ArcInput, ArcOutput]): The model, of architecture spacy-mindroot.Biaffine.v1.
    name (str): The component's name in the pipeline.
    whole_doc (bool): A Doc without any sentence boundaries is one sentence. If False, that is an error.
    log_probabilities (bool): Scores are log-probabilities of the heads of each dependent; if False, raw scores.
    joint (bool): The score of an arc includes the log-probability of its best label.
    loss (str): How arcs are learnt: "head", each head by itself, "tree", by the probability of the tree among all those with a
        single root, or "both", the mean of the two (see `head_loss`, `tree_loss`, `head_and_tree_loss`).
    tag_loss (float): What the loss of the parts of speech counts, if the model has them (see TagFeatures). Tokens without
        one in the training data are left out.
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
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.whole_doc = whole_doc
        self.log_probabilities = log_probabilities
        self.joint = joint
        self.loss = loss
        self.tag_loss = tag_loss
        self.cfg: dict[str, list[str]] = {"labels": [], "tags": []}

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of all labels, ROOT's first: what the numbers in `doc._.arc_labels` mean."""
        return (ROOT_LABEL, *self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """What `spacy init labels` writes."""
        return self.labels

    def add_label(self, label: str) -> int:
        """Adds a label. Returns 1, or 0 if it is there already.

        RAISES (LabelsError): If the model has been initialized: its output can't grow.
        """
        if label in self.labels:
            return 0
        if self._initialized:
            raise LabelsError(
                f"{self.name}: can't add the label {label!r}, since the model is initialized for {len(self.labels)} labels. Give all "
                "labels when initializing, or train anew."
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
        """Collects the labels, from the examples if they are not given, and gives the model its shape.

        get_examples (Callable[[], Iterable[Example]]): Gives a representative sample of the training data.
        labels (Optional[Sequence[str]]): The labels, as `spacy init labels` writes them.
        """
        validate_get_examples(get_examples, "ArcScorer.initialize")
        if self._initialized:
            raise TrainingError(
                f"{self.name} has been initialized before. To train it on, use nlp.resume_training(); to train it on other data, make the "
                "pipeline anew from its config."
            )
        if labels is None:
            labels = sorted({token.dep_ for example in get_examples() for token in example.reference if token.dep})
        for label in labels:
            if label.lower() != ROOT_LABEL.lower():
                self.add_label(label)
        if not self.cfg["labels"]:
            raise TrainingError(
                f"{self.name}: there is nothing to learn, since no token of the training data has a label but ROOT's. Is the data parsed?"
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
                f"{self.name}: the config sets {dim} = {model.get_dim(dim)}, but the training data has {size}. Leave it null."
            )
        model.set_dim(dim, size)

    @property
    def _initialized(self) -> bool:
        has_weights: bool | None = self.model.get_ref("label_biaffine").has_param("W")
        return bool(has_weights)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Model, labels and settings. (Not so on disk, where the config beside it holds the settings.)"""
        settings = {name: getattr(self, name) for name in self._SETTINGS}
        contents: bytes = srsly.msgpack_dumps({"settings": settings, "pipe": super().to_bytes(exclude=exclude)})
        return contents

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "ArcScorer":
        """Takes over model, labels and settings, which `Language.from_bytes` would not take from the config."""
        contents = srsly.msgpack_loads(bytes_data)
        for name in self._SETTINGS:
            setattr(self, name, contents["settings"][name])
        super().from_bytes(contents["pipe"], exclude=exclude)
        return self

    _SETTINGS = ("whole_doc", "log_probabilities", "joint", "loss", "tag_loss")

    def predict(self, docs: Iterable[Doc]) -> list[DocArcs]:
        """The arc scores and labels of a batch of Docs, as numpy arrays.

        RAISES (MissingSentencesError): If a Doc has no sentence boundaries and `whole_doc` is False.
        """
        docs = list(docs)
        lengths = [sentence_lengths(doc, whole_doc=self.whole_doc) for doc in docs]
        flat_lengths = [n for of_doc in lengths for n in of_doc]
        if not flat_lengths:
            return [DocArcs([], []) for _ in docs]
        sentences = self._to_host(self.model.predict(ArcInput(docs, flat_lengths)))
        predictions, start = [], 0
        for of_doc in lengths:
            own = sentences[start : start + len(of_doc)]
            start += len(of_doc)
            predictions.append(DocArcs([scores for scores, _ in own], [labels for _, labels in own]))
        return predictions

    def set_annotations(self, docs: Iterable[Doc], predictions: list[DocArcs]) -> None:
        """Leaves the predictions on the Docs."""
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
        """Learns from a batch of examples."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "ArcScorer.update")
        examples = [example for example in examples if len(example.predicted) and len(example.reference)]
        if not examples:
            return losses
        set_dropout_rate(self.model, drop)
        gold = self._read_gold(examples)
        output, backprop = self.model.begin_update(self._training_input([e.predicted for e in examples], gold))
        loss, d_output = self._loss(gold, output)
        backprop(d_output)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(self, examples: Iterable[Example], scores: ArcOutput) -> tuple[float, ArcGradient]:
        """The loss, summed over tokens, and its gradient.

        examples (Iterable[Example]): The batch.
        scores (ArcOutput): What the model says of it, given the gold heads.
        """
        validate_examples(examples, "ArcScorer.get_loss")
        return self._loss(self._read_gold(examples), scores)

    def _read_gold(self, examples: Iterable[Example]) -> list[GoldArcs]:
        labels = {self.vocab.strings.add(label): number for number, label in enumerate(self.cfg["labels"])}
        tags = {POS_IDS[tag]: number for number, tag in enumerate(self.cfg["tags"])}
        return [read_gold(example, labels, tags, whole_doc=self.whole_doc) for example in examples]

    def _training_input(self, docs: list[Doc], gold: list[GoldArcs]) -> ArcInput:
        return ArcInput(docs, [n for arcs in gold for n in arcs.lengths], np.concatenate([arcs.heads for arcs in gold]))

    def _loss(self, gold: list[GoldArcs], output: ArcOutput) -> tuple[float, ArcGradient]:
        ops = self.model.ops
        arc_loss = ARC_LOSSES[self.loss]
        loss, d_arcs = arc_loss(ops, output.batch, output.arcs, np.concatenate([arcs.heads for arcs in gold]))
        of_labels, d_labels = class_loss(ops, output.labels, np.concatenate([arcs.labels for arcs in gold]))
        loss += of_labels
        d_tags = None
        if output.tags is not None:
            of_tags, d_tags = class_loss(ops, output.tags, np.concatenate([arcs.tags for arcs in gold]))
            loss += self.tag_loss * of_tags
            d_tags *= self.tag_loss
        if not np.isfinite(loss):
            raise TrainingError(
                f"{self.name}: the loss is {loss}. Training has diverged: lower the learning rate, or check the data and vectors."
            )
        return loss, ArcGradient(d_arcs, d_labels, d_tags)

    def _to_host(self, output: ArcOutput) -> list[tuple[FloatArray, npt.NDArray[np.unsignedinteger[Any]]]]:
        """Scores and best labels of each sentence, in order; a single transfer for the whole batch."""
        ops, xp = self.model.ops, self.model.ops.xp
        blocks = []
        for arcs, of_labels in zip(output.arcs, output.labels, strict=True):
            scores = log_softmax(xp, arcs) if self.log_probabilities else arcs
            labels, log_probabilities = [], []
            for part in of_labels:  # some of the dependents
                labels.append((part.argmax(axis=3) + 1).astype(scores.dtype))
                if self.joint:
                    log_probabilities.append(log_softmax(xp, part).max(axis=3))
            best = xp.concatenate(labels, axis=1)
            best[:, :, 0] = 0
            if self.joint:
                log_probability = xp.concatenate(log_probabilities, axis=1)
                log_probability[:, :, 0] = 0
                scores = scores + log_probability
            blocks.append(xp.stack([scores, best]))
        host = ops.to_numpy(xp.concatenate([block.ravel() for block in blocks]))

        dtype = np.min_scalar_type(len(self.cfg["labels"]))
        sentences: list[Any] = [None] * len(output.batch.lengths)
        at = 0
        for group, block in zip(output.batch.groups, blocks, strict=True):
            scores, labels = host[at : at + block.size].reshape(block.shape)
            at += block.size
            for row, k in enumerate(group.sentences.tolist()):
                n = output.batch.lengths[k]
                sentences[k] = (scores[row, :n, : n + 1].copy(), labels[row, :n, : n + 1].astype(dtype))
        return sentences

"""An external recommender for INCEpTION: suggests dependency relations around those that are annotated already.

INCEpTION sends a document as a UIMA CAS, and takes it back with suggestions; `/train` sends all documents of a project.
The protocol is that of its developer guide, "External recommender".
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cassis import Cas, load_cas_from_xmi, load_typesystem
from spacy.language import Language
from spacy.tokens import Doc
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ..annotation.training import steps_for, train_on
from ..doc.reading import AnnotatedSentence, blank_doc
from ..errors import MindRootError
from ..labels import SPACY_ROOT, UD_ROOT, is_root_label
from ..tools.gold import keep_probabilities
from ..trees import MISSING, is_tree, to_heads

__all__ = ["Recommender", "recommender_routes"]

_SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
_TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
_GOVERNOR, _DEPENDENT, _PREDICTED = "Governor", "Dependent", "inception_internal_predicted"
_LEAST = 10  # sentences with a tree that are worth a training
_OTHER_ENCODING = re.compile(r"""\ufeff?<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])""", re.IGNORECASE)


class CasError(MindRootError):
    """A request from which no dependency relations can be suggested. The message is the answer."""


class _Sentence(NamedTuple):
    """A sentence of a CAS: its tokens, and what is annotated: heads as in CoNLL-U, -1 = none; labels "" = none."""

    tokens: list[Any]
    words: AnnotatedSentence
    labels: list[str]


class Recommender:
    """Suggests relations with a pipeline, and learns from the trees that are complete.

    nlp (Language): A pipeline with an `arc_scorer` and a `mind_root`. Its probabilities are kept.
    model (Optional[str]): The folder or package that it was loaded from, where training begins. None: it never learns.
    """

    def __init__(self, nlp: Language, model: str | None = None) -> None:
        self.model = model
        self.nlp = nlp
        self._parsing, self._training = threading.Lock(), threading.Lock()
        self.learnt = 0  # sentences that the pipeline in use has been trained on here
        keep_probabilities(nlp)

    def predict(self, request: Any) -> dict[str, str]:
        """Return the answer to `/predict`: the document with suggestions.

        Each token without a relation gets one: its arc in the best tree with all relations that are there. Sentences
        that can't be parsed get none: their relations are in no tree, or have several roots, or they are too long.

        RAISES (MindRootError): If the request lacks what is needed, or has another layer than dependencies.
        """
        layer, feature = _metadata(request)
        cas = _cas(request, _part(request, "document"))
        relation = _relation(cas, layer, feature)
        fields = {each.name for each in relation.all_features}
        with self._parsing:
            for sentence in _sentences(cas, layer, feature):
                doc = self._parsed(sentence)
                for i, token in enumerate(() if doc is None else doc):
                    if sentence.words.heads[i] != MISSING:
                        continue
                    own = sentence.tokens[i]
                    label = UD_ROOT if token.dep_ == SPACY_ROOT else token.dep_
                    values = {
                        "begin": own.begin,
                        "end": own.end,
                        _GOVERNOR: sentence.tokens[token.head.i],
                        _DEPENDENT: own,
                        feature: label,
                        _PREDICTED: True,
                        f"{feature}_score": token._.head_dep_prob or token._.head_prob,
                    }
                    cas.add(relation(**{name: value for name, value in values.items() if name in fields}))
        return {"document": cas.to_xmi()}

    def _parsed(self, sentence: _Sentence) -> Doc | None:
        doc = blank_doc(self.nlp.vocab, [sentence.words])
        heads = sentence.words.heads.tolist()
        known = [(i, head - 1 if head else i) for i, head in enumerate(heads) if head != MISSING]
        if len(known) == len(heads):
            return None
        if known:
            doc._.arc_constraints = {"required": known}
        try:
            return self.nlp(doc)
        except MindRootError:  # of this sentence; the others are parsed
            return None

    def train(self, request: Any) -> bool:
        """Begin to learn from the documents of a request, and return whether there was no training going on.

        RAISES (MindRootError): As `predict`.
        """
        layer, feature = _metadata(request)
        documents = request.get("documents")
        if not isinstance(documents, list):
            raise CasError("The request has no list of documents.")
        docs = []
        for document in documents:
            cas = _cas(request, document)
            _relation(cas, layer, feature)
            for sentence in _sentences(cas, layer, feature):
                heads = sentence.words.heads
                if is_tree(heads, single_root=True) and all(sentence.labels):
                    deps = [SPACY_ROOT if is_root_label(label) else label for label in sentence.labels]
                    own = [head - 1 if head else i for i, head in enumerate(heads.tolist())]
                    spaces = sentence.words.spaces
                    docs.append(Doc(self.nlp.vocab, sentence.words.words, spaces=spaces, heads=own, deps=deps))
        if not self._training.acquire(blocking=False):
            return False
        if self.model is None or len(docs) < _LEAST:
            self._training.release()
            return True
        threading.Thread(target=self._learn, args=(docs, self.model), daemon=True).start()
        return True

    def _learn(self, docs: Sequence[Doc], model: str) -> None:
        try:
            trained = train_on(docs, self.nlp.lang, model, steps_for(len(docs)))
            keep_probabilities(trained)
            with self._parsing:
                self.nlp, self.learnt = trained, len(docs)
        finally:
            self._training.release()

    def wait(self) -> None:
        """Wait until no training is going on."""
        with self._training:
            pass


def recommender_routes(recommender: Recommender) -> list[BaseRoute]:
    """Return the routes of a recommender, whose URL in INCEpTION ends in `/inception`."""

    async def predict(request: Request) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(recommender.predict, await _json(request)))
        except MindRootError as error:
            return PlainTextResponse(f"{error}\n", 400)

    async def train(request: Request) -> Response:
        try:
            begun = await run_in_threadpool(recommender.train, await _json(request))
        except MindRootError as error:
            return PlainTextResponse(f"{error}\n", 400)
        return Response(status_code=204 if begun else 429)

    return [
        Route("/inception/predict", predict, methods=["POST"]),
        Route("/inception/train", train, methods=["POST"]),
    ]


async def _json(request: Request) -> Any:
    try:
        return await request.json()
    except ValueError as error:  # JSON or UTF-8
        raise CasError(f"The request is no JSON ({error}).") from error


def _part(request: Any, name: str) -> Any:
    if not isinstance(request, dict) or name not in request:
        raise CasError(f"The request has no {name}.")
    return request[name]


def _metadata(request: Any) -> tuple[str, str]:
    metadata = _part(request, "metadata")
    return str(_part(metadata, "layer")), str(_part(metadata, "feature"))


def _cas(request: Any, document: Any) -> Cas:
    xmi, types = str(_part(document, "xmi")), str(_part(request, "typeSystem"))
    for text in (xmi, types):  # a DOCTYPE names entities, which are files of this machine or fill its memory
        if "<!DOCTYPE" in text or _OTHER_ENCODING.match(text):
            raise CasError("The document can't be read as a CAS: it has a DOCTYPE, or is not in UTF-8.")
    try:
        return load_cas_from_xmi(xmi, load_typesystem(types))
    except Exception as error:  # of lxml or cassis, of many kinds
        raise CasError(f"The document can't be read as a CAS ({type(error).__name__}: {error}).") from error


def _relation(cas: Cas, layer: str, feature: str) -> Any:
    """Return the type of the relations."""
    if not cas.typesystem.contains_type(layer):
        raise CasError(f"There is no layer {layer} in the type system.")
    relation = cas.typesystem.get_type(layer)
    if not {_GOVERNOR, _DEPENDENT, feature} <= {each.name for each in relation.all_features}:
        raise CasError(
            f"The layer {layer} has no {_GOVERNOR}, {_DEPENDENT} and {feature}. Choose that of dependencies."
        )
    if relation.get_feature(feature).rangeType.name != "uima.cas.String":
        raise CasError(f"The feature {feature} of the layer {layer} is no text. Choose that of the labels.")
    ends = {relation.get_feature(name).rangeType.name for name in (_GOVERNOR, _DEPENDENT)}
    if not ends <= {_TOKEN, "uima.tcas.Annotation"}:
        raise CasError(f"The relations of the layer {layer} are between {', '.join(sorted(ends))}, not between tokens.")
    return relation


def _sentences(cas: Cas, layer: str, feature: str) -> Iterator[_Sentence]:
    """Yield the sentences of a document. A root is its own governor; relations between two sentences count for none."""
    relations: dict[tuple[int, int], Any] = {}
    for own in cas.select(layer):
        if own.get(_DEPENDENT) is not None and own.get(_GOVERNOR) is not None and not own.get(_PREDICTED):
            relations[own.get(_DEPENDENT).begin, own.get(_DEPENDENT).end] = own
    for sentence in cas.select(_SENTENCE):
        tokens = list(cas.select_covered(_TOKEN, sentence))
        if not tokens:
            continue
        number = {(token.begin, token.end): k for k, token in enumerate(tokens, 1)}
        heads, labels = [], []
        for k, token in enumerate(tokens, 1):
            own = relations.get((token.begin, token.end))
            head = MISSING if own is None else number.get((own.get(_GOVERNOR).begin, own.get(_GOVERNOR).end), MISSING)
            heads.append(0 if head == k else head)
            labels.append("" if own is None or head == MISSING else str(own.get(feature) or ""))
        ends = [token.begin for token in tokens[1:]] + [sentence.end]
        spaces = [token.end < end for token, end in zip(tokens, ends, strict=True)]
        forms = [token.get_covered_text() for token in tokens]
        yield _Sentence(tokens, AnnotatedSentence(forms, spaces, to_heads(heads), labels), labels)

"""UDPipe's REST interface over pipelines: `/models` and `/process`, as its version 2 has them.

https://lindat.mff.cuni.cz/services/udpipe/api-reference.php describes it.
"""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ..conllu import Sentence, read_pieces
from ..conllu.columns import DEPREL, FEATS, HEAD, LEMMA, UPOS, XPOS
from ..conllu.docs import sentence_without_tree, write_predicted
from ..conllu.rows import doc_rows, rows_text
from ..conllu.sentence import format_rows
from ..errors import MindRootError
from ..pipeline.scoring import piped

__all__ = ["Service", "make_app"]

_TAGS, _TREE = (LEMMA, UPOS, XPOS, FEATS), (HEAD, DEPREL)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_INPUTS = ("conllu", "horizontal", "vertical", "generic_tokenizer")
_OUTPUTS = ("conllu", "horizontal", "vertical", "plaintext")
_BY_SPACES = ("horizontal", "vertical")


class RequestError(MindRootError):
    """A request that can't be answered. The message is the answer."""


class Service:
    """Pipelines under names that are all different: `LANG_NAME-VERSION`.

    seconds (float): The longest time that a request may take.
    """

    def __init__(self, pipelines: Iterable[Language], *, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.pipelines: dict[str, Language] = {}
        for nlp in pipelines:
            name = f"{nlp.meta['lang']}_{nlp.meta['name']}-{nlp.meta['version']}"
            number = sum(known.partition("#")[0] == name for known in self.pipelines)
            self.pipelines[name if not number else f"{name}#{number + 1}"] = nlp
        self._lock = threading.Lock()  # of all pipelines: spaCy's are not made for several threads that train or load

    @property
    def names(self) -> list[str]:
        """The names, the default first."""
        return list(self.pipelines)

    def models(self) -> dict[str, Any]:
        """Return the answer to `/models`."""
        found = {}
        for name, nlp in self.pipelines.items():
            tagger = any(pipe in nlp.pipe_names for pipe in ("tagger", "morphologizer"))
            found[name] = ["tokenizer", *(["tagger"] if tagger else []), "parser"]
        return {"models": found, "default_model": self.names[0]}

    def find(self, wanted: str) -> str:
        """Return the name of the pipeline that a request means: its name, or the beginning of it."""
        if not wanted:
            return self.names[0]
        for name in self.names:
            if name == wanted:
                return name
        for name in self.names:
            if name.startswith(wanted):
                return name
        raise RequestError(f"There is no model {wanted[:100]!r}. There are: {', '.join(self.names)}.")

    def process(self, given: dict[str, str]) -> dict[str, Any]:
        """Return the answer to `/process`.

        RAISES (MindRootError): If it can't be answered. The message says why.
        """
        name = self.find(given.get("model", ""))
        if "data" not in given:
            raise RequestError("The parameter data is missing.")
        form, output = given.get("input") or "conllu", given.get("output") or "conllu"
        if "tokenizer" in given and given.get("input", "") in ("", "conllu", "generic_tokenizer"):
            form = "generic_tokenizer"
        for kind, value, known in (("input", form, _INPUTS), ("output", output, _OUTPUTS)):
            if value.partition("=")[0] not in known:
                raise RequestError(f"There is no {kind} format {value[:100]!r}. There are: {', '.join(known)}.")
        deadline = time.monotonic() + self.seconds
        wanted = [*(_TAGS if "tagger" in given else ()), *(_TREE if "parser" in given else ())]
        presegmented = "presegmented" in given.get("tokenizer", "")
        if not self._lock.acquire(timeout=self.seconds):
            raise RequestError("The server is busy. Try again later.")
        try:
            sentences = _sentences(self.pipelines[name], given["data"], form, wanted, presegmented)
            parts = []
            for number, sentence in enumerate(sentences, 1):
                parts.append(_written(sentence, output, number))
                if time.monotonic() > deadline:
                    raise RequestError(f"The request took more than {self.seconds:g} seconds. Send less at a time.")
        finally:
            self._lock.release()
        head = f"# generator = spacy-mindroot\n# udpipe_model = {name}\n" if output == "conllu" and parts else ""
        return {"model": name, "acknowledgements": [], "result": head + "".join(parts)}


def _sentences(nlp: Language, data: str, form: str, wanted: list[int], presegmented: bool) -> Iterator[Sentence]:
    """Yield the sentences in the data, with what was predicted in the columns wanted."""
    if form == "conllu":
        yield from _of_conllu(nlp, data, wanted)
        return
    if form == "horizontal":
        texts = [line.split() for line in data.splitlines() if line.strip()]
    elif form == "vertical":
        texts = [[line.strip() for line in part.splitlines() if line.strip()] for part in _PARAGRAPH.split(data)]
    if form in _BY_SPACES:
        rows = (
            "".join(f"{k}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for k, word in enumerate(words, 1)) + "\n"
            for words in texts
            if words
        )
        yield from _of_conllu(nlp, "".join(rows), wanted)
        return
    paragraphs = data.splitlines() if presegmented else _PARAGRAPH.split(data)
    docs = (nlp.make_doc(" ".join(each.split())) for each in paragraphs if each.strip())
    for doc, _ in piped(nlp, ((_one_sentence(doc) if presegmented else doc, None) for doc in docs)):
        for own in doc_rows(doc):
            for row in own.rows:
                for column in {*_TAGS, *_TREE} - {*wanted}:
                    row[column] = "_"
            text = format_rows([f"# text = {rows_text(own.rows, own.ranges)}"], own.rows, own.ranges)
            yield next(each for each in _read(text) if isinstance(each, Sentence))


def _one_sentence(doc: Doc) -> Doc:
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def _of_conllu(nlp: Language, data: str, wanted: list[int]) -> Iterator[Sentence]:
    read = [piece for piece in _read(data) if isinstance(piece, Sentence)]
    docs = ((sentence_without_tree(nlp.vocab, each), each) for each in read)
    for doc, sentence in piped(nlp, docs):
        before = [list(row) for row in sentence.rows]
        write_predicted(sentence, doc)
        for word, row in enumerate(before, 1):
            for column in {*_TAGS, *_TREE} - {*wanted}:
                sentence.replace(word, column, row[column].decode("utf8"))
        yield sentence


def _read(data: str) -> Iterator[Sentence | bytes]:
    return read_pieces(io.BytesIO(data.encode("utf8")), "data")


def _written(sentence: Sentence, output: str, number: int) -> str:
    if output == "conllu":
        name = "" if sentence.sent_id else f"# sent_id = {number}\n"
        return name + sentence.closed().decode("utf8")
    if output == "plaintext":
        return f"{sentence.comment('text') or ' '.join(sentence.words)}\n"
    if output == "horizontal":
        return " ".join(word.replace(" ", "\u00a0") for word in sentence.words) + "\n"
    return "\n".join(sentence.words) + "\n\n"


def make_app(service: Service, *, routes: Iterable[BaseRoute] = ()) -> Starlette:
    """Return the application.

    routes (Iterable[BaseRoute]): Further ones, for other interfaces to the same pipelines.
    """

    async def models(request: Request) -> Response:
        return JSONResponse(service.models())

    async def process(request: Request) -> Response:
        given = {name: value for name, value in request.query_params.items()}
        if request.method == "POST":
            async with request.form(max_files=20, max_fields=20, max_part_size=1 << 30) as form:
                for name, value in form.items():
                    given[name] = value if isinstance(value, str) else (await value.read()).decode("utf8", "replace")
        try:
            return JSONResponse(await run_in_threadpool(service.process, given))
        except MindRootError as error:
            return PlainTextResponse(f"{error}\n", 400)

    return Starlette(routes=[Route("/models", models), Route("/process", process, methods=["GET", "POST"]), *routes])

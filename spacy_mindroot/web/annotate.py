"""The page on which to annotate, as a Starlette application over an `annotation.Session`."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import srsly
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from ..annotation.decisions import EDITABLE, DecisionError
from ..annotation.session import Conflict, Session
from ..annotation.training import Trainer
from ..annotation.treebank import ChangedError
from ..errors import MindRootError
from ..escapes import printable
from ..labels import UD_POS
from ..tools.drawing.style import page_colours

__all__ = ["FIRST", "Annotation", "make_app", "token_in"]

FIRST = 10  # sentences that are annotated by hand before there is a parser
_TOKEN = 32  # characters
_PAGE = Path(__file__).parent / "page"
_FILES = {"": "index.html", "annotate.js": "annotate.js", "annotate.css": "annotate.css"}


def token_in(folder: Path) -> str:
    """Return the token of an annotation, which stays the same when the server is started again."""
    file = folder / "token"
    token = file.read_text("utf8", "replace").strip() if file.exists() else ""
    if len(token) < _TOKEN:  # the disk was full, say
        token = secrets.token_urlsafe(24)
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf8") as new:
            new.write(token)
    return token


class Annotation:
    """A session, its trainer, and when to train.

    every (int): A parser is trained when so many sentences have been accepted since the last time; 0 for never.
    ordered (bool): Whether the sentences that the parser is least sure of come first.
    """

    def __init__(self, session: Session, trainer: Trainer, *, every: int = 20, ordered: bool = True) -> None:
        self.session, self.trainer, self.every = session, trainer, every
        self.ordered = ordered
        self.generation = 0  # how many parsers there were
        self._since = 0  # sentences accepted since the last training began
        self.unsaved = ""

    def poll(self) -> None:
        """Take the parser that has been trained, if there is one."""
        found = self.trainer.take()
        if found is not None:
            suggester, rates = found
            self.session.use(suggester, rates if self.ordered else {})
            self.generation += 1

    def begin(self) -> None:
        """Order the sentences if there is a parser already, and train one if there are enough sentences for that."""
        session = self.session
        if session.suggester.nlp is None:
            if self.every and len(session.accepted()) >= FIRST:
                self._start(session.accepted())
        elif self.ordered and not session.second:
            self._start([])

    def train(self) -> bool:
        """Begin to train on what is accepted."""
        accepted = self.session.accepted()
        if not accepted:
            raise DecisionError("There is nothing to train on: no sentence is accepted.")
        started = self._start(accepted)
        if self.trainer.error and not started:
            raise DecisionError(self.trainer.error)
        return started

    def _start(self, accepted: list[int]) -> bool:
        try:
            if not self.trainer.start(self.session.treebank, accepted):
                return False
        except OSError as error:  # a full disk, say; what is accepted is written all the same
            self.trainer.error = f"The parser could not be trained: {error.strerror or error}"
            return False
        self._since = 0
        return True

    def accepted(self) -> None:
        """Note that a sentence was accepted, and train if it is time."""
        self._since += 1
        needed = self.every if self.session.suggester.nlp is not None else FIRST
        if self.every and self._since >= needed and len(self.session.accepted()) >= needed:
            self._start(self.session.accepted())

    def status(self) -> dict[str, Any]:
        """Return what the page shows of everything but the sentence."""
        try:
            self.session.journal.flush()
            self.unsaved = ""
        except OSError as error:
            self.unsaved = f"Not saved: {error.strerror}. Your decisions are kept as long as the server runs."
        return {
            "accepted": len(self.session.accepted()),
            "total": len(self.session.treebank),
            "training": self.trainer.progress,
            "trained": self.trainer.trained,
            "trainingError": self.trainer.error,
            "parser": self.session.suggester.nlp is not None,
            "generation": self.generation,
            "unsaved": self.unsaved,
        }


Handler = Callable[[Request], Awaitable[dict[str, Any]]]


def make_app(annotation: Annotation, token: str) -> Starlette:
    """Return the application. Requests to `/api` need the token as a bearer token, which no other page knows."""
    session = annotation.session

    async def start(request: Request) -> dict[str, Any]:
        return {
            "file": printable(session.treebank.path.name),
            "labels": session.labels(),
            "columns": list(EDITABLE),
            "upos": sorted(UD_POS),
            "rules": session.rules is not None,
            "second": bool(session.second),
            "root": session.root,
            "every": annotation.every,
            "first": FIRST,
            "next": session.after(None),
        }

    async def sentences(request: Request) -> dict[str, Any]:
        return {"sentences": session.overview()}

    async def sentence(request: Request) -> dict[str, Any]:
        return {"view": session.view(_number(request, session), vertical="vertical" in request.query_params)}

    async def labels(request: Request) -> dict[str, Any]:
        number = _number(request, session)
        words = len(session.treebank[number])
        given = request.query_params
        word, head = (_within(given.get(name), low, words, "word") for name, low in (("word", 1), ("head", 0)))
        scores = session.suggester.scores(session.treebank[number])
        return {"labels": session.suggester.labels_of(scores, word, head)}

    async def step(request: Request) -> dict[str, Any]:
        number, told = _number(request, session), await _object(request)
        free = session.act(number, told.get("step"), told.get("revision"))
        if told["step"]["do"] == "accept":
            annotation.accepted()
        return {"view": session.view(number, vertical=bool(told.get("vertical"))), "free": free}

    async def undo(request: Request) -> dict[str, Any]:
        told = await _object(request)
        before = session.accepted()
        number = session.undo(_number(request, session), told.get("revision"))
        view = session.view(number, vertical=bool(told.get("vertical")))
        return {"view": view, "written": number in before and view["state"] != "accepted"}

    async def train(request: Request) -> dict[str, Any]:
        return {"started": annotation.train()}

    async def reload(request: Request) -> dict[str, Any]:
        return {"changed": session.reload(), "next": session.after(None)}

    async def text(request: Request) -> dict[str, Any]:
        return {"added": session.add_text(str((await _object(request)).get("text", ""))), "next": session.after(None)}

    async def status(request: Request) -> dict[str, Any]:
        return {"next": session.after(None)}

    def api(path: str, handler: Handler, method: str = "GET") -> Route:
        async def answer(request: Request) -> Response:
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), token.encode()):
                return _error("Open the address that the server has printed; this one has no valid key.", "token", 401)
            annotation.poll()
            try:
                found = await handler(request)
            except ChangedError as error:
                return _error(str(error), "changed", 409)
            except Conflict as error:
                return _error(str(error), "conflict", 409)
            except MindRootError as error:
                return _error(str(error), "decision", 400)
            except OSError as error:
                return _error(f"Not saved: {error.strerror or error}. Try again when that is mended.", "disk", 507)
            return JSONResponse(found | {"status": annotation.status()})

        return Route(f"/api{path}", answer, methods=[method])

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if name == "colours.css":
            return Response(page_colours(), media_type="text/css")
        if name not in _FILES:
            return _error("There is no such page.", "none", 404)
        return FileResponse(_PAGE / _FILES[name])

    return Starlette(
        routes=[
            api("/start", start),
            api("/sentences", sentences),
            api("/sentence/{number}", sentence),
            api("/sentence/{number}/labels", labels),
            api("/sentence/{number}/step", step, "POST"),
            api("/sentence/{number}/undo", undo, "POST"),
            api("/train", train, "POST"),
            api("/reload", reload, "POST"),
            api("/text", text, "POST"),
            api("/status", status),
            Route("/", page),
            Route("/{name}", page),
        ]
    )


def _error(text: str, kind: str, status: int) -> JSONResponse:
    return JSONResponse({"error": text, "kind": kind}, status)


def _number(request: Request, session: Session) -> int:
    return _within(request.path_params["number"], 0, len(session.treebank) - 1, "sentence")


def _within(value: str | None, low: int, high: int, what: str) -> int:
    if value is None or not value.isdecimal() or len(value) > 9 or not low <= int(value) <= high:
        raise DecisionError(f"There is no such {what} (any more).")
    return int(value)


async def _object(request: Request) -> dict[str, Any]:
    try:
        found = srsly.json_loads(await request.body())
    except ValueError as error:
        raise DecisionError("A request is an object in JSON.") from error
    if not isinstance(found, dict):
        raise DecisionError("A request is an object in JSON.")
    return found

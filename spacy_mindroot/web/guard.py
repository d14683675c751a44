"""Guards and runs every server here: refuses requests that are too large or come from other pages, and ends cleanly."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import MindRootError

__all__ = ["Guard", "is_loopback", "listen", "run", "url_of"]

_SECONDS = 30.0  # for the body of a request to arrive
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """An ASGI application around another one.

    It answers requests only if they name this server as their host, so that no other page can reach it under a name of
    its own (DNS rebinding), and reads their bodies only up to a limit.

    host (str): The address of the server. It is known under this name, `localhost`, IP addresses, and `names`.
    names (Iterable[str]): Further host names. Pages that a proxy serves under them have access.
    limit (int): The most bytes of a body.
    """

    def __init__(self, app: ASGIApp, *, host: str = "", names: Iterable[str] = (), limit: int = 1 << 20) -> None:
        self._app, self._limit = app, limit
        self._public = {name.lower() for name in names}
        self._names = {"localhost", host.lower(), *self._public} - {""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        origin = headers.get("origin")
        if not self._is_known(host):
            text = f"This server is not {host[:200]!r}. Start it with --host-name if it is to be known under a name."
            await _answer(scope, receive, send, 421, text)
            return
        page = None if origin is None else origin.partition("://")[2]
        if page is not None and page != host and _name_in(page) not in self._public:
            await _answer(scope, receive, send, 403, "Other pages have no access.")
            return
        try:
            body = await asyncio.wait_for(self._body(receive), _SECONDS)
        except TimeoutError:
            await _answer(scope, receive, send, 408, "The request did not arrive in time.")
            return
        if body is None:
            await _answer(scope, receive, send, 413, f"A request has at most {self._limit:,} bytes.")
            return
        await self._app(scope, _replayed(body, receive), _with_headers(send))

    def _is_known(self, host: str) -> bool:
        name = _name_in(host)
        with suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return name in self._names

    async def _body(self, receive: Receive) -> bytes | None:
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""
            part = message.get("body", b"")
            size += len(part)
            if size > self._limit:
                return None
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)


def _name_in(host: str) -> str:
    """Return a host without its port."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return name.removeprefix("[").removesuffix("]").lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return sent


async def _answer(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    await PlainTextResponse(f"{text}\n", status, {"connection": "close"})(scope, receive, _with_headers(send))


def listen(host: str, port: int, *, or_any: bool = False) -> socket.socket:
    """Return a socket that listens on a port; 0 for any that is free.

    or_any (bool): Whether another port may take its place if it is in use.
    RAISES (MindRootError): If it can't. The message says why.
    """
    found = None
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(64)
        return found
    except OSError as error:
        if found is not None:
            found.close()
        if or_any and error.errno == errno.EADDRINUSE:
            return listen(host, 0)
        why = error.strerror or error
        raise MindRootError(f"Port {port} of {host} can't be used: {why}. Choose another --port.") from error


def url_of(listening: socket.socket) -> str:
    """Return the address of the server on a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether a host is reached from this machine alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def run(app: ASGIApp, listening: socket.socket, started: Callable[[], Any] = lambda: None) -> None:
    """Serve until a signal ends it.

    started (Callable): Called when the server answers.
    """

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

    server = Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3))
    with suppress(KeyboardInterrupt, SystemExit):  # uvicorn raises the signal again when all is done
        server.run([listening])

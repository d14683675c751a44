"""`spacy mindroot serve`: pipelines behind UDPipe's REST interface."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from ..errors import MissingPackageError
from . import options
from .running import command, warn

__all__ = ["serve_cli", "web"]

_PORT = 8001


def web(module: str) -> Any:
    """Import a module of `web`. Raise MissingPackageError if it can't be, for want of the extra `annotate`."""
    try:
        return import_module(f"spacy_mindroot.web.{module}")
    except ImportError as error:
        raise MissingPackageError(
            f"A server needs Starlette, uvicorn and python-multipart ({error}): pip install "
            f"'spacy-mindroot[{'inception' if module == 'inception' else 'annotate'}]'"
        ) from error


@command()
def serve_cli(
    models: list[str] = typer.Argument(..., metavar="MODEL"),
    port: int | None = typer.Option(None, "--port", "-p", metavar="N", min=0, max=65535),
    host: str = typer.Option("127.0.0.1", "--host", metavar="HOST"),
    name: list[str] = typer.Option([], "--host-name", metavar="HOST"),
    most_bytes: int = typer.Option(4_000_000, "--most-bytes", metavar="N", min=1),
    seconds: float = typer.Option(60.0, "--seconds", metavar="S", min=0.1),
    inception: bool = typer.Option(False, "--inception"),
    code: Path | None = options.code(),
) -> None:
    """Serve pipelines with UDPipe's REST interface, so that its clients work unchanged.

    `/models` lists the pipelines, and `/process` tokenizes, tags and parses what is sent to it. The parameters have the
    names that UDPipe gives them, such as data, model, input, output, tokenizer, tagger and parser.

    Needs the extra `annotate`.

    models: Pipelines, by their folders or packages. The first is used where a request names none.
    port: Port of the server; 0 for any that is free (default: 8001, or any that is free).
    host: Address of the server. Other than a loopback address, it serves everyone who reaches it.
    name: Host name under which the server is known, such as that of a proxy, besides localhost, --host and IP
        addresses. Can be given several times (default: none).
    most_bytes: Largest size of a request.
    seconds: Longest time that a request may take.
    inception: Also serve the first pipeline as an external recommender for dependency relations in INCEpTION, at
        /inception. Needs the extra `inception` (default: off).
    """
    server, udpipe = web("guard"), web("udpipe")
    from ..tools.gold import load_pipeline

    service = udpipe.Service([load_pipeline(model) for model in models], seconds=seconds)
    routes = []
    if inception:
        recommending = web("inception")
        routes = recommending.recommender_routes(recommending.Recommender(load_pipeline(models[0]), models[0]))
    listening = server.listen(host, _PORT if port is None else port, or_any=port is None)
    if not server.is_loopback(host):
        warn(f"Everyone who reaches {host} can send text to parse.")

    def started() -> None:
        typer.echo(f"Serving {', '.join(service.names)} at {server.url_of(listening)}")

    server.run(
        server.Guard(udpipe.make_app(service, routes=routes), host=host, names=name, limit=most_bytes),
        listening,
        started,
    )

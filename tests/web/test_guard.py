"""Requests that a server here refuses, on a real socket."""

import socket

import pytest

pytest.importorskip("starlette", reason="needs the extra annotate")
pytest.importorskip("uvicorn", reason="needs the extra annotate")

from annotation_helpers import Running
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from spacy_mindroot.errors import MindRootError
from spacy_mindroot.web.guard import is_loopback, listen, url_of


async def echo(request):
    return PlainTextResponse(f"{len(await request.body())} bytes")


APP = Starlette(routes=[Route("/", echo, methods=["GET", "POST"])])


@pytest.fixture(scope="module")
def server():
    with Running(APP, host="Box.local", names=["Here.example"], limit=1000) as running:
        yield running


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:1234", "[::1]:80", "here.example", "HERE.example:9", "box.local:8"]
)
def test_known_hosts(host, server):
    assert server.ask("", headers={"Host": host}) == (200, "0 bytes")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "x:y"])
def test_other_names_for_this_server_are_refused(host, server):
    status, text = server.ask("", headers={"Host": host})
    assert status in (400, 421), text


def test_other_pages_are_refused(server):
    host = url_of(server.socket).split("/")[2]
    assert server.ask("", b"a", headers={"Origin": f"http://{host}"})[0] == 200
    assert server.ask("", b"a", headers={"Origin": "https://here.example"})[0] == 200, "a proxy that rewrites Host"
    for origin in ("http://evil.example", "null", f"http://{host}.evil.example", "http://localhost:3000"):
        assert server.ask("", b"a", headers={"Origin": origin})[0] == 403


def test_sizes_are_limited(server):
    assert server.ask("", b"a" * 1000) == (200, "1000 bytes")
    assert server.ask("", b"a" * 1001)[0] == 413


def test_sizes_are_limited_without_a_content_length(server):
    with socket.create_connection(server.socket.getsockname()[:2]) as connection:
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + (b"200\r\n" + b"a" * 512 + b"\r\n") * 3)
        assert b" 413 " in connection.recv(200)


def test_headers_keep_others_out(server):
    import urllib.request

    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_a_port_in_use():
    with listen("127.0.0.1", 0) as one:
        port = one.getsockname()[1]
        with pytest.raises(MindRootError, match=f"Port {port} .*another --port"):
            listen("127.0.0.1", port)
        with listen("127.0.0.1", port, or_any=True) as other:
            assert other.getsockname()[1] != port
            assert url_of(other) == f"http://127.0.0.1:{other.getsockname()[1]}/"


def test_loopback():
    assert is_loopback("127.0.0.1") and is_loopback("::1") and is_loopback("localhost") and is_loopback("127.3.2.1")
    assert not is_loopback("0.0.0.0") and not is_loopback("192.168.1.2") and not is_loopback("example.org")

"""UDPipe's REST interface, asked as its clients ask it."""

import json
import shutil
import subprocess
import urllib.parse
import urllib.request

import pytest

pytest.importorskip("starlette", reason="needs the extra annotate")
pytest.importorskip("uvicorn", reason="needs the extra annotate")
pytest.importorskip("python_multipart", reason="needs the extra annotate")

import spacy
from annotation_helpers import BLANK, Running
from corpora_helpers import make_model
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.trees import is_tree
from spacy_mindroot.web.udpipe import Service, make_app

TEXT = "They left early. We saw them!\n\nGo home now."


@spacy.Language.component("test_udpipe_tags")
def tags(doc):
    for token in doc:
        token.pos_, token.tag_, token.lemma_ = "NOUN", "T", token.text.lower()
    return doc


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    found = []
    for number in range(2):
        nlp = spacy.load(make_model(tmp_path_factory.mktemp("model") / "m", seed=number))
        nlp.add_pipe("test_udpipe_tags", first=True)
        nlp.meta["name"] = "tiny"
        found.append(nlp)
    return Service(found, seconds=60)


@pytest.fixture(scope="module")
def server(service):
    async def other(request):
        return PlainTextResponse("other")

    with Running(make_app(service, routes=[Route("/other", other)]), limit=200_000) as running:
        yield running


def client(server, method, params=None):
    """Ask as udpipe2_client.py does: by GET without parameters, otherwise with a form in parts."""
    if not params:
        request = urllib.request.Request(f"{server.url}{method}")
    else:
        parts = b"".join(
            b"--12345\r\nContent-Transfer-Encoding: 8bit\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in params.items()
        )
        headers = {"Content-Type": "multipart/form-data; boundary=12345"}
        request = urllib.request.Request(f"{server.url}{method}", parts + b"--12345--\r\n", headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def sentences(result, tmp_path):
    (tmp_path / "r.conllu").write_text(result, "utf8")
    return list(read_conllu(tmp_path / "r.conllu"))


ALL = {"tokenizer": "", "tagger": "", "parser": ""}


def test_models(server):
    found = client(server, "models")
    assert found["default_model"] == "en_tiny-1.0.0"
    assert list(found["models"]) == ["en_tiny-1.0.0", "en_tiny-1.0.0#2"]
    assert "parser" in found["models"]["en_tiny-1.0.0"]


def test_text_by_a_form_in_parts(server, tmp_path):
    found = client(server, "process", {"data": TEXT, "model": "en", **ALL})
    assert found["model"] == "en_tiny-1.0.0"
    own = sentences(found["result"], tmp_path)
    assert [each.comment("text") for each in own] == ["They left early.", "We saw them!", "Go home now."]
    assert [each.sent_id for each in own] == ["1", "2", "3"]
    for each in own:
        assert is_tree(each.heads, single_root=True)
        assert each.column(3) == ["NOUN"] * 4 and each.column(2)[0] == each.words[0].lower()


def test_by_get_and_by_a_plain_form(server, tmp_path):
    query = urllib.parse.urlencode({"data": TEXT, **ALL})
    by_get = json.loads(server.ask(f"process?{query}")[1])
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    by_post = json.loads(server.ask("process", query.encode(), headers=headers)[1])
    assert by_get == by_post
    assert len(sentences(by_get["result"], tmp_path)) == 3


def test_curl(server):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    command = ["curl", "-sS", "-F", "data=Go home now.", "-F", "tokenizer=", "-F", "parser=", f"{server.url}process"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert "1\tGo\t_\t_\t_\t_\t" in found["result"], "tags were not asked for"


def test_what_was_not_asked_for_is_not_there(server, tmp_path):
    for asked, tagged, parsed in (({}, False, False), ({"tagger": ""}, True, False), ({"parser": ""}, False, True)):
        (own,) = sentences(
            client(server, "process", {"data": "Go home.", "tokenizer": "", **asked})["result"], tmp_path
        )
        assert (own.column(3)[0] == "NOUN") == tagged
        assert (min(own.heads) >= 0) == parsed


def test_conllu_keeps_its_words_and_what_was_not_asked_for(server, tmp_path):
    given = "# sent_id = x\n" + BLANK.replace("1\tThey\t_\t_", "1\tThey\tit\tPRON")
    found = client(server, "process", {"data": given, "input": "conllu", "parser": ""})
    own = sentences(found["result"], tmp_path)
    assert [each.words for each in own] == [["They", "left", "early"], ["Go", "home", "now"], ["We", "saw", "them"]]
    assert own[0].sent_id == "x" and own[0].column(3) == ["PRON", "_", "_"]
    assert all(is_tree(each.heads, single_root=True) for each in own)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"input": "horizontal", "data": "go home. now\nd\n"}, [["go", "home.", "now"], ["d"]]),
        ({"input": "vertical", "data": "go\nhome.\n\nd\n"}, [["go", "home."], ["d"]]),
        ({"tokenizer": "presegmented", "data": "go home. now\nd\n"}, [["go", "home", ".", "now"], ["d"]]),
        ({"input": "generic_tokenizer", "data": "go home. now\n\nd"}, [["go", "home", "."], ["now"], ["d"]]),
    ],
)
def test_inputs(params, words, server, tmp_path):
    own = sentences(client(server, "process", {**params, "parser": ""})["result"], tmp_path)
    assert [each.words for each in own] == words
    assert all(is_tree(each.heads, single_root=True) for each in own)


def test_outputs(server):
    def result(output):
        return client(server, "process", {"data": TEXT, "tokenizer": "", "output": output})["result"]

    assert result("horizontal").splitlines() == ["They left early .", "We saw them !", "Go home now ."]
    assert result("vertical").startswith("They\nleft\nearly\n.\n\nWe\n")
    assert result("plaintext").splitlines() == ["They left early.", "We saw them!", "Go home now."]


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"model": "de", "data": "a"}, "no model 'de'. There are: en_tiny"),
        ({"model": "en"}, "data is missing"),
        ({"data": "a", "input": "epe"}, "no input format"),
        ({"data": "a", "output": "matxin"}, "no output format"),
        ({"data": "1\ta\n\n", "parser": ""}, "data:1: line 1 has 2 columns"),
    ],
)
def test_what_is_refused_is_explained(params, says, server):
    query = urllib.parse.urlencode(params)
    status, text = server.ask(f"process?{query}")
    assert status == 400 and says in text


def test_nothing_to_do(server):
    assert client(server, "process", {"data": " \n\n ", **ALL})["result"] == ""


def test_sizes_and_times_are_limited(server, service, monkeypatch):
    status, text = server.ask("process", b"data=" + b"a" * 300_000)
    assert status == 413 and "200,000 bytes" in text
    monkeypatch.setattr(service, "seconds", 0.0)
    status, text = server.ask(f"process?{urllib.parse.urlencode({'data': TEXT, **ALL})}")
    assert status == 400 and "Send less at a time" in text


def test_a_busy_server_says_so(server, service, monkeypatch):
    monkeypatch.setattr(service, "seconds", 0.01)
    with service._lock:
        status, text = server.ask(f"process?{urllib.parse.urlencode({'data': TEXT, **ALL})}")
    assert status == 400 and "busy" in text


def test_more_routes(server):
    assert server.ask("other") == (200, "other")

"""The interface that the page uses, over a socket."""

import json

import pytest

pytest.importorskip("starlette", reason="needs the extra annotate")
pytest.importorskip("uvicorn", reason="needs the extra annotate")

from annotation_helpers import BLANK, DONE, GOLD, Running, make_annotation, make_session, rows, toy, wait

from spacy_mindroot.annotation.suggestions import Suggester
from spacy_mindroot.web import annotate as web
from spacy_mindroot.web.annotate import make_app, token_in

TOKEN = "secret"


class Client:
    def __init__(self, running):
        self.running = running

    def __call__(self, path, body=None, *, status=200, token=TOKEN):
        found, text = self.running.ask(f"api/{path}", body, headers={"Authorization": f"Bearer {token}"})
        assert found == status, text
        return json.loads(text)


@pytest.fixture
def served(tmp_path):
    running = []

    def serve(text=BLANK, nlp=None, *, every=0, **options):
        session = make_session(tmp_path, text, nlp, **options)
        annotation = make_annotation(session, every=every)
        running.append(Running(make_app(annotation, TOKEN)).__enter__())
        return Client(running[-1]), annotation

    yield serve
    for each in running:
        each.__exit__()


def arc(word, head, label="dep"):
    return {"step": {"do": "arc", "word": word, "head": head, "label": label}}


def test_from_the_start_to_an_accepted_sentence(served):
    ask, annotation = served()
    start = ask("start")
    assert start["file"] == "tb.conllu" and start["next"] == 0 and "nsubj" in start["labels"]
    assert start["status"]["accepted"] == 0 and start["status"]["total"] == 3
    view = ask("sentence/0")["view"]
    for word, each in enumerate(GOLD[0].split(), 1):
        _, head, label = each.split("/")
        view = ask("sentence/0/step", arc(word, int(head), label) | {"revision": view["revision"]})["view"]
    done = ask("sentence/0/step", {"step": {"do": "accept"}, "revision": view["revision"]})
    assert done["view"]["state"] == "accepted" and done["view"]["next"] == 1 and done["status"]["accepted"] == 1
    assert annotation.session.treebank.path.read_text().startswith(rows(GOLD[0]))
    assert [each["state"] for each in ask("sentences")["sentences"]] == ["accepted", "new", "new"]
    assert ask("sentence/0/undo", {})["view"]["state"] == "begun"


def test_only_with_the_token(served):
    ask, _ = served()
    for token in ("", "Secret", "secret2", "sécret"):
        assert ask("start", status=401, token=token)["kind"] == "token"
        assert ask("sentence/0/step", arc(1, 2), status=401, token=token)["kind"] == "token"
    for path in ("", "annotate.js", "annotate.css", "colours.css"):
        assert ask.running.ask(path)[0] == 200, "these hold nothing of the user's"
    for path in ("none", "../setup.cfg", "%2e%2e/guard.py", "index.html", "api"):
        assert ask.running.ask(path)[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("sentence/9", None, "no such sentence"),
        ("sentence/9/step", arc(1, 2), "no such sentence"),
        ("sentence/0/step", {}, "is an object"),
        ("sentence/0/step", b"[1]", "object in JSON"),
        ("sentence/0/step", b"{", "object in JSON"),
        ("sentence/0/step", b"\xff", "object in JSON"),
        ("sentence/0/step", arc(1, 99), "from 0 to 3"),
        ("sentence/0/step", {"step": {"do": "accept"}}, "not complete"),
        ("sentence/0/labels?word=1&head=x", None, "no such word"),
        ("sentence/0/labels?word=0&head=1", None, "no such word"),
        ("sentence/0/labels", None, "no such word"),
        ("sentence/0/undo", {}, "nothing to undo"),
        ("sentence/" + "9" * 5000, None, "no such sentence"),
        ("sentence/-1", None, "no such sentence"),
        ("sentence/0/labels?word=000000001&head=000000001999", None, "no such word"),
        ("sentence/0/step", {"step": {"do": "cell", "word": 1, "column": [], "value": "x"}}, "columns to edit are"),
        ("sentence/0/step", arc(1, 2, "a\ud800"), "control characters"),
        ("sentence/0/step", arc(1, 2, "a\0"), "control characters"),
        ("text", {"text": "a \ud800"}, "control characters"),
        ("text", {"text": "a" * 1_000_001}, "more than 1,000,000 characters"),
        ("train", {}, "nothing to train on"),
        ("text", {"text": ""}, "no text"),
    ],
)
def test_what_is_refused_is_explained(path, body, says, served):
    ask, annotation = served()
    found = ask(path, body, status=400)
    assert found["kind"] == "decision" and says in found["error"]
    assert annotation.session.treebank.path.read_text() == BLANK


def test_conflicts(served):
    ask, annotation = served()
    ask("sentence/0/step", arc(1, 2) | {"revision": 0})
    assert ask("sentence/0/step", arc(1, 3) | {"revision": 0}, status=409)["kind"] == "conflict"
    for word in (2, 3):
        ask("sentence/0/step", arc(word, 0 if word == 2 else 2, "root" if word == 2 else "dep"))
    annotation.session.treebank.path.write_text(BLANK + DONE)
    found = ask("sentence/0/step", {"step": {"do": "accept"}}, status=409)
    assert found["kind"] == "changed" and "changed by another program" in found["error"]
    assert ask("reload", {})["changed"] == 3
    assert ask("sentence/0/step", {"step": {"do": "accept"}})["view"]["state"] == "accepted"


def test_a_full_disk_is_said(served, monkeypatch):
    ask, annotation = served(DONE, review=True)
    ask("sentence/0/step", arc(1, 3))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spacy_mindroot.annotation.treebank.replacing", full)
    found = ask("sentence/0/step", {"step": {"do": "accept"}}, status=507)
    assert "No space left" in found["error"]
    monkeypatch.setattr(annotation.session.journal, "flush", full)
    status = ask("sentence/0/step", arc(1, 2))["status"]
    assert "Not saved: No space" in status["unsaved"]
    monkeypatch.undo()
    assert ask("status")["status"]["unsaved"] == ""


def test_probabilities_of_labels(served):
    ask, _ = served(BLANK, toy())
    labels = ask("sentence/0/labels?word=1&head=2")["labels"]
    assert sum(labels.values()) == pytest.approx(1, abs=1e-3)
    assert list(labels.values()) == sorted(labels.values(), reverse=True)


def test_text_starts_an_empty_file(served):
    ask, annotation = served(None)
    assert ask("start")["next"] is None
    assert ask("text", {"text": "One two.\nThree."})["next"] == 0
    assert len(annotation.session.treebank) == 2


def test_training_begins_by_itself_and_its_parser_is_taken(served, monkeypatch):
    monkeypatch.setattr(web, "FIRST", 2)
    ask, annotation = served(DONE + BLANK, every=20, review=False)
    annotation.begin()
    assert ask("status")["status"]["training"] is not None
    wait(lambda: ask("status")["status"]["generation"] == 1)
    status = ask("status")["status"]
    assert status["training"] is None and status["trained"] == 3 and status["parser"]
    assert ask("sentence/3")["view"]["headProbs"][0] is not None
    assert annotation._since == 0


def test_training_waits_for_enough_sentences(served, monkeypatch):
    started = []
    ask, annotation = served(BLANK * 10, every=20)
    monkeypatch.setattr(annotation.trainer, "start", lambda treebank, accepted: started.append(len(accepted)) or True)
    annotation.begin()
    for number in range(29):
        for step in (arc(1, 0, "root"), arc(2, 1), arc(3, 1), {"step": {"do": "accept"}}):
            ask(f"sentence/{number}/step", step)
        if number == 10:
            annotation.session.use(Suggester(toy()), {})
    assert started == [10], "from nothing, after the first ten; then after twenty more"
    for step in (arc(1, 0, "root"), arc(2, 1), arc(3, 1), {"step": {"do": "accept"}}):
        ask("sentence/29/step", step)
    assert started == [10, 30]


def test_the_token_stays(tmp_path):
    token = token_in(tmp_path)
    assert len(token) > 20 and token_in(tmp_path) == token
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0
    (tmp_path / "token").write_text("")
    assert len(token_in(tmp_path)) > 20 and token_in(tmp_path) != token, "an empty one would let everyone in"
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0


def test_a_training_that_can_not_begin_is_no_failure_of_what_is_accepted(served, monkeypatch):
    monkeypatch.setattr(web, "FIRST", 3)
    ask, annotation = served(rows(GOLD[0]) * 2 + BLANK, every=3)

    def fails(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    annotation._since = 2
    with monkeypatch.context() as patch:
        patch.setattr("spacy_mindroot.annotation.training.subprocess.Popen", fails)
        for word, each in enumerate(GOLD[0].split(), 1):
            _, head, label = each.split("/")
            ask("sentence/2/step", arc(word, int(head), label))
        status = ask("sentence/2/step", {"step": {"do": "accept"}})["status"]
        assert "Resource temporarily" in status["trainingError"] and status["training"] is None
        assert "Resource temporarily" in ask("train", {}, status=400)["error"]
    assert annotation.session.state(2) == "accepted"
    assert ask("train", {})["started"]
    annotation.trainer.stop()

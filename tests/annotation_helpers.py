"""Shared by the tests of annotation: sessions over small files, with a parser or without."""

import json
import threading
import time
import urllib.error
import urllib.request
from functools import lru_cache
from tempfile import TemporaryDirectory

from corpora_helpers import make_model

from spacy_mindroot.annotation.journal import Journal
from spacy_mindroot.annotation.session import Session
from spacy_mindroot.annotation.suggestions import Suggester
from spacy_mindroot.annotation.training import Trainer
from spacy_mindroot.annotation.treebank import Treebank
from spacy_mindroot.rules import to_rules
from spacy_mindroot.tools.gold import load_pipeline


def rows(sentence, *, blank=False):
    """A sentence of `word/head/label` in CoNLL-U."""
    found = []
    for k, each in enumerate(sentence.split(), 1):
        form, head, label = each.split("/")
        cells = ["_", "_"] if blank else [head, label]
        found.append("\t".join([str(k), form, "_", "_", "_", "_", *cells, "_", "_"]))
    return "\n".join(found) + "\n\n"


GOLD = (
    "They/2/nsubj left/0/root early/2/advmod",
    "Go/0/root home/1/obl now/1/advmod",
    "We/2/nsubj saw/0/root them/2/obj",
)
BLANK = "".join(rows(each, blank=True) for each in GOLD)
DONE = "".join(map(rows, GOLD))


@lru_cache
def toy():
    """A parser that has learnt next to nothing."""
    with TemporaryDirectory() as folder:
        return load_pipeline(str(make_model(f"{folder}/model", senter=False)))


def make_session(folder, text=BLANK, nlp=None, *, name="tb.conllu", rules=None, **options):
    path = folder / name
    if text is not None and not path.exists():
        path.write_bytes(text.encode("utf8"))
    journal = Journal(folder / f"{name}.annotation")
    rules = None if rules is None else to_rules(rules)
    return Session(Treebank(path), journal, Suggester(nlp), rules, **options)


def annotate(session, number, sentence):
    """Decide on every word by hand, and accept."""
    for word, each in enumerate(sentence.split(), 1):
        _, head, label = each.split("/")
        session.act(number, {"do": "arc", "word": word, "head": int(head), "label": label})
    session.act(number, {"do": "accept"})


def wait(done, seconds=120):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "that takes too long"
        time.sleep(0.05)


class Running:
    """A server in a thread of its own, on a real socket."""

    def __init__(self, app, **guard):
        import uvicorn

        from spacy_mindroot.web.guard import Guard, listen, url_of

        self.socket = listen("127.0.0.1", 0)
        self.url = url_of(self.socket)
        self.server = uvicorn.Server(uvicorn.Config(Guard(app, **guard), log_level="warning", access_log=False))
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)

    def __enter__(self):
        self.thread.start()
        wait(lambda: self.server.started)
        return self

    def __exit__(self, *error):
        self.server.should_exit = True
        self.thread.join(10)
        self.socket.close()

    def ask(self, path, body=None, *, headers=None):
        """Return the status, and the body as text."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode("utf8")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode("utf8")


def make_annotation(session, *, model=None, every=0, ordered=True):
    from spacy_mindroot.web.annotate import Annotation

    trainer = Trainer(session.journal.folder, "xx", model)
    return Annotation(session, trainer, every=every, ordered=ordered)

"""Names of files and folders that are not UTF-8: every command reads and writes them, and prints them safely."""

import os

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_mindroot.cli import COMMANDS

ROWS = "1\tThey\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tleft\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
ODD = os.fsdecode(b"n\xff")
ARGUMENTS = {
    "decode": ("{npz}", "{out}.conllu"),
    "audit": ("{model}", "{spacy}", "--out", "{out}"),
    "score": ("{model}", "{conllu}", "{out}.npz"),
    "evaluate": ("{model}", "{conllu}", "--json", "{out}.json", "--output", "{out}.conllu"),
    "init-config": ("{out}.cfg",),
    "calibrate": ("{model}", "{conllu}", "--output", "{out}"),
    "repair": ("{conllu}", "{out}.conllu", "--report", "{out}.jsonl", "--rules", "{rules}"),
    "parse": ("{model}", "{conllu}", "{text}", "--out", "{out}", "--format", "jsonl", "--metrics", "{out}.json"),
    "vote": ("{conllu}", "{conllu}", "--out", "{out}.conllu"),
    "show": ("{model}", "{text}", "--out", "{out}.html"),
    "rank": ("{model}", "{conllu}", "--out", "{out}.conllu", "--report", "{out}.jsonl"),
    "suspect": ("{conllu}", "--report", "{out}.jsonl", "--out", "{out}.conllu", "--steps", "1", "--folds", "2"),
    "rules": ("{conllu}", "--out", "{out}.json"),
}


@Language.component("test_names_scores")
def scores(doc):
    doc._.arc_scores = [np.eye(len(s), len(s) + 1) - np.eye(len(s), len(s) + 1, 1) for s in doc.sents]
    return doc


@pytest.fixture(scope="module")
def places(tmp_path_factory, checkout):
    folder = tmp_path_factory.mktemp("names") / ODD
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    places = {name: folder / f"{ODD}.{name}" for name in ("npz", "spacy", "conllu", "model")}
    places |= {"text": folder / f"{ODD}.txt", "rules": folder / f"{ODD}.json"}
    places["npz"].write_bytes((checkout / "assets" / "demo.npz").read_bytes())
    places["conllu"].write_text(ROWS * 4)
    places["text"].write_text("They left.\n")
    places["rules"].write_text('{"unique": ["nsubj"]}')
    nlp = spacy.blank("xx")
    DocBin(docs=[Doc(nlp.vocab, ["They", "left"], heads=[1, 1], deps=["nsubj", "ROOT"])]).to_disk(places["spacy"])
    nlp.add_pipe("sentencizer", config={"overwrite": False})
    nlp.add_pipe("test_names_scores")
    nlp.add_pipe("mind_root")
    nlp.to_disk(places["model"])
    return places


@pytest.mark.parametrize("command", ARGUMENTS)
def test_names_that_are_not_utf_8(places, tmp_path, command):
    out = tmp_path / ODD / "out\udcfe"
    out.parent.mkdir()
    arguments = [argument.format(out=out, **places) for argument in ARGUMENTS[command]]
    result = CliRunner().invoke(app, ["mindroot", command, *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    written = list(out.parent.glob("**/*"))
    assert written
    for path in written:
        if path.suffix in (".json", ".jsonl", ".conllu", ".html", ".md") and path.is_file():
            path.read_text("utf8")


def test_every_command_is_tried():
    others = {"add", "average", "build"} | {"annotate", "serve"}  # these need trained pipelines, or go on for ever
    assert ARGUMENTS.keys() | others == {*COMMANDS}

"""Shared by `repair` and `vote`: reading, writing back, and paths that must not be lost."""

import gzip
import io
import os
from collections import Counter
from pathlib import Path

import pytest
from conllu_samples import PLAIN

from spacy_mindroot.cli.files import outputs
from spacy_mindroot.cli.rewriting import (
    opened_conllu,
    progress_bar,
    rewritten,
    shown_name,
    violations_table,
)
from spacy_mindroot.conllu import read_pieces
from spacy_mindroot.conllu.columns import HEAD


def test_sentences_are_written_as_the_caller_leaves_them():
    text = "\ufeff" + PLAIN + "\n" + PLAIN
    out = io.BytesIO()
    with progress_bar([Path("-")]) as progress:
        for k, sentence in enumerate(rewritten(read_pieces(io.BytesIO(text.encode()), "f"), out, progress)):
            if k:
                sentence.replace(1, HEAD, "2")
    assert out.getvalue().decode() == "\ufeff" + PLAIN + "\n" + PLAIN.replace("\t0\t", "\t2\t")


def test_nothing_is_written_without_an_output():
    pieces = read_pieces(io.BytesIO(PLAIN.encode()), "f")
    with progress_bar([Path("-")]) as progress:
        assert [len(sentence) for sentence in rewritten(pieces, None, progress)] == [2]


@pytest.mark.parametrize(
    ("source", "target", "compressed"),
    [
        ("in.conllu", "out.conllu", False),
        ("in.conllu", "out.conllu.gz", True),
        ("in.conllu.gz", "out.conllu", False),
        ("in.conllu.gz", "sub/in.conllu.gz", True),
        ("plain.gz", "sub/plain.gz", False),  # whatever the name, as the input
        ("zipped.conllu", "sub/zipped.conllu", True),
    ],
)
def test_what_is_compressed(source, target, compressed, tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("in.conllu", "plain.gz"):
        (tmp_path / name).write_text(PLAIN)
    for name in ("in.conllu.gz", "zipped.conllu"):
        (tmp_path / name).write_bytes(gzip.compress(PLAIN.encode()))
    with outputs() as opened, opened_conllu(opened, tmp_path / target, tmp_path / source) as file:
        file.write(PLAIN.encode())
    data = (tmp_path / target).read_bytes()
    assert (gzip.decompress(data) if compressed else data).decode() == PLAIN


def test_violations_before_and_after():
    lines = violations_table(Counter({"few": 1, "many": 2000}), Counter({"few": 1, "new": 3})).splitlines()
    cells = [line.split() for line in lines if line.strip()]
    assert cells == [
        ["Violations", "of", "rules", "before", "after"],
        ["-------------------", "------", "-----"],
        ["many", "2,000", "0"],
        ["few", "1", "1"],
        ["new", "0", "3"],
        ["all", "2,001", "4"],
    ]


def test_names_in_messages():
    assert shown_name(Path("-")) == "<stdin>" and shown_name(Path("a/b")) == "a/b"
    assert shown_name(Path(os.fsdecode(b"\xff.conllu"))) == "\ufffd.conllu"

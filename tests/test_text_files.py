"""Text files: compressed or not, damaged, and in other encodings."""

import gzip
import io
import os

import pytest
from conllu_samples import PLAIN

from spacy_mindroot.errors import ConlluError
from spacy_mindroot.text_files import gzipped, text_lines


class Trickle(io.RawIOBase):
    """A pipe that gives a byte at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize("data", [PLAIN.encode(), gzip.compress(PLAIN.encode(), mtime=0)])
def test_streams_that_cannot_be_rewound(data):
    assert b"".join(text_lines(Trickle(data), "pipe")).decode() == PLAIN


@pytest.mark.parametrize("damage", ["cut", "cut in the header", "changed", "garbage at the end"])
def test_damaged_gzip(damage):
    data = bytearray(gzip.compress(os.urandom(3000).hex().encode()))
    if damage == "changed":
        data[len(data) // 2] ^= 255
    elif damage == "garbage at the end":
        data += b"garbage"
    else:
        del data[4 if damage.endswith("header") else -10 :]
    with pytest.raises(ConlluError, match="f.gz: the gzip data is damaged or incomplete"):
        list(text_lines(io.BytesIO(bytes(data)), "f.gz"))


def test_a_nul_in_a_cell_is_no_sign_of_utf_16():
    text = PLAIN.replace("Go", "\0")
    assert b"".join(text_lines(io.BytesIO(text.encode()), "f")).decode() == text


def test_what_is_compressed_depends_on_the_text_alone(tmp_path):
    outputs = []
    for name in ("a", "b"):
        with open(tmp_path / name, "wb") as file, gzipped(file) as text:
            text.write(PLAIN.encode())
        outputs.append((tmp_path / name).read_bytes())
    assert outputs[0] == outputs[1] and gzip.decompress(outputs[0]).decode() == PLAIN


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["# text = Ушёл\n", "# 他走了\n", "# x\n", "1\tword\t_"])
def test_utf_16_and_utf_32_are_named(encoding, text):
    with pytest.raises(ConlluError, match=f"UTF-{encoding[4:6]}"):
        list(text_lines(io.BytesIO(text.encode(encoding)), "a"))

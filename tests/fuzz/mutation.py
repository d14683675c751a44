"""Seeded mutations of the files that the commands read: bytes, CoNLL-U cells, and the arrays of score files."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
import zlib
from collections.abc import Callable, Sequence
from tokenize import TokenError

import numpy as np

CELLS = (
    *(b"", b"_", b"0", b"1", b"2", b"-1", b"00", b"1-2", b"2-1", b"1.1", b"0.1", b"99999999999999999999", b"1e3"),
    *(b"root", b"ROOT", b"root:x", b"dep", b"obj||root", b"punct", b"PUNCT", b"X", b"Case=Acc|", b"fem", b"=", b"|"),
    *(b"Case=Acc|Case=Gen", b"B=2|A=1", b"SpaceAfter=No", b"SpacesAfter=\\n", b"0:root", b"1:nsubj|2:obj", b"*"),
    *("a\u00a0b".encode(), "\u202eabc".encode(), "\u2028".encode(), b"\xff\xfe", b"\x00", b"\r", b"a b", b"<b>&amp;"),
)
LINES = (
    *(b"\n", b"\r\n", b" \n", b"\t\n", b"# text = x\n", b"# sent_id = \n", b"#\n", b"\xef\xbb\xbf\n"),
    b"# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n",
    b"# global.columns = ID FORM UPOS HEAD DEPREL\n",
    b"1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n",
    b"1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n",
    b"1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n",
)
NAMES = ("lens", "arc", "words", "labels", "label_best", "heads", "deprels")
_DTYPES = ("f4", "f8", "f2", "i4", "i8", "u1", "u2", "u8", "?", "c16", "S3", "U2", "M8[s]", ">f4", ">i4", "f4,i4")
_VALUES = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 255.0, -1e32, 1e308, float("nan"), float("inf"), -float("inf"))

Mutation = Callable[[bytes, random.Random], bytes]


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return `data` with some bytes flipped, dropped, doubled or added."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(changed) + 1)
        size = rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(4)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + size]
        elif kind == 2:
            changed[at:at] = changed[at : at + size]
        else:
            changed[at:at] = rng.randbytes(size)
    return bytes(changed)


def mutated_conllu(data: bytes, rng: random.Random) -> bytes:
    """Return `data` with some cells, columns, lines or line ends changed."""
    lines = data.splitlines(keepends=True) or [b""]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(lines))
        rows = [number for number, line in enumerate(lines) if b"\t" in line]
        kind = rng.randrange(9)
        if kind < 5 and rows:
            row = rng.choice(rows)
            cells = lines[row].split(b"\t")
            column = rng.randrange(len(cells))
            if kind < 2:  # mostly heads: what matters most
                column = min(6, len(cells) - 1)
                cells[column] = b"%d" % rng.randrange(-1, 12)
            elif kind == 4 and rng.random() < 0.3:
                cells[column : column + 1] = [] if rng.random() < 0.5 else [cells[column]] * 2
            else:
                end = cells[column][len(cells[column].rstrip(b"\r\n")) :]
                cells[column] = rng.choice(CELLS) + end
            lines[row] = b"\t".join(cells)
        elif kind == 5:
            lines[at : at + 1] = []
            lines = lines or [b""]
        elif kind == 6:
            lines.insert(at, rng.choice(LINES))
        elif kind == 7:
            lines.insert(at, lines[rng.randrange(len(lines))])
        else:
            lines[at] = mutated_bytes(lines[at], rng)
    changed = b"".join(lines)
    end = rng.randrange(40)
    if end == 0:
        return changed.replace(b"\n", b"\r\n")
    if end == 1:
        return changed.replace(b"\n", b"\r")
    if end == 2:
        return changed[: rng.randrange(len(changed) + 1)]
    if end == 3:
        return gzip.compress(changed, mtime=0)
    if end == 4:
        return changed.decode("utf8", "replace").encode(
            rng.choice(("utf-16", "utf-16-le", "utf-32", "latin-1")), "replace"
        )
    if end == 5:
        return b"\xef\xbb\xbf" + changed
    return changed


def mutated_scores(data: bytes, rng: random.Random) -> bytes:
    """Return a score file like `data` with an array, a header or some bytes changed."""
    kind = rng.randrange(5)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, EOFError, ValueError, zlib.error):
        return mutated_bytes(data, rng)
    if kind == 0 or not members:
        return mutated_bytes(data, rng)
    name = rng.choice(list(members))
    if kind == 1:
        members[name] = mutated_bytes(members[name], rng)
    elif kind == 2:
        members[f"{rng.choice(NAMES)}.npy"] = _npy(_random_array(rng))
    elif kind == 3:
        members[name] = _claiming(members[name], rng)
    elif rng.random() < 0.5:
        del members[name]
    else:
        members[name] = _few_values_changed(members[name], rng)
    return _zipped(members, rng)


def _random_array(rng: random.Random) -> np.ndarray:
    shape = tuple(rng.choice((0, 1, 2, 3, 12, 40)) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3))))
    size = int(np.prod(shape))
    with np.errstate(all="ignore"):
        values = np.array([rng.choice(_VALUES) for _ in range(size)], dtype=object).reshape(shape)
        try:
            return values.astype(np.dtype(rng.choice(_DTYPES)))
        except (TypeError, ValueError, OverflowError):
            return np.zeros(shape, dtype=rng.choice(("f4", "i4", "u1", "S3")))


def _few_values_changed(member: bytes, rng: random.Random) -> bytes:
    """Return the .npy file with some numbers changed, its type and shape kept."""
    try:
        array = np.load(io.BytesIO(member), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError, OverflowError, SyntaxError, TokenError):
        return mutated_bytes(member, rng)
    if not array.size or array.dtype.kind not in "fiu":
        return mutated_bytes(member, rng)
    array = array.copy()
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(array.size)
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                array.flat[at] = rng.choice(_VALUES)
        else:
            information = np.iinfo(array.dtype)
            array.flat[at] = rng.choice((0, 1, 2, 7, information.min, information.max))
    return _npy(array)


def _claiming(member: bytes, rng: random.Random) -> bytes:
    """Return the .npy file with a header that claims another size, and perhaps zeros enough to fill it."""
    size = rng.choice((0, 1, 1 << 16, 1 << 20, 1 << 26, 1 << 40, 1 << 62, 1 << 70))
    header = b"{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (rng.choice((b"<f4", b"<i8", b"|u1")), size)
    body = rng.choice((member[-64:], b"", bytes(min(size, 1 << 22))))
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _zipped(members: dict[str, bytes], rng: random.Random) -> bytes:
    file = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, compress_type=method)
    return file.getvalue()


def mutated(seeds: Sequence[bytes], mutations: Sequence[Mutation], rng: random.Random) -> bytes:
    """Return one of the seeds, perhaps with another appended, after up to three mutations."""
    data = rng.choice(seeds)
    if rng.random() < 0.1:
        data += rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(mutations)(data, rng)
    return data

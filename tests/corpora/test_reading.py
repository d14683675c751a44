"""Reading the documents of shards: each exactly once, wherever a file is cut."""

import datetime
import decimal
import gzip
import io
import json
import sys
import tracemalloc
from itertools import pairwise

import pytest
import spacy
from conllu_samples import FULL
from spacy.tokens import DocBin

from spacy_mindroot import text_files
from spacy_mindroot.conllu import sentence as sentence_module
from spacy_mindroot.corpora import reading
from spacy_mindroot.corpora.reading import Columns, Document, Rejected, estimate_bytes_per_word, read_shard
from spacy_mindroot.corpora.shards import Shard
from spacy_mindroot.corpora.sources import UnreadableInputError, format_of

zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
VOCAB = spacy.blank("en").vocab


def read(path, start=0, stop=None, columns=None):
    file = format_of(str(path))
    size = path.stat().st_size
    shard = Shard("0.0", file.path, file.format, file.compressed, start, size if stop is None else stop, size)
    return list(read_shard(shard, columns or Columns(), VOCAB))


def as_bytes(items):
    return b"".join(item if isinstance(item, bytes) else item.sentence.to_bytes() for item in items)


TEXT = "\ufeffFirst line\nsecond\r\n\n \nthird ä\n\n\nlast without an end".encode()


@pytest.mark.parametrize("paragraphs", [False, True], ids=["lines", "paragraphs"])
def test_text_wherever_it_is_cut(tmp_path, paragraphs):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    columns = Columns(paragraphs=paragraphs)
    whole = read(path, columns=columns)
    wanted = ["First line second", "third ä", "last without an end"]
    if paragraphs:  # a line of one space does not end a paragraph
        wanted[1] = "  third ä"
        assert [item.text for item in whole] == ["First line second", "  third ä", "last without an end"]
    else:
        assert [item.text for item in whole] == ["First line", "second", "third ä", "last without an end"]
    assert [item.id for item in whole][0] == "a.txt:0"
    for first in range(len(TEXT) + 1):
        for second in range(first, len(TEXT) + 1):
            bounds = [0, first, second, len(TEXT)]
            parts = [item for a, b in pairwise(bounds) for item in read(path, a, b, columns)]
            assert parts == whole, bounds


def test_ids_say_where_a_document_is(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    for item in read(path):
        at = int(item.id.partition(":")[2])
        assert TEXT[at:].removeprefix(b"\xef\xbb\xbf").startswith(item.text.encode())


CONLLU = (
    f"\ufeff# a comment alone\n\n{FULL}\n\n\r\n# sent_id = x\r\n1\tA\t_\t_\t_\t_\t0\troot\t_\t_\r\n\r\n".encode()
    + b"1\tB\t_\t_\t_\t_\t_\t_\t_\t_\n\n\n1\tC\t_\t_\t_\t_\t9\tx\t_\t_\n"
)


def test_conllu_wherever_it_is_cut(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(CONLLU)
    whole = read(path)
    assert as_bytes(whole) == CONLLU
    sentences = [item for item in whole if isinstance(item, Document)]
    assert [item.sentence.words for item in sentences][1:] == [["A"], ["B"], ["C"]]
    assert [item.id for item in sentences][1:] == ["x", f"a.conllu:{CONLLU.index(b'1	B')}", sentences[-1].id]
    assert sentences[1].meta == {"comments": ["sent_id = x"]}
    step = max(1, len(CONLLU) // 120)
    for first in range(0, len(CONLLU) + 1, step):
        for second in range(first, len(CONLLU) + 1, 7):
            parts = [item for a, b in pairwise([0, first, second, len(CONLLU)]) for item in read(path, a, b)]
            assert as_bytes(parts) == CONLLU, (first, second)
            assert [p.id for p in parts if isinstance(p, Document)] == [s.id for s in sentences]


def test_faulty_sentences_are_rejected_and_the_rest_is_read(tmp_path):
    path = tmp_path / "a.conllu"
    good = b"1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_bytes(good + b"1\tA\n\n" + good + good.replace(b"A", b"\xff") + good)
    items = read(path)
    assert [type(item) for item in items] == [Document, Rejected, Document, Rejected, Document]
    assert "line 3 has 2 columns" in items[1].reason and items[1].id == f"a.conllu:{len(good)}"
    assert "is not UTF-8" in items[3].reason
    path.write_bytes("text".encode("utf-16"))
    with pytest.raises(UnreadableInputError, match="UTF-16"):
        read(path)


def test_long_conllu_keeps_its_places(tmp_path):
    path = tmp_path / "a.conllu"
    good = b"1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_bytes(good * 3000)
    assert [item.id for item in read(path)] == [f"a.conllu:{k * len(good)}" for k in range(3000)]


def test_json_lines(tmp_path):
    rows = [
        {"id": 7, "text": "One.", "url": "x", "n": [1.5, None]},
        {"text": "Two."},
        {"id": "c", "text": None},
        {"id": "d", "text": 3},
        {"id": "e", "body": "x"},
        [1],
        {"id": "f", "text": "\ud800"},
        {"id": "g g", "text": ""},
    ]
    lines = [json.dumps(row).encode() for row in rows] + [b"{", b"", b'{"text": "\xff"}', b"[" * 100_000]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(lines))
    items = read(path)
    assert items[0] == Document("7", "One.", meta={"url": "x", "n": [1.5, None]})
    assert items[1].id == f"a.jsonl:{len(lines[0]) + 1}"
    assert items[7] == Document("g g", "")
    rejected = {item.id: item.reason for item in items if isinstance(item, Rejected)}
    assert list(rejected)[:3] == ["c", "d", "e"] and len(rejected) == 8
    reasons = list(rejected.values())
    for reason, part in zip(
        reasons,
        [
            "has no 'text'",
            "a number or a list",
            "has 'id', 'body'",
            "not a JSON object",
            "UTF-8",
            "not JSON",
            "not UTF-8",
        ],
        strict=False,
    ):
        assert part in reason
    for bounds in ([0, 60, 100, 100_400], [0, 1, 2, 130]):
        parts = [item for a, b in pairwise([*bounds, path.stat().st_size]) for item in read(path, a, b)]
        assert parts == items


def test_columns_have_names(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "A", "key": "k", "text": "T"}\n{"body": "B"}\n')
    first, second = read(path, columns=Columns("body", "key"))
    assert first == Document("k", "A", meta={"text": "T"})
    assert "has no 'key' (--id-column)" in second.reason


def test_where(tmp_path):
    rows = [
        {"text": "a", "lang": "en", "year": 2020, "tags": ["x", "y"], "ok": True},
        {"text": "b", "lang": "nl", "year": 2020, "tags": [], "ok": None},
        {"text": "c", "year": 2020, "tags": "x", "ok": False},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    def found(*where):
        return [
            item.text if isinstance(item, Document) else item.reason
            for item in read(path, columns=Columns(where=where))
        ]

    assert found(("year", "2020")) == ["a", "b", "c"] and found(("year", "2021")) == []
    assert found(("lang", "en")) == ["a", "has no 'lang' (--where); has 'text', 'year', 'tags', 'ok'"]
    assert found(("tags", "x")) == ["a", "c"] and found(("tags", "x"), ("ok", "true")) == ["a"]
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    written = {
        "day": (datetime.date(2020, 1, 2), "2020-01-02"),
        "time": (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        "price": (decimal.Decimal("1.50"), "1.50"),
        "share": (0.5, "0.5"),
        "of": ({"day": None}, '{"day": null}'),
    }
    table = pa.Table.from_pylist([{"text": "a", **{name: value for name, (value, _) in written.items()}}])
    parquet.write_table(table, tmp_path / "b.parquet")
    for name, (_, value) in written.items():
        (item,) = read(tmp_path / "b.parquet", 0, 1, Columns(where=((name, value),)))
        assert item.text == "a"
    parquet.write_table(pa.Table.from_pylist(rows[:2]), tmp_path / "a.parquet")
    assert [item.text for item in read(tmp_path / "a.parquet", 0, 1, Columns(where=(("lang", "nl"),)))] == ["b"]


def warc_record(kind, content_type, content, number=0, more=""):
    header = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://example.org/{number}\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>\r\n{more}"
        f"Content-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return header.encode() + content + b"\r\n\r\n"


def http(content_type, content, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n\r\n".encode() + content


@pytest.fixture
def warc():
    page = "<html><head><title>T</title></head><body><p>Caf\xe9 is <b>here</b>.</p><script>x</script></body></html>"
    language = "WARC-Identified-Content-Language: deu\r\n"
    return [
        warc_record("warcinfo", "application/warc-fields", b"software: x"),
        warc_record("conversion", "text/plain", "Ein Tag \xe4.".encode(), 1, language),
        warc_record("request", "application/http", b"GET / HTTP/1.1\r\n\r\n", 2),
        warc_record("response", "application/http", http("text/html; charset=ISO-8859-1", page.encode("latin1")), 3),
        warc_record("response", "application/http", http("image/png", b"\x89PNG"), 4),
        warc_record("response", "application/http", http("text/plain", "Na\xefve text.".encode("latin1")), 5),
    ]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_warc(tmp_path, warc, ending):
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}[ending]
    path = tmp_path / f"a.warc.wet{ending}"
    path.write_bytes(b"".join(map(compress, warc)))
    found = read(path)
    assert [item.text for item in found] == ["Ein Tag \xe4.", "Caf\xe9 is here.", "Na\xefve text."]
    assert [item.id[-2:] for item in found] == ["01", "03", "05"]
    wanted = {"url": "https://example.org/1", "date": "2026-01-01T00:00:00Z", "language": "deu"}
    assert found[0].meta == wanted and found[1].meta["language"] is None
    assert [item.text for item in read(path, columns=Columns(where=(("language", "deu"),)))] == ["Ein Tag \xe4."]
    assert [item.text for item in read(path, columns=Columns("body", "key"))] == [item.text for item in found]


def test_what_is_no_text_of_a_web_page(tmp_path):
    page = b"<html><body><p>A page of text.</p></body></html>"
    kinds = ("text/css", "text/javascript", "text/csv", "TEXT/HTML; Charset=utf-8", "application/xhtml+xml")
    records = [http(kind, page) for kind in kinds]
    records += [http("text/html", page, status) for status in ("404 Not Found", "503 Busy", "301 Moved", "200 OK")]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(warc_record("response", "application/http", own, k) for k, own in enumerate(records)))
    assert [item.id[-1] for item in read(path)] == ["3", "4", "8"]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_warc_file_that_is_incomplete_or_something_else(tmp_path, warc, ending):
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}[ending]
    path = tmp_path / f"a.warc{ending}"
    data = compress(b"".join(warc))
    for damaged in (data[: len(data) // 2], data[:-12], compress(b"something else\n" * 50)):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableInputError, match=r"a\.warc"):
            read(path)
    path.write_bytes(compress(b"\n") if ending else b"")
    assert read(path) == []


def test_compressed_files(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "a.txt").write_bytes(TEXT)
    assert [item.text for item in read(tmp_path / "a.txt.gz")] == [item.text for item in read(tmp_path / "a.txt")]
    for ending, compress in (("gz", gzip.compress), ("zst", zstd.compress)):
        (tmp_path / f"a.conllu.{ending}").write_bytes(compress(CONLLU))
        assert as_bytes(read(tmp_path / f"a.conllu.{ending}")) == CONLLU


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    day = datetime.date(2026, 11, 28)
    table = pa.table({"id": [1, 2, 3, 4], "text": ["A", None, "C", "D"], "day": [day] * 4})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, row_group_size=1)
    items = read(path, 0, 4)
    assert items[0] == Document("1", "A", meta={"day": "2026-11-28"})
    assert isinstance(items[1], Rejected)
    assert read(path, 0, 2) + read(path, 2, 4) == items
    assert [item.id for item in read(path, 2, 4, Columns("text", "id"))] == ["3", "4"]
    parquet.write_table(table.drop(["id"]), path, row_group_size=1)
    assert [item.id for item in read(path, 2, 4)] == ["a.parquet:2", "a.parquet:3"]
    path.write_bytes(b"PAR1")
    with pytest.raises(UnreadableInputError, match="can't be read as Parquet"):
        read(path, 0, 1)


def test_docs(tmp_path):
    nlp = spacy.blank("en")
    docs = [nlp("A text."), nlp("Another.")]
    docs[0].user_data["id"] = "own"
    path = tmp_path / "a.spacy"
    DocBin(store_user_data=True, docs=docs).to_disk(path)
    assert [(item.id, item.doc.text) for item in read(path)] == [("own", "A text."), ("a.spacy:1", "Another.")]
    path.write_bytes(b"nothing")
    with pytest.raises(UnreadableInputError, match="can't be read as a .spacy file"):
        read(path)


@pytest.mark.parametrize(
    "first, kind, least, most",
    [
        (b"The cat sat on the mat.\n" * 50, "text", 3, 4),
        ("我们今天去学校学习".encode() * 50 + b"\n", "text", 10, 13),
        (json.dumps({"text": "The cat sat.", "url": "x" * 100}).encode() + b"\n", "jsonl", 30, 40),
        (b"1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 9, "conllu", 20, 30),
        (b"", "text", 6, 6),
        (b"[\n", "jsonl", 6, 6),
    ],
)
def test_bytes_per_word(first, kind, least, most):
    assert least <= estimate_bytes_per_word(first, kind, Columns()) <= most


TEXTS = ["Anna left.\nTom ran.\nBoth slept.\n", "Анна ушла домой.\nТом бежал.\n", "他走了。\n她睡了。\n" * 30, "x\n"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.conllu", "a.txt.gz", "a.jsonl.gz"])
def test_text_in_utf_16_and_utf_32_is_named(name, encoding, text, tmp_path):
    path = tmp_path / name
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    for start in (0, len(data) // 2):
        with pytest.raises(UnreadableInputError, match=f"{name}: this file is .*UTF-(16|32).*iconv"):
            read(path, start)


@pytest.mark.parametrize("text", [*TEXTS, "a NUL\0 in texts" * 5, "abc\0d", ""])
def test_text_in_utf_8_is_not_taken_for_something_else(text, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf8")
    assert "".join(item.text for item in read(path)) == text.replace("\n", "")


@pytest.fixture
def small_limit(monkeypatch):
    for module in (text_files, sentence_module, reading):
        monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    return 1 << 16


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.txt.gz"])
@pytest.mark.parametrize("paragraphs", [False, True])
def test_lines_without_end_are_rejected_and_take_no_memory(name, paragraphs, small_limit, tmp_path):
    def line(size):
        return json.dumps({"text": "x" * (size - 12)}) if "jsonl" in name else "x" * size

    between = "\n\n" if paragraphs else "\n"
    good, longest = line(20), line(small_limit - 1)
    data = between.join([good, line(300 * small_limit), longest, line(small_limit + 1), good]).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    read(tmp_path / name, 0, 0)
    tracemalloc.start()
    items = read(tmp_path / name, columns=Columns(paragraphs=paragraphs))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [type(item) for item in items] == [Document, Rejected, Document, Rejected, Document]
    assert "bytes, the limit" in items[1].reason and items[1].id == f"{name}:{len(good) + len(between)}"
    assert peak < 12 * small_limit


def test_a_paragraph_of_many_lines_is_limited_too(small_limit, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"first\n\n" + b"some words\n" * small_limit + b"\nlast\n")
    first, long, last = read(tmp_path / "a.txt", columns=Columns(paragraphs=True))
    assert (first.text, long.id, last.text) == ("first", "a.txt:7", "last") and isinstance(long, Rejected)


def test_conllu_without_line_ends_is_refused(small_limit, tmp_path):
    path = tmp_path / "a.conllu"
    good = b"1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_bytes(good + b"# " + b"x" * 300 * small_limit)
    with pytest.raises(UnreadableInputError, match=f"a.conllu: the line that begins at byte {len(good)} has more than"):
        read(path)
    path.write_bytes(good + b"# comment\n" * small_limit)
    with pytest.raises(UnreadableInputError, match="the sentence that begins in line 3 has more than 65,536 bytes"):
        read(path)


class Counting(io.BytesIO):
    """A file that counts the bytes that are read."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data

    def readline(self, size=-1):
        data = super().readline(size)
        self.count += len(data)
        return data


@pytest.mark.parametrize("reader", [reading._lines, reading._raw_units, reading._paragraphs])
@pytest.mark.parametrize("text", [b"x" * 1_000_000, b"x\n" * 500_000, b"\n" * 3 + b"y" * 1_000_000 + b"\n\nz"])
def test_what_spans_many_shards_is_read_once_or_twice(reader, text):
    step = 12_000
    file = Counting(text)
    found = [item for at in range(0, len(text), step) for item in reader(file, at, min(len(text), at + step))]
    assert found == list(reader(io.BytesIO(text), 0, len(text)))
    assert file.count < 2 * len(text) + 200 * len(text) // step

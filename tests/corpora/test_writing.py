"""Every output format has the same content, and others' readers read it back."""

import gzip
import io
import json
import re
import shutil
import subprocess
import sys

import pytest
import spacy
from conllu_samples import FULL
from spacy.tokens import DocBin

from spacy_mindroot.conllu import doc_to_conllu, read_pieces
from spacy_mindroot.conllu.docs import sentence_without_tree
from spacy_mindroot.conllu.rows import Cells
from spacy_mindroot.corpora.pipelines import loaded
from spacy_mindroot.corpora.reading import Document
from spacy_mindroot.corpora.writing import WRITERS
from spacy_mindroot.inference import Calibration

DOCUMENTS = [
    Document("d/1 x", "The cat sees the dog. It runs away  quickly.", meta={"url": "http://x", "ä": [1, None]}),
    Document("d2", "Go!"),
    Document("d3", ""),
]


def write(kind, documents, model, **settings):
    file = io.BytesIO()
    with loaded(str(model), **settings) as pipeline:
        nlp = pipeline.nlp
        writer = WRITERS[kind](file)
        for document in documents:
            if document.sentence is None:
                doc = nlp(document.text)
            else:
                doc = nlp(sentence_without_tree(nlp.vocab, document.sentence))
            writer.add(document, doc, Cells(nlp.vocab.strings))
        writer.close()
    return file.getvalue(), writer


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """Each format, with everything that can be written of a document."""
    settings = {"confidence": True, "coverage": 0.9, "coverage_of": "sentence"}
    nlp = spacy.load(model, config={"components": {"mind_root": settings}})
    nlp.get_pipe("mind_root").calibration = Calibration(tree_set_thresholds={"90": 0.9})
    folder = tmp_path_factory.mktemp("calibrated")
    nlp.to_disk(folder)
    return {kind: write(kind, DOCUMENTS, folder, confidence=True, kbest=2)[0] for kind in WRITERS}


def test_conllu_for_its_python_package(written):
    conllu = pytest.importorskip("conllu")
    sentences = conllu.parse(written["conllu"].decode())
    assert [s.metadata["sent_id"] for s in sentences] == ["d_1_x-1", "d_1_x-2", "d2-1"]
    assert sentences[0].metadata["newdoc id"] == "d/1 x" and "newdoc id" not in sentences[1].metadata
    assert json.loads(sentences[0].metadata["meta"]) == DOCUMENTS[0].meta
    assert sentences[1].metadata["text"] == "It runs away quickly."
    for sentence in sentences:
        assert [t["head"] for t in sentence].count(0) == 1
        first = sentence.metadata["tree_1"].split()
        assert first[1] == "heads=" + ",".join(str(t["head"]) for t in sentence)
        assert {"tree_2", "tree_logprob", "tree_margin"} <= set(sentence.metadata)
        assert int(sentence.metadata["trees_in_set"]) >= 1
        for token in sentence:
            assert 0 <= float(token["misc"]["HeadProb"]) <= 1
            assert list(token["misc"]) == sorted(token["misc"])
    assert sentences[1][2]["misc"]["SpacesAfter"] == "\\s\\s"


def test_conllu_for_udvalidate(written, tmp_path):
    """It finds nothing wrong but what this pipeline does not predict: parts of speech."""
    pytest.importorskip("udtools")
    path = tmp_path / "a.conllu"
    path.write_bytes(written["conllu"])
    code = "import sys; from udtools.cli import main; sys.exit(main())"
    command = [sys.executable, "-W", "ignore", "-c", code, "--lang", "en", "--level", "2", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = set(re.findall(r"\[L[0-9] (\w+ [\w-]+)\]", done.stdout + done.stderr))
    assert found == {"MORPHO unknown-upos"}, done.stderr


def test_gzip_has_the_same_text(written):
    assert gzip.decompress(written["conllu.gz"]) == written["conllu"]


def heads_of_conllu(text):
    return [piece.heads for piece in read_pieces(io.BytesIO(text), "x") if not isinstance(piece, bytes)]


def test_json_lines(written):
    rows = [json.loads(line) for line in written["jsonl"].splitlines()]
    assert [(row["id"], row["meta"], row["text"]) for row in rows] == [(d.id, d.meta, d.text) for d in DOCUMENTS]
    sentences = [sentence for row in rows for sentence in row["sentences"]]
    assert [s["heads"] for s in sentences] == heads_of_conllu(written["conllu"])
    assert sentences[2]["words"] == ["Go", "!"] and sentences[2]["space_after"] == [False, True]
    assert sentences[2]["trees"][0]["heads"] == sentences[2]["heads"]
    for sentence in sentences:
        n = len(sentence["words"])
        lists = {name for name, value in sentence.items() if isinstance(value, list)} - {"trees"}
        assert lists == {
            "words",
            "lemmas",
            "upos",
            "xpos",
            "feats",
            "deprels",
            "heads",
            "space_after",
            "multiword_tokens",
            "head_prob",
            "head_entropy",
        }
        assert all(len(sentence[name]) == n for name in lists - {"multiword_tokens"})


def test_json_lines_for_arrow(written):
    reader = pytest.importorskip("pyarrow.json")
    rows = reader.read_json(io.BytesIO(written["jsonl"])).to_pylist()
    assert [row["id"] for row in rows] == [document.id for document in DOCUMENTS]
    heads = [sentence["heads"] for row in rows for sentence in row["sentences"]]
    assert heads == heads_of_conllu(written["conllu"])


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq")
def test_json_lines_for_jq(written):
    program = "[.sentences[].heads | map(select(. == 0)) | length] | all(. == 1)"
    done = subprocess.run(["jq", program], input=written["jsonl"], capture_output=True, check=True)
    assert done.stdout.split() == [b"true"] * 3


def test_parquet(written):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(io.BytesIO(written["parquet"])).to_pylist()
    sentences = [
        {"doc_id": row["id"], "doc_meta": row["meta"], "number": number, **sentence}
        for row in map(json.loads, written["jsonl"].splitlines())
        for number, sentence in enumerate(row["sentences"], 1)
    ]
    for row in rows:
        row["doc_meta"] = json.loads(row["doc_meta"])
    assert rows == sentences


def test_a_word_per_row_with_its_head(written):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(io.BytesIO(written["tokens"])).to_pylist()
    expected = []
    for document in map(json.loads, written["jsonl"].splitlines()):
        for number, sentence in enumerate(document["sentences"], 1):
            for k, (word, head) in enumerate(zip(sentence["words"], sentence["heads"], strict=True)):
                expected.append((document["id"], number, k + 1, word, sentence["deprels"][k], head))
                row = rows[len(expected) - 1]
                assert row["head_word"] == (sentence["words"][head - 1] if head else None)
                assert row["head_deprel"] == (sentence["deprels"][head - 1] if head else None)
                assert row["head_prob"] == sentence["head_prob"][k]
    names = ("doc_id", "number", "token", "word", "deprel", "head")
    assert [tuple(row[name] for name in names) for row in rows] == expected
    assert {row["upos"] for row in rows} == {None}  # this pipeline does not predict it
    assert list(rows[0])[-5:] == ["head_word", "head_lemma", "head_upos", "head_deprel", "head_prob"]


def test_parquet_in_parts(model, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("spacy_mindroot.corpora.writing._ROWS", 2)
    data, writer = write("parquet", DOCUMENTS * 2, model)
    file = parquet.ParquetFile(io.BytesIO(data))
    assert file.metadata.num_row_groups == 3 and file.metadata.num_rows == writer.sentences == 6
    assert file.read().column("head_prob").null_count == 6


def test_docs_for_spacy(written):
    docs = list(DocBin(store_user_data=True).from_bytes(written["spacy"]).get_docs(spacy.blank("en").vocab))
    assert [doc.user_data["id"] for doc in docs] == ["d/1 x", "d2", "d3"]
    assert docs[0].user_data["meta"] == {"url": "http://x", "ä": (1, None)}
    assert docs[0].text == DOCUMENTS[0].text
    assert [sum(t.head == t for t in sent) for doc in docs for sent in doc.sents] == [1, 1, 1]
    assert len(list(docs[0].sents)[0]._.trees) == 2


def test_counts_and_equal_bytes(model):
    for kind in WRITERS:
        (data, writer), (again, _) = write(kind, DOCUMENTS, model), write(kind, DOCUMENTS, model)
        assert data == again
        assert writer.sentences == 3 and writer.words == 13  # white space is not counted


def test_conllu_keeps_every_other_byte(words_model):
    """Multiword tokens, empty nodes, comments, MISC, line ends; malformed gold heads do not matter."""
    plus = "# global.columns = ID FORM HEAD DEPREL EXTRA MISC\n1\tA\t5\tx\tkept\t_\n\n"
    text = FULL.replace("5\tmar\tmar\tNOUN\tN\t_\t1\tobl", "5\tmar\tmar\tNOUN\tN\t_\t0\tobl") + FULL.replace(
        "\n", "\r\n"
    )
    for source in (text, plus):
        pieces = list(read_pieces(io.BytesIO(source.encode()), "x"))
        before = [[row[:6] + row[8:] for row in piece.rows] for piece in pieces]
        documents = [Document("x", sentence=piece) for piece in pieces]
        (data, writer) = write("conllu", documents, words_model)
        again = list(read_pieces(io.BytesIO(data), "x"))
        assert [[row[:6] + row[8:] for row in piece.rows] for piece in again] == before
        assert all(piece.heads.count(0) == 1 for piece in again)
        assert writer.words == sum(map(len, pieces))

        def others(text):
            return [line for line in text.split(b"\n") if not line.split(b"\t")[0].isdigit()]

        assert others(data) == others(source.encode())
    assert b"\tkept\t_" in data


def test_conllu_with_probabilities(words_model):
    for ending in ("\n", "\r\n"):
        (piece,) = read_pieces(io.BytesIO(FULL.replace("\n", ending).encode()), "x")
        data, _ = write("conllu", [Document("x", sentence=piece)], words_model, confidence=True, kbest=2)
        (again,) = read_pieces(io.BytesIO(data), "x")
        assert [comment.split(" ")[1] for comment in again.comments] == [
            "newdoc",
            "sent_id",
            "text",
            "tree_1",
            "tree_2",
            "tree_logprob",
            "tree_margin",
        ]
        assert again.column(9)[4].startswith("HeadEntropy=") and again.column(9)[4].endswith("|SpaceAfter=No")
        assert data.count(b"\r\n") == (data.count(b"\n") if ending == "\r\n" else 0)


def test_docs_with_conllu_of_their_own_get_probabilities(words_model):
    """The same bytes as from the CoNLL-U itself; a Doc may have several sentences."""
    both = {"confidence": True, "kbest": 2}
    text = (FULL + FULL).encode()
    wanted, data = (
        write(
            kind, [Document("x", sentence=piece) for piece in read_pieces(io.BytesIO(text), "x")], words_model, **both
        )[0]
        for kind in ("conllu", "spacy")
    )
    docs = list(DocBin(store_user_data=True).from_bytes(data).get_docs(spacy.blank("en").vocab))
    assert docs[0]._.conllu and docs[0].user_data.keys() == docs[1].user_data.keys()
    file = io.BytesIO()
    writer = WRITERS["conllu"](file)
    for doc in docs:
        writer.add(Document("x", doc=doc), doc, Cells(doc.vocab.strings))
    assert file.getvalue() == wanted and wanted.count(b"HeadProb=") == 12


def test_docs_with_conllu_of_their_own(words_model):
    """A .spacy file from CoNLL-U goes back to it."""
    (piece,) = read_pieces(io.BytesIO(FULL.encode()), "x")
    data, _ = write("spacy", [Document("x", sentence=piece)], words_model)
    (doc,) = DocBin(store_user_data=True).from_bytes(data).get_docs(spacy.blank("en").vocab)
    file = io.BytesIO()
    writer = WRITERS["conllu"](file)
    writer.add(Document("x", doc=doc), doc, Cells(doc.vocab.strings))
    (again,) = read_pieces(io.BytesIO(file.getvalue()), "x")
    (wanted,) = read_pieces(io.BytesIO(FULL.encode()), "x")
    assert again.words == wanted.words and len(again.multiword_tokens()) == 2 and writer.words == 6


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_files_of_shards_can_be_put_together(end, words_model):
    """A file may lack its empty line, begin with a byte order mark, or end with comments."""
    text = ("\ufeff" + FULL.rstrip() + end).encode()
    comments = b"# nothing follows" + end.encode()
    data = b"".join(
        write_pieces("conllu", read_pieces(io.BytesIO(each), "x"), words_model) for each in (text, comments)
    )
    found = list(read_pieces(io.BytesIO(data * 2), "x"))
    assert [piece.words for piece in found if not isinstance(piece, bytes)] == [
        ["Vamos", "nos", "a", "el", "mar", "."] for _ in range(2)
    ]
    assert data.count(b"# nothing follows\n\n") == 1


def write_pieces(kind, pieces, model):
    file = io.BytesIO()
    with loaded(str(model)) as pipeline:
        writer = WRITERS[kind](file)
        for piece in pieces:
            if isinstance(piece, bytes):
                writer.add_bytes(piece)
            else:
                doc = pipeline.nlp(sentence_without_tree(pipeline.nlp.vocab, piece))
                writer.add(Document("x", sentence=piece), doc, Cells(doc.vocab.strings))
        writer.close()
    return file.getvalue()


def test_docs_of_conllu_plus_keep_the_names_of_their_columns(words_model):
    """In every Doc, so that each can be written by itself; those headers stay in a file of all of them."""
    header = "# global.columns = ID FORM HEAD DEPREL MISC\n"
    plus = f"{header}1\ta\t0\troot\t_\n2\tb\t1\tdep\t_\n\n1\tc\t0\troot\tSpaceAfter=No"
    data = write_pieces("spacy", read_pieces(io.BytesIO(plus.encode()), "x"), words_model)
    docs = list(DocBin(store_user_data=True).from_bytes(data).get_docs(spacy.blank("en").vocab))
    assert [doc_to_conllu(doc).startswith(header) for doc in docs] == [True, True]
    plain = spacy.blank("en").make_doc("A plain Doc")
    file = io.BytesIO()
    writer = WRITERS["conllu"](file)
    for doc in (*docs, plain, docs[0]):
        writer.add(Document("x", doc=doc), doc, Cells(doc.vocab.strings))
    found = [piece for piece in read_pieces(io.BytesIO(file.getvalue()), "x") if not isinstance(piece, bytes)]
    assert [piece.words for piece in found] == [["a", "b"], ["c"], ["A", "plain", "Doc"], ["a", "b"]]
    assert [len(piece.columns) for piece in found] == [5, 5, 10, 5]
    assert file.getvalue().count(b"global.columns") == 4  # that of each sentence, and one for the plain Doc


def test_what_an_earlier_run_has_added_is_replaced(words_model):
    both = {"confidence": True, "kbest": 2}
    (piece,) = read_pieces(io.BytesIO(FULL.encode()), "x")
    data, _ = write("conllu", [Document("x", sentence=piece)], words_model, **both)
    (again,) = read_pieces(io.BytesIO(data), "x")
    twice, _ = write("conllu", [Document("x", sentence=again)], words_model, **both)
    assert twice == data


def test_a_header_is_not_lost_with_the_first_sentence(words_model):
    """Where that is rejected. Nor is it written twice, or spelled in another way, where it is there already."""
    text = "#global.columns=ID FORM HEAD DEPREL\n# sent_id = a\n1\ta\t0\troot\n\n1\tb\t0\troot\n\n"
    assert write_pieces("conllu", read_pieces(io.BytesIO(text.encode()), "x"), words_model) == text.encode()
    first, *rest = read_pieces(io.BytesIO(text.encode()), "x")
    data = write_pieces("conllu", rest, words_model)
    assert data == b"# global.columns = ID FORM HEAD DEPREL\n1\tb\t0\troot\n\n"
    text = f"#global.columns=ID FORM HEAD DEPREL\n\n{text}"
    assert write_pieces("conllu", read_pieces(io.BytesIO(text.encode()), "x"), words_model) == text.encode()

"""Documents that are too long for the pipeline, in part or as a whole."""

import json
import math

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_mindroot.conllu import read_conllu, sentences_to_doc
from spacy_mindroot.corpora import documents, parse_corpus
from spacy_mindroot.corpora.documents import parse_documents, within_limit
from spacy_mindroot.corpora.pipelines import loaded
from spacy_mindroot.corpora.reading import Document
from spacy_mindroot.trees import is_tree

SHORT, LONG = "The dog bakes bread. ", "one two " * 200 + ". "  # max_length of the model is 200


def lines(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def corpus(tmp_path, *texts):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{k}", "text": text}) + "\n" for k, text in enumerate(texts)))
    return path


@pytest.fixture(params=[(False, 1), (True, 1), (False, 2)], ids=["plain", "confidence", "kbest"])
def settings(request):
    confidence, kbest = request.param
    return {"confidence": confidence, "kbest": kbest}


@pytest.mark.parametrize(
    "text", [SHORT * 20 + LONG + SHORT * 20, LONG + SHORT, SHORT + LONG, SHORT + LONG * 2 + SHORT + LONG]
)
def test_a_sentence_that_is_too_long_has_no_tree_and_all_others_have(tmp_path, model, settings, text):
    summary = parse_corpus(model, [corpus(tmp_path, SHORT, text, SHORT)], tmp_path / "out", **settings)
    n_long = text.count(LONG)
    assert (summary.documents, summary.rejected, summary.notes) == (3, 0, n_long)
    (path,) = (tmp_path / "out").glob("*.conllu")
    sentences = list(read_conllu(path))
    assert len(sentences) == text.count(SHORT) + n_long + 2 == summary.sentences
    numbers = [number for number, part in enumerate(text.replace("one two " * 200, "L").split(". "), 1) if part == "L"]
    for k, sentence in enumerate(sentences):
        if k in numbers:
            assert set(sentence.heads) == {-1} and set(sentence.labels) == {"_"} and len(sentence) == 401
        else:
            assert is_tree(sentence.heads, single_root=True) and sentence.words == SHORT.replace(".", " .").split()
            assert ("HeadProb" in sentence.to_bytes().decode()) == settings["confidence"]
            assert ("# tree_2 = " in sentence.to_bytes().decode()) == (settings["kbest"] > 1)
    notes = lines(tmp_path / "out" / "rejected.jsonl")
    assert [(note["id"], note["kept"]) for note in notes] == [("d1", True)] * n_long
    for note, number in zip(notes, numbers, strict=True):
        assert note["reason"].startswith(
            f"sentence {number} ('one two one two one' ...) has 401 tokens, max_length is 200"
        )


@pytest.mark.parametrize("form", ["jsonl", "parquet", "spacy", "conllu.gz"])
def test_every_format_has_a_place_for_a_sentence_without_a_tree(tmp_path, model, form):
    summary = parse_corpus(model, [corpus(tmp_path, SHORT + LONG)], tmp_path / "out", format=form)
    assert (summary.documents, summary.sentences, summary.notes) == (1, 2, 1)
    if form == "jsonl":
        (row,) = lines(next((tmp_path / "out").glob("0*.jsonl")))
        assert row["sentences"][1]["heads"] == [None] * 401 and None not in row["sentences"][0]["heads"]
        assert row["text"] == SHORT + LONG


def test_only_the_tree_is_missing(tmp_path, model):
    """What other components have found before the scorer stays."""
    whole = parse_corpus(model, [corpus(tmp_path, SHORT * 3)], tmp_path / "whole")
    parts = parse_corpus(model, [corpus(tmp_path, LONG + SHORT * 3)], tmp_path / "parts")
    assert whole.words + 401 == parts.words
    trees = [[s.heads for s in read_conllu(next((tmp_path / name).glob("*.conllu")))] for name in ("whole", "parts")]
    assert trees[0] == trees[1][1:]


def test_a_document_of_nothing_else_is_kept(tmp_path, model):
    summary = parse_corpus(model, [corpus(tmp_path, SHORT, LONG)], tmp_path / "out")
    assert (summary.documents, summary.sentences, summary.rejected, summary.notes) == (2, 2, 0, 1)


def conllu(*sentences):
    return "".join(
        "".join(f"{i}\t{w}\t_\t_\t_\t_\t{i - 1}\tgold\t_\tKey=a\n" for i, w in enumerate(words, 1)) + "\n"
        for words in sentences
    )


def test_sentences_of_a_file_that_are_too_long_lose_the_tree_that_they_had(tmp_path, model, words_model):
    """What a file says is not what the pipeline has found."""
    text = conllu(["The", "dog", "bakes"], ["a"] * 300, ["The", "cat"])
    (tmp_path / "a.conllu").write_text(text)
    docs = DocBin(store_user_data=True)
    docs.add(sentences_to_doc(spacy.blank("en").vocab, list(read_conllu(tmp_path / "a.conllu"))))
    docs.to_disk(tmp_path / "b.spacy")
    for name, used in (("a.conllu", words_model), ("b.spacy", model)):
        summary = parse_corpus(used, [tmp_path / name], tmp_path / name.replace(".", "_"))
        assert (summary.sentences, summary.rejected, summary.notes) == (3, 0, 1), name
        (path,) = (tmp_path / name.replace(".", "_")).glob("0*.conllu")
        first, long, last = read_conllu(path)
        assert set(long.heads) == {-1} and set(long.labels) == {"_"} and long.words == ["a"] * 300
        assert name == "b.spacy" or long.column(9) == ["Key=a"] * 300
        assert is_tree(first.heads, single_root=True) and is_tree(last.heads, single_root=True)
        assert "gold" not in first.labels + last.labels


@Language.component("test_documents_tags")
def tags(doc):
    for token in doc:
        token.tag_ = "T"
    return doc


def test_all_other_components_find_what_they_find(tmp_path, model):
    with loaded(str(model)) as pipeline:
        pipeline.nlp.add_pipe("test_documents_tags")
        try:
            parse_corpus(model, [corpus(tmp_path, SHORT + LONG + SHORT)], tmp_path / "out")
        finally:
            pipeline.nlp.remove_pipe("test_documents_tags")
    sentences = list(read_conllu(next((tmp_path / "out").glob("0*.conllu"))))
    assert [set(sentence.column(4)) for sentence in sentences] == [{"T"}] * 3


@pytest.mark.parametrize(
    ("text", "most", "parts"),
    [
        ("Go on.\nStop it. Now.\n\nHe ran. She", 24, ["Go on.\nStop it. Now.\n\n", "He ran. She"]),
        ("Go on. Stop it now. He ran.", 15, ["Go on. ", "Stop it now. ", "He ran."]),
        ("one two three four", 10, ["one two ", "three four"]),
        ("one two", 7, ["one two"]),
        ("abcdefgh ijk", 5, ["abcdefgh ijk"]),
        ("", 5, [""]),
    ],
)
def test_texts_are_cut_at_paragraphs_sentences_and_words(text, most, parts):
    notes = []
    found = list(within_limit([Document("a", text, meta={"x": 1}), b"between"], most, notes))
    assert [item.text for item in found[:-1]] == parts and found[-1] == b"between" and "".join(parts) == text
    assert all(item.meta == {"x": 1} for item in found[:-1])
    assert [item.id for item in found[:-1]] == (
        ["a"] if len(parts) == 1 else [f"a-part-{k + 1}" for k in range(len(parts))]
    )
    assert len(notes) == (len(parts) > 1)


def test_texts_above_the_limit_of_the_pipeline_are_parsed_in_parts(tmp_path, model, monkeypatch):
    with loaded(str(model)) as pipeline:
        monkeypatch.setattr(pipeline.nlp, "max_length", 1000)
        summary = parse_corpus(model, [corpus(tmp_path, SHORT * 200, SHORT, "x" * 2000)], tmp_path / "out")
    assert (summary.documents, summary.sentences, summary.rejected, summary.notes) == (6, 201, 1, 1)
    rejected, note = lines(tmp_path / "out" / "rejected.jsonl")
    assert rejected["id"] == "d2" and "kept" not in rejected
    assert (
        note["id"] == "d0" and "has 4,200 characters, and nlp.max_length is 1,000: parsed in 5 parts" in note["reason"]
    )


@pytest.mark.parametrize("run", ["(" * 20_000, "😀" * 5000, "a" * 999, "a" * 1000, "a" * 1001, "x" * 2500 + " y"])
def test_the_tokenizer_gets_no_long_runs_without_white_space(model, run, monkeypatch):
    """Its time grows with the square of their length."""
    text = f"The dog {run} bakes. "
    with loaded(str(model)) as pipeline:
        nlp, given = pipeline.nlp, []
        make_doc = nlp.make_doc
        monkeypatch.setattr(nlp, "make_doc", lambda text: given.append(text) or make_doc(text))
        doc = documents._tokenized(nlp, text)
    assert doc.text == text == "".join(given) and not doc.has_annotation("SENT_START")
    assert max(len(word) for part in given for word in part.split()) <= 1000
    assert len(given) == math.ceil(len(run.split()[0]) / 1000)


@pytest.mark.parametrize("at", [0, 3])
def test_an_interruption_says_where_it_was(model, at, monkeypatch):
    class Stop(BaseException):
        pass

    def stop(docs):
        raise Stop

    given = [Document(f"d{k}", SHORT) for k in range(5)]
    with loaded(str(model)) as pipeline:
        nlp = pipeline.nlp
        with monkeypatch.context() as patched, pytest.raises(Stop) as raised:
            patched.setattr(nlp, "pipe", stop)
            parse_documents(nlp, given, [])
        assert raised.value.__notes__ == ["It was at d0 to d4."]
        make_doc = nlp.make_doc
        calls = iter(range(5))
        monkeypatch.setattr(nlp, "make_doc", lambda text: make_doc(text) if next(calls) < at else stop(text))
        with pytest.raises(Stop) as raised:
            parse_documents(nlp, given, [])
        assert raised.value.__notes__ == [f"It was at d{at}."]


def test_documents_without_words_leave_a_trace(tmp_path, model):
    summary = parse_corpus(model, [corpus(tmp_path, SHORT, "", "  \n ", SHORT)], tmp_path / "out")
    assert (summary.documents, summary.notes, summary.rejected) == (4, 2, 0)
    notes = lines(tmp_path / "out" / "rejected.jsonl")
    assert [(note["id"], note["reason"]) for note in notes] == [("d1", "has no words"), ("d2", "has no words")]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("form", ["jsonl", "conllu"])
def test_numbers_that_json_lacks_become_null(tmp_path, model, number, form):
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"text": "The dog.", "a": {number}, "b": [{{"c": {number}}}, 1.5]}}\n')
    parse_corpus(model, [path], tmp_path / "out", format=form)

    def refuse(name):
        raise AssertionError(name)

    text = next((tmp_path / "out").glob(f"0*.{form}")).read_text()
    found = text if form == "jsonl" else text.partition("# meta = ")[2].partition("\n")[0]
    row = json.loads(found, parse_constant=refuse)
    assert (row["meta"] if form == "jsonl" else row) == {"a": None, "b": [{"c": None}, 1.5]}

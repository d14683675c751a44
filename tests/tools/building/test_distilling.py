"""Raw text for a student: what is read of it, what is left out, and how sure the teachers are."""

import gzip
import os
from dataclasses import replace

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from scorer_helpers import TREEBANK, gold_docs, make_nlp
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.conllu.columns import FEATS, UPOS
from spacy_mindroot.doc.targets import read_targets
from spacy_mindroot.doc.words import MultiwordToken
from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.building import distilling
from spacy_mindroot.tools.building.distilling import (
    RawText,
    _letters,
    _OwnText,
    read_raw_text,
    swap_words,
    teach,
    warn_of_language,
)
from spacy_mindroot.tools.building.treebank import prepare_treebank
from spacy_mindroot.tools.evaluation.raw_text import text_of
from spacy_mindroot.tools.gold import read_corpus, sentences_in_text


@pytest.fixture(scope="module")
def teachers(tmp_path_factory):
    folders = []
    for seed in (1, 2):
        nlp = make_nlp(gold_docs(), steps=5, seed=seed)
        nlp.add_pipe("sentencizer", first=True)
        folders.append(tmp_path_factory.mktemp("teachers") / str(seed))
        nlp.to_disk(folders[-1])
    return folders


@pytest.fixture
def treebank(tmp_path):
    return prepare_treebank(TREEBANK, tmp_path / "corpus")


def raw(tmp_path, *lines, name="raw.txt"):
    (tmp_path / name).write_text("\n".join(lines), "utf8")
    return read_raw_text([tmp_path / name])


def taught(teachers, treebank, text, tmp_path):
    said = []
    found = teach(teachers, treebank, text, tmp_path / "taught.spacy", note=said.append)
    docs = list(DocBin().from_disk(tmp_path / "taught.spacy").get_docs(Vocab()))
    assert len(docs) == found.sentences and sum(map(len, docs)) == found.words
    assert all(read_targets(doc) is not None for doc in docs)
    return found, docs, said


def test_lines(tmp_path):
    long = "word " * 5000 + "x" * 25_000
    text = raw(tmp_path, "\ufeffa b", "", "  c  ", long)
    first, second, *pieces = text.lines()
    assert (first, second) == ("a b", "c")
    assert "".join("".join(pieces).split()) == "".join(long.split()) and max(map(len, pieces)) <= 10_000
    with gzip.open(tmp_path / "raw.gz", "wt", encoding="utf8") as file:
        file.write("a b\n\nc\n")
    assert list(RawText([tmp_path / "raw.gz", tmp_path / "raw.txt"], "").lines())[:3] == ["a b", "c", "a b"]


def test_lines_beyond_many_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(distilling, "_MOST_PIECES", 2)
    (tmp_path / "a.txt").write_bytes(b"a\nb\nnot UTF-8: \xff\n")
    (tmp_path / "b.txt").write_bytes(b"not UTF-8: \xff\n")
    text = read_raw_text([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert list(text.lines()) == ["a", "b"] and text.cut


def test_text_in_which_lines_begin_like_conllu(tmp_path):
    (tmp_path / "a.md").write_text("# A title\n\n# Another\n\n1\tone\n2\ttwo\n", "utf8")
    assert len(list(read_raw_text([tmp_path / "a.md"]).lines())) == 4


def test_files_without_text(tmp_path):
    for name, content in (("a.txt", b"a\n"), ("empty.txt", b""), ("blank.txt", b" \n\n")):
        (tmp_path / name).write_bytes(content)
    for name in ("empty.txt", "blank.txt"):
        with pytest.raises(CorpusError, match=f"{name} has no text"):
            read_raw_text([tmp_path / "a.txt", tmp_path / name])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_can_not_be_read_again(tmp_path):
    """It would be empty for the teachers."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="pipe is not a regular file.*write it to a file first"):
        read_raw_text([tmp_path / "pipe"])


def test_the_digest_is_that_of_the_text(tmp_path):
    assert raw(tmp_path, "a", "b").digest == raw(tmp_path, "a", "", "b", name="other.txt").digest
    assert raw(tmp_path, "a", "b").digest != raw(tmp_path, "a", "c").digest


def test_sentences_of_the_treebank_and_repeated_ones_are_left_out(teachers, treebank, tmp_path):
    test = text_of(next(read_conllu(treebank.file("test")))).strip()
    many = "many " * 150 + "."
    text = raw(tmp_path, f"A new one. {test}", "Another one.", "A new one.", many)
    found, docs, said = taught(teachers, treebank, text, tmp_path)
    assert [doc.text.strip() for doc in docs] == ["A new one.", "Another one."]
    assert found.repeated == 2 and found.too_long == 1 and not found.cut
    (note,) = said
    assert "2 sentences, 7 words" in note and "2 that are in the treebank or occur again, 1 that are too long" in note


def test_text_of_the_treebank_is_left_out_however_it_is_divided():
    own = _OwnText(
        [
            "Anna ate the cake that Tom had made.",
            "He slept.",
            "The roses are in the old garden, too.",
            "Café Noir est fermé le lundi.",
        ]
    )
    for text in (
        "He slept!",
        "ANNA ATE THE CAKE THAT TOM HAD MADE",
        "the cake that Tom had m\u0061de.",
        "Caf\u0065\u0301 Noir est ferme\u0301 le lundi.",
        "cake that Tom had made. He slept. The roses",
        "I know: Anna ate the cake that Tom had made \U0001f600",
        "Said he, the roses are in the old garden, too, and left.",
    ):
        assert _letters(text) in own, text
    for text in (
        "He slept well.",
        "the cake",
        "The roses are in the new garden, too.",
        "Anna ate the cake that I had",
        "?",
    ):
        assert _letters(text) not in own, text
    assert _letters("? !") == "?!" and _letters("…") in _OwnText(["…"])


def with_words_of_du(sentence):
    """Divide the second token, as a learnt tokenizer would."""
    first, _, last = sentence.words
    du = MultiwordToken(1, 3, ("de", "le"), "du")
    return replace(sentence, words=[first, "de", "le", last], spaces=[True] * 4, multiword=[du])


@pytest.mark.parametrize("divided", [False, True])
def test_sentences_with_multiword_tokens_are_left_out(teachers, tmp_path, monkeypatch, divided):
    """They are known by their text, in which the words of a multiword token do not occur."""
    if divided:
        monkeypatch.setattr(
            distilling, "sentences_in_text", lambda *args: map(with_words_of_du, sentences_in_text(*args))
        )
    words = [("1", "Bois", "0"), ("2", "de", "3"), ("3", "le", "4"), ("4", "vin", "1")]
    rows = ["\t".join([n, word, *"_X__", head, "root" if head == "0" else "dep", "_", "_"]) for n, word, head in words]
    rows.insert(1, "\t".join(["2-3", "du", *"________"]))
    (tmp_path / "small").mkdir()
    for part in ("train", "test"):
        (tmp_path / "small" / f"{part}.conllu").write_text("\n".join(rows) + "\n\n", "utf8")
    treebank = prepare_treebank(tmp_path / "small", tmp_path / "corpus")
    found, docs, _ = taught(teachers, treebank, raw(tmp_path, "Bois du vin", "Bois du lait"), tmp_path)
    assert [doc.text.strip() for doc in docs] == ["Bois du lait"] and found.repeated == 1


def test_nothing_is_left(teachers, treebank, tmp_path):
    test = text_of(next(read_conllu(treebank.file("test")))).strip()
    with pytest.raises(CorpusError, match="No sentence of the raw text can be used: 1 are in the treebank"):
        taught(teachers, treebank, raw(tmp_path, test), tmp_path)


@pytest.mark.parametrize("limit, count", [("_MOST_SENTENCES", 2), ("_MOST_PIECES", 2), ("_MOST_SENTENCES", 3)])
def test_very_much_text_is_cut(teachers, treebank, tmp_path, monkeypatch, limit, count):
    monkeypatch.setattr(distilling, limit, count)
    found, docs, said = taught(teachers, treebank, raw(tmp_path, "One.", "Two.", "Three."), tmp_path)
    assert len(docs) == count and found.cut == ("and all further text" in said[0]) == (count < 3)


def test_how_sure_the_teachers_are(teachers, treebank, tmp_path, monkeypatch):
    values = iter([0.75, 0.8])
    monkeypatch.setattr(distilling, "expected_uas", lambda docs: next(values))
    found, _, said = taught(teachers, treebank, raw(tmp_path, "Some text."), tmp_path)
    assert (found.expected, found.expected_dev) == (0.75, 0.8)
    assert "75.0% right heads in it, and 80.0% in the development set" in said[0]


@pytest.mark.parametrize(
    "text, warns",
    [
        ("My brother waters the beans in the evening. The roses are in the garden.", False),
        ("Mein Bruder gießt am Abend die Bohnen. Die Rosen stehen dahinter.", True),
        ("Μόνο ελληνικά.", True),
        ("12 34 !", True),
    ],
)
def test_a_warning_if_the_language_is_another(treebank, tmp_path, text, warns):
    warned = []
    warn_of_language(raw(tmp_path, text), treebank, warned.append)
    assert bool(warned) == warns and (not warns or "in the language" in warned[0])
    warned.clear()
    good = tmp_path / "good.txt"
    good.write_text(9 * "My brother waters the beans in the evening. The roses are in the garden.\n", "utf8")
    warn_of_language(read_raw_text([good, tmp_path / "raw.txt"]), treebank, warned.append)
    assert bool(warned) == warns and "good.txt" not in "".join(warned)


def test_without_raw_text_the_training_set_is_labelled_with_other_words(teachers, treebank, tmp_path, monkeypatch):
    train = list(read_corpus(treebank.file("train"), Vocab()))
    monkeypatch.setattr(distilling, "_SWAPPED", 2 * len(train))
    found, docs, said = taught(teachers, treebank, None, tmp_path)
    words = [[token.text for token in doc] for doc in docs]
    assert words == [each.words for each in swap_words(train)] and not said
    assert 0 < found.expected <= 1 and 0 < found.expected_dev <= 1

    def tagged(sentence, words):
        return set(zip(words, sentence.conllu.column(UPOS), sentence.conllu.column(FEATS), strict=True))

    of_treebank = set().union(*(tagged(each, each.words) for each in train))
    assert len(words) == 2 * len(train) and set().union(*map(tagged, train * 2, words)) <= of_treebank
    n = sum(map(len, words))
    same = sum(a == b for each, own in zip(train * 2, words, strict=True) for a, b in zip(each.words, own, strict=True))
    assert n / 2 < same < 0.9 * n  # many words have no other of their kind
    assert words[: len(train)] != words[len(train) :]


def test_words_that_are_not_swapped(treebank):
    train = [each for each in read_corpus(treebank.file("train"), Vocab()) if len(each.words) > 4]
    many = [
        replace(each, multiword=[MultiwordToken(0, 2, "x")] if k else (), conllu=each.conllu if k > 1 else None)
        for k, each in enumerate(train)
    ]
    first, second, *others = swap_words(many)
    assert first.words == train[0].words and second.words == train[1].words
    assert [each.words[:2] for each in others[: len(train) - 2]] == [each.words[:2] for each in train[2:]]
    assert [each.words for each in others[: len(train) - 2]] != [each.words for each in train[2:]]
    for word in range(1, len(train[0].words) + 1):
        train[0].conllu.replace(word, UPOS, "_")
    assert next(swap_words(train)).words == train[0].words


def test_many_sentences_are_copied_once(treebank, monkeypatch):
    train = list(read_corpus(treebank.file("train"), Vocab()))
    for most, copies in ((1, 1), (2.4 * len(train), 2), (2.6 * len(train), 3)):
        monkeypatch.setattr(distilling, "_SWAPPED", most)
        assert len(list(swap_words(train))) == copies * len(train)
    assert list(swap_words([])) == []


def test_long_sentences_of_the_treebank_are_counted(teachers, treebank, tmp_path, monkeypatch):
    lengths = [len(sentence) for sentence in read_conllu(treebank.file("train"))]
    monkeypatch.setattr(distilling, "_LONGEST", 8)
    monkeypatch.setattr(distilling, "_SWAPPED", 1)
    found, docs, _ = taught(teachers, treebank, None, tmp_path)
    assert found.too_long == sum(n > 8 for n in lengths) > 0 and len(docs) == sum(n <= 8 for n in lengths)
    monkeypatch.setattr(distilling, "_LONGEST", 3)  # than all of the development set
    assert min(len(sentence) for sentence in read_conllu(treebank.file("dev"))) > 3
    found, _, _ = taught(teachers, treebank, raw(tmp_path, "A word."), tmp_path)
    assert found.sentences == 1 and found.expected_dev is None

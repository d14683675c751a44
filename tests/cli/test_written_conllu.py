"""What commands write of a folder of files reads back, with all that it should have, whatever the files are like."""

import io
import random
import shutil
import warnings

import numpy as np
import pytest
import spacy
from conllu_samples import random_file
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_mindroot.conllu import Sentence, doc_to_conllu, read_conllu, read_pieces, sentences_to_doc
from spacy_mindroot.conllu.columns import DEPREL, FEATS, HEAD, LEMMA, MISC, UPOS, XPOS
from spacy_mindroot.tools.building.related import mix_treebanks
from spacy_mindroot.tools.building.treebank import prepare_treebank

ADDED = ("HeadProb", "HeadEntropy", "NextHead", "NextProb", "NextDeprel", "Rank")
SEEDS = range(6)
NAMED = b"# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n"


@Language.component("test_written_conllu_scores")
def scores_of_words(doc):
    doc._.arc_scores, doc._.arc_labels = [], []
    for sentence in doc.sents:
        n = len(sentence)
        scores = np.array([[hash((i, j, len(sentence.text))) % 7 for j in range(n + 1)] for i in range(n)], dtype=float)
        doc._.arc_scores.append(scores)
        doc._.arc_labels.append(np.ones((n, n + 1), dtype=np.uint8))
    doc._.arc_label_names = ["ROOT", "a_rc"]
    return doc


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_written_conllu_scores")
    nlp.add_pipe("mind_root")
    path = tmp_path_factory.mktemp("model") / "model"
    nlp.to_disk(path)
    return path


@pytest.fixture(params=SEEDS)
def folder(request, tmp_path):
    """A folder of good files, of which every third has plain columns alone."""
    rng = random.Random(request.param)
    (tmp_path / "in").mkdir()
    for name in "abcd"[: rng.randint(2, 4)]:
        (tmp_path / "in" / f"{name}.conllu").write_bytes(random_file(rng, name, plain=request.param % 3 == 0))
    return tmp_path


def run(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, ["mindroot", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result


def read(*paths):
    return [sentence for path in paths for sentence in read_conllu(path)]


def given(folder):
    return read(*sorted((folder / "in").iterdir()))


def misc_of(cell):
    return {part for part in cell.split("|") if part != "_" and part.partition("=")[0] not in ADDED}


def content(sentence):
    """Everything but heads, labels, what is added, and line ends."""
    words = {sentence.line_of(word) - sentence.line: word for word in range(1, len(sentence) + 1)}
    misc = sentence.column(MISC)
    lines = []
    for at, line in enumerate(sentence.lines[sentence.first_row :], sentence.first_row):
        if not line.strip():
            continue
        for column in (HEAD, DEPREL, MISC) if at in words else ():
            line = sentence.columns.replaced(line, column, b"")
        lines.append((line.rstrip(b"\r\n"), misc_of(misc[words[at] - 1]) if at in words else None))
    return sentence.columns.names, lines


def comments(sentence):
    return [comment for comment in sentence.comments if "global.columns" not in comment]


def check(found, wanted, *, in_order=True):
    """Compare sentences. Comments may have been added."""
    if not in_order:
        found, wanted = (sorted(each, key=lambda sentence: sentence.words) for each in (found, wanted))
    assert [sentence.words for sentence in found] == [sentence.words for sentence in wanted]
    for own, other in zip(found, wanted, strict=True):
        assert content(own) == content(other)
        assert comments(own)[: len(comments(other))] == comments(other)
        assert len({line.endswith(b"\r\n") for line in own.lines[1:-1]}) <= 1
        assert own.lines[-1] in (b"\n", b"\r\n") or other.lines[-1] not in (b"\n", b"\r\n")


def test_repair_and_vote(folder):
    run("repair", folder / "in", folder / "out")
    for path in sorted((folder / "in").iterdir()):
        assert (folder / "out" / path.name).read_bytes() == path.read_bytes()  # good already
    wrong = folder / "wrong"
    shutil.copytree(folder / "in", wrong)
    for path in wrong.iterdir():
        sentences = list(read_pieces(io.BytesIO(path.read_bytes()), "x"))
        for sentence in sentences:
            for word in range(1, len(sentence) + 1) if isinstance(sentence, Sentence) else ():
                sentence.replace(word, HEAD, "0")
                sentence.replace(word, DEPREL, "x")
        path.write_bytes(b"".join(p.to_bytes() if isinstance(p, Sentence) else p for p in sentences))
    run("repair", wrong, folder / "mended")
    for path in sorted((folder / "in").iterdir()):
        check(read(folder / "mended" / path.name), read(path))
        run("vote", path, path, wrong / path.name, "--out", folder / "vote.conllu")
        assert (folder / "vote.conllu").read_bytes() == path.read_bytes()


def test_audit(folder, model):
    run("audit", model, folder / "in", "--out", folder / "out")
    for name in ("single_root", "unconstrained"):
        check(read(folder / "out" / f"{name}.conllu"), given(folder))


@pytest.mark.parametrize("by", ["sentence", "token"])
def test_rank(by, folder, model):
    run("rank", model, folder / "in", "--by", by, "--out", folder / "out.conllu")
    check(read(folder / "out.conllu"), given(folder), in_order=False)


def test_parse(folder, model):
    run("parse", model, *sorted((folder / "in").iterdir()), "--out", folder / "out", "--confidence")
    paths = sorted(folder.glob("out/*.conllu"))
    check(read(*paths), given(folder))
    if all(sentence.columns.names == given(folder)[0].columns.names for sentence in given(folder)):
        (folder / "all.conllu").write_bytes(b"".join(path.read_bytes() for path in paths))
        check(read(folder / "all.conllu"), given(folder))


def test_evaluate(folder, model):
    run("evaluate", model, folder / "in", "--output", folder / "out.conllu", "--words")
    found, wanted = read(folder / "out.conllu"), given(folder)
    assert [sentence.words for sentence in found] == [sentence.words for sentence in wanted]
    assert [sentence.spaces() for sentence in found] == [sentence.spaces() for sentence in wanted]
    assert [comments(sentence) for sentence in found] == [comments(sentence) for sentence in wanted]


@pytest.mark.parametrize("seed", SEEDS)
def test_build_and_related(seed, tmp_path):
    """Of files with CoNLL-U's ten columns, which a header may name."""
    rng = random.Random(seed)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abc":
        data = random_file(rng, name, plain=True)
        if name == "b":
            data = NAMED + data.removeprefix(b"\xef\xbb\xbf")
        (folder / f"xx_{name}-ud-train.conllu").write_bytes(data)
    wanted = read(*sorted(folder.iterdir()))
    treebank = prepare_treebank(folder, tmp_path / "corpus")
    check(read(treebank.file("train")), wanted)
    mixture = mix_treebanks(treebank, [folder])
    assert [sentence.words for sentence in read(mixture.file)] == [s.words for s in wanted] * (1 + mixture.copies)


def test_docs(folder, model):
    """Of one Doc with all sentences, and of a .spacy file."""
    nlp = spacy.load(model)
    wanted = given(folder)
    doc = sentences_to_doc(nlp.vocab, wanted)
    (folder / "doc.conllu").write_bytes(doc_to_conllu(doc).encode())
    check(read(folder / "doc.conllu"), wanted)
    DocBin(docs=[doc], store_user_data=True).to_disk(folder / "doc.spacy")
    run("parse", model, folder / "doc.spacy", "--out", folder / "out")
    check(read(*folder.glob("out/*.conllu")), wanted)


@pytest.mark.parametrize("command", ["rank", "audit"])
def test_docs_keep_their_annotation(command, folder, model):
    """All but heads and labels, also where white space is a token, which CoNLL-U does not have."""
    nlp = spacy.load(model)
    doc = nlp.make_doc("Good\n\n  morning to you all\t!")
    doc[0].lemma_, doc[0].pos_, doc[0].tag_ = "good", "ADJ", "JJ"
    doc[0].set_morph("Degree=Pos")
    docs = [sentences_to_doc(nlp.vocab, given(folder)), doc]
    DocBin(docs=docs).to_disk(folder / "docs.spacy")
    for each in docs:
        each._.conllu = None
    (folder / "wanted.conllu").write_bytes("".join(map(doc_to_conllu, docs)).encode())
    wanted = read(folder / "wanted.conllu")
    if command == "rank":
        run("rank", model, folder / "docs.spacy", "--out", folder / "out.conllu")
        found = read(folder / "out.conllu")
    else:
        run("audit", model, folder / "docs.spacy", "--out", folder / "out")
        found = read(folder / "out" / "single_root.conllu")
    found, wanted = (sorted(each, key=lambda sentence: sentence.words) for each in (found, wanted))
    assert [sentence.words for sentence in found] == [sentence.words for sentence in wanted]
    for own, other in zip(found, wanted, strict=True):
        for column in (LEMMA, UPOS, XPOS, FEATS):
            assert own.column(column) == other.column(column)
        assert [misc_of(cell) for cell in own.column(MISC)] == [misc_of(cell) for cell in other.column(MISC)]
        assert own.heads.count(0) == 1 and own.comment("text") == other.comment("text")

"""CoNLL-U in and out: every byte kept, every fault named, and nothing lost on the way through a Doc."""

import io
import re

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_mindroot.conllu import (
    Sentence,
    doc_to_conllu,
    format_sentence,
    read_conllu,
    read_pieces,
    repair_sentence,
    sentence_to_doc,
    sentences_to_doc,
)
from spacy_mindroot.conllu.repair import is_well_formed
from spacy_mindroot.conllu.sentence import DEPREL, HEAD, UPOS
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.pipeline.annotate import write_trees

FULL = (
    "# newdoc\n# sent_id = s-1\n# text = Vámonos al mar.\n"
    "0.1\tYa\tya\tADV\t_\t_\t_\t_\t0:root\t_\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tKey=a\n"
    "1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t0:root\t_\n"
    "2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t1:obj\t_\n"
    "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_\n"
    "4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_\n"
    "5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\tSpaceAfter=No\n"
    "5.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_\n"
    "6\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_\n\n"
)
PLAIN = "1\tGo\tgo\tVERB\t_\t_\t0\tROOT\t_\t_\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"


def pieces(text):
    raw = text if isinstance(text, bytes) else text.encode("utf8")
    return list(read_pieces(io.BytesIO(raw), "in.conllu"))


def sentence(text):
    (found,) = (piece for piece in pieces(text) if isinstance(piece, Sentence))
    return found


def row(number, head="0", columns=10):
    return "\t".join([str(number), "a", "a", "X", "_", "_", head, "dep", "_", "_"][:columns]) + "\n"


@pytest.fixture
def nlp():
    return spacy.blank("xx")


def test_what_a_sentence_says():
    found = sentence(FULL)
    assert found.words == ["Vamos", "nos", "a", "el", "mar", "."]
    assert found.heads == [0, 1, 5, 5, 1, 1]
    assert found.labels == ["root", "obj", "case", "det", "obl", "punct"]
    assert found.sent_id == "s-1" and found.comments[0] == "# newdoc"
    assert [(first, last, cells[1]) for first, last, cells in found.multiword_tokens()] == [
        (1, 2, "Vámonos"),
        (3, 4, "al"),
    ]
    assert [cells[0] for cells in found.empty_nodes()] == ["0.1", "5.1"]
    assert [found.line_of(word) for word in range(1, 7)] == [6, 7, 9, 10, 11, 13]
    assert found.to_bytes() == FULL.encode()


@pytest.mark.parametrize(
    "text",
    [
        FULL + PLAIN,
        "",
        "\n\n",
        "# only a comment\n\n" + PLAIN,
        "\n" + PLAIN + "\n\n" + PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN[:-1],
        PLAIN.replace("\n", "\r\n") * 2,
        "\ufeff" + PLAIN,
        "\ufeff",
        "\ufeff# x\n" + PLAIN,
        PLAIN.replace("Go", "20 000"),
        PLAIN.replace("Go", "a\u2028b\x0b\x0c\x85c\rd"),
        PLAIN.replace("Go", "_"),
        PLAIN.replace("Go", "#"),
    ],
)
def test_every_byte_is_kept(text, nlp):
    found = pieces(text)
    assert b"".join(piece if isinstance(piece, bytes) else piece.to_bytes() for piece in found) == text.encode()
    for piece in found:
        if isinstance(piece, Sentence):
            doc = sentence_to_doc(nlp.vocab, piece)
            assert [token.text for token in doc] == piece.words
            assert doc_to_conllu(doc).encode() == piece.to_bytes()


def test_bytes_that_are_no_text_pass_through_but_not_into_a_doc(nlp):
    raw = PLAIN.encode().replace(b"Go", b"\xff")
    assert sentence(raw).to_bytes() == raw
    with pytest.raises(ConlluError, match="in.conllu:1: line 1 is not UTF-8"):
        sentence_to_doc(nlp.vocab, sentence(raw))
    with pytest.raises(ConlluError, match="line 1 is not UTF-8"):
        _ = sentence(raw).words


def test_replacing_a_cell_leaves_the_rest():
    found = sentence(FULL.replace("\n", "\r\n"))
    found.replace(6, HEAD, "5")
    found.replace(6, DEPREL, "dep")
    assert found.heads[5] == 5
    assert found.to_bytes().decode() == FULL.replace("1\tpunct\t1:", "5\tdep\t1:").replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (row(1, columns=9), "in.conllu:1: line 1 has 9 columns, expected 10"),
        (PLAIN + "# c\n" + row(1) + row(2, columns=8), "in.conllu:6: line 6 has 8 columns"),
        (row(1).replace("\t", " "), "separated by spaces"),
        (
            row(1) + "2\ta\n\ta\tX\t_\t_\t0\tdep\t_\t_\n",
            "2: line 2 has 2 columns.*\n.*3: line 3 has 9 columns.*line break",
        ),
        (row(1) + row(3), "line 2 has ID '3', but the next word is 2"),
        (row(1) + row(1), "line 2 has ID '1', but the next word is 2"),
        (row("01"), "has ID '01'"),
        (row("a"), "has ID 'a'"),
        (row("2-3") + row(1), "line 1 has ID '2-3', but the next word is 1"),
        (row("1-3") + row(1) + row(2), "line 1 is a multiword token up to word 3, but the sentence has 2 words"),
        (row("1-2") + row(1) + row("2-3") + row(2) + row(3), "line 3 has ID '2-3'"),
        (row("1-1").replace("1-1", "1-0") + row(1), "has ID '1-0'"),
        (row(1) + row("2.1"), "line 2 has ID '2.1'; an empty node here is 1.1"),
        (row(1) + row("1.1") + row("1.3"), "an empty node here is 1.2"),
        (row(1, "x"), "line 1 has HEAD 'x', which is not a number"),
        (row(1, ""), "line 1 has HEAD ''"),
        (row(1, "1.1"), "line 1 has HEAD '1.1'"),
        (row(1) + "# c\n" + row(2, "1"), "line 2 is a comment inside a sentence"),
        (row(1) + "  \n" + row(1), "line 2 is white space"),
        (row("0.1"), "ends a sentence without words"),
        (row(1, columns=3) + row(2) + row(3, columns=4), "line 1 has 3 columns.*\n.*line 3 has 4 columns"),
    ],
)
def test_faults_are_named_by_line(text, says):
    with pytest.raises(ConlluError) as caught:
        pieces(text + "\n")
    assert re.search(says, str(caught.value), flags=re.S), str(caught.value)


def test_faults_can_be_collected():
    faults = []
    raw = (row(2) + "\n" + PLAIN + row(1, columns=2) + "\n").encode()
    found = list(read_pieces(io.BytesIO(raw), "f", faults.append))
    assert [isinstance(piece, Sentence) for piece in found] == [False, True, False]
    assert b"".join(piece if isinstance(piece, bytes) else piece.to_bytes() for piece in found) == raw
    assert [str(fault)[:4] for fault in faults] == ["f:1:", "f:6:"]


@pytest.mark.parametrize("head", ["3", "-1", "99999999999"])
def test_heads_beyond_the_sentence(head, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(PLAIN + row(1) + row(2, head) + "\n")
    with pytest.raises(ConlluError, match=f"x.conllu:5: line 5 has HEAD '{head}', but the sentence has 2 words"):
        list(read_conllu(path))


@pytest.mark.parametrize(
    ("arcs", "well_formed"),
    [
        (["0 root", "1 obj"], True),
        (["0 ROOT", "1 obj"], True),
        (["0 root:x", "1 obj"], True),
        (["0 root", "1 root"], False),
        (["0 root", "1 Root"], False),
        (["0 root", "1 root:x"], False),
        (["0 root", "1 rootless"], True),
        (["0 rootless", "1 obj"], False),
        (["0 obj", "1 obj"], False),
        (["0 root", "0 root"], False),
        (["0 root", "2 obj"], False),
        (["0 root", "3 obj"], False),
        (["0 root", "_ obj"], False),
        (["2 obj", "1 obj"], False),
        (["2 obj", "0 root"], True),
    ],
)
def test_what_is_well_formed(arcs, well_formed):
    rows = [f"{i}\ta\ta\tX\t_\t_\t{arc.replace(' ', chr(9))}\t_\t_\n" for i, arc in enumerate(arcs, 1)]
    found = sentence("".join(rows) + "\n")
    assert is_well_formed(found) == well_formed
    assert bool(repair_sentence(found)) != well_formed and is_well_formed(found)


def test_long_sentences():
    n = 3000
    text = "".join(row(i, str(i - 1)) for i in range(1, n + 1)) + "\n"
    assert sentence(text).heads == list(range(n))


def test_a_doc_has_all_that_it_has_a_place_for(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(FULL))
    assert [token.head.i for token in doc] == [0, 0, 4, 4, 0, 0]
    assert [token.dep_ for token in doc] == ["ROOT", "obj", "case", "det", "obl", "punct"]
    assert doc.text == "Vamos nos a el mar. "
    assert (doc[0].lemma_, doc[0].pos_, doc[0].tag_, str(doc[0].morph)) == ("ir", "VERB", "V", "Mood=Imp|Number=Plur")
    assert doc[2].tag_ == "" and len(list(doc.sents)) == 1


def test_surface_tokens(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(FULL), surface_tokens=True)
    assert doc.text == "Vámonos al mar. "
    assert [token.head.i for token in doc] == [0, 2, 0, 0]
    assert [token.dep_ for token in doc] == ["ROOT", "case", "obl", "punct"]
    with pytest.raises(ConlluError, match="Surface tokens"):
        doc_to_conllu(doc)


def test_a_surface_token_hangs_where_its_highest_word_does(nlp):
    """The first of its words hangs on a word that hangs on another of its words: that would be a cycle."""
    text = row(1, "0") + row("2-3", "_") + row(2, "4") + row(3, "1") + row(4, "3") + "\n"
    doc = sentence_to_doc(nlp.vocab, sentence(text), surface_tokens=True)
    assert [token.head.i for token in doc] == [0, 0, 1]


def test_what_a_doc_says_otherwise_is_written_back(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(FULL))
    doc[4].tag_ = "NN"
    doc[4].lemma_ = "la mar"
    doc[5].head = doc[4]
    doc[5].dep_ = "dep"
    doc[1].set_morph("Case=Dat")
    written = doc_to_conllu(doc)
    expected = (
        FULL.replace("\tmar\tmar\tNOUN\tN\t", "\tmar\tla mar\tNOUN\tNN\t")
        .replace("\t1\tpunct\t1:", "\t5\tdep\t1:")
        .replace("Case=Acc", "Case=Dat")
    )
    assert written == expected


def test_a_moved_root_takes_its_label_along(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(PLAIN))
    write_trees(doc, [[2, 0]])
    assert [line.split("\t")[6:8] for line in doc_to_conllu(doc).splitlines() if line] == [["2", "dep"], ["0", "root"]]


def test_features_in_another_order_are_the_same(nlp):
    text = PLAIN.replace("VERB\t_\t_", "VERB\t_\tVForm=b,a|Aspect=Imp")
    assert doc_to_conllu(sentence_to_doc(nlp.vocab, sentence(text))) == text


@pytest.mark.parametrize("copy", ["bytes", "DocBin"])
def test_nothing_is_lost_in_storage(copy, nlp):
    doc = sentences_to_doc(nlp.vocab, [sentence(FULL), sentence(PLAIN)])
    assert [(s.start, s.end) for s in doc.sents] == [(0, 6), (6, 8)]
    if copy == "bytes":
        doc = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    else:
        doc = next(iter(DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)))
    assert doc_to_conllu(doc) == FULL + PLAIN


def test_words_without_a_head(nlp):
    text = row(1, "2") + row(2, "0") + row(3, "_").replace("dep", "_") + "\n" + row(1, "_") + row(2, "_") + "\n"
    doc = sentences_to_doc(nlp.vocab, [p for p in pieces(text) if isinstance(p, Sentence)])
    assert [token.dep_ for token in doc] == ["dep", "ROOT", "", "", ""]
    assert [(s.start, s.end) for s in doc.sents] == [(0, 3), (3, 5)]
    assert doc_to_conllu(doc) == text


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        (["0", "0"], "in.conllu:2: line 2 is the second root .* word 2 besides 1"),
        (["2", "1"], "line 1 is in a cycle of its sentence: 1 -> 2 -> 1"),
        (["0", "2"], "line 2 is in a cycle"),
        (["0", "7"], "line 2 has HEAD '7'"),
    ],
)
def test_malformed_trees_do_not_get_into_a_doc(heads, says, nlp):
    with pytest.raises(ConlluError, match=says):
        sentence_to_doc(nlp.vocab, sentence(row(1, heads[0]) + row(2, heads[1]) + "\n"))


def test_a_doc_that_did_not_come_from_conllu(nlp):
    doc = Doc(nlp.vocab, ["Go", "on", "!"], [True, False, False], heads=[0, 0, 0], deps=["ROOT", "x", "punct"])
    assert doc_to_conllu(doc) == (
        "# text = Go on!\n1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\ton\t_\t_\t_\t_\t1\tx\t_\tSpaceAfter=No\n"
        "3\t!\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n"
    )
    assert doc_to_conllu(nlp.make_doc("a")) == "# text = a\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert doc_to_conllu(nlp.make_doc("")) == ""


def test_white_space_tokens_do_not_break_the_columns(nlp):
    rows = doc_to_conllu(nlp.make_doc("a\n\tb")).splitlines()
    assert all(line.count("\t") == 9 for line in rows if line and not line.startswith("#"))


def test_other_tokens_than_those_of_the_file(nlp):
    doc = nlp.make_doc("x .")
    doc._.conllu = [PLAIN]
    with pytest.raises(ConlluError, match="other tokens"):
        doc_to_conllu(doc)
    doc._.conllu = [PLAIN, PLAIN]
    with pytest.raises(ConlluError, match="sentences of"):
        doc_to_conllu(doc)


def test_tags_that_spacy_does_not_know_are_kept_in_the_file(nlp):
    text = PLAIN.replace("VERB", "V-fin")
    doc = sentence_to_doc(nlp.vocab, sentence(text))
    assert doc[0].pos_ == "" and doc_to_conllu(doc) == text
    assert sentence(text).column(UPOS) == ["V-fin", "PUNCT"]


def test_format_sentence():
    assert format_sentence(["a\tb", " "], [0, 1], ["root", "x y"], sent_id="1") == (
        "# sent_id = 1\n# text = a b _\n1\ta b\t_\tX\t_\t_\t0\troot\t_\t_\n2\t_\t_\tX\t_\t_\t1\tx_y\t_\t_\n\n"
    )


def test_treebanks_come_back_byte_for_byte(data, nlp):
    for path in sorted((data / "ud").glob("*/*.conllu")):
        raw = path.read_bytes()
        found = pieces(raw)
        assert b"".join(p if isinstance(p, bytes) else p.to_bytes() for p in found) == raw, path
        if "test" in path.name:
            for piece in found[::7]:
                doc = sentence_to_doc(nlp.vocab, piece)
                assert doc_to_conllu(doc).encode() == piece.to_bytes()
                surface = sentence_to_doc(nlp.vocab, piece, surface_tokens=True)
                root = [token for token in surface if token.head == token]
                assert len(root) == 1 and len(list(root[0].subtree)) == len(surface)

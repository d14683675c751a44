"""CoNLL-U to spaCy's Docs and back: nothing is lost, and nothing changes that the Doc does not change."""

import re
import subprocess
import sys

import numpy as np
import pytest
import spacy
from conllu_samples import FULL, PLAIN, joined, pieces, row, sentence
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import HEAD, SENT_START
from spacy.tokens import Doc, DocBin

from spacy_mindroot.conllu import Sentence, doc_to_conllu, sentence_to_doc, sentences_to_doc
from spacy_mindroot.conllu.columns import UPOS
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens, word_forms
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.pipeline.annotate import write_trees

VOCAB = spacy.blank("xx").vocab


@pytest.fixture
def nlp():
    return spacy.blank("xx")


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
    assert joined(found) == text.encode()
    for piece in found:
        if isinstance(piece, Sentence):
            doc = sentence_to_doc(nlp.vocab, piece)
            assert word_forms(doc) == piece.words
            assert doc_to_conllu(doc).encode() == piece.to_bytes()


def test_bytes_that_are_no_text_pass_through_but_not_into_a_doc(nlp):
    raw = PLAIN.encode().replace(b"Go", b"\xff")
    assert sentence(raw).to_bytes() == raw
    with pytest.raises(ConlluError, match="in.conllu:1: line 1 is not UTF-8"):
        sentence_to_doc(nlp.vocab, sentence(raw))
    with pytest.raises(ConlluError, match="line 1 is not UTF-8"):
        _ = sentence(raw).words


def test_a_doc_takes_all_annotation_that_it_can_hold(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(FULL))
    assert [token.head.i for token in doc] == [0, 0, 4, 4, 0, 0]
    assert [token.dep_ for token in doc] == ["ROOT", "obj", "case", "det", "obl", "punct"]
    assert doc.text == "Vámonos al mar. " and word_forms(doc) == ["Vamos", "nos", "a", "el", "mar", "."]
    assert [token.text for token in doc[:4]] == ["Vámo", "nos", "a", "l"]
    assert (doc[0].lemma_, doc[0].pos_, doc[0].tag_, str(doc[0].morph)) == ("ir", "VERB", "V", "Mood=Imp|Number=Plur")
    assert doc[2].tag_ == "" and len(list(doc.sents)) == 1


def test_surface_tokens(nlp):
    doc = sentence_to_doc(nlp.vocab, sentence(FULL), surface_tokens=True)
    assert doc.text == "Vámonos al mar. "
    assert [token.head.i for token in doc] == [0, 2, 0, 0]
    assert [token.dep_ for token in doc] == ["ROOT", "case", "obl", "punct"]
    with pytest.raises(ConlluError, match="Surface tokens"):
        doc_to_conllu(doc)


def test_a_surface_token_attaches_where_its_highest_word_does(nlp):
    """The first of its words depends on a word that depends on another of its words: that would be a cycle."""
    text = row(1, "0") + row("2-3", "_") + row(2, "4") + row(3, "1") + row(4, "3") + "\n"
    doc = sentence_to_doc(nlp.vocab, sentence(text), surface_tokens=True)
    assert [token.head.i for token in doc] == [0, 0, 1]


def test_the_space_behind_a_surface_token_is_its_own(nlp):
    for first, last in (("0", "1"), ("2", "0")):
        for misc in ("_", "SpaceAfter=No"):
            own = row("1-2", "_").removesuffix("_\n") + f"{misc}\n"
            text = own + row(1, first) + row(2, last) + row(3, "1") + "\n"
            doc = sentence_to_doc(nlp.vocab, sentence(text), surface_tokens=True)
            assert [bool(token.whitespace_) for token in doc] == [misc == "_", True]


def test_cells_that_differ_from_the_doc_are_written_back(nlp):
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


def test_other_tokens_than_those_of_the_file(nlp):
    doc = nlp.make_doc("x .")
    doc._.conllu = [PLAIN]
    with pytest.raises(ConlluError, match="other tokens"):
        doc_to_conllu(doc)
    doc._.conllu = [PLAIN, PLAIN]
    with pytest.raises(ConlluError, match="sentences of"):
        doc_to_conllu(doc)


def test_tags_unknown_to_spacy_are_kept(nlp):
    text = PLAIN.replace("VERB", "V-fin")
    doc = sentence_to_doc(nlp.vocab, sentence(text))
    assert doc[0].pos_ == "" and doc_to_conllu(doc) == text
    assert sentence(text).column(UPOS) == ["V-fin", "PUNCT"]


def test_treebanks_come_back_byte_for_byte(data, nlp):
    for path in sorted((data / "ud").glob("*/*.conllu")):
        raw = path.read_bytes()
        found = pieces(raw)
        assert joined(found) == raw, path
        if "test" in path.name:
            for piece in found[::7]:
                doc = sentence_to_doc(nlp.vocab, piece)
                assert doc_to_conllu(doc).encode() == piece.to_bytes()
                surface = sentence_to_doc(nlp.vocab, piece, surface_tokens=True)
                root = [token for token in surface if token.head == token]
                assert len(root) == 1 and len(list(root[0].subtree)) == len(surface)


@pytest.mark.parametrize(
    ("feats", "morph"),
    [
        ("fem", ""),
        ("Case=Acc|", ""),
        ("|", ""),
        ("Case=Acc||Number=Plur", ""),
        ("A=b=c", ""),
        ("Case=Acc|Case=Gen", ""),
        ("A=x|B=y|A=x", ""),
        ("a=b c=d", ""),
        ("Case=", "Case="),
        ("=", "="),
        ("Case=b,a", "Case=a,b"),
        ("B=x|A=y", "A=y|B=x"),
        ("Case=Acc", "Case=Acc"),
        ("Case=Nom|pos=adj", ""),  # spaCy's morphology spells it POS=ADJ
        ("ud=ADJ|Pos=adj|prc3=0", ""),
        ("POS=adj", ""),
        ("POS=ADJ", "POS=ADJ"),
        ("x=1|X=2", "X=2|x=1"),
        ("_", ""),
        ("", ""),
    ],
)
def test_features_that_spacy_cannot_hold_are_left_off_the_doc_and_kept(feats, morph, nlp):
    text = PLAIN.replace("VERB\t_\t_", f"VERB\t_\t{feats}")
    doc = sentence_to_doc(nlp.vocab, sentence(text))
    assert str(doc[0].morph) == morph
    assert doc_to_conllu(doc) == text
    doc[0].set_morph("Case=Dat")
    assert doc_to_conllu(doc) == PLAIN.replace("VERB\t_\t_", "VERB\t_\tCase=Dat")


# Not NUL: a file with several of them is taken for a binary one.
CELL = st.text(st.characters(exclude_characters="\0\t\n\r", exclude_categories=["Cs"]), max_size=6)
ODD_FEATS = st.text(st.sampled_from("ab=|,_ "), max_size=9)


@given(st.lists(st.tuples(CELL, CELL, CELL, ODD_FEATS | CELL, CELL, CELL), min_size=1, max_size=3))
def test_any_cells_come_back_byte_for_byte(rows):
    lines = [
        "\t".join([str(i), f"w{i}", lemma, upos, xpos, feats, "0" if i == 1 else "1", deprel, "_", misc])
        for i, (lemma, upos, xpos, feats, deprel, misc) in enumerate(rows, 1)
    ]
    text = "\n".join(lines) + "\n\n"
    doc = sentence_to_doc(VOCAB, sentence(text))
    assert doc_to_conllu(doc) == text


@given(ODD_FEATS)
def test_features_are_held_whenever_spacy_can_hold_them(feats):
    """Against spaCy itself: what it takes without loss is on the Doc."""
    vocab = VOCAB
    doc = sentence_to_doc(vocab, sentence(PLAIN.replace("VERB\t_\t_", f"VERB\t_\t{feats}")))
    try:
        held = str(Doc(vocab, words=["a"], morphs=[feats])[0].morph)
    except ValueError:
        held = ""
    lossless = sorted(held) == sorted(feats)
    assert str(doc[0].morph) == (held if lossless else "")


HEADER = "# global.columns = ID FORM MINE HEAD DEPREL UPOS\n"
PLUS = "1\ta\tx\t0\troot\tVERB\n2\tb\ty\t1\tobj\tNOUN\n\n"


def test_a_doc_of_conllu_plus_comes_back_with_its_header(nlp):
    found = pieces(HEADER + PLUS + PLUS)
    first = sentence_to_doc(nlp.vocab, found[0])
    assert [(token.pos_, token.lemma_, token.dep_) for token in first] == [("VERB", "", "ROOT"), ("NOUN", "", "obj")]
    assert doc_to_conllu(first) == HEADER + PLUS
    assert doc_to_conllu(sentence_to_doc(nlp.vocab, found[1])) == HEADER + PLUS  # readable on its own
    both = sentences_to_doc(nlp.vocab, found)
    assert doc_to_conllu(both) == HEADER + PLUS + PLUS
    both[1].dep_, both[1].lemma_ = "iobj", "lost"  # there is no column for the lemma
    assert doc_to_conllu(both) == HEADER + PLUS.replace("obj", "iobj") + PLUS
    mixed = sentences_to_doc(nlp.vocab, [sentence(PLAIN), found[1], sentence(PLAIN)])
    written = doc_to_conllu(mixed)
    assert [p.words for p in pieces(written) if isinstance(p, Sentence)] == [["Go", "."], ["a", "b"], ["Go", "."]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("It works.\n\nReally", [("It", "_"), ("works", "No"), (".", "=\\n\\n"), ("Really", "_")]),
        (" \n Go on!  ", [("Go", "before"), ("on", "No"), ("!", "=\\s\\s")]),
        ("a\tb\xa0c\u2028d", [("a", "=\\t"), ("b", "=\xa0"), ("c", "=\u2028"), ("d", "_")]),
        ("a  b", [("a", "=\\s\\s"), ("b", "_")]),
        ("a\r\n", [("a", "=\\r\\n")]),
        ("\n\n", []),
    ],
)
def test_white_space_tokens_become_spaces(text, rows, nlp):
    written = doc_to_conllu(nlp.make_doc(text))
    misc = {"No": "SpaceAfter=No", "before": "SpacesBefore=\\s\\n\\s"}
    found = [tuple(line.split("\t")[i] for i in (1, 9)) for line in written.split("\n") if "\t" in line]
    assert found == [(form, f"SpacesAfter{cell}" if cell[0] == "=" else misc.get(cell, cell)) for form, cell in rows]


@pytest.mark.parametrize(
    ("words", "heads", "deps", "written"),
    [
        (["a", "\n", "b"], [0, 0, 0], ["ROOT", "dep", "obj"], ["0 root", "1 obj"]),
        (["a", "\n", "b"], [0, 0, 1], ["ROOT", "dep", "obj"], ["0 root", "1 obj"]),  # below white space
        (["a", " ", "\n", "b"], [0, 0, 1, 2], ["ROOT", "dep", "dep", "obj"], ["0 root", "1 obj"]),
        (["\n", "a", "b"], [0, 0, 0], ["ROOT", "dep", "obj"], ["0 root", "1 obj"]),  # white space is the root
        (["\n", "a", "b"], [0, 2, 0], ["ROOT", "obj", "dep"], ["2 obj", "0 root"]),
        (["a", "\n", "b"], [0, 2, 1], ["ROOT", "dep", "dep"], ["0 root", "_ _"]),  # a cycle through white space
    ],
)
def test_the_tree_without_white_space_tokens(words, heads, deps, written, nlp):
    doc = Doc(nlp.vocab, words)
    for token, dep in zip(doc, deps, strict=True):
        token.dep_ = dep
    offsets = np.array([head - i for i, head in enumerate(heads)])
    doc.from_array([HEAD], offsets.astype(np.int64).view(np.uint64))
    doc.from_array([SENT_START], np.array([1] + [-1] * (len(doc) - 1), dtype=np.int64).view(np.uint64))
    cells = [line.split("\t") for line in doc_to_conllu(doc).splitlines() if "\t" in line]
    assert [f"{row[6]} {row[7]}" for row in cells] == written


@given(st.lists(st.sampled_from(["a", "b.", " ", "\n", "\t", "  ", "\xa0", "_", "é", "\u3000"]), max_size=8), st.data())
def test_text_and_forms_agree(words, data):
    """As the validator compares them: the forms, with single spaces where MISC does not forbid them, are the text."""
    doc = Doc(VOCAB, words, [data.draw(st.booleans()) for _ in words])
    written = doc_to_conllu(doc)
    lines = written.split("\n")
    cells = [line.split("\t") for line in lines if "\t" in line]
    assert [row[1] for row in cells] == [word for word in words if not word.isspace()]
    if cells:
        text = lines[0].removeprefix("# text = ")
        assert text == "".join(row[1] + ("" if "SpaceAfter=No" in row[9] else " ") for row in cells).strip()
        assert text.split() == "".join(doc.text).split()


def test_the_validator_accepts_docs_with_white_space(nlp, tmp_path):
    nlp.add_pipe("sentencizer")
    # Of other white space, which stands for itself in SpacesAfter, the validator does not want any at the end.
    texts = ["It works.\n\nReally it does . ", "  Go\ton!\n", "a\xa0 b  c"]
    (tmp_path / "out.conllu").write_text("".join(doc_to_conllu(nlp(text)) for text in texts), "utf8")
    code = "import sys; from udtools.cli import main; sys.exit(main())"
    options = ["--lang", "ud", "--level", "2", "--max-err", "0", tmp_path / "out.conllu"]
    done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True)
    faults = set(re.findall(r"\[L\d [\w ]+ ([\w-]+)\]", done.stdout + done.stderr))
    assert faults and not {fault for fault in faults if "space" in fault or "text" in fault or "column" in fault}, (
        faults
    )


def test_sentences_of_several_files_are_joined_as_sentences(nlp):
    """The last sentence of a file may lack its empty line, or even its line end."""
    for end in ("\n", "\r\n"):
        for text in (FULL, FULL[:-1], FULL[:-2]):
            text = text.replace("\n", end)
            doc = sentences_to_doc(nlp.vocab, [sentence(text), sentence(PLAIN), sentence(text)])
            written = doc_to_conllu(doc)
            assert written == FULL.replace("\n", end) + PLAIN + text
            assert [len(piece) for piece in pieces(written) if isinstance(piece, Sentence)] == [6, 2, 6]


def test_words_that_make_up_their_multiword_token_are_not_separated(nlp):
    text = "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n" + row(1).replace("\ta", "\tDo", 1)
    text += row(2, "1").replace("\ta", "\tn't", 1) + row(3, "1").replace("\ta", "\tgo", 1) + "\n"
    doc = sentence_to_doc(nlp.vocab, sentence(text))
    assert doc.text == "Don't go " and doc_to_conllu(doc) == text
    doc._.conllu = None
    assert doc_to_conllu(doc) == "# text = Don't go\n" + text.replace("0\tdep", "0\troot")


@pytest.mark.parametrize("store", ["nothing", "bytes", "DocBin", "JSON"])
def test_multiword_tokens_are_written_from_the_doc_alone(store, nlp):
    """Range lines, forms of words, and SpaceAfter=No on the right line; with white space, and where no words can
    divide the surface form."""
    blank = "\t_" * 7
    rows = f"1-2\tdu{blank}\t_\n" + row(1).replace("\ta", "\tde", 1)
    rows += row(2, "1").replace("\ta", "\tle", 1) + f"3-4\tá{blank}\tSpaceAfter=No\n"
    rows += row(3, "1") + row(4, "1") + row(5, "1").replace("\ta", "\t.", 1) + "\n"
    doc = sentence_to_doc(nlp.vocab, sentence(rows))
    assert [token.text for token in doc] == ["d", "u", "a", "a", "."]
    doc._.conllu = None
    if store == "bytes":
        doc = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    elif store == "DocBin":
        (doc,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    elif store == "JSON":
        doc = Doc(nlp.vocab).from_json(doc.to_json())
    assert doc_to_conllu(doc) == f"# text = du á.\n{rows}".replace("0\tdep", "0\troot")


def test_white_space_around_multiword_tokens_is_on_their_lines(nlp):
    doc = Doc(nlp.vocab, ["\n", "d", "u", " ", "m"], [False, False, True, False, False])
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("de", "le"))])
    lines = doc_to_conllu(doc).splitlines()
    assert lines[0] == "# text = du m"
    assert [line.split("\t")[-1] for line in lines[1:5]] == ["SpacesAfter=\\s\\s|SpacesBefore=\\n", "_", "_", "_"]
    assert [line.split("\t")[:2] for line in lines[1:5]] == [["1-2", "du"], ["1", "de"], ["2", "le"], ["3", "m"]]


def test_a_multiword_token_in_two_sentences_is_written_as_its_tokens(nlp):
    doc = Doc(nlp.vocab, ["d", "u", "m"], [False, True, True], sent_starts=[True, True, False])
    set_multiword_tokens(doc, [MultiwordToken(0, 2, ("de", "le"))])
    lines = doc_to_conllu(doc).splitlines()
    assert [line.split("\t")[:2] for line in lines if "\t" in line] == [["1", "d"], ["1", "u"], ["2", "m"]]


@pytest.mark.parametrize("store", ["bytes", "JSON", "DocBin"])
def test_a_doc_goes_through_text_and_storage(store, nlp):
    """Text of a Doc without `doc._.conllu`, read, is a Doc with the same text."""
    doc = nlp.make_doc("It\tworks.\xa0 \n\nReally ")
    doc[1].pos_, doc[1].lemma_ = "VERB", "work"
    doc[1].set_morph("Mood=Ind|VerbForm=Fin")
    text = doc_to_conllu(doc)
    again = sentence_to_doc(nlp.vocab, sentence(text))
    if store == "bytes":
        again = Doc(nlp.vocab).from_bytes(again.to_bytes())
    elif store == "JSON":
        again = Doc(nlp.vocab).from_json(again.to_json())
    else:
        (again,) = DocBin(docs=[again], store_user_data=True).get_docs(nlp.vocab)
    written = doc_to_conllu(again)
    if store == "JSON":  # has no user data, so the spaces that a Doc has no place for are lost
        written, text = (re.sub("Spaces(After|Before)=[^\n]*", "_", each) for each in (written, text))
    assert written == text

"""The reader of CoNLL-U: every byte kept, every fault named by its line."""

import io

import pytest
from conllu_samples import FULL, PLAIN, joined, pieces, row, sentence

from spacy_mindroot.conllu import Sentence, format_sentence, read_pieces
from spacy_mindroot.conllu.columns import DEPREL, HEAD
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.trees import MISSING


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


def test_replacing_a_cell_leaves_the_rest():
    found = sentence(FULL.replace("\n", "\r\n"))
    found.replace(6, HEAD, "5")
    found.replace(6, DEPREL, "dep")
    assert found.heads[5] == 5
    assert found.to_bytes().decode() == FULL.replace("1\tpunct\t1:", "5\tdep\t1:").replace("\n", "\r\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_replacing_arcs_writes_those_that_differ(end):
    text = (row(1) + row(2, "1") + row(3, "_") + "\n").replace("\n", end)
    found = sentence(text)
    assert found.replace_arcs(found.heads, found.labels) == [] and found.to_bytes() == text.encode()
    assert found.replace_arcs([2, 0, MISSING], ["dep", "root", "_"]) == [1, 2, 3]
    assert found.heads == [2, 0, MISSING] and found.labels == ["dep", "root", "_"]
    assert found.line_end == end.encode() and found.to_bytes().count(end.encode()) == 4
    assert [line.split("\t")[6:8] for line in found.text().split(end)[:3]] == [["2", "dep"], ["0", "root"], ["_", "_"]]


def test_faults_can_be_collected():
    faults = []
    raw = (row(2) + "\n" + PLAIN + row(1, columns=2) + "\n").encode()
    found = list(read_pieces(io.BytesIO(raw), "f", faults.append))
    assert [isinstance(piece, Sentence) for piece in found] == [False, True, False]
    assert b"".join(piece if isinstance(piece, bytes) else piece.to_bytes() for piece in found) == raw
    assert [str(fault)[:4] for fault in faults] == ["f:1:", "f:6:"]


def test_long_sentences():
    n = 3000
    text = "".join(row(i, str(i - 1)) for i in range(1, n + 1)) + "\n"
    assert sentence(text).heads == list(range(n))


def test_format_sentence():
    assert format_sentence(["a\tb", " "], [0, 1], ["root", "x y"], sent_id="1") == (
        "# sent_id = 1\n# text = a b _\n1\ta b\t_\tX\t_\t_\t0\troot\t_\t_\n2\t_\t_\tX\t_\t_\t1\tx_y\t_\t_\n\n"
    )


def test_comments_end_at_the_first_word():
    text = "# global.columns = FORM ID HEAD DEPREL\n# sent_id = x\n# sent_id = y\t1\t0\troot\n\n"
    found = sentence(text)
    assert found.words == ["# sent_id = y"] and found.sent_id == "x" and len(found.comments) == 2
    assert joined(pieces(text)).decode() == text


def test_whatever_gives_lines_can_be_read():
    lines = ("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n", "\n") * 2
    pieces = list(read_pieces((line.encode() for line in lines), "stream"))
    assert [piece.words for piece in pieces] == [["Go"], ["Go"]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_sentence_without_words_is_no_sentence(end):
    """As at level 1 of `udvalidate`: comments and an empty node, as in a text of nothing but an ellipsis."""
    text = f"# text = ...{end}{row('0.1').rstrip()}{end}{end}{PLAIN}".encode()
    found = pieces(text)
    assert [isinstance(piece, Sentence) for piece in found] == [False, True] and joined(found) == text
    with pytest.raises(ConlluError, match="an empty node here is 0.1"):
        pieces(row("1.1") + "\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_closed_sentence_ends_in_an_empty_line(end, missing):
    lines = FULL.rstrip("\n").split("\n")
    text = end.join([*lines, *[""] * (2 - missing)])
    found = sentence(text)
    assert found.to_bytes() == text.encode() and found.closed() == end.join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("form", "words", "spaces"),
    [
        ("Don't", ["Do", "n't"], [False]),
        ("gonna", ["gon", "na"], [False]),
        ("wmyhm", ["w", "my", "hm"], [False, False]),
        ("du", ["de", "le"], [True]),
        ("al", ["a", "el"], [True]),
        ("dunno", ["du", "n", "know"], [True, True]),
        ("in fact", ["in", "fact"], [True]),
        ("a bc", ["a", "b", "c"], [True, False]),
        ("_", ["a", "b"], [True]),
        ("one", ["one"], []),
    ],
)
@pytest.mark.parametrize("misc", ["_", "SpaceAfter=No", "X=1|SpaceAfter=No"])
def test_spaces_inside_multiword_tokens(form, words, spaces, misc):
    n = len(words)
    rows = [row(k, str(k - 1)).replace("\ta\ta", f"\t{word}\ta") for k, word in enumerate([*words, "x"], 1)]
    token = row(f"1-{n}").replace("\ta\ta", f"\t{form}\t_").replace("_\n", f"{misc}\n")
    assert sentence(token + "".join(rows) + "\n").spaces() == [*spaces, misc == "_", True]


def test_a_multiword_token_in_a_file_without_an_end():
    """Nothing but its words, and no empty line."""
    text = row("1-2", "_") + row(1) + row(2, "1")
    assert [found[:2] for found in sentence(text).multiword_tokens()] == [(1, 2)]

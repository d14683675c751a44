"""Comments and MISC attributes are added, and nothing else changes."""

import io

import pytest

from spacy_mindroot.conllu import read_pieces
from spacy_mindroot.conllu.marks import SentenceWriter, marked_sentence, with_attributes

TEXT = (
    b"# sent_id = s\n# rank = 7\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tX=1\n"
    b"1\ta\t_\tX\t_\t_\t2\tdep\t_\tSpaceAfter=No|HeadProb=0.1\n"
    b"2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
)


def read(text):
    (sentence,) = read_pieces(io.BytesIO(text), "file")
    return sentence


def test_nothing_to_add_changes_nothing():
    assert marked_sentence(read(TEXT)) == TEXT


def test_comments_and_attributes():
    marked = marked_sentence(read(TEXT), {"rank": 1, "why": "a\nb"}, {1: {"HeadProb": "0.5"}, 2: {"Note": "a b|c"}})
    expected = TEXT.replace(b"# rank = 7\n", b"# rank = 1\n# why = a b\n")
    expected = expected.replace(b"SpaceAfter=No|HeadProb=0.1", b"HeadProb=0.5|SpaceAfter=No").replace(
        b"root\t_\t_", b"root\t_\tNote=a_b_c"
    )
    assert marked == expected
    read(marked)


@pytest.mark.parametrize(
    "text", [TEXT.replace(b"\n", b"\r\n"), TEXT[:-1], TEXT.replace(b"# sent_id = s\n# rank = 7\n", b"")]
)
def test_line_ends_and_files_without_an_empty_line_or_comments(text):
    marked = marked_sentence(read(text), {"rank": 1}, {2: {"A": 1}})
    assert read(marked).column(9) == ["SpaceAfter=No|HeadProb=0.1", "A=1"]
    assert marked.count(b"\r\n") in (0, len(marked.splitlines())) and marked.endswith(b"\n\n") == text.endswith(b"\n\n")
    assert "# rank = 1" in read(marked).comments


def test_conllu_plus_without_misc():
    text = b"# global.columns = ID FORM HEAD DEPREL\n1\ta\t0\troot\n\n"
    assert marked_sentence(read(text), {"rank": 1}, {1: {"A": 1}}) == text.replace(b"1\ta", b"# rank = 1\n1\ta")


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_sentences_of_several_files_in_any_order(end):
    plus = b"# global.columns = ID FORM HEAD DEPREL\n# sent_id = p\n1\ta\t0\troot" + end
    file = io.BytesIO()
    writer = SentenceWriter(file)
    for text in (TEXT.rstrip() + end, plus, plus, TEXT):
        writer.write(read(text), {"rank": 1})
    found = list(read_pieces(io.BytesIO(file.getvalue()), "file"))
    assert [sentence.sent_id for sentence in found] == ["s", "p", "p", "s"]
    assert [len(sentence.columns) for sentence in found] == [10, 4, 4, 10]
    assert file.getvalue().count(b"global.columns") == 3  # those of the files stay, and one is added


def test_a_header_below_other_comments_moves_to_the_first_line():
    """Where a reader finds it. At the beginning of a file, it may stay where it is."""
    header = b"# global.columns = ID FORM HEAD DEPREL\n"
    text = b"# a licence\n" + header + b"1\ta\t0\troot\n\n"
    for before, expected in ((b"", text), (TEXT, TEXT + header + text.replace(header, b""))):
        file = io.BytesIO()
        writer = SentenceWriter(file)
        for each in (before, text) if before else (text,):
            writer.write(read(each))
        assert file.getvalue() == expected
        assert [len(sentence.columns) for sentence in read_pieces(io.BytesIO(expected), "file")][-1] == 4


WORDS = ["1\tde\tde\tADP\t_\t_\t0\troot\t_\t_", "2\tle\t_\tDET\t_\t_\t1\tdet\t_\t_"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_comment_is_added_after_the_others(end):
    """Before a multiword token, too, which is not yet the first word; with the line end of the file."""
    lines = ["# sent_id = x", "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_", *WORDS]
    for before, rows in ((lines[:1], lines[1:]), (lines[:1], lines[2:]), ([], lines[1:]), ([], lines[2:])):
        marked = marked_sentence(read(end.join([*before, *rows, "", ""]).encode()), {"treebank": "UD_Ä-B"})
        assert marked.decode() == end.join([*before, "# treebank = UD_Ä-B", *rows, "", ""])
        again = read(marked)
        assert again.comment("treebank") == "UD_Ä-B" and again.words == ["de", "le"]
        assert again.comment("other") is None
    marked = marked_sentence(read(b"# global.columns = FORM ID HEAD DEPREL\n# sent_id = y\t1\t0\troot\n\n"), {"a": "b"})
    assert marked.split(b"\n")[1] == b"# a = b" and read(marked).words == ["# sent_id = y"]


@pytest.mark.parametrize(
    ("cell", "attributes", "expected"),
    [
        ("_", {}, "_"),
        ("_", {"B": 1, "a": "x y|z"}, "a=x_y_z|B=1"),
        ("SpaceAfter=No", {"HeadProb": 0.5}, "HeadProb=0.5|SpaceAfter=No"),
        ("HeadProb=0.1|SpaceAfter=No", {"HeadProb": 0.5}, "HeadProb=0.5|SpaceAfter=No"),
        ("Z=1|A=2", {"B": 3}, "Z=1|A=2|B=3"),  # what is there stays in its order
        ("HeadProb", {"HeadProb": ""}, "HeadProb=_"),
    ],
)
def test_attributes_are_sorted_and_replace_those_of_their_name(cell, attributes, expected):
    assert with_attributes(cell, attributes) == expected

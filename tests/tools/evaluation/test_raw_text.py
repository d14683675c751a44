"""The text that a pipeline gets: that of the treebank, in its paragraphs."""

import pytest
from conllu_samples import sentences_in

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.evaluation.raw_text import paragraphs, text_of


def sentence(rows, *comments):
    """A sentence of rows such as "1 a SpaceAfter=No"."""
    lines = [*comments]
    for row in rows.split(";"):
        number, form, *misc = row.split()
        head = "_" if "-" in number else str(int(number) - 1)
        lines.append("\t".join([number, form, "_", "_", "_", "_", head, "dep", "_", misc[0] if misc else "_"]))
    return sentences_in("\n".join(lines) + "\n\n")[0]


FUSED = "1 A;2-3 dua SpaceAfter=No;2 de;3 la;4 b X=Y|SpaceAfter=No;5 ."


def test_multiword_tokens_stand_for_their_words():
    assert text_of(sentence(FUSED)) == "A duab. "


def test_the_comment_is_the_text_if_it_has_the_same_characters():
    assert text_of(sentence(FUSED, "# text = A   duab.")) == "A   duab. "
    assert text_of(sentence(FUSED, "# text = A du ab.")) == "A du ab. "
    assert text_of(sentence(FUSED, "# text = A de la b.")) == "A duab. "
    assert text_of(sentence("1 a SpaceAfter=No", "# text = a")) == "a"


@pytest.mark.parametrize("comment", ["# newpar", "# newpar id = 3", "# newdoc", "# newdoc id = x"])
def test_paragraphs(comment):
    first, second, third = sentence("1 a"), sentence("1 b SpaceAfter=No"), sentence("1 c", comment)
    assert list(paragraphs([first, second, third])) == ["a b", "c"]
    assert list(paragraphs([third, first])) == ["c a"]
    assert list(paragraphs([])) == []


def test_a_file_without_paragraphs_is_one(checkout):
    (text,) = paragraphs(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    assert text.startswith("My brother watered the beans this morning; the roses are fine. A farmer")


def test_it_is_the_text_that_ud_distributes(data):
    """The characters of every treebank are those of its `text` comments."""
    for path in sorted((data / "ud").glob("*/*-test.conllu")):
        sentences = list(read_conllu(path))
        text = "".join("".join(paragraphs(sentences)).split())
        comments = [comment for each in sentences for comment in each.comments if comment.startswith("# text =")]
        assert text == "".join("".join(comment.partition("=")[2].split()) for comment in comments), path.name

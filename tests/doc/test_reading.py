"""Heads, sentences and constraints of a Doc, in one place."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot.doc.reading import (
    AnnotatedSentence,
    blank_doc,
    characters_of,
    check_sentences,
    conllu_heads,
    lengths_between,
    listed,
    looks_like_many,
    read_annotated,
    read_arc_constraints,
    read_heads,
    sentence_bounds,
    sentence_lengths,
)
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens
from spacy_mindroot.errors import ConstraintsError, SentenceMismatchError

VOCAB = spacy.blank("xx").vocab


def test_heads_are_indexes_in_the_doc():
    doc = Doc(VOCAB, words=list("abcd"), heads=[1, 1, 3, 3], deps=["x", "ROOT", "", "ROOT"])
    heads, deps = read_heads(doc)
    assert heads.tolist() == [1, 1, 3, 3]
    assert [VOCAB.strings[dep] if dep else "" for dep in deps.tolist()] == ["x", "ROOT", "", "ROOT"]


@pytest.mark.parametrize(
    ("made", "lengths"),
    [
        ({"words": []}, []),
        ({"words": ["a"]}, [1]),
        ({"words": list("abc")}, None),
        ({"words": list("abc"), "sent_starts": [True, False, True]}, [2, 1]),
        ({"words": list("abc"), "sent_starts": [None, None, True]}, [2, 1]),
        ({"words": list("abc"), "sent_starts": [False, False, False]}, [3]),
        ({"words": list("abc"), "heads": [1, 1, 1], "deps": ["x", "ROOT", "x"]}, [3]),
        ({"words": list("abc"), "heads": [0, 0, 2], "deps": ["ROOT", "x", "ROOT"]}, [2, 1]),
        ({"words": list("abc"), "heads": [1, 1, 1], "deps": ["x", "", "x"]}, None),  # spaCy drops all boundaries
    ],
)
def test_sentences(made, lengths):
    doc = Doc(VOCAB, **made)
    assert sentence_lengths(doc) == lengths
    whole = [doc[:]] if len(doc) else []
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else whole
    assert sentence_bounds(doc) == [(sentence.start, sentence.end) for sentence in sentences]


def test_lengths_between_starts():
    assert lengths_between(np.array([False, False, True, True])) == [2, 1, 1]
    assert lengths_between(np.array([True])) == [1]


def test_sentences_that_fit_and_that_do_not():
    doc = Doc(VOCAB, words=list("abc"), sent_starts=[True, False, True])
    check_sentences(doc, [2, 1])
    for lengths, says in (
        ([3], "sentences of 2, 1 tokens"),
        ([2, 2], "3 tokens.* 4 in total"),
        ([2, 0, 1], "0 tokens"),
    ):
        with pytest.raises(SentenceMismatchError, match=says):
            check_sentences(doc, lengths)
    check_sentences(Doc(VOCAB, words=list("abc")), [1, 2])  # nothing is known of its sentences


def test_constraints_sentence_by_sentence():
    doc = Doc(VOCAB, words=list("abcd"))
    first, second = read_arc_constraints(doc, {"required": [(0, 1), (3, 3)], "forbidden": [(2, 3), (0, 3)]}, [2, 2])
    assert first.required == [(1, 2)] and first.forbidden == []
    assert second.required == [(2, 0)] and second.forbidden == [(1, 2)]
    with pytest.raises(ConstraintsError, match="another sentence"):
        read_arc_constraints(doc, {"required": [(0, 3)]}, [2, 2])


def test_long_lists_are_cut_short_in_messages():
    assert listed([1, 2]) == "1, 2"
    assert listed([0] * 11) == ", ".join("0" * 10) + ", ... (11 in all)"


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("", None),
        ("The gardener waters the roses.", None),
        ("The gardener waters the roses. Anna baked bread.", "Anna"),
        ('"We saw them ." (She was there.)', "She"),
        ("J. R. R. Tolkien wrote the book.", None),
        ("They left at five p. m. on Monday.", None),
        ('"I saw them there!" she said.', None),
        ("We wait and wait ... and wait.", None),
        ("A title here \n\n Text follows", "Text"),
        ("One line \n and the next", None),
        ("\n\n One line", None),
        ("我爱 北京 天安门 好 。 你好", "你好"),
    ],
)
def test_a_text_that_looks_like_many_sentences(text, second):
    doc = spacy.blank("xx")(text)
    found = looks_like_many(doc)
    assert (None if found is None else doc[found].text) == second


def test_heads_as_in_conllu():
    """Of each sentence, from its start; white space, and a token without a label, are tokens as any."""
    doc = Doc(VOCAB, ["a", "b", " ", "c", "d"], heads=[1, 1, 1, 3, 3], deps=["x", "ROOT", "dep", "ROOT", ""])
    assert [own.tolist() for own in conllu_heads(doc)] == [[2, 0, 2], [0, -1]]
    assert conllu_heads(Doc(VOCAB)) == []
    assert [own.tolist() for own in conllu_heads(Doc(VOCAB, ["a", "b"]))] == [[-1, -1]]


def test_a_blank_doc_has_tokens_and_sentences_alone():
    doc = Doc(VOCAB, ["a", "b", "c"], spaces=[True, False, True], heads=[0, 0, 2], deps=["ROOT", "x", "ROOT"])
    blank = blank_doc(VOCAB, read_annotated(doc))
    assert (blank.text, [len(sent) for sent in blank.sents], blank.has_annotation("DEP")) == ("a bc ", [2, 1], False)


@pytest.mark.parametrize("surface, words", [("du", ("de", "le")), ("á", ("a", "a")), ("a b", ("a", "b"))])
def test_the_characters_of_a_sentence_do_not_depend_on_its_words(surface, words):
    """Neither where its multiword tokens can be divided, nor where they can't."""
    tokens = [MultiwordToken(1, 3, words, surface), MultiwordToken(4, 6, ("x", "y"), "z")]
    sentence = AnnotatedSentence(["va", *words, "vin", "x", "y"], [True] * 6, np.zeros(6), [""] * 6, multiword=tokens)
    expected = f"va{surface.replace(' ', '')}vinz"
    assert characters_of(sentence) == expected
    doc = blank_doc(VOCAB, [sentence])
    assert [characters_of(each) for each in read_annotated(doc)] == [expected]


def test_a_multiword_token_in_two_sentences_is_not_one_to_readers():
    doc = Doc(spacy.blank("xx").vocab, ["va", "d", "u"], spaces=[True, False, False], sent_starts=[True, False, True])
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("de", "le"))])
    first, second = read_annotated(doc)
    assert (first.words, second.words) == (["va", "d"], ["u"])
    assert blank_doc(doc.vocab, [first, second]).text == "va du"

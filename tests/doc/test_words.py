"""Multiword tokens on a Doc, and how words divide a surface form."""

import pickle
from itertools import combinations, pairwise

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import LOWER, NORM, ORTH, PREFIX, SHAPE, SUFFIX, TAG
from spacy.tokens import Doc, DocBin, Span

from spacy_mindroot.doc.words import (
    MultiwordToken,
    attributes_of,
    copy_tokens,
    divide,
    multiword_tokens,
    part_of,
    set_multiword_tokens,
    texts_of,
    word_forms,
)

NLP = spacy.blank("xx")


def doc_of_du():
    doc = Doc(NLP.vocab, ["va", "d", "u", "parc"], spaces=[True, False, True, False])
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("de", "le"))])
    return doc


DU = [(1, 3, ("de", "le"), "du")]


def restored(doc):
    yield Doc(doc.vocab).from_bytes(doc.to_bytes())
    yield from DocBin(docs=[doc]).get_docs(doc.vocab)
    yield Doc(doc.vocab).from_json(doc.to_json())
    yield doc.copy()
    yield pickle.loads(pickle.dumps(doc))
    yield copy_tokens(doc)
    yield part_of(doc, 0, 4)
    yield Doc.from_docs([doc, Doc(doc.vocab)], ensure_whitespace=False)


def test_what_belongs_together_is_known_and_the_text_is_as_it_was():
    doc = doc_of_du()
    assert doc.text == "va du parc" and multiword_tokens(doc) == DU
    assert word_forms(doc) == ["va", "de", "le", "parc"] and [token.norm_ for token in doc[1:3]] == ["de", "le"]
    assert multiword_tokens(Doc(NLP.vocab, ["a"])) == []


@pytest.mark.parametrize("k", range(8), ids=["bytes", "DocBin", "JSON", "copy", "pickle", "tokens", "part", "joined"])
def test_it_is_stored_with_the_doc(k):
    doc = list(restored(doc_of_du()))[k]
    assert multiword_tokens(doc) == DU and doc.text == "va du parc" and word_forms(doc)[1:3] == ["de", "le"]
    if k != 2:  # spaCy's JSON has no norms
        assert [token.norm_ for token in doc[1:3]] == ["de", "le"]


def test_the_surface_form_of_words_that_cannot_divide_it_is_stored():
    doc = Doc(NLP.vocab, ["vai", "a", "a", "vila"])
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("a", "a"), "á")])
    for k, again in enumerate([doc, *restored(doc)]):
        assert multiword_tokens(again) == [(1, 3, ("a", "a"), "á")], k


def test_a_part_has_the_multiword_tokens_that_are_whole():
    doc = doc_of_du()
    assert multiword_tokens(part_of(doc, 1, 4)) == [(0, 2, ("de", "le"), "du")]
    assert multiword_tokens(part_of(doc, 2, 4)) == []


def test_spelling_is_that_of_the_form():
    doc = doc_of_du()
    plain = Doc(NLP.vocab, ["va", "de", "le", "parc"], tags=["V", "P", "D", "N"])
    doc[1].tag_ = "P"
    attrs = [ORTH, LOWER, NORM, PREFIX, SUFFIX, SHAPE, TAG]
    found = attributes_of(doc, attrs)
    assert (found[:, :-1] == plain.to_array(attrs)[:, :-1]).all() and found[1, -1] == plain[1].tag
    assert attributes_of(doc, [NORM]).shape == (4, 1) and attributes_of(Doc(NLP.vocab), attrs).shape == (0, 7)


def test_texts_of_words():
    found = texts_of(["a", "de", "le", "o", "o"], [True] * 5, [MultiwordToken(1, 3, ("de", "le"), "du")])
    assert found == (["a", "d", "u", "o", "o"], [True, False, True, True, True])
    assert texts_of(["o", "o"], [True, False], [MultiwordToken(0, 2, ("o", "o"), "ô")])[0] == ["o", "o"]


def test_it_is_replaced_as_a_whole():
    doc = doc_of_du()
    set_multiword_tokens(doc, [])
    assert multiword_tokens(doc) == []
    plain = Doc(NLP.vocab, ["a"])
    set_multiword_tokens(plain, [])
    assert not plain.spans


@pytest.mark.parametrize(
    ("surface", "words", "parts"),
    [
        ("du", ["de", "le"], ["d", "u"]),
        ("aux", ["à", "les"], ["a", "ux"]),
        ("Don't", ["Do", "n't"], ["Do", "n't"]),
        ("dámelo", ["dá", "me", "lo"], ["dá", "me", "lo"]),
        ("facelo", ["facer", "lo"], ["face", "lo"]),
        ("zum", ["zu", "dem"], ["zu", "m"]),
        ("á", ["a", "a"], None),
        ("ab", ["x", "y", "z"], None),
    ],
)
def test_the_parts_are_those_most_like_the_words(surface, words, parts):
    assert divide(surface, tuple(words)) == (None if parts is None else tuple(parts))


def distance(a, b):
    """The edit distance by its definition."""
    if not a or not b:
        return len(a) + len(b)
    return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))


@given(st.text("abc", min_size=1, max_size=5), st.lists(st.text("abc", min_size=1, max_size=3), min_size=2, max_size=3))
def test_no_division_is_more_like_the_words(surface, words):
    found = divide(surface, tuple(words))
    n, k = len(surface), len(words)
    if n < k:
        assert found is None
        return
    assert found is not None and "".join(found) == surface and all(found) and len(found) == k
    places = ((0, *cuts, n) for cuts in combinations(range(1, n), k - 1))
    divisions = [[surface[a:b] for a, b in pairwise(cuts)] for cuts in places]
    totals = [sum(map(distance, parts, words)) for parts in divisions]
    assert sum(map(distance, found, words)) == min(totals)


def test_norms_of_words_are_not_those_of_tokens_that_are_no_longer_words():
    doc = doc_of_du()
    set_multiword_tokens(doc, [])
    assert [token.norm_ for token in doc] == ["va", "d", "u", "parc"]


def test_any_form_is_stored_as_it_is():
    """Even with what separates forms in a label; a group of one-word spans is not one of multiword tokens."""
    doc = Doc(NLP.vocab, ["ab", "x"])
    set_multiword_tokens(doc, [MultiwordToken(0, 2, ("a + b", "c"))])
    assert multiword_tokens(doc)[0].words == ("a + b", "c")
    doc.spans["multiword_tokens"] = [Span(doc, 0, 1, label="MWT")]
    assert multiword_tokens(doc) == [] and word_forms(doc) == ["ab", "x"]


def test_multiword_tokens_are_in_order():
    doc = Doc(NLP.vocab, ["d", "u", "d", "u"], spaces=[False, True, False, False])
    set_multiword_tokens(doc, [MultiwordToken(2, 4, ("de", "le")), MultiwordToken(0, 2, ("de", "le"))])
    assert [token.start for token in multiword_tokens(doc)] == [0, 2]
    assert [multiword_tokens(part_of(doc, *bound))[0].start for bound in ((0, 2), (1, 4), (2, 4))] == [0, 1, 0]


def test_no_part_begins_with_a_combining_mark():
    assert divide("a\u0301", ("a", "a")) is None and divide("a\u0301s", ("a", "as")) == ("a\u0301", "s")


def test_a_long_form_stays_whole_unless_it_is_its_words():
    assert divide("x" * 1000, ("y", "z")) is None and divide("x" * 1000 + "y", ("x" * 1000, "y")) == ("x" * 1000, "y")

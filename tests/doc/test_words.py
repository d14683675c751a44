"""Multiword tokens on a Doc, and how words divide a surface form."""

from itertools import combinations, pairwise

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_mindroot.doc.words import divide, form_of, multiword_tokens, set_multiword_tokens

NLP = spacy.blank("xx")


def doc_of_du():
    doc = Doc(NLP.vocab, ["va", "d", "u", "parc"], spaces=[True, False, True, False])
    set_multiword_tokens(doc, [(1, 3)], [["de", "le"]])
    return doc


def restored(doc):
    yield Doc(doc.vocab).from_bytes(doc.to_bytes())
    yield from DocBin(docs=[doc]).get_docs(doc.vocab)
    yield Doc(doc.vocab).from_json(doc.to_json())
    yield doc.copy()


def test_what_belongs_together_is_known_and_the_text_is_as_it_was():
    doc = doc_of_du()
    assert doc.text == "va du parc" and multiword_tokens(doc) == [(1, 3)]
    assert [form_of(token, {1, 2}) for token in doc] == ["va", "de", "le", "parc"]
    assert multiword_tokens(Doc(NLP.vocab, ["a"])) == []


@pytest.mark.parametrize("k", range(4), ids=["bytes", "DocBin", "JSON", "copy"])
def test_it_is_stored_with_the_doc(k):
    doc = list(restored(doc_of_du()))[k]
    assert multiword_tokens(doc) == [(1, 3)] and doc.text == "va du parc"
    if k != 2:  # spaCy's JSON has no norms
        assert [token.norm_ for token in doc[1:3]] == ["de", "le"]


def test_it_is_replaced_as_a_whole():
    doc = doc_of_du()
    set_multiword_tokens(doc, [], [])
    assert multiword_tokens(doc) == []
    plain = Doc(NLP.vocab, ["a"])
    set_multiword_tokens(plain, [], [])
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

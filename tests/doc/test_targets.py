"""Distributions of teachers on a Doc: as tables and back, joined, moved and stored."""

import numpy as np
import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_mindroot.doc.targets import (
    Targets,
    copies_beside,
    join_targets,
    move_targets,
    read_targets,
    to_table,
    write_targets,
)


def distributions(rng, rows, columns):
    p = rng.random((rows, columns)) ** 4
    return p / p.sum(axis=1, keepdims=True)


def a_doc(rng, n):
    doc = Doc(Vocab(), words=[f"w{k}" for k in range(n)])
    heads = to_table(distributions(rng, n, n), np.arange(n))
    others = [to_table(distributions(rng, n, 3), np.array([7, 8, 9], dtype=np.uint64)) for _ in range(2)]
    write_targets(doc, Targets(heads, *others))
    return doc


def test_tables_have_what_is_probable(rng):
    p = distributions(rng, 6, 5)
    p[2] = 0
    p[3] = [0, 0, 1, 0, 0]
    p[4] = [0.99995, 0.00005, 0, 0, 0]
    table = to_table(p, np.arange(10, 15))
    dense = table.to_dense(table.values - 10, 6, 5)
    assert dense == pytest.approx(p, abs=1e-3)
    assert dense[3].tolist() == p[3].tolist() and not dense[2].any()
    assert np.delete(dense.sum(axis=1), 2) == pytest.approx(1, abs=1e-12)  # what is left adds up to 1
    assert dense[4].tolist() == [1, 0, 0, 0, 0]
    assert table.probs.dtype == np.float16
    without = table.to_dense(np.where(table.values == 12, -1, table.values - 10), 6, 5)
    assert not without[:, 2].any() and not without[3].any()


def test_values_may_differ_by_token(rng):
    values = np.array([[5, 6], [6, 5]])
    table = to_table(np.array([[0.25, 0.75], [1.0, 0.0]]), values)
    assert list(zip(table.tokens, table.values, table.probs, strict=True)) == [(0, 5, 0.25), (0, 6, 0.75), (1, 6, 1)]


def test_are_stored_with_the_doc(rng):
    doc = a_doc(rng, 5)
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (other,) = DocBin().from_bytes(stored).get_docs(Vocab())
    for one, two in zip(read_targets(doc), read_targets(other), strict=True):
        for a, b in zip(one, two, strict=True):
            assert a.dtype == b.dtype and a.tolist() == b.tolist()


def test_are_joined_end_to_end(rng):
    docs = [a_doc(rng, 3), Doc(Vocab(), words=["x", "y"]), a_doc(rng, 4)]
    joined = join_targets(docs)
    first, last = read_targets(docs[0]), read_targets(docs[2])
    assert joined.heads.tokens.tolist() == [*first.heads.tokens, *(5 + last.heads.tokens)]
    assert joined.heads.values.tolist() == [*first.heads.values, *(5 + last.heads.values)]
    assert joined.tags.values.tolist() == [*first.tags.values, *last.tags.values]
    assert joined.labels.tokens.tolist() == [*first.labels.tokens, *(5 + last.labels.tokens)]
    assert join_targets([docs[1]]) is None and join_targets([]) is None


def test_move_with_their_tokens(rng):
    targets = read_targets(a_doc(rng, 3))
    places = np.array([0, 2, 5])
    moved = move_targets(targets, places)
    assert moved.heads.tokens.tolist() == places[targets.heads.tokens].tolist()
    assert moved.heads.values.tolist() == places[targets.heads.values].tolist()
    assert moved.labels.tokens.tolist() == places[targets.labels.tokens].tolist()
    assert moved.labels.values.tolist() == targets.labels.values.tolist()


def test_nothing_is_nothing():
    doc = Doc(Vocab(), words=["a"])
    write_targets(doc, None)
    assert read_targets(doc) is None and not doc.user_data


@pytest.mark.parametrize(
    "gold, taught, copies", [(20, 840, 14), (100, 300, 1), (100, 301, 1), (100, 0, 1), (900, 90, 1)]
)
def test_annotated_sentences_are_a_quarter_of_what_is_read(gold, taught, copies):
    assert copies_beside(gold, taught) == copies

"""ArcLabels of any scorer."""

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import Doc

from spacy_mindroot.errors import LabelsError
from spacy_mindroot.pipeline.arc_labels import ArcLabels, score_all_labels


class Mine(ArcLabels):
    """Labels by distance, with a count of how often all were wanted."""

    dtype = np.dtype("u1")

    def __init__(self, n):
        self.shape = (n, n + 1)
        self.all = 0

    def of_tree(self, heads):
        return self.of_all_arcs()[np.arange(len(heads)), heads]

    def of_all_arcs(self):
        self.all += 1
        n = self.shape[0]
        return (np.abs(np.arange(1, n + 1)[:, None] - np.arange(n + 1)) % 3).astype(self.dtype)


def make_doc(nlp, n=3):
    doc = Doc(nlp.vocab, words=["a", "b", "c"])
    doc._.arc_scores = [np.array([[9.0, 0, 0, 0], [0, 9, 0, 0], [0, 9, 0, 0]])]
    doc._.arc_labels, doc._.arc_label_names = [Mine(n)], ["zero", "one", "two"]
    return doc


def test_any_scorer_may_bring_them():
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("mind_root")(make_doc(nlp))
    assert [token.dep_ for token in doc] == ["ROOT", "one", "two"]


def test_a_wrong_shape_is_an_error():
    nlp = spacy.blank("xx")
    with pytest.raises(LabelsError, match=r"\(3, 4\).*\(2, 3\)"):
        nlp.add_pipe("mind_root")(make_doc(nlp, n=2))


def test_an_array_to_numpy_and_to_msgpack():
    labels = Mine(2)
    assert np.asarray(labels, dtype=int).tolist() == [[1, 0, 1], [2, 1, 0]]
    assert srsly.msgpack_loads(srsly.msgpack_dumps({"x": labels}))["x"].tolist() == [[1, 0, 1], [2, 1, 0]]


def test_arrays_stay_what_they_are():
    doc = make_doc(spacy.blank("xx"))
    array = np.zeros((3, 4), dtype=int)
    doc._.arc_labels = [array, Mine(1)]
    score_all_labels(doc)
    assert doc._.arc_labels[0] is array and type(doc._.arc_labels[1]) is np.ndarray
    doc._.arc_labels = array  # one matrix over the whole Doc
    score_all_labels(doc)
    assert doc._.arc_labels is array

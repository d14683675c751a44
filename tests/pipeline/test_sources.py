"""Score sources: one interface, whether a class or a plain function."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot.errors import LabelsError, MissingScoresError, ScoresShapeError
from spacy_mindroot.pipeline.mind_root import MindRoot
from spacy_mindroot.pipeline.sources import (
    DocArcScores,
    FunctionSource,
    ScoreSource,
    SourcedScores,
    UserDataScores,
    WholeDocScores,
    to_source,
)

CHAIN = np.array([[9.0, 0, 0], [0, 9, 0]])  # a is the root, b depends on it
SQUARE = np.array([[0.0, 0, 0], [9, 0, 0], [0, 9, 0]])


def make_doc():
    return Doc(spacy.blank("xx").vocab, words=["a", "b"])


@pytest.mark.parametrize("function", [lambda doc: [CHAIN], lambda doc: CHAIN[np.newaxis], lambda doc: iter([CHAIN])])
def test_a_function_is_a_source(function):
    source = to_source(function)
    assert isinstance(source, FunctionSource)
    doc = make_doc()
    assert source.read(doc).matrices[0].tolist() == CHAIN.tolist()
    source.drop(doc)  # nothing is on the Doc
    assert [t.head.text for t in MindRoot(scores=function)(doc)] == ["a", "a"]


@pytest.mark.parametrize(("result", "error"), [(None, MissingScoresError), (CHAIN, ScoresShapeError)])
def test_a_function_that_returns_something_else_is_named(result, error):
    def my_scores(doc):
        return result

    with pytest.raises(error, match=r"my_scores\(\)"):
        FunctionSource(my_scores).read(make_doc())


def test_a_source_of_ones_own_brings_labels_and_sentences():
    class Mine(ScoreSource):
        dropped = False

        def read(self, doc):
            return SourcedScores([CHAIN], [np.array([[0, 1, 1], [0, 1, 1]])], ["root", "obj"])

        def drop(self, doc):
            self.dropped = True

    source = Mine()
    assert to_source(source) is source
    assert [t.dep_ for t in MindRoot(scores=source)(make_doc())] == ["ROOT", "obj"]
    assert source.dropped


@pytest.mark.parametrize(
    ("source", "leave", "dropped"),
    [
        (DocArcScores(), lambda doc: doc._.set("arc_scores", [CHAIN]), True),
        (DocArcScores("square"), lambda doc: doc._.set("arc_scores", [SQUARE]), True),
        (UserDataScores("mine"), lambda doc: doc.user_data.update(mine=[CHAIN]), True),
        (UserDataScores("mine", "square_transposed"), lambda doc: doc.user_data.update(mine=[SQUARE.T]), True),
    ],
)
def test_sources_on_the_doc(source, leave, dropped):
    doc = make_doc()
    with pytest.raises(MissingScoresError, match="Put a scorer before"):
        source.read(doc)
    leave(doc)
    assert source.read(doc).matrices[0].tolist() == CHAIN.tolist()
    source.drop(doc)
    with pytest.raises(MissingScoresError):
        source.read(doc)


def test_labels_are_laid_out_like_the_scores():
    doc = make_doc()
    doc._.arc_scores, doc._.arc_labels, doc._.arc_label_names = [SQUARE], [np.arange(9).reshape(3, 3)], ["x"] * 9
    sourced = DocArcScores("square").read(doc)
    assert sourced.arc_labels[0].tolist() == [[3, 4, 5], [6, 7, 8]]
    doc._.arc_label_names = None
    with pytest.raises(LabelsError, match="no doc._.arc_label_names"):
        DocArcScores("square").read(doc)


@pytest.mark.parametrize("names", [["a", 1], [b"a"], [["a"]]])
def test_label_names_that_are_no_strings(names):
    doc = make_doc()
    doc._.arc_scores, doc._.arc_labels, doc._.arc_label_names = [CHAIN], [np.zeros((2, 3), dtype=int)], names
    with pytest.raises(LabelsError, match="a list of strings"):
        MindRoot(scores=DocArcScores())(doc)


def test_one_matrix_is_cut_along_the_sentences():
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b", "c"], sent_starts=[True, False, True])
    doc._.arc_scores = np.arange(12.0).reshape(3, 4)
    first, second = WholeDocScores().read(doc).matrices
    assert first.tolist() == [[0, 1, 2], [4, 5, 6]] and second.tolist() == [[8, 11]]
    for n in (2, 4):
        doc._.arc_scores = np.zeros((n, n + 1))
        with pytest.raises(ScoresShapeError, match=f"is over {n} tokens, but the Doc has 3"):
            WholeDocScores().read(doc)


def test_after_another_parser_the_message_says_what_it_lacks():
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root")
    doc = Doc(nlp.vocab, ["Ann", "left"], heads=[1, 1], deps=["nsubj", "ROOT"])
    with pytest.raises(
        MissingScoresError, match="spaCy's `parser` leaves no scores. Put `arc_scorer` in its .*head_scores.v1"
    ):
        nlp.get_pipe("mind_root")(doc)
    repaired = spacy.blank("en").add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.head_scores.v1"}})
    assert [token.head.i for token in repaired(doc)] == [1, 1], "what the message advises"

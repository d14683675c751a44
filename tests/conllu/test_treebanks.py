"""The related treebanks of a mixed corpus, from the comments of its sentences to the tokens of Docs."""

import numpy as np
import pytest
import spacy
from spacy.strings import get_string_id
from spacy.tokens import Doc

from spacy_mindroot.conllu.corpus import ConlluCorpus
from spacy_mindroot.conllu.passages import PassageCorpus

SENTENCE = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\ton\ton\tADV\t_\t_\t1\tadvmod\t_\t_\n\n"
TREEBANKS = [None, "UD_A", "UD_B", None, "UD_A"]


@pytest.fixture
def path(tmp_path):
    comments = [f"# related_treebank = {name}\n" if name else "# text = Go on\n" for name in TREEBANKS]
    (tmp_path / "mixed.conllu").write_text("".join(comment + SENTENCE for comment in comments), "utf8")
    return tmp_path / "mixed.conllu"


def expected(doc):
    """The marks of a Doc that begins with the first sentence."""
    names = iter(TREEBANKS)
    marks = []
    for token in doc:
        if token.is_sent_start:
            name = next(names)
        marks.append(get_string_id(name) if name else 0)
    return marks


def test_marks_are_on_the_tokens_of_each_sentence(path):
    nlp = spacy.blank("xx")
    (example,) = ConlluCorpus(path, sentences_per_doc=5)(nlp)
    for doc in (example.predicted, example.reference):
        assert doc._.treebanks.dtype == np.uint64 and doc._.treebanks.tolist() == expected(example.reference)
    assert [each.predicted._.treebanks is not None for each in ConlluCorpus(path)(nlp)] == list(map(bool, TREEBANKS))


@pytest.mark.parametrize("newlines", [0.0, 1.0], ids=["plain", "with white space"])
def test_marks_are_on_the_tokens_of_passages(path, newlines):
    nlp = spacy.blank("xx")
    (example,) = PassageCorpus(path, min_sentences=5, max_sentences=5, newlines=newlines)(nlp)
    assert len(example.predicted) == 10 or newlines
    assert example.predicted._.treebanks.tolist() == expected(example.reference)


def test_other_corpora_have_no_marks(path, tmp_path):
    path.write_text(SENTENCE * 2, "utf8")
    nlp = spacy.blank("xx")
    for corpus in (ConlluCorpus(path), PassageCorpus(path, min_sentences=2, max_sentences=2)):
        assert all(each.predicted._.treebanks is None for each in corpus(nlp))
    assert Doc(nlp.vocab, words=["a"])._.treebanks is None

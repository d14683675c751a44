"""The cells of Docs are those of `doc_to_conllu`, but faster."""

import numpy as np
import pytest
import spacy
from corpora_helpers import make_model, texts
from spacy.tokens import Doc

from spacy_mindroot.conllu import doc_to_conllu
from spacy_mindroot.conllu.rows import Cells, parsed_sentences, rows_text
from spacy_mindroot.conllu.sentence import format_rows
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.pipeline.annotate import write_results, write_trees

NLP = spacy.blank("en")
DOC = Doc(
    NLP.vocab,
    words=["A\u00a0b", "runs", "_", "Go", "!"],
    spaces=[True, False, True, False, False],
    lemmas=["a", "", "_", "go", "!"],
    pos=["NOUN", "VERB", "", "INTJ", "PUNCT"],
    tags=["N", "", "", "X Y", ""],
    morphs=["Case=Nom|Number=Sing", "", "", "", ""],
    heads=[1, 1, 1, 3, 3],
    deps=["nsubj", "ROOT", "dep", "ROOT", "punct"],
)


def written(sentences):
    return "".join(format_rows([f"# text = {rows_text(s.rows, s.ranges)}"], s.rows, s.ranges) for s in sentences)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "tiny")


def test_all_columns():
    (first, second) = parsed_sentences(DOC, Cells(NLP.vocab.strings))
    assert list(first.tokens) == [0, 1, 2] and list(second.tokens) == [3, 4]
    assert written([first, second]) == doc_to_conllu(DOC)
    assert second.rows[0] == ["1", "Go", "go", "INTJ", "X Y", "_", "0", "root", "_", "SpaceAfter=No"]


def parsed(model):
    nlp = spacy.load(model)
    found = [*nlp.pipe(texts(40)), nlp("A  text   with\nspace. "), nlp(""), nlp("One"), nlp("  \n ")]
    du = Doc(NLP.vocab, ["d", "u", " ", "d", "u"], [False, True, False, False, False])
    set_multiword_tokens(du, [MultiwordToken(0, 2, ("de", "le")), MultiwordToken(3, 5, ("de", "le"))])
    return [*found, DOC, NLP("No tree here."), NLP(""), du]


def test_the_same_as_from_doc_to_conllu(model):
    for doc in parsed(model):
        assert written(parsed_sentences(doc, Cells(doc.vocab.strings))) == doc_to_conllu(doc)


def test_white_space_tokens_have_no_rows():
    doc = NLP("A  b")
    (sentence,) = parsed_sentences(doc, Cells(NLP.vocab.strings))
    assert list(sentence.tokens) == [0, 2] and len(sentence.rows) == 2


def test_heads_in_other_sentences_are_an_error():
    doc = Doc(NLP.vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", "dep"])
    doc[1].is_sent_start  # noqa: B018
    from spacy.attrs import SENT_START

    doc.from_array([SENT_START], np.array([1, 1], dtype=np.uint64))
    with pytest.raises(ConlluError, match="is in another sentence"):
        parsed_sentences(doc, Cells(NLP.vocab.strings))


def test_results_of_the_component():
    from spacy_mindroot.inference import confidence

    doc = Doc(NLP.vocab, words=["a", " ", "b", "c"], spaces=[False] * 4, sent_starts=[True, False, False, False])
    scores = np.array([[0, 0, 3, 1, 0], [1, 2, 0, 0, 0], [0.5, 0, 2, 0, 1], [0, 0, 0, 1, 0]], dtype=float)
    heads = np.array([2, 0, 2, 3], dtype=np.int32)  # the root is white space
    sure = confidence(scores, heads)
    write_trees(doc, [heads], None, root_label="ROOT", fallback_label="dep")
    other = np.array([3, 1, 0, 2], dtype=np.int32)
    results = {
        "trees": [(heads, 8.0), (other, 1.5)],
        "tree_margin": float("inf"),
        "tree_logprob": sure.tree_logprob,
        "head_prob": sure.head_prob.tolist(),
        "head_entropy": sure.head_entropy.tolist(),
    }
    write_results(doc, [heads], [results])
    (sentence,) = parsed_sentences(doc, Cells(NLP.vocab.strings))
    assert [row[6] for row in sentence.rows] == ["0", "1", "2"]
    assert [found.tolist() for found, _ in sentence.trees] == [[0, 1, 2], [2, 0, 1]]
    assert sentence.comments() == {
        "tree_1": "weight=8 heads=0,1,2",
        "tree_2": "weight=1.5 heads=2,0,1",
        "tree_logprob": f"{sure.tree_logprob:.6g}",
        "tree_margin": "inf",
    }
    assert sentence.misc()[1] == {
        "HeadEntropy": f"{sure.head_entropy[2]:.4f}",
        "HeadProb": f"{sure.head_prob[2]:.4f}",
    }

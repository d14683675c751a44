"""The output of a pipeline in CoNLL-U: its own annotation, and nothing of gold's."""

import pytest
import spacy
from conllu_samples import sentences_in
from spacy.tokens import Doc

from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.evaluation import predicting
from spacy_mindroot.tools.evaluation.predicting import (
    predict,
    predict_from_raw_text,
    predict_from_tokens,
    with_confidence,
)

GOLD = """# newdoc
# sent_id = s-1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tKey=a
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t1:obj\tGloss=us
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\tGloss=sea|SpaceAfter=No
5.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_
6\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_

# newpar
# text = Sí.
1\tSí\tsí\tINTJ\tI\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\tF\t_\t1\tpunct\t_\t_

"""


@spacy.Language.component("last_head_for_test_predicting")
def last_head_for_test_predicting(doc):
    """Attaches every token of a sentence to its last token; the first gets two more annotations."""
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence in sentences:
        for token in sentence:
            token.dep_ = "dep"
            token.head = sentence[-1]
        sentence[-1].dep_ = "ROOT"
        sentence[0].lemma_, sentence[0].pos_ = "x y", "NOUN"
    return doc


@spacy.Language.component("two_roots_for_test_predicting")
def two_roots_for_test_predicting(doc):
    for token in doc:
        token.dep_ = "ROOT"
    return doc


@spacy.Language.component("scores_for_test_predicting")
def scores_for_test_predicting(doc):
    doc._.arc_scores = [[[0.0] * (len(sentence) + 1)] * len(sentence) for sentence in doc.sents]
    return doc


@spacy.Language.component("fails_for_test_predicting")
def fails_for_test_predicting(doc):
    raise RuntimeError("no luck")


def pipeline(*names):
    nlp = spacy.blank("es")
    for name in names:
        nlp.add_pipe(name)
    return nlp


def gold():
    return sentences_in(GOLD)


def written(nlp, **options):
    return b"".join(sentence.to_bytes() for sentence in predict(nlp, gold(), **options)).decode()


def test_from_tokens_nothing_of_gold_is_kept_but_words_and_spaces():
    text = "".join(predict_from_tokens(pipeline("last_head_for_test_predicting"), gold()))
    assert text == (
        "# newdoc\n# sent_id = s-1\n# text = Vámonos al mar.\n"
        "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tVamos\tx y\tNOUN\t_\t_\t6\tdep\t_\t_\n"
        "2\tnos\t_\t_\t_\t_\t6\tdep\t_\t_\n"
        "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\ta\t_\t_\t_\t_\t6\tdep\t_\t_\n"
        "4\tel\t_\t_\t_\t_\t6\tdep\t_\t_\n"
        "5\tmar\t_\t_\t_\t_\t6\tdep\t_\tSpaceAfter=No\n"
        "6\t.\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        "# newpar\n# text = Sí.\n"
        "1\tSí\tx y\tNOUN\t_\t_\t2\tdep\t_\tSpaceAfter=No\n"
        "2\t.\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert len(sentences_in(text)) == 2


def test_surface_tokens():
    text = "".join(predict_from_tokens(pipeline("last_head_for_test_predicting"), gold(), surface_tokens=True))
    first, _ = sentences_in(text)
    assert (first.words, first.heads) == (["Vámonos", "al", "mar", "."], [4, 4, 4, 0])


def test_gold_boundaries_are_set():
    """A component that finds sentences finds no others."""
    (gold,) = sentences_in(GOLD.partition("# newpar")[0].replace("Vamos", "?").replace("Vámonos", "?nos"))
    text = "".join(predict_from_tokens(pipeline("sentencizer", "last_head_for_test_predicting"), [gold]))
    (sentence,) = sentences_in(text)
    assert (sentence.words[0], sentence.heads) == ("?", [6, 6, 6, 6, 6, 0])


def test_a_sentence_that_a_parser_splits_stays_one():
    text = "".join(predict_from_tokens(pipeline("two_roots_for_test_predicting"), gold()))
    first, second = sentences_in(text)
    assert (first.heads, second.heads) == ([0] * 6, [0] * 2)


def test_from_raw_text_sentences_are_those_of_the_pipeline():
    text = "".join(predict_from_raw_text(pipeline("sentencizer", "last_head_for_test_predicting"), gold()))
    first, second = sentences_in(text)
    assert (first.words, first.heads) == (["Vámonos", "al", "mar", "."], [4, 4, 4, 0])
    assert first.comments == ["# newpar id = p1", "# text = Vámonos al mar."]
    assert (second.words, second.heads) == (["Sí", "."], [2, 0])
    assert second.comments[0] == "# newpar id = p2"


def test_a_sentence_per_paragraph_where_nothing_is_found():
    text = "".join(predict_from_raw_text(pipeline("last_head_for_test_predicting"), gold()[1:] * 2))
    assert [each.words for each in sentences_in(text)] == [["Sí", "."]] * 2


@pytest.mark.parametrize("predict", [predict_from_tokens, predict_from_raw_text])
def test_probabilities(predict):
    nlp = pipeline("sentencizer", "scores_for_test_predicting", "mind_root")
    assert "HeadProb" not in "".join(predict(nlp, gold()[1:]))
    with with_confidence(nlp):
        (sentence,) = sentences_in("".join(predict(nlp, gold()[1:])))
    assert "HeadProb" not in "".join(predict(nlp, gold()[1:]))  # the pipeline is as it was
    assert [row[-1].strip() for row in sentence.rows] == [b"HeadProb=0.5000|SpaceAfter=No", b"HeadProb=0.5000"]


@pytest.mark.parametrize("predict", [predict_from_tokens, predict_from_raw_text])
def test_faults_are_named(predict):
    with pytest.raises(CorpusError, match="Evaluate a pipeline with a parser"):
        list(predict(pipeline("sentencizer"), gold()))
    with pytest.raises(CorpusError, match="RuntimeError.*no luck"):
        list(predict(pipeline("fails_for_test_predicting"), gold()))


def test_long_texts_are_parsed():
    nlp = pipeline("last_head_for_test_predicting")
    nlp.max_length = 3
    assert len("".join(predict_from_raw_text(nlp, gold()[1:]))) > 3


def test_white_space_tokens_are_not_words(monkeypatch):
    nlp = pipeline("last_head_for_test_predicting")
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=["Sí", " ", "."], spaces=[False] * 3)
    monkeypatch.setattr(predicting, "_with_prob", lambda misc, token: f"HeadProb=0.{token.i}")
    (sentence,) = sentences_in("".join(predict_from_raw_text(nlp, gold()[1:])))
    assert (sentence.words, sentence.heads) == (["Sí", "."], [2, 0])
    assert [row[-1].split(b"|")[0].strip() for row in sentence.rows] == [b"HeadProb=0.0", b"HeadProb=0.2"]


def test_either_way_with_probabilities():
    """From the tokens that the reader in the pipeline's config has, if none are chosen."""
    nlp = pipeline("sentencizer", "scores_for_test_predicting", "mind_root")
    from_text, from_tokens = written(nlp, raw=True), written(nlp)
    assert "HeadProb" in from_text and "# newpar id = p2" in from_text
    assert "1-2\tVámonos" in from_tokens and from_tokens == written(nlp, show=False)
    assert "1-2" not in written(nlp, surface_tokens=True)
    reader = {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": "x", "surface_tokens": True}
    nlp.config = {**nlp.config, "corpora": {"dev": reader, "train": reader}}
    assert "1-2" not in written(nlp) and "1-2" in written(nlp, surface_tokens=False)

"""Corpora for audits: gold sentences, and their scores as the pipeline's own component reads them."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_mindroot import decode
from spacy_mindroot.errors import ConlluError, CorpusError, LabelsError, MissingScoresError, SentenceMismatchError
from spacy_mindroot.tools.gold import load_pipeline, read_corpus, reads_surface_tokens, score_sentences


def make_gold(vocab):
    """Two sentences in one Doc, one in another; a token without a head."""
    one = Doc(vocab, ["Anna", "left", ".", "Go"], heads=[1, 1, 1, 3], deps=["nsubj", "ROOT", "punct", "ROOT"])
    other = Doc(
        vocab, ["We", "know", "it"], heads=[1, 1, 2], deps=["nsubj", "ROOT", ""], sent_starts=[True, False, False]
    )
    return [one, other]


@spacy.Language.component("scores_of_the_words")
def scores_of_the_words(doc):
    """Arc scores that depend on the words alone: every token prefers ROOT a little."""
    lengths = doc.user_data.get("lengths", [len(doc)])
    doc._.arc_scores = [np.tile(np.array([0.5, *np.linspace(0, 0.4, n)]), (n, 1)) for n in lengths]
    return doc


@pytest.fixture
def corpus(tmp_path):
    DocBin(docs=make_gold(spacy.blank("en").vocab)).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


def test_reads_gold_sentences(corpus):
    nlp = spacy.blank("en")
    first, second, third = read_corpus(corpus, nlp.vocab)
    assert (first.words, first.heads.tolist(), first.labels) == (
        ["Anna", "left", "."],
        [2, 0, 2],
        ["nsubj", "root", "punct"],
    )
    assert (second.words, second.heads.tolist()) == (["Go"], [0])
    assert (third.words, third.heads.tolist()) == (["We", "know", "it"], [2, 0, -1])
    assert [s.name for s in (first, second, third)] == ["gold-1-1", "gold-1-2", "gold-2-1"]
    with pytest.raises(CorpusError):
        list(read_corpus(corpus.parent / "none.spacy", nlp.vocab))


def test_scores_are_read_as_the_pipeline_reads_them(corpus):
    """Up to mind_root and no further, and from where that reads them."""
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_of_the_words")
    gold = list(read_corpus(corpus, nlp.vocab))
    plain = [s.scores for s in score_sentences(nlp, gold)]
    assert [scores.shape for scores in plain] == [(3, 4), (1, 2), (3, 4)]

    @spacy.Language.component("must_not_run")
    def must_not_run(doc):
        raise AssertionError

    nlp.add_pipe("mind_root")
    nlp.add_pipe("must_not_run")
    for one, other in zip(plain, score_sentences(nlp, gold), strict=True):
        assert np.array_equal(one, other.scores) and other.labels(decode(one)).count("root") == 1
    assert nlp.pipe_names == ["scores_of_the_words", "mind_root", "must_not_run"]

    nlp.remove_pipe("mind_root")
    nlp.remove_pipe("must_not_run")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.user_data_scores.v1", "key": "elsewhere"}})
    with pytest.raises(MissingScoresError, match="elsewhere"):
        list(score_sentences(nlp, gold))


def test_scores_of_several_sentences_are_refused(corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_of_the_words")

    @spacy.Language.component("two_sentences")
    def two_sentences(doc):
        doc._.arc_scores = doc._.arc_scores * 2
        return doc

    @spacy.Language.component("labels_without_names")
    def labels_without_names(doc):
        doc._.arc_labels = [np.zeros(scores.shape, dtype=int) for scores in doc._.arc_scores]
        return doc

    gold = list(read_corpus(corpus, nlp.vocab))
    nlp.add_pipe("two_sentences")
    with pytest.raises(SentenceMismatchError, match="gold-1-1 has arc scores for sentences of 3, 3 tokens, .* of 3"):
        list(score_sentences(nlp, gold))
    nlp.remove_pipe("two_sentences")
    nlp.add_pipe("labels_without_names")
    with pytest.raises(LabelsError, match="arc_label_names"):
        list(score_sentences(nlp, gold))


SURFACE = """# sent_id = a
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_

"""


def test_words_or_multiword_tokens_of_conllu(tmp_path):
    vocab = spacy.blank("fr").vocab
    (tmp_path / "a.conllu").write_text(SURFACE, encoding="utf8")
    (words,) = read_corpus(tmp_path / "a.conllu", vocab)
    assert (words.words, words.heads.tolist(), words.name) == (["de", "le", "pain"], [3, 3, 0], "a")
    assert words.conllu.to_bytes().decode() == SURFACE and len(words.multiword) == 1
    (surface,) = read_corpus(tmp_path, vocab, surface_tokens=True)
    assert (surface.words, surface.heads.tolist()) == (["du", "pain"], [2, 0]) and surface.conllu is None


def test_nothing_is_read_before_it_is_needed(tmp_path):
    """So a corpus may be larger than memory."""
    (tmp_path / "a.conllu").write_text(SURFACE + "nonsense\n\n", encoding="utf8")
    sentences = read_corpus(tmp_path / "a.conllu", spacy.blank("fr").vocab)
    assert next(sentences).name == "a"
    with pytest.raises(ConlluError, match="line 7"):
        next(sentences)


@pytest.mark.parametrize(
    ("corpora", "expected"),
    [
        ({}, None),
        ({"dev": {"@readers": "spacy.Corpus.v1", "path": "x"}}, None),
        ({"dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": "x"}}, False),
        ({"dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": True}}, True),
        (
            {
                "train": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": False},
                "dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": True},
            },
            True,
        ),
        ({"mine": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": True}}, True),
        ({"dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": "${vars.x}"}}, None),
    ],
)
def test_the_reader_that_the_config_names(corpora, expected):
    nlp = spacy.blank("en")
    nlp.config["corpora"] = corpora
    assert reads_surface_tokens(nlp) is expected


def test_pipelines_that_do_not_load_or_do_not_run(tmp_path, corpus):
    with pytest.raises(CorpusError, match="not a pipeline"):
        load_pipeline(str(tmp_path / "nowhere"))
    nlp = spacy.blank("en")
    nlp.add_pipe("arc_scorer")  # not initialized
    with pytest.raises(CorpusError, match="can't process this corpus"):
        list(score_sentences(nlp, read_corpus(corpus, nlp.vocab)))
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "model" / "vocab" / "strings.json").write_bytes(b"\xff[")
    with pytest.raises(CorpusError, match="not a pipeline"):
        load_pipeline(str(tmp_path / "model"))


def test_a_pipeline_that_repairs_heads_has_no_scores(corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.head_scores.v1"}})

    @spacy.Language.component("heads_for_test_corpus")
    def heads_for_test_corpus(doc):
        return Doc(doc.vocab, words=[t.text for t in doc], heads=[0] * len(doc), deps=["ROOT"] + ["x"] * (len(doc) - 1))

    nlp.add_pipe("heads_for_test_corpus", first=True)
    with pytest.raises(CorpusError, match="no arc scores"):
        list(score_sentences(nlp, read_corpus(corpus, nlp.vocab)))

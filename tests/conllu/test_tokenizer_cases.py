"""spacy-mindroot.tokenizer_cases.v1: special cases of the tokenizer, from a treebank."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_mindroot.conllu.tokenizer_cases import TokenizerCases
from spacy_mindroot.errors import ConlluError


def corpus(path, texts):
    """A corpus from texts whose tokens are separated by "|", and by spaces where the text has them."""
    nlp = spacy.blank("xx")
    docs = []
    for text in texts:
        words, spaces = [], []
        for chunk in text.split(" "):
            pieces = chunk.split("|")
            words += pieces
            spaces += [False] * (len(pieces) - 1) + [True]
        docs.append(Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=[i == 0 for i in range(len(words))]))
    DocBin(docs=docs).to_disk(path)
    return path


def words(nlp, text):
    return [token.text for token in nlp(text)]


def test_the_tokenizer_learns_the_words_of_the_treebank(tmp_path):
    path = corpus(tmp_path / "a.spacy", ["Dit is 'n e-pos in|die huis|." for _ in range(3)])
    nlp = spacy.blank("af")
    text = "Dit is 'n e-pos (indie 'n huis)."
    assert words(nlp, text) != ["Dit", "is", "'n", "e-pos", "(", "in", "die", "'n", "huis", ")", "."]
    cases = TokenizerCases(path)
    assert cases.find(nlp) == [("'n",), ("e-pos",), ("in", "die")]
    assert cases(nlp) is nlp
    assert words(nlp, text) == ["Dit", "is", "'n", "e-pos", "(", "in", "die", "'n", "huis", ")", "."]
    assert cases.find(nlp) == [], "nothing is left to learn"
    nlp.to_disk(tmp_path / "saved")
    assert words(spacy.load(tmp_path / "saved"), text) == words(nlp, text)


def test_rare_and_ambiguous_strings_stay(tmp_path):
    path = corpus(tmp_path / "a.spacy", ["a-b x:y"] * 2 + ["c-d"] * 6 + ["c|-|d"] * 2 + ["e-f"] * 19 + ["e|-|f"])
    nlp = spacy.blank("en")
    assert TokenizerCases(path).find(nlp) == [("e-f",)]
    assert TokenizerCases(path, min_count=2).find(nlp) == [("a-b",), ("e-f",), ("x:y",)]


def test_a_string_across_a_space_is_no_case(tmp_path):
    path = corpus(tmp_path / "a.spacy", ["New York"] * 5)
    assert TokenizerCases(path).find(spacy.blank("en")) == []


def test_without_a_path_or_with_another_tokenizer_nothing_happens(tmp_path):
    nlp = spacy.blank("af")
    before = dict(nlp.tokenizer.rules)
    assert TokenizerCases(None)(nlp) is nlp and nlp.tokenizer.rules == before
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split())
    assert TokenizerCases(tmp_path / "nowhere")(nlp) is nlp
    with pytest.raises(ConlluError, match="no such file"):
        TokenizerCases(tmp_path / "nowhere")(spacy.blank("af"))


def test_it_runs_when_a_pipeline_is_initialized(tmp_path):
    path = corpus(tmp_path / "a.spacy", ["'n dag"] * 3)
    before_init = {"@callbacks": "spacy-mindroot.tokenizer_cases.v1", "path": str(path)}
    nlp = spacy.blank("af", config={"initialize": {"before_init": before_init}})
    assert words(nlp, "'n dag") == ["'", "n", "dag"]
    nlp.initialize()
    assert words(nlp, "'n dag") == ["'n", "dag"]

"""The registered tokenizer: in spaCy's slot, trained by its hook, saved with the pipeline."""

import pickle
import random
import re

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mindroot.doc.words import MultiwordToken, multiword_tokens, set_multiword_tokens, word_forms
from spacy_mindroot.errors import CorpusError, TrainingError
from spacy_mindroot.tokenizer.tokenizer import LearntTokenizer

FRENCH = [
    "Il va à+le=au marché d+u=de+le village|.",
    "Elle va à+le=au parc|,| pas à l'|école|.",
    "Il vient d+u=de+le marché|.",
    "Tu as vu l'|école|?",
    "Elle vient d+u=de+le parc|,| il est p.m.",
]


def make():
    return spacy.blank("xx", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}}})


def gold(nlp, text):
    """A Doc of a text in which "|" stands between tokens without a space, and "d+u=de+le" is *du*, of *de* and *le*."""
    words, spaces, multiword = [], [], []
    for string in text.split(" "):
        for token in string.split("|"):
            if not token:
                continue
            parts, _, own = token.partition("=")
            if own and "+" in own:
                parts, own = parts.split("+"), own.split("+")
            elif own:  # "à+le=au": the forms and the surface
                own, parts = parts.split("+"), [own[0], own[1:]]
            else:
                parts = [parts]
            if own:
                multiword.append(MultiwordToken(len(words), len(words) + len(parts), tuple(own), "".join(parts)))
            words += parts
            spaces += [False] * len(parts)
        spaces[-1] = True
    doc = Doc(nlp.vocab, words, spaces=spaces, sent_starts=[k == 0 for k in range(len(words))])
    set_multiword_tokens(doc, multiword)
    return doc


def trained():
    nlp = make()
    docs = [gold(nlp, text) for text in FRENCH]
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return trained()


SENTENCE = "Il va au marché du village."
WORDS = ["Il", "va", "à", "le", "marché", "de", "le", "village", "."]


def test_it_learns_from_the_corpus_that_initialize_gives(nlp):
    doc = nlp(SENTENCE)
    assert word_forms(doc) == WORDS and doc.text == SENTENCE
    assert [token.text for token in doc] == ["Il", "va", "a", "u", "marché", "d", "u", "village", "."]
    assert multiword_tokens(doc) == [(2, 4, ("à", "le"), "au"), (5, 7, ("de", "le"), "du")]
    assert word_forms(nlp("Tu as vu l'école?")) == ["Tu", "as", "vu", "l'", "école", "?"]


def test_saved_pickled_and_loaded_it_is_the_same(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    assert (tmp_path / "tokenizer").stat().st_size < 2_000_000
    for again in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp)), make().from_bytes(nlp.to_bytes())):
        assert word_forms(again(SENTENCE)) == WORDS
        assert again.tokenizer.to_bytes() == nlp.tokenizer.to_bytes()


def test_untrained_it_divides_at_white_space():
    assert [token.text for token in make()("Il va\n au  marché.")] == ["Il", "va", "\n ", "au", " ", "marché."]


def test_a_damaged_file_is_named(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    path = tmp_path / "tokenizer"
    for damaged in (path.read_bytes()[:100], b"", b"\x80"):
        path.write_bytes(damaged)
        with pytest.raises(TrainingError, match="tokenizer is not a tokenizer of spacy-mindroot, or is damaged"):
            spacy.load(tmp_path)
    with pytest.raises(TrainingError, match="The bytes"):
        make().tokenizer.from_bytes(b"x")


def test_an_empty_corpus_is_an_error_and_one_without_runs_of_tokens_a_warning(caplog):
    nlp = make()
    with pytest.raises(CorpusError, match="no tokens"):
        nlp.tokenizer.initialize(list)
    doc = Doc(nlp.vocab, ["Il", "va", "."])
    nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc)], nlp=nlp)
    assert "white space after every token" in caplog.text
    assert [token.text for token in nlp("Il va.")] == ["Il", "va."]


def test_it_serves_any_pipeline():
    nlp = spacy.blank("xx", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}}})
    nlp.add_pipe("sentencizer")
    assert isinstance(nlp.tokenizer, LearntTokenizer)
    doc = gold(nlp, "我|爱|北京|。")
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
    assert [token.text for token in nlp("我爱北京。")] == ["我", "爱", "北京", "。"]


def test_a_multiword_token_with_more_words_than_characters_stays_whole():
    nlp = make()
    docs = [gold(nlp, "vai á vila"), gold(nlp, "foi á casa")]
    # As a treebank would have it if spaCy could: *á* is *a* and *a*.
    tokenizer = nlp.tokenizer
    tokenizer.initialize(lambda: [Example(doc.copy(), doc) for doc in docs])
    tokenizer.multiword.learn([[("vai", ("vai",)), ("á", ("a", "a")), ("vila", ("vila",))]] * 3)
    assert tokenizer.multiword.words("á", "vai", "vila") == ("a", "a")
    doc = nlp("vai á vila")
    assert [token.text for token in doc] == ["vai", "á", "vila"] and multiword_tokens(doc) == []


PIECES = [
    *"ab.,'()-!?0",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u0301",
    "\u200d",
    "😀",
    "\U0001f1eb",
    "\0",
    "du ",
    "au",
    "你",
]
PIECES += ["\u202e", "\u200b", "\ufeff", "é", "'s "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_text_of_the_doc_is_the_text(text):
    doc = TRAINED(text)
    assert doc.text == text
    for token in doc:
        assert text[token.idx : token.idx + len(token)] == token.text and token.text
        assert token.is_space or token.text == token.text.strip()
    for start, end, _, surface in multiword_tokens(doc):
        assert surface == doc[start:end].text
        assert end - start > 1 and not any(token.whitespace_ for token in doc[start : end - 1])


TRAINED = trained()


@pytest.mark.parametrize("text", ["x" * 10**6, " " * 10**6, "(" * 10**5, "😀" * 10**5, "du " * 10**5, "\n" * 10**5])
def test_long_texts(text):
    """In linear time: quadratic, each would take minutes or hours."""
    make_doc = TRAINED.tokenizer
    assert make_doc(text).text == text


def test_half_a_character_is_named():
    with pytest.raises(CorpusError, match="character 2 of the text is half of a character"):
        TRAINED("a \ud800")


def test_random_texts_of_all_characters():
    rng = random.Random(7)
    for _ in range(200):
        kinds = [(0, 0x250), (0, 0xD800), (0xE000, 0x110000)]
        text = "".join(chr(rng.randrange(*rng.choice(kinds))) for _ in range(30))
        assert TRAINED.tokenizer(text).text == text


class Joins:
    """A tokenizer for a language whose words have spaces in them, as spaCy has one for Vietnamese."""

    def __init__(self, nlp):
        self.vocab = nlp.vocab

    def __call__(self, text):
        words = re.findall(r"da ta|\S+", text)
        spaces = [text[match.end() : match.end() + 1] == " " for match in re.finditer(r"da ta|\S+", text)]
        return Doc(self.vocab, words, spaces=spaces)


def test_a_tokenizer_of_the_language_is_a_feature_and_must_be_there_again(monkeypatch, tmp_path):
    spacy.registry.tokenizers("test-joins.v1", func=lambda: Joins)
    own = {"nlp": {"tokenizer": {"@tokenizers": "test-joins.v1"}}}
    monkeypatch.setattr(spacy.util.get_lang_class("xx").Defaults, "config", own, raising=False)
    nlp = make()
    assert isinstance(nlp.tokenizer._rules, Joins)
    doc = Doc(nlp.vocab, ["da ta", "la", "na ta"], spaces=[True, True, False])
    nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc)])
    assert nlp.tokenizer._rule_ends("da ta la") == [5, 8]
    nlp.tokenizer.boundaries.rules = nlp.tokenizer._rule_ends
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).tokenizer.to_bytes() == nlp.tokenizer.to_bytes()
    monkeypatch.undo()
    with pytest.raises(TrainingError, match=r"needs spaCy's Joins, but for this language, there is only Tokenizer\."):
        spacy.load(tmp_path)

"""What a tokenizer learns from: sentences of Docs, joined to texts with labels."""

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_mindroot.doc.targets import Targets, to_table, write_targets
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens
from spacy_mindroot.tokenizer.learning import join, sentences_of

NLP = spacy.blank("xx")


def made(words, spaces, starts=None, groups=()):
    doc = Doc(NLP.vocab, words, spaces=spaces, sent_starts=starts)
    set_multiword_tokens(doc, [MultiwordToken(a, b, tuple(forms), doc[a:b].text) for a, b, forms in groups])
    return doc


def test_sentences_and_their_white_space():
    doc = made(
        ["va", "d", "u", ".", "\n", "Oui", "."], [1, 0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1, 0], [(1, 3, ["de", "le"])]
    )
    first, second = sentences_of([doc])
    assert first.tokens == (("va", ("va",)), ("du", ("de", "le")), (".", (".",))) and first.spaces == (" ", " ", "\n")
    assert second.tokens == (("Oui", ("Oui",)), (".", (".",))) and second.spaces == ("", " ")


def test_each_sentence_counts_once_and_docs_without_sentences_are_one():
    doc = made(["a", "b"], [1, 0])
    assert len(sentences_of([doc, doc])) == 1 and len(sentences_of([doc])[0].tokens) == 2
    assert sentences_of([Doc(NLP.vocab)]) == []


def test_sentences_of_related_treebanks_are_left_out():
    doc = made(["a", "b", "c"], [1, 1, 0], [1, 0, 1])
    doc._.treebanks = [2, 2, 0]
    assert [sentence.tokens for sentence in sentences_of([doc])] == [(("c", ("c",)),)]


def test_labels():
    doc = made(["ev", "de", "d", "u", "."], [0, 1, 0, 0, 0], None, [(0, 2, ["ev", "de"]), (2, 4, ["de", "le"])])
    ((text, labels),) = join(sentences_of([doc]), words=True)
    assert text == "evde du." and labels.tolist() == [0, 2, 0, 1, 0, 0, 1, 1]
    ((_, labels),) = join(sentences_of([doc]), words=False)
    assert labels.tolist() == [0, 0, 0, 1, 0, 0, 1, 1]


def test_every_sentence_is_in_one_text():
    docs = [made([f"w{k}", "."], [0, 1]) for k in range(50)]
    texts = [text for text, _ in join(sentences_of(docs), words=False, seed=3)]
    assert "".join(texts) == "".join(f"w{k}. " for k in range(50)) and 6 < len(texts) < 50


def test_nothing_is_learnt_from_what_teachers_have_tokenized():
    taught, gold = made(["a", "b"], [1, 0]), made(["c"], [0])
    empty = to_table(np.zeros((2, 2)), np.arange(2))
    write_targets(taught, Targets(empty, empty, empty))
    assert [sentence.tokens for sentence in sentences_of([taught, gold])] == [(("c", ("c",)),)]

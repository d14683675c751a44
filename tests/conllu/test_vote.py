"""Vote over the parses of a sentence. The command is tested in tests/cli."""

import io
from collections import Counter

import pytest
from conllu_samples import PLAIN, row, sentence

from spacy_mindroot import Rules
from spacy_mindroot.conllu import read_pieces, vote_sentence
from spacy_mindroot.conllu.vote import check_same_words, in_step
from spacy_mindroot.errors import ConlluError


def parse(*arcs):
    return sentence("".join(row(i, head).replace("dep", label) for i, (head, label) in enumerate(arcs, 1)) + "\n")


def test_the_first_sentence_takes_the_winning_arcs():
    first = parse(("2", "obj"), ("0", "root"))
    others = [parse(("0", "root"), ("1", "iobj")) for _ in range(2)]
    assert vote_sentence([first, *others]) == 2
    assert first.heads == [0, 1] and first.labels == ["root", "iobj"]
    assert others[0].heads == [0, 1]
    assert vote_sentence([first, *others]) == 0


def test_weights():
    first = parse(("2", "obj"), ("0", "root"))
    assert vote_sentence([first, parse(("0", "root"), ("1", "iobj"))], [1e308, 1e307]) == 0


def test_the_label_where_no_parse_has_one():
    first = parse(("0", "root"), ("0", "root"))
    vote_sentence([first, parse(("_", "_"), ("0", "root"))], demoted_label="discourse")
    assert first.heads == [2, 0] and first.labels == ["discourse", "root"]


@pytest.mark.parametrize("label", ["subj", "su_bj", "_subj", "subj_", "su__bj"])
def test_rules_on_labels_with_underscores(label):
    sentences = [parse(("3", label), ("3", label), ("0", "root")) for _ in range(2)]
    broken = Counter()
    assert vote_sentence(sentences, rules=Rules(unique=[label]), broken=broken) == 1
    assert broken == {f"unique-{label}": 1} and sentences[0].labels.count(label) == 1
    unlabelled = [parse(("3", "_"), ("3", "_"), ("0", "root")) for _ in range(2)]
    broken.clear()
    vote_sentence(unlabelled, rules=Rules(unique=["_"]), broken=broken)
    assert not broken


def test_sentences_without_any_head():
    with pytest.raises(ConlluError, match="in.conllu:1: line 1 has no HEAD"):
        vote_sentence([parse(("_", "_"))] * 2)


def test_other_words():
    with pytest.raises(ConlluError, match="line 1 has word 1 'Go', but it is 'a'"):
        check_same_words([sentence(row(1) + row(2) + "\n"), sentence(PLAIN)])


def test_files_in_step():
    streams = [read_pieces(io.BytesIO(text.encode()), name) for name, text in (("a", "\n" + PLAIN), ("b", PLAIN))]
    found = list(in_step(streams, ["a", "b"]))
    assert found[0] == b"\n" and [piece.source for piece in found[1]] == ["a", "b"]
    streams = [read_pieces(io.BytesIO(text.encode()), name) for name, text in (("a", PLAIN * 2), ("b", PLAIN))]
    with pytest.raises(ConlluError, match="b: the file ends before the sentence that begins in line 4 of a"):
        list(in_step(streams, ["a", "b"]))

"""What `rank` and `suspect` write: the words, heads and ranks are those of the sentences they were found in."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from conllu_samples import PLAIN

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.conllu.marks import marked_sentence
from spacy_mindroot.tools.correction.ranking import RankedToken, sure_sentence
from spacy_mindroot.tools.correction.report import (
    expected_finds,
    ranked_sentences,
    ranked_tokens,
    sentence_records,
    sentence_table,
    suspect_parses,
    suspect_records,
    suspect_sentences,
    suspect_summary,
    suspect_table,
    token_records,
    token_table,
    unmarked,
)
from spacy_mindroot.tools.correction.suspicion import Suspect
from spacy_mindroot.tools.gold import keep_probabilities, parse_sentences, read_corpus


def scores(doc):
    doc._.arc_scores = [np.arange(n * (n + 1), dtype=float).reshape(n, n + 1) / n**2 for n in map(len, doc.sents)]
    return doc


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "a.conllu").write_text(PLAIN.rstrip("\n") + "\n\n" + PLAIN.rstrip("\n") + "\n\n", "utf8")
    return list(read_corpus(tmp_path / "a.conllu", spacy.blank("xx").vocab))


@pytest.fixture
def sure(gold):
    spacy.Language.component("test_report_scores", func=scores)
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_report_scores")
    nlp.add_pipe("mind_root")
    keep_probabilities(nlp)
    return [sure_sentence(doc, each, k) for k, (doc, each) in enumerate(parse_sentences(nlp, iter(gold)))]


def test_sentences_in_their_order(sure):
    marked = list(ranked_sentences(sure[::-1]))
    assert [comments["rank"] for _, comments, _ in marked] == [1, 2]
    for (sentence, comments, misc), own in zip(marked, sure[::-1], strict=True):
        assert list(sentence.heads) == [token.head for token in own.tokens]
        assert comments["tokens_to_read"] == len(own.unknown) == len(misc)
        assert misc[1]["HeadProb"] == f"{own.tokens[0].head_prob:.4f}" and "Rank" not in misc[1]
    records = list(sentence_records(sure))
    assert [len(record["tokens"]) for record in records] == [len(each.tokens) for each in sure]
    assert sentence_table(sure).count("%") == len(sure)


def test_tokens_mark_the_sentences_that_they_are_in(sure):
    tokens = [RankedToken(sure[1], sure[1].tokens[1]), RankedToken(sure[0], sure[0].tokens[0])]
    marked = list(ranked_tokens(tokens))
    assert [comments for _, comments, _ in marked] == [
        {"rank": 1, "tokens_to_read": 1},
        {"rank": 2, "tokens_to_read": 1},
    ]
    assert [{word: own["Rank"] for word, own in misc.items() if "Rank" in own} for *_, misc in marked] == [
        {2: 1},
        {1: 2},
    ]
    assert [record["word"] for record in token_records(tokens)] == [2, 1]
    assert f"{tokens[0].token.form} (2)" in token_table(tokens)


def test_the_yield_of_reading_everything(sure):
    text, expected = expected_finds(sure, [each.unknown for each in sure])
    tokens = sum(len(each.unknown) for each in sure)
    assert text.startswith(f"{tokens} tokens to read") and expected["tokens_to_read"] == tokens
    found = expected["expected_finds"]
    assert [f"{each['first_tokens']:,} tokens (" in text for each in found] == [True] * 5
    assert expected["expected_errors"] == pytest.approx(sum(each.expected_errors for each in sure))


def test_suspects_are_in_the_sentence_and_the_line_that_they_are_said_to_be(gold):
    values = {"head": 0, "label": "root", "head_prob": 0.1, "given_prob": 0.2, "label_prob": 0.3}
    values |= {"other_head": 1, "other_label": "obj", "other_prob": 0.8}
    values |= {"other_given_prob": 0.7, "other_label_prob": 0.6}
    suspects = [Suspect(sentence=k, word=2, **values) for k in (1, 0)]
    marked = list(suspect_sentences(suspects, gold))
    assert [sentence for sentence, *_ in marked] == [gold[1].conllu, gold[0].conllu]
    assert [comments for _, comments, _ in marked] == [{"rank": 1, "suspects": 1}, {"rank": 2, "suspects": 1}]
    assert marked[0][2][2]["OtherHead"] == 1 and marked[0][2][2]["GivenProb"] == "0.2000"
    records = list(suspect_records(suspects, gold, "both"))
    lines = Path(gold[0].conllu.source).read_text("utf8").splitlines()
    for record in records:
        assert lines[record["line"] - 1].split("\t")[:2] == ["2", record["form"]]
    form = gold[1].words[0]
    assert re.search(
        rf"{re.escape(gold[1].words[1])} \(2\) +root +obj of {form} \(1\) +[34]$", suspect_table(suspects, gold), re.M
    )
    summary, figures = suspect_summary(suspects, suspects, 1, 0.2, "both")
    assert figures["annotated_arcs"] == 2 and [each["first_arcs"] for each in figures["expected_errors"]] == [1]
    assert summary.startswith("1 of 2 annotated arcs are listed") and "--precision 0.2" in summary
    cut, _ = suspect_summary(suspects, suspects, 1, 0.2, "both", cut=True)
    assert "--most ends the list." in cut and "--precision" not in cut


def test_tables_fit_the_terminal(gold, monkeypatch):
    """Columns that are too wide are cut, the widest first."""
    gold = [replace(gold[0], words=["x" * 70, "y" * 50], name="n" * 30)]
    suspects = [Suspect(0, 2, 1, "nsubj", 0.1, 0.2, 0.3, 0, "root", 0.8, 0.7, 0.6)]
    for width in (60, 80, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = suspect_table(suspects, gold).strip().splitlines()
        assert max(map(len, lines)) <= width
    monkeypatch.setenv("COLUMNS", "300")
    assert "x" * 70 in suspect_table(suspects, gold)


def test_a_picture_has_the_annotated_tree_and_the_heads_that_the_parsers_prefer(gold):
    words, head, label = gold[1].words, int(gold[1].heads[1]), gold[1].labels[1]
    other, preferred = (1, f"x of {words[0]} (1)") if head != 1 else (0, "x")
    (parse,) = suspect_parses([Suspect(1, 2, head, label, 0.1, 0.2, 0.3, other, "x", 0.8, 0.7, 0.6)], gold)
    assert parse.words == words and parse.heads == gold[1].heads.tolist()
    assert parse.head_prob[1] == 0.2 and set(parse.head_prob) == {None, 0.2}
    assert parse.next_best(2) == (other, 0.7) and parse.next_best(1) is None
    assert parse.name.startswith(f"1. {words[1]} (2): {label}")
    assert parse.name.endswith(f", or rather {preferred}? ({gold[1].name})")


def test_marks_are_removed_and_all_else_stays(tmp_path):
    text = (
        "# sent_id = s\n# note = rank = 1\n1\tGo\t_\tVERB\t_\t_\t0\troot\t_\tA=|_|b\n"
        "2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\tSpaceAfter=No\n3\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    )
    (tmp_path / "a.conllu").write_text(text, "utf8")
    (sentence,) = read_conllu(tmp_path / "a.conllu")
    marks = dict.fromkeys(("Rank", "HeadProb", "GivenProb", "NextHead", "OtherDeprel"), 1)
    marked = marked_sentence(sentence, {"rank": 1, "suspects": 2, "expected_errors": 3}, {2: marks, 3: marks})
    assert marked.count(b"Rank=1") == 2
    (tmp_path / "a.conllu").write_bytes(marked)
    (sentence,) = read_conllu(tmp_path / "a.conllu")
    assert marked_sentence(*unmarked(sentence)).decode() == text

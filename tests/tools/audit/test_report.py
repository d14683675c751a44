"""Reports of an audit: what they show, and that no text of the corpus passes for markup."""

import re
from dataclasses import replace

import numpy as np
from audit_helpers import audit

from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.report import count_rows, markdown_table, to_html, to_json, to_markdown

# Unconstrained [0, 0, 2] (weight 220), with one root [0, 1, 2] (weight 200).
TWO_ROOTS = np.array([[90.0, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]])


def sentence(scores, gold=None, words=("a", "b", "c"), name="s", labels=None):
    return ScoredSentence(
        scores=scores,
        words=list(words),
        best_labels=np.tile(np.array([0, 1, 1, 1]), (3, 1)),
        label_names=["root", "nsubj", "obj"],
        gold_heads=None if gold is None else np.array(gold),
        gold_labels=labels,
        name=name,
    )


def test_the_page_and_the_table_escape_what_they_show():
    audited, found = audit(sentence(TWO_ROOTS, [0, 1, 2], ["<b>", "a&b", "c"], "<i>", ["root", "nsubj", "obj"]))
    page = to_html(found, {"model": "<m>"}, audited)
    assert "<b><bdi>a&amp;b</bdi></b>" in page and "&lt;b&gt;" in page and "<i>" not in page and "<m>" not in page
    assert page.count("<svg") == 1 and "The first" not in page
    assert page.count('class="arc above marked"') == page.count('class="arc below marked"') == 1
    assert "The first 0 are shown" in to_html(found, {}, [])
    assert "| UAS | 66.67 | 100.00 | +33.33 " in to_markdown(found, {})
    _, found = audit(sentence(TWO_ROOTS, [0, 1, 2], labels=["root", "a|b", "obj"]))
    assert "| a\\|b (1) |" in to_markdown(found, {})


def test_hidden_characters_do_not_reach_the_page():
    words = ["a\u202eb", "\x1b[2J", "c\u2066"]
    audited, found = audit(sentence(TWO_ROOTS, [0, 1, 2], words, "s\u202e", ["root", "\u202ex", "o\x00"]))
    page, text = to_html(found, {"model": "m\u202e\x07"}, audited), to_markdown(found, {"model": "m\u202e\n# x|<b>"})
    for written in (page, text, *(cell for row in count_rows(found) for cell in row)):
        assert not set("\u202e\x1b\u2066\x00\x07") & set(written)
    assert "a\\u202eb" in page and "\n# x" not in text and "x\\|\\<b\\>" in text


def test_the_page_says_what_changes():
    audited, found = audit(sentence(TWO_ROOTS, [0, 3, 2], labels=["root", "obj", "obj"]))
    text = " ".join(re.sub("<[^>]*>", " ", to_html(found, {"scores": "x"}, audited)).split())
    assert "Sentences that the constraint changes: 1" in text and "scores: x" in text
    assert "2 roots: a , b . The best single-rooted tree keeps a and its weight is lower by 20.000." in text
    assert "b ROOT root a nsubj c obj both wrong" in text
    assert to_json(found, {"scores": "x"})["multi_rooted_rate"] == 1.0


def test_another_root_than_those_without_the_constraint():
    """Random scores never have it; ties may."""
    audited, found = audit(sentence(TWO_ROOTS))
    tree = replace(audited[0].after, heads=np.array([3, 3, 0]))
    text = " ".join(re.sub("<[^>]*>", " ", to_html(found, {}, [replace(audited[0], after=tree)])).split())
    assert "The best single-rooted tree has another root, c , and its weight" in text


def test_cells_of_a_table_are_text():
    assert markdown_table(("a", "b"), [("x|y", "1")]) == ["| a | b |", "| --- | ---: |", "| x\\|y | 1 |"]

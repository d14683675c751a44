"""Repair of single sentences in CoNLL-U. The command is tested in tests/cli."""

import math

import numpy as np
import pytest
from conllu_samples import FULL, PLAIN, row, sentence

from spacy_mindroot.conllu import repair_sentence
from spacy_mindroot.conllu.repair import enhanced_root_disagrees, is_complete, is_well_formed
from spacy_mindroot.errors import ConlluError
from spacy_mindroot.rules import UD, Rules, Unique
from spacy_mindroot.scored import ScoredSentence


@pytest.mark.parametrize(
    ("arcs", "well_formed"),
    [
        (["0 root", "1 obj"], True),
        (["0 ROOT", "1 obj"], True),
        (["0 root:x", "1 obj"], True),
        (["0 root", "1 root"], False),
        (["0 root", "1 Root"], False),
        (["0 root", "1 root:x"], False),
        (["0 root", "1 rootless"], True),
        (["0 root", "1 obj||root"], True),  # spaCy's pseudo-projective labels
        (["0 root||obj", "1 obj"], True),
        (["0 root", "1 root||obj"], False),
        (["0 obj||root", "1 obj"], False),
        (["0 rootless", "1 obj"], False),
        (["0 obj", "1 obj"], False),
        (["0 root", "0 root"], False),
        (["0 root", "2 obj"], False),
        (["0 root", "3 obj"], False),
        (["0 root", "_ obj"], False),
        (["2 obj", "1 obj"], False),
        (["2 obj", "0 root"], True),
    ],
)
def test_what_is_well_formed(arcs, well_formed):
    rows = [f"{i}\ta\ta\tX\t_\t_\t{arc.replace(' ', chr(9))}\t_\t_\n" for i, arc in enumerate(arcs, 1)]
    found = sentence("".join(rows) + "\n")
    assert is_well_formed(found) == well_formed
    assert bool(repair_sentence(found)) != well_formed and is_well_formed(found)


def test_changes_say_where_and_why():
    found = sentence("# sent_id = s\n" + row(1, "2") + row(2, "1") + "\n")
    (change,) = [change for change in repair_sentence(found) if change.why != "label"]
    assert (change.sent_id, change.line, change.word, change.old_head, change.head) == ("s", 2, 1, "2", "0")
    assert change.cycle == [1, 2] and "in.conllu:2: sentence s, word 1 'a'" in str(change)


def test_the_spelling_of_the_root_label_is_kept():
    found = sentence(row(1, "_") + row(2, "1").replace("dep", "ROOT") + "\n")
    repair_sentence(found)
    assert found.labels == ["ROOT", "dep"]


def test_a_sentence_without_heads():
    with pytest.raises(ConlluError, match="in.conllu:1: line 1 has no HEAD"):
        repair_sentence(sentence(row(1, "_") + row(2, "_") + "\n"))


@pytest.mark.parametrize(
    ("text", "disagrees"),
    [
        (FULL, False),
        (PLAIN, False),
        (FULL.replace("\t0:root\t_\n2", "\t2:dep\t_\n2"), True),
        (FULL.replace("\t0:root\t_\n2", "\t2:dep|0:root\t_\n2"), False),
        (FULL.replace("\t0:root\t_\n2", "\t_\t_\n2"), True),
    ],
)
def test_the_root_of_the_enhanced_layer(text, disagrees):
    assert enhanced_root_disagrees(sentence(text)) == disagrees


@pytest.mark.parametrize("tag", ["$.", "$,", "PUNC", "PU", "Z", "Punct", "_", "PUNCT"])
@pytest.mark.parametrize("rules", [None, UD])
def test_punctuation_in_another_tagset(tag, rules):
    rows = [
        f"1\t.\t_\t{tag}\t_\t_\t0\troot\t_\t_\n",
        "2\tIch\t_\tPRO\t_\t_\t3\tsubj\t_\t_\n",
        "3\tesse\t_\tV\t_\t_\t0\troot\t_\t_\n",
        "4\tgern\t_\tADV\t_\t_\t0\troot\t_\t_\n",
        "5\tviel\t_\tADVX\t_\t_\t0\troot\t_\t_\n",
    ]
    found = sentence("".join(rows) + "\n")
    repair_sentence(found, rules=rules)
    assert list(zip(found.heads, found.labels, strict=True))[:2] == [(found.heads.index(0) + 1, "punct"), (3, "subj")]
    assert found.heads.index(0) != 0
    assert {found.labels[4]} == {"dep"}, "its part of speech is unknown"


RULES = Rules([Unique(["obj"], name="one-object")])


def test_rules_are_counted_once_in_the_single_rooted_tree(monkeypatch):
    counted = []
    honest = Rules.violations
    monkeypatch.setattr(Rules, "violations", lambda *arguments: counted.append(1) or honest(*arguments))
    text = row(1, "0").replace("dep", "root") + row(2, "1").replace("dep", "obj") + row(3, "1").replace("dep", "obj")
    found = sentence(text + row(4, "0").replace("dep", "root") + "\n")
    changes = repair_sentence(found, rules=RULES)
    assert changes.broken == ["one-object"] and [change.why for change in changes] == ["one-object", "extra root"]
    assert len(counted) == 2  # here, and where the tree is mended
    assert repair_sentence(found, rules=RULES) == [] and repair_sentence(found, rules=RULES).broken == []
    assert len(counted) == 4


def test_a_prior_chooses_between_trees_and_gives_labels():
    text = row(1, "0").replace("dep", "root") + row(2, "0").replace("dep", "root") + row(3, "1").replace("dep", "_")
    scores = np.array([[0, 0, 2.0, 0], [1, 0, 0, 0], [0, 0, 4, 0]])
    prior = ScoredSentence(scores, ["w"] * 3, np.ones((3, 4), dtype=int), ["root", "obj"])
    for keep, heads, labels in (
        (math.inf, [2, 0, 1], ["obj", "root", "obj"]),
        (5.0, [2, 0, 1], ["obj", "root", "obj"]),
        (3.0, [2, 0, 2], ["obj", "root", "obj"]),
    ):
        found = sentence(text + "\n")
        changes = repair_sentence(found, prior=prior, keep=keep)
        assert (found.heads, found.labels) == (heads, labels)
        assert [change.why for change in changes] == ["extra root", "label" if keep > 4 else "better under the scores"]
    found = sentence(text + "\n")
    repair_sentence(found, prior=prior, demoted_label="conj")
    assert found.labels == ["conj", "root", "obj"]
    found = sentence(row(1, "_") + row(2, "_") + row(3, "_") + "\n")
    repair_sentence(found, prior=prior)
    assert found.heads == [2, 0, 2]


def test_a_prior_that_allows_no_tree_is_named():
    prior = ScoredSentence(np.full((2, 3), np.nan), ["w"] * 2, None, [])
    with pytest.raises(ConlluError, match="in.conllu:1: line 1 begins a sentence that can't be repaired: .*NaN"):
        repair_sentence(sentence(row(1, "0") + row(2, "0") + "\n"), prior=prior)


@pytest.mark.parametrize(
    ("rows", "complete"),
    [
        ([("0", "root"), ("1", "dep")], True),
        ([("0", "root"), ("1", "_")], False),
        ([("0", "root"), ("_", "dep")], False),
        ([("0", "root"), ("0", "root")], False),
    ],
)
def test_complete_sentences(rows, complete):
    own = sentence("".join(row(k, head).replace("dep", label) for k, (head, label) in enumerate(rows, 1)) + "\n")
    assert is_complete(own) is complete

"""The audit: on cases that can be counted by hand, and on the score files of real parsers."""

import json

import numpy as np
import pytest
from audit_helpers import audit, summarize
from test_real_scores import EXPECTED

from generators import random_scores
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.report import audit_tables, count_rows, to_json

LABELS = ["root", "nsubj", "obj", "punct"]


def sentence(scores, gold=None, words=None, name="s", labels=None):
    scores = np.array(scores, dtype=float)
    n = len(scores)
    return ScoredSentence(
        scores=scores,
        words=words or [f"w{i}" for i in range(1, n + 1)],
        best_labels=np.tile(np.array([0, *[1] * n]), (n, 1)),
        label_names=LABELS,
        gold_heads=None if gold is None else np.array(gold),
        gold_labels=labels,
        name=name,
    )


# Unconstrained [0, 0, 2] (weight 220), with one root [0, 1, 2] (weight 200).
TWO_ROOTS = [[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]]
# [2, 0, 2] both ways, and the greedy graph.
FINE = [[0, 0, 9, 0], [9, 0, 0, 0], [0, 0, 9, 0]]
# Both tokens prefer each other: the greedy graph is a cycle.
CYCLE = [[0, 0, 5], [1, 5, 0]]


def test_counts():
    _, found = audit(
        sentence(TWO_ROOTS, [0, 1, 2], labels=["root", "nsubj", "nsubj"]),
        sentence(FINE, [2, 0, 2], labels=["nsubj", "root", "obj"]),
        sentence(CYCLE, [2, 0], labels=["nsubj", "root"]),
    )
    assert (found.sentences, found.tokens, found.multi_rooted) == (3, 8, 1)
    assert found.multi_rooted_rate == pytest.approx(1 / 3)
    assert (found.mean_roots, found.most_roots) == (pytest.approx(4 / 3), 2)
    assert (found.greedy_tree, found.greedy_answer) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (found.single_root, found.changed_sentences, found.changed_arcs) == (1, 1, 1)
    assert found.weight_lost == {"mean": 20, "least": 20, "greatest": 20}

    uas, las, uem, root = (found.scores[name] for name in ("uas", "las", "uem", "root_acc"))
    assert (uas.before, uas.after) == (pytest.approx(7 / 8), 1)
    assert uas.relative == pytest.approx(100 / 7) and (uas.better, uas.worse) == (1, 0)
    assert (las.before, las.after) == (pytest.approx(6 / 8), pytest.approx(7 / 8))
    assert (uem.before, uem.after) == (pytest.approx(2 / 3), 1)
    assert (root.before, root.after) == (pytest.approx(2 / 3), 1)
    assert uas.interval[0] == 0 < uas.difference < uas.interval[1]


def test_the_record_of_a_sentence():
    audited, _ = audit(sentence(TWO_ROOTS, [0, 3, 2], ["a", "b", "c"], "it", ["root", "obj", "obj"]))
    assert audited[0].record() == {
        "id": "it",
        "text": "a b c",
        "roots": [{"token": 1, "word": "a"}, {"token": 2, "word": "b"}],
        "root": 1,
        "changed": [
            {
                "token": 2,
                "word": "b",
                "unconstrained": {"head": 0, "word": "ROOT", "label": "root"},
                "single_root": {"head": 1, "word": "a", "label": "nsubj"},
                "gold": {"head": 3, "word": "c", "label": "obj"},
            }
        ],
        "weight_lost": 20.0,
    }


def test_without_gold_trees_or_sentences():
    _, found = audit(sentence(TWO_ROOTS), sentence(np.empty((0, 1))))
    assert (found.sentences, list(found.scores)) == (1, ["nonprojective"])
    _, found = audit(sentence(TWO_ROOTS, [0, 1, 2]))  # heads, but no labels
    assert list(found.scores) == ["uas", "uem", "root_acc", "nonprojective"]
    _, found = audit(sentence(TWO_ROOTS, [-1, -1, -1], labels=["", "", ""]))  # nothing annotated
    assert list(found.scores) == ["nonprojective"]
    _, found = audit()
    assert (found.sentences, found.multi_rooted_rate, found.weight_lost, found.scores) == (0, 0.0, None, {})
    json.dumps(to_json(found, {}))


def test_gold_labels_that_the_scorer_does_not_have_are_counted():
    _, found = audit(
        sentence(TWO_ROOTS, [0, 1, 2], labels=["root", "vocative", "list"]),
        sentence(FINE, [2, 0, -1], labels=["vocative", "ROOT", "reparandum"]),
    )
    assert found.unknown_labels == {"vocative": 2, "list": 1}
    assert ("gold labels that the scorer does not have (tokens)", "vocative (2), list (1)") in count_rows(found)


def test_a_share_of_nothing_has_no_relative_change():
    _, found = audit(sentence(TWO_ROOTS, [3, 3, 0], labels=["obj", "obj", "root"]))
    assert found.scores["uas"].relative is None and found.scores["uas"].relative_interval is None
    assert dict((row[0], row[4]) for row in audit_tables(found)[1][1])["UAS"] == "-"


def test_the_interval_is_that_of_resampled_sentences(rng):
    """Against a bootstrap in the plainest way; seeded alike, it is the same each time."""
    sentences = []
    for k in range(60):
        scores = random_scores("root_attractive" if k % 3 else "normal", 6, rng)
        scores[:, 0] -= 6
        sentences.append(sentence(scores, rng.integers(0, 7, 6), labels=["x"] * 6))
    audited, found = audit(*sentences)
    assert found == summarize(audited)
    change = [
        np.count_nonzero(e.after.heads == e.sentence.gold_heads)
        - np.count_nonzero(e.before.heads == e.sentence.gold_heads)
        for e in audited
    ]
    drawn = np.array(change)[rng.integers(0, 60, (4000, 60))].sum(axis=1) / 360
    assert np.std(drawn) > 0
    np.testing.assert_allclose(found.scores["uas"].interval, np.quantile(drawn, [0.025, 0.975]), atol=0.012)


def test_root_accuracy_is_of_known_roots():
    _, found = audit(
        sentence(FINE, [2, -1, 2], labels=["a", "", "b"]), sentence(FINE, [2, 0, 2], labels=["a", "root", "b"])
    )
    assert found.scores["root_acc"].after == 1
    _, found = audit(sentence(FINE, [2, -1, 2], labels=["a", "", "b"]))
    assert "root_acc" not in found.scores and found.scores["uas"].after == 1


def test_weight_lost_is_of_the_arcs_that_change():
    """So it is exact even if other arcs are far greater, and finite where sums are not."""
    scores = np.full((4, 5), -1e308)
    scores[:2, :3] = [[1, 0, 0], [1, 0.75, 0]]
    scores[2, 1] = scores[3, 3] = 1.5e308
    audited, _ = audit(sentence(scores))
    assert audited[0].changed == [2] and audited[0].weight_lost == 0.25
    json.dumps(audited[0].record(), allow_nan=False)


def test_a_sentence_without_a_tree_is_named():
    with pytest.raises(ValueError, match="sentence it of here"):
        audit(sentence(FINE), sentence([[-np.inf, 0, 1], [-np.inf, 1, 0]], name="it"))


def test_sums_beyond_the_largest_double():
    """The weight that is lost in each sentence, and its mean."""
    scores = np.array([[1e308, -1e308, -1e308], [1e308, -1.7e308, -1e308]])
    audited, found = audit(*[sentence(scores)] * 3)
    assert audited[0].weight_lost > 1.7e308
    json.dumps(to_json(found, {}), allow_nan=False)


def test_gold_heads_beyond_the_sentence_are_shown_as_unknown():
    audited, _ = audit(sentence(TWO_ROOTS, [0, 9, 2], labels=["root", "obj", "obj"]))
    assert audited[0].record()["changed"][0]["gold"] == {"head": 9, "word": "?", "label": "obj"}


def test_equals_the_table_of_the_data(score_file):
    audited, found = audit(*read_score_file(score_file))
    n = found.sentences
    assert (
        round(100 * found.scores["uas"].before, 2),
        round(100 * found.scores["uas"].after, 2),
        found.multi_rooted,
        round(n * found.scores["uem"].before),
        round(n * found.scores["uem"].after),
    ) == EXPECTED[score_file.stem]
    assert found.single_root == 1
    assert all(each.weight_lost >= 0 for each in audited)
    assert all(bool(each.changed) == (len(each.before.roots) > 1) for each in audited)

"""Suggestions: exact around what is decided, with probabilities of other arcs."""

import numpy as np
import pytest
import spacy
from annotation_helpers import BLANK, DONE, toy
from conllu_samples import sentences_in

from spacy_mindroot import Rules, decode
from spacy_mindroot.annotation.suggestions import Scores, Suggester
from spacy_mindroot.errors import CorpusError, NoValidTreeError
from spacy_mindroot.inference import Calibration, marginals
from spacy_mindroot.trees import MISSING

NAMES = ["root", "nsubj", "obj"]


def random_scores(n, seed=0, *, projective=False):
    rng = np.random.default_rng(seed)
    labels = np.log(rng.dirichlet(np.ones(len(NAMES) - 1), (n, n + 1)))
    of_all = np.full((n, n + 1, len(NAMES)), -np.inf)
    of_all[:, 1:, 1:] = labels[:, 1:]
    of_all[:, 0, 0] = 0
    return Scores(rng.normal(0, 2, (n, n + 1)), of_all, NAMES, {}, projective)


@pytest.fixture
def suggester():
    return Suggester(None)


def unknown(n):
    return [MISSING] * n, ["_"] * n


def test_the_rest_is_decoded_exactly(suggester):
    for seed in range(20):
        scores = random_scores(5, seed)
        found = suggester.suggest(scores, {2: (4, "obj")}, *unknown(5))
        assert found.heads == decode(scores.arcs, required=[(2, 4)]).tolist()
        assert found.labels[1] == "obj"
        given = scores.arcs.copy()
        given[1, [h for h in range(6) if h != 4]] = -np.inf
        expected = marginals(given)[np.arange(5), found.heads]
        free = [k for k in range(5) if k != 1]
        np.testing.assert_allclose(np.array(found.head_probs)[free], expected[free], atol=1e-9)


def test_what_is_decided_keeps_the_parsers_own_probability(suggester):
    scores = random_scores(4)
    found = suggester.suggest(scores, {1: (3, "nsubj")}, *unknown(4))
    assert found.head_probs[0] == pytest.approx(marginals(scores.arcs)[0, 3])
    assert found.alternatives[0], "there are others to choose from"


def test_alternatives_are_the_most_probable_heads_and_labels(suggester):
    scores = random_scores(6, 3)
    found = suggester.suggest(scores, {}, *unknown(6))
    of_heads, of_labels = marginals(scores.arcs), np.exp(scores.labels)
    for k, head in enumerate(found.heads):
        others = sorted((h for h in range(7) if h != head and of_heads[k, h] > 0), key=lambda h: -of_heads[k, h])[:3]
        assert [each.head for each in found.alternatives[k]] == others
        for each in found.alternatives[k]:
            assert each.prob == pytest.approx(of_heads[k, each.head])
            assert each.label == NAMES[of_labels[k, each.head].argmax()]
        labels = sorted((x for x in range(3) if NAMES[x] != found.labels[k]), key=lambda x: -of_labels[k, head, x])
        expected = [(head, NAMES[x]) for x in labels if of_labels[k, head, x] > 0]
        assert [each[:2] for each in found.other_labels[k]] == expected
    assert found.other_labels[found.heads.index(0)] == [], "the root has one label"


def test_arcs_of_the_file_are_kept_as_far_as_there_is_a_tree(suggester):
    scores = random_scores(4)
    tree = suggester.suggest(scores, {}, [2, 3, 0, 3], ["x", "y", "root", "_"])
    assert tree.heads == [2, 3, 0, 3]
    assert tree.labels[:3] == ["x", "y", "root"]
    assert tree.labels[3] in NAMES
    two_roots = suggester.suggest(scores, {}, [2, 0, 0, 3], ["x", "root", "root", "y"])
    assert two_roots.heads.count(0) == 1
    assert sum(a == b for a, b in zip(two_roots.heads, [2, 0, 0, 3], strict=True)) == 3
    decided = suggester.suggest(scores, {3: (4, "z")}, [2, 3, 0, 3], ["x", "y", "root", "_"])
    assert decided.heads[2] == 4 and decided.labels[2] == "z"
    assert decided.heads[:2] == [2, 3]


def test_without_a_parser_the_tree_is_what_is_known(suggester):
    found = suggester.suggest(None, {2: (1, "obj"), 1: (0, "root")}, [MISSING, 0, 2], ["_", "root", "x"])
    assert found.heads == [0, 1, 2]
    assert found.labels == ["root", "obj", "x"]
    assert suggester.suggest(None, {1: (0, "root")}, [3, 0, 2], ["a", "root", "b"]).heads == [0, MISSING, 2]
    assert suggester.labels_of(None, 1, 2) == {}


def test_rules_hold_around_what_is_decided(suggester):
    rules = Rules(unique=["obj"])
    for seed in range(10):
        scores = random_scores(5, seed)
        found = suggester.suggest(scores, {1: (2, "obj")}, *unknown(5), rules=rules)
        assert found.certified
        assert found.labels[0] == "obj" and found.heads[0] == 2
        assert not rules.violations(found.heads, found.labels)
    with pytest.raises(NoValidTreeError):
        suggester.suggest(scores, {1: (2, "obj"), 3: (2, "obj")}, *unknown(5), rules=rules)


def test_a_label_that_the_parser_does_not_know_can_be_decided(suggester):
    found = suggester.suggest(random_scores(3), {1: (2, "new")}, *unknown(3), rules=Rules(leaf=["punct"]))
    assert found.labels[0] == "new"
    assert found.label_probs[0] == 0


def test_decided_arcs_may_cross_although_the_parsers_do_not(suggester):
    scores = random_scores(4, projective=True)
    found = suggester.suggest(scores, {1: (3, "obj"), 2: (4, "obj")}, *unknown(4))
    assert found.heads[:2] == [3, 4]


def test_probabilities_are_calibrated():
    scores = random_scores(4)
    flat = Suggester(None)
    flat.calibration = Calibration(arc_temperature=50.0, label_temperature=50.0)
    found = flat.suggest(scores, {}, *unknown(4))
    sharp = Suggester(None).suggest(scores, {}, *unknown(4))
    assert found.heads == sharp.heads
    assert np.mean(found.head_probs) < np.mean(sharp.head_probs) - 0.1
    assert max(flat.labels_of(scores, 1, 2).values()) < 0.6


def test_labels_of_an_arc(suggester):
    scores = random_scores(4)
    assert suggester.labels_of(scores, 1, 0) == {"root": 1.0}
    labels = suggester.labels_of(scores, 1, 3)
    assert list(labels.values()) == sorted(labels.values(), reverse=True)
    assert labels == pytest.approx({"nsubj": np.exp(scores.labels[0, 3, 1]), "obj": np.exp(scores.labels[0, 3, 2])})


def test_scores_of_a_real_pipeline():
    suggester = Suggester(toy())
    for blank, done in zip(sentences_in(BLANK), sentences_in(DONE), strict=True):
        scores = suggester.scores(blank)
        assert scores.arcs.shape == (3, 4) and scores.labels.shape == (3, 4, len(scores.names))
        assert scores.names[0] == "root"
        assert suggester.scores(done) is scores, "the words are the same"
        tree = suggester.suggest(scores, {}, *unknown(3))
        assert tree.heads == decode(scores.arcs).tolist()


def test_a_sentence_that_is_too_long_has_no_scores():
    nlp = toy()
    long = "".join(f"{k}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n" for k in range(1, 302)) + "\n"
    (sentence,) = sentences_in(long)
    assert Suggester(nlp).scores(sentence) is None


def test_a_pipeline_without_scores_is_refused():
    with pytest.raises(CorpusError, match="mind_root"):
        Suggester(spacy.blank("xx"))

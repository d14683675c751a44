"""Score files as `decode` counts and writes them, on random matrices."""

import numpy as np
import pytest

from generators import random_scores
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.inference import confidence, kbest
from spacy_mindroot.scored import ScoredSentence, decode_sentences
from spacy_mindroot.tools.audit.decoded import Totals, before_and_after, to_conllu
from spacy_mindroot.trees import count_roots


def make(rng, n, gold=True):
    heads = rng.integers(0, n + 1, size=n) if gold else None
    labels = rng.integers(0, 2, size=(n, n + 1))
    words = [f"w{k}" for k in range(1, n + 1)]
    return ScoredSentence(random_scores("normal", n, rng), words, labels, ["nsubj", "obj"], heads)


@pytest.fixture
def sentences():
    rng = np.random.default_rng(3)
    return [make(rng, int(n), gold=k % 3 > 0) for k, n in enumerate(rng.integers(1, 8, size=40))]


def test_totals(sentences):
    totals = Totals()
    decoded = list(decode_sentences(sentences, source="x"))
    for each in decoded:
        totals.add(each, each.single_root)
    multi = sum(count_roots(each.unconstrained) > 1 for each in decoded)
    assert multi and (totals.sentences, totals.multi_rooted) == (40, multi)
    known = [each for each in decoded if each.sentence.gold_heads is not None]
    uas = {
        name: np.concatenate([getattr(each, name) == each.sentence.gold_heads for each in known]).mean()
        for name in ("unconstrained", "single_root")
    }
    lines = totals.table()
    for name, kind in (("unconstrained", "unconstrained"), ("single root", "single_root")):
        assert f"UAS, {name} " in lines and f"{100 * uas[kind]:.2f}" in lines
    assert "single root, projective" in lines
    assert "UAS" not in Totals().table()


def test_what_is_written_reads_back(sentences, tmp_path):
    for each in decode_sentences(sentences, source="x"):
        text = to_conllu(each.sentence, each.single_root, kbest=3, confidence=True, sent_id="s-1")
        (tmp_path / "a.conllu").write_text(text, "utf8")
        (read,) = read_conllu(tmp_path / "a.conllu")
        best = kbest(each.sentence.scores, 3)
        assert list(read.heads) == best[0][0].tolist() and text.count("# tree_") == len(best) + 2
        assert list(read.labels) == each.sentence.labels(best[0][0])
        sure = confidence(each.sentence.scores, best[0][0])
        assert f"# tree_logprob = {sure.tree_logprob:.6g}\n" in text and f"HeadProb={sure.head_prob[0]:.4f}" in text


def test_arcs_that_change_have_a_star(sentences):
    for each in decode_sentences(sentences, source="x"):
        text = before_and_after(each, number=7)
        changed = int((each.unconstrained != each.single_root).sum())
        assert text.count(" *") == 2 * changed and "Sentence 7: w1" in text
        roots = count_roots(each.unconstrained)
        assert f"unconstrained: {roots} root{'s' if roots > 1 else ''}, weight" in text

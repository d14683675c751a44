"""Agreement of two annotators."""

import numpy as np
import pytest
from annotation_helpers import DONE, GOLD, rows

from spacy_mindroot.annotation.agreement import agreement_table, cohens_kappa, paired_sentences
from spacy_mindroot.errors import ConlluError, CorpusError


def test_kappa_by_its_definition():
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)  # (0.7 - 0.5) / (1 - 0.5)
    assert cohens_kappa([("a", "a"), ("b", "b")]) == 1
    assert cohens_kappa([("a", "a")]) == 1
    assert cohens_kappa([("a", "b"), ("b", "a")]) == -1


def test_kappa_of_chance_is_about_none():
    rng = np.random.default_rng(0)
    pairs = list(zip(*(map(str, rng.integers(0, 4, 20_000)) for _ in range(2)), strict=True))
    assert abs(cohens_kappa(pairs)) < 0.02


def test_the_table(tmp_path):
    one, other = tmp_path / "a.conllu", tmp_path / "b.conllu"
    one.write_text(DONE)
    other.write_text(
        DONE.replace("them\t_\t_\t_\t_\t2\tobj", "them\t_\t_\t_\t_\t1\tobj").replace("1\tadvmod", "1\tobl")
    )
    table, figures = agreement_table(paired_sentences(one, other))
    assert figures["uas"] == pytest.approx(8 / 9) and figures["unanimous_sentences"] == 1
    lines = [line.split("   ") for line in table.strip().splitlines()]
    found = {parts[0]: parts[-1].strip() for parts in lines}
    assert found["Sentences"] == "3" and found["Words"] == "9"
    assert found["Sentences on which both agree"] == "1"
    assert found["Heads (UAS)"] == "88.9%" and found["Heads and labels (LAS)"] == "77.8%"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DONE.replace("early", "late"), "word 3 'late', but it is 'early'"),
        (DONE + rows(GOLD[0]), "b.conllu"),
        (rows(GOLD[0]), "the file ends before"),
    ],
)
def test_other_sentences_are_named(text, says, tmp_path):
    one, other = tmp_path / "a.conllu", tmp_path / "b.conllu"
    one.write_text(DONE)
    other.write_text(text)
    with pytest.raises(ConlluError) as caught:
        paired_sentences(one, other)
    assert says in str(caught.value)


def test_nothing_to_compare(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    with pytest.raises(CorpusError, match="no sentences"):
        paired_sentences(tmp_path / "a", tmp_path / "b")

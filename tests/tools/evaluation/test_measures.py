"""Measures that the CoNLL 2018 script lacks, on gold tokens and on others."""

import pytest
from conllu_samples import sentences_in

from spacy_mindroot.tools.evaluation.measures import measure


def text(*sentences):
    """CoNLL-U of sentences such as "ab:2:nsubj c:0:root"; "a+b:..." is a multiword token of forms a and b."""
    out = []
    for sentence in sentences:
        number = 1
        for token in sentence.split():
            form, heads, labels, *misc = token.split(":")
            forms = form.split("+")
            if len(forms) > 1:
                out.append(f"{number}-{number + len(forms) - 1}\t{''.join(forms)}" + "\t_" * 8)
            for part, head, label in zip(forms, heads.split("+"), labels.split("+"), strict=True):
                cell = f"HeadProb={misc[0]}" if misc else "_"
                out.append(f"{number}\t{part}\t_\t_\t_\t_\t{head}\t{label.replace('/', ':')}\t_\t{cell}")
                number += 1
        out.append("")
    return "\n".join([*out, ""])


def found(gold, system):
    return measure(*(sentences_in(text(*each)) for each in (gold, system)))


GOLD = ["a:2:nsubj b:0:root c:2:obj", "d:0:root e:1:nmod/poss"]


def test_perfect():
    own = found(GOLD, GOLD)
    assert own.exact_match == own.labelled_exact_match == own.root_accuracy == own.single_root == 1
    assert own.las_with_subtypes == 1
    assert (own.sentences, own.system_sentences, own.words, own.system_words) == (2, 2, 5, 5)
    assert (own.nonprojective, own.nonprojective_recall, own.calibration) == (0, None, None)


def test_heads_and_labels():
    own = found(GOLD, ["a:2:nsubj b:0:root c:1:obj", "d:0:root e:1:nmod"])
    assert (own.exact_match, own.labelled_exact_match) == (1 / 2, 0)
    assert own.las_with_subtypes == pytest.approx(3 / 5)
    assert own.root_accuracy == 1


def test_roots():
    own = found(GOLD, ["a:0:root b:0:root c:2:obj", "d:2:x e:0:root"])
    assert (own.root_accuracy, own.single_root) == (0, 1 / 2)
    cycle = found(["a:0:root b:1:x"], ["a:2:x b:1:x"])
    assert (cycle.single_root, cycle.root_accuracy, cycle.exact_match) == (0, 0, 0)
    two = found(["a:0:root b:0:root"], ["a:0:root b:0:root"])
    assert (two.exact_match, two.root_accuracy) == (1, 0)


def test_other_sentences():
    """Two sentences in one: the words are right, one root is lost, and no sentence is right as a whole."""
    own = found(GOLD, ["a:2:nsubj b:0:root c:2:obj d:2:parataxis e:4:nmod/poss"])
    assert (own.exact_match, own.root_accuracy, own.single_root, own.system_sentences) == (0, 1 / 2, 1, 1)
    assert own.las_with_subtypes == pytest.approx(4 / 5)


def test_other_tokens():
    own = found(["ab:2:nsubj c:0:root"], ["a:2:x b:3:nsubj c:0:root"])
    assert (own.exact_match, own.root_accuracy, own.words, own.system_words) == (0, 1, 2, 3)
    assert own.las_with_subtypes == pytest.approx(2 * 1 / 5)


def test_multiword_tokens():
    gold = ["a+b:3+1:case+det c:0:root"]
    assert found(gold, gold).exact_match == 1
    own = found(gold, ["ab:2:case c:0:root"])
    assert (own.exact_match, own.root_accuracy, own.multiword_tokens, own.words, own.system_words) == (0, 1, 1, 3, 2)
    assert own.las_with_subtypes == pytest.approx(2 * 1 / 5)


def test_nonprojective_arcs():
    gold = ["a:3:x b:4:x c:0:root d:3:x"]
    own = found(gold, gold)
    assert own.nonprojective == own.system_nonprojective == 1 and own.nonprojective_recall == 1
    own = found(gold, ["a:3:x b:3:x c:0:root d:3:x"])
    assert (own.nonprojective, own.system_nonprojective, own.nonprojective_recall) == (1, 0, 0)


def test_calibration():
    """Two words at 0.9, of which one is right, and two at 0.2, of which none is."""
    own = found(["a:0:root b:1:x c:1:x d:1:x"], ["a:0:root:0.9 b:3:x:0.9 c:2:x:0.2 d:3:x:0.2"]).calibration
    assert (own.words, own.right) == (4, 1 / 4)
    assert own.mean_probability == pytest.approx(0.55)
    assert own.error == pytest.approx((2 * abs(0.9 - 0.5) + 2 * 0.2) / 4)


@pytest.mark.parametrize(("cell", "mean"), [("1.5", 1), ("-0.5", 0), ("0.25", 0.25)])
def test_probabilities_are_from_0_to_1(cell, mean):
    assert found(["a:0:root"], [f"a:0:root:{cell}"]).calibration.mean_probability == mean


def test_gaps_in_either_direction_add_up():
    """One word at 0.9 that is wrong, and one at 0.2 that is right."""
    own = found(["a:0:root b:1:x"], ["a:0:root:0.2 b:0:x:0.9"]).calibration
    assert own.error == pytest.approx((0.8 + 0.9) / 2)


def test_calibration_counts_words_that_gold_has():
    own = found(["ab:2:x c:0:root"], ["a:3:x:0.5 b:3:x:0.5 c:0:root:1.0"]).calibration
    assert (own.words, own.right, own.error) == (1, 1, 0)
    assert found(["a:0:root"], ["a:0:root:much"]).calibration is None

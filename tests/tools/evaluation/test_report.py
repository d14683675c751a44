"""An evaluation as tables and as JSON."""

import pytest
from conllu_samples import sentences_in

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.evaluation.report import (
    OFFICIAL_HEADER,
    evaluate,
    measure_rows,
    official_rows,
    to_json,
)

pytest.importorskip("udtools", reason="the script needs the extra `evaluate`")

TWO = "1\ta\ta\tX\tx\t_\t0\troot\t_\tHeadProb=0.75\n2\tb\tb\tX\tx\t_\t1\tdep:y\t_\tHeadProb=0.25\n\n"


def test_rows_and_json():
    gold, system = sentences_in(TWO), sentences_in(TWO.replace("dep:y", "dep"))
    found = evaluate(gold, system)
    rows = {name: values for name, *values in official_rows(found)}
    assert len(OFFICIAL_HEADER) == 5 and rows["LAS"] == ["100.00"] * 4 and rows["Sentences"][-1] == ""
    own = dict(measure_rows(found))
    assert own["LAS, subtypes included"] == "50.00"
    assert own["exact match: unlabelled, labelled"] == "100.00, 0.00"
    assert own["heads with a probability: right, mean probability"] == "100.00, 50.00"
    assert own["calibration error of heads (ECE), points"] == "50.00"
    assert own["non-projective arcs: gold, output"] == "0, 0"
    content = to_json(found)
    assert content["official"]["LAS"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "aligned": 1.0}
    assert content["measures"]["las_with_subtypes"] == 0.5
    assert content["measures"]["calibration"]["error"] == 0.5


def test_nonprojective_arcs_of_a_treebank(checkout):
    gold = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    rows = dict(measure_rows(evaluate(gold, gold)))
    assert rows["non-projective arcs: gold, output"] == "5, 5 (100.00 % of gold's found)"
    assert not any("calibration" in name for name in rows)


@pytest.mark.parametrize("gold, system, says", [("", TWO, "in the treebank"), (TWO, "", "in the output")])
def test_nothing_to_evaluate(gold, system, says):
    with pytest.raises(CorpusError, match=says):
        evaluate(sentences_in(gold), sentences_in(system))

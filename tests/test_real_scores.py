"""Arc scores of real parsers on eight UD treebanks, against the results of two independent exact decoders."""

import subprocess
import sys

import numpy as np
from spacy.cli import app
from typer.testing import CliRunner

from generators import uas
from spacy_mindroot import count_roots, decode, decode_batch, is_tree
from spacy_mindroot.score_file import read_score_file

# UAS unconstrained, UAS single root, multi-rooted sentences, exact matches unconstrained, exact matches single root
EXPECTED = {
    "Afrikaans-AfriBooms": (85.47, 85.69, 74, 64, 68),
    "Irish-IDT": (79.14, 79.21, 50, 87, 88),
    "Kazakh-KTB": (66.03, 66.35, 81, 173, 177),
    "Kurmanji-MG": (52.07, 52.10, 134, 37, 37),
    "Lithuanian-HSE": (56.98, 56.79, 13, 4, 4),
    "Marathi-UFAL": (75.97, 75.49, 4, 19, 19),
    "Upper_Sorbian-UFAL": (61.88, 62.00, 77, 50, 52),
    "Vietnamese-VTB": (68.21, 68.23, 134, 87, 88),
}


def test_reproduces_the_table(score_file):
    sentences = read_score_file(score_file)
    gold = [sentence.gold_heads for sentence in sentences]
    free, single = (decode_batch([s.scores for s in sentences], single_root=single) for single in (False, True))
    assert all(is_tree(heads) and count_roots(heads) == 1 for heads in single)
    assert (
        round(100 * uas(free, gold), 2),
        round(100 * uas(single, gold), 2),
        sum(count_roots(heads) > 1 for heads in free),
        sum(np.array_equal(own, theirs) for own, theirs in zip(free, gold, strict=True)),
        sum(np.array_equal(own, theirs) for own, theirs in zip(single, gold, strict=True)),
    ) == EXPECTED[score_file.stem]


def test_the_flat_batch_gives_the_same(score_file):
    with np.load(score_file) as arrays:
        heads = decode_batch(arrays["arc"], arrays["lens"])
    assert heads.tolist() == np.concatenate(decode_batch([s.scores for s in read_score_file(score_file)])).tolist()


def test_the_validator_passes_every_tree(score_file, tmp_path):
    result = CliRunner().invoke(app, ["mindroot", "decode", str(score_file), str(tmp_path / "out.conllu")])
    assert result.exit_code == 0, result.output
    udvalidate = [sys.executable, "-c", "import sys; from udtools.cli import main; sys.exit(main())"]
    options = ["--lang", "ud", "--level", "2", "--max-err", "0"]
    done = subprocess.run([*udvalidate, *options, tmp_path / "out.conllu"], capture_output=True, text=True)
    assert "multiple-roots" not in done.stdout + done.stderr and "non-tree" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_small_example(data):
    scores = read_score_file(data / "scores" / "Upper_Sorbian-UFAL.npz")[131].scores
    assert decode(scores, single_root=False).tolist() == [2, 0, 4, 0, 2]
    assert decode(scores).tolist() == [2, 0, 4, 2, 2]


def test_the_constraint_may_change_more_than_the_surplus_root(data):
    scores = read_score_file(data / "scores" / "Kurmanji-MG.npz")[416].scores
    free, single = decode(scores, single_root=False), decode(scores)
    assert np.count_nonzero(free != single) > count_roots(free) - 1


def test_heads_that_are_given_hold_and_help_the_others(score_file, rng):
    """Partial annotation: a tenth of the gold heads as required arcs. See docs/inference.md."""
    right, right_before, counted = 0, 0, 0
    for sentence in read_score_file(score_file):
        gold = sentence.gold_heads
        given = rng.random(len(gold)) < 0.1
        heads = decode(sentence.scores, required=[(int(i) + 1, int(gold[i])) for i in np.flatnonzero(given)])
        assert is_tree(heads) and count_roots(heads) == 1
        assert (heads[given] == gold[given]).all()
        right += np.count_nonzero((heads == gold)[~given])
        right_before += np.count_nonzero((decode(sentence.scores) == gold)[~given])
        counted += np.count_nonzero(~given)
    assert right > right_before

"""`spacy mindroot decode` with --kbest, --confidence and --projective."""

import re

import numpy as np
import pytest
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot import decode, is_projective
from spacy_mindroot.inference import confidence, kbest, tree_margin
from spacy_mindroot.score_file import read_score_file


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "decode", *map(str, args)])


@pytest.fixture
def small(tmp_path):
    """Two sentences, 'a b' and 'c'."""
    np.savez(
        tmp_path / "scores.npz",
        lens=np.array([2, 1]),
        arc=np.array([5, 0, 1, 4, 3, 0, 2, 0], dtype=np.float32),
        words=np.frombuffer(b"a\nb\nc", dtype=np.uint8),
        labels=np.frombuffer(b"root\nobj", dtype=np.uint8),
        label_best=np.array([0, 0, 1, 0, 1, 0, 0, 0], dtype=np.uint8),
    )
    return tmp_path / "scores.npz"


def test_the_documented_form(small, tmp_path):
    result = run(small, tmp_path / "out.conllu", "--kbest", 3, "--confidence")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out.conllu").read_text("utf8") == (
        "# sent_id = scores-1\n# text = a b\n"
        "# tree_1 = weight=8 logprob=-0.0485874 heads=0,1 deprels=root,obj\n"
        "# tree_2 = weight=5 logprob=-3.04859 heads=2,0 deprels=obj,root\n"
        "# tree_logprob = -0.0485874\n# tree_margin = 3\n# expected_uas = 0.952574\n"
        "1\ta\t_\tX\t_\t_\t0\troot\t_\tHeadEntropy=0.1909|HeadProb=0.9526\n"
        "2\tb\t_\tX\t_\t_\t1\tobj\t_\tHeadEntropy=0.1909|HeadProb=0.9526\n\n"
        "# sent_id = scores-2\n# text = c\n"
        "# tree_1 = weight=2 logprob=0 heads=0 deprels=root\n"
        "# tree_logprob = 0\n# tree_margin = inf\n# expected_uas = 1\n"
        "1\tc\t_\tX\t_\t_\t0\troot\t_\tHeadEntropy=0.0000|HeadProb=1.0000\n\n"
    )


def test_each_switch_by_itself(small, tmp_path):
    out = tmp_path / "out.conllu"
    run(small, out, "--kbest", 2)
    text = out.read_text("utf8")
    assert "# tree_2 = weight=5 heads=2,0 deprels=obj,root\n" in text and "prob" not in text.lower()
    run(small, out, "--confidence")
    text = out.read_text("utf8")
    assert "HeadProb" in text and "tree_logprob" in text and "tree_1" not in text
    run(small, out)
    assert "tree" not in out.read_text("utf8")


@pytest.mark.parametrize("projective", [True, False])
def test_numbers_on_real_scores(projective, data, tmp_path):
    path = data / "scores" / "Upper_Sorbian-UFAL.npz"
    assert run(path, tmp_path / "out.conllu", "-k", 3, "-c", *["--projective"] * projective).exit_code == 0
    blocks = (tmp_path / "out.conllu").read_text("utf8").split("\n\n")
    for sentence, block in list(zip(read_score_file(path), blocks, strict=False))[::40]:
        trees = kbest(sentence.scores, 3, projective=projective)
        found = re.findall(r"^# tree_\d = weight=(\S+) logprob=(\S+) heads=(\S+) deprels=\S+$", block, flags=re.M)
        assert len(found) == len(trees)
        for (weight, logprob, heads), (tree, expected) in zip(found, trees, strict=True):
            assert [int(head) for head in heads.split(",")] == tree.tolist()
            assert float(weight) == pytest.approx(expected, rel=1e-5)
            assert float(logprob) == pytest.approx(
                confidence(sentence.scores, tree, projective=projective).tree_logprob, rel=1e-5, abs=1e-9
            )
        assert float(re.search(r"tree_margin = (\S+)", block)[1]) == pytest.approx(
            tree_margin(sentence.scores, projective=projective), rel=1e-5
        )
        probs = [float(prob) for prob in re.findall(r"HeadProb=(\S+)$", block, flags=re.M)]
        np.testing.assert_allclose(
            probs, confidence(sentence.scores, trees[0][0], projective=projective).head_prob, atol=5e-5
        )


def test_projective_trees(data, tmp_path):
    path = data / "scores" / "Upper_Sorbian-UFAL.npz"
    result = run(path, tmp_path / "out.conllu", "--projective", "--confidence")
    assert result.exit_code == 0 and re.search(r"UAS, single root, projective\s+\d", result.output)
    trees = [
        [int(line.split("\t")[6]) for line in block.splitlines() if line[0] != "#"]
        for block in (tmp_path / "out.conllu").read_text("utf8").split("\n\n")
        if block
    ]
    sentences = read_score_file(path)
    assert trees == [decode(sentence.scores, projective=True).tolist() for sentence in sentences]
    assert all(map(is_projective, trees))
    assert not all(is_projective(decode(sentence.scores)) for sentence in sentences)


def test_a_number_of_trees_that_is_none(small):
    assert run(small, "--kbest", 0).exit_code == 2


def test_a_sentence_without_a_projective_tree_is_named(tmp_path):
    scores = np.full((4, 5), -np.inf, dtype=np.float32)
    scores[np.arange(4), [3, 4, 0, 3]] = 0
    np.savez(tmp_path / "scores.npz", lens=np.array([1, 4]), arc=np.concatenate([[0, 0], scores.ravel()]))
    assert run(tmp_path / "scores.npz").exit_code == 0
    result = run(tmp_path / "scores.npz", "--projective")
    assert result.exit_code == 1
    assert re.search("sentence 2 of .*scores.npz: .*crossing", result.output.replace("\n", " "))


def test_help_tells_the_form():
    output = run("--help").output
    for name in ("--kbest", "--confidence", "--projective", "HeadProb", "tree_margin", "heads=2,0,2"):
        assert name in output

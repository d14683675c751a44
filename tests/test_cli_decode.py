"""`spacy mindroot decode`, as a person runs it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from spacy.cli import app
from typer.testing import CliRunner

runner = CliRunner()


def decode(*args):
    return runner.invoke(app, ["mindroot", "decode", *map(str, args)])


@pytest.fixture
def demo(checkout):
    return checkout / "assets" / "demo.npz"


@pytest.fixture
def write(tmp_path):
    """Writes a score file of two sentences, 'a b' and 'c', with arrays replaced (None: left out). Returns its path."""

    def write(**replaced):
        arrays = {
            "lens": np.array([2, 1], dtype=np.int32),
            "arc": np.array([5, 0, 1, 4, 3, 0, 2, 0], dtype=np.float32),
            "words": np.frombuffer(b"a\nb\nc", dtype=np.uint8),
            "labels": np.frombuffer(b"root\nobj", dtype=np.uint8),
            "label_best": np.array([0, 0, 1, 0, 1, 0, 0, 0], dtype=np.uint8),
            "heads": np.array([0, 1, 0], dtype=np.int16),
        } | replaced
        np.savez(tmp_path / "scores.npz", **{name: array for name, array in arrays.items() if array is not None})
        return tmp_path / "scores.npz"

    return write


def table(text):
    """The rows of the table, by name."""
    return {name.strip(): value for name, value in re.findall(r"^(\S.*?)\s{2,}(\S.*)$", text, flags=re.M)}


def test_writes_conllu_and_prints_a_table(write, tmp_path):
    result = decode(write(), tmp_path / "out.conllu")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out.conllu").read_text("utf8") == (
        "# sent_id = scores-1\n# text = a b\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tobj\t_\t_\n\n"
        "# sent_id = scores-2\n# text = c\n1\tc\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    )
    rows = table(result.output)
    assert float(rows.pop("Tokens per second, decoding only").replace(",", "")) > 0
    assert rows == {
        "Sentences": "2",
        "Tokens": "3",
        "Unconstrained optimum has more than one root": "1 (50.00%)",
        "UAS, unconstrained": "66.67",
        "UAS, single root": "100.00",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu", "scores.npz"]


def test_standard_output_holds_nothing_but_conllu(demo, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "mindroot", "decode", demo, "-"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(line == "" or line.startswith("# ") or line.count("\t") == 9 for line in done.stdout.splitlines())
    assert done.stdout.count("\troot\t") == 5
    assert "Sentences" in done.stderr
    decode(demo, tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_text("utf8") == done.stdout


def test_the_worked_example_is_shown_before_and_after(demo):
    output = decode(demo, "--show", 1).output
    assert "unconstrained: 2 roots, weight 260.00" in output and "single root: 1 root, weight 210.00" in output
    assert output.count("Sentence ") == 1
    assert decode(demo, "--show", 99).output.count("Sentence ") == 4  # the fifth has one root anyway


def test_a_file_without_gold_heads_words_or_labels(write, tmp_path):
    result = decode(write(words=None, labels=None, label_best=None, heads=None), tmp_path / "out.conllu")
    assert result.exit_code == 0, result.output
    assert "UAS" not in result.output
    assert "2\t_\t_\tX\t_\t_\t1\tdep\t_\t_\n" in (tmp_path / "out.conllu").read_text("utf8")


def test_root_is_the_label_of_the_root_and_of_nothing_else(write, tmp_path):
    decode(write(label_best=np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=np.uint8)), tmp_path / "out.conllu")
    labels = [
        line.split("\t")[6:8] for line in (tmp_path / "out.conllu").read_text("utf8").splitlines() if "\t" in line
    ]
    assert labels == [["0", "root"], ["1", "dep"], ["0", "root"]]


def test_no_sentences_and_empty_sentences(write, tmp_path):
    nothing = dict.fromkeys(("words", "labels", "label_best", "heads"))
    assert decode(write(lens=np.zeros(0, int), arc=np.zeros(0, np.float32), **nothing), tmp_path / "out").exit_code == 0
    assert (tmp_path / "out").read_text() == ""
    assert decode(write(lens=np.array([0, 1]), arc=np.zeros(2, np.float32), **nothing), tmp_path / "out").exit_code == 0
    assert (tmp_path / "out").read_text().startswith("# sent_id = scores-2\n")


@pytest.mark.parametrize(
    ("replaced", "says"),
    [
        ({"arc": None}, "no array `arc`"),
        ({"lens": None}, "no array `lens`"),
        ({"lens": np.array([2.0, 1.0])}, "`lens`"),
        ({"lens": np.array([3, 1])}, "`arc` has shape \\(8,\\), .* \\(14,\\)"),
        ({"words": np.frombuffer(b"a\nb", dtype=np.uint8)}, "`words` has shape \\(2,\\), .* \\(3,\\)"),
        ({"words": np.frombuffer(b"\xff\n\n", dtype=np.uint8)}, "`words` is not UTF-8"),
        ({"heads": np.array([0, 1])}, "`heads`"),
        ({"label_best": np.array([0, 0, 1])}, "`label_best`"),
        ({"label_best": np.full(8, 2, dtype=np.uint8)}, "label 2, but `labels` has 2"),
        ({"arc": np.array(["x"] * 8)}, "`arc`: .*<U1"),
        ({"arc": np.array([{}] * 8)}, "can't be read"),
        (
            {"arc": np.array([5, 0, 1, 4, np.nan, 0, 2, 0])},
            "sentence 1 of .*scores.npz: .*head 1 \\('a'\\) for dependent 2 \\('b'\\) is NaN",
        ),
        ({"arc": np.array([5, 0, -np.inf, 5, -np.inf, 0, 2, 0])}, "sentence 1 of .*no tree with a single root"),
    ],
)
def test_faults_in_the_file_are_named_and_nothing_is_written(write, tmp_path, replaced, says):
    out = tmp_path / "out.conllu"
    out.write_text("precious")
    result = decode(write(**replaced), out)
    assert result.exit_code == 1
    assert re.search(says, result.output.replace("\n", " ")), result.output
    assert "Nothing was written" in result.output and "Traceback" not in result.output
    assert out.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu", "scores.npz"]


def test_files_that_are_no_score_files(tmp_path, checkout):
    (tmp_path / "broken.npz").write_bytes((checkout / "assets" / "demo.npz").read_bytes()[:-100])
    for path in (checkout / "README.md", tmp_path / "broken.npz"):
        result = decode(path)
        assert result.exit_code == 1 and "can't be read as an .npz" in result.output
    assert decode(tmp_path / "absent.npz").exit_code == 2


def test_a_folder_that_does_not_exist(demo, tmp_path):
    result = decode(demo, tmp_path / "nowhere" / "out.conllu")
    assert result.exit_code == 1 and "nowhere" in result.output


def test_a_reader_that_goes_away(demo, tmp_path):
    command = f"{sys.executable} -m spacy mindroot decode {demo} - | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "# sent_id = demo-1\n"
    assert "Traceback" not in done.stderr


def test_written_files_have_ordinary_permissions(demo, tmp_path):
    (tmp_path / "plain").touch()
    decode(demo, tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_help_suffices():
    output = runner.invoke(app, ["mindroot", "decode", "--help"]).output
    assert "score file" in output and "CoNLL-U" in output and "--show" in output
    assert "decode" in runner.invoke(app, ["mindroot", "--help"]).output


def test_the_demo_file_is_what_its_script_writes(demo, checkout, tmp_path):
    subprocess.run([sys.executable, checkout / "scripts" / "demo_scores.py", tmp_path / "demo.npz"], check=True)
    ours, fresh = np.load(demo), np.load(tmp_path / "demo.npz")
    assert set(ours) == set(fresh)
    assert all(np.array_equal(ours[name], fresh[name]) for name in ours)


def test_no_temporary_file_stays_after_an_interruption(demo, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("spacy_mindroot.cli.decode.format_sentence", interrupted)
    decode(demo, tmp_path / "out.conllu")
    assert os.listdir(tmp_path) == []

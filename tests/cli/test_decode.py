"""`spacy mindroot decode`, as a person runs it."""

import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot import decode as mindroot_decode

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
        "Multi-rooted without the constraint": "1 (50.00%)",
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


def test_forms_and_labels_can_not_break_the_columns(write, tmp_path):
    words = np.frombuffer(b"New\tYork  City\n \nc\n", dtype=np.uint8)
    labels = np.frombuffer(b"ROOT\na b\tc", dtype=np.uint8)
    decode(write(words=words, labels=labels, heads=None), tmp_path / "out.conllu")
    rows = [line.split("\t") for line in (tmp_path / "out.conllu").read_text("utf8").splitlines() if "\t" in line]
    assert [len(row) for row in rows] == [10, 10, 10]
    assert [row[1] for row in rows] == ["New York City", "_", "c"]
    assert [row[7] for row in rows] == ["root", "a_b_c", "root"]


def test_more_sentences_than_are_decoded_in_one_call(write, tmp_path, rng):
    """Order, both ways of decoding and the number of a faulty sentence, past the first thousand."""
    n = 1500
    arc = rng.normal(size=(n, 6)).astype(np.float32)
    heads = np.concatenate([mindroot_decode(scores.reshape(2, 3)) for scores in arc])
    path = write(lens=np.full(n, 2), arc=arc.ravel(), words=None, labels=None, label_best=None, heads=heads)
    result = decode(path, tmp_path / "out.conllu")
    assert table(result.output)["UAS, single root"] == "100.00"
    free = np.concatenate([mindroot_decode(scores.reshape(2, 3), single_root=False) for scores in arc])
    assert table(result.output)["UAS, unconstrained"] == f"{100 * (free == heads).mean():.2f}"
    arc[1200, 0] = np.nan
    result = decode(write(lens=np.full(n, 2), arc=arc.ravel(), words=None, labels=None, label_best=None, heads=None))
    assert result.exit_code == 1 and "sentence 1201 of" in result.output


def test_shown_trees_do_not_get_into_standard_output(demo, tmp_path):
    command = [sys.executable, "-m", "spacy", "mindroot", "decode", demo, "-", "--show", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "unconstrained" not in done.stdout and "unconstrained: 2 roots" in done.stderr


def test_a_terminal_without_box_characters(demo, tmp_path):
    command = [sys.executable, "-m", "spacy", "mindroot", "decode", demo, "--show", "1"]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment)
    assert done.returncode == 0 and b"Sentence 1" in done.stdout, done.stderr


def test_links_pipes_and_modes_stay_what_they_are(demo, tmp_path):
    target = tmp_path / "target.conllu"
    target.touch(mode=0o600)
    (tmp_path / "link").symlink_to(target)
    assert decode(demo, tmp_path / "link").exit_code == 0
    assert (tmp_path / "link").is_symlink() and target.stat().st_size > 0 and target.stat().st_mode & 0o777 == 0o600

    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert decode(demo, tmp_path / "pipe").exit_code == 0
    assert reader.communicate(timeout=600)[0] == target.read_bytes()
    assert not (tmp_path / "pipe").is_file()


def test_the_score_file_is_not_written_over(write):
    path = write()
    before = path.read_bytes()
    (path.parent / "link").symlink_to(path)
    result = decode(path, path.parent / "link")
    assert result.exit_code == 1 and "SCORES and OUT are the same file" in result.output
    assert decode(path, path).exit_code == 2
    assert path.read_bytes() == before


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
        ({"label_best": np.full(8, 2, dtype=np.uint8)}, "`label_best` has numbers from 2 to 2.* from 0 to 1"),
        ({"label_best": np.full(8, 0.5)}, "`label_best` .*float64"),
        ({"label_best": np.full(8, -1)}, "`label_best` has numbers from -1"),
        ({"lens": np.array([-2, 1])}, "`lens` has numbers from -2"),
        ({"lens": np.array([2**64 - 1, 2], dtype=np.uint64)}, "`lens` has numbers"),
        ({"heads": np.array(["0", "1", "0"])}, "`heads` .*<U1"),
        ({"heads": np.array([0, -2, 0])}, "`heads` has numbers from -2"),
        ({"deprels": np.array([0, 1, 2], dtype=np.uint8)}, "`deprels` has numbers from 0 to 2.* from 0 to 1"),
        ({"deprels": np.zeros(2, dtype=np.uint8)}, "`deprels` has shape"),
        ({"words": np.array(["a", "b", "c"])}, "`words` .*uint8"),
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
    command = f"{shlex.join([sys.executable, '-m', 'spacy', 'mindroot', 'decode', str(demo), '-'])} | head -1"
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

    monkeypatch.setattr("spacy_mindroot.tools.audit.decoded.format_sentence", interrupted)
    decode(demo, tmp_path / "out.conllu")
    assert os.listdir(tmp_path) == []

"""`spacy mindroot vote`, as a person runs it."""

import gzip
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from spacy.cli import app
from typer.testing import CliRunner

from generators import uas
from spacy_mindroot import count_roots, is_tree
from spacy_mindroot.conllu import read_conllu

runner = CliRunner()


def vote(*args):
    return runner.invoke(app, ["mindroot", "vote", *map(str, args)])


def parse(*arcs, words="abcdefgh", tail="\n"):
    rows = [f"{i}\t{w}\t{w}\tX\t_\t_\t{arc}\t_\t_" for i, (w, arc) in enumerate(zip(words, arcs, strict=False), 1)]
    return "# sent_id = s\n" + "\n".join(rows) + "\n" + tail


@pytest.fixture
def write(tmp_path):
    def write(*texts):
        paths = [tmp_path / f"{name}.conllu" for name in "ABCDE"[: len(texts)]]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    return write


A = parse("2\tdet", "0\troot", "2\tobj")
B = parse("2\tdet", "0\troot", "1\tiobj")
C = parse("2\tamod", "3\tnsubj", "0\troot")


def test_the_most_votes_win(write, tmp_path):
    result = vote(*write(C, B, A), "-o", tmp_path / "out.conllu")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out.conllu").read_text() == B.replace("1\tiobj", "1\tiobj")
    result = vote(*write(C, A, A), "-o", tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_text() == A
    rows = {n.strip(): v for n, v in re.findall(r"^(\S.*?)\s{2,}(\S.*)$", result.output, flags=re.M)}
    assert rows == {
        "Sentences": "1",
        "Words": "3",
        "Sentences on which all agree": "0",
        "Words with another head or label than in the first file": "3",
    }


def test_weights(write, tmp_path):
    assert vote(*write(A, C), "-o", tmp_path / "out", "--weights", "1,2.5").exit_code == 0
    assert (tmp_path / "out").read_text() == C
    assert vote(*write(A, C), "-o", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out").read_text() == A  # the first, where votes are equal
    for weights in ("1", "1,2,3", "1,x", "1,0", "1,-1", "1,inf", ""):
        result = vote(*write(A, C), "-o", tmp_path / "new", "--weights", weights)
        assert result.exit_code == 1 and "weights" in result.output, weights
        assert not (tmp_path / "new").exists()


def test_the_first_file_stays_as_it_is_but_for_the_arcs(write, tmp_path):
    first = "\ufeff" + C.replace("\t_\t_\n", "\t2:x\tSpaceAfter=No\n").replace("\n", "\r\n") + "\n# end"
    assert vote(*write(first, A, A), "-o", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out").read_bytes().decode()
    expected = (
        first.replace("2\tamod", "2\tdet")
        .replace("3\tnsubj", "0\troot")
        .replace("0\troot\t2:x\tSpaceAfter=No\r\n\r\n", "2\tobj\t2:x\tSpaceAfter=No\r\n\r\n")
    )
    assert text == expected


def test_malformed_parses_make_a_tree(write, tmp_path):
    files = write(
        parse("0\troot", "0\troot", "2\tx"), parse("0\troot", "0\troot", "9\tx"), parse("2\tx", "1\tx", "_\t_")
    )
    assert vote(*files, "-o", tmp_path / "out").exit_code == 0
    (sentence,) = read_conllu(tmp_path / "out")
    assert is_tree(sentence.heads) and count_roots(sentence.heads) == 1
    assert [label == "root" for label in sentence.labels] == [head == 0 for head in sentence.heads]


def test_standard_streams(write, tmp_path):
    files = write(A, C)
    command = [sys.executable, "-m", "spacy", "mindroot", "vote", "-", *files, "-o", "-"]
    done = subprocess.run(command, input=C, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == C and "Sentences" in done.stderr


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ((A, A.replace("\tb\t", "\tz\t", 1)), "B.conllu:3: line 3 has word 2 'z', but it is 'b' in .*A.conllu:3"),
        ((A + A, A + parse("0\troot", words="q")), "B.conllu:7: line 7 has word 1 'q', but it is 'a' in .*A.conllu:7"),
        (
            (A, parse("2\ta", "0\troot")),
            "B.conllu:3: line 3 ends a sentence of 2 words, but word 3 is 'c' in .*A.conllu:4",
        ),
        ((parse("2\ta", "0\troot"), A), "B.conllu:4: line 4 has word 3, 'c'; .*A.conllu:1 has a sentence of 2 words"),
        ((A + A, A), "B.conllu: the file ends before the sentence that begins in line 6 of .*A.conllu"),
        ((A, A + A), "B.conllu:7: line 7 begins a sentence, but .*A.conllu has no more"),
        ((A, "1\ta\n\n"), "B.conllu:1: line 1 has 2 columns"),
        ((parse("_\t_"), parse("_\t_")), "A.conllu:2: line 2 has no HEAD"),
        ((A,), "at least two files"),
    ],
)
def test_files_that_do_not_fit_together(texts, says, write, tmp_path):
    result = vote(*write(*texts), "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert re.search(says, result.output.replace("\n", " ")), result.output
    assert "Nothing was written" in result.output and "Traceback" not in result.output
    assert "out" not in os.listdir(tmp_path)


@pytest.mark.parametrize("weights", ["1e308,1e308", "5e-324,1e-323", "1e308,1e-308"])
def test_weights_near_the_limits_of_a_double(weights, write, tmp_path):
    result = vote(*write(A, C), "-o", tmp_path / "out", "--weights", weights)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out").read_text() == (C if weights.startswith("5") else A)
    result = vote(*write(A, C), "-o", tmp_path / "new", "--weights", "1e309,1")
    assert result.exit_code == 1 and "positive and finite" in result.output


@pytest.mark.parametrize("name", ["B.conllu", "soft", "hard", "sub/../A.conllu"])
def test_no_file_is_lost_to_the_output(name, write, tmp_path, monkeypatch):
    files = write(A, C)
    monkeypatch.chdir(tmp_path)
    os.symlink(files[1], "soft")
    os.link(files[0], "hard")
    os.mkdir("sub")
    result = vote(*files, "-o", name)
    assert result.exit_code == 1 and "same file" in result.output
    assert [file.read_text() for file in files] == [A, C]


def test_links_that_lead_nowhere(write, tmp_path):
    os.symlink("loop", tmp_path / "loop")
    files = write(A, C)
    for args in ([*files, "-o", tmp_path / "loop"], [files[0], tmp_path / "loop", "-o", tmp_path / "out"]):
        result = vote(*args)
        assert result.exit_code == 1 and "loop" in result.output and result.exc_info[0] is SystemExit


def run(args, cwd, end="", **options):
    command = " ".join(map(shlex.quote, [sys.executable, "-m", "spacy", "mindroot", "vote", *map(str, args)]))
    return subprocess.run(f"{command} {end}", shell=True, cwd=cwd, capture_output=True, **options)


def test_file_names_that_are_not_utf8_and_closed_streams(write, tmp_path):
    name = os.fsdecode(b"x\xff")
    files = write(A, C)
    (tmp_path / name).write_text(A)
    for end in ("", ">&-", ">&- 2>&-"):
        done = run([name, files[1], "-o", f"out-{name}"], tmp_path, end)
        assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / f"out-{name}").read_text() == A
    (tmp_path / name).write_text("1\ta\n\n")
    done = run([name, files[1], "-o", "new"], tmp_path)
    assert done.returncode == 1 and b"line 1 has 2 columns" in done.stderr and b"Traceback" not in done.stderr


def test_the_message_is_true_when_standard_output_has_a_part_of_the_result(write, tmp_path):
    done = run([*write(A + A, A + "1\ta\n\n"), "-o", "-"], tmp_path)
    assert done.returncode == 1 and done.stdout.decode() == A
    assert b"Nothing was written" not in done.stderr and b"standard output" in done.stderr


def test_gzip_and_other_columns(write, tmp_path):
    """Each file has its own columns; the first is written."""
    first, second = write("# global.columns = HEAD X FORM ID DEPREL\n", C)
    text = "# global.columns = HEAD X FORM ID DEPREL\n2\tx\ta\t1\tdet\n0\tx\tb\t2\troot\n2\tx\tc\t3\tobj\n\n"
    first = first.with_suffix(".conllup.gz")
    first.write_bytes(gzip.compress(text.encode()))
    out = tmp_path / "out.conllup.gz"
    assert vote(first, second, second, "-o", out).exit_code == 0
    voted = [line.split("\t") for line in gzip.decompress(out.read_bytes()).decode().splitlines() if "\t" in line]
    assert [(row[0], row[4]) for row in voted] == [tuple(row.split("\t")[6:8]) for row in C.splitlines() if "\t" in row]
    assert [row[1] for row in voted] == ["x"] * 3


def test_help_suffices():
    output = runner.invoke(app, ["mindroot", "vote", "--help"]).output
    assert "most votes" in output and "--weights" in output


def test_three_seeds_of_a_parser(data, tmp_path):
    """The command line from score files to the vote; more heads are right than those of the mean parser."""
    scores = [data / "scores" / "Kurmanji-MG.npz", *sorted((data / "scores" / "seeds").glob("Kurmanji-MG.*.npz"))]
    files = [tmp_path / f"{k}.conllu" for k in range(3)]
    for path, file in zip(scores, files, strict=True):
        assert runner.invoke(app, ["mindroot", "decode", str(path), str(file)]).exit_code == 0
    assert vote(*files, "-o", tmp_path / "out.conllu").exit_code == 0
    (treebank,) = (data / "ud").glob("*/kmr_mg-ud-test.conllu")
    gold, voted, *parses = (
        [np.array(sentence.heads) for sentence in read_conllu(path)]
        for path in (treebank, tmp_path / "out.conllu", *files)
    )
    assert all(is_tree(heads) and count_roots(heads) == 1 for heads in voted)
    mean = np.mean([uas(heads, gold) for heads in parses])
    assert uas(voted, gold) > mean + 0.01


def test_the_tree_with_the_most_votes_that_meets_the_rules(tmp_path):
    def parse(name, third):
        rows = ["1\ta\t_\tPRON\t_\t_\t2\tnsubj\t_\t_", "2\tb\t_\tVERB\t_\t_\t0\troot\t_\t_", third]
        (tmp_path / name).write_text("\n".join([*rows, "", ""]), "utf8")
        return str(tmp_path / name)

    subject, other = "3\tc\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_", "3\tc\t_\tNOUN\t_\t_\t1\tobj\t_\t_"
    files = [parse("1", subject), parse("2", subject), parse("3", other)]
    out = tmp_path / "out.conllu"
    result = CliRunner().invoke(app, ["mindroot", "vote", *files, "-o", str(out), "--rules", "ud"])
    assert result.exit_code == 0, result.output
    assert out.read_text("utf8").splitlines()[2] == "3\tc\t_\tNOUN\t_\t_\t2\tobj\t_\t_"
    shown = [line.split() for line in result.output.splitlines() if line.strip()]
    assert [line for line in shown if "-----" not in line][-3:] == [
        ["Violations", "of", "rules", "before", "after"],
        ["too-many-subjects", "1", "0"],
        ["all", "1", "0"],
    ]
    result = CliRunner().invoke(app, ["mindroot", "vote", *files, "-o", str(out)])
    assert out.read_text("utf8").splitlines()[2] == subject and "Violations" not in result.output
    rules = tmp_path / "rules.json"
    rules.write_text('{"leaf": [["dep", "punct", "root", "nsubj", "obj"]]}', "utf8")
    result = CliRunner().invoke(app, ["mindroot", "vote", *files, "-o", str(out), "--rules", str(rules)])
    assert result.exit_code == 1 and "without a valid tree" in " ".join(result.output.split())


def test_roots_of_another_scheme_keep_their_labels(write, tmp_path):
    a = parse("2\tdet", "0\tpred", "2\tobj") + parse("0\tpred", "1\tobj")
    b = parse("2\tdet", "0\tpred", "1\tpred") + parse("0\tPRED", "1\tobj")
    c = parse("2\tamod", "3\tnsubj", "0\tpred") + parse("2\tobj", "0\tPRED")
    out = tmp_path / "out.conllu"
    assert vote(*write(a, b, b), "-o", out).exit_code == 0
    assert out.read_text() == b
    assert vote(*write(a, a, c), "-o", out).exit_code == 0
    assert out.read_text() == a
    assert vote(*write(a, parse("2\tdet", "0\troot", "2\tobj") + parse("0\tpred", "1\tobj")), "-o", out).exit_code == 0
    assert out.read_text() == a.replace("pred", "root"), "one file has the label root"
    assert vote(*write(a, a), "-o", out, "--rules", "ud").exit_code == 0
    assert [sentence.labels[sentence.heads.index(0)] for sentence in read_conllu(out)] == ["root", "root"]

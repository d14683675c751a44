"""`spacy mindroot repair`, as a person runs it."""

import gzip
import json
import math
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from corpora_helpers import make_model
from spacy.cli import app
from typer.testing import CliRunner

from generators import reaches_root
from spacy_mindroot import count_roots, is_tree, repair_heads
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.gold import load_pipeline, score_sentences, unparsed
from spacy_mindroot.trees import find_cycles

runner = CliRunner()
COMMAND = [sys.executable, "-m", "spacy", "mindroot", "repair"]

GOOD = "# sent_id = good\r\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\tX=1\r\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\r\n\r\n"
TWO_ROOTS = (
    "# sent_id = two\n# text = They left du .\n1\tThey\tthey\tPRON\t_\t_\t2\tnsubj\t2:nsubj\t_\n"
    "2\tleft\tleave\tVERB\t_\t_\t0\troot\t0:root\tX=1\n3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tde\tde\tADP\t_\t_\t4\tcase\t_\t_\n4\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n4.1\tx\tx\tX\t_\t_\t_\t_\t2:dep\t_\n"
    "5\t.\t.\tPUNCT\t_\t_\t0\troot\t2:punct\t_\n\n"
)
MENDED = TWO_ROOTS.replace("0\troot\t2:punct", "2\tpunct\t2:punct").replace("4\tcase", "2\tcase")
LAST = "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n2\tb\tb\tX\t_\t_\t0\tROOT\t_\t_"  # no line end
MENDED_LAST = LAST.replace("X\t_\t_\t_\t_\t_\t_\n", "X\t_\t_\t2\tdep\t_\t_\n")


def repair(*args, **options):
    return runner.invoke(app, ["mindroot", "repair", *map(str, args)], **options)


def table(text):
    return {name.strip(): value for name, value in re.findall(r"^ *(\S.*?) {2,}(\S.*)$", text, flags=re.M)}


@pytest.fixture
def write(tmp_path):
    def write(text, name="in.conllu"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
        return path

    return write


def test_only_head_and_deprel_of_changed_words_differ(write, tmp_path):
    path = write("\ufeff" + GOOD + TWO_ROOTS + "\n" + GOOD + LAST)
    result = repair(path, tmp_path / "out.conllu", "--report", tmp_path / "changes.jsonl")
    assert result.exit_code == 0, result.output
    expected = "\ufeff" + GOOD + MENDED + "\n" + GOOD + MENDED_LAST
    assert (tmp_path / "out.conllu").read_bytes().decode() == expected
    changes = [json.loads(line) for line in (tmp_path / "changes.jsonl").read_text("utf8").splitlines()]
    shared = {"file": str(path), "sent_id": "two"}
    assert changes == [
        shared
        | {"line": 10, "word": 3, "form": "de", "old_head": "4", "old_label": "case", "head": "2", "label": "case"}
        | {"why": "cycle", "cycle": [3, 4]},
        shared
        | {"line": 13, "word": 5, "form": ".", "old_head": "0", "old_label": "root", "head": "2", "label": "punct"}
        | {"why": "extra root", "cycle": None},
        {"file": str(path), "sent_id": None, "line": 20, "word": 1, "form": "a", "old_head": "_", "old_label": "_"}
        | {"head": "2", "label": "dep", "why": "no head", "cycle": None},
    ]
    assert table(result.output) | {
        "Sentences": "4",
        "Words": "11",
        "Malformed sentences": "2 (50.00%)",
        "Heads that change": "3",
        "Labels that change": "2",
        "extra root": "1",
    } == table(result.output)
    assert "word 3 'de': cycle (3 -> 4 -> 3): head 4 (case) -> 2 (case)" in result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["changes.jsonl", "in.conllu", "out.conllu"]


def test_what_is_written_needs_no_repair(write, tmp_path):
    repair(write(TWO_ROOTS + LAST), tmp_path / "out.conllu")
    result = repair(tmp_path / "out.conllu", "--check")
    assert result.exit_code == 0 and table(result.output)["Malformed sentences"] == "0 (0.00%)"
    repair(tmp_path / "out.conllu", tmp_path / "again.conllu")
    assert (tmp_path / "again.conllu").read_bytes() == (tmp_path / "out.conllu").read_bytes()


def test_check_is_a_linter(write, tmp_path):
    path = write(GOOD + TWO_ROOTS + "1\ta\n\n" + GOOD + "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n")
    before = path.read_bytes()
    result = repair(path, "--check")
    assert result.exit_code == 1
    assert f"{path}:10: sentence two, word 3 'de': cycle" in result.output
    assert f"{path}:15: line 15 has 2 columns" in result.output
    assert f"{path}:21: line 21 has no HEAD" in result.output
    assert table(result.output)["Sentences that can't be read"] == "2"
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["in.conllu"]
    assert repair(write(GOOD), "--check").exit_code == 0


def test_labels_alone(write, tmp_path):
    text = "1\ta\ta\tX\t_\t_\t0\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t1\troot\t_\t_\n\n"
    result = repair(write(text), tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_text() == text.replace("dep", "x").replace("root", "dep").replace("x", "root")
    assert table(result.output)["Heads that change"] == "0" and table(result.output)["label"] == "2"


def test_the_label_of_demoted_roots(write, tmp_path):
    text = "1\ta\ta\tVERB\t_\t_\t0\troot\t_\t_\n2\tb\tb\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    for options, label in (([], "parataxis"), (["--demoted-label", "discourse"], "discourse")):
        assert repair(write(text), tmp_path / "out.conllu", *options).exit_code == 0
        assert f"1\t{label}\t" in (tmp_path / "out.conllu").read_text()
    for label in ("root", "a b", "_", ""):
        result = repair(write(text), tmp_path / "out.conllu", "--demoted-label", label)
        assert result.exit_code == 1 and "--demoted-label" in result.output


def test_the_enhanced_layer_is_left_and_a_disagreement_reported(write, tmp_path):
    text = "1\ta\ta\tX\t_\t_\t2\tdep\t0:root\t_\n2\tb\tb\tX\t_\t_\t0\troot\t1:dep\t_\n\n"
    path = write(text)
    result = repair(path, tmp_path / "out.conllu")
    assert f"{path}:2: word 2 is the root of the basic layer, but not of the enhanced one" in result.output
    assert table(result.output)["Sentences with another root in the enhanced layer"] == "1"
    assert (tmp_path / "out.conllu").read_text() == text
    assert repair(path, "--check").exit_code == 0


def test_standard_input_and_output(tmp_path):
    done = subprocess.run([*COMMAND, "-", "-"], input=(GOOD + TWO_ROOTS).encode(), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == GOOD + MENDED
    assert b"<stdin>:10: sentence two, word 3" in done.stderr and b"Sentences" in done.stderr


def test_folders(write, tmp_path):
    write(GOOD, "in/a.conllu")
    write(TWO_ROOTS, "in/b.conllu")
    (tmp_path / "in" / "sub").mkdir()
    write(GOOD, "in/sub/c.conllu")
    write("not this", "in/d.txt")
    result = repair(tmp_path / "in", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = {str(p.relative_to(tmp_path / "out")): p.read_bytes().decode() for p in (tmp_path / "out").rglob("*.*")}
    assert found == {"a.conllu": GOOD, "b.conllu": MENDED, "sub/c.conllu": GOOD}
    assert table(result.output)["Sentences"] == "3"
    result = repair(tmp_path / "in", tmp_path / "in" / "a.conllu")
    assert result.exit_code == 1 and "is a folder" in result.output


def test_into_a_folder_and_in_place(write, tmp_path):
    path = write(TWO_ROOTS)
    (tmp_path / "out").mkdir()
    assert repair(path, tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "in.conllu").read_text() == MENDED
    assert repair(path, path).exit_code == 0
    assert path.read_text() == MENDED


def test_a_fault_in_one_file_and_nothing_is_written(write, tmp_path):
    write(TWO_ROOTS, "in/a.conllu")
    write(GOOD + "1\ta\n\n", "in/b.conllu")
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.conllu").write_text("precious")
    result = repair(tmp_path / "in", out, "--report", tmp_path / "r.jsonl")
    assert result.exit_code == 1
    assert "b.conllu:5: line 5 has 2 columns" in result.output and "Nothing was written" in result.output
    assert (out / "a.conllu").read_text() == "precious"
    assert os.listdir(out) == ["a.conllu"] and sorted(os.listdir(tmp_path)) == ["in", "out"]


def test_an_interruption_leaves_nothing_behind(write, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("spacy_mindroot.cli.rewriting.repair_sentence", interrupted)
    repair(write(TWO_ROOTS), tmp_path / "out.conllu")
    assert os.listdir(tmp_path) == ["in.conllu"]


def test_heads_that_count_from_zero_are_refused(write, tmp_path):
    text = "".join(f"{i}\tw\tw\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate([1, 1, 3, 1], 1))
    result = repair(write((text + "\n") * 2 + GOOD), tmp_path / "out.conllu")
    assert result.exit_code == 1 and "count from 0" in result.output and "2 of 2 malformed" in result.output
    assert os.listdir(tmp_path) == ["in.conllu"]
    assert "count from 0" in repair(tmp_path / "in.conllu", "--check").output


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["nowhere.conllu", "out"], 1, "no such file"),
        (["in.conllu"], 1, "--check"),
        (["in.conllu", "out", "--check"], 1, "--check"),
        (["in.conllu", "nowhere/out.conllu"], 1, "nowhere"),
        ([], 2, "Missing argument"),
    ],
)
def test_what_can_not_be_done(args, code, says, write, tmp_path, monkeypatch):
    write(GOOD)
    monkeypatch.chdir(tmp_path)
    result = repair(*args)
    assert result.exit_code == code and says in result.output, result.output
    assert "Traceback" not in result.output and os.listdir(tmp_path) == ["in.conllu"]


def test_many_changes_are_not_all_printed(write, tmp_path):
    result = repair(write(TWO_ROOTS * 20), tmp_path / "out.conllu")
    assert result.output.count("sentence two") == 10 and "30 more changes" in result.output


def test_a_very_long_sentence_of_nothing_but_cycles(write, tmp_path):
    n = 40_000
    rows = "".join(f"{i}\tw\tw\tX\t_\t_\t{i - 1 if i % 2 == 0 else i + 1}\tdep\t_\t_\n" for i in range(1, n + 1))
    result = repair(write(rows + "\n"), tmp_path / "out.conllu")
    assert result.exit_code == 0 and table(result.output)["Heads that change"] == f"{n // 2:,}"
    (sentence,) = read_conllu(tmp_path / "out.conllu")
    assert is_tree(sentence.heads) and count_roots(sentence.heads) == 1


def test_a_reader_that_goes_away(write, tmp_path):
    path = write(GOOD * 20000)
    command = " ".join(map(shlex.quote, [*COMMAND, str(path)]))
    done = subprocess.run(f"{command} - | head -1", shell=True, capture_output=True, text=True)
    assert done.stdout == "# sent_id = good\n" and "Traceback" not in done.stderr


INVALID = "# sent_id = x\n1\ta\n\n"
NO_HEADS = "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n\n"


def test_sentences_at_fault_can_be_skipped(write, tmp_path):
    path = write(TWO_ROOTS + INVALID + NO_HEADS + TWO_ROOTS)
    result = repair(path, tmp_path / "out.conllu", "--skip-invalid")
    assert result.exit_code == 0
    assert (tmp_path / "out.conllu").read_text() == MENDED + INVALID + NO_HEADS + MENDED
    assert f"{path}:12: line 12 has 2 columns" in result.output and f"{path}:14: line 14 has no HEAD" in result.output
    assert result.output.count("is left as it is") == 2
    assert table(result.output)["Sentences that can't be read"] == "2"
    assert repair(path, tmp_path / "new.conllu").exit_code == 1 and not (tmp_path / "new.conllu").exists()


def test_skipping_covers_no_whole_file(write, tmp_path):
    path = write(TWO_ROOTS.encode("utf-16"))
    result = repair(path, tmp_path / "out.conllu", "--skip-invalid")
    assert result.exit_code == 1 and "is UTF-16" in result.output and os.listdir(tmp_path) == ["in.conllu"]


def test_check_goes_on_after_a_file_that_can_not_be_read(write, tmp_path):
    write(TWO_ROOTS.encode("utf-16"), "in/a.conllu")
    write(gzip.compress(TWO_ROOTS.encode() * 99)[:-9], "in/b.cupt.gz")
    write(TWO_ROOTS, "in/c.conllu")
    result = repair(tmp_path / "in", "--check")
    assert result.exit_code == 1 and "is UTF-16" in result.output and "gzip data is damaged" in result.output
    assert "c.conllu:6: sentence two" in result.output


PLUS = "# global.columns = ID FORM OLD HEAD DEPREL\n1\ta\t0\t0\troot\n2\tb\t0\t0\troot\n\n"
CUPT = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n" + TWO_ROOTS.replace(
    "\t_\n", "\t_\t*\n"
).replace("X=1\n", "X=1\t1:VID\n")


def test_a_folder_of_all_kinds(write, tmp_path):
    mended = {
        "a.conllu": MENDED,
        "b.conllup": PLUS.replace("2\tb\t0\t0\troot", "2\tb\t0\t1\tdep"),
        "c.cupt": CUPT.replace("0\troot\t2:punct", "2\tpunct\t2:punct").replace("4\tcase", "2\tcase"),
    }
    for name, text in (("a.conllu", TWO_ROOTS), ("b.conllup", PLUS), ("c.cupt", CUPT)):
        write(text, f"in/{name}")
        write(gzip.compress(text.encode()), f"in/{name}.gz")
    result = repair(tmp_path / "in", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert sorted(found) == sorted([*mended, *(f"{name}.gz" for name in mended)])
    for name, text in mended.items():
        assert found[name].decode() == text
        assert gzip.decompress(found[f"{name}.gz"]).decode() == text
    assert repair(tmp_path / "out", "--check").exit_code == 0
    assert repair(tmp_path / "in", tmp_path / "in").exit_code == 0  # in place
    assert gzip.decompress((tmp_path / "in" / "a.conllu.gz").read_bytes()).decode() == MENDED


def test_other_columns_without_those_that_are_needed(write, tmp_path):
    result = repair(write(PLUS.replace("HEAD", "X")), tmp_path / "out.conllu")
    assert (
        result.exit_code == 1 and "without HEAD" in result.output and "# global.columns = ID FORM OLD" in result.output
    )
    assert os.listdir(tmp_path) == ["in.conllu"]


@pytest.mark.parametrize(
    "args",
    [
        ["in.conllu", "--check", "--report", "in.conllu"],
        ["in.conllu", "--check", "--report", "soft"],
        ["in.conllu", "--check", "--report", "hard"],
        ["in.conllu", "out", "--report", "out"],
        ["in.conllu", "in.conllu", "--report", "in.conllu"],
        ["in.conllu", "soft"],
        ["in.conllu", "hard"],
        ["in.conllu", "."],
        ["folder", "folder", "--report", "folder/a.conllu"],
        ["folder", "link"],
        ["folder", "folder/sub"],
        ["folder", "link/new/sub"],
        ["folder", "other"],  # where a.conllu is a link to an input
    ],
)
def test_no_path_is_lost_to_another(args, write, tmp_path, monkeypatch):
    for name in ("in.conllu", "folder/a.conllu"):
        write(TWO_ROOTS, name)
    monkeypatch.chdir(tmp_path)
    os.symlink("in.conllu", "soft")
    os.link("in.conllu", "hard")
    os.symlink("folder", "link")
    os.mkdir("other")
    os.symlink("../folder/a.conllu", "other/a.conllu")
    before = sorted(tmp_path.rglob("*"))
    result = repair(*args)
    shown = " ".join(result.output.split())
    known = ("same file", "in IN, a folder", "would not be what its name says")
    assert result.exit_code and any(says in shown for says in known), shown
    assert (tmp_path / "in.conllu").read_text() == (tmp_path / "folder" / "a.conllu").read_text() == TWO_ROOTS
    assert sorted(tmp_path.rglob("*")) == before


def test_no_link_is_followed_out_of_the_folder_to_write(write, tmp_path, monkeypatch):
    write(TWO_ROOTS, "folder/a.conllu")
    write(GOOD, "elsewhere/a.conllu")
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")
    os.symlink("../elsewhere/a.conllu", "out/a.conllu")
    result = repair("folder", "out")
    assert result.exit_code == 1 and "leads out of its folder" in result.output
    assert (tmp_path / "elsewhere" / "a.conllu").read_bytes() == GOOD.encode()


@pytest.mark.parametrize("args", [["loop", "out"], ["in.conllu", "loop"], ["in.conllu", "out", "--report", "loop"]])
def test_links_that_lead_nowhere(args, write, tmp_path, monkeypatch):
    write(GOOD)
    monkeypatch.chdir(tmp_path)
    os.symlink("loop", "loop")
    result = repair(*args)
    assert result.exit_code == 1 and "loop" in result.output and result.exc_info[0] is SystemExit
    assert sorted(os.listdir(tmp_path)) == ["in.conllu", "loop"]


def run(args, cwd, **options):
    return subprocess.run([*COMMAND, *args], cwd=cwd, capture_output=True, **options)


def test_the_message_is_true_when_standard_output_has_a_part_of_the_result(tmp_path):
    done = run(["-", "-"], tmp_path, input=(GOOD + "1\ta\n\n").encode())
    assert done.returncode == 1 and done.stdout.decode() == GOOD
    assert b"Nothing was written" not in done.stderr and b"standard output" in done.stderr


def test_the_message_is_true_when_the_table_can_not_be_printed(write, tmp_path):
    write(GOOD)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "in.conllu", "out"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and (tmp_path / "out").read_bytes().decode() == GOOD
    assert b"Nothing was written" not in done.stderr and b"Traceback" not in done.stderr


def test_file_names_that_are_not_utf8(tmp_path):
    names = [os.fsdecode(name) for name in (b"in\xff.conllu", b"out\xff.conllu", b"r\xff.jsonl")]
    (tmp_path / names[0]).write_text(TWO_ROOTS)
    done = run([names[0], names[1], "--report", names[2]], tmp_path)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
    assert (tmp_path / names[1]).read_text() == MENDED
    lines = (tmp_path / names[2]).read_text("utf8").splitlines()
    assert {json.loads(line)["file"] for line in lines} == {"in\ufffd.conllu"}


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_closed_standard_streams(closed, write, tmp_path):
    write(TWO_ROOTS)
    command = " ".join([*map(shlex.quote, COMMAND), "in.conllu"])
    done = subprocess.run(f"{command} out {closed}", shell=True, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and not done.stderr and (tmp_path / "out").read_text() == MENDED
    done = subprocess.run(f"{command} - {closed}", shell=True, cwd=tmp_path, capture_output=True)
    assert done.returncode == 1 and b"Traceback" not in done.stderr


def test_help_suffices():
    output = runner.invoke(app, ["mindroot", "repair", "--help"]).output
    assert "CoNLL-U" in output and "--report" in output and "--check" in output


def damaged(heads, labels, rng):
    """One to five faults: extra roots, no root, cycles, self loops."""
    heads, labels, n = heads.copy(), labels.copy(), len(heads)
    for _ in range(rng.integers(1, 6)):
        i = int(rng.integers(n))
        fault = rng.integers(4)
        if fault == 0:
            heads[i], labels[i] = 0, "root"
        elif fault == 1:
            at = i
            for _ in range(rng.integers(1, 4)):
                at = heads[at] - 1 if 0 < heads[at] <= n else at
            heads[at] = i + 1
        elif fault == 2:
            heads = [int(rng.integers(1, n + 1)) if head == 0 else head for head in heads]
        else:
            heads[i] = i + 1
    return heads, labels


def by_the_plain_rule(heads):
    """Attach every extra root, and whatever else is wrong, to the first root."""
    wrong = [i for i, head in enumerate(heads) if head == i + 1]
    roots = [i for i, head in enumerate(heads) if head == 0]
    cycles = [cycle[0] - 1 for cycle in find_cycles(heads) if len(cycle) > 1]
    root = roots[0] if roots else min(wrong + cycles)
    repaired = np.array(heads)
    repaired[roots + wrong + cycles] = root + 1
    repaired[root] = 0
    return repaired


def test_damaged_treebanks(data, tmp_path):
    """All trees are single-rooted again, and more heads are right than by the plain rule. Every third sentence."""
    rng = np.random.default_rng(5)
    right = plain = words = 0
    for path in sorted((data / "ud").glob("*/*-test.conllu")):
        source, out = tmp_path / path.name, tmp_path / f"out-{path.name}"
        gold = list(read_conllu(path))[::3]
        with open(source, "wb") as file:
            for sentence in list(read_conllu(path))[::3]:
                heads, labels = damaged(sentence.heads, sentence.labels, rng)
                for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
                    sentence.replace(word, 6, str(head))
                    sentence.replace(word, 7, label)
                file.write(sentence.to_bytes())
        assert repair(source, out).exit_code == 0
        for before, after, tree in zip(read_conllu(source), read_conllu(out), gold, strict=True):
            assert reaches_root(after.heads) and count_roots(after.heads) == 1
            changed = np.count_nonzero(np.array(before.heads) != after.heads)
            assert changed == len(repair_heads(before.heads).changes)
            right += np.count_nonzero(np.array(after.heads) == tree.heads)
            plain += np.count_nonzero(by_the_plain_rule(before.heads) == tree.heads)
            words += len(tree)
    assert right / words > plain / words + 0.02


@pytest.mark.parametrize("treebank", ["mr_ufal", "lt_hse"])
def test_the_validator_finds_no_fault_in_repaired_trees(treebank, data, tmp_path):
    (path,) = (data / "ud").glob(f"*/{treebank}-ud-test.conllu")
    rng = np.random.default_rng(5)
    with open(tmp_path / "in.conllu", "wb") as file:
        for sentence in read_conllu(path):
            heads, labels = damaged(sentence.heads, sentence.labels, rng)
            for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
                sentence.replace(word, 6, str(head))
                sentence.replace(word, 7, label)
            file.write(sentence.to_bytes())
    assert repair(tmp_path / "in.conllu", tmp_path / "out.conllu").exit_code == 0
    found = {name: validator_faults(tmp_path / name) for name in ("in.conllu", "out.conllu")}
    assert found["in.conllu"] >= {"multiple-roots", "non-tree"}
    assert not found["out.conllu"]


def validator_faults(path):
    """The faults of trees that `udvalidate` finds."""
    code = "import sys; from udtools.cli import main; sys.exit(main())"
    options = ["--lang", "ud", "--level", "2", "--max-err", "0"]
    done = subprocess.run([sys.executable, "-c", code, *options, path], capture_output=True, text=True)
    faults = re.findall(r"\[L\d [\w ]+ ([\w-]+)\]", done.stdout + done.stderr)
    return set(faults) & {
        "multiple-roots",
        "non-tree",
        "0-is-not-root",
        "root-is-not-0",
        "head-self-loop",
        "invalid-head",
        "unknown-head",
    }


TWO_SUBJECTS = (
    "# sent_id = s\n1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\train\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\tcats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_\n4\tin\tin\tADP\t_\tExtPos=ADV\t2\tadvmod\t_\t_\n"
    "5\tfact\tfact\tNOUN\t_\t_\t4\tfixed\t_\t_\n\n"
)


def test_rules_are_met_with_the_fewest_changes(write, tmp_path):
    result = repair(write(GOOD + TWO_SUBJECTS), tmp_path / "out.conllu", "--rules", "ud", "-r", tmp_path / "r.jsonl")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out.conllu").read_bytes().decode()
    assert text.startswith(GOOD) and text.count("nsubj") + text.count("\tdep\t") == 2
    assert "advmod" in text  # "in fact" acts as an adverb, says ExtPos
    assert re.search(r"too-many-subjects +1 +0\n", result.output) and re.search(r"all +1 +0\n", result.output)
    (change,) = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert (change["word"], change["why"], change["cycle"]) == (3, "too-many-subjects", None)
    again = repair(tmp_path / "out.conllu", "--check", "--rules", "ud")
    assert again.exit_code == 0, again.output


def test_roots_first_then_rules(write, tmp_path):
    text = TWO_SUBJECTS.replace("4\tfixed", "0\troot")
    result = repair(write(text), tmp_path / "out.conllu", "--rules", "ud")
    assert result.exit_code == 0, result.output
    (sentence,) = read_conllu(tmp_path / "out.conllu")
    assert is_tree(sentence.heads, single_root=True)
    assert re.search(r"all +[12] +0\n", result.output)


def test_rules_of_a_file(write, tmp_path):
    rules = write('{"unique": [{"labels": ["nsubj"], "name": "mine"}, {"labels": ["x"], "price": 1}]}', "rules.json")
    result = repair(write(TWO_SUBJECTS), "--check", "--rules", rules)
    assert result.exit_code == 1 and "word 3 'cats': mine: head 2 (nsubj) -> 1 (nsubj)" in result.output
    assert re.search(r"mine +1 +0\n", result.output)
    for wrong, message in (("UD", "--rules: "), (tmp_path / "absent.json", "cannot be read")):
        result = repair(write(TWO_SUBJECTS), tmp_path / "new.conllu", "--rules", wrong)
        assert result.exit_code == 1 and message in result.output
        assert not (tmp_path / "new.conllu").exists()


def test_a_sentence_that_cannot_be_mended(write, tmp_path):
    rules = write('{"leaf": [["dep", "punct", "root", "nsubj", "advmod", "fixed"]]}', "rules.json")
    result = repair(write(GOOD + TWO_SUBJECTS), tmp_path / "out.conllu", "--rules", rules)
    assert result.exit_code == 1
    assert re.search(r"in.conllu:2: .*can't be mended.*no tree meets the rules", " ".join(result.output.split()))
    result = repair(write(GOOD + TWO_SUBJECTS), tmp_path / "out.conllu", "--rules", rules, "--skip-invalid")
    assert result.exit_code == 0 and (tmp_path / "out.conllu").read_bytes().decode() == GOOD + TWO_SUBJECTS
    two_roots = TWO_SUBJECTS.replace("4\tfixed", "0\troot")  # it stays as it is, roots included
    options = ["--rules", rules, "--skip-invalid", "--demoted-label", "fixed"]
    result = repair(write(GOOD + two_roots), tmp_path / "out.conllu", *options)
    assert result.exit_code == 0 and (tmp_path / "out.conllu").read_bytes().decode() == GOOD + two_roots


# Root labels of other schemes


def scheme(*sentences, root="pred"):
    """Sentences of words whose cells HEAD and DEPREL are given."""
    return "".join(
        "".join(f"{i}\tw{i}\t_\tV-\t_\t_\t{arc.replace(' ', chr(9))}\t_\t_\n" for i, arc in enumerate(arcs, 1)) + "\n"
        for arcs in sentences
    ).replace("pred", root)


WELL_FORMED = ["2 nsubj", "0 pred"], ["0 pred", "1 pred"], ["0 parpred"]
BROKEN = ["2 nsubj", "0 pred", "0 pred"], ["2 obj", "1 conj"], ["2 obj", "0 _"], ["0 pred", "2 obj", "1 _"]
REPAIRED = ["2 nsubj", "0 pred", "2 pred"], ["0 pred", "1 conj"], ["2 obj", "0 pred"], ["0 pred", "1 obj", "1 _"]


@pytest.mark.parametrize("root", ["pred", "---", "PRED", "sentence", "rootless"])
@pytest.mark.parametrize("stdin", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_roots_of_another_scheme_keep_their_labels(root, stdin, packed, write, tmp_path):
    def given(text):
        data = gzip.compress(text.encode()) if packed else text.encode()
        return ("-", {"input": data}) if stdin else (write(data), {})

    text = scheme(*WELL_FORMED * 40, root=root)
    source, options = given(text)
    result = repair(source, "--check", **options)
    assert result.exit_code == 0 and table(result.output)["Malformed sentences"] == "0 (0.00%)", result.output
    source, options = given(text + scheme(*BROKEN, root=root))
    assert repair(source, tmp_path / "out.conllu", **options).exit_code == 0
    expected = text + scheme(*REPAIRED, root=root)
    assert (tmp_path / "out.conllu").read_text() == expected
    assert repair(tmp_path / "out.conllu", "--check").exit_code == 0


@pytest.mark.parametrize("with_root", ["0 root", "0 ROOT:x", "1 root"])
def test_one_word_that_is_labelled_root_makes_it_the_label_of_all(with_root, write, tmp_path):
    path = write(scheme(*WELL_FORMED, ["0 obj", with_root] if with_root[0] == "1" else [with_root]))
    assert repair(path, tmp_path / "out.conllu").exit_code == 0
    labels = [(sentence.heads, sentence.labels) for sentence in read_conllu(tmp_path / "out.conllu")]
    assert labels[:3] == [([2, 0], ["nsubj", "root"]), ([0, 1], ["root", "pred"]), ([0], ["root"])]
    assert repair(path, tmp_path / "out.conllu", "--rules", "ud").exit_code == 0


def test_roots_without_any_label_get_that_of_universal_dependencies(write, tmp_path):
    path = write(scheme(["2 _", "0 _"], ["2 x", "1 y"]))
    assert repair(path, tmp_path / "out.conllu").exit_code == 0
    assert (tmp_path / "out.conllu").read_text() == scheme(["2 dep", "0 root"], ["0 root", "1 y"])


def test_each_file_of_a_folder_has_its_scheme_and_rules_are_for_the_label_root(write, tmp_path):
    files = {"a.conllu": scheme(["0 pred"]), "b.conllu": scheme(["0 root"]), "c.conllu": scheme(["0 Pred"])}
    for name, text in files.items():
        write(text, f"in/{name}")
    assert repair(tmp_path / "in", "--check").exit_code == 0
    assert repair(tmp_path / "in", tmp_path / "out", "--rules", "ud").exit_code == 0
    assert (tmp_path / "out" / "a.conllu").read_text() == scheme(["0 root"])


def test_what_is_at_fault_is_named_by_its_line_in_another_scheme_too(write):
    path = write(scheme(*WELL_FORMED) + "1\ta\n\n" + "1\t\xff\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    result = repair(path, "--check")
    assert result.exit_code == 1 and "in.conllu:9: line 9 has 2 columns" in result.output.replace("\n", "")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("prior") / "model")


def test_the_prior_chooses_between_the_trees_of_malformed_sentences(model, write, tmp_path):
    text = (TWO_ROOTS + GOOD.replace("\r", "")) * 100 + LAST.replace("\t0\tROOT", "\t_\t_") + "\n\n"
    nlp = load_pipeline(str(model))
    path = write(text)
    scored = list(score_sentences(nlp, unparsed(nlp.vocab, read_conllu(path))))
    for keep, worth in ((None, 8), ("0", 0), ("inf", math.inf)):
        options = [] if keep is None else ["--keep", keep]
        result = repair(path, tmp_path / "out.conllu", "--prior", model, *options)
        assert result.exit_code == 0, result.output
        for before, after, own in zip(read_conllu(path), read_conllu(tmp_path / "out.conllu"), scored, strict=True):
            assert after.heads == repair_heads(before.heads, scores=own.scores, keep=worth).heads.tolist()
            parsed = own.labels(np.array(after.heads))
            for old, new, theirs in zip(before.labels, after.labels, parsed, strict=True):
                assert new in (old, theirs)
    assert table(result.output)["Malformed sentences"] == "101 (50.25%)"  # the one without heads, too
    result = repair(path, "--check", "--prior", model, "--rules", "ud")
    assert result.exit_code == 1 and re.search(r"all +\d+ +0\n", result.output), result.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--keep", "2"], "--keep goes with --prior"),
        (["--prior", "absent"], "absent is not a pipeline"),
    ],
)
def test_priors_that_make_no_sense(options, says, write, tmp_path):
    result = repair(write(TWO_ROOTS), tmp_path / "out.conllu", *options)
    assert result.exit_code == 1 and says in result.output and not (tmp_path / "out.conllu").exists()


def test_a_prior_of_multiword_tokens_is_refused(model, write, tmp_path):
    nlp = load_pipeline(str(model))
    reader = {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": "x", "surface_tokens": True}
    nlp.config["corpora"] = {"train": reader}
    nlp.to_disk(tmp_path / "surface")
    result = repair(write(TWO_ROOTS), "--check", "--prior", tmp_path / "surface")
    assert result.exit_code == 1 and "was trained on multiword tokens" in result.output


@pytest.mark.parametrize("rules", [[], ["--rules", "ud"]])
def test_a_sentence_that_is_too_long_for_the_prior_is_repaired_without(rules, model, write, tmp_path):
    long = "".join(f"{k}\tw\t_\tX\t_\t_\t{0 if k < 3 else 1}\tdep\t_\t_\n" for k in range(1, 252)) + "\n"
    path = write(long + TWO_ROOTS)
    result = repair(path, tmp_path / "out.conllu", "--prior", model, "--keep", "0", *rules)
    assert result.exit_code == 0, result.output
    assert re.search(
        r"in.conllu:1: the sentence is repaired without the scores of --prior: .*251 tokens", result.output
    )
    first, second = read_conllu(tmp_path / "out.conllu")
    assert first.heads == [0, *[1] * 250]
    alone = repair(write(TWO_ROOTS), tmp_path / "one.conllu", "--prior", model, "--keep", "0", *rules)
    assert alone.exit_code == 0 and second.heads == next(iter(read_conllu(tmp_path / "one.conllu"))).heads


def test_what_the_prior_can_not_read_is_skipped(model, write, tmp_path):
    text = TWO_ROOTS.encode() + TWO_ROOTS.encode().replace(b"They", b"\xff") + TWO_ROOTS.encode()
    result = repair(write(text), tmp_path / "out.conllu", "--skip-invalid", "--prior", model)
    assert result.exit_code == 0 and "is not UTF-8" in result.output
    assert b"\xff" in (tmp_path / "out.conllu").read_bytes()

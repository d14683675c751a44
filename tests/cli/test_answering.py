"""`spacy mindroot decode` with the answers of language models."""

import json
import re

import numpy as np
import pytest
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot.answers import read_answer
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.inference import marginals

WORDS = ["They", "left", "early", "."]
GOOD = {"words": WORDS, "heads": [2, 0, 2, 2], "deprels": ["nsubj", "root", "advmod", "punct"]}
TWO_ROOTS = GOOD | {"heads": [2, 0, 0, 2]}
LIKELY = {"words": WORDS, "heads": [{"2": -0.1}, {"0": -0.2, "3": -2}, {"2": -0.3, "1": -2}, {"2": -0.1}]}
SAMPLES = GOOD | {"heads": [[2, 0, 2, 2], [2, 0, 2, 3], [2, 0, 2, 3]]}


def decode(*args):
    return CliRunner().invoke(app, ["mindroot", "decode", *map(str, args)])


@pytest.fixture
def write(tmp_path):
    def write(*lines, name="answers.jsonl"):
        path = tmp_path / name
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text(text + "\n", "utf8")
        return path

    return write


def read(path):
    return [(sentence.heads, sentence.labels) for sentence in read_conllu(path)]


def test_answers_become_trees_and_faults_are_named(write, tmp_path):
    path = write(GOOD, TWO_ROOTS, "", SAMPLES, LIKELY, GOOD | {"heads": [2]})
    result = decode(path, tmp_path / "out.conllu", "--report", tmp_path / "r.jsonl")
    assert result.exit_code == 0, result.output
    assert f"{path}:2: sentence answers-2: word 3: extra root: head 0 -> 2\n" in result.output
    assert re.search(r"Sentences +5\nWords +20\nSentences at fault +2\nSentences without an answer +1\n", result.output)
    trees = [heads for heads, _ in read(tmp_path / "out.conllu")]
    assert trees == [[2, 0, 2, 2], [2, 0, 2, 2], [2, 0, 2, 3], [2, 0, 2, 2], [-1] * 4]
    assert read(tmp_path / "out.conllu")[0][1] == GOOD["deprels"]
    records = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text("utf8").splitlines()]
    assert [(record["line"], record["heads"]) for record in records] == [(2, [2, 0, 2, 2]), (6, None)]
    assert records[0]["faults"] == [{"kind": "extra root", "word": 3, "what": "head 0 -> 2"}]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (TWO_ROOTS, "extra root"),
        (GOOD | {"heads": [2, 2, 2, 2]}, "no root"),
        (GOOD | {"heads": [1, 0, 2, 2]}, "self loop"),
        (GOOD | {"heads": [3, 0, 1, 2]}, "cycle"),
        (GOOD | {"heads": [2, 0, 7, 2]}, "out of range"),
        (GOOD | {"deprels": ["nsubj", "root", "when", "punct"]}, "unknown label"),
        (GOOD | {"heads": [2, 0, 2]}, "no answer"),
        (GOOD | {"heads": [2, 0, 2, 2, 2]}, "no answer"),
        (
            {"words": WORDS, "answer": json.dumps({**GOOD, "words": ["They", "left", "."], "heads": [2, 0, 2]})},
            "missing",
        ),
        (
            {"words": WORDS, "answer": json.dumps({**GOOD, "words": [*WORDS, "!"], "heads": [2, 0, 2, 2, 2]})},
            "additional",
        ),
        ({"words": WORDS, "answer": f"Sure: {json.dumps(GOOD)}"}, "text around"),
        ({"words": WORDS, "answer": json.dumps(GOOD)[:60]}, "truncated"),
        ({"words": WORDS, "answer": "I can't."}, "no answer"),
    ],
)
def test_check_names_each_kind_and_writes_nothing(line, kind, write, tmp_path):
    labels = ["--known-labels", "nsubj,root,advmod,punct"]
    assert decode(write(GOOD), "--check", *labels).exit_code == 0
    result = decode(write(GOOD, line), "--check", *labels)
    assert result.exit_code == 1 and re.search(rf"answers.jsonl:2: .*{kind}", result.output), result.output
    assert decode(write(GOOD, line), tmp_path / "out.conllu", *labels).exit_code == 0
    for heads, _ in read(tmp_path / "out.conllu"):
        assert heads.count(0) == 1 or set(heads) == {-1}


def test_probabilities_and_next_best_trees(write, tmp_path):
    result = decode(write(LIKELY), tmp_path / "out.conllu", "--confidence", "--kbest", "2")
    assert result.exit_code == 0, result.output
    (sentence,) = read_conllu(tmp_path / "out.conllu")
    expected = marginals(read_answer(LIKELY, WORDS).scores)[np.arange(4), sentence.heads]
    found = [float(re.search(r"HeadProb=([\d.]+)", misc)[1]) for misc in sentence.column(9)]
    assert found == pytest.approx(expected, abs=1e-4)
    assert float(sentence.comment("expected_uas")) == pytest.approx(expected.mean(), abs=1e-5)
    assert sentence.comment("tree_1").endswith("heads=2,0,2,2 deprels=dep,root,dep,dep")
    assert sentence.comment("tree_2") is not None
    result = decode(write(SAMPLES), tmp_path / "new.conllu", "--kbest", "2")
    (sentence,) = read_conllu(tmp_path / "new.conllu")
    assert "heads=2,0,2,3 deprels=nsubj,root,advmod,punct" in sentence.comment("tree_1")
    result = decode(write(LIKELY, SAMPLES), tmp_path / "none.conllu", "--confidence")
    assert result.exit_code == 1 and "answers.jsonl:2: --confidence needs" in result.output
    assert not (tmp_path / "none.conllu").exists()


def test_an_array_of_answers_over_several_lines(write, tmp_path):
    path = write(json.dumps([GOOD, TWO_ROOTS], indent=1), name="answers.json")
    result = decode(path, tmp_path / "out.conllu")
    assert result.exit_code == 0 and f"{path}:2: sentence answers-2: word 3: extra root" in result.output
    assert [heads for heads, _ in read(tmp_path / "out.conllu")] == [[2, 0, 2, 2]] * 2
    tokens = [{"form": word, "head": head} for word, head in zip(WORDS, [2, 0, 2, 2], strict=True)]
    for text in (json.dumps(tokens, indent=1), f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}"):
        assert decode(write(text, name="answers.json"), tmp_path / "out.conllu").exit_code == 0
        assert [heads for heads, _ in read(tmp_path / "out.conllu")] == [[2, 0, 2, 2]] * (1 + text.count("}\n{"))


def test_characters_that_can_not_be_written(write, tmp_path):
    line = GOOD | {"words": ["They", "left", "early", "\ud83d"], "deprels": ["nsubj", "root", "\ud83d", "x"]}
    result = decode(write(line | {"sent_id": "a\ud83d"}), tmp_path / "out.conllu", "--report", tmp_path / "r.jsonl")
    assert result.exit_code == 0, result.output
    (sentence,) = read_conllu(tmp_path / "out.conllu")
    assert (sentence.words[3], sentence.labels[2], sentence.sent_id) == ("?", "?", "a?")
    assert "word 3: label" in result.output and "word 4: other form" in result.output


FILE = (
    "# sent_id = a\n# text = They left.\n1\tThey\tthey\tPRON\t_\t_\t_\t_\t_\tX=1\n"
    "2\tleft\tleave\tVERB\t_\t_\t_\t_\t_\t_\n"
    "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n3\tde\tde\tADP\t_\t_\t_\t_\t_\t_\n4\tle\tle\tDET\t_\t_\t_\t_\t_\t_\n\n"
    "# sent_id = b\n1\tGo\tgo\tVERB\t_\t_\t_\t_\t_\t_\n\n"
)


def test_words_of_a_file(write, tmp_path):
    """Every other byte stays."""
    own = {"words": ["They", "left", "le"], "heads": [2, 0, 2], "deprels": ["nsubj", "root", "obl"]}
    source = write(FILE.rstrip("\n") + "\n", name="in.conllu")
    result = decode(write(own, '{"heads": [0], "deprels": ["root"]}'), tmp_path / "out.conllu", "--conllu", source)
    assert result.exit_code == 0 and "word 3: missing word: 'de'" in result.output
    arcs = {"They": "2\tnsubj", "left": "0\troot", "de": "2\tdep", "le": "2\tobl", "Go": "0\troot"}
    expected = FILE
    for form, arc in arcs.items():
        expected = re.sub(rf"(\t{form}\t\w+\t[A-Z]+\t_\t_)\t_\t_\t", rf"\g<1>\t{arc}\t", expected)
    assert (tmp_path / "out.conllu").read_text("utf8") == expected
    texts = write("They left de le", "Go", name="in.txt")
    result = decode(write(own, '{"heads": [0]}'), tmp_path / "new.conllu", "--text", texts)
    assert result.exit_code == 0, result.output
    assert [heads for heads, _ in read(tmp_path / "new.conllu")] == [[2, 0, 2, 2], [0]]


@pytest.mark.parametrize(
    ("lines", "options", "says"),
    [
        ([GOOD, {"heads": [0]}], [], "answers.jsonl:2: this line has no words"),
        ([GOOD, '{"words": ["They'], [], "answers.jsonl:2: this line has no words"),
        (["[0]"] * 3, ["--conllu", "IN"], "answers.jsonl:3: this line has no sentence that belongs to it"),
        (["[2, 0, 2, 2]"], ["--conllu", "IN"], "has answers for 1 sentences of 2"),
        ([{"sent_id": "b", "heads": [0]}], ["--conllu", "IN"], "answers.jsonl:1 is the sentence b, but that of"),
        ([GOOD], ["--show", "1"], "--show is for score files"),
        ([GOOD], ["--conllu", "IN", "--text", "IN"], "--conllu without --text"),
        ([GOOD], ["--check"], "--check goes without OUT"),
        ([GOOD | {"heads": [1, 2, 2, 2]}] * 3, [], "if they count from 0"),
    ],
)
def test_what_can_not_be_done(lines, options, says, write, tmp_path):
    source = write(FILE.rstrip("\n") + "\n", name="in.conllu")
    result = decode(write(*lines), tmp_path / "out.conllu", *[source if each == "IN" else each for each in options])
    assert result.exit_code == 1 and says in result.output, result.output
    assert not (tmp_path / "out.conllu").exists()


def test_options_for_answers_are_refused_with_score_files(checkout, tmp_path):
    for option in (["--check"], ["--unrepaired"], ["--known-labels", "a"], ["--report", tmp_path / "r.jsonl"]):
        result = decode(checkout / "assets" / "demo.npz", *option)
        assert result.exit_code == 1 and "are for answers" in result.output


def test_unrepaired_heads_are_for_repair(write, tmp_path):
    result = decode(write(TWO_ROOTS, SAMPLES), tmp_path / "raw.conllu", "--unrepaired")
    assert result.exit_code == 0
    assert [heads for heads, _ in read(tmp_path / "raw.conllu")] == [[2, 0, 0, 2], [2, 0, 2, 3]]
    done = CliRunner().invoke(app, ["mindroot", "repair", str(tmp_path / "raw.conllu"), str(tmp_path / "out.conllu")])
    assert done.exit_code == 0
    assert [heads for heads, _ in read(tmp_path / "out.conllu")] == [[2, 0, 2, 2], [2, 0, 2, 3]]


def test_labels_of_a_treebank_and_files_without_an_ending(write, tmp_path, checkout):
    path = write(GOOD | {"deprels": ["Nsubj", "root", "odd", "punct"]}, name="answers")
    result = decode(path, tmp_path / "out.conllu", "--known-labels", checkout / "assets" / "treebank" / "train.conllu")
    assert result.exit_code == 0 and "unknown label: Nsubj -> nsubj" in result.output
    assert read(tmp_path / "out.conllu") == [([2, 0, 2, 2], ["nsubj", "root", "dep", "punct"])]

"""`spacy mindroot suspect`: what it finds in a treebank with an error, and what it writes."""

import json
import re

import pytest
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.building.config import make_config


def sentence(number, head, label, verb):
    rows = [
        ("the", "DET", 2, "det", "_"),
        (f"dog{number % 5}", "NOUN", 3, "nsubj", "X=1"),
        (verb, "VERB", 0, "root", "_"),
        ("the", "DET", head, label, "_"),
        ("cat", "NOUN", 3, "obj", "_"),
    ]
    lines = [
        f"{word}\t{form}\t_\t{upos}\t_\t_\t{own}\t{deprel}\t_\t{misc}"
        for word, (form, upos, own, deprel, misc) in enumerate(rows, 1)
    ]
    return "\n".join([f"# sent_id = s{number}", *lines]) + "\n\n"


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """Forty sentences of one form. In one, a determiner has a wrong head; in another, a wrong label."""
    folder = tmp_path_factory.mktemp("treebank")
    wrong = {7: (3, "det"), 22: (5, "case")}
    text = "".join(sentence(k, *wrong.get(k, (5, "det")), verb=("saw", "bit")[k % 2]) for k in range(40))
    (folder / "gold.conllu").write_text(text, "utf8")
    return folder


def suspect(treebank, *arguments):
    return CliRunner().invoke(app, ["mindroot", "suspect", str(treebank / "gold.conllu"), *map(str, arguments)])


@pytest.fixture(scope="module")
def found(treebank):
    out, report = treebank / "out.conllu", treebank / "out.jsonl"
    options = ("--folds", 2, "--steps", 60, "--seed", 1, "--precision", 0, "--page", treebank / "out.html")
    result = suspect(treebank, "--out", out, "--report", report, *options)
    assert result.exit_code == 0, result.output
    return result, list(read_conllu(out)), [json.loads(line) for line in report.read_text("utf8").splitlines()]


def test_the_errors_come_first(found):
    result, sentences, records = found
    assert {(record["id"], record["kind"]) for record in records[:2]} == {("s7", "head"), ("s22", "label")}
    by_id = {record["id"]: record for record in records}
    assert (by_id["s7"]["other_head"], by_id["s7"]["head"], by_id["s7"]["form"]) == (5, 3, "the")
    assert by_id["s22"]["other_deprel"] == "det" and by_id["s22"]["deprel_prob"] < 0.5
    assert {sentence.sent_id for sentence in sentences[:2]} == {"s7", "s22"}
    assert "s7" in result.stdout and "40 sentences in 2 folds" in result.stderr


def test_the_annotation_stays(found):
    _, sentences, records = found
    by_id = {sentence.sent_id: sentence for sentence in sentences}
    assert by_id["s7"].heads == [2, 3, 0, 3, 3] and by_id["s22"].labels[3] == "case"
    marks = by_id["s7"].column(9)[3].split("|")
    assert f"Rank={[r['id'] for r in records].index('s7') + 1}" in marks and marks == sorted(marks, key=str.lower)
    assert {"OtherHead=5", "OtherDeprel=det"} <= set(marks) and by_id["s7"].column(9)[1] == "X=1"
    assert [record["rank"] for record in records] == list(range(1, len(records) + 1))
    odds = [record["log_odds"] for record in records]
    assert odds == sorted(odds, reverse=True) and min(odds) >= 0
    line = (by_id["s7"].lines)[0].decode()
    assert line == "# sent_id = s7\n"


def test_the_page_shows_the_sentences(found, treebank):
    _, sentences, records = found
    page = (treebank / "out.html").read_text("utf8")
    assert page.count("<figure") == len(sentences)
    first = records[0]
    assert f"1. {first['form']} ({first['word']}): {first['deprel']} of " in page and f"({first['id']})" in page


def test_the_list_ends_where_errors_become_rare(found, treebank):
    """Each list is the beginning of the whole, and the numbers of expected errors say why it ends there."""
    every, lengths = found[2], []
    for precision in (0.9, 0.3):
        report = treebank / "short.jsonl"
        options = ("--folds", 2, "--steps", 60, "--seed", 1, "--precision", precision, "--report", report)
        result = suspect(treebank, *options)
        assert result.exit_code == 0, result.output
        records = [json.loads(line) for line in report.read_text("utf8").splitlines()]
        assert records == every[: len(records)]
        lengths.append(len(records))
        for count in re.findall(rf"(\d+) of the first {len(records)}\. Real errors", result.stdout):
            assert int(count) + 0.5 >= precision * len(records)
        assert "replaced at random" in result.stdout
        assert (f"--precision {precision:g}" in result.stdout) == (len(records) < len(every))
    assert lengths[0] < lengths[1] <= len(every)


def test_the_marks_are_removed(found, treebank, tmp_path):
    result = CliRunner().invoke(
        app, ["mindroot", "suspect", str(treebank / "out.conllu"), "--remove", "--out", str(tmp_path / "clean.conllu")]
    )
    assert result.exit_code == 0, result.output
    clean = {each.sent_id: each.lines for each in read_conllu(tmp_path / "clean.conllu")}
    gold = {each.sent_id: each.lines for each in read_conllu(treebank / "gold.conllu")}
    assert len(clean) == len(found[1]) and all(gold[name] == lines for name, lines in clean.items())
    result = CliRunner().invoke(app, ["mindroot", "suspect", str(treebank / "out.conllu"), "--remove"])
    assert result.exit_code == 1 and "--out" in result.stderr
    for option, name in (("--page", "p.html"), ("--report", "r.jsonl"), ("--json", "t.json")):
        arguments = [str(treebank / "out.conllu"), "--remove", "--out", str(tmp_path / "b.conllu"), option]
        result = CliRunner().invoke(app, ["mindroot", "suspect", *arguments, str(tmp_path / name)])
        assert result.exit_code == 1 and f"there is nothing for {option}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["clean.conllu"]


def test_lines_are_those_of_the_file(found, treebank):
    lines = (treebank / "gold.conllu").read_text("utf8").splitlines()
    for record in found[2]:
        cells = lines[record["line"] - 1].split("\t")
        assert (int(cells[0]), cells[1], int(cells[6])) == (record["word"], record["form"], record["head"])


def test_heads_alone_from_another_config(treebank, checkout):
    options = ("--config", checkout / "configs/cpu-small.cfg", "--folds", 2, "--steps", 2, "--what", "heads")
    result = suspect(treebank, "--most", 1, "--precision", 0, "--out", "-", *options)
    assert result.exit_code == 0 and result.stdout.count("# sent_id") == 1 and "annotated arcs" in result.stderr


def test_errors(treebank, tmp_path):
    for wrong in (("--what", "x"), ("--optimize", "x"), ("--lang", "dep")):
        result = suspect(treebank, *wrong)
        assert result.exit_code == 2 and wrong[0] in result.output, result.output
    result = suspect(treebank, "--folds", 41, "--out", tmp_path / "out.conllu")
    assert result.exit_code == 1 and "41 folds for 40 documents" in result.stderr
    assert not (tmp_path / "out.conllu").exists()
    (tmp_path / "gold.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n", "utf8")
    assert "No word in" in suspect(tmp_path).stderr
    other = make_config("xx", "efficiency", ["senter"], None).replace('lang = "xx"', 'lang = "dep"')
    (tmp_path / "other.cfg").write_text(other, "utf8")
    result = suspect(treebank, "--config", tmp_path / "other.cfg", "--out", tmp_path / "out.conllu")
    assert result.exit_code == 1 and "can't make a pipeline" in " ".join(result.stderr.split()), result.output
    (tmp_path / "bad.cfg").write_text("[[x", "utf8")
    assert "not a config" in suspect(treebank, "--config", tmp_path / "bad.cfg").stderr
    (tmp_path / "a.spacy").write_bytes(b"")
    result = CliRunner().invoke(app, ["mindroot", "suspect", str(tmp_path / "a.spacy")])
    assert result.exit_code == 1 and "not CoNLL-U" in result.stderr

"""`spacy mindroot rules`, as a person runs it."""

import json
import math
import re
import shlex

from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot import Rules

GOOD = (
    "1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
)
BAD = GOOD.replace("PUNCT\t_\t_\t2\tpunct", "NOUN\t_\t_\t2\tnsubj")


def rules(*args, **options):
    return CliRunner().invoke(app, ["mindroot", "rules", *map(str, args)], **options)


def test_rules_are_counted_and_learnt(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.conllu").write_text(GOOD * 90 + BAD * 10, "utf8")
    result = rules(tmp_path / "in", "-o", tmp_path / "rules.json")
    assert result.exit_code == 0, result.output
    assert re.search(r"^too-many-subjects +100 +10 +10.00% +2.20$", result.output, re.M)
    assert re.search(r"^leaf-punct +90 +0 +0.00% +hard$", result.output, re.M)
    assert re.search(r"^leaf-cc +0 +0 +not used$", result.output, re.M)
    place = shlex.quote(str(tmp_path / "in"))
    assert f"spacy mindroot repair {place} --check --rules ud" in result.output and "learnt:" in result.output
    learnt = Rules.from_dict(json.loads((tmp_path / "rules.json").read_text("utf8")))
    assert [rule.name for rule in learnt.unique] == ["too-many-subjects"] and learnt.hard.leaf
    result = CliRunner().invoke(
        app, ["mindroot", "repair", str(tmp_path / "in"), "--check", "--rules", str(tmp_path / "rules.json")]
    )
    assert result.exit_code == 0, result.output


def test_rules_of_the_same_name(tmp_path):
    """Only their parts of speech differ; the preset has such rules, too."""
    (tmp_path / "candidates.json").write_text(
        json.dumps(
            {
                "forbidden": [
                    {"name": "x", "labels": ["nsubj"], "pos": ["ADJ"]},
                    {"name": "x", "labels": ["nsubj"], "head_pos": ["NOUN"]},
                ]
            }
        )
    )
    bad = GOOD.replace("sleep\t_\tVERB", "sleep\t_\tNOUN")
    result = rules(
        "-", "-o", tmp_path / "o.json", "--candidates", tmp_path / "candidates.json", input=GOOD * 90 + bad * 9
    )
    assert re.findall(r"^x +99 +(\d+) .* (\S+)$", result.stdout, re.M) == [("0", "hard"), ("9", "2.30")]
    written = Rules.from_dict(json.loads((tmp_path / "o.json").read_text("utf8")))
    assert [rule.price for rule in written] == [math.inf, math.log(10)]


def test_settings_and_standard_streams(tmp_path):
    (tmp_path / "candidates.json").write_text('{"unique": ["nsubj"]}', "utf8")
    options = ("--candidates", tmp_path / "candidates.json", "--min-support", 2, "--max-violation", 0.5)
    result = rules("-", "-o", "-", *options, input=GOOD + BAD)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"unique": [{"name": "unique-nsubj", "labels": ["nsubj"], "price": None}]}


def test_what_is_wrong_is_said(tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(GOOD.replace("0\troot", "1\tobj"), "utf8")
    assert "in.conllu:1" in rules(path).output and "repair" in rules(path).output
    path.write_text(GOOD, "utf8")
    for options, message in (
        (("--max-violation", 2), "max_violation"),
        (("--min-support", 0), "min_support"),
        (("--candidates", "x"), "--candidates"),
    ):
        result = rules(path, *options)
        assert result.exit_code == 1 and message in result.output
    (tmp_path / "empty.conllu").write_text("", "utf8")
    assert "no sentences" in rules(tmp_path / "empty.conllu").output

"""Pipelines for several treebanks, and the scoreboard."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy
from typer.testing import CliRunner

pytest.importorskip("udtools", reason="pipelines are evaluated with the extra `evaluate`")


ENDED = SimpleNamespace(returncode=0, stderr="")


def command(*args):
    from scripts.pipelines.__main__ import app

    return CliRunner().invoke(app, list(map(str, args)))


@pytest.fixture
def treebanks(checkout, tmp_path):
    """A folder with the small treebank under two names, and a folder that is no treebank."""
    folder = tmp_path / "treebanks of ours"
    for name in ("UD_Marathi-UFAL", "Other"):
        shutil.copytree(checkout / "assets" / "treebank", folder / name)
    (folder / "nothing").mkdir()
    return folder


# ---------------------------------------------------------------------------------------------------------------------
# Wheels


def test_build_goes_through_all_treebanks_and_names_failures(treebanks, tmp_path, monkeypatch):
    from scripts.pipelines import run
    from spacy_mindroot.errors import TrainingError

    built = []

    def build(source, out, about, **options):
        built.append((source.name, out.name, options["steps"], options["optimize"]))
        if source.name == "Other":
            raise TrainingError("no luck")
        return {"package": {"wheel": "x.whl", "megabytes": 1}}

    monkeypatch.setattr(run, "build", build)
    result = command("build", "--folder", treebanks, "--out", tmp_path / "out", "--steps", 2)
    assert result.exit_code == 1 and "Other" in result.output and "no luck" in result.output
    assert built == [("Other", "Other", 2, "accuracy"), ("UD_Marathi-UFAL", "UD_Marathi-UFAL", 2, "accuracy")]
    built.clear()
    result = command("build", "--folder", treebanks, "--only", "Marathi-UFAL,Odd", "--out", tmp_path / "out")
    assert result.exit_code == 1 and "Odd" in result.output and [name for name, *_ in built] == ["UD_Marathi-UFAL"]
    assert built[0][2] is None  # steps as in the config


@pytest.mark.parametrize("args", [(), ("--folder", "nowhere")])
def test_treebanks_must_be_named_or_there(args, tmp_path):
    assert command("build", "--out", tmp_path, *args).exit_code == 2


# ---------------------------------------------------------------------------------------------------------------------
# Contestants


@pytest.fixture
def treebank(checkout, tmp_path):
    from spacy_mindroot.tools.building.treebank import prepare_treebank

    return prepare_treebank(checkout / "assets" / "treebank", tmp_path / "corpus")


def test_contestants_differ_in_the_parser_and_the_encoder(treebank):
    from scripts.pipelines.contestants import config_for

    ours, spacys = (config_for(name, treebank, seconds=9.0, seed=3) for name in ("mindroot", "spacy"))
    tags = ["morphologizer", "trainable_lemmatizer"]
    assert ours["nlp"]["pipeline"] == ["tok2vec", "senter", *tags, "arc_scorer", "mind_root"]
    assert spacys["nlp"]["pipeline"] == ["tok2vec", *tags, "parser"]
    assert ours["corpora"] == spacys["corpora"] and ours["paths"]["dev"] == spacys["paths"]["dev"]
    assert ours["system"]["seed"] == spacys["system"]["seed"] == 3
    assert ours["training"]["optimizer"]["learn_rate"]["seconds"] == 9.0
    assert "learn_rate" in spacys["training"]["optimizer"]
    del treebank.parts["dev"]
    assert config_for("spacy", treebank, seconds=9.0, seed=3)["components"]["parser"]["min_action_freq"] == 1


def test_the_learning_rate_follows_the_clock(monkeypatch):
    from scripts.pipelines import contestants

    now = [50.0]
    monkeypatch.setattr(contestants.time, "process_time", lambda: now[0])
    rates = contestants.budget_linear(100.0, 0.2, 1.0)
    assert next(rates) == pytest.approx(0.1)
    found = []
    for seconds in (0, 10, 20, 60, 100, 200):
        now[0] = 50.0 + seconds
        found.append(next(rates))
    assert found == pytest.approx([0.1, 0.55, 1.0, 0.5, 0.01, 0.01])


def test_a_run_is_complete(treebanks, tmp_path):
    from scripts.pipelines.compare import run
    from scripts.pipelines.scoreboard import rows_of

    found = run(treebanks / "UD_Marathi-UFAL", "spacy", 0, 4.0, tmp_path / "models" / "model")
    assert "parser" in spacy.load(tmp_path / "models" / "model").pipe_names
    assert (found["treebank"], found["sentences"], found["budget"]) == ("Marathi-UFAL", 97, 4.0)
    assert found["steps"] > 0 and found["cpu_seconds"] >= 4
    assert found["gold"]["official"]["Words"]["f1"] == 1 and "LAS" in found["raw"]["official"]
    (row,) = rows_of([json.loads(json.dumps(found))])
    assert row.score("spacy", "gold", "official", "Words", "f1") == 100
    assert row.score("mindroot", "gold", "official", "Words", "f1") is None


def test_a_build_is_a_run(treebanks, tmp_path, monkeypatch):
    from scripts.pipelines import compare

    scores = fake("Marathi-UFAL", "built")["gold"]
    asked = []

    def build(source, out, about, **options):
        asked.append((source.name, out, options))
        return {"training": {"steps": 9, "cpu_seconds": 5.0}, "gold tokens": scores, "raw text": scores}

    monkeypatch.setattr(compare, "build", build)
    found = compare.run(treebanks / "UD_Marathi-UFAL", "built", 0, 90.0, tmp_path / "model")
    assert asked == [("UD_Marathi-UFAL", tmp_path / "model", {"minutes": 1.5, "seeds": [0], "speed": False})]
    assert (found["contestant"], found["budget"], found["cpu_seconds"], found["steps"]) == ("built", 90.0, 5.0, 9)
    assert found["gold"] == found["raw"] == scores


def test_runs_in_the_file_are_not_repeated(treebanks, tmp_path, monkeypatch):
    from scripts.pipelines import run as module

    commands = []

    class Ended:
        def __init__(self, code, stderr=""):
            self.returncode, self.stderr = code, stderr

    def call(arguments, **options):
        commands.append(arguments[3:])
        return Ended(1, "Traceback\nValueError: no luck\n") if "Other" in arguments[3] else Ended(0)

    monkeypatch.setattr(module.subprocess, "run", call)
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(fake("Marathi-UFAL", "spacy", budget=60.0)) + "\n")
    result = command("compare", "--folder", treebanks, "--minutes", 1, "--runs", runs, "--out", tmp_path)
    assert result.exit_code == 1 and "ValueError: no luck" in result.output
    found = [(Path(each[0]).name, each[1], float(each[3]), Path(each[5])) for each in commands]
    assert found == [
        ("Other", "mindroot", 60, tmp_path / "models" / "Other-mindroot-0"),
        ("Other", "spacy", 60, tmp_path / "models" / "Other-spacy-0"),
        ("UD_Marathi-UFAL", "mindroot", 60, tmp_path / "models" / "Marathi-UFAL-mindroot-0"),
    ]
    commands.clear()
    mixed = ("--contestants", "related", "--with", "Marathi-UFAL", "--only", "Other", "--out", tmp_path)
    command("compare", "--folder", treebanks, "--minutes", 1, "--runs", runs, *mixed)
    assert [(each[1], list(map(Path, each[6:]))) for each in commands] == [("related", [treebanks / "UD_Marathi-UFAL"])]
    for wrong in (mixed[:2], mixed[2:4], ("--contestants", "related", "--with", "Odd")):
        assert command("compare", "--folder", treebanks, "--runs", runs, *wrong).exit_code == 2
    commands.clear()
    only = ("--contestants", "spacy", "--only", "Other", "--out", tmp_path)
    command("compare", "--folder", treebanks, "--minutes", 1, "--runs", runs, *only)
    assert [each[1] for each in commands] == ["spacy"]
    result = command("compare", "--folder", treebanks, "--contestants", "stanza", "--runs", runs)
    assert result.exit_code == 2 and "mindroot, spacy" in result.output


def test_runs_with_an_older_config_are_made_again(treebanks, tmp_path, monkeypatch):
    from scripts.pipelines import run as module

    contestants = []
    monkeypatch.setattr(
        module.subprocess, "run", lambda arguments, **options: contestants.append(arguments[4]) or ENDED
    )
    runs = tmp_path / "runs.jsonl"
    old = [fake("Other", name, budget=60.0) | {"config": 1} for name in ("mindroot", "spacy")]
    args = ("compare", "--folder", treebanks, "--only", "Other", "--minutes", 1, "--runs", runs, "--out", tmp_path)
    for now, expected in (([], ["mindroot"]), ([fake("Other", "mindroot", budget=60.0)], [])):
        runs.write_text("".join(json.dumps(each) + "\n" for each in old + now))
        contestants.clear()
        command(*args)
        assert contestants == expected


# ---------------------------------------------------------------------------------------------------------------------
# Scoreboard


def fake(treebank, contestant, *, las=0.5, seed=0, budget=240.0, raw_error=False):
    from scripts.pipelines import scoreboard

    metrics = {name: {"f1": las} for name in ("Words", "Sentences", "UAS", "LAS", "MLAS", "UPOS", "UFeats", "Lemmas")}
    measures = {"exact_match": las / 2, "root_accuracy": las, "single_root": 1.0}
    found = {"official": metrics, "measures": measures}
    facts = {"treebank": treebank, "contestant": contestant, "seed": seed, "budget": budget, "sentences": 1234}
    if contestant != "spacy":
        facts["config"] = scoreboard.config_number(1234, mixed=contestant == "related")
    if contestant == "related":
        sources = [{"name": "UD_Odd-One", "part": "dev", "sentences": 1309}]
        facts["mixture"] = {"related": sources, "copies": 3}
    return facts | {"gold": found, "raw": {"error": "too long"} if raw_error else found}


def cells_of(page, name):
    """The cells of all rows of a page that begin with a name."""
    return [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith(f"| {name} |")]


def test_the_page(tmp_path):
    runs = [
        fake("Kazakh-KTB", "mindroot", las=0.4),
        fake("Kazakh-KTB", "mindroot", las=0.5, seed=1),
        fake("Kazakh-KTB", "spacy", las=0.35),
        fake("Afrikaans-AfriBooms", "mindroot", las=0.8, raw_error=True),
        fake("Odd", "spacy"),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in [fake("Kazakh-KTB", "mindroot", las=0.9), *runs]))
    result = command("table", "--runs", path, "--page", tmp_path / "page.md")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.md").read_text("utf8")
    gold, raw, rest = cells_of(page, "Kazakh-KTB")
    assert gold[1:] == ["1,234", "4", "2/1", "45.0 / 45.0", "22.5", "35.0 / 35.0", "17.5", "-"]
    percent, trees = ["45.0", "35.0"], ["45.0 / 45.0", "35.0 / 35.0"]
    assert raw[1:] == [*percent, *percent, *trees, "44.3 / 25.2", *percent]
    assert rest[-2:] == ["100.0", "100.0"]
    gold, raw, *_ = cells_of(page, "Afrikaans-AfriBooms")
    assert gold[-1] == "82.5 / 78.4" and raw[5] == "-"  # published; raw text failed
    assert page.index("| Afrikaans") < page.index("| Kazakh") < page.index("| Odd")
    assert "on 1 of 1 treebanks; the differences are +10.0 to +10.0" in page
    missing = page.split("## Not complete yet")[1].split("##")[0]
    missing, _, notes = missing.partition(".")
    assert "Kurmanji-MG" in missing and "Afrikaans" in missing and "Kazakh" not in missing
    assert "Afrikaans-AfriBooms (mindroot: too long)" in notes


def test_udpipe_has_columns_if_there_are_runs_of_it():
    from scripts.pipelines.scoreboard import to_page

    runs = [fake("Kazakh-KTB", "mindroot", las=0.4), fake("Kazakh-KTB", "spacy", las=0.3)]
    assert "UDPipe 1 |" not in to_page(runs)
    _, raw, _ = cells_of(to_page([*runs, fake("Kazakh-KTB", "udpipe", las=0.2)]), "Kazakh-KTB")
    percent, trees = ["40.0", "30.0", "20.0"], ["40.0 / 40.0", "30.0 / 30.0", "20.0 / 20.0"]
    assert raw[1:] == [*percent, *percent, *trees, "44.3 / 25.2", *percent]


def test_only_runs_with_the_same_budget_are_compared():
    from scripts.pipelines.scoreboard import rows_of, to_page

    ours, theirs = fake("Kazakh-KTB", "mindroot", las=0.4), fake("Kazakh-KTB", "spacy", las=0.9, budget=360.0)
    page = to_page([ours, theirs])
    assert [cells[2] for cells in cells_of(page, "Kazakh-KTB")[:2]] == ["4", "6"]
    assert "No treebank has runs of both" in page and "Kazakh-KTB" in page.split("## Not complete yet")[1]
    more = [ours, theirs, fake("Kazakh-KTB", "spacy", las=0.3)]
    (row,) = rows_of(more)
    assert row.budget == 240 and row.score("spacy", "gold", "official", "LAS", "f1") == 30
    assert "are +10.0 to +10.0" in to_page(more)


def test_related_treebanks_have_a_table_of_their_own():
    from scripts.pipelines.scoreboard import to_page

    runs = [fake("Kurmanji-MG", "mindroot", las=0.4)]
    assert "There are no runs yet." in to_page(runs)
    runs += [fake("Kurmanji-MG", "related", las=0.6), fake("Kurmanji-MG", "spacy", las=0.5)]
    page = to_page(runs)
    gold, _, _, mixed = cells_of(page, "Kurmanji-MG")
    assert mixed[1:] == ["Odd-One (dev, 1,309)", "4", *["40.0 / 40.0", "60.0 / 60.0"] * 2, "40.0", "60.0"]
    assert "60.0 / 60.0" not in gold


def test_averages_have_a_table_of_their_own():
    from scripts.pipelines.scoreboard import to_page

    runs = [fake("Kurmanji-MG", "mindroot", las=0.4), fake("Kurmanji-MG", "spacy", las=0.3)]
    assert to_page(runs).count("There are no runs yet.") == 3
    page = to_page([*runs, fake("Kurmanji-MG", "averaged", las=0.5), fake("Kurmanji-MG", "averaged", las=0.7, seed=1)])
    assert page.count("There are no runs yet.") == 2
    *_, averaged = cells_of(page, "Kurmanji-MG")
    assert averaged[1:] == ["4", "1/2", "40.0 / 40.0", "60.0 / 60.0", "20.0", "30.0", "30.0 / 30.0"]


def test_builds_have_a_table_of_their_own():
    from scripts.pipelines.scoreboard import to_page

    runs = [fake("Irish-IDT", "mindroot", las=0.4), fake("Irish-IDT", "spacy", las=0.3)]
    built = fake("Irish-IDT", "built", las=0.5, budget=3600.0) | {"cpu_seconds": 2400.0}
    page = to_page([*runs, built])
    assert page.split("## The rest")[0] == to_page(runs).split("## The rest")[0]
    *_, found = cells_of(page, "Irish-IDT")
    pairs = ["40.0 / 40.0", "50.0 / 50.0"]
    assert found[1:] == ["60", "40", *pairs, *pairs, "82.7 / 74.0", "40.0", "50.0", "40.0", "50.0"]


def test_the_config_of_a_run_follows_the_number_of_its_sentences():
    from scripts.pipelines.scoreboard import config_number, is_current

    for sentences in (20, 300, 5000):
        for contestant in ("mindroot", "averaged", "related"):
            run = fake("Kurmanji-MG", contestant) | {"sentences": sentences, "config": 0}
            assert not is_current(run)
            assert is_current(run | {"config": config_number(sentences, mixed=contestant == "related")})
    assert is_current(fake("Kurmanji-MG", "spacy"))


def test_runs_with_an_older_config_are_named():
    from scripts.pipelines.scoreboard import to_page

    new, old = fake("Kurmanji-MG", "mindroot"), fake("Kazakh-KTB", "mindroot") | {"config": 1}
    assert "older config" not in to_page([new])
    assert "ours on Kazakh-KTB used an older config" in to_page([new, old])


def test_a_damaged_file_of_runs_is_named(tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"treebank": ')
    result = command("table", "--runs", tmp_path / "runs.jsonl", "--page", tmp_path / "p")
    said = " ".join(result.output.replace("│", " ").split())  # in a box, with lines as long as paths leave them
    assert result.exit_code == 2 and "can't be read" in said and not (tmp_path / "p").exists()


def test_the_page_of_the_documentation_is_that_of_the_runs(checkout):
    from scripts.pipelines import scoreboard

    runs = scoreboard.read_runs(checkout / "benchmarks" / "results" / "pipelines.jsonl")
    assert (checkout / "docs" / "scoreboard.md").read_text("utf8") == scoreboard.to_page(runs)


def test_udpipe_is_trained_on_the_same_data_and_sees_no_annotation(treebanks, tmp_path):
    pytest.importorskip("ufal.udpipe", reason="UDPipe comes with the extra `benchmark`")
    from scripts.pipelines.udpipe import predict_udpipe, train_udpipe
    from spacy_mindroot.conllu import read_conllu
    from spacy_mindroot.tools.building.treebank import prepare_treebank

    treebank = prepare_treebank(treebanks / "Other", tmp_path / "corpus")
    fast = {"tokenizer": "epochs=1", "tagger": "iterations=1", "parser": "iterations=1;hidden_layer=5"}
    assert train_udpipe(treebank, tmp_path / "models" / "x", **fast) > 0
    gold = list(read_conllu(treebank.file("dev")))
    for sentence in gold:  # what is not read can't help
        sentence.replace_arcs([0] * len(sentence), ["wrong"] * len(sentence))
    words = [sentence.words for sentence in gold]
    for raw in (False, True):
        found = predict_udpipe(tmp_path / "models" / "x", gold, raw=raw)
        assert raw or [sentence.words for sentence in found] == words
        assert sum(map(len, found)) > 100 and "wrong" not in {label for each in found for label in each.labels}

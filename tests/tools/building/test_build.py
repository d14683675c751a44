"""The steps of a build: what is checked before the training, and which files may be replaced."""

import shutil

import pytest
import spacy
import srsly

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import CorpusError, SentenceTooLongError, TrainingError
from spacy_mindroot.tools.building import build as module
from spacy_mindroot.tools.building.build import build
from spacy_mindroot.tools.building.card import Description
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.distilling import Taught
from spacy_mindroot.tools.building.training import Trained
from spacy_mindroot.tools.building.wheel import PackagingError, wheel_name

pytest.importorskip("udtools", reason="a build needs the extra `build`")


@pytest.fixture
def small(checkout, tmp_path):
    """A treebank of five training sentences."""
    folder = tmp_path / "small"
    folder.mkdir()
    sentences = (checkout / "assets" / "treebank" / "train.conllu").read_text("utf8").rstrip().split("\n\n")
    (folder / "train.conllu").write_text("\n\n".join(sentences[:5]) + "\n\n", "utf8")
    return folder


@pytest.fixture
def trainings(monkeypatch):
    """Nothing is trained: an untrained pipeline stands for the result. Collects the options of each training."""
    seen = []

    def train(config, treebank, out, **options):
        text = config.read_text("utf8")
        seen.append(
            options | {"sentences": treebank.parts["train"].sentences, "config": text, "mixture": treebank.mixture}
        )
        assert treebank.file("train").is_file()
        out.mkdir(parents=True)
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.to_disk(out / ("model-best" if treebank.file("dev") else "model-last"))
        (out / "log.txt").touch()
        return Trained(steps=1, seeds=[options["seed"]], cpu_seconds=1.0, seconds=1.0, best="model-last")

    monkeypatch.setattr(module, "train", train)
    return seen


@pytest.fixture
def wheels(monkeypatch):
    """No wheel is made: its meta.json stands for it."""
    seen = []

    def build_wheel(model, folder, meta, card, licence_file=None, code=None):
        folder.mkdir(exist_ok=True)
        path = folder / wheel_name(meta["lang"], Description(meta["name"], meta["version"]))
        srsly.write_json(path, meta)
        seen.append((path.name, bool(card)))
        return path

    monkeypatch.setattr(module, "build_wheel", build_wheel)
    return seen


def run(source, out, name="demo", **options):
    said = []
    settings = {"lang": "en", "note": said.append, "warn": said.append} | options
    about = settings.pop("about", Description(name))
    return build(source, out, about, **settings), said


def content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_can_not_be_parsed_is_left_out(small, checkout, tmp_path, trainings, wheels, monkeypatch):
    """As when no sentence boundary is found in a long text. The wheel is made all the same, and each run says why."""

    def fails(nlp, gold, **settings):
        raise SentenceTooLongError("a sentence of 2,000 tokens")

    monkeypatch.setattr(module, "predict", fails)
    shutil.copy(checkout / "assets" / "treebank" / "test.conllu", small)
    for _ in range(2):
        found, said = run(small, tmp_path / "out")
        for name in ("gold tokens", "raw text"):
            assert f"The {name} could not be evaluated: a sentence of 2,000 tokens" in said
            assert "official" not in found[name]
        assert (tmp_path / "out" / "raw-text.conllu").read_text() == "" and found["package"]["wheel"]
    assert len(trainings) == 1


@pytest.mark.parametrize(
    "folder, name",
    [("UD_Afrikaans-AfriBooms", "afrikaans_afribooms"), ("my-treebank", "my_treebank"), ("ä", "pipeline")],
)
def test_the_name_of_a_package_is_that_of_the_treebank(tmp_path, folder, name):
    assert module._name_of(tmp_path / folder) == name


def test_related_treebanks_are_mixed_in_and_named(small, checkout, tmp_path, trainings, wheels):
    found, _ = run(small, tmp_path / "out", related=[checkout / "assets" / "treebank"])
    (seen,) = trainings
    mixture = seen["mixture"]
    assert (seen["sentences"], mixture.sentences, mixture.copies) == (5, 97, 6)
    assert mixture.file == tmp_path / "out" / "corpus" / "mixed.conllu" and mixture.file.is_file()
    assert "--sentences 102" in seen["config"]
    card = (tmp_path / "out" / "README.md").read_text("utf8")
    assert "treebank (97 sentences; licence: " in card and "repeated 6 times" in card
    assert srsly.read_json(tmp_path / "out" / "pipeline.json")["facts"]["mixture"]["copies"] == 6
    assert seen["calibrate"]  # by the config, with the overrides of the mixture
    meta = srsly.read_json(tmp_path / "out" / "dist" / found["package"]["wheel"])
    assert [source["name"] for source in meta["sources"]] == ["small", "treebank"]


@pytest.mark.parametrize("given", ["en_demo", "en_en_demo", "folder", "file", "config"])
def test_a_name_that_begins_with_the_language(small, tmp_path, trainings, wheels, given):
    options, expected = {}, "en_demo"
    if given == "folder":
        given, small = "", small.rename(tmp_path / "UD_En-Demo")
    if given == "file":
        (small / "train.conllu").rename(small / "en_demo-ud-train.conllu")
        given, small, options, expected = "", small / "en_demo-ud-train.conllu", {"lang": ""}, "en_demo_ud_train"
    if given == "config":  # it decides on the language
        (tmp_path / "config.cfg").write_text(make_config("de", "efficiency", ["senter"], None), "utf8")
        given, options, expected = "de_demo", {"config": tmp_path / "config.cfg"}, "de_demo"
    run(small, tmp_path / "out", given, **options)
    assert wheels[0] == (f"{expected}-0.1.0-py3-none-any.whl", False)  # the rehearsal


def test_what_is_known_before_the_training(small, checkout, tmp_path, trainings, monkeypatch):
    out, config = tmp_path / "out", tmp_path / "configs" / "config.cfg"
    config.parent.mkdir()
    config.write_text("[nlp\n", "utf8")
    full = tmp_path / "full"
    shutil.copytree(small, full)
    for options, says in [
        ({"about": Description("a b")}, "can't be the name of a package"),
        ({"about": Description("a", version="one")}, "can't be the version of a package"),
        ({"about": Description("a", licence="MIT\nAuthor: X")}, "The license is"),
        ({"config": config}, "config.cfg is not a config"),
        ({"related": [tmp_path / "nowhere"]}, "no related treebank"),
        ({"out": full}, "not empty, and not from an earlier build"),
    ]:
        before = content(tmp_path)
        with pytest.raises((CorpusError, PackagingError), match=says):
            run(small, options.pop("out", out), **options)
        assert content(tmp_path) == before and not out.exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10**7))
    with pytest.raises(PackagingError, match="10 MB free for .*may need 100 MB"):
        run(small, out)
    monkeypatch.undo()
    assert not trainings


@pytest.mark.parametrize(
    "has_dev, options, minutes, steps",
    [
        (True, {}, "24", 6400),
        (True, {"seeds": (0, 1)}, "12", 3520),
        (True, {"seeds": (0, 1), "distill": True}, "8", 2560),
        (False, {}, "4", 1600),  # five folds
        (False, {"seeds": (0, 1)}, "2", 1070),  # each with both seeds
        (False, {"seeds": (0, 1, 2), "distill": True}, "2.67", 1270),  # of students alone
        (False, {"related": True}, "24", 6400),  # not calibrated
    ],
)
def test_minutes_are_for_all_pipelines(
    small, checkout, tmp_path, trainings, wheels, monkeypatch, has_dev, options, minutes, steps
):
    """Also for those of cross-validation, which are trained as long as the others."""
    monkeypatch.setattr(module, "teach", lambda folders, treebank, raw, file, **_: file.touch() or Taught(sentences=9))
    monkeypatch.setattr(module, "average_trained", lambda folders, trained, *_, **__: (spacy.blank("en"), trained[0]))
    monkeypatch.setattr(module._Build, "_evaluate", lambda *_: ({}, 0))
    if has_dev:
        shutil.copy(checkout / "assets" / "treebank" / "dev.conllu", small)
    if options.get("related"):
        options = {"related": [checkout / "assets" / "treebank"]}
    _, said = run(small, tmp_path / "out", minutes=24, **options)
    assert not any("will take longer" in line for line in said)
    for config in (each["config"] for each in trainings):
        assert f"--minutes {minutes}\n" in config and f"max_steps = {steps}\n" in config


def test_too_few_minutes_are_said_to_be_exceeded(small, tmp_path, trainings, wheels):
    _, said = run(small, tmp_path / "out", minutes=0.6)  # for six pipelines
    assert said[0].startswith("--minutes leaves 0.1 for each pipeline, too few for 100 steps")


def test_a_lexicon_is_compared_with_the_treebank(small, tmp_path, trainings, wheels, monkeypatch):
    words = tmp_path / "words.tsv"
    words.write_text("the\tthe\tDET\n", "utf8")
    tokens = (
        line.split("\t")[1].lower() for line in (small / "train.conllu").read_text("utf8").splitlines() if "\t" in line
    )
    known = [token == "the" for token in tokens]
    _, said = run(small, tmp_path / "out", lexicons=[words])
    assert said[0] == "Lexicon words.tsv: 1 readings of words, in the format columns."
    assert f"The lexicon has {100 * sum(known) / len(known):.1f} % of train" in said[1]
    assert any("licence of words.tsv is unknown" in line and "# licence: NAME" in line for line in said)
    assert f'files = ["{words}"]' in trainings[0]["config"] and "lexicon_rows" in trainings[0]["config"]
    run(small, tmp_path / "out", lexicons=[words])
    monkeypatch.chdir(tmp_path)
    run(small, tmp_path / "out", lexicons=["words.tsv"])
    assert len(trainings) == 1, "nothing has changed"
    words.write_text("# licence: MIT\nthe\tthe\tDET\n" + "".join(f"x{k}\tx\tX\n" for k in range(9)), "utf8")
    _, said = run(small, tmp_path / "out", lexicons=[words])
    assert len(trainings) == 2, "another lexicon, another pipeline"
    assert any("The wheel will contain what words.tsv says of words, under MIT." in line for line in said)


def test_a_licence_that_is_not_that_of_the_data(small, tmp_path, trainings, wheels):
    (small / "README.md").write_text("License: CC BY-SA 4.0\n", "utf8")
    words = tmp_path / "words.tsv"
    words.write_text("# licence: GPL-3.0\nthe\tthe\tDET\n", "utf8")
    for number, (licence, warns) in enumerate(
        [("MIT", "CC BY-SA 4.0 and GPL-3.0"), ("GPL-3.0", "CC BY-SA 4.0"), ("cc-by-sa-4.0 AND gpl-3.0", ""), ("", "")]
    ):
        about = Description("demo", licence=licence)
        _, said = run(small, tmp_path / str(number), about=about, lexicons=[words])
        expected = [f"given as {licence}, but it is made from data under {warns}. Make sure"] if warns else []
        found = [line for line in said if "The licence of the wheel" in line]
        assert len(found) == len(expected) and all(text in line for text, line in zip(expected, found, strict=True))


def test_a_lexicon_of_the_words_of_the_training_set_alone(small, tmp_path, trainings, wheels):
    lines = (small / "train.conllu").read_text("utf8").splitlines()
    words = {line.split("\t")[1] for line in lines if "\t" in line}
    (tmp_path / "words.tsv").write_text("".join(f"{word}\t{word}\tX\n" for word in sorted(words)), "utf8")
    other = "\n".join(
        "\t".join([*line.split("\t")[:1], "q", *line.split("\t")[2:]]) if "\t" in line else line for line in lines
    )
    for name, test in (("same", lines), ("other", other.splitlines())):
        text = "\n".join(line for line in test if not line.startswith("# text"))
        (small / "test.conllu").write_text(f"{text.rstrip()}\n\n", "utf8")
        _, said = run(small, tmp_path / name, lexicons=[tmp_path / "words.tsv"])
        assert any("far more of the words of train" in line for line in said) == (name == "other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("zzz\tzzz\tX\n", r"\(words.tsv\) has none of the words of small"),
        (".\t.\tPUNCT\n,\t,\tPUNCT\n", r"\(words.tsv\) has none of the words of small"),
        ("zzz\n", "words.tsv is not a lexicon"),
    ],
)
def test_a_lexicon_of_no_use(small, tmp_path, trainings, content, message):
    (tmp_path / "words.tsv").write_text(content, "utf8")
    with pytest.raises(CorpusError, match=message):
        run(small, tmp_path / "out", lexicons=[tmp_path / "words.tsv"])
    assert not trainings and not (tmp_path / "out").exists()


def test_a_wheel_that_can_not_be_made_is_known_before_the_training(small, tmp_path, trainings, monkeypatch):
    def fails(*args):
        raise PackagingError("no setuptools")

    monkeypatch.setattr(module, "build_wheel", fails)
    with pytest.raises(PackagingError, match="no setuptools"):
        run(small, tmp_path / "out")
    assert not trainings and not (tmp_path / "out").exists()


def test_a_training_that_fails_leaves_its_log(small, tmp_path, trainings, wheels, monkeypatch):
    def fails(config, treebank, out, **options):
        out.mkdir(parents=True)
        (out / "log.txt").write_text("the reason")
        raise TrainingError(f"see {out / 'log.txt'}")

    with monkeypatch.context() as patch:
        patch.setattr(module, "train", fails)
        with pytest.raises(TrainingError):
            run(small, tmp_path / "out")
    (log,) = (tmp_path / "out").glob("unfinished-*/training/log.txt")
    assert log.read_text() == "the reason"
    assert run(small, tmp_path / "out")[0]["package"]["wheel"]
    assert not log.exists()


def test_what_is_in_a_folder_that_is_used_again(small, tmp_path, trainings, wheels):
    out = tmp_path / "out"
    run(small, out)
    mine = {"notes.txt": b"mine", "training/model-last/notes.txt": b"mine", "corpus/dev.conllu.bak": b"mine"}
    for name, text in mine.items():
        (out / name).write_bytes(text)
    _, said = run(small, out)
    assert said == ["training: was done before", "package: was done before"]
    assert wheels == [("en_demo-0.1.0-py3-none-any.whl", False), ("en_demo-0.1.0-py3-none-any.whl", True)]
    _, said = run(small, out, about=Description("demo", "0.2", author="A. B."))  # no rehearsal for the package alone
    assert said == ["training: was done before", "package: done"] and wheels[2:] == [
        ("en_demo-0.2-py3-none-any.whl", True)
    ]
    with pytest.raises(CorpusError, match=r"training/model-last/notes\.txt would be replaced"):
        run(small, out, steps=7)
    (out / "training" / "model-last" / "notes.txt").rename(out / "training" / "notes.txt")
    run(small, out, steps=7)
    assert {name: text for name, text in content(out).items() if text == b"mine"} == {
        "notes.txt": b"mine",
        "training/notes.txt": b"mine",
        "corpus/dev.conllu.bak": b"mine",
    }
    assert sorted(path.name for path in (out / "dist").iterdir()) == [
        "en_demo-0.1.0-py3-none-any.whl",
        "en_demo-0.2-py3-none-any.whl",
    ]
    (out / "README.md").write_text("my own words")
    (out / "corpus" / "dev.conllu").write_text("mine")
    before = content(out)
    for options in ({}, {"steps": 8}):
        with pytest.raises(CorpusError, match=r"(README\.md|dev\.conllu) would be replaced"):
            run(small, out, **{"steps": 7} | options)
        assert {k: v for k, v in content(out).items() if k in before and k != "pipeline.json"} == {
            k: v for k, v in before.items() if k != "pipeline.json"
        }
    assert len(trainings) == 2


def test_files_without_a_part_are_named(small, tmp_path, trainings, wheels):
    shutil.copy(small / "train.conllu", small / "more.conllu")
    _, said = run(small, tmp_path / "out")
    assert said[0] == "Not used of small: more.conllu. No `train`, `dev` or `test` is in the name."


def test_a_student_is_trained_again_for_other_raw_text(small, tmp_path, trainings, wheels, monkeypatch):
    """But its teachers are not."""
    seen = []

    def teach(folders, treebank, raw, file, **_):
        seen.append((len(folders), raw and [path.name for path in raw.paths]))
        file.touch()
        return module.Taught(sentences=40, words=200)

    monkeypatch.setattr(module, "teach", teach)
    text = tmp_path / "raw.txt"
    words = next(read_conllu(small / "train.conllu")).words  # of the language
    text.write_text(" ".join(words[::-1]), "utf8")
    options = {"distill": True, "seeds": (4, 5), "optimize": "efficiency", "raw": [text]}
    _, said = run(small, tmp_path / "out", **options)
    assert said[:4] == [
        "training with seed 4: done",
        "training with seed 5: done",
        "labelling: done",
        "student: done",
    ]
    assert [each["seed"] for each in trainings] == [4, 5, 4] and seen == [(2, ["raw.txt"])]
    teacher, _, student = trainings
    assert not teacher["calibrate"] and "calibrate" not in student
    assert "--optimize efficiency --pipeline" in student["config"] and "--optimize" not in teacher["config"]
    assert all("--sentences 5\n" in each["config"] for each in trainings)
    settings = student["settings"]
    assert settings["corpora.train.divisions"] == 3  # of 5 sentences beside 40
    assert settings["paths.distilled"] == str(tmp_path / "out" / "training" / "taught.spacy")
    _, said = run(small, tmp_path / "out", **options)
    assert all("was done before" in each for each in said)
    text.write_text(" ".join(words), "utf8")
    _, said = run(small, tmp_path / "out", **options)
    assert said == [
        "training with seed 4: was done before",
        "training with seed 5: was done before",
        "labelling: done",
        "student: done",
        "package: done",
    ]
    assert len(trainings) == 4
    run(small, tmp_path / "out", **options | {"raw": []})  # its own text
    assert len(trainings) == 5 and seen[-1] == (2, None) and len(seen) == 3
    _, said = run(small, tmp_path / "out", **options | {"raw": [], "optimize": "accuracy"})
    assert len(seen) == 3 and "--optimize" not in trainings[-1]["config"], "another student of the same text"
    assert "labelling: was done before" in said and "student: done" in said and len(trainings) == 6
    assert (tmp_path / "out" / "student.cfg").exists()
    monkeypatch.setattr(module, "average_trained", lambda folders, trained, *_, **__: (spacy.blank("en"), trained[0]))
    _, said = run(small, tmp_path / "out", seeds=(4, 5))
    assert said[:3] == [*(f"training with seed {seed}: was done before" for seed in (4, 5)), "average: done"]
    assert len(trainings) == 6, "the teachers are the members of the average"
    assert not list((tmp_path / "out" / "training").glob("student")) and not (tmp_path / "out" / "student.cfg").exists()
    run(small, tmp_path / "out")
    assert len(trainings) == 7 and "settings" not in trainings[-1]

    def fails(*_, **__):
        raise TrainingError("interrupted")

    monkeypatch.setattr(module, "teach", fails)
    with pytest.raises(TrainingError):
        run(small, tmp_path / "other", **options)
    assert len(trainings) == 9
    run(small, tmp_path / "other", seeds=(4, 5))
    assert len(trainings) == 9, "also the teachers of a build that was interrupted"


def test_gold_sentences_of_a_mixture_are_a_quarter_of_what_a_student_reads(
    small, tmp_path, checkout, trainings, wheels, monkeypatch
):
    def teach(folders, treebank, raw, file, *, note):
        file.touch()
        return Taught(sentences=3810, words=40_000)

    monkeypatch.setattr(module, "teach", teach)
    run(small, tmp_path / "out", related=[checkout / "assets" / "treebank"], distill=True)
    mixture = trainings[-1]["mixture"]
    assert (mixture.sentences, mixture.copies) == (97, 6)
    assert trainings[-1]["settings"]["corpora.train.divisions"] == 10  # of 97 + 6 * 5 sentences

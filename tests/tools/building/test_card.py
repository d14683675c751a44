"""meta.json and the model card."""

import pytest
import spacy
import srsly

from spacy_mindroot.arc_scorer.lexicon import TABLE, describe_lexicon, make_lexicon
from spacy_mindroot.tools.building.card import Description, make_card, make_meta
from spacy_mindroot.tools.building.training import Trained
from spacy_mindroot.tools.building.treebank import Mixture, Part, Related, Treebank


def treebank(tmp_path, **parts):
    parts = parts or {"train": Part(1000, 20000, 0), "dev": Part(200, 1, 0), "test": Part(200, 4000, 0)}
    components = ["morphologizer", "trainable_lemmatizer"]
    return Treebank("UD_X-Y", tmp_path, "en", parts, components, licence="CC BY-SA 4.0")


def scores(words=1.0, sentences=0.9):
    calibration = {"words": 10, "right": 0.8, "mean_probability": 0.75, "error": 0.05}
    measures = {"las_with_subtypes": 0.6, "exact_match": 0.3, "root_accuracy": 0.9, "single_root": 1.0}
    official = {name: {"f1": 0.875} for name in ("UAS", "LAS")}
    found = {"official": official | {"Words": {"f1": words}, "Sentences": {"f1": sentences}}, "measures": measures}
    return {"gold tokens": found | {"measures": measures | {"calibration": calibration}}, "raw text": found}


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("arc_scorer")
    nlp.add_pipe("mind_root")
    return nlp


ABOUT = Description("xy", "1.2.3", author="A. B.", url="https://example.org")


def test_meta(nlp, tmp_path):
    meta = make_meta(nlp, treebank(tmp_path), ABOUT, scores())
    assert (meta["lang"], meta["name"], meta["version"], meta["author"]) == ("en", "xy", "1.2.3", "A. B.")
    assert meta["license"] == "CC BY-SA 4.0" and meta["sources"][0]["name"] == "UD_X-Y"
    assert [name.split(">")[0] for name in meta["requirements"]] == ["spacy-mindroot"]
    assert meta["performance"]["raw_text"]["LAS"] == 0.875
    assert "exactly one root" in meta["description"]
    own = make_meta(nlp, treebank(tmp_path), Description("x", description="D.", licence="MIT"), {})
    assert (own["license"], own["description"]) == ("MIT", "D.")


def card(nlp, data, found, **facts):
    meta = make_meta(nlp, data, ABOUT, found)
    facts = {"evaluated_on": "test", "speed": 12345, "megabytes": 9.5, "taught": None, "example": 'Say "hi".'} | facts
    return make_card(meta, data, Trained(100, [0], 61.4, 80, facts.pop("best", "model-best")), found, **facts)


def test_card(nlp, tmp_path):
    text = card(nlp, treebank(tmp_path), scores())
    for part in (
        "# en_xy\n",
        "pip install en_xy-1.2.3-py3-none-any.whl",
        'nlp("Say \\"hi\\".")',
        "12,345 tokens per second",
        "| train | 1,000 | 20,000 | 0 |",
        "| LAS | 87.50 | 87.50 |",
        "| | gold tokens | raw text |",
        "its mean is 75.0 %",
        "CC BY-SA 4.0. Source: https://example.org",
    ):
        assert part in text, part
    assert "\n\n\n" not in text


def test_the_lexicon_is_named_with_its_licence(nlp, tmp_path):
    (tmp_path / "words.tsv").write_text("# licence: GPL-3.0\n# source: dictionary\na\ta\tX\n", "utf8")
    (tmp_path / "more.tsv").write_text("b\tb\tX\n", "utf8")
    nlp.vocab.lookups.set_table(TABLE, make_lexicon([tmp_path / "words.tsv", tmp_path / "more.tsv"]))
    meta = make_meta(nlp, treebank(tmp_path), ABOUT, {})
    assert meta["license"] == "CC BY-SA 4.0 and GPL-3.0 and unknown"
    assert [(each["name"], each["license"]) for each in meta["sources"][1:]] == [
        ("dictionary", "GPL-3.0"),
        ("more.tsv", "unknown"),
    ]
    lexicon = describe_lexicon(nlp.vocab)
    text = card(nlp, treebank(tmp_path), {}, lexicon=lexicon, known={"train": 0.5, "test": 0.25})
    assert "license: other\n" in text
    assert (
        "dictionary (1 readings of words; licence: GPL-3.0), more.tsv (1 readings of words; licence: unknown)" in text
    )
    assert "It has 50.0 % of the words of train, 25.0 % of the words of test." in text
    assert make_meta(nlp, treebank(tmp_path), Description("x", licence="GPL-3.0"), {})["license"] == "GPL-3.0"


def test_the_licences_of_related_treebanks_count(nlp, tmp_path):
    data = treebank(tmp_path)
    related = [
        Related("A", "train", licence="GPL-3.0"),
        Related("B", "train", licence="CC BY-SA 4.0"),
        Related("C", ""),
    ]
    data.mixture = Mixture(tmp_path / "mixed.conllu", related, 2, "")
    meta = make_meta(nlp, data, ABOUT, {})
    assert meta["license"] == "CC BY-SA 4.0 and GPL-3.0 and unknown"
    assert [each["name"] for each in meta["sources"]] == ["UD_X-Y", "A", "B", "C"]


def test_card_without_scores(nlp, tmp_path):
    data = treebank(tmp_path, train=Part(5, 10, 2))
    text = card(nlp, data, {}, evaluated_on="", best="model-last", speed=0)
    assert "Not evaluated" in text and "the last step was kept" in text and "speed" not in text
    assert "model-index" not in text


@pytest.mark.parametrize(
    ("licence", "hub"),
    [
        ("CC BY-SA 4.0", "cc-by-sa-4.0"),
        ("CC BY-NC-SA 3.0", "cc-by-nc-sa-3.0"),
        ("CC0 1.0", "cc0-1.0"),
        ("MIT", "mit"),
        ("LGPL-3.0", "lgpl-3.0"),
        ("LGPL-LR", "lgpl-lr"),
        ("GNU GPL 3.0", "gpl-3.0"),
        ("GNU General Public License v3.0 or later", "gpl-3.0"),
        ("Creative Commons Attribution-ShareAlike 4.0 International License", "cc-by-sa-4.0"),
        ("CC BY-SA-NC 4", "cc-by-nc-sa-4.0"),
        ("Apache License, Version 2.0", "apache-2.0"),
        ("CC BY-NC-SA", "other"),
        ("CC BY-SA 4.0 with exceptions", "other"),
        ("MIT or GPL-3.0", "other"),
        ("my own: ask", "other"),
        ("", "unknown"),
    ],
)
def test_the_header_that_model_hubs_read(nlp, tmp_path, licence, hub):
    data = treebank(tmp_path)
    data.name, data.licence = 'UD "X": Y', licence
    header = srsly.yaml_loads(card(nlp, data, scores()).split("---\n")[1])
    assert (header["language"], header["license"], header["library_name"]) == ("en", hub, "spacy")
    (model,) = header["model-index"]
    assert model["name"] == "en_xy" and [each["dataset"]["name"] for each in model["results"]] == ['UD "X": Y'] * 2
    assert {"type": "f1", "name": "LAS", "value": 0.875} in model["results"][1]["metrics"]


@pytest.mark.parametrize("failed", ["gold tokens", "raw text", None])
def test_card_without_one_of_the_scores(nlp, tmp_path, failed):
    found = {name: each for name, each in scores().items() if failed not in (name, None)}
    text = card(nlp, treebank(tmp_path), found)
    assert ("| LAS | 87.50 |\n" in text) == bool(found)
    assert ("Not evaluated." in text) == (not found)


def limits(nlp, data, found, evaluated_on):
    return card(nlp, data, found, evaluated_on=evaluated_on).partition("## Known limits\n\n")[2].splitlines()


def test_limits(nlp, tmp_path):
    plenty = limits(nlp, treebank(tmp_path), scores(), "test")
    assert len(plenty) == 2 and "F1 of 90.0" in plenty[0] and "another kind" in plenty[1]
    nlp.meta["calibration"] = {"mind_root": {"sentences": 9}}
    calibrated = limits(nlp, treebank(tmp_path), scores(), "test")
    del nlp.meta["calibration"]
    assert len(calibrated) == 3 and "9 sentences to calibrate on" in calibrated[1]
    few = treebank(tmp_path, train=Part(50, 600, 20), dev=Part(9, 1, 0))
    few.annotated = []
    found = limits(nlp, few, scores(words=0.97), "dev")
    parts = (
        "50 training",
        "no lemmas",
        "no parts of speech",
        "words with an F1 of 97.0, and sentence boundaries with an F1 of 90.0",
    )
    for part, limit in zip((*parts, "no test set", "The 9 s", "another kind"), found, strict=True):
        assert part in limit and limit.startswith("- ")


def test_card_of_a_student(nlp, tmp_path):
    taught = {"teachers": 3, "raw": True, "sentences": 1234, "words": 23456}
    text = " ".join(card(nlp, treebank(tmp_path), scores(), taught=taught).split())
    assert "a student of 3 pipelines" in text and "in 1,234 sentences (23,456 words) of raw text." in text
    alone = card(nlp, treebank(tmp_path), scores(), taught=taught | {"teachers": 1, "raw": False})
    assert (
        "a student of 1 pipeline trained" in alone
        and "in copies of the training sentences, with half of the words" in alone
    )
    assert "student" not in card(nlp, treebank(tmp_path), scores())

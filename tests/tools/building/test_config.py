"""The configs that `init-config` and `build` make."""

import pytest
import spacy
from spacy import util
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config

from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.building.config import lexicons_of, make_config, size_for


def test_exclamation_marks_are_tags_like_others():
    """A tag that is the tagger's `neg_prefix` and nothing else can't be trained on."""
    config = util.load_config_from_str(make_config("xx", "efficiency", ["senter", "tagger"], None))
    nlp = spacy.blank("xx")
    nlp.add_pipe("tagger", config={"neg_prefix": config["components"]["tagger"]["neg_prefix"]})
    example = Example(nlp.make_doc("Go !"), Doc(nlp.vocab, ["Go", "!"], tags=["V", "!"]))
    optimizer = nlp.initialize(lambda: [example])
    for _ in range(20):
        nlp.update([example], sgd=optimizer)
    assert [token.tag_ for token in nlp("Go !")] == ["V", "!"]


@pytest.mark.parametrize("lang", ["xx", "en", "ja", "ko", "th", "vi", "zh"])
def test_the_tokenizer_is_learnt_or_that_of_the_language(lang):
    """Chinese, Vietnamese and others are not tokenized at white space and punctuation."""
    text = make_config(lang, "efficiency", ["senter"], None)
    assert Config().from_str(text)["nlp"]["tokenizer"] == {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}
    text = make_config(lang, "efficiency", ["senter"], None, tokenizer="spacy")
    assert "init-config --lang" in text and "--tokenizer spacy" in text
    config = Config().from_str(text, interpolate=False)
    expected = Config(util.get_lang_class(lang).default_config)  # before the language has its say
    expected = expected.merge(util.get_lang_class(lang).Defaults.config)
    assert config["nlp"]["tokenizer"] == expected["nlp"]["tokenizer"]
    assert config["initialize"]["tokenizer"] == expected["initialize"]["tokenizer"]


def test_sizes_and_schedules_suit_the_data():
    """More data, more of everything; the schedule of the learning rate ends with the last step."""
    numbers = (20, 300, 1000, 5000, 50000)
    for optimize in ("efficiency", "accuracy"):
        sizes = [size_for(optimize, number) for number in numbers]
        for name in ("steps", "patience", "batch", "width", "lstm_depth", "arc_width", "rows", "ngram_rows"):
            values = [getattr(size, name) for size in sizes]
            assert values == sorted(values), name
        assert all(size.patience <= size.steps and size.warmup * 5 < size.steps for size in sizes)
    assert size_for("accuracy", 20).rows < size_for("accuracy", 300).rows  # packages of tiny treebanks are small
    assert size_for("accuracy")._replace(comment="") == size_for("accuracy", 1000)._replace(comment="")
    for number in numbers:
        config = util.load_config_from_str(make_config("xx", "accuracy", ["senter"], None, sentences=number))
        assert config["components"]["mind_root"]["projective"] == (number == 20)
    config = util.load_config_from_str(make_config("xx", "accuracy", ["senter"], None, sentences=5000))
    assert config["training"]["optimizer"]["learn_rate"]["total_steps"] == config["training"]["max_steps"]


def test_a_schedule_for_some_minutes():
    """Time counts words, whatever the size; what is not about time stays."""
    for optimize in ("efficiency", "accuracy"):
        for number in (20, 1000, 50000):
            usual = size_for(optimize, number)
            sizes = [size_for(optimize, number, minutes) for minutes in (1, 5, 60)]
            assert [size.steps for size in sizes] == sorted(size.steps for size in sizes)
            for size, minutes in zip(sizes, (1, 5, 60), strict=True):
                words = sum(min(size.batch, 250 * 1.001**step) for step in range(size.steps))  # by the batcher
                words_per_second = 5000 * (160 / size.width) ** 1.75
                assert words / words_per_second == pytest.approx(0.8 * 60 * minutes, rel=0.02)
            for size in sizes:
                assert (size.width, size.batch, size.rows) == (usual.width, usual.batch, usual.rows)
                assert size.patience >= size.steps // 3 and size.warmup * 4 <= size.steps
                assert size.eval_frequency <= size.steps  # or spaCy evaluates at step 0 alone
    text = make_config("xx", "accuracy", ["senter"], None, sentences=1000, minutes=60)
    assert "--minutes 60" in text and "About 60 minutes on one core" in text
    training = util.load_config_from_str(text)["training"]
    assert training["max_steps"] == training["optimizer"]["learn_rate"]["total_steps"] == 15040
    assert (training["patience"], training["eval_frequency"]) == (5013, 700)
    assert training["batcher"]["size"].items() >= {"start": 250, "compound": 1.001}.items()


def test_the_files_of_a_lexicon_that_a_config_names():
    text = make_config("xx", "accuracy", ["senter"], None, lexicons=["a.tsv", "b.tsv"])
    config = util.load_config_from_str(text, interpolate=False)
    assert lexicons_of(config) == ["a.tsv", "b.tsv"]
    config["paths"]["lexicon"] = "c.tsv"
    config["initialize"]["before_init"]["files"] = ["${paths.lexicon}"]
    assert lexicons_of(config) == ["c.tsv"]
    config["initialize"]["before_init"]["files"] = "a.tsv"
    with pytest.raises(CorpusError, match="must be a list of paths, not 'a.tsv'"):
        lexicons_of(config)
    assert lexicons_of(util.load_config_from_str(make_config("xx", "accuracy", ["senter"], None))) == []

"""The table of a lexicon: classes and lemmas of words, and pipelines that carry it."""

import pickle
from itertools import combinations

import numpy as np
import pytest
import spacy
from spacy.attrs import LOWER, ORTH
from spacy.parts_of_speech import IDS as POS_IDS

from scorer_helpers import make_docs
from spacy_mindroot.arc_scorer.lexicon import TABLE, describe_lexicon, known_share, make_lexicon, word_classes
from spacy_mindroot.errors import CorpusError, MindRootError

LEXICON = """# licence: CC0-1.0
walk\twalk\tVERB\tVerbForm=Inf
walk\twalk\tNOUN
talk\ttalk\tNOUN
talk\ttalk\tVERB\tVerbForm=Inf
talk\ttalk\tNOUN
rome\troam\tX
Rome\tRome\tPROPN
NOUN\tnoun\tNOUN
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "words.tsv").write_text(LEXICON, "utf8")
    return tmp_path / "words.tsv"


def features(table, words):
    nlp = spacy.blank("xx")
    nlp.vocab.lookups.set_table(TABLE, table)
    doc = make_docs([words], nlp.vocab)[0]
    return dict(zip(words, word_classes(nlp.vocab, doc.to_array([ORTH, LOWER])).tolist(), strict=True))


def test_words_with_the_same_tags_are_of_one_class(path):
    found = features(make_lexicon([path]), ["walk", "talk", "Talk", "TALK", "Rome", "rome", "ROME", "NOUN", "zzz"])
    assert found["walk"][0] == found["talk"][0]  # in any order, once or twice
    assert found["walk"][1] != found["talk"][1]
    assert found["talk"] == found["Talk"] == found["TALK"]
    assert found["Rome"] != found["rome"] == found["ROME"]  # as it is written, or else in lower case
    assert 0 not in found["NOUN"]  # a name that spaCy has for an attribute
    assert found["zzz"] == [0, 0]


def test_no_two_sets_of_parts_of_speech_are_of_one_class(tmp_path):
    sets = [tags for size in (1, 2, 3) for tags in combinations(sorted(POS_IDS.keys() - {""}), size)]
    lines = [f"w{number}\tcase\t{tag}\n" for number, tags in enumerate(sets) for tag in tags]
    (tmp_path / "words.tsv").write_text("".join(lines), "utf8")
    found = features(make_lexicon([tmp_path / "words.tsv"]), [f"w{number}" for number in range(len(sets))])
    assert len({of_tags for of_tags, _ in found.values()}) == len(sets) > 800
    assert len({of_lemmas for _, of_lemmas in found.values()}) == 1


def test_the_features_of_a_word_do_not_depend_on_other_words(path, tmp_path):
    (tmp_path / "more.tsv").write_text("aaa\taaa\tX\nzzz\tzzz\tVERB\n", "utf8")
    small, large = make_lexicon([path]), make_lexicon([tmp_path / "more.tsv", path])
    assert features(small, ["walk", "Rome"]) == features(large, ["walk", "Rome"])
    assert 0 not in features(large, ["zzz"])["zzz"]


def test_a_lexicon_grows(path, tmp_path):
    (tmp_path / "more.tsv").write_text("# licence: mine\ntalk\tother\tX\nzzz\tzzz\tVERB\n", "utf8")
    base = make_lexicon([path])
    grown = make_lexicon([tmp_path / "more.tsv"], base)
    words = ["walk", "talk", "Rome", "rome", "NOUN", "zzz"]
    alone, both = features(make_lexicon([tmp_path / "more.tsv"]), ["zzz"]), features(grown, words)
    assert both == features(base, words) | alone and 0 not in both["zzz"]
    assert [each["name"] for each in grown["about"]] == ["words.tsv", "more.tsv"]
    again = make_lexicon([path], grown)
    assert dict(again) == dict(grown)


def test_what_is_known_of_the_files(path, tmp_path):
    (tmp_path / "more.tsv").write_text("aaa\taaa\tX\n", "utf8")
    vocab = spacy.blank("xx").vocab
    assert describe_lexicon(vocab) == []
    vocab.lookups.set_table(TABLE, make_lexicon([path, tmp_path / "more.tsv"]))
    assert describe_lexicon(vocab) == [
        {"name": "words.tsv", "readings": 8, "format": "columns", "licence": "CC0-1.0"},
        {"name": "more.tsv", "readings": 1, "format": "columns"},
    ]


def test_share_of_words(path):
    table = make_lexicon([path])
    assert make_lexicon(str(path)) == table
    assert known_share(table, ["walk", "WALK", "zzz", "a"]) == 0.5
    assert known_share(table, []) == 0


def test_nothing_to_read(tmp_path):
    (tmp_path / "unknown.txt").write_text("^a/*a$\n", "utf8")
    with pytest.raises(CorpusError, match="has no readings of words"):
        make_lexicon([tmp_path / "unknown.txt"])
    with pytest.raises(CorpusError, match="at least one file"):
        make_lexicon([])
    (tmp_path / "unknown.txt").write_text("dogs  st:dog fl:S\n", "utf8")
    with pytest.raises(CorpusError, match="has no parts of speech"):
        make_lexicon([tmp_path / "unknown.txt"])


def test_a_vocabulary_without_it_is_refused():
    with pytest.raises(MindRootError, match=r"'mindroot_lexicon' of nlp.vocab.lookups, but this pipeline has none"):
        word_classes(spacy.blank("xx").vocab, np.zeros((1, 2), dtype=np.uint64))


CONFIG = """
[nlp]
lang = "xx"
pipeline = ["tok2vec"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy-mindroot.NGramHashEmbed.v1"
width = 8
attrs = ["NORM"]
rows = [20]
ngram_rows = 0
lexicon_rows = [50, 50]

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 8
window_size = 1
maxout_pieces = 2
depth = 1

[initialize]

[initialize.before_init]
@callbacks = "spacy-mindroot.set_lexicon.v1"
files = [{path}]
"""


@pytest.fixture
def nlp(path):
    config = spacy.util.load_config_from_str(CONFIG.replace("{path}", f'"{path.as_posix()}"'))
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize()
    path.unlink()
    return nlp


def vectors(nlp, text="Talk to Rome zzz"):
    return nlp(text).tensor


def test_pipelines_carry_it(nlp, tmp_path):
    expected = vectors(nlp)
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    np.testing.assert_array_equal(vectors(loaded), expected)
    np.testing.assert_array_equal(vectors(pickle.loads(pickle.dumps(nlp))), expected)
    for doc in loaded.pipe(["Talk to Rome zzz"] * 3, n_process=2):
        np.testing.assert_array_equal(doc.tensor, expected)
    loaded.vocab.lookups.set_table(TABLE, make_lexicon([_other(tmp_path)]))
    assert not np.array_equal(vectors(loaded), expected)


def _other(tmp_path):
    (tmp_path / "other.tsv").write_text("zzz\tzzz\tVERB\n", "utf8")
    return tmp_path / "other.tsv"


def test_a_component_from_another_pipeline_needs_the_table(nlp):
    other = spacy.blank("xx")
    other.add_pipe("tok2vec", source=nlp)
    with pytest.raises(MindRootError, match="needs the lexicon that it was trained with"):
        other("Talk")
    other.vocab.lookups.set_table(TABLE, nlp.vocab.lookups.get_table(TABLE))
    np.testing.assert_array_equal(vectors(other), vectors(nlp))


def test_tables_of_spacy_stay(path, tmp_path):
    """Such as the norms of spacy-lookups-data: a pipeline that was loaded has the same norms as in training."""
    config = spacy.util.load_config_from_str(CONFIG.replace("{path}", f'"{path.as_posix()}"'))
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.vocab.lookups.add_table("lexeme_norm", {"colour": "color"})
    nlp.initialize()
    nlp.to_disk(tmp_path / "saved")
    for own in (nlp, spacy.load(tmp_path / "saved")):
        assert own.vocab.lookups.get_table("lexeme_norm")["colour"] == "color"
        assert own.vocab.lookups.has_table(TABLE)


LOOKUPS = """[initialize.lookups]
@misc = "spacy.LookupsDataLoader.v1"
lang = "xx"
tables = []
"""


def test_tables_that_would_replace_it_are_refused(path):
    text = CONFIG.replace("{path}", f'"{path.as_posix()}"').replace("[initialize]\n", f"[initialize]\n\n{LOOKUPS}")
    nlp = spacy.util.load_model_from_config(spacy.util.load_config_from_str(text), auto_fill=True)
    with pytest.raises(MindRootError, match=r"Remove \[initialize.lookups\]"):
        nlp.initialize()

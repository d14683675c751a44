"""The parser of a pipeline in another one."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import fix_random_seed

from scorer_helpers import gold_docs, learn, make_examples, small, trees
from spacy_mindroot.arc_scorer.lexicon import TABLE, make_lexicon
from spacy_mindroot.errors import MindRootError
from spacy_mindroot.pipeline.calibration import calibrate
from spacy_mindroot.tools.building.add import add_parser

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
TEXT = "Tom found the old key. Anna ate the cake in the garden, and they left."


def trained(*components, seed=0, config=(), steps=3, vectors=None, lexicon=None):
    """A pipeline whose components listen to one tok2vec of spaCy's default width."""
    fix_random_seed(seed)
    nlp = spacy.blank("en")
    settings = {
        "senter": {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}},
        "morphologizer": {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}},
        "parser": {"model": {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser",
                             "extra_state_tokens": False, "hidden_width": 16, "maxout_pieces": 2, "use_upper": True,
                             "tok2vec": LISTENER}, "min_action_freq": 1},
        "arc_scorer": {"model": small()["model"] | {"tok2vec": LISTENER}},
    } | dict(config)  # fmt: skip
    for name in components:
        nlp.add_pipe(name, config=settings.get(name, {}))
    if lexicon is not None:
        nlp.vocab.lookups.set_table(TABLE, lexicon)
    if vectors is not None:
        nlp.vocab.vectors = spacy.vectors.Vectors(data=vectors, keys=["Tom", "key"], strings=nlp.vocab.strings)
    return learn(nlp, gold_docs(20), steps)


def ours(**kwargs):
    nlp = trained("tok2vec", "senter", "arc_scorer", "mind_root", seed=1, steps=20, **kwargs)
    calibrate(nlp, gold_docs(20))
    nlp.meta["performance"] = {"dep_uas": 0.75, "sents_f": 0.875, "tok2vec_loss": 3.0}
    return nlp


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A parser, and a pipeline of spaCy's in which it is to stand."""
    folder = tmp_path_factory.mktemp("pipelines")
    ours().to_disk(folder / "ours")
    theirs = trained("tok2vec", "morphologizer", "parser", "senter", "token_splitter")
    theirs.disable_pipe("senter")  # as in spaCy's own pipelines
    theirs.config["training"]["frozen_components"] = ["parser"]
    theirs.meta["performance"] = {"dep_uas": 0.25, "pos_acc": 0.5}
    theirs.to_disk(folder / "theirs")
    return folder


@pytest.fixture
def source(folders):
    return spacy.load(folders / "ours")


@pytest.fixture
def into(folders):
    return spacy.load(folders / "theirs")


def words(nlp):
    return [Doc(nlp.vocab, words=[t.text for t in doc]) for doc in gold_docs(20)]


def annotation(nlp):
    parsed = list(nlp.pipe(words(nlp)))
    return trees(parsed), [[t.is_sent_start for t in doc] for doc in parsed]


def tags(nlp):
    return [[t.pos_ for t in doc] for doc in nlp.pipe(words(nlp))]


def test_it_parses_as_it_did_and_all_else_stays(source, into, folders, tmp_path):
    expected, tagged = annotation(source), tags(into)
    added = add_parser(source, into)
    assert added == (["parser", "senter"], ["senter", "arc_scorer", "mind_root"], [])
    assert into.pipe_names == ["tok2vec", "morphologizer", "senter", "arc_scorer", "mind_root", "token_splitter"]
    into.to_disk(tmp_path)
    for nlp in (into, spacy.load(tmp_path)):
        assert annotation(nlp) == expected and tags(nlp) == tagged
        assert nlp.get_pipe("mind_root").calibration == spacy.load(folders / "ours").get_pipe("mind_root").calibration
        assert nlp.config["training"]["frozen_components"] == ["senter", "arc_scorer", "mind_root"]
        assert nlp.meta["performance"] == {"dep_uas": 0.75, "pos_acc": 0.5, "sents_f": 0.875}
        assert "calibration" in nlp.meta


def test_the_senter_that_is_there_can_stay(source, into):
    into.enable_pipe("senter")
    before = [[t.is_sent_start for t in doc] for doc in into.pipe(words(into), disable=["parser"])]
    into.disable_pipe("senter")
    added = add_parser(source, into, senter=False)
    assert added.removed == ["parser"] and added.added == ["arc_scorer", "mind_root"]
    assert into.pipe_names == ["tok2vec", "morphologizer", "senter", "arc_scorer", "mind_root", "token_splitter"]
    assert annotation(into)[1] == before


def test_a_pipeline_without_a_parser_gets_it_at_the_end_and_a_newer_one_in_the_place_of_the_old(source, into, folders):
    into.remove_pipe("parser")
    into.remove_pipe("senter")
    assert add_parser(source, into).removed == []
    assert into.pipe_names == ["tok2vec", "morphologizer", "token_splitter", "senter", "arc_scorer", "mind_root"]
    expected = annotation(into)
    again = add_parser(spacy.load(folders / "ours"), into)
    assert again.removed == again.added == ["senter", "arc_scorer", "mind_root"]
    assert annotation(into) == expected


def test_the_tokenizer_comes_along_if_it_is_wanted(source, into, folders, tmp_path):
    source.tokenizer.add_special_case("cake in", [{"ORTH": "cake in"}])
    expected = [t.text for t in source(TEXT)]
    kept = spacy.load(folders / "theirs")
    (difference,) = add_parser(source, kept).differences
    assert "--take-tokenizer" in difference and [t.text for t in kept(TEXT)] != expected
    source = spacy.load(folders / "ours")
    source.tokenizer.add_special_case("cake in", [{"ORTH": "cake in"}])
    assert add_parser(source, into, tokenizer=True).differences == []
    into.to_disk(tmp_path)
    assert [t.text for t in spacy.load(tmp_path)(TEXT)] == expected


def test_a_learnt_tokenizer_comes_along(into, folders, tmp_path):
    source = spacy.load(folders / "ours")
    settings = {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}
    source.config["nlp"]["tokenizer"] = settings
    source.tokenizer = spacy.registry.resolve({"tokenizer": settings})["tokenizer"](source)
    source.tokenizer.initialize(lambda: make_examples(source, gold_docs(20)), nlp=source)
    expected = [(t.text, t.head.i) for t in source(TEXT)]
    assert add_parser(source, into, tokenizer=True).differences == []
    into.to_disk(tmp_path)
    assert [(t.text, t.head.i) for t in spacy.load(tmp_path)(TEXT)] == expected


def test_another_table_of_norms_is_named(source, into):
    into.vocab.lookups.add_table("lexeme_norm", {"colour": "color"})
    assert "lexeme_norm" in add_parser(source, into).differences[0]


def test_word_vectors_come_along_or_are_missing(folders):
    encoder = small("ours")["model"]
    encoder["tok2vec"] = encoder["tok2vec"] | {"embed": encoder["tok2vec"]["embed"] | {"include_static_vectors": True}}
    vectors = np.ones((2, 8), dtype="f")
    source = trained(
        "sentencizer", "arc_scorer", "mind_root", config={"arc_scorer": {"model": encoder}}, vectors=vectors
    )
    expected = annotation(source)
    into = spacy.load(folders / "theirs")
    add_parser(source, into)
    assert annotation(into) == expected
    other = spacy.load(folders / "theirs")
    other.vocab.vectors = spacy.vectors.Vectors(data=2 * vectors, keys=["Tom", "key"], strings=other.vocab.strings)
    with pytest.raises(MindRootError, match="needs the word vectors that it was trained with"):
        add_parser(source, other)


def test_a_lexicon_comes_along_or_is_another(folders, tmp_path):
    def lexicon(entries):
        (tmp_path / "words.tsv").write_text(entries, "utf8")
        return make_lexicon([tmp_path / "words.tsv"])

    encoder = small("ours")["model"]
    encoder["tok2vec"] = encoder["tok2vec"] | {"embed": encoder["tok2vec"]["embed"] | {"lexicon_rows": [20, 20]}}
    table = lexicon("Tom\tTom\tPROPN\nkey\tkey\tNOUN\n")
    source = trained("sentencizer", "arc_scorer", "mind_root", config={"arc_scorer": {"model": encoder}}, lexicon=table)
    expected = annotation(source)
    into = spacy.load(folders / "theirs")
    add_parser(source, into)
    assert annotation(into) == expected
    other = spacy.load(folders / "theirs")
    other.vocab.lookups.set_table(TABLE, lexicon("key\tkey\tVERB\n"))
    with pytest.raises(MindRootError, match="needs the lexicon that it was trained with"):
        add_parser(source, other)


def test_a_parser_without_a_senter_leaves_the_one_that_is_there(source):
    source.remove_pipe("senter")
    into = spacy.blank("en")
    into.add_pipe("sentencizer")
    into.add_pipe("doc_cleaner")
    added = add_parser(source, into)
    assert added.removed == [] and into.pipe_names == ["sentencizer", "doc_cleaner", "arc_scorer", "mind_root"]
    assert [sent.text for sent in into("Anna ate the cake. Tom left.").sents] == ["Anna ate the cake.", "Tom left."]


def test_what_can_not_be_added(source, into, folders):
    with pytest.raises(MindRootError, match="has no arc_scorer, only tok2vec, morphologizer"):
        add_parser(into, source)
    other = spacy.load(folders / "theirs")
    other.add_pipe("entity_ruler", name="mind_root")
    with pytest.raises(MindRootError, match="Both pipelines have a component mind_root"):
        add_parser(source, other)
    into.remove_pipe("senter")
    with pytest.raises(MindRootError, match="Only the parser that is replaced finds sentences"):
        add_parser(source, into, senter=False)

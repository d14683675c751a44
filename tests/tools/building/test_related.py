"""Related treebanks in a training set."""

import pytest
import spacy
from spacy import util
from spacy.training.initialize import init_nlp

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.conllu.columns import FEATS, LEMMA, UPOS, XPOS
from spacy_mindroot.errors import ConlluError, CorpusError
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.related import mix_treebanks
from spacy_mindroot.tools.building.treebank import prepare_treebank

OWN = (
    "1\tmy\tI\tPRON\tP1\tCase=Gen|Number=Sing\t2\tnmod:poss\t_\t_\n"
    "2\tdog\tdog\tNOUN\tN1\tCase=Nom\t0\troot\t_\t_\n\n"
    "1\tcats\tcat\tNOUN\tN2\t_\t2\tnsubj\t_\t_\n"
    "2\tsleep\tsleep\tVERB\tV1\t_\t0\troot\t_\t_\n\n"
)
THEIRS = (
    "1\tmein\tmein\tDET\tX\tCase=Gen|Gender=Masc\t2\tnmod:poss\t_\t_\n"
    "2\tHund\tHund\tNOUN\tX\tGender=Masc\t3\tnsubj:pass\t_\t_\n"
    "3\tgesehen\tsehen\tVERB\tX\tCase=Acc\t0\troot\t_\t_\n"
    "4\tda\tda\tADV\t_\t_\t3\tadvmod:lmod\t_\t_\n\n"
)


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.conllu").write_text(text, "utf8")
    return folder


@pytest.fixture
def treebank(tmp_path):
    return prepare_treebank(write(tmp_path / "own", **{"xx_own-ud-train": OWN}), tmp_path / "corpus")


def test_annotation_becomes_that_of_the_treebank(treebank, tmp_path):
    related = write(tmp_path / "UD_Theirs", **{"de_theirs-ud-train": THEIRS})
    mixture = mix_treebanks(treebank, [related])
    theirs, *own = read_conllu(mixture.file)
    assert theirs.labels == ["nmod:poss", "nsubj", "root", "advmod"]
    assert theirs.column(FEATS) == ["Case=Gen", "_", "_", "_"]
    assert theirs.column(UPOS) == ["DET", "NOUN", "VERB", "ADV"]
    assert set(theirs.column(LEMMA)) == set(theirs.column(XPOS)) == {"_"}
    assert b"".join(sentence.to_bytes() for sentence in own) == OWN.encode()
    assert theirs.comments == ["# related_treebank = UD_Theirs"]
    assert mixture.file == tmp_path / "corpus" / "mixed.conllu" and mixture.sentences == 1
    facts = mixture.facts()
    assert facts["related"] == [
        {"name": "UD_Theirs", "part": "train", "sentences": 1, "words": 4, "licence": "", "unused": []}
    ]
    assert treebank.file("train").read_text("utf8") == OWN  # as it was


def test_the_treebank_is_a_quarter_of_all_sentences(treebank, tmp_path):
    sources = [write(tmp_path / name, train=THEIRS * 30) for name in ("a", "b")]
    mixture = mix_treebanks(treebank, sources)
    assert mixture.copies == 10 and mixture.sentences == 60
    assert sum(1 for _ in read_conllu(mixture.file)) == 60 + 2 * 10
    other = mix_treebanks(treebank, sources[:1])
    assert other.copies == 5 and other.digest != mixture.digest


def test_development_sets_are_used_if_there_is_no_training_set_and_test_sets_never(treebank, tmp_path):
    folder = write(tmp_path / "theirs", **{"de_x-ud-dev": THEIRS * 2, "de_x-ud-test": THEIRS})
    (folder / "README.md").write_text("License: CC0 1.0\n")
    (related,) = mix_treebanks(treebank, [folder]).related
    assert (related.part, related.sentences, related.licence) == ("dev", 2, "CC0 1.0")
    (related,) = mix_treebanks(treebank, [write(tmp_path / "file", one=THEIRS) / "one.conllu"]).related
    assert (related.name, related.part) == ("one", "")
    (related,) = mix_treebanks(treebank, [write(tmp_path / "odd", one=THEIRS, train=THEIRS)]).related
    assert (related.part, related.sentences, related.unused) == ("train", 1, ["one.conllu"])
    linked = write(tmp_path / "linked", dev=THEIRS)
    (linked / "train.conllu").symlink_to(tmp_path / "theirs" / "de_x-ud-dev.conllu")
    for wrong, says in (
        (linked, "is a symbolic link out of its folder"),
        (write(tmp_path / "tests", test=THEIRS), "only a test set"),
        (tmp_path / "nowhere", "no related treebank"),
        (write(tmp_path / "empty", train="\n"), "no sentences in the related"),
    ):
        with pytest.raises(CorpusError, match=says):
            mix_treebanks(treebank, [wrong])
    two_roots = THEIRS.replace("\t2\tnmod:poss", "\t0\troot")
    with pytest.raises(ConlluError, match=r"train\.conllu:"):
        mix_treebanks(treebank, [write(tmp_path / "wrong", train=two_roots)])


def test_tags_and_lemmas_are_learnt_from_the_treebank_alone(treebank, tmp_path):
    """The pipeline is made from the config as it is for training: what is related must not get UPOS as tags."""
    mixture = mix_treebanks(treebank, [write(tmp_path / "theirs", train=THEIRS * 3)])
    components = ["senter", "tagger", "morphologizer", "trainable_lemmatizer"]
    text = make_config("xx", "efficiency", components, None, sentences=5)
    config = util.load_config_from_str(text, interpolate=False)
    overrides = mixture.overrides(config)
    assert overrides["training.before_to_disk.folds"] == 0
    overrides["paths.dev"] = str(treebank.file("train"))
    nlp = init_nlp(util.load_config_from_str(text, overrides=overrides))
    assert set(nlp.get_pipe("tagger").labels) - {"_SP"} == {"P1", "N1", "N2", "V1"}
    assert {"nmod:poss", "nsubj", "advmod"} <= set(nlp.get_pipe("arc_scorer").labels)
    assert "nsubj:pass" not in nlp.get_pipe("arc_scorer").labels
    examples = list(spacy.registry.resolve({"c": nlp.config.interpolate()["corpora"]["train"]})["c"](nlp))
    words = [token.text for example in examples for token in example.reference]
    assert words.count("Hund") == 3 and words.count("dog") == mixture.copies
    assert nlp.config["components"]["tok2vec"]["model"]["embed"]["treebank_rows"] > 0
    docs = [example.predicted for example in examples if example.predicted._.treebanks is not None]
    marked = {
        token.text
        for doc in docs
        for token, mark in zip(doc, doc._.treebanks, strict=True)
        if mark and not token.is_space
    }
    assert marked == {"mein", "Hund", "gesehen", "da"}


def test_other_configs_change_only_their_path(treebank, tmp_path):
    mixture = mix_treebanks(treebank, [write(tmp_path / "theirs", train=THEIRS)])
    config = {"corpora": {"train": {"@readers": "spacy.Corpus.v1"}}, "initialize": {}, "training": {}}
    assert mixture.overrides(config) == {"paths.train": str(mixture.file)}

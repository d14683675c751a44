"""Treebanks in folders and files: their parts, their annotation, their licence."""

import shutil
import sys

import pytest

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import ConlluError, CorpusError
from spacy_mindroot.tools.building.treebank import Part, prepare_treebank, spacy_language

WORD = "1\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t0\troot\t_\t_\n\n"


def word(form="a", lemma="_", upos="_", xpos="_", feats="_"):
    return WORD.format(form=form, lemma=lemma, upos=upos, xpos=xpos, feats=feats)


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.conllu").write_text(text, "utf8")
    return folder


def test_the_small_treebank(checkout, tmp_path):
    treebank = prepare_treebank(checkout / "assets" / "treebank", tmp_path / "corpus")
    assert treebank.parts == {"train": Part(97, 1120, 0), "dev": Part(15, 178, 0), "test": Part(18, 226, 0)}
    assert treebank.annotated == ["morphologizer", "trainable_lemmatizer"]  # it has no XPOS
    assert (treebank.name, treebank.language, treebank.divided) == ("treebank", "", False)
    for part in treebank.parts:
        source = checkout / "assets" / "treebank" / f"{part}.conllu"
        assert treebank.file(part).read_bytes() == source.read_bytes()


def test_ud_file_names_and_several_files(tmp_path):
    source = write(
        tmp_path / "UD_Odd-Name",
        **{"af_x-ud-train-b": word("b"), "af_x-ud-train-a": word("c") * 2, "af_x-ud-test": word("d")},
    )
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert (treebank.language, treebank.name) == ("af", "UD_Odd-Name")
    assert [s.words for s in read_conllu(treebank.file("train"))] == [["c"], ["c"], ["b"]]
    assert treebank.file("dev") is None and treebank.parts["test"].sentences == 1
    assert not (tmp_path / "corpus" / "dev.conllu").exists()


@pytest.mark.parametrize("name", ["latest", "training", "devil", "contest"])
def test_parts_are_whole_words_of_names(tmp_path, name):
    source = write(tmp_path / "treebank", **{name: word() * 40})
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert treebank.divided
    assert {part: each.sentences for part, each in treebank.parts.items()} == {"train": 32, "dev": 4, "test": 4}


def test_files_without_a_part_are_named_if_others_have_one(tmp_path):
    source = write(tmp_path / "treebank", **{"a-train": word(), "b": word(), "c.x": word()})
    (source / "sub").mkdir()
    shutil.copy(source / "b.conllu", source / "sub" / "d.conllu")
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert treebank.unused == ["b.conllu", "c.x.conllu", "sub/d.conllu"] and treebank.parts["train"].sentences == 1


def test_a_treebank_is_divided_in_order(tmp_path):
    source = write(tmp_path, one="".join(word(f"w{i}") for i in range(29)))
    treebank = prepare_treebank(source / "one.conllu", tmp_path / "corpus")
    words = [s.words[0] for part in ("train", "dev", "test") for s in read_conllu(treebank.file(part))]
    assert words == [f"w{i}" for i in range(29)] and treebank.parts["dev"].sentences == 2
    assert treebank.name == "one"


@pytest.mark.parametrize(
    "sentences, components",
    [
        ([word()], []),
        ([word(lemma="x")], ["trainable_lemmatizer"]),
        ([word(upos="X", xpos="X")], ["morphologizer"]),
        ([word(upos="X", xpos="N1"), word(upos="X", xpos="N2")], ["tagger", "morphologizer"]),
        ([word(upos="X", xpos="N1"), word(upos="X")], ["morphologizer"]),
        ([word(feats="Case=Nom")], ["morphologizer"]),
    ],
)
def test_components_for_what_is_annotated(tmp_path, sentences, components):
    source = write(tmp_path / "treebank", train="".join(sentences))
    assert prepare_treebank(source, tmp_path / "corpus").annotated == components


def test_other_data_has_another_digest(tmp_path):
    digests = set()
    one = word()
    contents = [{"train": one}, {"train": word("b")}, {"train": one, "test": one}, {"train": one, "dev": one}]
    for number, files in enumerate(contents * 2):
        source = write(tmp_path / str(number), **files)
        digests.add(prepare_treebank(source, tmp_path / "corpus").digest)
    assert len(digests) == 4


def test_licences(tmp_path):
    source = write(tmp_path / "treebank", train=word())
    assert prepare_treebank(source, tmp_path / "corpus").licence == ""
    (source / "README.md").write_text("# Odd\n\nLicense: CC BY-SA 4.0\nGenre: x\n")
    (source / "LICENSE.txt").write_text("text")
    (source / "LICENSES").mkdir()
    (source / "README_assets").mkdir()
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert (treebank.licence, treebank.licence_file.name) == ("CC BY-SA 4.0", "LICENSE.txt")
    facts = treebank.facts()
    assert facts["parts"]["train"]["words"] == 1 and str(tmp_path) not in str(facts)


@pytest.mark.parametrize(
    "files, says",
    [
        ({"test": word()}, "no training set"),
        ({"train": ""}, "no training sentences"),
        ({"one": word() * 5}, "5 sentences in .*, too few to divide"),
        ({"train": word().replace("root", "0")[:-1] + "2\n"}, "train.conllu:2"),
        ({"train": word() + "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"}, "train.conllu:4"),
        ({"train": "# global.columns = ID FORM HEAD DEPREL\n1\ta\t0\troot\n\n"}, "CoNLL-U's ten"),
    ],
)
def test_faults_are_named(tmp_path, files, says):
    source = write(tmp_path / "treebank", **files)
    with pytest.raises((CorpusError, ConlluError), match=says):
        prepare_treebank(source, tmp_path / "corpus")


@pytest.mark.parametrize("name", ["train.conllu", "sub/dev.conllu", "LICENSE.txt", "LICENCE", "README.md"])
@pytest.mark.parametrize("inside", [True, False])
def test_no_link_is_followed_out_of_the_treebank(tmp_path, name, inside):
    """The licence goes into a wheel: it must not be a file that nobody has named."""
    source = write(tmp_path / "treebank", train=word())
    target = tmp_path / ("treebank" if inside else "treebank of others") / "secret"
    target.parent.mkdir(exist_ok=True)
    target.write_text(word())
    (source / name).parent.mkdir(exist_ok=True)
    (source / name).unlink(missing_ok=True)
    (source / name).symlink_to(target)
    (tmp_path / "link").symlink_to(source)
    for path in (source, tmp_path / "link"):
        if inside:
            assert prepare_treebank(path, tmp_path / "corpus").parts["train"].sentences == 1
        else:
            with pytest.raises(CorpusError, match=f"{name} is a symbolic link out of its folder"):
                prepare_treebank(path, tmp_path / "corpus")


def test_a_folder_that_is_a_link_is_not_part_of_the_treebank(tmp_path):
    source, other = write(tmp_path / "treebank", train=word()), write(tmp_path / "other", train=word("b"))
    (source / "sub").symlink_to(other)
    (source / "LICENSE").symlink_to(other)
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert treebank.parts["train"].sentences == 1 and treebank.licence_file is None


def test_no_treebank(tmp_path):
    with pytest.raises(CorpusError, match="no treebank"):
        prepare_treebank(tmp_path / "nowhere", tmp_path / "corpus")


def test_files_that_do_not_end_with_an_empty_line_are_joined(tmp_path):
    source = write(tmp_path / "treebank", **{"a-train": word("a").rstrip("\n"), "b-train": word("b")})
    treebank = prepare_treebank(source, tmp_path / "corpus")
    assert [s.words for s in read_conllu(treebank.file("train"))] == [["a"], ["b"]]


def test_every_treebank_of_ud(data, tmp_path):
    for name, lang in (("Marathi-UFAL", "mr"), ("Kurmanji-MG", "kmr")):
        treebank = prepare_treebank(data / "ud" / f"UD_{name}", tmp_path)
        assert treebank.language == lang and treebank.licence.startswith("CC BY-SA")
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("code, lang", [("en", "en"), ("af", "af"), ("qaa", "xx"), ("", "xx"), ("../x", "xx")])
def test_languages(code, lang):
    assert spacy_language(code) == lang


def test_a_language_whose_tokenizer_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvi", None)
    with pytest.raises(CorpusError, match="'vi' can't be loaded: Pyvi not installed.*\n.*leave out --tokenizer spacy"):
        spacy_language("vi", "spacy")
    assert spacy_language("vi") == "vi"  # where the tokenizer is learnt


@pytest.mark.parametrize(
    ("before", "after", "has_text"),
    [
        ("", "_", False),
        ("", "SpaceAfter=No", True),
        ("# text = a\n", "_", False),
        ("1-1\ta" + 8 * "\t_" + "\n", "_", False),  # which may be all that is known
        ("# text = a\n1-1\ta" + 8 * "\t_" + "\n", "_", True),  # as in Coptic, where spaces are between all tokens
    ],
)
def test_a_treebank_has_text_if_it_says_where_there_is_no_space(tmp_path, before, after, has_text):
    source = write(tmp_path / "source", train=before + word().replace("\t_\n", f"\t{after}\n"))
    assert prepare_treebank(source, tmp_path / "corpus").has_text == has_text

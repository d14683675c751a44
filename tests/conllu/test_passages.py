"""spacy-mindroot.PassageCorpus.v1: Docs of several sentences for training."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from scorer_helpers import TREEBANK, gold_docs
from spacy_mindroot.arc_scorer.gold import read_gold
from spacy_mindroot.conllu.passages import PassageCorpus
from spacy_mindroot.doc.targets import Targets, read_targets, to_table, write_targets
from spacy_mindroot.errors import ConlluError, CorpusError

TRAIN = TREEBANK / "train.conllu"


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def read(nlp, path=TRAIN, **settings):
    config = {"@readers": "spacy-mindroot.PassageCorpus.v1", "path": str(path), **settings}
    return list(spacy.registry.resolve({"corpus": config})["corpus"](nlp))


def annotation(token):
    return token.text, token.tag_, token.pos_, str(token.morph), token.lemma_, token.dep_, token.head.text


def sentences(examples):
    return [[annotation(token) for token in sentence] for e in examples for sentence in e.reference.sents]


def save(docs, path):
    DocBin(docs=docs).to_disk(path)
    return path


def test_every_sentence_keeps_its_place_and_its_annotation(nlp):
    passages = read(nlp)
    assert sentences(passages) == sentences(read(nlp, min_sentences=1, max_sentences=1))
    assert len(sentences(passages)) == 97
    for example in passages:
        heads = [token.head.sent.start for token in example.reference]
        assert heads == [token.sent.start for token in example.reference], "no arc leaves its sentence"
        assert example.predicted.text == example.reference.text
        assert not any(example.predicted.has_annotation(name) for name in ("SENT_START", "DEP", "TAG", "LEMMA"))


def test_sizes_vary_and_each_has_the_same_share_of_the_sentences(nlp):
    sizes = Counter(len(list(e.reference.sents)) for e in read(nlp, divisions=25, min_sentences=1, max_sentences=4))
    assert set(sizes) == {1, 2, 3, 4}
    shares = np.array([size * sizes[size] for size in (1, 2, 3, 4)])
    assert shares / shares.sum() == pytest.approx([0.25] * 4, abs=0.08)


def test_divisions_differ_and_the_seed_repeats_them(nlp):
    def shape(**settings):
        return [[len(s) for s in e.reference.sents] for e in read(nlp, divisions=2, **settings)]

    assert shape() == shape(seed=0) != shape(seed=1)
    both, one = shape(), [[len(s) for s in e.reference.sents] for e in read(nlp)]
    assert both[: len(one)] == one and both[len(one) :] != one
    assert sum(map(len, both)) == 2 * 97


def test_a_fixed_size_a_limit_and_surface_tokens(nlp, tmp_path):
    assert [len(list(e.reference.sents)) for e in read(nlp, min_sentences=10, max_sentences=10)] == [10] * 9 + [7]
    assert [len(list(e.reference.sents)) for e in read(nlp, min_sentences=4, max_sentences=4, limit=6)] == [4, 2]
    (tmp_path / "a.conllu").write_text(
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert [t.text for t in read(nlp, tmp_path, surface_tokens=True)[0].reference] == ["du"]


@pytest.mark.parametrize("per_doc", [1, 5])
def test_the_division_into_docs_does_not_matter(nlp, tmp_path, per_doc):
    path = save(gold_docs(count=200, per_doc=per_doc), tmp_path / "train.spacy")
    found = read(nlp, path)
    assert len(found) > 10 and sentences(found) == sentences(read(nlp, tmp_path))
    assert {token.tag_ for e in found for token in e.reference} >= {"NOUN", "PUNCT"}, "this treebank has no XPOS"
    assert {token.tag_ for e in read(nlp, tags_from_pos=False) for token in e.reference} == {""}
    expected = [[len(s) for s in e.reference.sents] for e in read(nlp)]
    assert [[len(s) for s in e.reference.sents] for e in found] == expected


def test_white_space_is_inserted_and_attached(nlp):
    plain, spaced = read(nlp), read(nlp, newlines=0.5, divisions=3)
    labels = {nlp.vocab.strings[label]: number for number, label in enumerate(["dep", "nsubj"])}
    kinds = Counter()
    for example in spaced:
        doc = example.reference
        assert example.predicted.text == doc.text and [t.text for t in example.predicted] == [t.text for t in doc]
        for token in doc:
            if token.is_space:
                assert token.head == token.nbor(-1) and token.dep_ == "dep" and not token.is_sent_start
                assert (token.tag_, token.pos_, token.lemma_, str(token.morph)) == ("_SP", "SPACE", token.text, "")
                assert token.text[0] == " " or not token.nbor(-1).whitespace_
                last = token.i + 1 == len(doc) or token.nbor().is_sent_start
                kinds[last, token.text.count("\n") > 1] += 1
            else:
                assert not token.head.is_space and token.head.sent.start == token.sent.start
        arcs = read_gold(example, labels, {})
        assert arcs.lengths == [len(sentence) for sentence in doc.sents]
    assert kinds[True, True] > 10 and kinds[False, False] > 10 and kinds[False, True] == 0

    def words(examples):
        return [[cells for cells in sentence if cells[0].strip()] for sentence in sentences(examples)]

    assert words(spaced)[:97] == words(plain)


def test_entities_are_not_torn_and_spans_are_kept(nlp, tmp_path):
    docs = gold_docs(count=8, per_doc=1)
    for doc in docs:
        doc.ents = [Span(doc, 0, len(doc), label="ALL")]
    found = read(nlp, save(docs, tmp_path / "a.spacy"), newlines=1.0)
    entities = [[t.text for t in e if not t.is_space] for x in found for e in x.reference.ents]
    assert entities == [[token.text for token in doc] for doc in docs]
    assert {token.tag_ for x in found for token in x.reference if token.is_space} == {"_SP"}  # these Docs have tags
    docs[0].spans["a"] = [docs[0][1:3]]
    found = read(nlp, save(docs, tmp_path / "a.spacy"), newlines=1.0, min_sentences=8, max_sentences=8)
    assert [span.text for span in found[0].reference.spans["a"]] == [docs[0][1:3].text]


def test_incomplete_trees_keep_their_boundaries(nlp, tmp_path):
    docs = [Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", ""], sent_starts=[True, False])] * 3
    (example,) = read(nlp, save(docs, tmp_path / "a.spacy"), min_sentences=3, max_sentences=3)
    assert [len(sentence) for sentence in example.reference.sents] == [2, 2, 2]
    assert [token.dep_ for token in example.reference] == ["ROOT", ""] * 3


@pytest.mark.parametrize("newlines", [0.0, 1.0])
def test_tangled_trees_keep_their_boundaries(nlp, tmp_path, rng, newlines):
    """spaCy derives wrong sentence starts from them."""
    text = ""
    for _ in range(6):
        heads = random_path(60, rng)
        rows = [f"{i}\tw\tw\tX\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_" for i, head in enumerate(heads, 1)]
        text += "\n".join(rows) + "\n\n"
    (tmp_path / "a.conllu").write_text(text)
    for example in read(nlp, tmp_path / "a.conllu", min_sentences=3, max_sentences=3, newlines=newlines):
        lengths = [sum(not token.is_space for token in sentence) for sentence in example.reference.sents]
        assert lengths == [60, 60, 60]


def random_path(n, rng):
    """The heads of a tree without branches, in random order."""
    order = rng.permutation(n) + 1
    heads = [0] * n
    for head, dependent in pairwise(order.tolist()):
        heads[dependent - 1] = head
    return heads


def test_an_augmenter_sees_each_passage(nlp):
    lower = {"@augmenters": "spacy.lower_case.v1", "level": 1.0}
    assert all(e.reference.text.islower() for e in read(nlp, augmenter=lower, limit=9))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"min_sentences": 0}, "min_sentences = 0"),
        ({"min_sentences": 3, "max_sentences": 2}, "max_sentences = 2"),
        ({"divisions": 0}, "divisions = 0"),
        ({"newlines": 1.5}, "newlines = 1.5"),
        ({"path": None}, "has no path.*--paths.train"),
    ],
)
def test_settings_that_can_not_be(settings, says):
    with pytest.raises(CorpusError, match=says):
        PassageCorpus(**{"path": TRAIN} | settings)


def test_docs_without_sentences_are_passages_of_their_own(nlp, tmp_path):
    """With white space around them, too, none of which belongs to a sentence that is not annotated."""
    parsed = gold_docs(8, per_doc=1)
    bare = [Doc(nlp.vocab, words=["Tom", ",", str(k)], ents=["B-X", "O", "O"]) for k in range(3)]
    docs = [bare[0], *parsed[:4], *bare[1:], *parsed[4:]]
    for newlines in (0.0, 1.0):
        found = read(nlp, save(docs, tmp_path / "a.spacy"), divisions=3, max_sentences=3, newlines=newlines)
        alone = [e.reference for e in found if not e.reference.has_annotation("SENT_START")]
        assert [doc.text for doc in alone] == [doc.text for doc in bare] * 3 and alone[0].ents[0].text == "Tom"
        assert sum(len(list(e.reference.sents)) for e in found if e.reference.has_annotation("DEP")) == 24


def test_corpora_that_can_not_be_read(nlp, tmp_path):
    with pytest.raises(ConlluError, match="no such file"):
        read(nlp, tmp_path / "nowhere.spacy")
    with pytest.raises(ConlluError, match="no files"):
        read(nlp, tmp_path)
    save([Doc(nlp.vocab, words=["a", "b", "c"])], tmp_path / "a.spacy")
    with pytest.raises(CorpusError, match="Doc 'a b c', the first Doc, has no sentence boundaries"):
        read(nlp, tmp_path)
    save([], tmp_path / "a.spacy")
    with pytest.raises(CorpusError, match="no sentences"):
        read(nlp, tmp_path)


@pytest.fixture
def taught(tmp_path):
    """Sentences with the distributions of teachers, one a Doc: heads are one place to the left, or ROOT."""
    docs = []
    for doc in gold_docs(40, per_doc=1):
        n = len(doc)
        p = np.zeros((n, n))
        p[np.arange(n), np.maximum(np.arange(n) - 1, 0)] = 0.75
        p[np.arange(n), np.arange(n)] += 0.25
        labels = to_table(np.full((n, 1), 1.0), np.array([doc.vocab.strings.add("dep")], dtype=np.uint64))
        write_targets(doc, Targets(to_table(p, np.arange(n)), labels, to_table(np.zeros((n, 0)), np.arange(0))))
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "taught.spacy")
    return tmp_path / "taught.spacy"


@pytest.mark.parametrize("newlines", [0.0, 1.0])
def test_sentences_of_teachers_are_joined_with_their_distributions(nlp, taught, newlines):
    passages = read(nlp, limit=3, distilled=str(taught), divisions=4, newlines=newlines)
    numbers = {nlp.vocab.strings["dep"]: 0}
    of_teachers = [e for e in passages if read_targets(e.reference) is not None]
    assert sum(len(list(e.reference.sents)) for e in of_teachers) == 40
    assert any(len(list(e.reference.sents)) > 1 for e in of_teachers)
    for example in of_teachers:
        gold = read_gold(example, numbers, {})
        spaces = [token.is_space for token in example.reference]
        for sentence, probabilities in zip(example.reference.sents, gold.soft.heads, strict=True):
            n = len(sentence)
            places = [k for k in range(n) if not sentence[k].is_space]
            expected = np.zeros((n, n + 1))
            for before, k in zip([None, *places], places, strict=False):
                expected[k, 0] = 1 if before is None else 0.25
                if before is not None:
                    expected[k, before + 1] = 0.75
            for k in set(range(n)) - set(places):
                expected[k, sentence[k].head.i - sentence.start + 1] = 1  # its own, which is certain
            assert probabilities == pytest.approx(expected)
        assert gold.soft.labels[:, 0].tolist() == [0.0 if space else 1.0 for space in spaces]
    annotated = [e for e in passages if e not in of_teachers]
    assert sum(len(list(e.reference.sents)) for e in annotated) == 3 * 4
    assert all(read_gold(e, numbers, {}).soft is None for e in annotated)


def test_sentences_of_teachers_have_distributions_and_are_one_a_doc(nlp, taught, tmp_path):
    docs = list(DocBin().from_disk(taught).get_docs(nlp.vocab))
    DocBin(docs=docs).to_disk(tmp_path / "without.spacy")  # store_user_data is off
    with pytest.raises(CorpusError, match=r"without.spacy, Doc 1 does not have doc._.arc_targets"):
        read(nlp, limit=3, distilled=str(tmp_path / "without.spacy"))
    DocBin(docs=[docs[0], Doc.from_docs(docs[1:3], exclude=["user_data"])], store_user_data=True).to_disk(
        tmp_path / "joined.spacy"
    )
    with pytest.raises(CorpusError, match="joined.spacy, Doc 2 has 2 sentences"):
        read(nlp, limit=3, distilled=str(tmp_path / "joined.spacy"))


def test_a_file_of_teachers_that_says_nothing_is_no_file_of_teachers(nlp, taught, tmp_path):
    """A student would be trained without them."""
    for name in ("missing.spacy", "missing.bin"):
        with pytest.raises(CorpusError, match=rf"{name} \(distilled\) can't be read.*No such file"):
            read(nlp, limit=3, distilled=str(tmp_path / name))
    with pytest.raises(CorpusError, match=r"\(distilled\) can't be read"):
        read(nlp, limit=3, distilled=str(tmp_path))  # a folder
    (tmp_path / "text.spacy").write_text("A text.", "utf8")
    with pytest.raises(CorpusError, match=r"text.spacy \(distilled\) can't be read"):
        read(nlp, limit=3, distilled=str(tmp_path / "text.spacy"))
    DocBin().to_disk(tmp_path / "empty.spacy")
    with pytest.raises(CorpusError, match=r"empty.spacy \(distilled\) has no sentences"):
        read(nlp, limit=3, distilled=str(tmp_path / "empty.spacy"))
    renamed = taught.rename(taught.with_suffix(".bin"))
    passages = read(nlp, limit=3, distilled=str(renamed))
    assert any(read_targets(passage.reference) is not None for passage in passages)

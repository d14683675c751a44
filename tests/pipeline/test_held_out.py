"""Scores of annotated sentences that a pipeline has not seen, for calibration."""

import random

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str

from scorer_helpers import gold_docs, make_examples, make_nlp
from spacy_mindroot import decode, errors
from spacy_mindroot.doc.reading import AnnotatedSentence, read_annotated
from spacy_mindroot.doc.targets import Targets, read_targets, to_table, write_targets
from spacy_mindroot.pipeline.held_out import HeldOut, cross_validate, score_held_out
from spacy_mindroot.pipeline.training_loop import training_steps
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.trees import MISSING


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(gold_docs(6), steps=15)


def test_annotation_of_a_doc():
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=list("abcde"), heads=[1, 1, 1, 3, 3], deps=["x", "ROOT", "y", "ROOT", "z"])
    first, second = read_annotated(doc)
    assert (first.words, second.words, first.spaces) == (list("abc"), list("de"), [True] * 3)
    assert (first.heads.tolist(), second.heads.tolist()) == ([2, 0, 2], [0, 1])
    assert (first.labels, second.labels) == (["x", "root", "y"], ["root", "z"])
    (without,) = read_annotated(Doc(vocab, words=["a", "b"]))
    assert without.heads.tolist() == [MISSING, MISSING] and read_annotated(Doc(vocab)) == []


def test_scores_and_trees_are_those_of_the_pipeline(nlp):
    gold = gold_docs(4, part="dev")
    found = score_held_out(nlp, [read_annotated(doc) for doc in gold])
    assert len(found.matrices) == sum(len(list(doc.sents)) for doc in gold)
    parsed = [sentence for doc in gold for sentence in nlp(with_starts(nlp, doc)).sents]
    names = list(nlp.get_pipe("arc_scorer").labels)
    for k, sentence in enumerate(parsed):
        heads = found.heads[k]
        assert np.array_equal(heads, decode(found.matrices[k]))
        own = [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence]
        assert heads.tolist() == own
        best = found.label_scores[k].argmax(axis=1)
        assert [names[label] for label in best] == [t.dep_ for t in sentence]
        assert found.gold_heads[k].shape == found.gold_labels[k].shape == heads.shape
    assert found.fit().tokens == sum(len(doc) for doc in gold)


def with_starts(nlp, doc):
    return Doc(
        nlp.vocab,
        words=[t.text for t in doc],
        spaces=[bool(t.whitespace_) for t in doc],
        sent_starts=[t.is_sent_start for t in doc],
    )


def test_labels_that_the_pipeline_does_not_know_are_wrong(nlp):
    gold = AnnotatedSentence(["a", "b", "c"], [True] * 3, np.array([2, 0, MISSING]), ["never:seen", "root", "x"])
    (labels,) = score_held_out(nlp, [[gold]]).gold_labels
    count = len(nlp.get_pipe("arc_scorer").labels)
    assert labels.tolist() == [count, count, MISSING]


def test_docs_without_heads_are_left_out(nlp):
    nothing = AnnotatedSentence(["a"], [True], np.array([MISSING]), [""])
    assert score_held_out(nlp, [[nothing]]).matrices == []
    with pytest.raises(errors.CalibrationError, match="known head"):
        HeldOut().fit()


@pytest.fixture(scope="module")
def small_config(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "train.spacy"
    DocBin(docs=[s.as_doc() for doc in gold_docs(3) for s in doc.sents][:6]).to_disk(path)
    overrides = {
        "paths.train": str(path),
        "paths.dev": str(path),
        "training.max_steps": 12,
        "training.eval_frequency": 6,
        "components.tok2vec.model.encode.width": 32,
        "components.arc_scorer.model.arc_width": 16,
        "components.arc_scorer.model.label_width": 8,
    }
    text = make_config("xx", "efficiency", ["senter"], None)
    return load_config_from_str(text, overrides=overrides, interpolate=False)


def test_each_sentence_is_scored_by_a_pipeline_that_has_not_seen_it(small_config, monkeypatch):
    trained = []
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out._train",
        lambda nlp, examples, title: trained.append([e.text for e in examples]),
    )
    texts = []
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out.score_held_out",
        lambda nlp, gold, name: texts.append([" ".join(each.words) for own in gold for each in own]) or HeldOut(),
    )
    nlp = spacy.blank("xx")
    corpus = small_corpus(small_config)
    state = random.getstate(), np.random.get_state()[1].tolist()
    cross_validate(small_config, corpus, 4)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state
    everything = sorted(" ".join(t.text for t in e.reference) for e in corpus(nlp))
    assert len(texts) == 4 and sorted(sum(texts, [])) == everything
    assert [len(own) for own in trained] == [len(everything) - len(own) for own in texts]


def with_taught(config, taught, path):
    """Return a config with Docs that count as labelled by teachers, who say nothing of them."""
    nothing = to_table(np.zeros((0, 0)), np.arange(0))
    for doc in taught:
        write_targets(doc, Targets(nothing, nothing, nothing))
    DocBin(docs=taught, store_user_data=True).to_disk(path)
    config = config.copy()
    config["paths"]["distilled"] = str(path)
    return config


def test_what_teachers_have_labelled_is_always_learnt_from(small_config, monkeypatch, tmp_path):
    trained, held_out = [], []
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out._train", lambda nlp, examples, title: trained.append(examples)
    )
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out.score_held_out",
        lambda nlp, gold, name: held_out.append(len(list(gold))) or HeldOut(),
    )
    taught = [s.as_doc() for doc in gold_docs(8, part="dev") for s in doc.sents][:15]
    config = with_taught(small_config, taught, tmp_path / "taught.spacy")
    with pytest.warns(UserWarning, match="The teachers have seen all sentences"):
        found = cross_validate(config, small_corpus(config), 2)
    assert held_out == [3, 3] and found.taught
    for examples in trained:
        gold = [e for e in examples if read_targets(e.reference) is None]
        assert len(examples) - len(gold) == 15 and len(gold) == 2 * 3  # a quarter, as in training


def test_what_teachers_have_labelled_of_a_part_is_left_out_with_it(small_config, monkeypatch, tmp_path):
    """So are sentences like its own, as of `swap_words`. The words may be divided otherwise."""
    trained, held_out = [], []

    def text(words):
        return "".join("".join(words).split())

    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out._train",
        lambda nlp, examples, title: trained.append([text(e.reference.text) for e in examples]),
    )
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out.score_held_out",
        lambda nlp, gold, name: held_out.append([text(each.words) for own in gold for each in own]) or HeldOut(),
    )
    gold = list(DocBin().from_disk(small_config.interpolate()["paths"]["train"]).get_docs(spacy.blank("xx").vocab))
    taught = [Doc(doc.vocab, words=[doc.text], heads=[0], deps=["ROOT"]) for doc in gold]
    third = [[f"{own}{'x' * (k % 3 > 0)}" for k, own in enumerate(map(str, doc))] for doc in gold]
    less = [["x", *own[1:]] for own in third]
    taught += [Doc(gold[0].vocab, own, heads=[0] * len(own), deps=["ROOT"] * len(own)) for own in third + less]
    like = {text(own): text(map(str, doc)) for own, doc in zip(third, gold, strict=True)}
    config = with_taught(small_config, taught, tmp_path / "taught.spacy")
    with pytest.warns(UserWarning, match="The teachers have seen"):
        cross_validate(config, small_corpus(config), 3)
    assert [len(own) for own in held_out] == [2, 2, 2]
    for seen, out in zip(trained, held_out, strict=True):
        assert not {like.get(own, own) for own in seen} & set(out)
        assert sum(own in like for own in seen) == 4 and {text(own) for own in less} <= set(seen)


def test_the_method_of_a_student_names_its_teachers(nlp):
    found = score_held_out(nlp, [read_annotated(doc) for doc in gold_docs(2, part="dev")])
    found.extend(HeldOut(taught=True))
    assert found.fit("5-fold cross-validation").method == "5-fold cross-validation; the teachers saw all parts"


def small_corpus(config):
    corpora = config.interpolate()["corpora"]
    corpora["train"].update(max_sentences=1, divisions=1)
    resolved = spacy.registry.resolve(corpora)
    return resolved["train"]


def test_cross_validation(small_config):
    found = cross_validate(small_config, small_corpus(small_config), 2)
    assert len(found.matrices) == 6 and all(scores is not None for scores in found.label_scores)
    assert found.fit("2-fold cross-validation").method == "2-fold cross-validation"


def test_pipelines_with_several_seeds_are_combined(small_config, monkeypatch):
    trained, combined = [], []
    monkeypatch.setattr(
        "spacy_mindroot.pipeline.held_out._train",
        lambda nlp, examples, title: trained.append((nlp.config.interpolate()["training"]["seed"], title)),
    )

    def combine(pipelines):
        combined.append([nlp.config.interpolate()["system"]["seed"] for nlp in pipelines])
        return pipelines[1]

    config = small_config.copy()
    config["training"]["seed"] = 1  # of its own
    found = cross_validate(config, small_corpus(config), 2, seeds=[5, 7], combine=combine)
    titles = [f"Calibration {number}/4" for number in (1, 2, 3, 4)]
    assert trained == list(zip([5, 7, 5, 7], titles, strict=True)) and combined == [[5, 7]] * 2
    assert len(found.matrices) == 6


@pytest.mark.parametrize(
    ("limit", "steps"),
    [
        ({"max_steps": 7}, {8}),  # spaCy counts from 0
        ({"max_steps": 0, "max_epochs": 2}, {2}),  # all sentences are in one batch
        ({"max_steps": 0, "patience": 4}, range(5, 10_000)),
    ],
)
def test_folds_are_trained_for_as_long_as_the_pipeline(small_config, monkeypatch, limit, steps):
    config = small_config.copy()
    config["training"] |= {"patience": 0, "max_epochs": 0, "eval_frequency": 4, **limit}
    taken = []

    def counted(nlp, settings, train, dev, **kwargs):
        assert {name: value for name, value in kwargs.items() if value} == {n: v for n, v in limit.items() if v}
        taken.append(0)
        for step in training_steps(nlp, settings, train, dev, **kwargs):
            taken[-1] += 1
            yield step

    monkeypatch.setattr("spacy_mindroot.pipeline.held_out.training_steps", counted)
    cross_validate(config, small_corpus(config), 2)
    assert len(taken) == 2 and set(taken) <= set(steps)


def test_training_without_end(small_config):
    config = small_config.copy()
    config["training"] |= {"max_steps": 0, "max_epochs": 0, "patience": 0}
    with pytest.raises(errors.CalibrationError, match="never end: set max_steps"):
        cross_validate(config, small_corpus(config), 2)


def test_too_few_docs(small_config):
    one = make_examples(spacy.blank("xx"), gold_docs(1))
    with pytest.raises(errors.CalibrationError, match="at least two Docs"):
        cross_validate(small_config, lambda nlp: one, 5)
    with pytest.raises(errors.CalibrationError, match=r"no \[training\]"):
        cross_validate(spacy.blank("en").config | {"training": {}}, lambda nlp: one, 5)


def test_the_config_of_a_package_can_not_train(small_config):
    config = small_config.copy()
    config["paths"]["train"] = None
    with pytest.raises(errors.CalibrationError, match="no path of a training corpus, as in a package"):
        cross_validate(config, lambda nlp: [], 2)

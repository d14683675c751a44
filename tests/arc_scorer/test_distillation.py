"""The mean distributions of several parsers for some text, and a parser that learns them."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from thinc.api import Model

from scorer_helpers import gold_docs, learn, make_examples, make_nlp, small, with_sentences
from spacy_mindroot import decode
from spacy_mindroot.arc_scorer.average import average_pipelines
from spacy_mindroot.arc_scorer.distillation import distill, expected_uas
from spacy_mindroot.arc_scorer.gold import read_gold
from spacy_mindroot.doc.reading import conllu_heads, sentence_bounds
from spacy_mindroot.doc.targets import read_targets
from spacy_mindroot.errors import MissingSentencesError, SentenceTooLongError, TrainingError
from spacy_mindroot.inference import marginals


@pytest.fixture(scope="module")
def docs():
    return gold_docs()


@pytest.fixture(scope="module")
def teachers(docs):
    return [make_nlp(docs, steps=15, seed=seed, encoder="ours") for seed in (1, 2, 3)]


def texts(nlp, docs):
    return [with_sentences(nlp, doc) for doc in docs]


def dense(doc):
    """The probabilities of arcs, (n, n+1), of a Doc with one sentence."""
    n = len(doc)
    table = read_targets(doc).heads
    columns = np.where(table.tokens == table.values, 0, table.values + 1)
    return table.to_dense(columns, n, n + 1)


def by_each(nlp, docs):
    """The marginals of a parser, sentence by sentence."""
    scored = nlp.get_pipe("arc_scorer").pipe(texts(nlp, docs))
    return [
        marginals(scores, projective=nlp.get_pipe("mind_root").projective)
        for doc in scored
        for scores in doc._.arc_scores
    ]


@pytest.mark.parametrize("projective", [False, True])
def test_probabilities_of_arcs_are_the_mean(docs, teachers, projective):
    for nlp in teachers:
        nlp.get_pipe("mind_root").projective = projective
    found = list(distill(teachers, texts(teachers[0], docs)))
    means = [np.mean(own, axis=0) for own in zip(*(by_each(nlp, docs) for nlp in teachers), strict=True)]
    assert len(found) == len(means) == sum(len(list(doc.sents)) for doc in docs)
    probabilities = []
    for doc, mean in zip(found, means, strict=True):
        np.testing.assert_allclose(dense(doc), mean, atol=2e-3)
        (heads,) = conllu_heads(doc)
        assert heads.tolist() == decode(mean, projective=projective).tolist()
        probabilities.append(mean[np.arange(len(heads)), heads])
        assert expected_uas([doc]) == pytest.approx(probabilities[-1].mean(), abs=2e-3)
    assert expected_uas(found) == pytest.approx(np.concatenate(probabilities).mean(), abs=2e-3)


def test_labels_are_those_of_the_tree(docs, teachers):
    names = teachers[0].get_pipe("arc_scorer").labels
    found = list(distill(teachers, texts(teachers[0], docs)))
    heads = [conllu_heads(doc)[0] for doc in found]
    of_each = []
    for nlp in teachers:
        scored = nlp.get_pipe("arc_scorer").pipe(texts(nlp, docs))
        labels = [own for doc in scored for own in doc._.arc_labels]
        of_each.append([np.exp(own.scores_of_tree(tree)) for own, tree in zip(labels, heads, strict=True)])
    for doc, tree, parts in zip(found, heads, zip(*of_each, strict=True), strict=True):
        mean = np.mean(parts, axis=0)
        table = read_targets(doc).labels
        numbers = np.array([names.index(doc.vocab.strings[value]) for value in table.values.tolist()])
        expected = np.where((tree > 0)[:, np.newaxis], mean, 0)
        np.testing.assert_allclose(table.to_dense(numbers, len(doc), len(names)), expected, atol=2e-3)
        best = [names[k] if head else "ROOT" for k, head in zip(mean.argmax(axis=1), tree, strict=True)]
        assert [token.dep_ for token in doc] == best


def test_text_and_sentences_are_kept(docs, teachers):
    found = list(distill(teachers, texts(teachers[0], docs)))
    assert "".join(doc.text_with_ws for doc in found) == "".join(doc.text_with_ws for doc in docs)
    assert all(len(sentence_bounds(doc)) == 1 for doc in found)
    assert not any(doc.has_annotation(name) for doc in found for name in ("TAG", "MORPH", "LEMMA"))


def test_most_teachers_decide_on_tags(docs):
    def make(seed, tag):
        nlp = make_nlp(docs, steps=1, seed=seed)
        nlp.add_pipe("attribute_ruler", first=True).add([[{"ORTH": {"REGEX": "."}}]], {"TAG": tag, "POS": tag})
        return nlp

    teachers = [make(1, "ADV"), make(2, "NOUN"), make(3, "NOUN")]
    for doc in distill(teachers, texts(teachers[0], docs[:2])):
        assert {(token.tag_, token.pos_) for token in doc} == {("NOUN", "NOUN")}
    for doc in distill(teachers[:2], texts(teachers[0], docs[:2])):  # the first one in a tie
        assert {token.tag_ for token in doc} == {"ADV"}
    for doc, tag in zip(teachers[1:], ("VERB", "X"), strict=True):  # all three differ in what is elected together
        doc.get_pipe("attribute_ruler").add([[{"ORTH": {"REGEX": "."}}]], {"TAG": tag})
    for doc in distill(teachers, texts(teachers[0], docs[:2])):
        assert {(token.tag_, token.pos_) for token in doc} == {("ADV", "ADV")}


def test_the_student_reads_what_was_stored(docs, teachers):
    """Through a DocBin: the loss of a student is that of the teachers' distributions."""
    stored = DocBin(docs=distill(teachers, texts(teachers[0], docs)), store_user_data=True).to_bytes()
    student = make_nlp(docs, steps=0)
    taught = list(DocBin().from_bytes(stored).get_docs(student.vocab))
    scorer = student.get_pipe("arc_scorer")
    numbers = {student.vocab.strings[label]: k for k, label in enumerate(scorer.labels[1:])}
    for example, doc in zip(make_examples(student, taught), taught, strict=True):
        gold = read_gold(example, numbers, {})
        (arcs,) = gold.soft.heads
        np.testing.assert_allclose(arcs, dense(doc), atol=1e-9)
        np.testing.assert_allclose(gold.soft.labels.sum(axis=1), [token.dep_ != "ROOT" for token in doc])
    examples = make_examples(student, taught)
    losses = [student.update(examples, losses={})["arc_scorer"]]
    for doc in taught:
        doc.user_data.clear()
    losses.append(student.update(make_examples(student, taught), losses={})["arc_scorer"])
    assert losses[0] != pytest.approx(losses[1], rel=1e-3)


def test_a_student_comes_close_to_its_teachers(docs, teachers):
    """It sees no gold tree, and its probabilities approach theirs."""
    taught = list(distill(teachers, texts(teachers[0], docs)))
    means = [dense(doc) for doc in taught]

    def distance(nlp):
        return np.mean([np.abs(a - b).mean() for a, b in zip(by_each(nlp, docs), means, strict=True)])

    before, after = (make_nlp(taught, steps=steps, seed=9, encoder="ours") for steps in (0, 40))
    assert distance(after) < 0.3 * distance(before)


def test_white_space_and_gold_beside_teachers(docs, teachers):
    """A batch of Docs with and without distributions: those without are learnt as ever."""
    taught = list(distill(teachers, texts(teachers[0], docs[:2])))
    nlp = make_nlp(docs, steps=0)
    scorer = nlp.get_pipe("arc_scorer")
    alone = [scorer.update(make_examples(nlp, [doc]), losses={})["arc_scorer"] for doc in (taught[0], docs[3])]
    both = scorer.update(make_examples(nlp, [taught[0], docs[3]]), losses={})["arc_scorer"]
    assert both == pytest.approx(sum(alone), rel=1e-4)


def test_other_docs_have_no_expected_accuracy(docs):
    with pytest.raises(TrainingError, match="does not have doc._.arc_targets"):
        expected_uas(docs)


def test_empty_docs_are_left_out(teachers):
    assert list(distill(teachers, [Doc(teachers[0].vocab)])) == []
    assert list(distill(teachers, [])) == []


def test_sentences_are_needed(docs, teachers):
    with pytest.raises(MissingSentencesError, match="no sentence boundaries"):
        list(distill(teachers, [Doc(teachers[0].vocab, words=["a", "b"])]))


def test_teachers_must_agree_on_labels(docs, teachers):
    with pytest.raises(TrainingError, match="no teacher"):
        list(distill([], texts(teachers[0], docs)))
    without = spacy.blank("en")
    with pytest.raises(TrainingError, match="Teacher 2 has 0 components"):
        list(distill([teachers[0], without], texts(teachers[0], docs)))
    nlp = spacy.blank("en")
    nlp.add_pipe("arc_scorer", config=small())
    nlp.add_pipe("mind_root")
    learn(nlp, docs[:1], 0)
    with pytest.raises(TrainingError, match="Teacher 2 has other labels"):
        list(distill([teachers[0], nlp], texts(teachers[0], docs)))


def test_teachers_must_annotate_the_same(docs):
    """Otherwise those without a tagger would vote for no tag."""
    teachers = [make_nlp(docs, steps=0, seed=seed) for seed in (1, 2, 3)]
    teachers[0].add_pipe("sentencizer", first=True)  # only the first one divides the text
    list(distill(teachers, texts(teachers[0], docs[:1])))
    teachers[1].add_pipe("tagger", first=True)
    with pytest.raises(TrainingError, match=r"teacher 2 annotates token.tag, and teacher 1 nothing.*same components"):
        list(distill(teachers, texts(teachers[0], docs[:1])))
    for nlp in teachers:
        nlp.add_pipe("attribute_ruler", first=True)
    with pytest.raises(TrainingError, match="teacher 2 annotates attribute_ruler, token.tag, and teacher 1 attribute_"):
        list(distill(teachers, texts(teachers[0], docs[:1])))
    for nlp in teachers:
        nlp.remove_pipe("attribute_ruler")
    teachers[1].remove_pipe("tagger")
    teachers[1].add_pipe("morphologizer")  # behind the scorer
    list(distill(teachers, texts(teachers[0], docs[:1])))


def test_an_average_can_not_teach(docs):
    average = average_pipelines([make_nlp(docs, steps=0, seed=seed) for seed in (1, 2)])
    with pytest.raises(TrainingError, match="Teacher 1 is an average, which can't teach. Pass the pipelines"):
        list(distill([average, make_nlp(docs, steps=0)], texts(average, docs)))


def test_sentences_that_are_too_long(docs):
    nlp = make_nlp(docs, steps=0)
    nlp.get_pipe("arc_scorer").max_length = 3
    with pytest.raises(SentenceTooLongError, match="max_length"):
        list(distill([nlp, nlp], texts(nlp, docs)))


def test_each_teacher_predicts_once(docs, teachers, monkeypatch):
    """For trees and for their labels."""
    counts = []
    predict = Model.predict
    monkeypatch.setattr(Model, "predict", lambda model, X: counts.append(model.name) or predict(model, X))
    list(distill(teachers, texts(teachers[0], docs)))
    assert counts.count("biaffine") == len(teachers)


def test_white_space_is_no_word(docs):
    """It can't be a head or a root. Where there was some, a space is left."""
    teachers = [make_nlp(docs, steps=2, seed=seed) for seed in (1, 2)]
    for nlp in teachers:
        nlp.add_pipe("sentencizer", first=True)
    texts = [" \n My brother  waters the\nbeans now. The roses are here.", "   ", "My dog."]
    found = list(distill(teachers, [teachers[0].make_doc(text) for text in texts]))
    assert [doc.text.rstrip() for doc in found] == [
        "My brother waters the beans now.",
        "The roses are here.",
        "My dog.",
    ]
    assert not any(token.is_space for doc in found for token in doc)
    assert [len(doc) for doc in found] == [7, 5, 3]
    assert all(read_targets(doc).heads.values.max() < len(doc) for doc in found)

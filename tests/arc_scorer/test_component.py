"""arc_scorer in a pipeline: training, prediction, storage and error messages."""

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Adam, ConfigValidationError, warmup_linear

from scorer_helpers import ENCODERS, gold_docs, make_examples, make_nlp, parse, small, trees, with_sentences
from spacy_mindroot import count_roots, errors, is_tree
from spacy_mindroot.arc_scorer.model import ArcInput


@pytest.fixture(scope="module")
def docs():
    return gold_docs()


@pytest.fixture(scope="module", params=ENCODERS)
def trained(docs, request):
    """A pipeline that has memorized eight documents."""
    return make_nlp(docs, steps=80, encoder=request.param)


def test_overfits_eight_documents(trained, docs):
    parsed = parse(trained, docs)
    assert trees(parsed) == trees(docs)
    scores = trained.get_pipe("mind_root").score([Example(own, gold) for own, gold in zip(parsed, docs, strict=True)])
    assert scores["dep_las"] == scores["dep_lem"] == scores["single_root"] == 1


@pytest.mark.parametrize("loss", ["tree", "both"])
def test_overfits_with_the_likelihood_of_trees(docs, loss):
    nlp = make_nlp(docs, steps=80, config={"loss": loss})
    assert trees(parse(nlp, docs)) == trees(docs)


def test_a_loss_that_does_not_exist():
    with pytest.raises(ConfigValidationError, match="loss"):
        spacy.blank("en").add_pipe("arc_scorer", config={"loss": "trees"})


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_one_root_whatever_the_state_of_training(docs, steps):
    nlp = make_nlp(docs, steps=steps)
    for own, gold in zip(parse(nlp, docs), docs, strict=True):
        assert [(s.start, s.end) for s in own.sents] == [(s.start, s.end) for s in gold.sents]
        for sentence in own.sents:
            heads = [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence]
            assert is_tree(heads) and count_roots(heads) == 1


def test_what_is_left_on_the_doc(trained, docs):
    doc = trained.get_pipe("arc_scorer")(with_sentences(trained, docs[0]))
    lengths = [len(s) for s in doc.sents]
    assert [s.shape for s in doc._.arc_scores] == [a.shape for a in doc._.arc_labels] == [(n, n + 1) for n in lengths]
    assert doc._.arc_label_names[0] == "ROOT" and "nsubj" in doc._.arc_label_names
    for scores, labels in zip(doc._.arc_scores, doc._.arc_labels, strict=True):
        n = len(scores)
        assert scores.dtype == np.float32 and labels.dtype == np.uint8
        assert (scores[np.arange(n), np.arange(n) + 1] == -np.inf).all()
        np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1, rtol=1e-4)
        assert (labels[:, 0] == 0).all() and (labels[:, 1:] > 0).all()
    copy = Doc(trained.vocab).from_bytes(doc.to_bytes())
    assert all(np.array_equal(a, b) for a, b in zip(copy._.arc_scores, doc._.arc_scores, strict=True))


def test_raw_and_joint_scores(docs, trained):
    def scores(**config):
        nlp = make_nlp(docs, steps=15, config=config)
        return nlp.get_pipe("arc_scorer")(with_sentences(nlp, docs[0]))._.arc_scores[0]

    plain, raw, joint = scores(), scores(log_probabilities=False), scores(joint=True)
    assert np.abs(np.exp(raw).sum(axis=1) - 1).max() > 1e-2
    finite = np.isfinite(plain)
    assert np.array_equal(np.isfinite(raw), finite)
    shift = np.subtract(raw, plain, where=finite, out=np.zeros_like(raw))
    np.testing.assert_allclose(
        shift, np.where(finite, shift[:, :1], 0), atol=1e-4, err_msg="each row is shifted by a constant"
    )
    assert (joint[:, 0] == plain[:, 0]).all(), "ROOT's label is certain on arcs from ROOT"
    assert (joint[:, 1:] <= plain[:, 1:]).all() and (joint[:, 1:] < plain[:, 1:] - 0.01).any()


def test_a_doc_scores_the_same_alone_and_in_a_batch(trained, docs):
    scorer = trained.get_pipe("arc_scorer")
    alone = [scorer.predict([with_sentences(trained, doc)])[0] for doc in docs]
    together = scorer.predict([with_sentences(trained, doc) for doc in docs])
    for one, other in zip(alone, together, strict=True):
        for a, b in zip(one.scores, other.scores, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-3)


def test_bytes_and_disk_give_equal_scores(trained, docs, tmp_path):
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    other = spacy.blank("en").from_config(trained.config)
    other.from_bytes(trained.to_bytes())
    expected = trained.get_pipe("arc_scorer").predict([with_sentences(trained, doc) for doc in docs])
    for nlp in (loaded, other):
        assert nlp.get_pipe("arc_scorer").labels == trained.get_pipe("arc_scorer").labels
        for one, same in zip(
            nlp.get_pipe("arc_scorer").predict([with_sentences(nlp, d) for d in docs]), expected, strict=True
        ):
            assert all(np.array_equal(a, b) for a, b in zip(one.scores, same.scores, strict=True))
            assert all(np.array_equal(a, b) for a, b in zip(one.labels, same.labels, strict=True))


def test_two_processes_give_equal_trees(trained, docs):
    assert trees(parse(trained, docs, n_process=2, batch_size=2)) == trees(docs)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_one_seed_gives_equal_weights(docs, encoder):
    first, second = (make_nlp(docs, steps=5, seed=7, encoder=encoder).get_pipe("arc_scorer").model for _ in range(2))
    for one, other in zip(first.walk(), second.walk(), strict=True):
        for name in one.param_names:
            assert np.array_equal(one.get_param(name), other.get_param(name)), (one.name, name)


def test_sentences_are_needed_or_said_to_be_whole_docs(trained, docs):
    doc = trained.make_doc("No boundaries here")
    with pytest.raises(errors.MissingSentencesError, match="'No boundaries here'.*senter.*whole_doc"):
        trained.get_pipe("arc_scorer")(doc)
    nlp = make_nlp(docs, steps=1, config={"whole_doc": True})
    assert [len(s) for s in nlp("No boundaries here").sents] == [3]
    split = Doc(nlp.vocab, words=list("abcd"), sent_starts=[True, None, True, None])
    assert [len(s) for s in nlp(split).sents] == [2, 2]


def test_a_whole_doc_that_looks_like_many_sentences_is_mentioned_once(docs):
    nlp = make_nlp(docs, steps=1, config={"whole_doc": True})
    two = "The gardener waters the roses . Anna baked bread ."
    nlp("Anna baked bread .")
    nlp(Doc(nlp.vocab, words=two.split(), sent_starts=[i in (0, 6) for i in range(10)]))
    with pytest.warns(UserWarning, match=r"arc_scorer: Doc 'The .*whole_doc.*token 6 \('Anna'\).*`senter`"):
        assert [len(s) for s in nlp(two).sents] == [10]
    nlp(two)  # without a warning, which would be an error


def test_empty_docs(trained):
    assert [len(doc) for doc in trained.pipe(["", ""])] == [0, 0]
    mixed = [Doc(trained.vocab), Doc(trained.vocab, words=["Yes"])]
    assert [t.dep_ for doc in trained.pipe(mixed) for t in doc] == ["ROOT"]
    empty = Example(Doc(trained.vocab), Doc(trained.vocab))
    # Without an optimizer, whose momentum would change the weights.
    assert trained.update([empty], sgd=False) == {"arc_scorer": 0.0}


def test_a_senter_before_the_scorer(docs):
    """Trained together, with the sentences of the senter in training too; then on raw text."""
    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.add_pipe("arc_scorer", config=small())
    nlp.add_pipe("mind_root")
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    for _ in range(40):
        nlp.update(make_examples(nlp, docs), sgd=optimizer, annotates=["senter"])
    parsed = list(nlp.pipe([doc.text for doc in docs]))
    assert all(doc.has_annotation("DEP") for doc in parsed)
    assert [[len(s) for s in doc.sents] for doc in parsed] == [[len(s) for s in doc.sents] for doc in docs]


def test_labels(docs):
    nlp = spacy.blank("en")
    scorer = nlp.add_pipe("arc_scorer", config=small())
    assert scorer.add_label("nsubj") == 1 and scorer.add_label("nsubj") == scorer.add_label("ROOT") == 0
    scorer.initialize(lambda: make_examples(nlp, docs), nlp=nlp, labels=["ROOT", "nsubj", "obj"])
    assert scorer.labels == scorer.label_data == ("ROOT", "nsubj", "obj")
    with pytest.raises(errors.LabelsError, match="'iobj'.*initialized for 3 labels"):
        scorer.add_label("iobj")


def test_nothing_to_learn(docs):
    nlp = spacy.blank("en")
    scorer = nlp.add_pipe("arc_scorer", config=small())
    unparsed = [Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])]
    with pytest.raises(errors.TrainingError, match="no token of the training data has a label but ROOT's"):
        scorer.initialize(lambda: make_examples(nlp, unparsed), nlp=nlp)


def test_initialized_once(docs):
    nlp = make_nlp(docs, steps=0)
    with pytest.raises(errors.TrainingError, match="resume_training"):
        nlp.initialize(lambda: make_examples(nlp, docs))


def test_sizes_in_the_config_that_the_data_does_not_have(docs):
    nlp = spacy.blank("en")
    scorer = nlp.add_pipe("arc_scorer", config={"model": small()["model"] | {"nO": 3}})
    with pytest.raises(errors.LabelsError, match="nO = 3, but the training data has"):
        scorer.initialize(lambda: make_examples(nlp, docs), nlp=nlp)


@pytest.mark.parametrize("spelling", ["root", "Root", "root:x"])
def test_the_label_of_root_in_another_spelling_is_no_other_label(spelling):
    nlp = spacy.blank("en")
    scorer = nlp.add_pipe("arc_scorer", config=small())
    doc = Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=[spelling, "x"])
    scorer.initialize(lambda: make_examples(nlp, [Doc(nlp.vocab), doc]), nlp=nlp)
    assert scorer.labels == ("ROOT", "x")


def test_settings_survive_bytes(docs):
    nlp = make_nlp(
        docs,
        steps=0,
        config={"whole_doc": True, "joint": True, "log_probabilities": False, "loss": "tree", "tag_loss": 0.1},
    )
    other = spacy.blank("en").add_pipe("arc_scorer", config=small())
    other.from_bytes(nlp.get_pipe("arc_scorer").to_bytes())
    assert (other.whole_doc, other.joint, other.log_probabilities) == (True, True, False)
    assert (other.loss, other.tag_loss) == ("tree", 0.1)


def test_diverged_training_is_an_error(docs):
    nlp = make_nlp(docs, steps=0)
    scorer = nlp.get_pipe("arc_scorer")
    scorer.model.get_ref("arc_biaffine").set_param("W", np.full((24, 24), np.nan, dtype="f"))
    with np.errstate(all="ignore"), pytest.raises(errors.TrainingError, match="diverged"):
        scorer.update(make_examples(nlp, docs))


def test_resumed_frozen_and_sourced(trained, docs, tmp_path):
    trained.to_disk(tmp_path)
    source = spacy.load(tmp_path)
    nlp = spacy.blank("en", vocab=source.vocab)
    nlp.add_pipe("arc_scorer", source=source)
    nlp.add_pipe("mind_root", source=source)
    assert trees(parse(nlp, docs)) == trees(docs)

    before = source.get_pipe("arc_scorer").model.get_ref("arc_biaffine").get_param("W").copy()
    optimizer = source.resume_training()
    source.update(make_examples(source, docs), sgd=optimizer, exclude=["arc_scorer"])
    assert np.array_equal(before, source.get_pipe("arc_scorer").model.get_ref("arc_biaffine").get_param("W"))
    losses = source.update(make_examples(source, docs), sgd=optimizer, drop=0.5)
    assert losses["arc_scorer"] > 0
    assert not np.array_equal(before, source.get_pipe("arc_scorer").model.get_ref("arc_biaffine").get_param("W"))


LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
BELOW_A_BILSTM = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": LISTENER,
    "encode": {"@architectures": "spacy-mindroot.CNNBiLSTM.v1", "width": 96, "depth": 0},
}


@pytest.mark.parametrize(
    ("tok2vec", "path"), [(LISTENER, "model.tok2vec"), (BELOW_A_BILSTM, "model.tok2vec.embed")], ids=["alone", "below"]
)
def test_a_listener_and_its_replacement(docs, tmp_path, tok2vec, path):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("arc_scorer", config={"model": small()["model"] | {"tok2vec": tok2vec}})
    nlp.add_pipe("mind_root")
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    nlp.update(make_examples(nlp, docs), sgd=optimizer)
    before = trees(parse(nlp, docs))
    nlp.replace_listeners("tok2vec", "arc_scorer", [path])
    nlp.remove_pipe("tok2vec")
    assert trees(parse(nlp, docs)) == before
    nlp.to_disk(tmp_path)
    assert trees(parse(spacy.load(tmp_path), docs)) == before


BARE = {"words": ["It", "rained", "."]}


@pytest.mark.parametrize("whole_doc", [False, True])
@pytest.mark.parametrize(
    "annotation",
    [
        {"ents": ["B-X", "O", "O"]},
        {"tags": ["A", "B", "C"]},
        {"sent_starts": [True, False, False]},
        {"heads": [1, 1, 1], "deps": ["", "", ""]},
        {},
    ],
    ids=["entities", "tags", "sentences", "heads without labels", "nothing"],
)
def test_docs_without_a_parse_change_nothing(docs, annotation, whole_doc):
    nlp = make_nlp(docs[:1], steps=0, config={"whole_doc": whole_doc})
    bare = [Doc(nlp.vocab, **BARE, **annotation), Doc(nlp.vocab)]
    bare[0].cats = {"X": 1.0}
    states = []
    for gold in (docs[:2], [bare[0], *docs[:2], *bare]):
        own = make_nlp([*bare, *docs[:1]], steps=0, config={"whole_doc": whole_doc}).from_bytes(nlp.to_bytes())
        losses = own.update(make_examples(own, gold), drop=0.0, sgd=own.create_optimizer())
        model = own.get_pipe("arc_scorer").model
        params = [node.get_param(name).ravel() for node in model.walk() for name in node.param_names]
        states.append((losses["arc_scorer"], np.concatenate(params)))
    np.testing.assert_allclose(states[1][0], states[0][0], rtol=1e-6)
    np.testing.assert_allclose(states[1][1], states[0][1], atol=1e-4)
    alone = nlp.update(make_examples(nlp, bare), drop=0.0)
    assert alone["arc_scorer"] == 0


def test_the_loss_of_a_batch_is_that_of_an_update():
    """As spaCy documents `get_loss`, for training loops of one's own."""
    docs = gold_docs(4)
    nlp = make_nlp(docs, steps=2)
    scorer = nlp.get_pipe("arc_scorer")
    examples = make_examples(nlp, docs)
    sents = [sent for doc in docs for sent in doc.sents]
    heads = np.array([0 if t.head == t else t.head.i - sent.start + 1 for sent in sents for t in sent])
    output = scorer.model.predict(ArcInput([each.predicted for each in examples], [*map(len, sents)], heads))
    loss, gradient = scorer.get_loss(examples, output)
    assert loss == pytest.approx(scorer.update(examples, drop=0.0)["arc_scorer"], rel=1e-4)
    assert [own.shape for own in gradient.arcs] == [own.shape for own in output.arcs]


def test_arcs_are_learnt_without_a_labelled_root(docs):
    """Of a Doc that has lost its sentence boundaries, because spaCy drops those of a root without a label."""
    nlp = make_nlp(docs, steps=0)
    doc = Doc(nlp.vocab, words=["Tom", "saw", "it"], heads=[1, 1, 1], deps=["nsubj", "", "obj"])
    losses = [nlp.update(make_examples(nlp, [doc]), drop=0.0)["arc_scorer"] for _ in range(20)]
    assert 0 < losses[-1] < losses[0]


def test_partially_annotated_trees_train(docs):
    nlp = make_nlp(docs, steps=0)
    partial = [Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs]
    for doc in partial:
        array = doc.to_array(["HEAD", "DEP"])
        array[::2] = 0
        starts = [t.is_sent_start for t in doc]
        doc.from_array(["HEAD", "DEP"], array)
        doc.from_array(["SENT_START"], np.array([1 if s else -1 for s in starts], dtype=np.int64).view(np.uint64))
    losses = nlp.update(make_examples(nlp, partial))
    assert 0 < losses["arc_scorer"] < nlp.update(make_examples(nlp, docs))["arc_scorer"]


def test_scores_travel_in_a_doc_bin(trained, docs):
    scored = [trained.get_pipe("arc_scorer")(with_sentences(trained, doc)) for doc in docs]
    restored = DocBin().from_bytes(DocBin(docs=scored, store_user_data=True).to_bytes()).get_docs(trained.vocab)
    assert trees([trained.get_pipe("mind_root")(doc) for doc in restored]) == trees(docs)


# ---------------------------------------------------------------------------------------------------------------------
# Sentences that are too long


def limited(trained, limit):
    """A copy of a pipeline with another max_length."""
    nlp = spacy.blank("en").from_config(trained.config)
    nlp.from_bytes(trained.to_bytes())
    nlp.get_pipe("arc_scorer").max_length = limit
    return nlp


def test_a_sentence_that_is_too_long(trained, docs):
    longest = max(len(sentence) for doc in docs for sentence in doc.sents)
    assert trees(parse(limited(trained, longest), docs)) == trees(docs)
    nlp = limited(trained, 7)
    doc = Doc(nlp.vocab, words=["Yes", ".", *"abcdefgh"], sent_starts=[i in (0, 2) for i in range(10)])
    says = "Sentence 2 of Doc 'Yes . a b c d ...' has 8 tokens, but max_length is 7.*`senter`.*raise"
    with pytest.raises(errors.SentenceTooLongError, match=says):
        nlp.get_pipe("arc_scorer")(doc)
    assert len(limited(trained, 0)(doc)) == 10


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_the_error_handler_gets_that_doc_alone(trained, batch_size):
    nlp = limited(trained, 3)
    texts = [Doc(nlp.vocab, words=["a"] * n, sent_starts=[True] + [False] * (n - 1)) for n in (1, 4, 2, 3, 5)]
    seen = []
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, [len(d) for d in docs], type(error))))
    assert [len(doc) for doc in nlp.pipe(texts, batch_size=batch_size)] == [1, 2, 3]
    assert seen == [("arc_scorer", [n], errors.SentenceTooLongError) for n in (4, 5)]


def test_sentences_that_are_too_long_are_left_out_of_training_with_one_warning(docs):
    nlp = make_nlp(docs, steps=0)
    scorer = nlp.get_pipe("arc_scorer")
    before = scorer.update(make_examples(nlp, docs))["arc_scorer"]
    scorer.max_length = 12
    with pytest.warns(
        UserWarning, match="Doc '.*' of the training data has a sentence of .* max_length is 12"
    ) as caught:
        losses = [scorer.update(make_examples(nlp, docs))["arc_scorer"] for _ in range(2)]
    assert len(caught) == 1
    assert 0 < losses[0] < before
    scorer.max_length = 1  # each token a piece of its own
    assert np.isfinite(scorer.update(make_examples(nlp, docs))["arc_scorer"])


def test_a_negative_max_length():
    with pytest.raises(errors.MindRootError, match="max_length must be 0 .* but it is -1"):
        spacy.blank("en").add_pipe("arc_scorer", config={"max_length": -1})


def test_bytes_of_a_version_without_max_length(trained):
    nlp = limited(trained, 55)
    scorer = nlp.get_pipe("arc_scorer")
    contents = srsly.msgpack_loads(scorer.to_bytes())
    assert contents["settings"].pop("max_length") == 55
    scorer.max_length = 7
    scorer.from_bytes(srsly.msgpack_dumps(contents))
    assert scorer.max_length == 7


# ---------------------------------------------------------------------------------------------------------------------
# Training loops in Python


def test_a_learning_rate_of_0_is_warned_about(docs):
    """thinc's warmup_linear.v1 starts at 0, and `nlp.update` does not step it."""
    nlp = make_nlp(docs, steps=0)
    optimizer = Adam(warmup_linear(0.005, 10, 100))
    examples = make_examples(nlp, docs)
    nlp.update(examples, sgd=optimizer)  # as the first step of `spacy train`
    with pytest.warns(UserWarning, match="arc_scorer: nothing is learned.*step_schedules"):
        nlp.update(examples, sgd=optimizer)
    nlp.update(examples, sgd=optimizer)
    nlp = make_nlp(docs, steps=0)
    optimizer = Adam(warmup_linear(0.005, 10, 100))
    for _ in range(5):
        nlp.update(examples, sgd=optimizer)
        optimizer.step_schedules()


def test_nothing_is_said_of_optimizers_without_a_rate(docs):
    nlp = make_nlp(docs, steps=0)
    for _ in range(3):
        nlp.update(make_examples(nlp, docs), sgd=lambda key, weights, gradient: (weights, gradient * 0))

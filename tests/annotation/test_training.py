"""Training in the background, while the annotation goes on."""

import json

import pytest
from annotation_helpers import BLANK, DONE, GOLD, annotate, make_session, rows, wait
from corpora_helpers import make_model

from spacy_mindroot.annotation import training
from spacy_mindroot.annotation.training import Trainer, steps_for, train_on
from spacy_mindroot.conllu import sentence_to_doc
from spacy_mindroot.tools.gold import load_pipeline


def trained(trainer):
    wait(lambda: trainer.progress is None or trainer._ready)
    assert not trainer.error
    return trainer.take()


def test_more_sentences_take_more_steps():
    steps = [steps_for(n) for n in (1, 50, 51, 200, 400, 401, 100_000)]
    assert steps == sorted(steps) and len(set(steps)) > 3


@pytest.mark.parametrize("continued", [False, True])
def test_a_parser_learns_what_it_was_given(continued, tmp_path):
    model = str(make_model(tmp_path / "model", senter=False)) if continued else None
    session = make_session(tmp_path, DONE)
    nlp = load_pipeline(model) if continued else None
    vocab = __import__("spacy").blank("xx").vocab
    docs = [sentence_to_doc(vocab, each) for each in session.treebank]
    count = []
    parser = train_on(docs, "xx", model, 4, advance=lambda: count.append(1))
    assert len(count) == 4
    assert parser.pipe_names[-1] == "mind_root"
    if nlp is not None:
        before, after = (each.get_pipe("arc_scorer").model.to_bytes() for each in (nlp, parser))
        assert before != after
        assert parser.get_pipe("arc_scorer").labels == nlp.get_pipe("arc_scorer").labels
    else:
        assert set(parser.get_pipe("arc_scorer").labels) == {"ROOT", "nsubj", "advmod", "obl", "obj"}


def test_in_the_background_and_kept_for_the_next_time(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_STEPS", ((10**9, 4),))
    session = make_session(tmp_path, rows(GOLD[0]) * 3 + BLANK)
    trainer = Trainer(session.journal.folder)
    assert trainer.kept() is None
    assert not trainer.start(session.treebank, []), "there is nothing to train on, and no parser"
    assert trainer.start(session.treebank, session.accepted())
    assert not trainer.start(session.treebank, session.accepted()), "one at a time"
    annotate(session, 4, GOLD[1])  # meanwhile
    suggester, rates = trained(trainer)
    assert json.loads((session.journal.folder / "job.json").read_text("utf8"))["steps"] == 4
    session.use(suggester, rates)
    assert trainer.trained == 3 and trainer.progress is None and trainer.take() is None
    assert set(rates) == set(session.treebank.keys)
    assert all(0 <= rate <= 1 for rate in rates.values())
    view = session.view(5)
    assert all(prob is not None for prob in view["headProbs"])
    assert session.state(4) == "accepted"
    again = Trainer(session.journal.folder)
    assert again.kept() == str(session.journal.folder / "model") and again.trained == 3
    assert Trainer(session.journal.folder, model="other").kept() == "other", "it was not trained from that"
    assert again.start(session.treebank, []), "it orders the sentences"
    assert set(trained(again)[1]) == set(rates)
    assert again.trained == 3


def test_what_goes_wrong_is_said_and_training_can_begin_again(tmp_path):
    session = make_session(tmp_path, DONE)
    trainer = Trainer(session.journal.folder, model=str(tmp_path / "none"))
    assert trainer.start(session.treebank, [0])
    wait(lambda: trainer.progress is None)
    assert "could not be trained" in trainer.error and "none is not a pipeline" in trainer.error
    assert trainer.start(session.treebank, [0])
    trainer.stop()
    wait(lambda: trainer.progress is None)


def test_a_parser_that_can_not_be_taken_is_said(tmp_path, monkeypatch):
    session = make_session(tmp_path, DONE)
    trainer = Trainer(session.journal.folder, model=str(tmp_path / "none"))

    def fails(sentences):
        raise KeyError("meta")

    monkeypatch.setattr(trainer, "_take", fails)
    monkeypatch.setattr(training.sys, "executable", "true")
    assert trainer.start(session.treebank, [0])
    wait(lambda: trainer.progress is None)
    assert "could not be trained: 'meta'" in trainer.error


def test_the_process_ends_with_its_server(tmp_path):
    session = make_session(tmp_path, DONE * 20)
    trainer = Trainer(session.journal.folder)
    trainer.start(session.treebank, session.accepted())
    process = trainer._process
    process.stdin.close()
    assert process.wait(60) == 1
    assert json.loads((session.journal.folder / "job.json").read_text())["accepted"]
    wait(lambda: trainer.progress is None)

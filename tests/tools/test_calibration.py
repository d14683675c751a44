"""What a calibration is fitted to, and how the fit is described."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from scorer_helpers import gold_docs, make_nlp
from spacy_mindroot.arc_scorer.lexicon import TABLE, make_lexicon
from spacy_mindroot.conllu import doc_to_conllu
from spacy_mindroot.doc.targets import Targets, read_targets, to_table, write_targets
from spacy_mindroot.errors import CorpusError
from spacy_mindroot.inference import Calibration
from spacy_mindroot.pipeline.held_out import HeldOut
from spacy_mindroot.tools.calibration import describe_fit, held_out_scores, promise_of
from spacy_mindroot.tools.gold import read_corpus
from spacy_mindroot.trees import MISSING


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(gold_docs(6), steps=15)


@pytest.fixture
def gold(nlp, tmp_path):
    (tmp_path / "a.conllu").write_text("".join(doc_to_conllu(doc) for doc in gold_docs(6)), "utf8")
    return list(read_corpus(tmp_path / "a.conllu", nlp.vocab))


def test_without_folds_the_corpus_is_held_out(nlp, gold):
    held_out, method = held_out_scores(nlp, iter(gold), folds=None, name="mind_root")
    assert method == "held-out" and len(held_out.heads) == len(gold)
    for own, sentence in zip(held_out.gold_heads, gold, strict=True):
        assert own.tolist() == sentence.heads.tolist()
    calibration = held_out.fit(method)
    text, figures = describe_fit(calibration, held_out)
    assert figures["uas"] == pytest.approx(float(text.partition("UAS ")[2].partition("%")[0]) / 100, abs=1e-3)
    own, annotated = np.concatenate(held_out.heads), np.concatenate(held_out.gold_heads)
    right = (own == annotated)[annotated != MISSING].mean()
    assert f"UAS {right:.1%} on {calibration.tokens:,} tokens of {len(gold):,} sentences (held-out)." in text
    sizes = [float(line.split()[8]) for line in text.splitlines() if line.startswith("Sets of trees")]
    assert len(sizes) == 1 and sizes[0] >= 1
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["before", "after", "by"]


def test_what_few_sentences_promise():
    assert promise_of(100) == ""
    assert "off by 8 points" in promise_of(55) and "promise nothing" in promise_of(8)
    assert Calibration().sentences == 0 and "There are 0 sentences" in promise_of(0)


def test_nothing_fitted_changes_nothing(nlp, gold):
    held_out, method = held_out_scores(nlp, gold, folds=None, name="mind_root")
    fitted = held_out.fit(method)
    names = ("arc_temperature", "arc_lapse", "label_temperature", "label_lapse")
    nothing = {name: getattr(Calibration(), name) for name in names}
    before, after = (
        line.split()[1:]
        for line in describe_fit(replace(fitted, **nothing), held_out)[0].splitlines()
        if line.startswith(("before", "after"))
    )
    assert before == after


@pytest.mark.parametrize(
    ("has_train", "folds", "expected"),
    [
        (False, 3, ("train 3", "3-fold cross-validation")),
        (True, None, ("dev, train 5", "held-out and 5-fold cross-validation")),
        (True, 2, ("dev, train 2", "held-out and 2-fold cross-validation")),
    ],
)
def test_which_sentences_are_scored_by_which_parsers(nlp, gold, monkeypatch, has_train, folds, expected):
    """Without the training: which has tests of its own."""
    done = []
    monkeypatch.setattr(
        "spacy_mindroot.tools.calibration.score_held_out",
        lambda nlp, annotations, name: done.append("dev") or HeldOut(),
    )

    def cross_validate(config, examples, folds, *, name):
        assert len(list(examples(nlp))) == (2 if has_train else len(gold))
        done.append(f"train {folds}")
        return HeldOut()

    monkeypatch.setattr("spacy_mindroot.tools.calibration.cross_validate", cross_validate)
    train = iter(gold[:2]) if has_train else None
    _, method = held_out_scores(nlp, gold, train, folds=folds, name="mind_root")
    assert (", ".join(done), method) == expected


@pytest.mark.parametrize("own", ["nothing", "lexicon", "vectors"])
def test_folds_have_the_words_that_the_pipeline_was_saved_with(nlp, gold, tmp_path, monkeypatch, own):
    """Also after `spacy mindroot add`, which leaves them out of the config."""
    (tmp_path / "words.tsv").write_text("the\tthe\tDET\n", encoding="utf8")
    saved = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    saved.config["paths"]["vectors"] = None
    saved.config["initialize"]["vectors"] = "${paths.vectors}"
    if own == "lexicon":
        saved.vocab.lookups.set_table(TABLE, make_lexicon([tmp_path / "words.tsv"]))
    elif own == "vectors":
        saved.vocab.set_vector("the", np.ones(4, dtype=np.float32))
    saved.to_disk(tmp_path / "model")
    seen = []
    monkeypatch.setattr(
        "spacy_mindroot.tools.calibration.cross_validate",
        lambda config, *_, **__: seen.append(config["initialize"]["before_init"]) or HeldOut(),
    )
    held_out_scores(spacy.load(tmp_path / "model"), gold, None, folds=2, name="mind_root")
    copied = {"@callbacks": "spacy.copy_from_base_model.v1", "vocab": str(tmp_path / "model")}
    assert seen == [None if own == "nothing" else copied]


@pytest.fixture
def student(nlp, tmp_path):
    """A pipeline whose config names three sentences that teachers have labelled, without saying anything of them."""
    nothing = to_table(np.zeros((0, 0)), np.arange(0))
    docs = gold_docs(3, per_doc=1, part="dev")
    for doc in docs:
        write_targets(doc, Targets(nothing, nothing, nothing))
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "taught.spacy")
    own = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    own.config["paths"]["distilled"] = str(tmp_path / "taught.spacy")
    own.config["corpora"] = {"train": {"distilled": "${paths.distilled}"}}
    return own


@pytest.mark.parametrize("has_train", [False, True])
def test_the_folds_of_a_student_learn_from_its_teachers(student, gold, monkeypatch, tmp_path, has_train):
    seen = []

    def cross_validate(config, examples, folds, *, name):
        seen.extend(examples(spacy.blank("en")))
        return HeldOut(taught=True)

    monkeypatch.setattr("spacy_mindroot.tools.calibration.cross_validate", cross_validate)
    corpus, train = (gold[:4], gold[4:]) if has_train else (gold, None)
    held_out, _ = held_out_scores(student, corpus, train, folds=2, name="mind_root")
    of_teachers = [example for example in seen if read_targets(example.reference) is not None]
    assert len(of_teachers) == 3 and len(seen) == 3 + len(train or corpus)
    assert all(example.predicted.text == example.reference.text for example in of_teachers)
    assert not any(example.predicted.has_annotation("DEP") for example in of_teachers) and held_out.taught
    (tmp_path / "taught.spacy").unlink()
    held_out_scores(student, corpus, folds=None, name="mind_root")
    with pytest.raises(CorpusError, match=r"taught.spacy\), but there is no such file. Put it back"):
        held_out_scores(student, corpus, train, folds=2, name="mind_root")

"""A scorer that listens to the tok2vec of another pipeline."""

import warnings

import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import fix_random_seed

from scorer_helpers import gold_docs, learn, small, trees
from spacy_mindroot.arc_scorer.listening import is_foreign, remember

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}


def listening(seed=0, steps=8):
    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("arc_scorer", config={"model": small()["model"] | {"tok2vec": LISTENER}})
    nlp.add_pipe("mind_root")
    return learn(nlp, gold_docs(20), steps)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("listening")
    listening().to_disk(folder)
    return folder


def parse(nlp, **kwargs):
    words = [t.text for doc in gold_docs(20, part="dev") for t in doc]
    return list(nlp.pipe([Doc(nlp.vocab, words=words)], **kwargs))


def other(*, tok2vec=True):
    """A pipeline that has been trained apart."""
    nlp = listening(seed=1)
    for name in ["arc_scorer", "mind_root"] + ["tok2vec"] * (not tok2vec):
        nlp.remove_pipe(name)
    return nlp


def add(nlp, source):
    for name in ("arc_scorer", "mind_root"):
        nlp.add_pipe(name, source=source)
    return nlp


def test_its_own_tok2vec_is_right(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse(spacy.load(saved))
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("tok2vec", source=(source := spacy.load(saved)))
        parse(add(nlp, source))


@pytest.mark.parametrize("tok2vec", [True, False], ids=["another", "none"])
def test_a_foreign_tok2vec_is_a_warning_with_the_remedy(saved, tok2vec, tmp_path):
    nlp = add(other(tok2vec=tok2vec), spacy.load(saved))
    remedy = r"replace_listeners\('tok2vec', 'arc_scorer', \['model\.tok2vec'\]\)"
    with pytest.warns(UserWarning, match=f"unlike those that it was trained on.*{remedy}"):
        parse(nlp)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse(nlp)  # once
    nlp.to_disk(tmp_path)
    with pytest.warns(UserWarning, match=remedy):
        parse(spacy.load(tmp_path))


def test_the_remedy(saved, tmp_path):
    source = spacy.load(saved)
    expected = trees(parse(source))
    source.replace_listeners("tok2vec", "arc_scorer", ["model.tok2vec"])
    nlp = add(other(), source)
    nlp.to_disk(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trees(parse(nlp)) == trees(parse(spacy.load(tmp_path))) == expected


def test_little_text_says_nothing_and_other_encoders_are_not_listened_to(saved):
    nlp = spacy.load(saved)
    scorer = nlp.get_pipe("arc_scorer")
    memory = scorer.cfg["heard"]
    assert len(memory) == 8 and "the" in memory
    foreign = list(other().pipe(["The key, and the dog."]))
    assert not is_foreign(scorer.model, foreign, memory)
    assert is_foreign(scorer.model, 10 * foreign, memory)
    assert not is_foreign(scorer.model, 10 * list(other().pipe(["No words of these!"])), memory)
    assert not is_foreign(scorer.model, 10 * foreign, None)  # saved by an older version
    own = spacy.blank("en").add_pipe("arc_scorer", config=small())
    assert remember(own.model, foreign, None) is None
    assert not is_foreign(own.model, 10 * foreign, memory)


def test_the_means_follow_the_tok2vec(saved):
    nlp = spacy.load(saved)
    tok2vec, scorer = nlp.get_pipe("tok2vec"), nlp.get_pipe("arc_scorer")
    docs = [nlp.make_doc("the dog and the dog")]
    vectors, _ = tok2vec.model.begin_update(docs)
    for listener in tok2vec.listeners:
        listener.receive(listener.get_batch_id(docs), vectors, lambda dX: [])
    found = remember(scorer.model, docs, {"the": [0.0] * 96, "cat": [1.0] * 96})
    assert found["the"] == pytest.approx((0.25 * (vectors[0][0] + vectors[0][3])).tolist(), abs=1e-4)
    assert found["cat"] == [1.0] * 96 and len(found) == 2
    begun = remember(scorer.model, docs, None)
    assert begun["dog"] == pytest.approx((0.5 * (vectors[0][1] + vectors[0][4])).tolist(), abs=1e-4)
    assert list(begun) == ["the", "dog", "and"]

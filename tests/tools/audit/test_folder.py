"""The files of an audit."""

from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
import srsly

from generators import random_scores
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.folder import FILES, AuditFolder
from spacy_mindroot.tools.audit.measures import SIDES, Tally, audit_sentences


@contextmanager
def opened(path):
    with open(path, "wb") as file:
        yield file


@pytest.mark.parametrize("most", [0, 2, 100])
def test_every_sentence_is_in_the_files(tmp_path, most):
    rng = np.random.default_rng(5)
    sentences = [
        ScoredSentence(random_scores("normal", n, rng), [f"w{k}" for k in range(n)], None, [], name=f"s{n}")
        for n in range(2, 12)
    ]
    tally = Tally()
    audited = list(audit_sentences(sentences, source="x"))
    with ExitStack() as stack:
        folder = AuditFolder(tmp_path, stack, opened, most)
        for each in audited:
            tally.add(each)
            folder.add(each, None)
        folder.finish(tally.summarize(), {"scores": "x.npz"})
    assert {path.name for path in tmp_path.iterdir()} == {*FILES}
    for name, side in zip(("before", "after"), SIDES, strict=True):
        read = list(read_conllu(tmp_path / f"{side}.conllu"))
        assert [list(sentence.heads) for sentence in read] == [getattr(each, name).heads.tolist() for each in audited]
    records = list(srsly.read_jsonl(tmp_path / "audit.jsonl"))
    assert records == [srsly.json_loads(srsly.json_dumps(each.record())) for each in audited]
    changed = sum(bool(each.changed) for each in audited)
    assert changed > 2 and (tmp_path / "audit.html").read_text("utf8").count("<svg") >= min(most, changed)
    assert "x.npz" in (tmp_path / "audit.md").read_text("utf8")

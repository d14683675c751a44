"""Pipelines are loaded once per process, and differences between them are noticed."""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import spacy
from corpora_helpers import make_model

from spacy_mindroot.arc_scorer.products import NumpyProducts
from spacy_mindroot.corpora.pipelines import Identity, _digest, loaded, this_process, undo_trimming
from spacy_mindroot.errors import CorpusError, RulesError
from spacy_mindroot.pipeline.mind_root import MindRoot

IDENTITY = Identity("en_x", "1.0", "abc", {"spacy": "3.8.1", "numpy": "2.0"}, "blis")


def test_it_is_loaded_once(model):
    with loaded(str(model)) as first, loaded(str(model), kbest=3) as other:
        assert first.nlp is not other.nlp
    with loaded(str(model)) as again:
        assert again.nlp is first.nlp
    identity = first.identity
    assert (identity.model, identity.version) == ("en_tiny", "1.0.0")
    assert identity.packages.keys() == {"spacy-mindroot", "spacy", "thinc", "numpy"}


def test_settings_of_the_component(model):
    with loaded(str(model), confidence=True, kbest=4) as pipeline:
        (component,) = [pipe for _, pipe in pipeline.nlp.pipeline if isinstance(pipe, MindRoot)]
    assert component.confidence is True and component.kbest == 4


def test_without_the_component_there_are_no_probabilities(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    with loaded(str(tmp_path / "blank")):
        pass
    with pytest.raises(CorpusError, match="not have a mind_root"), loaded(str(tmp_path / "blank"), confidence=True):
        pass


@pytest.mark.parametrize(
    "setting, error, message",
    [
        ({"rules": "ud"}, RulesError, "need not be valid under the rules"),
        ({"scores": {"@misc": "spacy-mindroot.head_scores.v1"}}, CorpusError, "repairs the heads of another parser"),
    ],
)
def test_pipelines_without_further_trees(setting, error, message, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config=setting)
    nlp.to_disk(tmp_path / "model")
    with pytest.raises(error, match=message), loaded(str(tmp_path / "model"), kbest=2):
        pass


def test_what_is_no_pipeline():
    with pytest.raises(CorpusError, match="is not a pipeline that spaCy can load"), loaded("no-such-pipeline"):
        pass


def products(nlp):
    scorer = nlp.get_pipe("arc_scorer")
    return {type(node.ops) is NumpyProducts for node in scorer.model.walk()}


def test_products_are_those_of_the_run(model, tmp_path):
    """They round differently, and "auto" may choose others in another process."""
    shutil.copytree(model, tmp_path / "copy")
    with loaded(str(tmp_path / "copy"), products="numpy") as pipeline:
        assert products(pipeline.nlp) == {True}
    with loaded(str(tmp_path / "copy"), products="blis") as pipeline:
        assert products(pipeline.nlp) == {False}


@pytest.mark.parametrize(
    "change, message",
    [
        ({}, ""),
        ({"products": "numpy"}, ""),
        ({"version": "1.1"}, "model: en_x 1.0 and en_x 1.1"),
        ({"digest": "xyz"}, "files of the model: abc and xyz"),
        ({"packages": {"spacy": "3.8.2", "numpy": "2.0"}}, "spacy: 3.8.1 and 3.8.2"),
        ({"packages": {"spacy": "3.8.1"}}, "numpy: 2.0 and None"),
    ],
)
def test_differences(change, message):
    assert IDENTITY.difference(replace(IDENTITY, **change)) == message


def test_the_digest_is_of_all_files(model, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    assert _digest(str(tmp_path / "copy")) == _digest(str(model))
    (tmp_path / "copy/meta.json").write_text("{}")
    assert _digest(str(tmp_path / "copy")) != _digest(str(model))
    assert _digest("spacy") and _digest("no-such-package") == "" and _digest("this") == ""
    assert _digest(str(make_model(tmp_path / "other", seed=1))) != _digest(str(model))


def test_processes_have_names():
    assert this_process().endswith(f"-{os.getpid()}")


def test_what_dask_sets_for_its_workers_is_undone(monkeypatch):
    """In a process of its own, since it cannot be read back: freed memory stays with the process again."""
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    assert undo_trimming()
    code = """
import sys
from spacy_mindroot.corpora.pipelines import undo_trimming
from spacy_mindroot.corpora.worker import _resident_bytes
if sys.argv[1] == "undo":
    assert undo_trimming()
blocks = [bytearray(100_000) for _ in range(300)]
before = _resident_bytes()
del blocks
print(before - _resident_bytes())
"""
    freed = {}
    for what in ("undo", "leave"):
        done = subprocess.run(
            [sys.executable, "-c", code, what],
            env={**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"},
            capture_output=True,
            text=True,
            check=True,
        )
        freed[what] = int(done.stdout)
    if platform.libc_ver()[0] == "glibc":
        assert freed["undo"] < 10_000_000 < freed["leave"]


def test_without_glibc_it_can_not_be_undone(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert not undo_trimming()

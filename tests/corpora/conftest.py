import pytest
from corpora_helpers import make_model

from spacy_mindroot.corpora.output import PARTS, RECORDS


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The folder of a small pipeline: sentencizer, arc_scorer and mind_root."""
    return make_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="session")
def words_model(tmp_path_factory):
    """The folder of a small pipeline for Docs that are single sentences."""
    return make_model(tmp_path_factory.mktemp("model") / "words", senter=False)


@pytest.fixture
def out(tmp_path):
    """The folder of the output of a shard."""
    for name in (PARTS, RECORDS):
        (tmp_path / "out" / name).mkdir(parents=True)
    return tmp_path / "out"

"""The simulated annotator, through the real page and through its stand-in."""

import json
import shutil

import pytest

pytest.importorskip("uvicorn", reason="needs the extra annotate")

from corpora_helpers import make_model

from benchmarks.annotation import CHROMIUM, Done, blank, latency, rows, run_all
from benchmarks.runs import read_runs
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.conllu.columns import HEAD


@pytest.fixture
def with_parser(tmp_path, checkout):
    """A folder for each run, in which a parser is kept as from an earlier one."""

    def make(name):
        folder = tmp_path / name / "test.conllu.annotation"
        folder.mkdir(parents=True)
        make_model(folder / "model", senter=False)
        (folder / "trained.json").write_text(json.dumps({"model": None, "sentences": 3}))
        return tmp_path / name

    return make


def annotated(folder, checkout, *, browser, sentences=2):
    treebank = checkout / "assets" / "treebank" / "test.conllu"
    return run_all(treebank, sentences, folder, folder / "results.jsonl", 0, browser=browser)


def test_the_stand_in_makes_every_sentence_as_the_gold_file_has_it(with_parser, checkout):
    folder = with_parser("one")
    stopped = annotated(folder, checkout, browser=False, sentences=3)
    found = [next(stopped)]
    stopped.close()
    found += annotated(folder, checkout, browser=False, sentences=3)
    assert [each.number for each in found] == [0, 1, 2], "the second run goes on where the first has ended"
    assert [Done(**each) for each in read_runs(folder / "results.jsonl")] == found
    gold = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    for own, other in zip(read_conllu(folder / "test.conllu"), gold, strict=False):
        assert (own.heads, own.labels) == (other.heads, other.labels)
    for each in found:
        assert 0 < each.single <= each.decisions <= each.wrong + each.tokens
        assert each.of_heads_single <= each.of_heads <= each.decisions < each.keys
        assert each.trained == 3


@pytest.mark.skipif(not any(map(shutil.which, CHROMIUM)), reason="needs Chromium: apt-get install chromium")
def test_the_real_page_takes_as_many_keys_as_its_stand_in(with_parser, checkout):
    pytest.importorskip("playwright", reason="needs playwright")
    direct = list(annotated(with_parser("direct"), checkout, browser=False))
    real = list(annotated(with_parser("real"), checkout, browser=True))
    assert all(each.milliseconds for each in real)
    assert [Done(**vars(each) | {"milliseconds": []}) for each in real] == direct
    assert list(latency(real))


def test_words_alone_are_left(checkout):
    sentence = next(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    empty = blank(sentence)
    assert empty.words == sentence.words and empty.comments == sentence.comments
    assert set(empty.column(HEAD)) == {"_"} and set(sentence.column(HEAD)) != {"_"}


def test_shares():
    runs = [Done(0, 10, 0, wrong=10, decisions=10, single=1, keys=40), Done(1, 10, 9, 4, 2, 4, 3, 2, 2, 10)]
    *parts, total = rows(runs, (1, 50))
    assert [part[0] for part in parts] == ["1 to 1", "2 to 2"]
    assert total == ("1 to 2", "20", "0.70", "0.70", "0.29", "0.10", "0.10", "1.00", "2.50")

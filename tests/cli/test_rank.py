"""`spacy mindroot rank`: the order, the CoNLL-U and the JSON lines."""

import json

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_mindroot.conllu import read_conllu, sentence_to_doc
from spacy_mindroot.inference import Calibration

# The longer a word, the surer its head.
CORPUS = """# sent_id = sure
# note = kept
1\taaaaaaaaaaaa\tlemma\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tbbbbbbbbbbbb\t_\tVERB\t_\t_\t_\t_\t_\t_

# sent_id = doubtful
1-2\tcd\t_\t_\t_\t_\t_\t_\t_\t_
1\tc\t_\tNOUN\t_\t_\t_\t_\t_\t_
2\td\t_\tVERB\t_\t_\t0\troot\t_\t_
3\teeeeeeeeeeee\t_\tVERB\t_\t_\t2\tobj\t_\t_

# sent_id = between
1\tffff\t_\tNOUN\t_\t_\t0\troot\t_\t_
2\tgggg\t_\tVERB\t_\t_\t1\tdep\t_\t_

"""


@Language.component("test_rank_scores")
def scores_of_words(doc):
    n = len(doc)
    scores = np.zeros((n, n + 1))
    for i, token in enumerate(doc):
        scores[i, i] = len(token.text)  # the word before, or ROOT
    doc._.arc_scores = [scores]
    doc._.arc_labels = [np.ones((n, n + 1), dtype=np.uint8)]
    doc._.arc_label_names = ["ROOT", "arc"]
    return doc


@pytest.fixture
def files(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("test_rank_scores")
    nlp.add_pipe("mind_root")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "corpus.conllu").write_text(CORPUS, "utf8")
    return tmp_path


def rank(files, *arguments, corpus="corpus.conllu"):
    names = ["mindroot", "rank", str(files / "model"), str(files / corpus), *map(str, arguments)]
    return CliRunner().invoke(app, names)


def ranked(files, *arguments, **options):
    result = rank(files, "--out", files / "out.conllu", "--report", files / "out.jsonl", *arguments, **options)
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in (files / "out.jsonl").read_text("utf8").splitlines()]
    return result, list(read_conllu(files / "out.conllu")), records


def test_sentences(files):
    result, sentences, records = ranked(files)
    assert [sentence.sent_id for sentence in sentences] == ["doubtful", "between", "sure"]
    assert [record["id"] for record in records] == ["doubtful", "between", "sure"]
    assert sentences[0].comments[1] == "# rank = 1" and "# tokens_to_read = 3" in sentences[0].comments
    assert sentences[0].multiword_tokens()[0][2][1] == "cd" and "# note = kept" in sentences[2].comments
    assert sentences[2].column(9)[0].startswith("HeadProb=1.0000|") and "|SpaceAfter=No" in sentences[2].column(9)[0]
    assert sentences[0].heads == [0, 1, 2]  # parsed anew
    record = records[0]
    assert record["expected_errors"] == pytest.approx(
        sum(1 - token["head_prob"] for token in record["tokens"]), abs=1e-3
    )
    assert f"# expected_errors = {record['expected_errors']:.2f}" in sentences[0].comments
    assert {"next_head", "next_prob", "next_deprel", "deprel"} <= record["tokens"][0].keys()
    assert "doubtful" in result.stdout and "7 tokens to read" in result.stdout


def test_a_sentence_whose_set_is_one_tree_needs_no_reading(files):
    assert "Calibrate it" in rank(files, "--coverage", 0.9).stderr
    nlp = spacy.load(files / "model")
    nlp.get_pipe("mind_root").calibration = Calibration(tree_set_thresholds={"90": 0.3})
    nlp.to_disk(files / "model")
    result, sentences, records = ranked(files, "--coverage", 0.9)
    trees = {record["id"]: record["trees_in_set"] for record in records}
    assert trees["sure"] == 1 < trees["doubtful"]
    assert f"# trees_in_set = {trees['doubtful']}" in sentences[0].comments
    single = [record for record in records if record["trees_in_set"] == 1]
    tokens = sum(record["tokens_to_read"] for record in single)
    assert f"sets of {len(single)} sentences ({tokens} tokens) have one tree" in " ".join(result.stdout.split())
    assert rank(files, "--coverage", 0.3).exit_code == 2


def test_tokens(files):
    _, sentences, records = ranked(files, "--by", "token", "--most", 3)
    assert [(record["rank"], record["id"]) for record in records] == [(1, "doubtful"), (2, "doubtful"), (3, "between")]
    assert [record["head_prob"] for record in records] == sorted(record["head_prob"] for record in records)
    assert [sentence.sent_id for sentence in sentences] == ["doubtful", "between"]
    marked = [cell.split("|")[-1] for cell in sentences[0].column(9)]
    assert sorted(marked)[1:] == ["Rank=1", "Rank=2"] and "NextHead=" in sentences[0].column(9)[0]


def test_given_heads_stay_and_are_not_ranked(files):
    _, sentences, records = ranked(files, "--given")
    by_name = {sentence.sent_id: sentence for sentence in sentences}
    assert by_name.keys() == {"doubtful", "sure"}  # all of "between" is given
    assert by_name["doubtful"].heads[1:] == [0, 2] and by_name["doubtful"].labels[1:] == ["root", "obj"]
    assert [token.get("given", False) for token in records[0]["tokens"]] == [False, True, True]
    assert by_name["doubtful"].column(9)[1] == "_"
    (files / "corpus.conllu").write_text(CORPUS.split("\n\n")[2] + "\n\n", "utf8")
    result = rank(files, "--given")
    assert result.exit_code == 1 and "nothing to rank" in result.stderr


def test_spacy_files_and_surface_tokens(files):
    nlp = spacy.blank("en")
    docs = [sentence_to_doc(nlp.vocab, sentence) for sentence in read_conllu(files / "corpus.conllu")]
    DocBin(docs=docs).to_disk(files / "corpus.spacy")
    _, sentences, _ = ranked(files, corpus="corpus.spacy")
    assert {"corpus-1-1", "corpus-3-1"} < {sentence.sent_id for sentence in sentences}
    assert "HeadProb=" in sentences[0].column(9)[0]
    _, sentences, _ = ranked(files, "--surface-tokens")
    assert {"cd", "eeeeeeeeeeee"} in [set(sentence.words) for sentence in sentences]


def test_criterion_and_standard_output(files):
    result = rank(files, "--criterion", "errors", "--most", 1, "--out", "-")
    assert result.exit_code == 0 and result.stdout.startswith("# sent_id = doubtful") and "rank" in result.stderr
    for arguments in (("--by", "word"), ("--criterion", "x")):
        assert rank(files, *arguments).exit_code == 2


def test_nothing_is_written_after_an_error(files):
    (files / "corpus.conllu").write_text("1\ta\n", "utf8")
    result = rank(files, "--out", files / "out.conllu")
    assert result.exit_code == 1 and not (files / "out.conllu").exists() and "Nothing was written." in result.stderr


def test_a_text_is_divided_by_the_pipeline(files):
    """Into paragraphs by empty lines, into sentences and tokens by the pipeline, whatever lines end where."""
    nlp = spacy.load(files / "model")
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(files / "model")
    (files / "new.txt").write_text("aaaa\nbbbb. cc dd.\n \n\neeeeee ff.\n", "utf8")
    _, sentences, records = ranked(files, corpus="new.txt")
    texts = {each.sent_id: each.comments[1] for each in sentences}
    expected = {"new-1-1": "aaaa bbbb.", "new-1-2": "cc dd.", "new-2-1": "eeeeee ff."}
    assert texts == {name: f"# text = {text}" for name, text in expected.items()}
    assert {record["id"]: len(record["tokens"]) for record in records} == {"new-1-1": 3, "new-1-2": 3, "new-2-1": 3}
    assert all(sentence.heads[0] == 0 for sentence in sentences)
    result = rank(files, "--given", corpus="new.txt")
    assert result.exit_code == 1 and "CORPUS is a text" in result.stderr
    (files / "empty.txt").write_text(" \n\n", "utf8")
    result = rank(files, corpus="empty.txt")
    assert result.exit_code == 1 and "no words in" in result.stderr

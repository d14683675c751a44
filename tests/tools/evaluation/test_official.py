"""The CoNLL 2018 script, called as a library."""

import builtins
import subprocess
import sys

import pytest
from conllu_samples import sentences_in

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import CorpusError, MissingPackageError
from spacy_mindroot.tools.evaluation import official
from spacy_mindroot.tools.evaluation.official import METRICS, official_scores

pytest.importorskip("udtools", reason="the script needs the extra `evaluate`")

GOLD = """# text = Nous allons au marché.
1\tNous\tnous\tPRON\tP\tNumber=Plur|Odd=Yes\t2\tnsubj\t_\t_
2\tallons\taller\tVERB\tV\t_\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\tA\t_\t5\tcase\t_\t_
4\tle\tle\tDET\tD\t_\t5\tdet\t_\t_
5\tmarché\tmarché\tNOUN\tN\tNumber=Sing\t2\tobl:arg\t_\tSpaceAfter=No
5.1\tx\tx\t_\t_\t_\t_\t_\t2:obl\t_
6\t.\t.\tPUNCT\tZ\t_\t2\tpunct\t5.1:x\t_

"""


def score(system, gold=GOLD):
    return official_scores(sentences_in(gold), sentences_in(system))


def test_gold_against_itself():
    scores = score(GOLD)
    assert list(scores) == list(METRICS)
    assert {each.f1 for each in scores.values()} == {1.0}
    assert scores["Sentences"].aligned is None and scores["LAS"].aligned == 1.0


def test_words_of_a_multiword_token_are_wrong_if_it_is_not_split():
    system = GOLD.replace("3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_\n3\tà\tà\tADP\tA\t_\t5", "3\tau\tau\tADP\tA\t_\t4")
    system = system.replace("4\tle\tle\tDET\tD\t_\t5\tdet\t_\t_\n5\t", "4\t").replace("\n6\t", "\n5\t")
    system = system.replace("5.1\tx\tx\t_\t_\t_\t_\t_\t2:obl\t_\n", "").replace("5.1:x", "_")
    scores = score(system)
    assert scores["Tokens"].f1 == 1.0
    assert (scores["Words"].precision, scores["Words"].recall) == (4 / 5, 4 / 6)
    assert scores["UAS"].aligned == 1.0


@pytest.mark.parametrize(
    "old, new, lower",
    [
        ("obl:arg", "obl", set()),  # subtypes do not count
        ("Odd=Yes", "Odd=No", set()),  # nor features that are not universal
        ("obl:arg", "obj", {"LAS", "CLAS", "MLAS", "BLEX"}),
        ("\tZ\t", "\tQ\t", {"XPOS", "AllTags"}),
        ("\taller\t", "\tall\t", {"Lemmas", "BLEX"}),
        ("Number=Sing", "Number=Plur", {"UFeats", "AllTags", "MLAS"}),
        ("2\tpunct", "5\tpunct", {"UAS", "LAS"}),
    ],
)
def test_what_each_metric_counts(old, new, lower):
    scores = score(GOLD.replace(old, new))
    assert {name for name, each in scores.items() if each.f1 < 1} == lower


def test_enhanced_dependencies_are_not_read():
    assert score(GOLD.replace("5.1:x", "nonsense"))["LAS"].f1 == 1


def test_empty_columns_of_gold_are_left_out():
    empty = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    assert set(METRICS) - set(score(empty, empty)) == {"UPOS", "XPOS", "Lemmas"}
    assert score(empty.replace("a\t_\t_", "a\tb\tX"), empty)["LAS"].f1 == 1


def test_several_roots_are_scored():
    assert score(GOLD.replace("2\tpunct", "0\troot"))["UAS"].f1 == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("marché\tmarché", "marche\tmarché", "concatenation of tokens"),
        ("2\tpunct", "_\tpunct", "in.conllu:9: line 9 has no HEAD"),
        ("2\tallons\taller\tVERB\tV\t_\t0", "2\tallons\taller\tVERB\tV\t_\t1", "cycle"),
    ],
)
def test_faults_are_named(old, new, says):
    with pytest.raises(ValueError, match=says):
        score(GOLD.replace(old, new))


def test_a_form_of_white_space_is_named():
    with pytest.raises(ValueError, match="white space in FORM"):
        score("1\t\u2003\t_\t_\t_\t_\t0\troot\t_\t_\n\n")


def test_a_cell_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin.conllu"
    path.write_bytes(GOLD.encode("utf8").replace("à\tà".encode(), b"\xe0\t\xe0"))
    with pytest.raises(ValueError, match="latin.conllu:5: line 5 is not UTF-8"):
        official_scores(list(read_conllu(path)), list(read_conllu(path)))


def test_deep_trees():
    """Deeper than Python's limit of recursion, which is as before afterwards."""
    limit = sys.getrecursionlimit()
    n = 2 * limit
    chain = "".join(f"{i}\ta\t_\t_\t_\t_\t{i + 1 if i < n else 0}\tdep\t_\t_\n" for i in range(1, n + 1)) + "\n"
    assert score(chain, chain)["UAS"].f1 == 1
    assert sys.getrecursionlimit() == limit


def test_without_udtools(monkeypatch):
    real = builtins.__import__

    def fails(name, *args, **kwargs):
        if name.startswith("udtools"):
            raise ImportError("No module named 'udtools'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fails)
    with pytest.raises(MissingPackageError, match=r"pip install 'spacy-mindroot\[evaluate\]'"):
        score(GOLD)


def test_the_package_does_without_udtools_otherwise():
    code = f"import sys, {official.__name__}; sys.exit('udtools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_it_is_the_script(checkout, tmp_path):
    """The same figures as `udeval` prints, for a file with other labels and heads."""
    path = checkout / "assets" / "treebank" / "test.conllu"
    other = tmp_path / "system.conllu"
    other.write_text(path.read_text("utf8").replace("\tobj\t", "\tobl\t").replace("\tdet\t", "\tcase\t"), "utf8")
    script = (
        "import sys; from udtools import udeval; "
        "gold, system = map(udeval.load_conllu_file, sys.argv[1:]); "
        "print(udeval.build_evaluation_table(udeval.evaluate(gold, system)))"
    )
    command = [sys.executable, "-c", script, str(path), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = {line.split("|")[0].strip(): line.split("|")[3].strip() for line in done.stdout.splitlines() if "|" in line}
    own = official_scores(list(read_conllu(path)), list(read_conllu(other)))
    assert own["LAS"].f1 < 1
    assert {name: f"{100 * each.f1:.2f}" for name, each in own.items()} == {name: table[name] for name in own}


def test_errors_are_of_this_package():
    assert issubclass(MissingPackageError, ValueError) and issubclass(CorpusError, ValueError)

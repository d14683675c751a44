"""Graphs of Grew, and the trees of the users of ArboratorGrew."""

import copy
import json

import pytest
from conllu_samples import FULL, PLAIN, row, sentence

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.conllu.exchange import newest_trees, to_grew, trees_of_users, with_grew
from spacy_mindroot.errors import ConlluError

TEXT = (
    "# sent_id = a\n# text = They left du .\n1\tThey\tthey\tPRON\t_\tCase=Nom|Number=Plur\t2\tnsubj:x\t2:nsubj\t_\n"
    "2\tleft\tleave\tVERB\tV\t_\t0\troot\t0:root\tX=1|odd\n3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tde\tde\tADP\t_\t_\t4\tcase\t_\t_\n4\tle\tle\tDET\t_\t_\t2\tobl:arg@x\t_\t_\n4.1\tx\tx\tX\t_\t_\t_\t_\t2:dep\t_\n"
    "5\t.\t.\tPUNCT\t_\t_\t_\t_\t4.1:punct\t_\n\n"
)


def test_the_graph_of_a_sentence():
    graph = to_grew(sentence(TEXT))
    assert graph["meta"] == {"sent_id": "a", "text": "They left du ."}
    assert graph["order"] == ["0", "1", "2", "3", "4", "5"] and graph["nodes"]["0"] == {"form": "__0__"}
    assert graph["nodes"]["1"] == {
        "form": "They", "lemma": "they", "upos": "PRON", "Case": "Nom", "Number": "Plur",
    }  # fmt: skip
    assert graph["nodes"]["2"]["__RAW_MISC__"] == "X=1|odd"
    assert {"src": "2", "label": {"1": "nsubj", "2": "x"}, "tar": "1"} in graph["edges"]
    assert {"src": "2", "label": {"1": "nsubj", "enhanced": "yes"}, "tar": "1"} in graph["edges"]
    assert {"src": "2", "label": {"1": "obl", "2": "arg", "deep": "x"}, "tar": "4"} in graph["edges"]
    assert not any(edge["tar"] == "5" for edge in graph["edges"])


ODD = (
    "1\ta\t_\t_\t_\tfem\t_\tnsubj\t_\t_\n2\tb\t_\t_\t_\tA=1|A=2|form=x|odd\t0\troot\t_\t_\n"
    "3\tc\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.mark.parametrize("text", [TEXT, FULL, PLAIN, ODD])
def test_there_and_back_is_the_sentence(text):
    own = sentence(text)
    assert with_grew(own, json.loads(json.dumps(to_grew(own)))) == []
    assert own.to_bytes().decode() == text


def test_real_sentences_there_and_back(data):
    for path in sorted((data / "ud").glob("*/*-dev.conllu")):
        for own in list(read_conllu(path))[::40]:
            before = own.to_bytes()
            assert with_grew(own, json.loads(json.dumps(to_grew(own)))) == [] and own.to_bytes() == before


def test_what_grew_has_changed_is_written():
    own, graph = sentence(TEXT), to_grew(sentence(TEXT))
    graph["nodes"]["1"] |= {"Case": "Acc", "lemma": "x", "textform": "They"}
    del graph["nodes"]["1"]["Number"]
    graph["edges"] = [edge for edge in graph["edges"] if edge["tar"] not in ("3", "5")]
    graph["edges"].append({"src": "2", "label": "punct", "tar": "5"})
    assert with_grew(own, graph) == [1, 3, 5]
    expected = TEXT.replace("They\tthey", "They\tx").replace("Case=Nom|Number=Plur", "Case=Acc")
    expected = expected.replace("4\tcase", "_\t_").replace("_\t_\t4.1:punct", "2\tpunct\t4.1:punct")
    assert own.to_bytes().decode() == expected


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda graph: graph["nodes"].pop("3"), "line 3 begins a sentence of 5 words"),
        (lambda graph: graph.pop("nodes"), "begins a sentence of 5 words"),
        (lambda graph: graph["nodes"]["3"].update(form="du"), "line 6 is 'de', but 'du' in the graph"),
        (
            lambda graph: graph["edges"].append({"src": "1", "label": "x", "tar": "3"}),
            "line 6 has two heads .*, 4 and 1",
        ),
        (lambda graph: graph["edges"].append({"src": "9", "label": "x", "tar": "5"}), "the edge 9 -> 5"),
        (lambda graph: graph["edges"].append({"src": "1", "label": "x", "tar": "0"}), "the edge 1 -> 0"),
        (lambda graph: graph["edges"].append({"src": "1", "label": "x\ty", "tar": "5"}), r"line 9 has 'x\\ty' in"),
        (lambda graph: graph["nodes"]["3"].update(lemma="d\ne"), r"line 6 has 'd\\ne' in the graph, which no cell"),
        (lambda graph: graph["nodes"]["3"].update(lemma="\ud83d"), "which no cell"),
        (lambda graph: graph["nodes"]["3"].update(upos=7), "line 6 has 7 in the graph"),
        (lambda graph: graph["nodes"]["3"].update(Case="\r"), "which no cell"),
    ],
)
def test_another_graph_is_refused(change, says):
    own = sentence(TEXT)
    graph = copy.deepcopy(to_grew(own))
    change(graph)
    with pytest.raises(ConlluError, match=says):
        with_grew(own, graph)


def of_user(name, user, stamp):
    comments = f"# sent_id = {name}\n" + (f"# user_id = {user}\n" if user else "")
    return sentence(f"{comments}{f'# timestamp = {stamp}' + chr(10) if stamp else ''}{row(1, '0')}\n")


def test_what_grew_does_not_know_stays_beside_what_it_changes():
    own = sentence(ODD)
    graph = to_grew(own)
    graph["nodes"]["2"]["B"] = "3"
    assert with_grew(own, graph) == [2]
    assert own.to_bytes().decode() == ODD.replace("A=1|A=2|form=x|odd", "A=1|A=2|B=3|form=x|odd")
    graph["nodes"]["2"]["A"] = "4"
    assert with_grew(own, graph) == [2]
    assert own.to_bytes().decode() == ODD.replace("A=1|A=2|form=x|odd", "A=4|B=3|form=x|odd")


def test_trees_of_users_and_the_newest():
    own = [of_user("a", "ann", "1700000000.5"), of_user("b", "ann", "5"), of_user("a", "ben", "1700000001"),
           of_user("b", "", ""), of_user("c", "", "")]  # fmt: skip
    users = trees_of_users(own)
    assert {user: len(trees) for user, trees in users.items()} == {"ann": 2, "ben": 1, "": 2}
    assert newest_trees(own) == [own[2], own[1], own[4]]
    with pytest.raises(ConlluError, match="the timestamp 'noon' is no number"):
        newest_trees([of_user("a", "ann", "noon")])
    with pytest.raises(ConlluError, match="without a comment sent_id"):
        newest_trees([sentence(f"{row(1, '0')}\n")])

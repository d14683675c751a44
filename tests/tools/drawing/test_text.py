"""Trees as text."""

from spacy_mindroot.tools.drawing.text import side_by_side, tree_lines


def test_dependents_stand_under_their_head_in_the_order_of_the_sentence():
    words = ["Sold", "out", ",", "sorry", ",", "come", "tomorrow", "."]
    heads = [0, 1, 4, 6, 6, 1, 6, 1]
    labels = ["root", "compound:prt", "punct", "discourse", "punct", "parataxis", "advmod", "punct"]
    assert tree_lines(words, heads, labels, marked=[4, 6]) == [
        "ROOT",
        "└─ Sold (root)",
        "   ├─ out (compound:prt)",
        "   ├─ come (parataxis) *",
        "   │  ├─ sorry (discourse) *",
        "   │  │  └─ , (punct)",
        "   │  ├─ , (punct)",
        "   │  └─ tomorrow (advmod)",
        "   └─ . (punct)",
    ]


def test_several_roots_and_none():
    assert tree_lines(["a", "b"], [0, 0], ["x", "y"]) == ["ROOT", "├─ a (x)", "└─ b (y)"]
    assert tree_lines([], [], []) == ["ROOT"]


def test_a_chain_of_thousands_is_no_recursion():
    n = 5000
    assert len(tree_lines(["w"] * n, list(range(n)), ["x"] * n)) == n + 1


def test_side_by_side():
    assert side_by_side(["a", "bcd"], ["x", "y", "z"]) == ["a      x", "bcd    y", "       z"]
    assert side_by_side([], ["x"]) == ["    x"]


def test_words_can_not_steer_the_terminal():
    lines = tree_lines(["\x1b[2J", "a\u202eb"], [0, 1], ["root", "x\ny"])
    assert lines[1:] == ["└─ \\u001b[2J (root)", "   └─ a\\u202eb (x\\u000ay)"]

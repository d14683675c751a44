"""The answer in what a language model has written."""

import json

import pytest

from spacy_mindroot.answers.text import find_answer

WHOLE = {"words": ["They", "left", "."], "heads": [2, 0, 12], "deprels": ["nsubj", "root", "punct"]}
TEXT = json.dumps(WHOLE)


@pytest.mark.parametrize(
    ("text", "found", "what"),
    [
        (TEXT, WHOLE, ""),
        (f"\n {TEXT}\n", WHOLE, ""),
        (f"```json\n{TEXT}\n```", WHOLE, ""),
        (f"```\n{TEXT}\n```", WHOLE, ""),
        (f"Sure! ```json\n{TEXT}\n```", WHOLE, "text around"),
        (f"Here [1] you are {{ok}}: {TEXT} Anything else [2]?", WHOLE, "text around"),
        (f'The words ["They", "left"] have {TEXT}.', WHOLE, "text around"),
        ('{"heads": [0, 1]}? No: {"heads": [2, 0]}', {"heads": [2, 0]}, "text around"),
        ("[2, 0, 2]", [2, 0, 2], ""),
        ('["2", "0"]', ["2", "0"], ""),
        ("I can't do that.", None, ""),
        ("", None, ""),
        ('["They", "left"]', None, ""),
        ("{", None, ""),
        ("[" * 100_000, None, ""),
        ("[}" * 1000, None, ""),
        ('{"heads": [2, 0, 2,]} and so on, and on', {"heads": [2, 0, 2]}, "truncated"),
    ],
)
def test_what_is_found(text, found, what):
    assert find_answer(text) == (found, what)


def test_every_truncation_gives_complete_values_of_the_answer():
    """Numbers, words and labels at the cut are left out: 1 is not 12."""
    seen = set()
    for end in range(1, len(TEXT)):
        found, what = find_answer(f"Well:\n{TEXT[:end]}")
        if found is None:
            continue
        assert what == "truncated"
        seen.add(json.dumps(found))
        for name, values in found.items():
            assert values == WHOLE[name][: len(values)]
    assert len(seen) >= 8


def test_rows_of_conllu():
    rows = "".join(f"{k}\tw{k}\t_\tX\t_\t_\t{k - 1}\tdep\t_\t_\n" for k in (1, 2))
    tokens = [{"id": str(k), "form": f"w{k}", "head": str(k - 1), "deprel": "dep"} for k in (1, 2)]
    assert find_answer(f"# text = w1 w2\n{rows}") == (tokens, "")
    assert find_answer(f"```conllu\n{rows}```") == (tokens, "")
    assert find_answer(f"Here it is:\n{rows}\n{rows}") == (tokens, "text around")
    assert find_answer(rows.replace("\t_\t_\n", "\n")) == (None, "")


@pytest.mark.parametrize("text", ['{"a": ' * 50_000, "[" * 1_000_000, '"' * 1_000_000, "[1," * 200_000, "{}" * 200_000])
def test_hostile_text_comes_to_an_end(text):
    assert find_answer(text)[1] in ("", "truncated")

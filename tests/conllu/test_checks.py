"""What a line of CoNLL-U may be: every fault is described, and named by its line."""

import io
import re
from itertools import product

import pytest
from conllu_samples import PLAIN, pieces, row
from udtools import Validator
from udtools.state import State

from spacy_mindroot.conllu import Sentence, read_conllu, read_pieces
from spacy_mindroot.errors import ConlluError


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (row(1, columns=9), "in.conllu:1: line 1 has 9 columns, expected 10"),
        (PLAIN + "# c\n" + row(1) + row(2, columns=8), "in.conllu:6: line 6 has 8 columns"),
        (row(1).replace("\t", " "), "separated by spaces"),
        (row(1).replace("\tX\t", "\tX "), "9 columns.* separated by spaces"),
        (row(1)[:-1] + "\t\n", "11 columns, .*; there is a tab at its end[.]$"),
        (row(1)[:-1] + "\t\t\r\n", "12 columns, .*; there is a tab at its end[.]$"),
        ("\t" + row(1), "11 columns, .*; there is a tab at its beginning[.]$"),
        (row(1).replace("\tX", "\t\tX"), "11 columns, .*; there are two tabs in a row[.]$"),
        (row(1)[:-1] + "\t*\n", "11 columns, .*# global.columns = "),
        (row(1).replace("\ta\ta", "\t\ta"), "line 1 has an empty FORM"),
        (row(1) + row(2).replace("\ta\ta", "\t\ta") + row(3) + row(5), "line 2 has an empty FORM.*\n.*line 4 has ID"),
        (row("1-2").replace("\ta\ta", "\t\ta") + row(1) + row(2), "line 1 has an empty FORM"),
        (
            row(1) + "2\ta\n\ta\tX\t_\t_\t0\tdep\t_\t_\n",
            "2: line 2 has 2 columns.*\n.*3: line 3 has 9 columns.*line break",
        ),
        (row(1) + row(3), "line 2 has ID '3', but the next word is 2"),
        (row(1) + row(1), "line 2 has ID '1', but the next word is 2"),
        (row("01"), "has ID '01'"),
        (row("a"), "has ID 'a'"),
        (row("2-3") + row(1), "line 1 has ID '2-3', but the next word is 1"),
        (row("1-3") + row(1) + row(2), "line 1 is a multiword token up to word 3, but the sentence has 2 words"),
        (row("1-2") + row(1) + row("2-3") + row(2) + row(3), "3 has ID '2-3', which overlaps the multiword token 1-2"),
        (row("1-3") + row("2-3") + row(1) + row(2) + row(3), "2 has ID '2-3', which overlaps the multiword token 1-3"),
        (row("1-2") + row("1-2") + row(1) + row(2), "line 2 has ID '1-2', which overlaps the multiword token 1-2"),
        (row("2-1") + row(1) + row(2), "line 1 has ID '2-1', a reversed range"),
        (row(1) + row("3-2") + row(2) + row(3), "line 2 has ID '3-2', a reversed range"),
        (row("1-0") + row(1), "has ID '1-0'"),
        (row(1) + row("2.1"), "line 2 has ID '2.1'; an empty node here is 1.1"),
        (row(1) + row("1.1") + row("1.3"), "an empty node here is 1.2"),
        (row(1) + row("2-3") + row("1.1") + row(2) + row(3), "line 3 has ID '1.1', .* before the multiword token 2-3"),
        (row("1-1") + row("0.1") + row(1), "line 2 has ID '0.1', .* before the multiword token 1-1"),
        (row(1, "x"), "line 1 has HEAD 'x', which is not a number"),
        (row(1, "1-2"), "line 1 has HEAD '1-2', which is a multiword token. HEAD is one of its words, or 0"),
        (row(1, "0.1"), "line 1 has HEAD '0.1', which is an empty node. HEAD is a word, or 0; only DEPS"),
        (row(1, "1.1"), "line 1 has HEAD '1.1', which is an empty node"),
        (row(1, "1-"), "line 1 has HEAD '1-', which is not a number"),
        (row(1, ""), "line 1 has HEAD ''"),
        (row(1) + "# c\n" + row(2, "1"), "line 2 is a comment inside a sentence"),
        (row(1) + "  \n" + row(1), "line 2 is white space"),
        (row(1, columns=3) + row(2) + row(3, columns=4), "line 1 has 3 columns.*\n.*line 3 has 4 columns"),
    ],
)
def test_faults_are_named_by_line(text, says):
    with pytest.raises(ConlluError) as caught:
        pieces(text + "\n")
    assert re.search(says, str(caught.value), flags=re.S), str(caught.value)


@pytest.mark.parametrize("head", ["3", "-1", "99999999999"])
def test_heads_beyond_the_sentence(head, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(PLAIN + row(1) + row(2, head) + "\n")
    with pytest.raises(ConlluError, match=f"x.conllu:5: line 5 has HEAD '{head}', but the sentence has 2 words"):
        list(read_conllu(path))


def test_the_order_of_ids_is_that_of_the_validator():
    """All sequences of up to five lines over some IDs are accepted or refused as at level 1 of `udvalidate`.

    We are stricter in one thing: the line of a multiword token comes directly before that of its first word.
    """
    validator = Validator(lang="ud", level=1, output=None)
    ids = ["1", "2", "1-2", "2-2", "2-1", "0.1", "1.1"]
    accepted = 0
    for length in range(1, 6):
        for sequence in product(ids, repeat=length):
            if not any(number in ("1", "2") for number in sequence):
                continue
            state = State()
            state.current_token_node_table = [row(number).rstrip("\n").split("\t") for number in sequence]
            state.sentence_line = 1
            good = validator.check_id_sequence(state) and validator.check_token_range_overlaps(state)
            following = dict(zip(sequence, sequence[1:], strict=False))
            good &= all(following.get(number) == number[0] for number in sequence if "-" in number)
            try:
                Sentence("f", 1, [row(number).encode() for number in sequence])
                found = True
            except ConlluError:
                found = False
            assert found == good, sequence
            accepted += found
    assert accepted >= 16


def test_a_byte_order_mark_inside_a_file_is_no_mark():
    with pytest.raises(ConlluError, match=r"line 3 has ID '\\ufeff1', but the next word is 1"):
        pieces(row(1) + "\n" + "\ufeff" + row(1) + "\n")


def test_a_text_is_said_to_be_one():
    with pytest.raises(
        ConlluError, match=r"line 1 has 1 column, .*If this file is a text, parse it first: spacy mindroot"
    ):
        list(read_pieces(io.BytesIO(b"They left.\n"), "new.txt"))
    with pytest.raises(ConlluError, match="line 2 has 1 column") as raised:
        list(read_pieces(io.BytesIO(b"# a = b\nThey left.\n"), "new.txt"))
    assert "parse it first" not in str(raised.value)

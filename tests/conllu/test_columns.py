"""CoNLL-U Plus: columns in any order and number, as the header names them."""

import pytest
from conllu_samples import PLAIN, joined, pieces, row

from spacy_mindroot.conllu import Sentence, repair_sentence
from spacy_mindroot.conllu.columns import DEPREL, FORM, HEAD, ID, LEMMA, MISC, Columns, read_header
from spacy_mindroot.errors import ConlluError

TEN = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
CUPT = f"# global.columns = {TEN} PARSEME:MWE\n"
BAD = row(1).replace("dep", "root") + row(2).replace("dep", "root") + "\n"  # two roots
MENDED = BAD.replace("2\ta\ta\tX\t_\t_\t0\troot", "2\ta\ta\tX\t_\t_\t1\tdep")


def sentences(text):
    return [piece for piece in pieces(text) if isinstance(piece, Sentence)]


def repaired(text):
    found = pieces(text)
    for piece in found:
        if isinstance(piece, Sentence):
            repair_sentence(piece)
    return joined(found).decode("utf8")


def test_cells_of_a_line():
    columns = Columns(["MINE", "HEAD", "FORM", "ID", "DEPREL"])
    assert len(columns) == 5 and columns.fault() == ""
    cells = columns.cells(b"m\t0\ta\t1\troot\r\n")
    assert [cells[column] for column in (ID, FORM, HEAD, DEPREL, LEMMA, MISC)] == [
        b"1",
        b"a",
        b"0",
        b"root",
        b"_",
        b"_",
    ]
    assert columns.cells(b"m\t0\ta\t1\n") == []
    assert columns.replaced(b"m\t0\ta\t1\troot\r\n", DEPREL, b"dep") == b"m\t0\ta\t1\tdep\r\n"
    assert columns.replaced(b"m\t0\ta\t1\troot", LEMMA, b"x") == b"m\t0\ta\t1\troot"
    assert columns.header() == "# global.columns = MINE HEAD FORM ID DEPREL"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (f"# global.columns = {TEN}\n", TEN),
        (f"#global.columns={TEN}\r\n", TEN),
        ("# global.columns = ID  FORM HEAD\tDEPREL", "ID FORM HEAD DEPREL"),
        ("# text = global.columns = ID", None),
        ("# global.columns", None),
        ("# sent_id = 1", None),
    ],
)
def test_headers(line, names):
    found = read_header(line.encode())
    assert (None if found is None else " ".join(found.names)) == names


def test_cupt():
    text = CUPT + "# source_sent_id = . . 1\n" + BAD.replace("\t_\n", "\t_\t1:VID\n") + BAD.replace("\t_\n", "\t_\t*\n")
    assert repaired(text) == text.replace(
        BAD.replace("\t_\n", "\t_\t1:VID\n"), MENDED.replace("\t_\n", "\t_\t1:VID\n")
    ).replace(BAD.replace("\t_\n", "\t_\t*\n"), MENDED.replace("\t_\n", "\t_\t*\n"))


def test_another_column_in_the_place_of_head_is_not_touched():
    """Ten columns, as plain CoNLL-U has, but not the same."""
    text = (
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS ORIGHEAD HEAD DEPREL MISC\n"
        "1\ta\ta\tX\t_\t_\t7\t0\troot\t_\n2\tb\tb\tX\t_\t_\t8\t0\troot\tK=v\n\n"
    )
    assert repaired(text) == text.replace("8\t0\troot", "8\t1\tdep")


def test_columns_in_any_order_with_ranges_empty_nodes_and_hashes():
    text = (
        "# global.columns = DEPREL FORM HEAD ID X\r\n# sent_id = s\r\n_\tab\t_\t1-2\tx\r\nroot\ta\t0\t1\t\r\n"
        "root\tb\t0\t2\ty\r\n_\te\t_\t2.1\tz\r\n#\t#\t1\t3\t#\r\n\r\n"
    )
    (found,) = sentences(text)
    assert found.words == ["a", "b", "#"] and found.labels == ["root", "root", "#"] and found.sent_id == "s"
    assert [(first, last, cells[FORM]) for first, last, cells in found.multiword_tokens()] == [(1, 2, "ab")]
    assert [cells[FORM] for cells in found.empty_nodes()] == ["e"]
    assert found.column(MISC) == ["_", "_", "_"]
    assert repaired(text) == text.replace("root\tb\t0", "dep\tb\t1")


@pytest.mark.parametrize("last", ["ID", "HEAD", "DEPREL", "FORM"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_end_belongs_to_no_column(last, end):
    names = [name for name in ("ID", "FORM", "HEAD", "DEPREL") if name != last] + [last]
    values = [
        {"ID": "1", "FORM": "a", "HEAD": "0", "DEPREL": "root"},
        {"ID": "2", "FORM": "b", "HEAD": "0", "DEPREL": "root"},
    ]
    lines = [f"# global.columns = {' '.join(names)}", *("\t".join(word[name] for name in names) for word in values)]
    text = end.join([*lines, "", ""])
    values[1].update(HEAD="1", DEPREL="dep")
    lines[2] = "\t".join(values[1][name] for name in names)
    assert repaired(text) == end.join([*lines, "", ""])
    assert repaired(text.rstrip("\r\n")) == end.join(lines)  # no line end at the end of the file


def test_a_header_holds_until_the_next():
    text = (
        "# a licence\n" + CUPT + "\n" + PLAIN.replace("\t_\n", "\t_\t*\n")  # alone, before an empty line
        + f"# global.columns = {TEN}\n# sent_id = 2\n" + PLAIN
        + "# global.columns = ID FORM HEAD DEPREL\n1\ta\t0\troot\n\n"
    )  # fmt: skip
    assert [len(found.columns) for found in sentences(text)] == [11, 10, 4]
    assert joined(pieces(text)).decode() == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# global.columns = ID FORM LEMMA\n1\ta\ta\n\n", "1: line 1 is the header '.*LEMMA' without HEAD and DEPREL"),
        ("# x\n# global.columns = FORM\na\n\n", "2: line 2 is the header .* without ID, HEAD and DEPREL"),
        ("# global.columns = id form head deprel\n\n", "without ID, FORM, HEAD and DEPREL"),
        ("# global.columns =\n1\ta\n\n", "without ID, FORM, HEAD and DEPREL"),
        (f"# global.columns = {TEN} HEAD\n" + PLAIN, "with HEAD more than once"),
        (CUPT + PLAIN, "line 2 has 10 columns, expected 11 .by the header `# global.columns`"),
        (PLAIN + "# sent_id = 2\n" + CUPT + PLAIN, "5: line 5 is a header that must be the first line"),
    ],
)
def test_headers_at_fault(text, says):
    with pytest.raises(ConlluError, match=f"in.conllu:{says}" if says[0].isdigit() else says):
        pieces(text)


def test_nothing_is_read_below_a_header_at_fault_but_after_the_next():
    import io

    from spacy_mindroot.conllu import read_pieces

    text = (
        "# global.columns = ID FORM DEPREL\n1\ta\troot\n\n" + "2\tx\ty\n\n" + CUPT + PLAIN.replace("\t_\n", "\t_\t*\n")
    )
    faults = []
    found = list(read_pieces(io.BytesIO(text.encode()), "f", faults.append))
    assert [isinstance(piece, Sentence) for piece in found] == [False, False, True]
    assert len(faults) == 1 and joined(found).decode() == text


NAMED = f"# global.columns = {TEN}\n"


@pytest.mark.parametrize("header", [NAMED, NAMED.replace("\n", "\r\n"), "# global.columns = DEPREL HEAD FORM ID\n"])
def test_columns_after_those_with_a_name_may_differ_by_sentence(header):
    """One for each predicate of the sentence, for example. All tools carry them along."""
    end = "\r\n" if "\r" in header else "\n"
    plus = [["root", "0", "a", "1"], ["root", "0", "b", "2"]]
    words = [line.split("\t") for line in BAD.splitlines() if line] if TEN in header else plus
    text = header + "".join(
        "".join("\t".join([*word, *["A0", "_", "V", "*"][:more]]) + end for word in words) + end for more in (1, 0, 4)
    )
    (first, _, last) = found = sentences(text)
    assert [len(each.columns) for each in found] == [len(words[0])] * 3 and joined(pieces(text)) == text.encode()
    assert first.words == last.words and last.labels == ["root", "root"] and last.heads == [0, 0]
    mended = repaired(text)
    assert mended != text and [line.count("\t") for line in mended.split(end)] == [
        line.count("\t") for line in text.split(end)
    ]
    assert mended.count("A0\t_\tV\t*") == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NAMED + row(1)[:-1] + "\tx\n" + row(2), "line 3 has 10 columns, but the first word of its sentence has 11"),
        (NAMED + row(1) + row(2)[:-1] + "\tx\n", "line 3 has 11 columns, but the first word of its sentence has 10"),
        (
            NAMED + row(1)[:-1] + "\t\n",
            "line 2 has 11 columns, expected 10 .by the header.*; there is a tab at its end",
        ),
        (NAMED + row(1).replace("\tX", "\t\tX"), "line 2 has 11 columns, .*; there are two tabs in a row"),
        (row(1)[:-1] + "\tx\n", "line 1 has 11 columns, expected 10 .*columns after those need no name"),
    ],
)
def test_further_columns_need_a_header_and_all_words(text, says):
    with pytest.raises(ConlluError, match=says):
        pieces(text + "\n")

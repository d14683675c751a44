"""Lexicon files: formats, comments, and what is wrong with a file."""

import gzip
import os

import pytest

from spacy_mindroot.arc_scorer.lexicon_files import LexiconFile
from spacy_mindroot.errors import CorpusError

FORMATS = {
    "columns": (
        "dogs\tdog\tNOUN\tNumber=Plur\nbe\tbe\tAUX\t_\n",
        [("dogs", "dog", "NOUN Number=Plur"), ("be", "be", "AUX")],
    ),
    "three columns": ("dogs\tdog\tNOUN\n", [("dogs", "dog", "NOUN")]),
    "UniMorph": ("dog\tdogs\tN;PL\ndog\tdog\tN\tdog\n", [("dogs", "dog", "N;PL"), ("dog", "dog", "N")]),
    "UniMorph, with the parts of the words": (
        "dog\tdogs\tN;PL\tdog|s\ngo\twent\tV;PST\twent\n",
        [("dogs", "dog", "N;PL"), ("went", "go", "V;PST")],
    ),
    "columns with a semicolon": (
        ";\t;\tPUNCT\n#b\t#b\tX\ndogs\tdog\tNOUN\n",
        [(";", ";", "PUNCT"), ("#b", "#b", "X"), ("dogs", "dog", "NOUN")],
    ),
    "columns with another file's tag": (
        "dogs\tdog\tN\ncats\tcat\tN;PL\nx\tx\tX\n",
        [("dogs", "dog", "N"), ("cats", "cat", "N;PL"), ("x", "x", "X")],
    ),
    "words that begin like comments": (
        "#metoo\t#metoo\tX\n#b\t#b\tX\ndogs\tdog\tNOUN\n",
        [("#metoo", "#metoo", "X"), ("#b", "#b", "X"), ("dogs", "dog", "NOUN")],
    ),
    "hunspell": (
        2000 * "zzz\n\n" + "dogs  st:dog po:noun ts:NOM is:PLUR\ndogs  st:dogs po:verb ts:PRES\n\n"
        "undog ip:PREF sp:un  st:dog po:noun\nunwell po:adj ds:un\n#b  st:#b po:noun\n",
        [
            ("dogs", "dog", "noun PLUR"),
            ("dogs", "dogs", "verb"),
            ("undog", "dog", "noun"),
            ("unwell", "unwell", "adj"),
            ("#b", "#b", "noun"),
        ],
    ),
    "lt-proc": (
        "^zzz/*zzz$ ^dogs/dog<n><pl>/dog<vblex><pres>$ [1] ^don't/do<vblex>+not<adv>$\n^a\\/b/a\\/b<n>$\n",
        [
            ("dogs", "dog", "<n><pl>"),
            ("dogs", "dog", "<vblex><pres>"),
            ("don't", "do", "<vblex>+<adv>"),
            ("a/b", "a/b", "<n>"),
        ],
    ),
    "hfst-lookup": (
        "the\tthe\t0.0\nzzz\tzzz+?\tinf\nzzz\tzzz\t+?\n\ndogs\tdog<n><pl>\t0.000000\ndon't\tdo<vblex>+not<adv>\t1,5\n\ndogs\tdog+N+Pl\t-2\n",
        [("dogs", "dog", "<n><pl>"), ("don't", "do", "<vblex>+<adv>"), ("dogs", "dog", "+N+Pl")],
    ),
    "columns with a plus and a number": ("a+b\ta+b\tX\t_\n2\t2+\tNUM\n", [("a+b", "a+b", "X"), ("2", "2+", "NUM")]),
    "expanded": (
        "dogs:dog<n><pl>\ndogz:>:dog<n><pl>\ndoggen:<:dog<n><pl>\nat 5:00:at 5\\:00<adv>\n:\n",
        [("dogs", "dog", "<n><pl>"), ("dogz", "dog", "<n><pl>")],
    ),
}


@pytest.fixture
def written(tmp_path):
    def write(data):
        path = tmp_path / "lexicon"
        path.write_bytes(data.encode("utf8") if isinstance(data, str) else data)
        return path

    return write


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text])
def test_formats_are_told_from_the_content(written, name, change):
    text, readings = FORMATS[name]
    assert [*LexiconFile(written(change(text)))] == readings


def test_compressed(written):
    text, readings = FORMATS["columns"]
    assert [*LexiconFile(written(gzip.compress(text.encode())))] == readings


def test_comments_name_source_and_licence(written):
    comments = "# Source: our words\n#LICENSE: CC BY 4.0\n# url: https://x.org\n# and more\n\n"
    file = LexiconFile(written(comments + "a\ta\tX\n# licence: mine\tb\tSYM\n"))
    assert file.about == {"source": "our words", "licence": "CC BY 4.0", "url": "https://x.org"}
    assert [reading.form for reading in file] == ["a", "# licence: mine"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is not a lexicon: it is empty"),
        ("a\ta+N\t0.0\nb\tb+N\n", r"line 2: expected a form, an analysis and a weight.*'b.tb\+N'"),
        ("dog\ncat\n", "is not a lexicon: its first line is 'dog'"),
        ("# licence: MIT\n", "is not a lexicon: its first line is '# licence: MIT'"),
        ("a\ta\tX\ndogs\tdog\n", "line 2: expected form, lemma, part of speech and features.*found 2 column\\(s\\)"),
        ("a\tb\tN;PL\na\tb\tc\td\te\n", "line 2: expected UniMorph's .* found 5 column\\(s\\)"),
        ("a\ta\tX\n\tdog\tNOUN\n", "line 2: there is no form"),
        ("a\ta\tX\ndogs\tdog\t\n", "line 2: there is no part of speech"),
        ("a\ta\tX\nb\t\0\tX\n", "line 2 has a NUL character"),
        ("a\ta\tX\n" + 20_000 * "b", "line 2 has 20,000 characters"),
        ("a\ta\tX\né\té\tX\n".encode("latin1"), "line 2 is not UTF-8"),
        ("a\ta\tX\n".encode("utf-16"), "this file is UTF-16"),
        (b"PK\x03\x04...", "this file is a zip archive"),
        (gzip.compress(b"a\ta\tX\n" * 1000, mtime=0)[:-9], "gzip data is damaged or incomplete"),
        (b"\x1f\x8bxxxxxxxxxxxxxxxxxx", "gzip data is damaged or incomplete"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(written, data, message):
    path = written(data)
    with pytest.raises(CorpusError, match=message) as caught:
        list(LexiconFile(path))
    assert str(path) in str(caught.value)


def test_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, message in (
        ("missing", "can't be read: No such file"),
        ("", "is not a regular file"),
        ("pipe", "is not a regular file"),
    ):
        with pytest.raises(CorpusError, match=message):
            LexiconFile(tmp_path / name)

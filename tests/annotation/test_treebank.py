"""The file: bytes that stay, changes by other programs, new sentences."""

import os

import pytest
from annotation_helpers import BLANK, DONE
from conllu_samples import FULL

from spacy_mindroot.annotation.treebank import ChangedError, Treebank, copied, new_sentences, text_of
from spacy_mindroot.errors import ConlluError

ODD = (
    "\ufeff# a comment alone\n\n\n"
    + FULL
    + "# sent_id = x\r\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n\n"
    + FULL.rstrip("\n")
).encode()


def with_head(sentence, head):
    sentence = copied(sentence)
    sentence.replace(1, 6, head)
    return sentence


def test_all_other_bytes_stay(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(ODD)
    treebank = Treebank(path)
    assert len(treebank) == 3
    treebank.replace(1, with_head(treebank[1], "0"))
    assert path.read_bytes() == ODD.replace(b"1\ta\t_\t_\t_\t_\t_", b"1\ta\t_\t_\t_\t_\t0")


def test_nothing_is_written_if_nothing_changes(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(ODD)
    treebank, before = Treebank(path), path.stat()
    treebank.replace(0, copied(treebank[0]))
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_what_another_program_wrote_is_not_overwritten(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK)
    treebank = Treebank(path)
    path.write_text(DONE)
    with pytest.raises(ChangedError, match="changed by another program"):
        treebank.replace(0, with_head(treebank[0], "2"))
    assert path.read_text() == DONE
    treebank.read()
    treebank.replace(0, with_head(treebank[0], "3"))
    assert path.read_text() == DONE.replace("They\t_\t_\t_\t_\t2", "They\t_\t_\t_\t_\t3")


def test_a_file_that_was_only_touched_or_rewritten_the_same_is_not_changed(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK)
    treebank = Treebank(path)
    os.utime(path, (1, 1))
    assert not treebank.is_changed()
    path.unlink()
    assert treebank.is_changed()
    path.write_text(BLANK)
    assert not treebank.is_changed()


def test_a_file_at_fault_is_not_overwritten(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK)
    treebank = Treebank(path)
    theirs = DONE.replace("They\t_\t_\t_\t_\t2", "They\t_\t_\t_\t_\t9")
    path.write_text(theirs)
    for _ in range(2):
        with pytest.raises(ConlluError, match="has HEAD '9'"):
            treebank.read()
        with pytest.raises(ChangedError):
            treebank.replace(0, with_head(treebank[0], "2"))
    assert path.read_text() == theirs and len(treebank) == 3


def test_keys_depend_on_words_and_their_number(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK + BLANK)
    blank = Treebank(path).keys
    assert len(set(blank)) == 6
    path.write_text(DONE + DONE)
    assert Treebank(path).keys == blank
    named = "# sent_id = a\n" + BLANK, "# sent_id = b\n" + BLANK
    path.write_text("".join(named))
    one, other = Treebank(path).keys[::3]
    path.write_text("".join(named[::-1]))
    assert Treebank(path).keys[::3] == [other, one], "a sentence with a name is known by it"


def test_an_empty_file_and_none_have_no_sentences_and_take_new_ones(tmp_path):
    path = tmp_path / "a.conllu"
    for _ in range(2):
        treebank = Treebank(path)
        assert len(treebank) == 0
        treebank.append(new_sentences([(["Hi", "!"], [False, False])], 1))
        assert path.read_text() == (
            "# sent_id = s1\n# text = Hi!\n1\tHi\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        )
        path.write_text("")


def test_new_sentences_come_after_one_without_an_end(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK.rstrip("\n"))
    treebank = Treebank(path)
    treebank.append(new_sentences([(["Hi"], [False])], 4))
    assert path.read_text() == BLANK + "# sent_id = s4\n# text = Hi\n1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert [len(each) for each in treebank] == [3, 3, 3, 1]


def test_faults_are_named(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(BLANK.replace("2\tleft", "7\tleft"))
    with pytest.raises(ConlluError, match="a.conllu:2"):
        Treebank(path)
    path.write_bytes(b"\x1f\x8b123")
    with pytest.raises(ConlluError, match="Unpack it"):
        Treebank(path)


def test_plus_columns_take_no_new_sentences(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text("# global.columns = ID FORM HEAD DEPREL\n1\ta\t_\t_\n\n")
    treebank = Treebank(path)
    with pytest.raises(ConlluError, match="columns of its own"):
        treebank.append(new_sentences([(["Hi"], [False])], 1))
    treebank.replace(0, with_head(treebank[0], "0"))
    assert path.read_text() == "# global.columns = ID FORM HEAD DEPREL\n1\ta\t0\t_\n\n"


def test_text_has_surface_forms(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(FULL)
    assert text_of(Treebank(path)[0]) == "Vámonos al mar."

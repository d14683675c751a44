"""The corpus of the fuzzers, and that each of their properties can fail."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from spacy_mindroot.conllu import Sentence
from spacy_mindroot.errors import ConlluError

from . import running, targets
from .mutation import mutated
from .targets import TARGETS


def run(checkout, *arguments):
    command = [sys.executable, "-m", "tests.fuzz", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_breaks_no_property(name, checkout):
    """In a process of its own, whose memory is limited."""
    done = run(checkout, name, "--seconds", "0")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_seed_gives_the_same_inputs(name):
    target = TARGETS[name]()
    first, second = (
        [mutated(target.seeds(), target.mutations, rng) for _ in range(50)]
        for rng in (random.Random(1), random.Random(1))
    )
    assert first == second
    assert len(set(first)) > 40


def found_by(name, data=None, tries=300):
    """Return the finding of a target in `data` or, without any, in random inputs."""
    target = TARGETS[name]()
    if data is not None:
        return running.check(target, data)
    rng = random.Random(3)
    seeds = target.seeds()
    for _ in range(tries):
        if found := running.check(target, mutated(seeds, target.mutations, rng)):
            return found
    return None


def test_a_reader_that_loses_a_byte_is_found(monkeypatch):
    monkeypatch.setattr(Sentence, "to_bytes", lambda self: b"".join(self.lines)[:-1])
    assert "the pieces are not the file" in str(found_by("conllu").error)


def test_an_error_of_python_is_found(monkeypatch):
    def read(file, source, on_fault=None):
        raise UnicodeDecodeError("utf8", b"", 0, 1, "never")

    monkeypatch.setattr(targets, "read_pieces", read)
    assert isinstance(found_by("conllu").error, UnicodeDecodeError)


def test_a_repair_that_does_nothing_is_found(monkeypatch):
    monkeypatch.setattr(targets, "repair_sentence", lambda sentence: [])
    assert "malformed after the repair" in str(found_by("repair").error)


def test_a_repair_that_changes_a_lemma_is_found(monkeypatch):
    honest = targets.repair_sentence

    def repair(sentence):
        changes = honest(sentence)
        if changes:
            sentence.replace(changes[0].word, 2, "other")
        return changes

    monkeypatch.setattr(targets, "repair_sentence", repair)
    assert "have changed" in str(found_by("repair").error)


def test_memory_out_of_proportion_is_found(monkeypatch):
    def read(path):
        return [] if bytearray(128 << 20) else []

    monkeypatch.setattr(targets, "read_score_file", read)
    assert "MiB to read a file of" in str(found_by("scores").error)


def test_an_endless_loop_is_found(monkeypatch):
    def read(path):
        while True:
            pass

    monkeypatch.setattr(running, "SECONDS_PER_INPUT", 1)
    monkeypatch.setattr(targets, "read_score_file", read)
    if not hasattr(running.signal, "setitimer"):
        pytest.skip("this system has no timer signals")
    assert isinstance(found_by("scores", b"").error, running.TooSlow)


def test_a_traceback_from_a_command_is_found(monkeypatch):
    def run(*arguments):
        raise KeyError("unexpected")

    for command in ("audit", "decode", "init_config", "repair", "vote"):
        monkeypatch.setattr(f"spacy_mindroot.cli.{command}.check_paths", run)
    assert "ends in a traceback" in str(found_by("files").error)


def test_conllu_that_does_not_read_back_is_found(monkeypatch):
    honest = Sentence.to_bytes
    monkeypatch.setattr(Sentence, "to_bytes", lambda self: honest(self).replace(b"\n", b"", 1))
    target = TARGETS["files"]()
    target.commands = {"repair": target.commands["repair"]}
    good = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    found = [running.check(target, number.to_bytes(target.prefix) + good) for number in range(80)]
    assert any(isinstance(each.error, ConlluError) for each in found if each)


def test_a_doc_that_loses_a_space_is_found(monkeypatch):
    honest = Sentence.spaces
    monkeypatch.setattr(Sentence, "spaces", lambda self: [False, *honest(self)[1:]])
    assert "a Doc that was read has another text" in str(found_by("docs").error)


def test_a_failure_is_written_and_can_be_checked_again(tmp_path, checkout, monkeypatch, capsys):
    from . import __main__ as command_line

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(targets, "repair_sentence", lambda sentence: [])
    monkeypatch.setattr(command_line, "limit_memory", lambda: None)
    monkeypatch.setattr(command_line, "replay", lambda target: {})
    monkeypatch.setattr(sys, "argv", ["fuzz", "repair", "--seconds", "20", "--seed", "1"])
    assert command_line.main() == 1
    (path,) = tmp_path.glob("found-repair-*")
    monkeypatch.setattr(sys, "argv", ["fuzz", "repair", "--input", str(path)])
    assert command_line.main() == 1
    assert "malformed after the repair" in capsys.readouterr().err


def test_the_search_under_rules_is_exact_on_random_sentences(monkeypatch):
    from . import rules_against_exhaustion

    valid = sum(rules_against_exhaustion.check(seed) for seed in range(150))
    assert 75 < valid < 150
    monkeypatch.setattr(rules_against_exhaustion, "weights_of_all_labelled_trees", lambda *_: np.array([1e3]))
    with pytest.raises(AssertionError):
        rules_against_exhaustion.check(1)

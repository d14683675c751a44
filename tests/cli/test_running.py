"""Signals and errors as every command handles them."""

import inspect
import os
import signal
import subprocess
import sys
import threading

import pytest
import typer

from spacy_mindroot.cli.running import command, raised_signals, written
from spacy_mindroot.errors import MindRootError

posix = pytest.mark.skipif(os.name != "posix", reason="the system has no such signals")


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_first_signal_is_raised_and_others_are_ignored_meanwhile(name):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt if name == "SIGINT" else SystemExit) as caught, raised_signals():
        try:
            os.kill(os.getpid(), number)
        finally:
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(os.getpid(), each)
    assert name == "SIGINT" or caught.value.code == 128 + number
    assert signal.getsignal(number) is before


@posix
def test_handlers_of_others_are_kept():
    seen = []
    before = signal.signal(signal.SIGHUP, lambda number, frame: seen.append(number))
    try:
        with raised_signals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert seen == [signal.SIGHUP]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_handlers_alone():
    found = []

    def work():
        with raised_signals():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


@posix
def test_a_clean_up_that_hangs_ends_all_the_same():
    code = (
        "import os, signal, threading\nfrom spacy_mindroot.cli import running\nrunning._GRACE = 0.1\n"
        "with running.raised_signals():\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n    finally:\n        threading.Event().wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert done.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"out": None, "report": None}, None),
        ({"out": "a", "report": None}, "Nothing was written."),
        ({"out": None, "report": "-"}, "Nothing was written."),
    ],
)
def test_a_command_says_that_nothing_was_written_if_something_was_asked_for(given, says, capsys):
    @command("out", "report")
    def fails(out, report):
        """The help."""
        raise MindRootError("no")

    assert fails.__doc__ == "The help."
    with pytest.raises(typer.Exit) as caught:
        fails(**given)
    assert caught.value.exit_code == 1
    assert capsys.readouterr().err.splitlines() == ["Error: no", *([says] if says else [])]


def test_the_docstring_has_the_help_of_options():
    @command()
    def runs(out=typer.Argument(None), most=typer.Option(1, help="Largest number")):
        """Write it.

        It runs.

        out: File to write, with a name that says
            what it is.
        """

    assert runs.__doc__ == "Write it.\n\nIt runs."
    found = inspect.signature(runs).parameters
    assert found["out"].default.help == "File to write, with a name that says what it is"
    assert found["most"].default.help == "Largest number"
    with pytest.raises(KeyError, match="of"):

        @command()
        def of():
            """of: The name of no parameter."""


def test_a_command_says_what_was_written_before_an_error(capsys):
    @command("out")
    def fails(out):
        written(out)
        raise OSError("too late")

    for _ in range(2):  # the first has no influence on the second
        with pytest.raises(typer.Exit):
            fails(out="a.npz")
        assert capsys.readouterr().err.splitlines() == ["Error: too late", "a.npz was written before that."]

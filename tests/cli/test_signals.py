"""Signals as exceptions."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from spacy_mindroot.cli.signals import raised_signals

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the system has no such signals")

NAMES = ("SIGTERM", "SIGHUP", "SIG_OF_NO_SYSTEM")


class Stopped(BaseException):
    pass


def test_the_first_signal_is_raised_and_others_are_ignored_meanwhile():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped) as caught, raised_signals(NAMES, Stopped):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
    assert caught.value.args == (signal.SIGTERM,)
    assert signal.getsignal(signal.SIGTERM) is before


def test_handlers_of_others_are_kept(monkeypatch):
    seen = []
    before = signal.signal(signal.SIGHUP, lambda number, frame: seen.append(number))
    try:
        with raised_signals(NAMES, Stopped):
            os.kill(os.getpid(), signal.SIGHUP)
        assert seen == [signal.SIGHUP]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_handlers_alone():
    found = []

    def work():
        with raised_signals(NAMES, Stopped):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


def test_a_clean_up_that_hangs_ends_all_the_same():
    code = (
        "import os, signal, threading\nfrom spacy_mindroot.cli import signals\nsignals._GRACE = 0.1\n"
        "with signals.raised_signals(('SIGTERM',), lambda number: SystemExit(0)):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n    finally:\n        threading.Event().wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert done.returncode == 128 + signal.SIGTERM

"""The start of a worker process."""

import signal
import threading

from spacy_mindroot.corpora.preload import dask_setup


def test_workers_ignore_an_interrupt():
    before = signal.getsignal(signal.SIGINT)
    try:
        thread = threading.Thread(target=dask_setup, args=(None,))  # as in a test of Dask's own
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGINT) is before
        dask_setup(None)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)

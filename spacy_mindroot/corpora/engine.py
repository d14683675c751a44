"""Runs shards: one after the other in this process, or on the workers of a Dask cluster.

Dask is imported only when it is used.
"""

from __future__ import annotations

import logging
import queue
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..errors import CorpusError, CountError, MindRootError
from .jobs import Job, Record, Settings, WorkerFacts
from .output import OutputError
from .sources import UnreadableInputError
from .worker import identify, parse_shard

__all__ = ["DaskEngine", "Engine", "Outcome", "local_client", "open_engine", "remote_client"]

_TICK = 1.0  # seconds between two looks at the cluster
_AHEAD = 2  # shards per worker that are submitted
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


@dataclass
class Outcome:
    """The outcome of a shard: a record, or the reason why it failed."""

    job: Job
    record: Record | None
    reason: str = ""
    killed: bool = False  # whether the shard is suspected of having killed its workers


class Engine:
    """Runs shards in this process, one after the other."""

    workers = 1

    def identify(self, model: str, settings: Settings, out: str) -> WorkerFacts:
        """Load the pipeline where shards are parsed, and return what it is."""
        return identify(model, settings, out)

    def run(self, jobs: Iterable[Job], tick: Callable[[], None]) -> Iterator[Outcome]:
        """Yield what becomes of each shard, in any order. Raise CorpusError if no further shard can be parsed.

        tick (Callable): Called about once a second while shards are being parsed, if that is possible.
        """
        for job in jobs:
            try:
                yield Outcome(job, parse_shard(job))
            except OutputError:  # every other shard would fail in the same way
                raise
            except Exception as error:
                yield Outcome(job, None, _reason(error))
            tick()


class DaskEngine(Engine):
    """Runs shards on the workers of a Dask cluster. An error in reading a shard is followed by some retries."""

    task = staticmethod(parse_shard)  # what a worker does with a job

    def __init__(self, client: Any, retries: int = 2) -> None:
        self.client = client
        self.retries = retries
        self.workers = 0
        self._counted = 0.0

    def identify(self, model: str, settings: Settings, out: str) -> WorkerFacts:
        """Load the pipeline on the first worker that there is. Wait for one."""
        future = self.client.submit(identify, model, settings, out, pure=False, retries=self.retries)
        try:
            facts = self._wait_for(future)
        except MindRootError:
            raise
        except Exception as error:  # a package is missing there, or the pipeline does not fit into memory
            raise CorpusError(
                f"A worker can't load {model} ({type(error).__name__}): {error}. All workers need the same packages "
                "as this command, the pipeline under the same name or path, and enough memory for it."
            ) from error
        assert isinstance(facts, WorkerFacts)
        return facts

    def _wait_for(self, future: Any) -> Any:
        from distributed import TimeoutError as DaskTimeoutError

        while True:
            self._check_connection()
            with suppress(DaskTimeoutError, TimeoutError):
                return future.result(timeout=_TICK)

    def _check_connection(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise CorpusError(
                "The connection to Dask's scheduler is lost. What is complete stays; run the same command again to "
                "parse the rest."
            )

    def run(self, jobs: Iterable[Job], tick: Callable[[], None]) -> Iterator[Outcome]:
        suspects: list[Job] = []
        for outcome in self._run(jobs, tick, most=None):
            if outcome.killed:  # or another shard, that was on the same workers
                suspects.append(outcome.job)
            else:
                yield outcome
        # Alone on the cluster, only the shard itself can be the reason why its worker dies.
        yield from self._run(suspects, tick, most=1)

    def _run(self, jobs: Iterable[Job], tick: Callable[[], None], most: int | None) -> Iterator[Outcome]:
        from distributed import KilledWorker

        waiting = iter(jobs)
        running: dict[Any, Job] = {}
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            while True:
                self._check_connection()
                self._count_workers()
                limit = most or max(1, self.workers) * _AHEAD
                for job in islice(waiting, max(0, limit - len(running))):
                    future = self.client.submit(self.task, job, pure=False, retries=self.retries)
                    running[future] = job
                    future.add_done_callback(finished.put)
                if not running:
                    return
                for future in _taken(finished):
                    job = running.pop(future)
                    try:  # fetching the record may fail as well, if its worker has died since
                        record = future.result()
                    except OutputError:
                        raise
                    except (Exception, CancelledError) as error:
                        yield Outcome(job, None, _reason(error), killed=isinstance(error, KilledWorker))
                    else:
                        yield Outcome(job, record)
                    del future
                tick()
        finally:
            if running:
                with suppress(Exception):
                    self.client.cancel(list(running), force=True)

    def _count_workers(self) -> None:
        """Ask the scheduler how many workers there are, at most once per tick."""
        now = time.monotonic()
        if self.workers and now - self._counted < _TICK:
            return
        self._counted = now
        with suppress(Exception):  # the connection is checked elsewhere
            self.workers = len(self.client.nthreads())


@contextmanager
def open_engine(
    *, workers: int | None = None, scheduler: str | None = None, client: Any = None, retries: int = 2
) -> Iterator[Engine]:
    """Yield what runs the shards: workers on this machine, a cluster, or this process if none is named."""
    for name, number, least in (("retries", retries, 0), ("workers", workers, 1)):
        if number is not None and number < least:
            raise CountError(f"{name} is {number}. It must be {least} or more.")
    if sum(given is not None for given in (workers, scheduler, client)) > 1:
        raise CorpusError("Either workers are started, or a cluster is used, not both. Name one of them.")
    if client is not None:
        opened: AbstractContextManager[Any] = nullcontext(client)
    elif scheduler is not None:
        opened = remote_client(scheduler)
    elif workers is not None:
        opened = local_client(workers, retries)
    else:
        yield Engine()
        return
    with opened as own:
        yield DaskEngine(own, retries)


def _taken(finished: queue.SimpleQueue[Any]) -> list[Any]:
    """Return what has finished. Wait for it, but no longer than a tick."""
    found = []
    with suppress(queue.Empty):
        found.append(finished.get(timeout=_TICK))
        while True:
            found.append(finished.get_nowait())
    return found


def _reason(error: BaseException) -> str:
    name = type(error).__name__
    if name == "KilledWorker":
        times = getattr(error, "allowed_failures", 0) + 1
        return f"its worker died {times} time{'s' if times > 1 else ''} in a row, perhaps for lack of memory"
    if isinstance(error, UnreadableInputError):
        return str(error)
    return f"{name}: {str(error) or 'no message'}"


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise CorpusError("Several processes need Dask: pip install 'spacy-mindroot[dask]'") from error
    return distributed


@contextmanager
def local_client(workers: int, retries: int) -> Iterator[Any]:
    """Start workers on this machine, one process each, and yield their client.

    A worker that dies is started again, and its shard is tried again, as often as `retries` says. One that takes more
    than its share of the machine's memory is ended.
    """
    distributed = _distributed()
    import dask

    settings = {
        # By default, there is also MALLOC_TRIM_THRESHOLD_, with which a parser takes much more CPU time.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(_ONE_THREAD, "1"),
        "distributed.scheduler.allowed-failures": retries,
        # A worker must not wait for memory to become free that its pipeline takes.
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.profile.enabled": False,  # what it collects grows for an hour
        "distributed.comm.timeouts.connect": "60s",
        # A worker that has not come back by then is given up for ever: on a busy machine, all of them would be.
        "distributed.deploy.lost-worker-timeout": "1000d",
    }
    with (
        dask.config.set(settings),
        _quiet(),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=["spacy_mindroot.corpora.worker"],
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's warnings about dead workers to itself; what comes of them is reported."""
    names = ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.worker", "tornado")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def remote_client(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield its client."""
    distributed = _distributed()
    try:
        client = distributed.Client(address)
    except (OSError, ValueError, RuntimeError) as error:  # its TimeoutError is an OSError
        raise CorpusError(f"There is no Dask scheduler at {address} ({error}).") from error
    with client:
        yield client

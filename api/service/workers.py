"""Worker processes for searches, so that the service itself never waits for one.

A search is Python that computes: in a thread of the service it would hold back every answer by
tens of milliseconds, and by hundreds where memory is collected. A process is also what can be
ended for certain, if a search does not stop when it is told to.

Each worker is a pool of one process. In a pool of several they would share a pipe and its locks,
so that one that is killed or stopped at the wrong moment takes the others with it, and nobody
could say which of them is late in starting.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_longlong
from dataclasses import dataclass
from multiprocessing import resource_tracker
from time import monotonic
from typing import Any

from pebble import ProcessExpired, ProcessPool

from .jobs import Asked, Job, Outcome, run

START_SECONDS = 60.0
"""How long a process may take to start at the first attempt; each attempt may take twice the time
of the one before, until one succeeds."""
LONGEST_START_SECONDS = 600.0
GRACE_SECONDS = 5.0
"""The longest time for a cancelled job to end; then its process is killed."""

_LOOKING_SECONDS = 0.05

_FIRST = Job(
    "optimize",
    Asked(
        "Answer(x, y) <- x (a/b)+ m, c(m, y) WINDOW 1d",
        None,
        None,
        {"disabled_rules": (), "budget_ms": 1_000.0},
        "",
    ),
)
"""Loads the modules of a search in a new process, before its first job."""


_GONE = (OSError, RuntimeError, BrokenProcessPool, ProcessExpired)
"""What a pool raises that has lost its process; to wait for a future in vain is an OSError, too."""


_TRACKER_STARTS = threading.Lock()


class WorkerDiedError(Exception):
    """The process of a search ended, or was killed, before the outcome."""


class DeadlineError(WorkerDiedError):
    """A job took too long; its process was killed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a job, with the key of the job that it belongs to."""

    key: str
    outcome: Outcome


class Worker:
    """A process that carries out one job after the other.

    One thread at a time may use it.
    """

    def __init__(self) -> None:
        # A fork would copy the locks of the service's threads as they are at that moment.
        self._context = multiprocessing.get_context("spawn")
        # The number of the job that is to end: a flag could reach the job that comes after it.
        self._cancelled = self._context.RawValue(c_longlong, 0)
        self._number = 0
        self._pool: ProcessPool | None = None
        self._ready: Future[None] = Future()
        self._late_at = 0.0
        self._late = 0

    def start(self, cancelled: threading.Event | None = None) -> None:
        """Starts the process, unless there is one, and waits until it can work.

        A process that is late is ended. With ``cancelled`` set nobody waits for the process any
        more; it goes on starting.

        Raises:
            WorkerDiedError: if it cannot work.
        """
        if self._pool is None or not self._pool.active:
            self.stop()
            self._begin()
        while not self._done(self._ready):
            if monotonic() > self._late_at:
                self.stop()
                self._late += 1
                raise WorkerDiedError("its process did not start in time")
            if cancelled is not None and cancelled.is_set():
                raise WorkerDiedError("it was cancelled before its process had started")
        try:
            self._ready.result(0)
        except _GONE as error:
            self.stop()
            raise WorkerDiedError("its process could not be started") from error
        self._late = 0

    def do(self, job: Job, cancelled: threading.Event, seconds: float) -> Outcome:
        """The outcome of a job, for which the calling thread waits at most ``seconds``.

        Raises:
            DeadlineError: if the job took longer; the next job has a new process.
            WorkerDiedError: if there is no outcome; the next job has a new process.
        """
        self.start(cancelled)
        assert self._pool is not None
        self._number += 1
        until = monotonic() + seconds
        try:
            future = self._pool.schedule(_work, (job, self._number))
            while not self._done(future):
                if cancelled.is_set() and self._cancelled.value != self._number:
                    self._cancelled.value = self._number
                    until = min(until, monotonic() + GRACE_SECONDS)
                if monotonic() > until:
                    raise DeadlineError(f"it did not end within {seconds:.0f} seconds")
            reply = future.result(0)
            if reply.key != job.key:
                raise WorkerDiedError("its process answered another job")
            # Done once the reply is on its way: a memo is full of cycles, and the next search may
            # be long in coming.
            self._pool.schedule(_tidy)
        except _GONE as error:
            self.stop()
            raise WorkerDiedError("its process is gone") from error
        except WorkerDiedError:
            self.stop()
            raise
        return reply.outcome

    def stop(self) -> None:
        """Kills the process and waits for its end."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()

    def _done(self, future: Future[Any]) -> bool:
        """Waits a moment for a future; returns whether it is done, or the pool is broken.

        A pool that breaks in the moment in which it is given a job leaves the future as it is.
        """
        return bool(wait((future,), _LOOKING_SECONDS).done) or not (
            self._pool is not None and self._pool.active
        )

    def _begin(self) -> None:
        _start_tracker()
        self._late_at = monotonic() + min(START_SECONDS * 2**self._late, LONGEST_START_SECONDS)
        self._ready = Future()
        self._pool = ProcessPool(
            1, initializer=_prepare, initargs=(self._cancelled,), context=self._context
        )
        try:
            self._ready = self._pool.schedule(_tidy)
        except (OSError, RuntimeError) as error:  # the system has no room for another process
            self._ready.set_exception(error)


def _start_tracker() -> None:
    """Starts Python's process that removes the semaphores of a service that was killed.

    It would warn of them in plain text on the service's standard error, where the log is JSON.
    """
    name = "PYTHONWARNINGS"
    with _TRACKER_STARTS:
        before = os.environ.get(name)
        quiet = "ignore::UserWarning:multiprocessing.resource_tracker"
        os.environ[name] = quiet if before is None else f"{before},{quiet}"
        try:
            resource_tracker.ensure_running()
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before


# What follows runs in the process of a worker.

_to_end: Any = None
"""Memory shared by worker and service: the number of the job to cancel."""


def _prepare(to_end: Any) -> None:
    global _to_end  # noqa: PLW0603
    _to_end = to_end
    run(_FIRST, lambda: False)
    # What is there by now stays, and is not looked at again: that takes longer than most searches.
    gc.collect()
    gc.freeze()


def _work(job: Job, number: int) -> Reply:
    return Reply(job.key, run(job, lambda: bool(_to_end.value == number)))


def _tidy() -> None:
    gc.collect()

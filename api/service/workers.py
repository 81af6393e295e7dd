"""Worker processes for searches, so that the service itself never waits for one.

A search is CPU-bound Python code. A search in a thread of the service would delay each answer by
tens of milliseconds, and by hundreds during garbage collection. Also, the service can always kill a
process, even if its search ignores cancellation.

Each worker is a pool of one process. The processes of a larger pool would share a pipe with its
locks: killing one process at the wrong moment would block the others. A larger pool also cannot
tell which process is late to start.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_double, c_longlong
from dataclasses import dataclass
from multiprocessing import resource_tracker
from time import monotonic
from typing import Any

from pebble import ProcessExpired, ProcessPool

from .jobs import Desk, Job, Outcome, Question, run
from .kept_searches import KeptSearches
from .search_progress import FIELDS, Reporter, SearchProgress, read

START_SECONDS = 60.0
"""The time limit of the first attempt to start a process, in seconds.

Each further attempt has twice the time of the last one, until an attempt succeeds."""
LONGEST_START_SECONDS = 600.0
GRACE_SECONDS = 5.0
"""The time for a cancelled job to end before its process is killed, in seconds."""

_LOOKING_SECONDS = 0.05

_FIRST = Job(
    "optimize",
    Question(
        "Answer(x, y) <- x (a/b)+ m, c(m, y) WINDOW 1d",
        None,
        None,
        {"disabled_rules": (), "budget_ms": 1_000.0},
        "",
    ),
)
"""Loads the modules of a search in a new process, before its first job."""


_GONE = (OSError, RuntimeError, BrokenProcessPool, ProcessExpired)
"""The errors of a pool that lost its process; waiting for its future may raise OSError too."""


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
    """A process that runs one job at a time, for one thread at a time.

    The process starts with the first job, and again after a failure.
    """

    def __init__(self) -> None:
        # Spawn: a fork would copy the locks of the service's threads in their current state.
        self._context = multiprocessing.get_context("spawn")
        # The number of the cancelled job: a flag could cancel the next job by mistake.
        self._cancelled = self._context.RawValue(c_longlong, 0)
        self._progress = self._context.RawArray(c_double, FIELDS)
        self._number = 0
        self._pool: ProcessPool | None = None
        self._ready: Future[None] = Future()
        self._late_at = 0.0
        self._late = 0

    def start(self, cancelled: threading.Event | None = None) -> None:
        """Starts the process, unless there is one, and waits until it can work.

        Kills a process that does not start in time. If ``cancelled`` is set, the method stops
        waiting, and the process continues to start.

        Raises:
            WorkerDiedError: if the process cannot work.
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
        """Runs a job in the process and waits at most ``seconds`` for its outcome.

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
            # Collect garbage after the reply: a memo is full of cycles, and the process may stay
            # idle for long.
            self._pool.schedule(_tidy)
        except _GONE as error:
            self.stop()
            raise WorkerDiedError("its process is gone") from error
        except WorkerDiedError:
            self.stop()
            raise
        return reply.outcome

    def progress(self) -> SearchProgress | None:
        """The progress of the current job; None before it has begun in the process."""
        return read(self._progress, self._number)

    def stop(self) -> None:
        """Kills the process and waits for its end."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()

    def _done(self, future: Future[Any]) -> bool:
        """Waits a moment for a future; returns whether it is done, or the pool is broken.

        A pool that breaks while it accepts a job never completes the future.
        """
        return bool(wait((future,), _LOOKING_SECONDS).done) or not (
            self._pool is not None and self._pool.active
        )

    def _begin(self) -> None:
        _start_tracker()
        self._late_at = monotonic() + min(START_SECONDS * 2**self._late, LONGEST_START_SECONDS)
        self._ready = Future()
        self._pool = ProcessPool(
            1,
            initializer=_prepare,
            initargs=(self._cancelled, self._progress),
            context=self._context,
        )
        try:
            self._ready = self._pool.schedule(_tidy)
        except (OSError, RuntimeError) as error:  # the system allows no further process
            self._ready.set_exception(error)


def _start_tracker() -> None:
    """Starts Python's resource tracker, which removes the semaphores of a killed service.

    Silences the tracker: its warnings are plain text, but the log on standard error is JSON.
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


# The functions below run in the process of a worker.

_to_end: Any = None
"""Memory shared by worker and service: the number of the job to cancel."""
_reporter: Reporter | None = None
"""Writes the progress of the current job into memory shared by worker and service."""
_searches = KeptSearches()


def _prepare(to_end: Any, progress: Any) -> None:
    global _to_end, _reporter
    _to_end, _reporter = to_end, Reporter(progress)
    run(_FIRST, Desk())
    # Exclude all current objects from garbage collection: scanning takes longer than most searches.
    gc.collect()
    gc.freeze()


def _work(job: Job, number: int) -> Reply:
    assert _reporter is not None
    desk = Desk(lambda: bool(_to_end.value == number), _searches, _reporter)
    with _reporter.of(number):
        return Reply(job.key, run(job, desk))


def _tidy() -> None:
    gc.collect()

"""Processes that search, so that the service itself never waits for a search.

A search is Python that computes: in a thread of the service it would hold back every answer by
tens of milliseconds, and by hundreds where memory is collected. A process is also what can be
ended for certain, if a search does not stop when it is told to.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
from ctypes import c_byte
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

from api.service.jobs import Asked, Job, Outcome, run

PATIENCE_SECONDS = 60.0
"""How long a job may take in all; what searches bound is part of it."""
GRACE_SECONDS = 5.0
"""How long a job that is cancelled may go on until its process is ended."""

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
"""Has a new process load what every search needs, before anybody waits for one."""


class WorkerDiedError(Exception):
    """The process of a search ended, or had to be ended, before it had an outcome."""


class Worker:
    """A process that does one job after the other, started with the first of them."""

    def __init__(self) -> None:
        # A fork would copy the locks of the service's threads as they are at that moment.
        self._context = multiprocessing.get_context("spawn")
        self._process: BaseProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._flag = self._context.RawValue(c_byte, 0)

    def start(self) -> None:
        """Starts the process, unless there is one, and waits until it can work.

        Raises:
            WorkerDiedError: if it cannot.
        """
        if self._process is not None and self._process.is_alive():
            return
        self.stop()
        self._flag = self._context.RawValue(c_byte, 0)
        ours, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=_work, args=(theirs, self._flag), name="headrace-search", daemon=True
        )
        self._process.start()
        theirs.close()
        self._connection = ours
        try:
            if not ours.poll(PATIENCE_SECONDS):
                raise WorkerDiedError("its process did not start in time")
            ours.recv()
        except (OSError, EOFError) as error:
            raise WorkerDiedError("its process could not be started") from error

    def do(self, job: Job, cancelled: threading.Event) -> Outcome:
        """The outcome of a job, for which the calling thread waits.

        Raises:
            WorkerDiedError: if there is none; the next job has a new process.
        """
        self.start()
        assert self._connection is not None
        until = monotonic() + PATIENCE_SECONDS
        try:
            self._flag.value = 0
            self._connection.send(job)
            while not self._connection.poll(_LOOKING_SECONDS):
                if cancelled.is_set() and not self._flag.value:
                    self._flag.value = 1
                    until = min(until, monotonic() + GRACE_SECONDS)
                if monotonic() > until:
                    raise WorkerDiedError("it did not end in time")
            found: Outcome = self._connection.recv()
        except (OSError, EOFError) as error:
            self.stop()
            raise WorkerDiedError("its process is gone") from error
        except WorkerDiedError:
            self.stop()
            raise
        return found

    def stop(self) -> None:
        """Ends the process at once."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _work(connection: Connection[Any, Any], flag: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which tells us
    run(_FIRST, lambda: False)
    # What is there by now stays, and is not looked at again: that takes longer than most searches.
    gc.collect()
    gc.freeze()
    connection.send(None)
    while True:
        try:
            job: Job = connection.recv()
            connection.send(run(job, lambda: bool(flag.value)))
        except (EOFError, OSError):
            return
        gc.collect()  # a memo is full of cycles, and the next search may be long in coming

"""Spools the input in a thread, so that Spark can start meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from typing import Protocol

from .checkpoint import CheckpointDirectory
from .host.errors import CancelledError, ExecutionError
from .reading.replay import ReadProgress, Spool
from .report import OnProgress, Progress

_EARLY_FAILURE_SECONDS = 0.5


class Spooling(Protocol):
    """A call of :func:`headrace.executor.spark.reading.replay.spool` that lacks its progress."""

    def __call__(self, *, on_read: ReadProgress) -> Spool:
        """Makes the spool."""


class Reading:
    """A spool that is being made; the end of the ``with`` block stops it, as ``cancelled`` does."""

    def __init__(
        self,
        checkpoint: CheckpointDirectory,
        spooling: Spooling,
        on_progress: OnProgress | None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self._checkpoint = checkpoint
        self._spooling = spooling
        self._on_progress = on_progress
        self._unwanted = threading.Event()
        self._cancelled = cancelled or self._unwanted
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="headrace-read")

    def __enter__(self) -> Reading:
        self._future: Future[Spool] = self._thread.submit(self._spooling, on_read=self._tell)
        # An error in the input mostly shows at once; then Spark need not be started.
        with suppress(NotYetError):
            self._finished(_EARLY_FAILURE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._unwanted.set()
        self._thread.shutdown()

    def result(self) -> Spool:
        """Waits for the spool.

        Raises:
            ExecutionError: as :func:`headrace.executor.spark.reading.replay.spool` raises it.
        """
        return self._finished(None)

    def _finished(self, timeout: float | None) -> Spool:
        try:
            return self._future.result(timeout)
        except ExecutionError:
            if self._checkpoint.fresh:
                self._checkpoint.discard()  # nothing was done: leave nothing half-written
            raise

    def _tell(self, done: int, total: int) -> None:
        if self._unwanted.is_set() or self._cancelled.is_set():
            raise CancelledError("Reading was stopped.", "The same command begins anew.")
        if self._on_progress is not None:
            self._on_progress(Progress("reading", done / total if total else 1.0))

"""The service's side of its engine (:mod:`headrace.api.service.engine_process`)."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from ...executor.spark.session.options import RECORDING_SECONDS
from .engine_messages import Command, EngineOptions, Gone, Quit, Report

LOG = logging.getLogger("headrace.service")

GOODBYE_SECONDS = 20.0
"""The time for an engine to end before it is killed, in seconds."""


class Engine:
    """A process that runs queries; each object stands for one process.

    The engine calls ``on_report`` in the event loop with each report, and at its end with `Gone`.
    """

    def __init__(
        self, home: Path, options: EngineOptions, on_report: Callable[[Report], None]
    ) -> None:
        self._home = home
        self._options = options
        self._on_report = on_report
        self._loop = asyncio.get_running_loop()
        self._process: BaseProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._sending = threading.Lock()  # concurrent messages would mix in the pipe
        self.ready = False

    @property
    def pid(self) -> int | None:
        """The process id."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return None if self._process is None else self._process.exitcode

    def kill(self) -> None:
        """Kills the process. It reports `Gone`, and its queries are restarted."""
        if self._process is not None:
            self._process.kill()

    async def start(self) -> None:
        """Starts the process, which reports `Ready` when Spark has started.

        Raises:
            OSError: if the system allows no further process.
        """
        await asyncio.to_thread(self._start)

    async def send(self, command: Command) -> None:
        """Sends a command; an engine that has ended ignores it and reports `Gone`."""
        if self._connection is not None:
            await asyncio.to_thread(self._send, command)

    async def close(self) -> None:
        """Stops all runs and ends the process; kills it if that takes too long."""
        if self.ready:
            await self.send(Quit())
        else:
            self.kill()  # no query runs yet, and waiting for the start takes long
        await asyncio.to_thread(self._end)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_work,
            args=(theirs, self._home, self._options),
            name="headrace-engine",
            daemon=True,
        )
        try:
            process.start()
        finally:
            theirs.close()
        self._process = process
        self._connection = ours
        threading.Thread(target=self._listen, name="headrace-engine", daemon=True).start()

    def _send(self, command: Command) -> None:
        assert self._connection is not None
        try:
            with self._sending:
                self._connection.send(command)
        except OSError:
            return

    def _listen(self) -> None:
        assert self._connection is not None
        assert self._process is not None
        try:
            while True:
                self._report(self._connection.recv())
        except (OSError, EOFError):
            self._process.join(GOODBYE_SECONDS)
        except Exception:
            # The pipe has no message boundary after an unreadable one: start another engine.
            LOG.exception("a report of the engine cannot be read")
        self._process.kill()
        self._report(Gone())

    def _report(self, report: Report) -> None:
        try:
            self._loop.call_soon_threadsafe(self._on_report, report)
        except RuntimeError:
            return  # the event loop is closed with the service

    def _end(self) -> None:
        if self._process is not None:
            self._process.join(longest_goodbye(self._options))
            self._process.kill()
            self._process.join()


def longest_goodbye(options: EngineOptions) -> float:
    """The longest time for an engine to end once it is asked to, in seconds."""
    return GOODBYE_SECONDS + (RECORDING_SECONDS if options.records_classes else 0.0)


def _work(connection: Connection[Any, Any], home: Path, options: EngineOptions) -> None:
    # Import Spark only in the process of the engine.
    from .engine_process import work

    work(connection, home, options)

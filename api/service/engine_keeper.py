"""The engine of a data directory: at most one process, only while queries run.

Callers hold the lock of the queries.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from .engine import Engine, longest_goodbye
from .engine_messages import Command, EngineOptions, Gone, NotStarted, Report, Start, Stop
from .problems import problem_document

LOG = logging.getLogger("headrace.service")

IDLE_SECONDS = 300.0
"""The engine ends after this time without a run, in seconds: Spark holds over a gigabyte."""
MOST_STARTS = 1_000
"""The number of runs before the engine is replaced: Spark leaves three files open for each."""
LONGEST_BACKOFF_SECONDS = 60.0


class EngineKeeper:
    """Starts the engine when queries are to run, and ends it when none are."""

    def __init__(
        self, home: Path, options: EngineOptions, on_report: Callable[[Report], None]
    ) -> None:
        self._home = home
        self._options = options
        self._forward = on_report
        self._engine: Engine | None = None
        self._retired = False
        self._left = asyncio.Event()
        self._failures = 0
        self._due = 0.0
        self._runs = 0
        self._packages: frozenset[str] = frozenset()
        self._idle_since: float | None = None
        self.starts = 0

    @property
    def up(self) -> bool:
        """Whether an engine can start a query now."""
        return self._engine is not None and self._engine.ready and not self._retired

    @property
    def wanting(self) -> bool:
        """Whether to start an engine: there is none, and the backoff has passed."""
        return self._engine is None and time.monotonic() >= self._due

    @property
    def idle(self) -> bool:
        """Whether no query has run in the engine for IDLE_SECONDS."""
        return (
            self.up
            and self._idle_since is not None
            and time.monotonic() - self._idle_since > IDLE_SECONDS
        )

    def worked(self) -> None:
        """Forgets past failures, since a batch has succeeded."""
        self._failures = 0

    def ready(self) -> None:
        """Notes that Spark has started."""
        assert self._engine is not None
        self._engine.ready = True
        LOG.info("engine ready", extra={"engine": self._engine.pid})

    def used(self, now: bool) -> None:
        """Notes whether queries run or wait, for the idle time of the engine."""
        if now:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()

    async def need(self, packages: Collection[str]) -> None:
        """Starts an engine that loads ``packages``."""
        options = replace(self._options, packages=tuple(packages))
        self._engine = engine = Engine(
            self._home, options, lambda report: self._on_report(engine, report)
        )
        self._left.clear()
        self._runs, self._packages, self._retired = 0, frozenset(packages), False
        self.starts += 1
        try:
            await engine.start()
        except OSError as error:
            problem = problem_document(500, f"no process: {error}", code="E-ENGINE")
            self._forward(NotStarted(problem))
            self._forward(Gone())

    def worn(self, packages: Collection[str]) -> str | None:
        """Returns the reason to replace the engine before a run with ``packages``, or None."""
        missing = [package for package in packages if package not in self._packages]
        if missing:
            return f"the engine has not loaded {', '.join(missing)}"
        return f"the engine has started {self._runs} runs" if self._runs >= MOST_STARTS else None

    async def run(self, start: Start) -> None:
        """Starts a query in the engine."""
        self._runs += 1
        self._idle_since = None
        await self._send(start)

    async def stop(self, query: str, run: int) -> Callable[[], None]:
        """Stops a run in the engine; returns a function that kills this engine."""
        engine = self._engine
        await self._send(Stop(query, run))

        def end() -> None:
            if engine is not None and engine is self._engine:
                LOG.error("query does not stop", extra={"query_id": query})
                engine.kill()

        return end

    def retire(self, why: str) -> Coroutine[Any, Any, None]:
        """Retires the engine, and returns a coroutine that ends it.

        The next engine resumes the runs.
        """
        assert self._engine is not None
        self._retired = True
        LOG.info("engine ends", extra={"engine": self._engine.pid, "reason": why})
        return self._engine.close()

    async def close(self) -> None:
        """Ends the engine at the end of the service."""
        if self._engine is not None:
            self._retired = True
            await self._engine.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), longest_goodbye(self._options))

    def gone(self) -> bool:
        """Notes that the engine has ended; returns whether this keeper retired it."""
        meant, engine, self._engine = self._retired, self._engine, None
        self._retired = False
        self._left.set()
        if not meant:
            LOG.error("engine gone", extra={"exit_code": engine.exit_code if engine else None})
            self._due = time.monotonic() + min(LONGEST_BACKOFF_SECONDS, 2.0**self._failures)
            self._failures += 1
        return meant

    def _on_report(self, engine: Engine, report: Report) -> None:
        """Forwards reports of the current engine, and drops reports of earlier engines."""
        if engine is self._engine:
            self._forward(report)

    async def _send(self, command: Command) -> None:
        if self._engine is not None:
            await self._engine.send(command)

"""The messages between the service and its engine, through a pipe.

``run`` numbers the runs of a query: what is said of a run that is over reaches no later one.
Plans, catalogs, progress and problems are JSON values: they are shown and kept as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How the engine's Spark runs: ``master`` and ``conf`` as Spark has them; with ``kafka`` it
    fetches what it needs to read that."""

    master: str | None = None
    kafka: bool = False
    conf: Mapping[str, str] = field(default_factory=dict)
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Start or resume a query; ``folder`` holds its results and its checkpoint.

    ``catalog`` has the sources of the plan's streams; the rest is as in ``POST /queries``.
    """

    query: str
    run: int
    plan: Mapping[str, Any]
    catalog: Mapping[str, Any]
    folder: Path
    speed: float | None = None
    interval: str | None = None
    largest_batch: int | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the run of a query so that it can be resumed."""

    query: str
    run: int


@dataclass(frozen=True, slots=True)
class Quit:
    """Stop all runs, and end the engine."""


@dataclass(frozen=True, slots=True)
class Ready:
    """Spark has started."""


@dataclass(frozen=True, slots=True)
class NotStarted:
    """Spark did not start, or with ``for_kafka`` not with Kafka; the engine ends."""

    error: Mapping[str, Any]
    for_kafka: bool = False


@dataclass(frozen=True, slots=True)
class Began:
    """The run of a query has begun."""

    query: str
    run: int


@dataclass(frozen=True, slots=True)
class Delayed:
    """Spark had no time to start a query; the engine starts it again, and `Began` says when that
    has worked."""

    query: str
    run: int
    error: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progressed:
    """The progress of a query and of its operators."""

    query: str
    run: int
    progress: Mapping[str, Any]
    operators: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ended:
    """The run of a query has ended; ``fault`` is for the log.

    It was ``interrupted`` if Spark failed for what may pass, and ``failed`` if it would again.
    """

    query: str
    run: int
    outcome: Literal["finished", "stopped", "failed", "interrupted"]
    error: Mapping[str, Any] | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """The engine has ended, in whatever way."""


Command = Start | Stop | Quit
Report = Ready | NotStarted | Began | Delayed | Progressed | Ended | Gone

"""The messages between the service and its engine, through a pipe.

``run`` is the number of a run of a query: the service drops reports of earlier runs. Plans,
catalogs, progress and problems are JSON values: the service stores and shows them unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...executor.spark.results.sinks import WrittenBySpark


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options of the engine's Spark session.

    ``master`` and ``conf`` are Spark's. The session loads ``packages``, such as those for Kafka.
    ``debug`` logs debug messages. With ``records_classes`` an engine that is asked to end may first
    take some seconds to write an archive of Spark's classes, if there is none.
    """

    master: str | None = None
    packages: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)
    debug: bool = False
    records_classes: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Start or resume a query.

    Attributes:
        query: the id of the query.
        run: the number of the run.
        plan: the document of the plan.
        catalog: the document of the catalog, with the sources of the plan's streams.
        folder: the folder of the results and the checkpoint.
        speed: the replay rate of files, in time units per second; None for no limit.
        interval: the least time between two micro-batches, such as ``10 seconds``.
        largest_batch: the maximum number of edges in a micro-batch.
        strict: whether to stop at the first row that is not an edge.
        figures: the file to keep measured figures in; None to keep none.
        output: a topic or a sink that gets each result too; None without one.
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
    figures: Path | None = None
    output: WrittenBySpark | None = None


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
    """Spark did not start, and the engine ends.

    ``for_packages`` means that the packages of sources and sinks could not be loaded.
    """

    error: Mapping[str, Any]
    for_packages: bool = False


@dataclass(frozen=True, slots=True)
class Began:
    """The run of a query has begun."""

    query: str
    run: int


@dataclass(frozen=True, slots=True)
class Delayed:
    """Spark did not start a query in time; the engine tries again, and later reports `Began`."""

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
    """The run of a query has ended.

    Attributes:
        query: the id of the query.
        run: the number of the run.
        outcome: ``interrupted`` after a transient failure of Spark, ``failed`` after another one.
        error: the problem of the failure.
        fault: the traceback of an internal error, for the log.
    """

    query: str
    run: int
    outcome: Literal["finished", "stopped", "failed", "interrupted"]
    error: Mapping[str, Any] | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """The process of the engine has ended, for any reason."""


Command = Start | Stop | Quit
Report = Ready | NotStarted | Began | Delayed | Progressed | Ended | Gone

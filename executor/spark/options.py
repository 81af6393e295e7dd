"""How a plan is run on Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .reading.replay import LARGEST_SLICE
from .results.sinks import WrittenBySpark
from .session.options import SessionOptions


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a plan is run.

    Attributes:
        checkpoint: the folder to resume the run from, or to keep its checkpoint in. Without one
            only a run whose output is a folder or a file can be resumed.
        rejected: the file for rows that are not edges. Default: beside the results.
        strict: stop at the first row that is not an edge.
        interval: the least time between two micro-batches, such as ``"10 seconds"``. Default:
            each starts when the one before has ended.
        speed: replay files at this rate, in time units of the stream per second of the clock. A
            micro-batch per ``interval`` (default: one second) takes what the stream has in that
            time; intervals in which it has nothing are left out.
        largest_slice: the most edges of files in one micro-batch.
        most_set_aside: over live sources, the most bytes kept of rows that are not edges, and as
            many of late edges; the oldest are dropped. Default: all are kept.
        also: a second output, which gets each result too; each at least as often as the output.
        session: how Spark is started, if it is; its number of partitions is the plan's.
    """

    checkpoint: Path | None = None
    rejected: Path | None = None
    strict: bool = False
    interval: str | None = None
    speed: float | None = None
    largest_slice: int = LARGEST_SLICE
    most_set_aside: int | None = None
    also: WrittenBySpark | None = None
    session: SessionOptions = field(default_factory=SessionOptions)

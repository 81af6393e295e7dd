"""What Spark calls for the rows of a partition.

Spark also starts a Python process only to ask this class which state it keeps, so the
imports that the work itself needs are made when there is work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)

if TYPE_CHECKING:
    import pandas as pd

RESULTS = "results"
REPORT = "report"
LATE = "late"
OUTPUT = "kind string, rows bigint, payload binary"
"""What the last stage gives: blocks of results as Arrow streams; at the end of a batch edges that
came too late, as JSON lines, and the reports of all stages, as JSON. Others give messages
(:mod:`executor.spark.packing`)."""


class StageProcessor(StatefulProcessor):
    """A stage of a plan, by its number; ``run`` tells one start of a query from another."""

    def __init__(self, plan: str, run: str, stage: int = 0) -> None:
        self._plan = plan
        self._run = run
        self._stage = stage

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's hook, once per task and once on the driver."""
        self._head = handle.getValueState("head", "head string")
        self._blobs = SparkBlobs(handle.getMapState("log", "number bigint", "blob binary"))

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[pd.DataFrame]:
        """Spark's hook: what comes of one batch, then a report."""
        from executor.spark.partition import PartitionBatch

        head = self._head.get() if self._head.exists() else None
        batch = PartitionBatch(
            self._plan, (self._run, self._stage, int(key[0])), head[0] if head else None
        )
        yield from batch.run(rows, self._blobs)
        self._head.update((batch.head.to_json(),))

    def close(self) -> None:
        """Spark's hook; nothing is open."""


class SparkBlobs:
    """Spark's map state as a store of blobs."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def get(self, number: int) -> bytes:
        """The blob of a number."""
        return bytes(self._state.getValue((number,))[0])

    def put(self, number: int, blob: bytes) -> None:
        """Keeps a blob."""
        self._state.updateValue((number,), (blob,))

    def remove(self, number: int) -> None:
        """Forgets a blob."""
        self._state.removeKey((number,))

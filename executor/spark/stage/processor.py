"""The stateful processor that Spark calls with the rows of a partition.

Spark also starts a Python process only to ask this class which state it keeps, so the
imports that the work itself needs are made when there is work.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

if TYPE_CHECKING:
    import pandas as pd

    from ..results.parts import PartSpec

# A schema in text would be a question to the JVM in each micro-batch.
_METADATA = StructType([StructField("head", StringType())])
_NUMBER = StructType([StructField("number", LongType())])
_BLOB = StructType([StructField("blob", BinaryType())])

_FIRST_WAITING = -1
"""Blobs of negative numbers are messages that wait; the log's numbers begin at 0."""


class StageProcessor(StatefulProcessor):
    """A stage of a plan."""

    def __init__(
        self,
        plan: str,
        run: str,
        stage: int = 0,
        *,
        loads: bool = False,
        parts: PartSpec | None = None,
    ) -> None:
        """Prepares the stage; Spark sends it to its workers.

        Args:
            plan: the plan's document.
            run: a name of this start of the query, unlike that of any other.
            stage: the number of the stage.
            loads: rows of stored graphs are the query's initial state. They are messages that come
                before all others.
            parts: the files that the last stage writes its results to; None if it gives them as
                rows.
        """
        self._plan = plan
        self._run = run
        self._stage = stage
        self._loads = loads
        # Pickled, since unpickling imports the writers of results.
        self._parts = None if parts is None else pickle.dumps(parts)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's hook, once per task and once on the driver."""
        self._metadata = handle.getValueState("head", _METADATA)
        self._blobs = SparkBlobs(handle.getMapState("log", _NUMBER, _BLOB))

    def handleInitialState(  # noqa: N802 - Spark's name
        self,
        key: Any,
        initialState: Any,  # noqa: N803 - Spark's name
        timerValues: Any,  # noqa: N803 - Spark's name
    ) -> None:
        """Spark's hook, in the very first batch of a query, before its rows: no results can be
        given here, so the messages wait in the state."""
        from ..exchange.packing import bytes_of_frame

        number = _FIRST_WAITING
        while self._blobs.has(number):
            number -= 1
        self._blobs.put(number, bytes_of_frame(initialState))

    def _loaded(self) -> Iterator[pd.DataFrame]:
        """Removes and gives the messages that wait."""
        from ..exchange.packing import frame_of_bytes

        number = _FIRST_WAITING
        while self._blobs.has(number):
            yield frame_of_bytes(self._blobs.get(number))
            self._blobs.remove(number)
            number -= 1

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[pd.DataFrame]:
        """Spark's hook: gives the output of one batch, then a report."""
        from .partition import PartitionBatch

        stored = self._metadata.get()
        batch = PartitionBatch(
            self._plan,
            (self._run, self._stage, int(key[0])),
            stored[0] if stored else None,
            None if self._parts is None else pickle.loads(self._parts),
        )
        if self._loads and stored is None:
            rows = itertools.chain(self._loaded(), rows)
        yield from batch.run(rows, self._blobs)
        self._metadata.update((batch.metadata.to_json(),))

    def close(self) -> None:
        """Spark's hook; nothing is open."""


class SparkBlobs:
    """Spark's map state as a store of blobs."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def has(self, number: int) -> bool:
        """Whether there is a blob of a number."""
        return bool(self._state.containsKey((number,)))

    def get(self, number: int) -> bytes:
        """The blob of a number."""
        return bytes(self._state.getValue((number,))[0])

    def put(self, number: int, blob: bytes) -> None:
        """Stores a blob."""
        self._state.updateValue((number,), (blob,))

    def remove(self, number: int) -> None:
        """Removes a blob."""
        self._state.removeKey((number,))

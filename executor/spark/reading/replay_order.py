"""The order in which edges of files are replayed, if a stream is declared to be out of order.

Edges of a stream with a delay keep the order of their files, and the executor sorts them, as it
does over a live source. Several files and streams are merged by the largest ts that each has
reached: an edge is due when the largest ts of its file so far is due. So the merged edges are never
more out of order than one file alone. A stream without a delay is sorted by time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....algebra.plan_parts import PlanStream
from ...batch import FOREVER

ORDER: Final = "order"
"""The column to sort by."""


class ReplayOrder:
    """Gives the rows of all files their order: the value of the column :data:`ORDER`."""

    def __init__(self, streams: Collection[PlanStream]) -> None:
        """``streams`` are all streams but stored graphs, whose edges come first."""
        self._delayed = {stream.name for stream in streams if stream.delay}
        self._last = {stream.name: 0 for stream in streams}

    def file(self, stream: str) -> FileOrder:
        """The order of the rows of one file of a stream."""
        return FileOrder(self, stream, stream in self._delayed)

    def advance(self, stream: str, order: int) -> None:
        """Records that a stream has rows up to an order."""
        if stream in self._last:
            self._last[stream] = max(self._last[stream], order)

    def ends(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yields for each stream the row that marks its end, with the order of its last row."""
        for stream, order in self._last.items():
            row = dict.fromkeys(schema.names) | {"stream": stream, "ts": FOREVER, ORDER: order}
            columns: dict[str, Any] = {name: pa.array([value]) for name, value in row.items()}
            yield pa.table(columns).cast(schema)


class FileOrder:
    """Gives the rows of one file their order."""

    def __init__(self, whole: ReplayOrder, stream: str, delayed: bool) -> None:
        self._whole = whole
        self._stream = stream
        self._delayed = delayed
        self._latest = 0

    def placed(self, rows: pa.Table, read: pa.Array[Any]) -> pa.Table:
        """Adds the column :data:`ORDER` to rows that are in the order of the file.

        Rows that the plan does not ``read`` keep their stream and ts only.
        """
        order = rows["ts"].to_numpy()
        if self._delayed and len(order):
            order = np.maximum(np.maximum.accumulate(order), self._latest)
            self._latest = int(order[-1])
        if len(order):
            self._whole.advance(self._stream, int(order.max()))
        for position, name in enumerate(rows.schema.names):
            if name not in ("stream", "ts"):
                column = rows[name]
                kept = pc.if_else(read, column, pa.scalar(None, column.type))
                rows = rows.set_column(position, name, kept)
        return rows.append_column(ORDER, pa.array(order))

"""The order in which the edges of files come, where some stream is declared to be out of order.

Such a stream's edges come as they stand in its files, and the executor puts them in order, as it
would live. Several files, and streams, are merged by how far each has come: an edge comes when
its file's largest ts so far is due. So together they are never more out of order than one of them
is alone. A stream without a delay is sorted by time, as it is where none has one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....algebra.plan import PlanStream
from ...batch import FOREVER

ORDER: Final = "order"
"""The column to sort by."""


class ArrivalOrder:
    """Puts the rows (stream, label, src, trg, ts, properties) of files in their order."""

    def __init__(self, streams: Collection[PlanStream]) -> None:
        """``streams`` are those whose time counts; edges of stored graphs come first."""
        self._delayed = {stream.name for stream in streams if stream.delay}
        self._last = {stream.name: 0 for stream in streams}

    def file(self, stream: str) -> FileOrder:
        """The order of the rows of one file."""
        return FileOrder(self, stream, stream in self._delayed)

    def came(self, stream: str, order: int) -> None:
        """A stream has rows up to this place."""
        if stream in self._last:
            self._last[stream] = max(self._last[stream], order)

    def ends(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """For each stream a row, after its others, that says: it is at its end."""
        for stream, order in self._last.items():
            row = dict.fromkeys(schema.names) | {"stream": stream, "ts": FOREVER, ORDER: order}
            columns: dict[str, Any] = {name: pa.array([value]) for name, value in row.items()}
            yield pa.table(columns).cast(schema)


class FileOrder:
    """Puts the rows of one file in their order."""

    def __init__(self, whole: ArrivalOrder, stream: str, delayed: bool) -> None:
        self._whole = whole
        self._stream = stream
        self._delayed = delayed
        self._latest = 0

    def placed(self, rows: pa.Table, read: pa.Array[Any]) -> pa.Table:
        """Rows, as they stand in the file, with the column :data:`ORDER`.

        Of those that the plan does not read nothing is left but stream and ts.
        """
        order = rows["ts"].to_numpy()
        if self._delayed and len(order):
            order = np.maximum(np.maximum.accumulate(order), self._latest)
            self._latest = int(order[-1])
        if len(order):
            self._whole.came(self._stream, int(order.max()))
        for position, name in enumerate(rows.schema.names):
            if name not in ("stream", "ts"):
                column = rows[name]
                kept = pc.if_else(read, column, pa.scalar(None, column.type))
                rows = rows.set_column(position, name, kept)
        return rows.append_column(ORDER, pa.array(order))

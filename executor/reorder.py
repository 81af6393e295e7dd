"""A reorder buffer: rows that wait for the watermark.

In: tables with an int64 column ``ts``, in any order. Out: the rows not later than the watermark.

The buffer keeps runs of rows sorted by ts. :meth:`ReorderBuffer.due` cuts the fronts off the runs.
Runs of similar length are merged, so each row is moved a logarithmic number of times, and the cost
of a batch does not depend on the number of waiting rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows sorted by ts: a slice of a table of ``made_of`` rows, which stays in memory whole."""

    rows: pa.Table
    made_of: int

    def after(self, count: int) -> _Run:
        """The run without its first ``count`` rows; copied once half of its table is unused."""
        rows = self.rows.slice(count)
        if 2 * len(rows) > self.made_of:
            return _Run(rows, self.made_of)
        return _Run(rows.take(np.arange(len(rows))), len(rows))


class ReorderBuffer:
    """Rows that wait until the watermark reaches their ts."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    def __getstate__(self) -> list[bytes]:
        """Each run as an Arrow stream, without the unused rows of its table."""
        return [_bytes_of(run.rows) for run in self._runs]

    def __setstate__(self, runs: list[bytes]) -> None:
        tables = (pa.ipc.open_stream(run).read_all() for run in runs)
        self._runs = [_Run(rows, len(rows)) for rows in tables]

    def __len__(self) -> int:
        return sum(len(run.rows) for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        return sum(run.rows.get_total_buffer_size() for run in self._runs)

    def add(self, rows: pa.Table) -> None:
        """Adds rows in any order."""
        if not rows.num_rows:
            return
        added = sorted_by_ts(rows)
        while self._runs and _mergeable(self._runs[-1].rows, added):
            added = sorted_by_ts(pa.concat_tables([self._runs.pop().rows, added]))
        self._runs.append(_Run(added, len(added)))

    def due(self, watermark: int) -> list[pa.Table]:
        """Removes and returns the rows whose ts is not after the watermark.

        Returns:
            Tables, each sorted by ts, in the order in which their runs were added.
        """
        due, waiting = [], []
        for run in self._runs:
            count = int(np.searchsorted(times_of(run.rows), watermark, side="right"))
            if count:
                due.append(run.rows.slice(0, count))
            if count < len(run.rows):
                waiting.append(run.after(count) if count else run)
        self._runs = waiting
        return due


def _bytes_of(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _mergeable(before: pa.Table, run: pa.Table) -> bool:
    return before.num_rows <= 2 * run.num_rows and bool(before.schema == run.schema)


def sorted_by_ts(rows: pa.Table, column: str = "ts") -> pa.Table:
    """The rows in a stable sort by ``column``, which holds integers."""
    ts = times_of(rows, column)
    if bool((ts[1:] >= ts[:-1]).all()):
        return rows
    return rows.take(np.argsort(ts, kind="stable"))


def times_of(rows: pa.Table, column: str = "ts") -> NDArray[np.int64]:
    """An integer column as an array."""
    times: NDArray[np.int64] = rows[column].to_numpy()
    return times

"""Sorts a table of edges by time on disk, with memory bounded by the runs that it merges.

Rows of equal time keep the order in which they were added.

Written here, because the libraries cost more than these lines. Six million edges in random order,
on two cores: 5.8 s of CPU and 0.42 GB at the peak here, 12 s and 1.1 GB in DuckDB 2.0 with a memory
limit of 512 MB, which also is 68 MB to install and wants a column of row numbers for a stable
order. (Making the edges takes 3.8 s of either.) Spark is not yet there: the input is sorted while
its JVM starts, and :mod:`headrace.running.analysis` sorts without any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...reorder import sorted_by_ts, times_of

RUN_ROWS = 1_000_000
CHUNK_ROWS = 16_384


class TimeSorter:
    """Takes tables, and gives all their rows sorted by an int64 column."""

    def __init__(
        self,
        schema: pa.Schema,
        folder: Path,
        run_rows: int = RUN_ROWS,
        chunk_rows: int = CHUNK_ROWS,
        by: str = "ts",
    ) -> None:
        """Prepares a sort.

        Args:
            schema: of the tables.
            folder: where sorted runs are written; the caller removes it afterwards.
            run_rows: the number of rows of a run.
            chunk_rows: the number of rows of each run in memory while the runs are merged.
            by: the column to sort by.
        """
        self._schema = schema
        self._folder = folder
        self._run_rows = run_rows
        self._chunk_rows = chunk_rows
        self._by = by
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._runs: list[Path] = []

    def add(self, rows: pa.Table) -> None:
        """Adds rows in any order."""
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        if self._waiting_rows >= self._run_rows:
            self._write_run()

    def sorted(self) -> Iterator[pa.Table]:
        """All rows by rising ts, in tables of no particular size."""
        if not self._runs:
            if self._waiting_rows:
                yield self._sorted_waiting()
            return
        if self._waiting_rows:
            self._write_run()
        yield from _merged([_Run.opened(path, self._by) for path in self._runs], self._by)

    def _sorted_waiting(self) -> pa.Table:
        rows = pa.concat_tables(self._waiting).combine_chunks()
        self._waiting, self._waiting_rows = [], 0
        return sorted_by_ts(rows, self._by)

    def _write_run(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"run-{len(self._runs):06}.arrow"
        rows = self._sorted_waiting()
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, self._schema) as writer:
            writer.write_table(rows, max_chunksize=self._chunk_rows)
        self._runs.append(path)


def slices_of_sizes(tables: Iterator[pa.Table], sizes: Iterator[int]) -> Iterator[pa.Table]:
    """Cuts the rows of ``tables`` into tables of the given sizes; the last one may be smaller."""
    waiting: list[pa.Table] = []
    waiting_rows = 0
    size = next(sizes)
    for table in tables:
        waiting.append(table)
        waiting_rows += table.num_rows
        while waiting_rows >= size:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, size)
            waiting = [whole.slice(size)]
            waiting_rows -= size
            size = next(sizes)
    if waiting_rows:
        yield pa.concat_tables(waiting)


def slices_by_time(tables: Iterator[pa.Table], length: int, by: str = "ts") -> Iterator[pa.Table]:
    """Cuts the rows of sorted ``tables`` where ``by`` comes to a multiple of ``length``.

    A slice without rows is left out.
    """
    waiting: list[pa.Table] = []
    current: int | None = None
    for table in tables:
        numbers = times_of(table, by) // length
        starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for start, end in pairwise(starts):
            if start == end:
                continue
            if waiting and numbers[start] != current:
                yield pa.concat_tables(waiting)
                waiting = []
            current = int(numbers[start])
            waiting.append(table.slice(start, end - start))
    if waiting:
        yield pa.concat_tables(waiting)


@dataclass(slots=True)
class _Run:
    """A sorted run on disk, and the chunk of it that is in memory."""

    by: str
    reader: pa.RecordBatchFileReader
    next_chunk: int
    rows: pa.Table
    ts: NDArray[np.int64]

    @staticmethod
    def opened(path: Path, by: str) -> _Run:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        run = _Run(by, reader, 0, reader.schema.empty_table(), np.empty(0, np.int64))
        run.refill()
        return run

    @property
    def last_chunk_read(self) -> bool:
        return self.next_chunk >= self.reader.num_record_batches

    def refill(self) -> None:
        while not len(self.ts) and not self.last_chunk_read:
            self.rows = pa.Table.from_batches([self.reader.get_batch(self.next_chunk)])
            self.ts = times_of(self.rows, self.by)
            self.next_chunk += 1

    def take(self, bound: int, *, inclusive: bool) -> pa.Table:
        """Removes and gives the rows in memory whose ts is below (or equals) ``bound``."""
        count = int(np.searchsorted(self.ts, bound, side="right" if inclusive else "left"))
        taken = self.rows.slice(0, count)
        self.rows, self.ts = self.rows.slice(count), self.ts[count:]
        self.refill()
        return taken


def _merged(runs: list[_Run], by: str) -> Iterator[pa.Table]:
    """Merges by whole chunks: all rows up to the earliest end of a chunk in memory."""
    while runs := [run for run in runs if len(run.ts)]:
        bound = min(int(run.ts[-1]) for run in runs)
        due = [run.take(bound, inclusive=False) for run in runs]
        yield sorted_by_ts(pa.concat_tables(due), by)
        # A run may have any number of rows of that time: one after the other keeps their order.
        for run in runs:
            while len(run.ts) and run.ts[0] == bound:
                yield run.take(bound, inclusive=True)

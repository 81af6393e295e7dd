"""The log of a partition in Spark's state store: the valid input, in few large values.

Rows are kept as compressed Arrow blobs, in order of arrival. Rows that wait for the watermark are
in the log too, so a restart has them.

There is one log for each window, since an edge in a window of an hour expires earlier than one in a
window of a month. Rows of operators are grouped by the rough length of their validity. The log of a
stored graph is written once.

A blob is dropped when all its rows have expired. Small blobs are merged, each row a logarithmic
number of times, so that the number of blobs stays small with short batches. A merged blob spans at
most an eighth of its window, so that it is dropped soon after its first row has expired.

Spark's Python state API moves a few dozen megabytes and some thousand values per second: hence few
and large values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from ...reorder import sorted_by_ts
from ..exchange.packing import arrow_bytes, table_of
from ..exchange.wire import Wire
from .net_changes import net_changes

EXTRA_STATE = -1
"""The number of the blob with all open rows of AGGREGATE, which earlier versions wrote."""
LARGEST_BLOB = 8 << 20
"""The largest size of a merged blob in bytes."""
_SHARE_OF_WINDOW = 8
"""A merged blob spans at most the window divided by this."""


class BlobStore(Protocol):
    """Values by number; Spark's map state, or a dictionary in tests."""

    def get(self, number: int) -> bytes:
        """Returns the value of a number."""

    def put(self, number: int, blob: bytes) -> None:
        """Stores a value."""

    def remove(self, number: int) -> None:
        """Removes a value."""


@dataclass(frozen=True, slots=True)
class Blob:
    """An entry of a log's directory: consecutive rows of one window.

    Attributes:
        number: the key of the blob in the store.
        window: the window of the rows in ticks, by the wire (:class:`Wire`).
        first: the smallest ts.
        last: the largest ts.
        expiry: the largest expiry.
        size: the compressed size in bytes.
        rows: the number of rows.
    """

    number: int
    window: int
    first: int
    last: int
    expiry: int
    size: int
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Directory:
    """The entries of all blobs of a log, oldest first within a window, and the next number."""

    blobs: tuple[Blob, ...] = ()
    next_number: int = 0


class WindowLog:
    """The valid input of one partition.

    Attributes:
        directory: the entries of all blobs; the caller stores the directory beside the blobs.
    """

    def __init__(
        self,
        wire: Wire,
        store: BlobStore,
        directory: Directory,
        retention: int = 0,
        *,
        apart: int = 0,
    ) -> None:
        """Opens a log.

        Args:
            wire: the format of the rows.
            store: the store of the blobs.
            directory: the directory after the last batch.
            retention: the number of ticks for which a restart needs rows after their expiry.
            apart: blobs from this number on are not merged with earlier ones, so that the rows
                since a snapshot are in blobs of their own.
        """
        self._wire = wire
        self._store = store
        self._retention = retention
        self._apart = apart
        self.directory = directory

    def append(self, rows: pa.Table, now: int) -> None:
        """Adds rows, sorted by ts; they may be earlier than rows in the log.

        Blobs that have expired at or before ``now - retention`` are dropped, and so are new rows
        that have.
        """
        now -= self._retention
        self._drop({blob.number for blob in self.directory.blobs if blob.expiry <= now})
        rows = self._valid(rows, now)
        windows = self._wire.windows(rows)
        for window in np.unique(windows).tolist():
            self._append(window, rows.filter(pa.array(windows == window)))

    def rows(self, now: int, *, since: int = 0) -> pa.Table:
        """The rows that expire after ``now - retention``, as their net changes, sorted by ts.

        Args:
            now: the present application time in ticks.
            since: the number of the first blob to read.
        """
        now -= self._retention
        blobs = [blob for blob in self.directory.blobs if blob.number >= since]
        tables = [self._valid(self._read(blob), now) for blob in blobs]
        rows = pa.concat_tables([self._wire.schema.empty_table(), *tables])
        return net_changes(sorted_by_ts(rows))

    def kept(self, *, since: int = 0) -> int:
        """The number of rows in blobs from number ``since`` on, some of them expired."""
        return sum(blob.rows for blob in self.directory.blobs if blob.number >= since)

    def _append(self, window: int, rows: pa.Table) -> None:
        """Stores rows of one window, merged with the blobs before that they have outgrown."""
        added, data = self._blob(window, rows)
        while (before := self._before(added)) is not None:
            rows = pa.concat_tables([self._read(before), rows])
            self._drop({before.number})
            added, data = self._blob(window, rows)
        self._store.put(added.number, data)
        self.directory = Directory((*self.directory.blobs, added), added.number + 1)

    def _before(self, added: Blob) -> Blob | None:
        """The blob to merge ``added`` with, if that has grown as large as the one before it."""
        same = [
            blob
            for blob in self.directory.blobs
            if blob.window == added.window and blob.number >= self._apart
        ]
        if not same:
            return None
        before = same[-1]
        small = before.size <= 2 * added.size and before.size + added.size <= LARGEST_BLOB
        first, last = min(before.first, added.first), max(before.last, added.last)
        short = last - first <= added.window // _SHARE_OF_WINDOW
        return before if small and short else None

    def _blob(self, window: int, rows: pa.Table) -> tuple[Blob, bytes]:
        """The next blob, of some rows."""
        data = arrow_bytes(rows.combine_chunks().to_batches()[0], compression="zstd")
        ts = rows["ts"].to_numpy()
        expiry = int(self._wire.expiry(rows).max())
        number = self.directory.next_number
        blob = Blob(number, window, int(ts.min()), int(ts.max()), expiry, len(data), len(ts))
        return blob, data

    def _drop(self, numbers: set[int]) -> None:
        for number in numbers:
            self._store.remove(number)
        kept = tuple(blob for blob in self.directory.blobs if blob.number not in numbers)
        self.directory = replace(self.directory, blobs=kept)

    def _read(self, blob: Blob) -> pa.Table:
        return table_of(self._store.get(blob.number))

    def _valid(self, rows: pa.Table, now: int) -> pa.Table:
        return rows.filter(pa.array(self._wire.expiry(rows) > now))

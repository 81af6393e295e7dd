"""The open rows of an AGGREGATE in Spark's state: a batch writes the rows that it changed.

In: the changes of a batch, as rows of a :class:`RowWire`. A row that never expires began; any other
row ended, and only its key counts. Out: the rows that are open. The latest change of a key decides.

The changes of a batch are a blob of their own. A blob that has grown to half the size of the blob
before it is merged with that blob. So the number of blobs, and how often a change is written again,
grow with the logarithm of the number of open rows. The oldest blob has no ended rows.

Spark commits the blobs of a batch together with the directory.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...batch import FOREVER
from ..exchange.packing import arrow_bytes, table_of
from ..exchange.wire import RowWire
from .log import EXTRA_STATE, BlobStore

FIRST_OF_OPEN_ROWS: Final = 1 << 41
"""The first number of the blobs with open rows."""
FORMAT: Final = 1
"""The version of the format of the blobs."""
_PORT: Final = "port"
_POSITION: Final = "position"
_KINDS: Final = {str: "s", int: "i", float: "n", bool: "b"}
"""The first letter of the columns of each type (:class:`RowWire`)."""


@dataclass(frozen=True, slots=True)
class Changes:
    """An entry of the directory: the changes of one batch or of consecutive ones.

    Attributes:
        number: the key of the blob in the store.
        size: the compressed size in bytes.
        rows: the number of rows that began or ended.
    """

    number: int
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class OpenRowsDirectory:
    """The blobs of the open rows, oldest first.

    Attributes:
        version: the format of the blobs; 0 if open rows were never stored.
        blobs: the entries.
        next_number: the number of the next blob.
    """

    version: int = 0
    blobs: tuple[Changes, ...] = ()
    next_number: int = FIRST_OF_OPEN_ROWS


class OpenRows:
    """The open rows of one partition.

    Attributes:
        wire: the format of the rows.
        directory: the entries of all blobs; the caller stores the directory beside the blobs.
    """

    def __init__(
        self, wire: RowWire, keys: int, store: BlobStore, directory: OpenRowsDirectory
    ) -> None:
        """Opens the rows.

        Args:
            wire: the format of the rows: the columns of the key, then those of the aggregates.
            keys: the number of columns of the key.
            store: the store of the blobs.
            directory: the directory after the last batch.

        Raises:
            ValueError: if a later version of Headrace wrote the blobs.
        """
        if directory.version > FORMAT:
            raise ValueError(
                f"the open rows have format {directory.version}, this Headrace reads {FORMAT}: "
                "continue with the version that wrote the checkpoint"
            )
        self.wire = wire
        self._key_width = keys
        self._keys = [name for j in range(keys) for name in wire.columns_of(j)]
        self._store = store
        self.directory = directory

    @property
    def is_stored(self) -> bool:
        """Whether open rows were stored, if only that there are none."""
        return self.directory.version > 0

    def append(self, changes: pa.Table) -> None:
        """Stores the changes of a batch, in their order."""
        older = list(self.directory.blobs)
        rows = self._latest(changes, is_oldest=not older)
        data = self._data(rows)
        while rows.num_rows and older and older[-1].size <= 2 * len(data):
            before = older.pop()
            both = pa.concat_tables([self._read(before), rows])
            rows = self._latest(both, is_oldest=not older)
            data = self._data(rows)
            self._store.remove(before.number)
        number = self.directory.next_number
        if rows.num_rows:
            self._store.put(number, data)
            older.append(Changes(number, len(data), rows.num_rows))
            number += 1
        self.directory = OpenRowsDirectory(FORMAT, tuple(older), number)

    def rows(self, until: int) -> pa.Table:
        """The open rows, with ``until`` as their expiry."""
        rows = self._latest(
            pa.concat_tables([self.wire.schema.empty_table(), *map(self._read, self.blobs)]),
            is_oldest=True,
        )
        expiry = pa.array(np.full(rows.num_rows, until, np.int64))
        return rows.set_column(rows.schema.get_field_index("exp"), "exp", expiry)

    @property
    def blobs(self) -> tuple[Changes, ...]:
        """The entries of all blobs, oldest first."""
        return self.directory.blobs

    def clear(self) -> None:
        """Removes all open rows, at the end of the input."""
        for blob in self.blobs:
            self._store.remove(blob.number)
        self.directory = replace(self.directory, version=0, blobs=())

    def adopt(self) -> None:
        """Takes over the blob in which earlier versions stored all open rows, as JSON."""
        at, rows = self._key_width, []
        for row in json.loads(zlib.decompress(self._store.get(EXTRA_STATE))):
            values = enumerate([*row[:at], *row[at + 1 :]])
            fields = {f"{_KINDS[type(v)]}{j}": v for j, v in values if v is not None}
            rows.append({_PORT: 0, "ts": row[at], "exp": FOREVER, **fields})
        self.append(pa.Table.from_pylist(rows, self.wire.schema))
        self._store.remove(EXTRA_STATE)

    def _latest(self, changes: pa.Table, *, is_oldest: bool) -> pa.Table:
        """The last change of each key; of the oldest changes, those that are not an end."""
        if self._keys and changes.num_rows:
            position = pa.array(np.arange(changes.num_rows))
            keys = changes.select(self._keys).append_column(_POSITION, position)
            groups = keys.group_by(self._keys, use_threads=False)
            last = groups.aggregate([(_POSITION, "max")])[f"{_POSITION}_max"]
            changes = changes.take(np.sort(last.to_numpy()))
        else:
            changes = changes.slice(max(0, changes.num_rows - 1))
        return changes.filter(pc.field("exp") == FOREVER) if is_oldest else changes

    @staticmethod
    def _data(rows: pa.Table) -> bytes:
        """The rows without the columns that are empty."""
        filled = [
            name
            for name in rows.schema.names
            if name != _PORT and rows[name].null_count < rows.num_rows
        ]
        chosen = rows.select(filled).combine_chunks().to_batches()
        return arrow_bytes(chosen[0], compression="zstd") if chosen else b""

    def _read(self, blob: Changes) -> pa.Table:
        stored = table_of(self._store.get(blob.number))
        names = set(stored.schema.names)
        columns = [
            stored[field.name]
            if field.name in names
            else pa.chunked_array([_default(field, stored.num_rows)])
            for field in self.wire.schema
        ]
        return pa.Table.from_arrays(columns, schema=self.wire.schema)


def _default(field: pa.Field[Any], count: int) -> pa.Array[Any]:
    """The values of a column that is not stored."""
    if field.name == _PORT:
        return pa.array(np.zeros(count, np.int32))
    nulls: pa.Array[Any] = pa.nulls(count, field.type)
    return nulls

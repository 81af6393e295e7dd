"""The dictionary: exact, reversible codes for vertices and properties.

In: pyarrow arrays of strings, integers, numbers or booleans. Out: dense int64 codes, and back.
The string ``"1"`` and the integer ``1`` are different values and have different codes, and so
have the integer ``1`` and the number ``1.0``. To compare columns of different types, decode the
codes and compare the values. A missing value is a value of its own here, equal to itself, so
that a set holds it once; NaN is missing. -0.0 is 0.0.

Invariant: two values have equal codes if and only if they are equal, among all values
whose expiry has not passed at the latest :meth:`Dictionary.purge`. A purge frees the codes of
expired values and later values get them, so decode results before a purge. (Operators may still
hold expired rows with a freed code: they treat such rows as absent.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .batch import FOREVER, Batch, IntArray
from .kernels import composed
from .kernels import vertices as kernel
from .kernels.tables import EMPTY, capacity_for, enlarged
from .schedule import Schedule
from .values import Values, bits_of, missing, plain, string_buffers

_SMALLEST = 64
_SMALLEST_HEAP = 1024
_LARGEST_STRING_ARRAY = 2**31 - 1
_MOST_ENTRIES: Final = 2**31
"""Codes fit into 32 bits with a sign: operators hold them so."""
_NAMES = {
    kernel.STRING: "string",
    kernel.INTEGER: "integer",
    kernel.NUMBER: "number",
    kernel.BOOLEAN: "boolean",
}


BLOCK_ROWS: Final = 131_072
"""The most rows of one block of results: the text of a block has to fit into 2 GB."""


class Dictionary:
    """A bidirectional map between values and int64 codes.

    Args:
        lag: ticks that an entry stays beyond its expiry, for operators that hold expired values.
    """

    def __init__(self, lag: int = 0) -> None:
        self._lag = lag
        self._h: IntArray = np.zeros(kernel.HEADER_LENGTH, np.int64)
        self._h[kernel.FIRST_FREE] = EMPTY
        self._entries: IntArray = np.empty((_SMALLEST, kernel.ENTRY_FIELDS), np.int64)
        self._index: IntArray = np.full(capacity_for(_SMALLEST), EMPTY, np.int64)
        self._heap: NDArray[np.uint8] = np.empty(_SMALLEST_HEAP, np.uint8)
        self._lists: IntArray = np.empty((0, composed.LIST_FIELDS), np.int64)
        self._schedule = Schedule()
        self._has_others = False

    def encode(self, values: Values, expiries: IntArray) -> IntArray:
        """The codes of ``values``; a new value gets a new code.

        Row ``i`` may refer to its value until ``expiries[i]``. The dictionary keeps an entry until
        the largest expiry of its rows.

        Raises:
            ValueError: for a type that is not a value type.
            OverflowError: for more than 2³¹ different values that are valid at once.
        """
        values = plain(values)
        if len(values) != len(expiries):
            raise ValueError(f"{len(values)} values but {len(expiries)} expiries")
        expiries = np.require(expiries, np.int64, ["C", "W"])
        absent = missing(values)
        if not absent.any():
            return self._encode_present(values, expiries)
        there = ~absent
        codes = np.empty(len(values), np.int64)
        codes[there] = self._encode_present(values.filter(pa.array(there)), expiries[there])
        nothing = np.zeros(len(values) - int(there.sum()), np.int64)
        codes[absent] = self._encode_bits(kernel.MISSING, nothing, expiries[absent])
        return codes

    def _encode_present(self, values: pa.Array[Any], expiries: IntArray) -> IntArray:
        kind = values.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self._encode_strings(values.cast(pa.large_string()), expiries)
        if pa.types.is_null(kind):
            return np.empty(0, np.int64)
        return self._encode_bits(_kind_of(kind), bits_of(values), expiries)

    def _encode_bits(self, kind: int, bits: IntArray, expiries: IntArray) -> IntArray:
        codes = np.empty(len(bits), np.int64)
        self._has_others |= kind != kernel.INTEGER and len(bits) > 0
        self._h[kernel.ROW] = 0
        while kernel.encode_bits(self._h, kind, bits, expiries, self._entries, self._index, codes):
            self._enlarge_entries()
        return codes

    def _encode_strings(self, strings: pa.Array[Any], expiries: IntArray) -> IntArray:
        codes = np.empty(len(strings), np.int64)
        if not len(strings):
            return codes
        offsets, data = string_buffers(strings)
        self._h[kernel.ROW] = 0
        while status := kernel.encode_strings(
            self._h, offsets, data, expiries, self._entries, self._index, self._heap, codes
        ):
            row = self._h[kernel.ROW]
            if status == kernel.ENTRIES_FULL:
                self._enlarge_entries()
                continue
            table = self.arrays(0, int(offsets[row + 1] - offsets[row]))
            if status == kernel.LIST_FOUND:
                composed.write_out(table, codes[row])
        return codes

    def _enlarge_entries(self) -> None:
        length = 2 * len(self._entries)
        if length > _MOST_ENTRIES:
            raise OverflowError(
                f"more than {_MOST_ENTRIES:,} different values are valid at once in one process; "
                "shorten the windows, or run the plan on more partitions"
            )
        self._entries = enlarged(self._entries, length)
        self._index = np.full(capacity_for(length), EMPTY, np.int64)
        kernel.reindex(self._h, self._entries, self._index)

    def arrays(self, entries: int, text: int) -> kernel.Table:
        """The arrays for kernels that add strings, with room for more.

        They are valid until the next call that encodes or purges.

        Args:
            entries: the number of strings that the kernel may add.
            text: the bytes that it may write.
        """
        while self.entries + entries > len(self._entries):
            self._enlarge_entries()
        need = int(self._h[kernel.HEAP_TOP]) + text
        if need > len(self._heap):
            self._heap = enlarged(self._heap, max(2 * len(self._heap), need))
        lists = int(self._h[kernel.LISTS]) + entries
        if lists > len(self._lists):
            self._lists = enlarged(self._lists, max(2 * len(self._lists), lists))
        return self._table

    @property
    def _table(self) -> kernel.Table:
        return kernel.Table(self._h, self._entries, self._index, self._heap, self._lists)

    def _write_out(self) -> None:
        """Gives all composed strings their bytes."""
        if self._h[kernel.LISTS]:
            composed.write_out_all(self.arrays(0, int(composed.bytes_of_lists(self._table))))

    def constant(self, value: str | int | float | None) -> int:
        """The code of a constant in a query; the entry never expires."""
        code = self.encode(pa.array([value]), np.array([FOREVER], np.int64))
        return int(code[0])

    def hold(self, codes: IntArray, until: IntArray) -> None:
        """Keeps the values of codes until after ``until``, for operators that return expired rows.

        ``codes`` may have several rows, each as long as ``until``.
        """
        later = np.minimum(until, FOREVER - 1) + 1
        for row in np.atleast_2d(codes):
            np.maximum.at(self._entries[:, kernel.EXPIRY], row, later)

    def are_vertices(self, codes: IntArray) -> bool:
        """Whether all codes stand for strings and integers.

        In SQL two vertices are equal if and only if their codes are. For other values SQL equality
        may differ: a missing value equals nothing, and an integer may equal a number.
        """
        return not self._has_others or bool((self._lengths(codes) >= kernel.INTEGER).all())

    def kinds(self, codes: IntArray) -> IntArray:
        """The kind of each value: ``STRING``, ``INTEGER``, ``NUMBER``, ``BOOLEAN`` or ``MISSING``
        (constants of :mod:`headrace.executor.kernels.vertices`)."""
        return np.minimum(self._lengths(codes), kernel.STRING)

    def integers(self, codes: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """The integer of each code, and a mask of the codes that stand for an integer."""
        return np.asarray(self._entries[codes, kernel.START]), self.kinds(codes) == kernel.INTEGER

    @property
    def strings(self) -> NDArray[np.uint8]:
        """The bytes of strings, for kernels that compare values; valid as long as :attr:`table`."""
        self._write_out()
        return self._heap

    @property
    def table(self) -> IntArray:
        """The entries by code (fields of :mod:`headrace.executor.kernels.vertices`), for kernels
        that compare values; valid until the next call that encodes or purges."""
        self._write_out()
        return self._entries

    def _lengths(self, codes: IntArray) -> IntArray:
        return np.asarray(self._entries[codes, kernel.LENGTH])

    def partitions(self, codes: IntArray, partitions: int) -> IntArray:
        """The partition of the value of each code, out of ``partitions``.

        Equals :func:`headrace.executor.partitions.partitions_of` over the values.
        """
        partition_of = np.zeros(len(codes), np.int64)
        if partitions > 1:
            self._write_out()
            codes = np.require(codes, np.int64, ["C", "W"])
            heap = self._heap.view()
            heap.flags.writeable = False  # kernels are compiled for read-only bytes
            kernel.place_codes(self._entries, heap, codes, partitions, partition_of)
        return partition_of

    def decode(self, codes: IntArray) -> pa.Array[Any]:
        """The values of codes from :meth:`encode` that no purge has freed; null where missing.

        The type is ``string`` (``large_string`` beyond 2 GB of text), ``int64``, ``double`` or
        ``bool``. Values of mixed types are a ``dense_union`` of these types, in this order. If all
        values are missing the type is ``null``. No codes give an empty ``string`` array.
        """
        codes = np.require(codes, np.int64, ["C", "W"])
        if not len(codes):
            return pa.array([], pa.string())
        kinds = self.kinds(codes)
        first = int(kinds[0])
        if (kinds == first).all():
            return self._decode_kind(first, codes)
        places = {kind: kinds == kind for kind in _NAMES}
        present = [kind for kind, own in places.items() if own.any()]
        parts = [self._decode_kind(kind, codes[places[kind]]) for kind in present]
        if len(present) == 1:
            own = places[present[0]]
            return parts[0].take(pa.array(np.cumsum(own) - 1, mask=~own))
        # Missing values refer to a null appended to the first part.
        parts[0] = pa.concat_arrays([parts[0], pa.nulls(1, parts[0].type)])
        number = np.zeros(len(codes), np.int8)
        offsets = np.full(len(codes), len(parts[0]) - 1, np.int32)
        for position, kind in enumerate(present):
            own = places[kind]
            number[own] = position
            offsets[own] = np.arange(own.sum())
        return pa.UnionArray.from_dense(
            pa.array(number, pa.int8()),
            pa.array(offsets, pa.int32()),
            parts,
            [_NAMES[kind] for kind in present],
        )

    def _decode_kind(self, kind: int, codes: IntArray) -> pa.Array[Any]:
        if kind == kernel.STRING:
            return self._decode_strings(codes)
        if kind == kernel.MISSING:
            return pa.nulls(len(codes))
        bits = self._entries[codes, kernel.START]
        if kind == kernel.NUMBER:
            return pa.array(bits.view(np.float64), pa.float64())
        if kind == kernel.BOOLEAN:
            return pa.array(bits.astype(np.bool_), pa.bool_())
        return pa.array(bits, pa.int64())

    def _decode_strings(self, codes: IntArray) -> pa.Array[Any]:
        offsets = np.empty(len(codes) + 1, np.int64)
        kernel.string_offsets(self._entries, codes, offsets)
        data = np.empty(offsets[-1], np.uint8)
        composed.copy_strings(self._table, codes, offsets, data)
        if len(data) > _LARGEST_STRING_ARRAY:
            return pa.LargeStringArray.from_buffers(
                len(codes), pa.py_buffer(offsets.data), pa.py_buffer(data.data)
            )
        return pa.StringArray.from_buffers(
            len(codes), pa.py_buffer(offsets.astype(np.int32).data), pa.py_buffer(data.data)
        )

    def tick(self, now: int) -> None:
        """Purges if many entries may have expired by ``now`` since the last purge."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Frees the entries that expired at or before ``now`` less the lag."""
        composed.keep_lists(self._table, now - self._lag)
        held, lasting, latest = kernel.give_back(self._h, self._entries, now - self._lag)
        self._index = np.full_like(self._index, EMPTY)
        kernel.reindex(self._h, self._entries, self._index)
        if self._h[kernel.HEAP_TOP] > 2 * held + _SMALLEST_HEAP:
            fresh = np.empty(max(_SMALLEST_HEAP, 3 * held // 2), np.uint8)
            kernel.move_strings(self._h, self._entries, self._heap, fresh)
            self._heap = fresh
        self._schedule.swept(now, lasting, latest)

    @property
    def entries(self) -> int:
        """The number of values that have a code."""
        return int(self._h[kernel.COUNT])

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        return sum(array.nbytes for array in self._table)


def _kind_of(kind: pa.DataType) -> int:
    if pa.types.is_floating(kind):
        return kernel.NUMBER
    return kernel.BOOLEAN if pa.types.is_boolean(kind) else kernel.INTEGER


def decoded(batch: Batch, dictionary: Dictionary, names: Sequence[str]) -> pa.RecordBatch:
    """Decodes a batch of results: columns of these names, ``ts`` and ``exp`` (null: endless)."""
    columns = [
        *(dictionary.decode(codes) for codes in batch.columns),
        pa.array(batch.ts),
        pa.array(batch.exp, mask=batch.exp == FOREVER),
    ]
    return pa.RecordBatch.from_arrays(columns, [*names, "ts", "exp"])

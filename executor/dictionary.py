"""The vertex dictionary: exact, reversible codes for vertices.

In: pyarrow arrays of strings or integers. Out: dense int64 codes, and back. The string
``"1"`` and the integer ``1`` are different vertices and have different codes.

Invariant: two vertices have equal codes if and only if they are equal, among all those
whose expiry has not passed at the latest :meth:`Dictionary.purge`. Codes are given back
after that and used again, so decode results before purging. (Operators may still hold what
has expired under such a code: they treat it as absent, whoever it meant.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from executor.batch import FOREVER, IntArray
from executor.kernels import vertices as kernel
from executor.kernels.tables import EMPTY, capacity_for, enlarged
from executor.placement import string_buffers
from executor.schedule import Schedule

_SMALLEST = 64
_SMALLEST_HEAP = 1024
_LARGEST_STRING_ARRAY = 2**31 - 1
_STRING, _INTEGER = 0, 1


class Dictionary:
    """Vertices to codes and back."""

    def __init__(self) -> None:
        self._h: IntArray = np.zeros(kernel.HEADER_LENGTH, np.int64)
        self._h[kernel.FIRST_FREE] = EMPTY
        self._entries: IntArray = np.empty((_SMALLEST, kernel.ENTRY_FIELDS), np.int64)
        self._index: IntArray = np.full(capacity_for(_SMALLEST), EMPTY, np.int64)
        self._heap: NDArray[np.uint8] = np.empty(_SMALLEST_HEAP, np.uint8)
        self._schedule = Schedule()

    def encode(
        self, vertices: pa.Array[Any] | pa.ChunkedArray[Any], expiries: IntArray
    ) -> IntArray:
        """The codes of ``vertices``, new ones given where needed.

        ``expiries[i]`` is until when row ``i`` may refer to its vertex; the dictionary
        keeps an entry until the largest expiry seen for it.

        Raises:
            ValueError: on a null, or a type that is neither string nor integer.
        """
        if isinstance(vertices, pa.ChunkedArray):
            vertices = vertices.combine_chunks()
        if pa.types.is_dictionary(vertices.type):
            vertices = vertices.cast(vertices.type.value_type)
        if vertices.null_count:
            raise ValueError(f"{vertices.null_count} of {len(vertices)} vertices are null")
        if len(vertices) != len(expiries):
            raise ValueError(f"{len(vertices)} vertices but {len(expiries)} expiries")
        expiries = np.require(expiries, np.int64, ["C", "W"])
        if pa.types.is_integer(vertices.type):
            return self._encode_integers(np.array(vertices.cast(pa.int64())), expiries)
        if pa.types.is_string(vertices.type) or pa.types.is_large_string(vertices.type):
            return self._encode_strings(vertices.cast(pa.large_string()), expiries)
        raise ValueError(f"vertices are strings or integers, not {vertices.type}")

    def _encode_integers(self, vertices: IntArray, expiries: IntArray) -> IntArray:
        codes = np.empty(len(vertices), np.int64)
        self._h[kernel.ROW] = 0
        while kernel.encode_integers(
            self._h, vertices, expiries, self._entries, self._index, codes
        ):
            self._enlarge_entries()
        return codes

    def _encode_strings(self, vertices: pa.Array[Any], expiries: IntArray) -> IntArray:
        codes = np.empty(len(vertices), np.int64)
        if not len(vertices):
            return codes
        offsets, data = string_buffers(vertices)
        self._h[kernel.ROW] = 0
        while status := kernel.encode_strings(
            self._h, offsets, data, expiries, self._entries, self._index, self._heap, codes
        ):
            if status == kernel.ENTRIES_FULL:
                self._enlarge_entries()
            else:
                row = self._h[kernel.ROW]
                need = int(self._h[kernel.HEAP_TOP] + offsets[row + 1] - offsets[row])
                self._heap = enlarged(self._heap, max(2 * len(self._heap), need))
        return codes

    def _enlarge_entries(self) -> None:
        length = 2 * len(self._entries)
        self._entries = enlarged(self._entries, length)
        self._index = np.full(capacity_for(length), EMPTY, np.int64)
        kernel.reindex(self._h, self._entries, self._index)

    def constant(self, vertex: str | int) -> int:
        """The code of a vertex named in a query; it is kept forever."""
        kind = pa.string() if isinstance(vertex, str) else pa.int64()
        code = self.encode(pa.array([vertex], kind), np.array([FOREVER], np.int64))
        return int(code[0])

    def are_integers(self, codes: IntArray) -> NDArray[np.bool_]:
        """Which of the codes stand for integers; the others stand for strings."""
        return np.asarray(self._entries[codes, kernel.LENGTH] == kernel.INTEGER)

    def partitions(self, codes: IntArray, partitions: int) -> IntArray:
        """The partitions, of so many, to which the vertices of codes belong.

        The same as :func:`executor.placement.partitions_of` says of the vertices.
        """
        found = np.zeros(len(codes), np.int64)
        if partitions > 1:
            codes = np.require(codes, np.int64, ["C", "W"])
            kernel.place_codes(self._entries, codes, partitions, found)
        return found

    def decode(self, codes: IntArray) -> pa.Array[Any]:
        """The vertices of codes given by :meth:`encode` and not yet given back.

        The type is ``string`` (``large_string`` beyond 2 GB of text) or ``int64``, and
        ``dense_union`` of both where strings and integers are mixed. No codes give an
        empty ``string`` array.
        """
        codes = np.require(codes, np.int64, ["C", "W"])
        integers = self.are_integers(codes)
        if not integers.any():
            return self._decode_strings(codes)
        if integers.all():
            return pa.array(self._entries[codes, kernel.START], pa.int64())
        offsets = np.where(integers, np.cumsum(integers), np.cumsum(~integers)) - 1
        return pa.UnionArray.from_dense(
            pa.array(np.where(integers, _INTEGER, _STRING), pa.int8()),
            pa.array(offsets, pa.int32()),
            [
                self._decode_strings(codes[~integers]),
                pa.array(self._entries[codes[integers], kernel.START], pa.int64()),
            ],
            ["string", "integer"],
        )

    def _decode_strings(self, codes: IntArray) -> pa.Array[Any]:
        offsets = np.empty(len(codes) + 1, np.int64)
        kernel.string_offsets(self._entries, codes, offsets)
        data = np.empty(offsets[-1], np.uint8)
        kernel.copy_strings(self._entries, self._heap, codes, offsets, data)
        if len(data) > _LARGEST_STRING_ARRAY:
            return pa.LargeStringArray.from_buffers(
                len(codes), pa.py_buffer(offsets.data), pa.py_buffer(data.data)
            )
        return pa.StringArray.from_buffers(
            len(codes), pa.py_buffer(offsets.astype(np.int32).data), pa.py_buffer(data.data)
        )

    def tick(self, now: int) -> None:
        """Time has come to ``now``: purges if much may have expired since it was done last."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Gives back the entries that expired at or before ``now``."""
        held, lasting, latest = kernel.give_back(self._h, self._entries, now)
        self._index = np.full_like(self._index, EMPTY)
        kernel.reindex(self._h, self._entries, self._index)
        if self._h[kernel.HEAP_TOP] > 2 * held + _SMALLEST_HEAP:
            fresh = np.empty(max(_SMALLEST_HEAP, 3 * held // 2), np.uint8)
            kernel.move_strings(self._h, self._entries, self._heap, fresh)
            self._heap = fresh
        self._schedule.swept(now, lasting, latest)

    @property
    def entries(self) -> int:
        """How many vertices have a code."""
        return int(self._h[kernel.COUNT])

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        return self._entries.nbytes + self._index.nbytes + self._heap.nbytes

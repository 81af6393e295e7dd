"""The dictionary of values: entries, an index over them, and the bytes of strings.

The entry of a code is (start, length, hash, expiry). A string lies at ``start`` in the bytes
``heap``; its hash is made of a *rolled* one, so that a text made of others has the hash without a
look at each byte. For a value of another kind ``start`` has its 64 bits, and ``length`` is its
kind: :data:`INTEGER`, :data:`NUMBER`, :data:`BOOLEAN` or :data:`MISSING`. A free code has the
length :data:`FREE`, and ``start`` is the next free code. The index holds codes with open
addressing. Values are compared in full, with their kind, so equal hashes do no harm.

A string may be *composed* (:mod:`headrace.executor.kernels.composed`): it has no bytes in the heap,
and ``start`` is less than 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .tables import EMPTY, mixed

Bytes = NDArray[np.uint8]

# The header.
COUNT, USED, FIRST_FREE, HEAP_TOP, ROW, LISTS, HEADER_LENGTH = range(7)
# COUNT entries are in use; codes from USED on have never been used. FIRST_FREE begins the list of
# free codes, HEAP_TOP is the used part of the heap, ROW is the next row to encode, and LISTS is the
# number of composed strings.

START, LENGTH, HASH, EXPIRY, ENTRY_FIELDS = range(5)
INTEGER, FREE, NUMBER, BOOLEAN, MISSING = -1, -2, -3, -4, -5
STRING = 0
"""The kind of a string, whatever its length."""

DONE, ENTRIES_FULL, HEAP_FULL, LIST_FOUND = range(4)


BASE = 1099511628211
"""The base of rolled hashes: that of a text is the value of its bytes as digits, modulo 2^64."""


class Table(NamedTuple):
    """The arrays of a dictionary.

    Attributes:
        header: int64[HEADER_LENGTH].
        entries: int64[capacity, ENTRY_FIELDS].
        slots: the index: the codes by hash.
        heap: the bytes of strings.
        lists: the composed strings.
    """

    header: IntArray
    entries: IntArray
    slots: IntArray
    heap: Bytes
    lists: IntArray


@kernel
def rolled(data: Bytes, start: int, end: int) -> int:
    """The rolled hash of the bytes from ``start`` to ``end``.

    That of a text and another one behind it is the first times ``BASE ** length of the second``,
    plus the second.
    """
    result = 0
    for i in range(start, end):
        result = result * BASE + data[i]
    return result


@kernel
def hash_of_string(roll: int, length: int) -> int:
    """The hash of a string in the index, from its rolled hash."""
    return mixed(roll + length)


@kernel
def _hash_bytes(data: Bytes, start: int, end: int) -> int:
    result = end - start
    for i in range(start, end):
        result = (result ^ data[i]) * 1099511628211
    return mixed(result)


@kernel
def _partition(hashed: int, partitions: int) -> int:
    """The partition of a hash, from bits that do not determine the slot in the index.

    Otherwise all values of a partition would crowd into few slots.
    """
    return ((mixed(hashed) >> 32) & 0x7FFFFFFF) % partitions


@kernel
def place_strings(offsets: IntArray, data: Bytes, partitions: int, out: IntArray) -> None:
    """Writes the partitions of the strings ``data[offsets[i] : offsets[i + 1]]``.

    State on disk depends on them, so they have a hash of their own.
    """
    for i in range(out.shape[0]):
        out[i] = _partition(_hash_bytes(data, offsets[i], offsets[i + 1]), partitions)


@kernel
def place_bits(bits: IntArray, partitions: int, out: IntArray) -> None:
    """Writes the partitions of values other than strings, from their 64 bits."""
    for i in range(out.shape[0]):
        out[i] = _partition(mixed(bits[i]), partitions)


@kernel
def place_codes(
    entries: IntArray, heap: Bytes, codes: IntArray, partitions: int, out: IntArray
) -> None:
    """Writes the partitions of the values of codes."""
    for i in range(out.shape[0]):
        start, length = entries[codes[i], START], entries[codes[i], LENGTH]
        hashed = entries[codes[i], HASH]
        if length >= STRING:
            hashed = _hash_bytes(heap, start, start + length)
        out[i] = _partition(hashed, partitions)


@kernel
def claim(h: IntArray, entries: IntArray) -> int:
    """A free code; there is one."""
    code = h[FIRST_FREE]
    if code == EMPTY:
        code = h[USED]
        h[USED] += 1
    else:
        h[FIRST_FREE] = entries[code, START]
    h[COUNT] += 1
    return code


@kernel
def _same(entries: IntArray, code: int, heap: Bytes, data: Bytes, start: int, length: int) -> bool:
    there = entries[code, START]
    for i in range(length):
        if heap[there + i] != data[start + i]:
            return False
    return True


@kernel
def encode_strings(
    h: IntArray,
    offsets: IntArray,
    data: Bytes,
    expiries: IntArray,
    entries: IntArray,
    index: IntArray,
    heap: Bytes,
    codes: IntArray,
) -> int:
    """Writes the codes of the strings ``data[offsets[i] : offsets[i + 1]]``.

    Stops where a string is probably equal to a composed one, whose code it writes: the caller has
    that written out, and calls again.
    """
    mask = index.shape[0] - 1
    while h[ROW] < codes.shape[0]:
        row = h[ROW]
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        hashed = hash_of_string(rolled(data, start, start + length), length)
        slot = hashed & mask
        code = index[slot]
        while code != EMPTY:
            if entries[code, HASH] == hashed and entries[code, LENGTH] == length:
                if entries[code, START] < 0:
                    codes[row] = code
                    return LIST_FOUND
                if _same(entries, code, heap, data, start, length):
                    break
            slot = (slot + 1) & mask
            code = index[slot]
        if code == EMPTY:
            if h[COUNT] == entries.shape[0]:
                return ENTRIES_FULL
            if h[HEAP_TOP] + length > heap.shape[0]:
                return HEAP_FULL
            code = claim(h, entries)
            index[slot] = code
            top = h[HEAP_TOP]
            for i in range(length):
                heap[top + i] = data[start + i]
            h[HEAP_TOP] = top + length
            entries[code, START], entries[code, LENGTH] = top, length
            entries[code, HASH], entries[code, EXPIRY] = hashed, expiries[row]
        elif entries[code, EXPIRY] < expiries[row]:
            entries[code, EXPIRY] = expiries[row]
        codes[row] = code
        h[ROW] += 1
    return DONE


@kernel
def encode_bits(
    h: IntArray,
    kind: int,
    bits: IntArray,
    expiries: IntArray,
    entries: IntArray,
    index: IntArray,
    codes: IntArray,
) -> int:
    """Writes the codes of values of one kind other than strings."""
    mask = index.shape[0] - 1
    while h[ROW] < codes.shape[0]:
        row = h[ROW]
        value = bits[row]
        hashed = mixed(value)
        slot = hashed & mask
        code = index[slot]
        while code != EMPTY and not (
            entries[code, START] == value and entries[code, LENGTH] == kind
        ):
            slot = (slot + 1) & mask
            code = index[slot]
        if code == EMPTY:
            if h[COUNT] == entries.shape[0]:
                return ENTRIES_FULL
            code = claim(h, entries)
            index[slot] = code
            entries[code, START], entries[code, LENGTH] = value, kind
            entries[code, HASH], entries[code, EXPIRY] = hashed, expiries[row]
        elif entries[code, EXPIRY] < expiries[row]:
            entries[code, EXPIRY] = expiries[row]
        codes[row] = code
        h[ROW] += 1
    return DONE


@kernel
def give_back(h: IntArray, entries: IntArray, now: int) -> tuple[int, int, int]:
    """Frees the codes that expired at or before ``now``.

    The index must be rebuilt afterwards (:func:`reindex`).

    Returns the bytes of strings in use, the number of codes that never expire, and the latest
    expiry of the others.
    """
    held, lasting, latest = 0, 0, now
    for code in range(h[USED]):
        length = entries[code, LENGTH]
        if length == FREE:
            continue
        if entries[code, EXPIRY] <= now:
            entries[code, LENGTH] = FREE
            entries[code, START] = h[FIRST_FREE]
            h[FIRST_FREE] = code
            h[COUNT] -= 1
        else:
            if length > 0 and entries[code, START] >= 0:
                held += length
            if entries[code, EXPIRY] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, entries[code, EXPIRY])
    return held, lasting, latest


@kernel
def reindex(h: IntArray, entries: IntArray, index: IntArray) -> None:
    """Adds every entry to an empty index."""
    mask = index.shape[0] - 1
    for code in range(h[USED]):
        if entries[code, LENGTH] != FREE:
            slot = entries[code, HASH] & mask
            while index[slot] != EMPTY:
                slot = (slot + 1) & mask
            index[slot] = code


@kernel
def move_strings(h: IntArray, entries: IntArray, heap: Bytes, fresh: Bytes) -> None:
    """Copies the strings in use to the begin of ``fresh``."""
    top = 0
    for code in range(h[USED]):
        start, length = entries[code, START], entries[code, LENGTH]
        if length >= 0 and start >= 0:
            source, target = heap[start : start + length], fresh[top : top + length]
            for i in range(length):
                target[i] = source[i]
            entries[code, START] = top
            top += length
    h[HEAP_TOP] = top


@kernel
def string_offsets(entries: IntArray, codes: IntArray, offsets: IntArray) -> None:
    """Writes the offsets of the strings of ``codes`` laid end to end."""
    offsets[0] = 0
    for i in range(codes.shape[0]):
        offsets[i + 1] = offsets[i] + entries[codes[i], LENGTH]

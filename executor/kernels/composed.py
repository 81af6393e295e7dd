"""Composed strings: lists as JSON that are known by a shorter list and one more element.

A composed string is the code of the list before its last element, EMPTY if there is none, and the
code of that element, a string with bytes. Its entry in the dictionary has the hash of its text,
but no bytes in the heap before one asks for them. ``start`` of the entry is ``~row``, its row in
``lists``: int64[capacity, LIST_FIELDS]. Two composed strings are equal if both codes are; with
another string the text is compared.

The rows are in the order in which they were made, so a list comes after the list before it.
"""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from .compiling import kernel
from .tables import EMPTY
from .vertices import EXPIRY, HASH, HEAP_TOP, LENGTH, LISTS, START, Bytes, Table, claim

CODE, BEFORE, LAST, LIST_FIELDS = range(4)
"""Fields of a composed string: its code, the list before its last element, and that element."""
COMMA, OPENING, CLOSING = 0x2C, 0x5B, 0x5D


@kernel
def code_of_list(
    table: Table, before: int, last: int, length: int, hashed: int, expiry: int
) -> int:
    """The code of the list ``before`` with the element ``last`` behind it.

    There is room for a new entry, a new composed string, and ``length`` bytes.
    """
    h, entries, index, lists = table.header, table.entries, table.slots, table.lists
    mask = index.shape[0] - 1
    slot = hashed & mask
    code = index[slot]
    while code != EMPTY:
        if entries[code, HASH] == hashed and entries[code, LENGTH] == length:
            start = entries[code, START]
            if start < 0:
                same = lists[~start, BEFORE] == before and lists[~start, LAST] == last
            else:
                same = _is_list_at(table, before, last, start, length)
            if same:
                entries[code, EXPIRY] = max(entries[code, EXPIRY], expiry)
                return code
        slot = (slot + 1) & mask
        code = index[slot]
    code = claim(h, entries)
    index[slot] = code
    row = h[LISTS]
    h[LISTS] += 1
    lists[row, CODE], lists[row, BEFORE], lists[row, LAST] = code, before, last
    entries[code, START], entries[code, LENGTH] = ~row, length
    entries[code, HASH], entries[code, EXPIRY] = hashed, expiry
    return code


@kernel
def _is_list_at(table: Table, before: int, last: int, start: int, length: int) -> bool:
    """Whether the text of a list lies at ``start``; writes it to the top of the heap."""
    top = table.header[HEAP_TOP]
    _write_list(table, before, last, table.heap, top + length)
    one, other = table.heap[start : start + length], table.heap[top : top + length]
    differ = np.int64(0)
    for i in range(length):  # without an early end: many bytes at once
        differ |= np.int64(one[i]) ^ np.int64(other[i])
    return differ == 0


@kernel
def _write_list(table: Table, before: int, last: int, out: Bytes, end: int) -> None:
    """Writes the text of a list, so that it ends before ``out[end]``.

    The loops run over slices, whose indexes are never negative: so they are compiled to copies of
    many bytes at once.
    """
    entries, heap = table.entries, table.heap
    end -= 1
    out[end] = CLOSING
    while True:
        start, length = entries[last, START], entries[last, LENGTH]
        source, target = heap[start : start + length], out[end - length : end]
        for i in range(length):
            target[i] = source[i]
        end -= length + 1
        out[end] = OPENING if before == EMPTY else COMMA
        if before == EMPTY:
            return
        start, length = entries[before, START], entries[before, LENGTH] - 1
        if start >= 0:
            source, target = heap[start : start + length], out[end - length : end]
            for i in range(length):
                target[i] = source[i]
            return
        before, last = table.lists[~start, BEFORE], table.lists[~start, LAST]


@kernel
def write_out(table: Table, code: int) -> None:
    """Gives a composed string its bytes in the heap, which has room for them."""
    h, entries, lists = table.header, table.entries, table.lists
    row, end = ~entries[code, START], h[HEAP_TOP] + entries[code, LENGTH]
    _write_list(table, lists[row, BEFORE], lists[row, LAST], table.heap, end)
    entries[code, START] = h[HEAP_TOP]
    h[HEAP_TOP] = end


@kernel
def write_out_all(table: Table) -> None:
    """Gives all composed strings their bytes in the heap, which has room for them."""
    for row in range(table.header[LISTS]):
        if table.entries[table.lists[row, CODE], START] == ~row:
            write_out(table, table.lists[row, CODE])
    table.header[LISTS] = 0


@kernel
def bytes_of_lists(table: Table) -> int:
    """The bytes of all composed strings."""
    total = 0
    for row in range(table.header[LISTS]):
        code = table.lists[row, CODE]
        if table.entries[code, START] == ~row:
            total += table.entries[code, LENGTH]
    return total


@kernel
def keep_lists(table: Table, now: int) -> None:
    """Keeps the parts of each composed string as long as itself; drops those that have expired.

    It comes before :func:`give_back` at the same time.
    """
    h, entries, lists = table.header, table.entries, table.lists
    for row in range(h[LISTS] - 1, -1, -1):
        code, before, last = lists[row, CODE], lists[row, BEFORE], lists[row, LAST]
        expiry = entries[code, EXPIRY]
        if entries[code, START] == ~row and expiry > now:
            entries[last, EXPIRY] = max(entries[last, EXPIRY], expiry)
            if before != EMPTY:
                entries[before, EXPIRY] = max(entries[before, EXPIRY], expiry)
    kept = 0
    for row in range(h[LISTS]):
        code = lists[row, CODE]
        if entries[code, START] == ~row and entries[code, EXPIRY] > now:
            entries[code, START] = ~kept
            for field in range(LIST_FIELDS):
                lists[kept, field] = lists[row, field]
            kept += 1
    h[LISTS] = kept


@kernel
def copy_strings(table: Table, codes: IntArray, offsets: IntArray, data: Bytes) -> None:
    """Copies the strings of ``codes`` end to end into ``data``."""
    for i in range(codes.shape[0]):
        start, length = table.entries[codes[i], START], table.entries[codes[i], LENGTH]
        if start < 0:
            before, last = table.lists[~start, BEFORE], table.lists[~start, LAST]
            _write_list(table, before, last, data, offsets[i + 1])
        else:
            source = table.heap[start : start + length]
            target = data[offsets[i] : offsets[i + 1]]
            for j in range(length):
                target[j] = source[j]

"""The lists that an aggregation collects, as JSON texts with numbers.

A list of an open row stays until the row is given. So a list that another one replaces is dropped
only after the results of the call have been made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..batch import IntArray
from ..dictionary import Dictionary
from ..json_text import json_lists, json_values
from ..kernels import aggregate_groups as layout
from ..kernels import aggregate_lists as kernel
from ..kernels import vertices

NOTHING = "[]"
"""The list without values; its number is 0."""


class Lists:
    """The texts of lists by number."""

    def __init__(self) -> None:
        self._texts: list[str] = [NOTHING]
        self._free: list[int] = []
        self._replaced: set[int] = set()
        self._characters = 0

    def add(self, text: str) -> int:
        """The number of a list; each list with values gets one of its own."""
        if text == NOTHING:
            return 0
        self._characters += len(text)
        if self._free:
            number = self._free.pop()
            self._texts[number] = text
        else:
            number = len(self._texts)
            self._texts.append(text)
        return number

    def texts(self, numbers: IntArray) -> pa.Array[Any]:
        """The lists with these numbers."""
        return pa.array([self._texts[number] for number in numbers.tolist()], pa.string())

    def renew(self, state: layout.Aggregates, dictionary: Dictionary) -> None:
        """Writes the lists of changed groups, and gives the groups the numbers of their lists."""
        sizes: IntArray = np.zeros(kernel.SIZE_FIELDS, np.int64)
        kernel.measure(state, sizes)
        lists: IntArray = np.empty((kernel.LIST_FIELDS, sizes[kernel.LISTS]), np.int64)
        items: IntArray = np.empty((kernel.ITEM_FIELDS, sizes[kernel.ITEMS]), np.int64)
        path: IntArray = np.empty(sizes[kernel.LONGEST], np.int64)
        kernel.write(state, lists, items, path)
        state.header[layout.DUE] = 0
        texts = _texts(lists[kernel.END], items, dictionary)
        rows, width = state.groups.rows, state.groups.columns.shape[0]
        opened = width + layout.GROUP_FIELDS + len(state.calls) * layout.STATE_FIELDS
        for group, call, text in zip(*lists[: kernel.END].tolist(), texts, strict=True):
            row = rows[group]
            at = width + layout.GROUP_FIELDS + call * layout.STATE_FIELDS + layout.NUMBER_OF_LIST
            is_open = row[width + layout.IS_OPEN] != 0
            shown = int(row[opened + 2 * call + 1]) if is_open else 0
            before = {int(row[at]), shown}
            number = shown if self._texts[shown] == text else self.add(text)
            row[at] = number
            self._replaced |= before - {number, 0}

    def drop_replaced(self) -> None:
        """Drops the lists that others have replaced."""
        for number in self._replaced:
            self._characters -= len(self._texts[number])
            self._texts[number] = ""
            self._free.append(number)
        self._replaced.clear()

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the texts, about."""
        return self._characters


def _texts(ends: IntArray, items: IntArray, dictionary: Dictionary) -> Sequence[str]:
    """The JSON of each list; list i ends before item ``ends[i]``."""
    items = items[:, : int(ends[-1])]
    kinds, bits = items[kernel.ITEM_KIND], items[kernel.ITEM_BITS]
    parts, places = [pa.array([], pa.string())], [np.empty(0, np.int64)]
    for kind in np.unique(kinds).tolist():
        own = np.flatnonzero(kinds == kind)
        parts.append(json_values(_values(kind, bits[own], dictionary)))
        places.append(own)
    order = np.empty(len(kinds), np.int64)
    order[np.concatenate(places)] = np.arange(len(kinds))
    whole: Any = pa.concat_arrays(parts)
    texts = whole.take(pa.array(np.repeat(order, items[kernel.ITEM_COPIES])))
    copies = np.r_[0, np.cumsum(items[kernel.ITEM_COPIES])]
    lists: list[str] = json_lists(texts, copies[ends]).to_pylist()
    return lists


def _values(kind: int, bits: IntArray, dictionary: Dictionary) -> pa.Array[Any]:
    if kind == vertices.STRING:
        return dictionary.decode(bits)
    if kind == vertices.NUMBER:
        return pa.array(bits.view(np.float64), pa.float64())
    return pa.array(bits != 0) if kind == vertices.BOOLEAN else pa.array(bits)

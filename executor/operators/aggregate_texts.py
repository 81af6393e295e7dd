"""The lists that an aggregation collects, and its partial sums, as texts with numbers.

A list is JSON. A text of an open row stays until the row is given. So a text that another one
replaces is dropped only after the results of the call have been made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..batch import IntArray
from ..dictionary import Dictionary
from ..json_text import json_lists, json_values
from ..kernels import aggregate_layout as layout
from ..kernels import aggregate_lists as kernel
from ..kernels import vertices
from ..kernels.tables import EMPTY

NOTHING = "[]"
"""The text without values; its number is 0."""


class Texts:
    """The texts of lists and partial sums by number."""

    def __init__(self) -> None:
        self._texts: list[str] = [NOTHING]
        self._free: list[int] = []
        self._replaced: set[int] = set()
        self._characters = 0

    def add(self, text: str) -> int:
        """The number of a text; each text with values gets one of its own."""
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
        """The texts with these numbers."""
        return pa.array([self._texts[number] for number in numbers.tolist()], pa.string())

    def renew(self, state: layout.Aggregates, dictionary: Dictionary) -> None:
        """Writes the texts of changed groups, and gives the groups their numbers."""
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
        for group, call, listed in zip(*lists[: kernel.END].tolist(), texts, strict=True):
            row = rows[group]
            fields = row[width + layout.GROUP_FIELDS + call * layout.STATE_FIELDS :]
            of_sums = state.calls[call, layout.FUNCTION] in (layout.PART, layout.SQUARES)
            is_part = of_sums and row[width + layout.ROWS] > 0
            text = _part(fields, state.limbs) if is_part else listed
            is_open = row[width + layout.IS_OPEN] != 0
            shown = int(row[opened + 2 * call + 1]) if is_open else 0
            before = {int(fields[layout.NUMBER_OF_TEXT]), shown}
            number = shown if self._texts[shown] == text else self.add(text)
            fields[layout.NUMBER_OF_TEXT] = number
            self._replaced |= before - {number, 0}

    def drop_replaced(self) -> None:
        """Drops the texts that others have replaced."""
        for number in self._replaced:
            self._characters -= len(self._texts[number])
            self._texts[number] = ""
            self._free.append(number)
        self._replaced.clear()

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the texts, about."""
        return self._characters


def _part(fields: IntArray, limbs: IntArray) -> str:
    """A partial sum: the numbers of values, floats and infinite floats, the two parts of the sum of
    the integers, and each limb that is not 0 with its value. The limbs of squares follow others."""
    numbers = fields[layout.VALUES : layout.LINK].tolist()
    link = int(fields[layout.LINK])
    if link != EMPTY:
        for limb in np.flatnonzero(limbs[link]).tolist():
            numbers += (limb, int(limbs[link, limb]))
    return " ".join(map(str, numbers))


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

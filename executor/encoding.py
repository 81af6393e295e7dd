"""Encodes the edges that scan inputs select: each edge once, for all scan inputs of its stream.

In: a record batch of edges, and the scan inputs of a plan. Out: a batch of dictionary codes for
each scan input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .batch import Batch, IntArray
from .counters import Work
from .dictionary import Dictionary
from .scans import ENDS, ScanInput, every_row

_READ_BY_NONE = -1
_TIME = pa.int64()


def encode(scan_input: ScanInput, edges: pa.RecordBatch, dictionary: Dictionary) -> Batch:
    """Encodes the edges that one scan input selected, as :func:`encode_edges` does."""
    (batch,) = encode_edges(edges, [(scan_input, every_row(edges))], dictionary)
    return batch


def encode_edges(
    edges: pa.RecordBatch, chosen: Sequence[tuple[ScanInput, IntArray]], dictionary: Dictionary
) -> list[Batch]:
    """Encodes the edges of scan inputs of one stream.

    A vertex keeps its code until the last scan input no longer needs it. In a stream with deletions
    an edge with ``-`` in the column ``op`` is a deletion. Its expiry is the negative one
    (:class:`headrace.executor.batch.Batch`) of an edge of the same ts.

    Args:
        edges: edges sorted by ts.
        chosen: each scan input with the positions of its edges, rising.
        dictionary: the dictionary of the codes.

    Raises:
        ValueError: if a vertex is null or a value does not have the declared type.
    """
    read, places = _union([rows for _, rows in chosen], edges.num_rows)
    ts = times_of(edges)[read]
    until = ts.copy()
    parts = []
    for (scan_input, rows), place in zip(chosen, places, strict=True):
        own = ts[place]
        part = _Part(scan_input, rows, place, own, scan_input.expiry(own))
        until[place] = np.maximum(until[place], part.exp)
        parts.append(part)
    codes = []
    for column, name in enumerate(ENDS):
        end = until
        if any(column in scan_input.columns for scan_input, _ in chosen):
            values = chosen[0][0].typed(_taken(edges, name, read), name, len(read))
            if values.null_count:
                raise ValueError(f"{values.null_count} of {len(values)} vertices are null")
            end = dictionary.encode(values, until)
        codes.append(end)
    return [part.batch(edges, codes, dictionary) for part in parts]


class _Part(NamedTuple):
    """The edges of one scan input.

    Attributes:
        scan_input: the scan input.
        rows: the positions of its edges.
        place: their places among the edges that any scan input reads.
        ts: their times.
        exp: their expiries.
    """

    scan_input: ScanInput
    rows: IntArray
    place: IntArray | slice
    ts: IntArray
    exp: IntArray

    def batch(
        self, edges: pa.RecordBatch, codes: Sequence[IntArray], dictionary: Dictionary
    ) -> Batch:
        """The batch, from the codes of the vertices of all edges that are read."""
        scan_input, exp = self.scan_input, self.exp
        columns = np.empty((len(scan_input.columns), len(exp)), np.int64)
        for number, column in enumerate(scan_input.columns):
            if column < len(ENDS):
                columns[number] = codes[column][self.place]
            else:
                name = scan_input.fields[column][0]
                values = scan_input.typed(_taken(edges, name, self.rows), name, len(exp))
                columns[number] = dictionary.encode(values, exp)
        if scan_input.deletes and (op := _taken(edges, "op", self.rows)) is not None:
            deletes = pc.fill_null(pc.equal(op, pa.scalar("-")), False)
            exp = np.where(np.asarray(deletes, np.bool_), ~exp, exp)
        return Batch(columns, scan_input.start(self.ts), exp)


def times_of(edges: pa.RecordBatch) -> IntArray:
    """The times of edges."""
    column = edges.column("ts")
    if column.type != _TIME:
        column = column.cast(_TIME)
    times: IntArray = column.to_numpy()
    return times


def _taken(edges: pa.RecordBatch, name: str, rows: IntArray) -> Any:
    """Some rows of a column; None if the column is absent."""
    number = edges.schema.get_field_index(name)
    if number < 0:
        return None
    column = edges.column(number)
    return column if len(rows) == len(column) else column.take(rows)


def _union(chosen: Sequence[IntArray], count: int) -> tuple[IntArray, list[IntArray | slice]]:
    """The positions that are in some of ``chosen``, and the place of each chosen one among them."""
    if len(chosen) == 1:
        return chosen[0], [slice(None)]
    is_read = np.zeros(count, np.bool_)
    for rows in chosen:
        is_read[rows] = True
    read = np.flatnonzero(is_read)
    place = np.cumsum(is_read) - 1
    return read, [slice(None) if len(rows) == len(read) else place[rows] for rows in chosen]


class EdgeReader:
    """Selects and encodes record batches for all scan inputs of a plan.

    Args:
        scan_inputs: the scan inputs.
        dictionary: the dictionary of the codes.

    Attributes:
        passed: by the node of a scan input, the work of its scan and of each of its FILTERs but the
            last.
    """

    def __init__(self, scan_inputs: Sequence[ScanInput], dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        labels = sorted({scan.label for one in scan_inputs for scan in one.scan.scans})
        self._labels = pa.array(labels, pa.string())
        self._streams: dict[str, list[tuple[ScanInput, NDArray[np.bool_]]]] = {}
        self.passed: dict[int, list[Work]] = {}
        for scan_input in scan_inputs:
            own = {scan.label for scan in scan_input.scan.scans}
            reads = np.array([*(label in own for label in labels), False])
            self._streams.setdefault(scan_input.scan.stream, []).append((scan_input, reads))
            self.passed[scan_input.node] = [Work() for _ in scan_input.predicates]

    def read(self, edges: pa.RecordBatch) -> dict[int, Batch]:
        """The batches of the scan inputs that select an edge, by node.

        Args:
            edges: as in :meth:`headrace.executor.scans.ScanInput.select`, sorted by ts.

        Raises:
            ValueError: if a vertex is null or a value does not have the declared type.
        """
        numbers = _numbers(edges.column("label"), self._labels)
        names = edges.schema.get_field_index("stream")
        batches: dict[int, Batch] = {}
        for stream, scan_inputs in self._streams.items():
            own = numbers
            if names >= 0:
                is_own = _numbers(edges.column(names), pa.array([stream], pa.string())) == 0
                own = np.where(is_own, numbers, _READ_BY_NONE)
            chosen = []
            for scan_input, reads in scan_inputs:
                rows = np.flatnonzero(reads[own])
                if len(rows) and scan_input.is_selective:
                    rows = self._narrowed(scan_input, edges, rows)
                if len(rows):
                    chosen.append((scan_input, rows))
            if chosen:
                encoded = encode_edges(edges, chosen, self._dictionary)
                batches.update(zip([one.node for one, _ in chosen], encoded, strict=True))
        return batches

    def _narrowed(self, scan_input: ScanInput, edges: pa.RecordBatch, rows: IntArray) -> IntArray:
        """The edges among ``rows`` that satisfy all predicates of a scan input; counts them."""
        *before, rows = scan_input.narrowed(edges, rows)
        self.count(scan_input, [times_of(edges)[passing] for passing in before])
        return rows

    def count(self, scan_input: ScanInput, times: Sequence[IntArray]) -> None:
        """Counts the edges, by their times, that passed the scan and each FILTER but the last."""
        for work, ts in zip(self.passed[scan_input.node], times, strict=True):
            columns = np.empty((0, len(ts)), np.int64)
            work.add(Batch(columns, scan_input.start(ts), scan_input.expiry(ts)))


def _numbers(texts: Any, values: pa.Array[Any]) -> NDArray[np.integer[Any]]:
    """The number of each text among ``values``, -1 for any other."""
    if pa.types.is_dictionary(texts.type):
        numbers = np.append(_numbers(texts.dictionary, values), _READ_BY_NONE)
        places: IntArray = pc.fill_null(texts.indices, len(numbers) - 1).to_numpy()
        return numbers[places]
    own: IntArray = pc.fill_null(pc.index_in(texts, values), _READ_BY_NONE).to_numpy()
    return own

"""WSCAN and FILTER over record batches of edges, in Python workers.

In: edges in the columns of a spool. Out: the tagged rows that the first stage reads, ready to be
packed into messages (:mod:`headrace.executor.spark.exchange.packing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....algebra.plan import PhysicalPlan
from ....algebra.plan_parts import PlanStream
from ...batch import IntArray
from ...cells import Mask
from ...scans import DELETES, ENDS, ScanInput, property_column
from ...stages import stages_of
from ...values import ARROW_TYPES
from ...watermarks import in_disorder, streams_read
from ..exchange.columns import carried, properties_of
from ..exchange.late import LATE_SOURCE, NO_SOURCE, sources_of
from ..exchange.packing import END, NO_STREAM, Sent, stage_sender
from ..exchange.wire import scan_inputs_of, text_or_integers

_PIECE_ROWS = 65_536
"""The largest number of rows in one message."""

Timed = tuple[pa.Table, int | None]
"""Edges, and the start of their micro-batch in milliseconds if the clock counts."""


Arrival = Literal["replayed", "live", "stored"]
"""How edges arrive.

Replayed: from the spool. Live: each stream may be out of order by at most its delay, or idle.
Stored: those of stored graphs, which never wait.
"""


@lru_cache(maxsize=8)
def edge_sender(document: str, arrival: Arrival) -> Callable[[Iterable[Timed]], Sent]:
    """Returns the function that turns edges into messages to the first stage of a plan.

    ``document`` is the plan as JSON.
    """
    plan = PhysicalPlan.from_json(document)
    stage = stages_of(plan)[0]
    waits = arrival == "live" or (arrival == "replayed" and in_disorder(plan))
    selection = Selection(plan, scan_inputs_of(plan, stage), waits=waits)
    send = stage_sender(plan, stage, waits=waits)
    return lambda parts: send(rows for part in parts for rows in selection.rows(*part))


class Selection:
    """Selects the rows of scan inputs from slices.

    Args:
        plan: the plan.
        by_port: the scan input of each input of the first stage.
        waits: whether rows wait for a watermark.
    """

    def __init__(self, plan: PhysicalPlan, by_port: Sequence[ScanInput], *, waits: bool) -> None:
        self._scan_inputs = tuple(dict.fromkeys(by_port))
        self._plan_streams = {stream.name: stream for stream in plan.streams}
        self._properties = properties_of(self._scan_inputs)
        self._carried = tuple(carried(self._scan_inputs).values())
        kinds = frozenset(scan_input.vertex_type for scan_input in self._scan_inputs)
        self._vertex = ARROW_TYPES[text_or_integers(kinds)]
        self._streams = [stream.name for stream in streams_read(plan)] if waits else None
        self._sources = sources_of(plan)

    def rows(self, edges: pa.Table, clock: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of scan inputs, in the format of
        :func:`headrace.executor.spark.reading.scan_rows.scan_input_rows`, or, if rows wait for a
        watermark, of :func:`headrace.executor.spark.reading.scan_rows.waiting_rows`.

        Args:
            edges: the columns of :meth:`headrace.executor.spark.reading.replay.Replay.slices`; in a
                slice without a watermark a row without a stream marks the end of the input.
            clock: the start of the micro-batch in milliseconds; None in a replay.
        """
        edges = edges.combine_chunks()
        chosen = self._chosen(edges)
        if self._streams is None:
            ends = np.asarray(edges["stream"].is_null(), np.bool_)
            chosen.append((END, np.flatnonzero(ends)))
        else:
            unread = np.ones(edges.num_rows, np.bool_)
            for _, rows in chosen:
                unread[rows] = False
            chosen.append((-1, np.flatnonzero(unread)))  # such an edge moves the watermark too
        places = np.concatenate([rows for _, rows in chosen])
        numbers = np.repeat(
            np.array([number for number, _ in chosen], np.int64), [len(rows) for _, rows in chosen]
        )
        if len(chosen) > 1:  # the rows of an edge one after the other
            order = np.argsort(places, kind="stable")
            places, numbers = places[order], numbers[order]
        is_first = np.diff(places, prepend=-1) > 0
        for start in range(0, len(places), _PIECE_ROWS):
            own = slice(start, start + _PIECE_ROWS)
            tagged = self._tagged(edges, places[own], numbers[own], is_first[own])
            if self._streams is not None:
                times = pa.repeat(pa.scalar(clock, pa.int64()), len(tagged))
                tagged = tagged.append_column("clock", times)
            yield tagged.combine_chunks().to_batches()[0]

    def _chosen(self, edges: pa.Table) -> list[tuple[int, IntArray]]:
        """For each scan input its number and the positions of its edges, rising."""
        chosen: list[tuple[int, IntArray]] = []
        of_stream: dict[str, tuple[IntArray, pa.RecordBatch]] = {}
        for number, scan_input in enumerate(self._scan_inputs):
            labels = sorted({scan.label for scan in scan_input.scan.scans})
            is_read = _among(edges["stream"], [scan_input.scan.stream])
            rows = np.flatnonzero(is_read & _among(edges["label"], labels))
            if scan_input.is_selective and len(rows):
                name = scan_input.scan.stream
                if name not in of_stream:
                    read = np.flatnonzero(is_read & np.asarray(edges["label"].is_valid(), np.bool_))
                    of_stream[name] = read, self._typed(edges.take(read), self._plan_streams[name])
                read, own = of_stream[name]
                rows = read[scan_input.narrowed(own, np.searchsorted(read, rows))[-1]]
            chosen.append((number, rows))
        return chosen

    def _typed(self, edges: pa.Table, stream: PlanStream) -> pa.RecordBatch:
        """The edges of one stream, with the columns and types of the stream."""
        vertex = ARROW_TYPES[stream.vertex_type]
        columns: dict[str, Any] = {name: edges[name].cast(vertex) for name in ENDS}
        columns |= {"label": edges["label"].cast(pa.string()), "ts": edges["ts"]}
        for (name, kind), column in self._properties.items():
            if (name, kind) != DELETES and stream.properties.get(name) == kind:
                columns[property_column(name)] = edges[column]
        return pa.table(columns).combine_chunks().to_batches()[0]

    def _tagged(
        self, edges: pa.Table, places: IntArray, numbers: IntArray, is_first: Mask
    ) -> pa.Table:
        """The rows at some places, with the numbers of their scan inputs.

        ``is_first`` marks the first row of each edge.
        """
        whole = len(places) == edges.num_rows and bool(is_first.all())
        taken = edges if whole else edges.take(places)
        columns: dict[str, Any] = {"scan_input": pa.array(numbers, pa.int32())}
        columns |= {name: taken[name].cast(self._vertex) for name in ENDS}
        columns |= {name: taken[name] for name in ("ts", *self._carried)}
        if self._streams is not None:
            sources = self._source_numbers(taken)
            reports = is_first & (numbers >= 0)
            columns[LATE_SOURCE] = pa.array(np.where(reports, sources, NO_SOURCE), pa.int32())
            columns["of"] = pa.array(_numbered(taken["stream"], self._streams), pa.int32())
        return pa.table(columns)

    def _source_numbers(self, edges: pa.Table) -> IntArray:
        """The position of each edge's stream and label among those that the plan reads."""
        numbers = np.full(edges.num_rows, NO_SOURCE, np.int64)
        for number, (stream, label) in enumerate(self._sources):
            own = _among(edges["stream"], [stream]) & _among(edges["label"], [label])
            numbers[own] = number
        return numbers


def _among(texts: Any, values: Sequence[str]) -> Mask:
    """A mask of the texts that are among ``values``; null is not."""
    return np.asarray(_numbered(texts, values) != NO_STREAM, np.bool_)


def _numbered(texts: Any, values: Sequence[str]) -> IntArray:
    """The position of each text in ``values``; -1 for others and for null."""
    array: Any = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pa.types.is_dictionary(array.type):
        numbers = np.append(_numbered(array.dictionary, values), NO_STREAM)
        places: IntArray = pc.fill_null(array.indices, len(numbers) - 1).to_numpy()
        return np.asarray(numbers[places], np.int64)
    found: IntArray = pc.fill_null(pc.index_in(array, pa.array(values, pa.string())), -1).to_numpy()
    return np.asarray(found, np.int64)

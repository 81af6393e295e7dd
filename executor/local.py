"""Runs a plan in this process, for tests and to compare operators with their estimates.

In: a plan and edges, sorted by ts or in any order. Out: decoded results, in the order of delivery.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanStream
from .batch import FOREVER, Batch, merged
from .counters import Counters
from .dictionary import Dictionary
from .encoding import EdgeReader, encode, times_of
from .operators.rewindow import kept_beyond
from .partitioned import Partitioned, plan_counters
from .pipeline import Pipeline
from .reorder import ReorderBuffer
from .scans import ScanInput, property_column, scan_inputs
from .slides import aligned_time
from .watermarks import NEVER, Seen, Watermark, streams_read

Vertex = str | int
Value = Vertex | float | None
"""A vertex or a property; a boolean is one of Python's integers."""

Edge = (
    tuple[Vertex, Vertex, str, int]
    | tuple[Vertex, Vertex, str, int, str]
    | tuple[Vertex, Vertex, str, int, str, Mapping[str, Value]]
)
"""Source, target, label, ts, and optionally the stream and the properties.

The property ``op`` is ``-`` for a deletion. A deletion follows the insertions of the same ts.
"""


class Result(NamedTuple):
    """A binding of the answer's columns to a :data:`Value` each, valid in ``[ts, exp)``.

    A result with a negative ``exp`` is a retraction: it ends the validity of all earlier results
    of the binding at ``ts``.
    """

    bindings: tuple[Any, ...]
    ts: int
    exp: int


class LateEdge(NamedTuple):
    """An edge whose ts was smaller than the ``watermark`` when it arrived."""

    stream: str
    edge: Mapping[str, Any]
    watermark: int


class LocalRun:
    """A run of a plan over record batches, in the number of partitions that the plan has.

    Attributes:
        dictionary: the codes of values.
        partitioned: the pipelines of all stages and partitions.
        watermark: the watermark of :meth:`take`.
        late: the edges that came behind the watermark.
    """

    def __init__(self, plan: PhysicalPlan) -> None:
        """Builds the pipelines of a plan.

        Raises:
            PlanError: for a plan that cannot run.
        """
        self.dictionary = Dictionary(kept_beyond(plan))
        self.partitioned = Partitioned(plan, self.dictionary)
        self._plan = plan
        self._streams = streams_read(plan)
        self._scan_inputs = scan_inputs(plan)
        self._reader = EdgeReader(self._scan_inputs, self.dictionary)
        self._reorder_buffers = {
            scan_input.node: ReorderBuffer() for scan_input in self._scan_inputs
        }
        self.watermark = Watermark()
        self.late: list[LateEdge] = []

    def push(self, edges: Sequence[pa.RecordBatch]) -> Batch:
        """Processes record batches of one range of time, each sorted by ts.

        The batches have the columns of :meth:`headrace.executor.scans.ScanInput.select`. Decode the
        results (:meth:`results`) before the next call.

        Raises:
            ValueError: for edges out of order or of the wrong vertex type.
        """
        self._tick()
        rows: dict[int, list[Batch]] = {}
        for batch in edges:
            for node, encoded in self._reader.read(batch).items():
                rows.setdefault(node, []).append(encoded)
        return self.partitioned.process({node: merged(parts) for node, parts in rows.items()})

    def take(self, edges: Sequence[pa.RecordBatch], clock: int | None = None) -> Batch:
        """Processes record batches in any order; returns the results up to the new watermark.

        Edges behind the watermark of the last call are late and go to ``late``. Edges ahead of the
        new watermark wait for a later call or :meth:`end`.

        Args:
            edges: the record batches.
            clock: the time of day in milliseconds, for streams that may be idle.

        Raises:
            ValueError: for edges of the wrong vertex type.
        """
        seen = Seen(clock=clock)
        for batch in edges:
            seen |= Seen(_largest_times(batch, self._streams))
            self._set_aside(batch)
            timely = batch.filter(pa.array(_times(batch) >= self.watermark.at))
            for scan_input in self._scan_inputs:
                selected = pa.Table.from_batches([self._selected(scan_input, timely)])
                self._reorder_buffers[scan_input.node].add(selected)
        self.watermark = self.watermark.after(seen, self._streams)
        return self._released(None if self.watermark.at == NEVER else self.watermark.at)

    def end(self) -> Batch:
        """Ends the input; returns the results of all edges that waited."""
        at_end = Seen({stream.name: FOREVER for stream in self._streams})
        self.watermark = self.watermark.after(at_end, self._streams)
        return self._released(until=FOREVER)

    def _released(self, until: int | None = None) -> Batch:
        """Processes the waiting edges that the watermark has reached, and advances to ``until``."""
        due = {
            node: [batch for table in buffer.due(self.watermark.at) for batch in table.to_batches()]
            for node, buffer in self._reorder_buffers.items()
        }
        self._tick()
        rows = {}
        for scan_input in self._scan_inputs:
            encoded = [encode(scan_input, batch, self.dictionary) for batch in due[scan_input.node]]
            rows[scan_input.node] = merged([Batch.empty(scan_input.width), *encoded])
        if until is not None:
            until = aligned_time(until, self._plan.evaluate_every)
        return self.partitioned.process(rows, until)

    def _tick(self) -> None:
        """Frees the codes of expired values now and then."""
        if self.partitioned.now is not None:
            self.dictionary.tick(self.partitioned.now)

    def _selected(self, scan_input: ScanInput, edges: pa.RecordBatch) -> pa.RecordBatch:
        """The edges that a scan input selects; counts the output of its scan and of each filter."""
        *before, selected = scan_input.steps(edges)
        self._reader.count(scan_input, [times_of(remaining) for remaining in before])
        return selected

    def _set_aside(self, edges: pa.RecordBatch) -> None:
        """Adds to ``late`` the late edges that some scan input selects."""
        late = edges.filter(pa.array(_times(edges) < self.watermark.at))
        if not late.num_rows:
            return
        numbered = late.append_column("#", pa.array(range(late.num_rows)))
        read: set[Any] = set()
        for scan_input in self._scan_inputs:
            read.update(scan_input.select(numbered)["#"].to_pylist())
        for number, edge in enumerate(late.to_pylist()):
            if number in read:
                stream = edge.pop("stream", self._streams[0].name)
                self.late.append(LateEdge(stream, edge, self.watermark.at))

    def results(self, batch: Batch) -> Iterator[Result]:
        """Decodes a batch of results."""
        if not len(batch):
            return
        columns = [self.dictionary.decode(codes).to_pylist() for codes in batch.columns]
        bindings = zip(*columns, strict=True) if columns else iter([()] * len(batch))
        yield from map(Result, bindings, batch.ts.tolist(), batch.exp.tolist())

    @property
    def pipeline(self) -> Pipeline:
        """The only pipeline of a plan for one partition."""
        ((pipeline,),) = self.partitioned.pipelines
        return pipeline

    @property
    def counters(self) -> dict[int, Counters]:
        """Counters by node id; those of a scan input have only the rows of its output."""
        passed = {
            node: [work.counters() for work in works] for node, works in self._reader.passed.items()
        }
        return plan_counters(self._plan, self.partitioned.counters, passed)


def run_plan(plan: PhysicalPlan, edges: Iterable[Edge], batch_rows: int = 4096) -> Iterator[Result]:
    """Runs a plan over edges sorted by ts; yields results after each batch of ``batch_rows`` edges.

    Raises:
        PlanError: for a plan that cannot run.
        ValueError: for edges out of order or of the wrong vertex type.
    """
    run = LocalRun(plan)
    remaining = iter(edges)
    while chunk := list(islice(remaining, batch_rows)):
        yield from run.results(run.push(_record_batches(chunk)))
    yield from run.results(run.end())


def run_disordered(
    plan: PhysicalPlan, batches: Iterable[Sequence[Edge]]
) -> tuple[list[Result], list[LateEdge]]:
    """Runs a plan over micro-batches of edges in any order; returns results and late edges.

    Raises:
        PlanError: for a plan that cannot run.
        ValueError: for edges of the wrong vertex type.
    """
    run = LocalRun(plan)
    results: list[Result] = []
    for edges in batches:
        results += run.results(run.take(_record_batches(edges)))
    results += run.results(run.end())
    return results, run.late


def _largest_times(edges: pa.RecordBatch, streams: Sequence[PlanStream]) -> dict[str, int]:
    """The largest ts of each stream; edges without a stream count for every stream."""
    if not edges.num_rows:
        return {}
    if "stream" not in edges.schema.names:
        latest = int(_times(edges).max())
        return {stream.name: latest for stream in streams}
    groups = pa.Table.from_batches([edges]).group_by("stream").aggregate([("ts", "max")])
    rows: list[Any] = groups.to_pylist()
    return {row["stream"]: row["ts_max"] for row in rows}


def _times(edges: pa.RecordBatch) -> NDArray[np.int64]:
    return np.asarray(edges["ts"].to_numpy(), np.int64)


def _record_batches(edges: Sequence[Edge]) -> list[pa.RecordBatch]:
    """One batch for each stream, vertex type and kind of properties."""
    kinds: dict[tuple[object, ...], list[Edge]] = {}
    for edge in edges:
        properties = edge[5] if len(edge) == 6 else {}
        shape = ((name, type(value)) for name, value in sorted(properties.items()))
        kinds.setdefault((type(edge[0]), len(edge), edge[4:5], *shape), []).append(edge)
    return [_record_batch(rows) for rows in kinds.values()]


def _record_batch(edges: Sequence[Edge]) -> pa.RecordBatch:
    """A record batch of edges with the same stream, types and properties."""
    first = edges[0]
    kind = pa.string() if isinstance(first[0], str) else pa.int64()
    types = (kind, kind, pa.string(), pa.int64(), pa.string())[: len(first)]
    names = ["src", "trg", "label", "ts", "stream"][: len(first)]
    columns: list[pa.Array[Any]] = [
        pa.array([edge[i] for edge in edges], type_) for i, type_ in enumerate(types)
    ]
    if len(first) == 6:
        for name in first[5]:
            names.append(name if name == "op" else property_column(name))
            columns.append(pa.array([edge[5][name] for edge in edges if len(edge) == 6]))
    return pa.RecordBatch.from_arrays(columns, names=names)

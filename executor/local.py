"""Runs a plan in this process: for tests, and to measure operators beside their estimates.

In: a plan and edges in ts order. Out: decoded results in the order in which they are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..algebra.plan import PhysicalPlan, PlanStream
from .batch import FOREVER, Batch, merged
from .counters import Counters, given
from .dictionary import Dictionary
from .operators.rewindow import kept_beyond
from .partitioned import Partitioned, plan_counters
from .pipeline import Pipeline
from .reorder import ReorderBuffer
from .scans import Leaf, leaves, property_column
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
"""Source, target, label, ts, and perhaps the stream and properties; among those may be ``op``,
``-`` for a deletion, which comes after the insertions of its time."""


class Result(NamedTuple):
    """A binding of the answer's columns to a :data:`Value` each, valid in ``[ts, exp)``.

    A negative ``exp`` ends at ``ts`` the validity of all that was said of the binding before.
    """

    bindings: tuple[Any, ...]
    ts: int
    exp: int


class LateEdge(NamedTuple):
    """An edge that came when the ``watermark`` had passed its time."""

    stream: str
    edge: Mapping[str, Any]
    watermark: int


class LocalRun:
    """A plan at work on record batches, in as many partitions as it is made for.

    Raises:
        PlanError: for a plan that cannot run.
    """

    def __init__(self, plan: PhysicalPlan) -> None:
        self.dictionary = Dictionary(kept_beyond(plan))
        self.partitioned = Partitioned(plan, self.dictionary)
        self._plan = plan
        self._streams = streams_read(plan)
        self._leaves = leaves(plan)
        self._passed = {leaf.node: [Counters()] * len(leaf.predicates) for leaf in self._leaves}
        self._held = {leaf.node: ReorderBuffer() for leaf in self._leaves}
        self.watermark = Watermark()
        self.late: list[LateEdge] = []

    def push(self, edges: Sequence[pa.RecordBatch]) -> Batch:
        """Takes record batches of one stretch of time, each sorted by ts.

        Their columns are those of :meth:`headrace.executor.scans.Leaf.select`. Decode the results
        (:meth:`results`) before the next call.

        Raises:
            ValueError: for edges out of order or of the wrong vertex type.
        """
        return self._processed(
            {leaf.node: [self._selected(leaf, batch) for batch in edges] for leaf in self._leaves}
        )

    def take(self, edges: Sequence[pa.RecordBatch], clock: int | None = None) -> Batch:
        """Takes record batches in any order; gives the results of what need not wait.

        Edges later than the watermark wait for a later call or :meth:`end`; those earlier than it
        was before the call are set aside, in ``late``. ``clock`` is in milliseconds, for streams
        that may be idle.

        Raises:
            ValueError: for edges of the wrong vertex type.
        """
        seen = Seen(clock=clock)
        for batch in edges:
            seen |= Seen(_largest_times(batch, self._streams))
            self._set_aside(batch)
            timely = batch.filter(pa.array(_times(batch) >= self.watermark.at))
            for leaf in self._leaves:
                self._held[leaf.node].add(pa.Table.from_batches([self._selected(leaf, timely)]))
        self.watermark = self.watermark.after(seen, self._streams)
        return self._released(None if self.watermark.at == NEVER else self.watermark.at)

    def end(self) -> Batch:
        """No more edges come: gives the results of all that waited."""
        at_end = Seen({stream.name: FOREVER for stream in self._streams})
        self.watermark = self.watermark.after(at_end, self._streams)
        return self._released(until=FOREVER)

    def _released(self, until: int | None = None) -> Batch:
        """The results of what waited and need not any longer; time comes to ``until``."""
        due = {node: held.due(self.watermark.at) for node, held in self._held.items()}
        return self._processed(
            {
                node: [b for table in tables for b in table.to_batches()]
                for node, tables in due.items()
            },
            until,
        )

    def _processed(
        self, chosen: Mapping[int, Sequence[pa.RecordBatch]], until: int | None = None
    ) -> Batch:
        """The results of edges of each leaf, every batch sorted by ts."""
        if self.partitioned.now is not None:
            self.dictionary.tick(self.partitioned.now)
        rows = {}
        for leaf in self._leaves:
            encoded = [leaf.encode(batch, self.dictionary) for batch in chosen[leaf.node]]
            rows[leaf.node] = merged([Batch.empty(len(leaf.columns)), *encoded])
        if until is not None:
            until = aligned_time(until, self._plan.evaluate_every)
        return self.partitioned.process(rows, until)

    def _selected(self, leaf: Leaf, edges: pa.RecordBatch) -> pa.RecordBatch:
        *before, selected = leaf.steps(edges)
        for i, left in enumerate(before):
            ts = np.array(left["ts"].cast(pa.int64()), np.int64)
            rows = Batch(np.empty((0, len(ts)), np.int64), leaf.start(ts), leaf.expiry(ts))
            self._passed[leaf.node][i] = self._passed[leaf.node][i].then(given(rows))
        return selected

    def _set_aside(self, edges: pa.RecordBatch) -> None:
        """Keeps the edges that some leaf would have read, and that come too late."""
        late = edges.filter(pa.array(_times(edges) < self.watermark.at))
        if not late.num_rows:
            return
        numbered = late.append_column("#", pa.array(range(late.num_rows)))
        read: set[Any] = set()
        for leaf in self._leaves:
            read.update(leaf.select(numbered)["#"].to_pylist())
        for number, edge in enumerate(late.to_pylist()):
            if number in read:
                stream = edge.pop("stream", self._streams[0].name)
                self.late.append(LateEdge(stream, edge, self.watermark.at))

    def results(self, batch: Batch) -> Iterator[Result]:
        """The rows of a batch of results, decoded."""
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
        """By node id; of a leaf only the rows that it gave are known."""
        return plan_counters(self._plan, self.partitioned.counters, self._passed)


def run_plan(plan: PhysicalPlan, edges: Iterable[Edge], batch_rows: int = 4096) -> Iterator[Result]:
    """Runs a plan over edges sorted by ts and yields its results as they are found.

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
    """Runs a plan over micro-batches of edges in any order: what is found, and what is set aside.

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
    """The largest ts per stream; edges without a stream are of each."""
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
        held = edge[5] if len(edge) == 6 else {}
        shape = ((name, type(value)) for name, value in sorted(held.items()))
        kinds.setdefault((type(edge[0]), len(edge), edge[4:5], *shape), []).append(edge)
    return [_record_batch(rows) for rows in kinds.values()]


def _record_batch(edges: Sequence[Edge]) -> pa.RecordBatch:
    """Edges that are all alike."""
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

"""Runs a plan in this process: for tests, and to measure operators beside their estimates.

In: a plan and edges in ts order. Out: decoded results in the order in which they are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from algebra.plan import PhysicalPlan
from executor.batch import Batch, merged
from executor.dictionary import Dictionary
from executor.leaves import leaves, property_column
from executor.operators.rewindow import kept_beyond
from executor.partitioned import Partitioned
from executor.pipeline import Counters, Pipeline

Vertex = str | int
Value = Vertex | float | None
"""A vertex or a property; a boolean is one of Python's integers."""

Edge = (
    tuple[Vertex, Vertex, str, int]
    | tuple[Vertex, Vertex, str, int, str]
    | tuple[Vertex, Vertex, str, int, str, Mapping[str, Value]]
)
"""Source, target, label, ts, and perhaps the stream and properties."""


class Result(NamedTuple):
    """A binding of the answer's columns to a :data:`Value` each, valid in ``[ts, exp)``."""

    bindings: tuple[Any, ...]
    ts: int
    exp: int


class LocalRun:
    """A plan at work on record batches, in as many partitions as it is made for.

    Raises:
        PlanError: for a plan that cannot run.
    """

    def __init__(self, plan: PhysicalPlan) -> None:
        self.dictionary = Dictionary(kept_beyond(plan))
        self.partitioned = Partitioned(plan, self.dictionary)
        self._leaves = leaves(plan)
        self._leaf_rows = dict.fromkeys((leaf.node for leaf in self._leaves), 0)

    def push(self, edges: Sequence[pa.RecordBatch]) -> Batch:
        """Takes record batches of one stretch of time, each sorted by ts.

        Their columns are those of :meth:`executor.leaves.Leaf.select`. Decode the results
        (:meth:`results`) before the next call.

        Raises:
            ValueError: for edges out of order or of the wrong vertex type.
        """
        if self.partitioned.now is not None:
            self.dictionary.tick(self.partitioned.now)
        rows = {}
        for leaf in self._leaves:
            selected = [leaf.encode(leaf.select(batch), self.dictionary) for batch in edges]
            rows[leaf.node] = merged([Batch.empty(len(leaf.columns)), *selected])
            self._leaf_rows[leaf.node] += len(rows[leaf.node])
        return self.partitioned.process(rows)

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
        of_leaves = {node: Counters(rows_out=rows) for node, rows in self._leaf_rows.items()}
        return {**of_leaves, **self.partitioned.counters}


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
            names.append(property_column(name))
            columns.append(pa.array([edge[5][name] for edge in edges if len(edge) == 6]))
    return pa.RecordBatch.from_arrays(columns, names=names)

"""The leaves of a plan: what a pipeline is fed with.

A leaf is a WSCAN or WSCAN_UNION node with the FILTERs and PROJECTs that stand directly on it,
up to the TO_KERNEL that hands its rows over. Whoever
reads the source selects a leaf's rows (in process :meth:`Leaf.select`; on Spark in SQL, from the
same predicates by :func:`headrace.executor.predicates.spark_sql`) and turns them into a batch with
:meth:`Leaf.encode`.

Properties of edges are columns of their own, called :func:`property_column` so that none is
taken for an end, the label or the stream.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..algebra.physical import FilterRows, ProjectColumns, ToKernel, WindowScan, WindowScanUnion
from ..algebra.plan import PhysicalPlan, PlanError, PlanStream
from ..algebra.predicate import Predicate
from ..algebra.values import PropertyType, VertexType
from . import predicates
from .batch import FOREVER, Batch, IntArray
from .dictionary import Dictionary
from .predicates import Mask
from .slides import align_to_slide
from .values import ARROW_TYPES

Field = tuple[str, PropertyType]
"""A column of edges: what it is called, and its type."""

OWN_TIME = "ts"
"""The property that every edge has: its own time."""

DELETES: Field = ("op", "string")
"""The column that says ``-`` of a deletion."""


MOST_FILTERS = 64
"""FILTERs that stand on one leaf."""


def property_column(name: str) -> str:
    """What the column of a property is called among those of edges."""
    return name if name == OWN_TIME else f".{name}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input of a pipeline.

    ``node`` is the id of the topmost node of the chain, by which
    :meth:`headrace.executor.pipeline.Pipeline.process` knows the leaf; ``predicates`` are SQL over
    the scan's columns, all of which a row has to satisfy beside what the scan itself selects.
    ``types`` are those of the scan's properties; ``columns`` are the scan's columns that the
    leaf gives, by their positions. ``every``: its rows count at the multiples of it, null: at every
    instant (:mod:`headrace.executor.slides`).
    """

    node: int
    scan: WindowScan | WindowScanUnion
    predicates: tuple[str, ...]
    vertex_type: VertexType
    types: tuple[PropertyType, ...] = ()
    columns: tuple[int, ...] = (0, 1)
    every: int | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The scan's columns, read for the predicates if for nothing else."""
        names = map(property_column, self.scan.properties)
        ends: tuple[Field, ...] = (("src", self.vertex_type), ("trg", self.vertex_type))
        return (*ends, *zip(names, self.types, strict=True))

    @property
    def travelling(self) -> tuple[Field, ...]:
        """The columns that come with its rows, ``op`` among them where some may be deletions."""
        return (*self.given, DELETES) if self.deletes else self.given

    @property
    def deletes(self) -> bool:
        """Whether it reads a stream with deletions."""
        return self.scan.update_pattern is not None

    @property
    def given(self) -> tuple[Field, ...]:
        """The columns that the leaf gives."""
        return tuple(self.fields[column] for column in self.columns)

    @property
    def width(self) -> int:
        """The number of columns of its rows."""
        return len(self.columns)

    def expiry(self, ts: IntArray) -> IntArray:
        """``floor(ts / slide) * slide + range`` (thesis Definition 30); of a stored graph never.

        Per slide: the first report at which they are gone.
        """
        if self.scan.range is None or self.scan.slide is None:
            return np.full(len(ts), FOREVER, np.int64)
        exp = ts // self.scan.slide * self.scan.slide + self.scan.range
        return align_to_slide(exp, self.every)

    def start(self, ts: IntArray) -> IntArray:
        """From when on edges of these times count: at once, or from the next report on."""
        return align_to_slide(ts, self.every)

    def select(self, edges: pa.RecordBatch) -> pa.RecordBatch:
        """The edges of this leaf: its stream, its labels, its predicates; order is kept.

        ``edges`` has columns src, trg, label, ts and those of properties, of which a missing
        one counts as null; without a column stream all are taken to be of the leaf's stream.
        """
        return self.steps(edges)[-1]

    def steps(self, edges: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The edges that the scan selects, then those that each predicate leaves of them."""
        labels = pa.array(sorted({scan.label for scan in self.scan.scans}), pa.string())
        chosen = edges.filter(pc.is_in(edges["label"], labels))
        if "stream" in edges.schema.names:
            chosen = chosen.filter(pc.equal(chosen["stream"], pa.scalar(self.scan.stream)))
        if any(scan.predicate is not None for scan in self.scan.scans):
            chosen = chosen.filter(pa.array(self._scanned(chosen)))
        left = [chosen]
        for sql in self.predicates:
            left.append(left[-1].filter(pa.array(predicates.mask(sql, self._values(left[-1])))))
        return left

    def _scanned(self, edges: pa.RecordBatch) -> Mask:
        """Which edges the scan itself selects."""
        values = self._values(edges)
        found = np.zeros(edges.num_rows, np.bool_)
        for scan in self.scan.scans:
            of_label = np.asarray(pc.equal(edges["label"], pa.scalar(scan.label)), np.bool_)
            if scan.predicate is not None:
                of_label &= predicates.mask(scan.predicate, values)
            found |= of_label
        return found

    def encode(self, edges: pa.RecordBatch, dictionary: Dictionary) -> Batch:
        """Selected edges (columns ts and those it gives; sorted by ts) as a batch of codes.

        Of a stream with deletions the column ``op``, if there is one, says ``-`` of those; their
        expiry is the negative one (:class:`headrace.executor.batch.Batch`) of an edge at their
        time.

        Raises:
            ValueError: if a vertex is null, or a value not of the type that it should be.
        """
        ts = np.array(edges["ts"].cast(pa.int64()), np.int64)
        exp = self.expiry(ts)
        columns = np.empty((len(self.columns), len(ts)), np.int64)
        for place, field in enumerate(self.given):
            values = self._typed(edges, field)
            if field[0] in ("src", "trg") and values.null_count:
                raise ValueError(f"{values.null_count} of {len(values)} vertices are null")
            columns[place] = dictionary.encode(values, exp)
        if self.deletes and "op" in edges.schema.names:
            deletes = np.array([op == "-" for op in edges["op"].to_pylist()], np.bool_)
            exp = np.where(deletes, ~exp, exp)
        return Batch(columns, self.start(ts), exp)

    def _values(self, edges: pa.RecordBatch) -> list[pa.Array[Any]]:
        """The scan's columns."""
        return [self._typed(edges, field) for field in self.fields]

    def _typed(self, edges: pa.RecordBatch, field: Field) -> pa.Array[Any]:
        """A column in its type: a string is never taken for an integer."""
        name, kind = field
        if name not in edges.schema.names and name not in ("src", "trg"):
            empty: pa.Array[Any] = pa.nulls(edges.num_rows, ARROW_TYPES[kind])
            return empty
        column: Any = edges[name]
        if kind == "string":
            column = column.cast(pa.string())
        elif column.null_count < len(column) and not _fits(column.type, kind):
            what = "integer vertices" if name in ("src", "trg") else f"values of {kind} in {name}"
            raise ValueError(
                f"stream {self.scan.stream!r} has {what}, but its rows hold {column.type}"
            )
        typed: pa.Array[Any] = column.cast(ARROW_TYPES[kind], safe=kind != "number")
        return typed


def _fits(found: pa.DataType, kind: PropertyType) -> bool:
    """Whether a column of integers, numbers or booleans may come as another type."""
    if kind == "boolean":
        return pa.types.is_boolean(found)
    return pa.types.is_integer(found) or (kind == "number" and pa.types.is_floating(found))


def leaves(plan: PhysicalPlan) -> tuple[Leaf, ...]:
    """The leaves of a plan, in the order of their nodes.

    A scan that is read both filtered and unfiltered gives a leaf for each.

    Raises:
        PlanError: if a predicate holds anything that is not on the allow-list, there is no such
            column, or the type of a property is not said.
    """
    streams = {stream.name: stream for stream in plan.streams}
    chains: dict[int, Leaf] = {}
    handed_over: set[int] = set()
    for node in plan.nodes:
        below = chains.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if below is not None and node.inputs[0] in handed_over:
            continue
        match node.operator:
            case WindowScan(stream=stream) | WindowScanUnion(stream=stream) as scan:
                leaf = _scan_leaf(node.id, scan, streams.get(stream))
                chains[node.id] = replace(leaf, every=plan.evaluate_every)
            case ToKernel() if below is not None:
                chains[node.id] = replace(below, node=node.id)
                handed_over.add(node.id)
            case FilterRows(predicate=sql) if below is not None:
                predicates.checked(sql, len(below.columns))
                if len(below.predicates) == MOST_FILTERS:
                    raise PlanError(f"node {node.id}: more than {MOST_FILTERS} FILTERs on a leaf")
                if below.columns != tuple(range(len(below.columns))):
                    sql = Predicate(sql).renumbered(dict(enumerate(below.columns))).sql
                chains[node.id] = replace(below, node=node.id, predicates=(*below.predicates, sql))
            case ProjectColumns(columns=columns) if below is not None:
                if not set(columns) <= set(range(len(below.columns))):
                    raise PlanError(f"node {node.id} ({node.op}): there is no such column")
                kept = tuple(below.columns[column] for column in columns)
                chains[node.id] = replace(below, node=node.id, columns=kept)
    read = {i for node in reached(plan, set(chains)) - set(chains) for i in plan.nodes[node].inputs}
    return tuple(leaf for node, leaf in chains.items() if node in read | {plan.root})


def _scan_leaf(node: int, scan: WindowScan | WindowScanUnion, stream: PlanStream | None) -> Leaf:
    """The leaf of a scan alone."""
    width = 2 + len(scan.properties)
    for part in scan.scans:
        if part.predicate is not None:
            predicates.checked(part.predicate, width)
    known: dict[str, PropertyType] = {} if stream is None else dict(stream.properties)
    known[OWN_TIME] = "integer"
    for name in scan.properties:
        if name not in known:
            raise PlanError(
                f"node {node} ({scan.op}): of which type {name} of {scan.stream} is, is not said"
            )
    return Leaf(
        node,
        scan,
        (),
        "string" if stream is None else stream.vertex_type,
        tuple(known[name] for name in scan.properties),
        tuple(range(width)),
    )


def reached(plan: PhysicalPlan, stops: Collection[int]) -> set[int]:
    """The nodes that the root needs; what is below one of ``stops`` is left out."""
    found: set[int] = set()
    pending = [plan.root]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            if node not in stops:
                pending.extend(plan.nodes[node].inputs)
    return found

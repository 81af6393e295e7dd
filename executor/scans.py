"""Scan inputs: the scans of a plan with the FILTERs and PROJECTs directly above them.

A :class:`ScanInput` of a plan is a WSCAN or WSCAN_UNION node and the chain above it, up to the
TO_KERNEL that hands its rows to compiled operators. The reader of a source selects the rows of a
scan input, and :mod:`headrace.executor.encoding` encodes them as a batch. In process
:meth:`ScanInput.select` selects them; on Spark SQL does, made from the same predicates by
:func:`headrace.executor.predicates.spark_sql`.

Each property of an edge is a column, named by :func:`property_column` so that it cannot clash with
a vertex, the label or the stream.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..algebra.physical import FilterRows, ProjectColumns, ToKernel, WindowScan, WindowScanUnion
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanError, PlanStream
from ..algebra.predicate import Predicate
from ..algebra.predicate_syntax import in_sql
from ..algebra.values import PropertyType, VertexType
from . import predicates
from .batch import FOREVER, IntArray
from .predicates import Mask
from .slides import align_to_slide
from .values import ARROW_TYPES

Field = tuple[str, PropertyType]
"""A column of edges: its name and type."""

OWN_TIME = "ts"
"""The property that every edge has: its time."""

DELETES: Field = ("op", "string")
"""The column that is ``-`` in a deletion."""


ENDS = ("src", "trg")
"""The columns of the vertices."""

MOST_FILTERS = 64
"""The largest number of FILTERs in one scan input."""


def property_column(name: str) -> str:
    """The name of a property's column in a table of edges."""
    return name if name == OWN_TIME else f".{name}"


@dataclass(frozen=True, slots=True)
class ScanInput:
    """A scan with its FILTERs and PROJECTs: an input of a pipeline.

    Attributes:
        node: the id of the topmost node of the chain, which is the port of
            :meth:`headrace.executor.pipeline.Pipeline.process` for its rows.
        scan: the scan at the bottom of the chain.
        predicates: SQL over the scan's columns, from the FILTERs; a row must satisfy all of them
            and the predicate of the scan.
        vertex_type: the type of both vertices.
        types: the types of the scan's properties.
        columns: the returned columns, as positions among the scan's columns.
        every: the period of evaluation per slide, in ticks (:mod:`headrace.executor.slides`); None
            for eager evaluation.
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
        """The scan's columns, those that only predicates read included."""
        names = map(property_column, self.scan.properties)
        ends: tuple[Field, ...] = (("src", self.vertex_type), ("trg", self.vertex_type))
        return (*ends, *zip(names, self.types, strict=True))

    @property
    def travelling(self) -> tuple[Field, ...]:
        """The returned columns, and ``op`` if rows may be deletions."""
        return (*self.returned, DELETES) if self.deletes else self.returned

    @property
    def deletes(self) -> bool:
        """Whether the scan reads a stream with deletions."""
        return self.scan.update_pattern is not None

    @property
    def returned(self) -> tuple[Field, ...]:
        """The returned columns."""
        return tuple(self.fields[column] for column in self.columns)

    @property
    def width(self) -> int:
        """The number of columns of its rows."""
        return len(self.columns)

    def expiry(self, ts: IntArray) -> IntArray:
        """``floor(ts / slide) * slide + range`` (thesis Definition 30); FOREVER in a stored graph.

        With evaluation per slide: the first report without the edge.
        """
        if self.scan.range is None or self.scan.slide is None:
            return np.full(len(ts), FOREVER, np.int64)
        exp = ts // self.scan.slide * self.scan.slide + self.scan.range
        return align_to_slide(exp, self.every)

    def start(self, ts: IntArray) -> IntArray:
        """The begin of validity: ``ts``, or the next report with evaluation per slide."""
        return align_to_slide(ts, self.every)

    @property
    def is_selective(self) -> bool:
        """Whether it selects edges by more than their labels."""
        return bool(self.predicates) or any(scan.predicate is not None for scan in self.scan.scans)

    def select(self, edges: pa.RecordBatch) -> pa.RecordBatch:
        """The edges that the scan and all predicates select, in their order.

        Args:
            edges: columns src, trg, label, ts, those of properties (null if absent), and stream
                (if absent, all edges are of the scan's stream).
        """
        return self.steps(edges)[-1]

    def steps(self, edges: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The edges after the scan, then after each further predicate."""
        labels = pa.array(sorted({scan.label for scan in self.scan.scans}), pa.string())
        chosen = edges.filter(pc.is_in(edges["label"], labels))
        if "stream" in edges.schema.names:
            chosen = chosen.filter(pc.equal(chosen["stream"], pa.scalar(self.scan.stream)))
        return [chosen.take(rows) for rows in self.narrowed(chosen, every_row(chosen))]

    def narrowed(self, edges: pa.RecordBatch, rows: IntArray) -> list[IntArray]:
        """The positions of edges after the scan, then after each further predicate.

        Args:
            edges: as in :meth:`select`.
            rows: the positions of the edges of the scan's stream and labels.
        """
        steps = [rows]
        if any(scan.predicate is not None for scan in self.scan.scans):
            steps = [rows[self._scanned(edges.take(rows))]]
        for sql in self.predicates:
            remaining = edges.take(steps[-1])
            steps.append(steps[-1][predicates.mask(sql, self._values(remaining))])
        return steps

    def _scanned(self, edges: pa.RecordBatch) -> Mask:
        """A mask of the edges that the scan selects by label and predicate."""
        values = self._values(edges)
        selected = np.zeros(edges.num_rows, np.bool_)
        for scan in self.scan.scans:
            of_label = np.asarray(pc.equal(edges["label"], pa.scalar(scan.label)), np.bool_)
            if scan.predicate is not None:
                of_label &= predicates.mask(scan.predicate, values)
            selected |= of_label
        return selected

    def _values(self, edges: pa.RecordBatch) -> list[pa.Array[Any]]:
        """The scan's columns."""
        present = {name: edges[name] for name in edges.schema.names}
        return [self.typed(present.get(name), name, edges.num_rows) for name, _ in self.fields]

    def typed(self, column: Any, name: str, rows: int) -> pa.Array[Any]:
        """A column cast to its declared type; a string is never cast to an integer.

        Args:
            column: the column; None if the edges do not have it.
            name: the name of the column.
            rows: the number of edges.

        Raises:
            ValueError: if a value does not have the declared type.
        """
        kind = self.vertex_type if name in ENDS else dict(self.fields)[name]
        if column is None:
            empty: pa.Array[Any] = pa.nulls(rows, ARROW_TYPES[kind])
            return empty
        if column.type == ARROW_TYPES[kind]:
            own: pa.Array[Any] = column
            return own
        if kind == "string":
            column = column.cast(pa.string())
        elif column.null_count < len(column) and not _fits(column.type, kind):
            what = "integer vertices" if name in ENDS else f"values of {kind} in {name}"
            raise ValueError(
                f"stream {self.scan.stream!r} has {what}, but its rows hold {column.type}"
            )
        typed: pa.Array[Any] = column.cast(ARROW_TYPES[kind], safe=kind != "number")
        return typed


def every_row(edges: pa.RecordBatch) -> IntArray:
    """The positions of all edges."""
    return np.arange(edges.num_rows, dtype=np.int64)


def _fits(actual: pa.DataType, kind: PropertyType) -> bool:
    """Whether an Arrow type can hold values of a declared type other than string."""
    if kind == "boolean":
        return pa.types.is_boolean(actual)
    return pa.types.is_integer(actual) or (kind == "number" and pa.types.is_floating(actual))


def scan_inputs(plan: PhysicalPlan) -> tuple[ScanInput, ...]:
    """The scan inputs of a plan, in the order of their nodes.

    A scan that is read both filtered and unfiltered has two scan inputs.

    Raises:
        PlanError: if a predicate is not on the allow-list, a column does not exist, or a property
            has no declared type.
    """
    streams = {stream.name: stream for stream in plan.streams}
    chains: dict[int, ScanInput] = {}
    handed_over: set[int] = set()
    for node in plan.nodes:
        below = chains.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if below is not None and node.inputs[0] in handed_over:
            continue
        match node.operator:
            case WindowScan(stream=stream) | WindowScanUnion(stream=stream) as scan:
                scan_input = _scan_input(node.id, scan, streams.get(stream))
                chains[node.id] = replace(scan_input, every=plan.evaluate_every)
            case ToKernel() if below is not None:
                chains[node.id] = replace(below, node=node.id)
                handed_over.add(node.id)
            case FilterRows(predicate=sql) if below is not None:
                predicates.checked(sql, len(below.columns))
                if not in_sql(sql):
                    raise PlanError(
                        f"node {node.id}: Spark SQL does not have all functions of its predicate, "
                        "so that the input of FILTER has to be TO_KERNEL or another operator"
                    )
                if len(below.predicates) == MOST_FILTERS:
                    raise PlanError(f"node {node.id}: more than {MOST_FILTERS} FILTERs on a scan")
                if below.columns != tuple(range(len(below.columns))):
                    sql = Predicate(sql).renumbered(dict(enumerate(below.columns))).sql
                chains[node.id] = replace(below, node=node.id, predicates=(*below.predicates, sql))
            case ProjectColumns(columns=columns) if below is not None:
                if not set(columns) <= set(range(len(below.columns))):
                    raise PlanError(f"node {node.id} ({node.op}): its input has no such column")
                kept = tuple(below.columns[column] for column in columns)
                chains[node.id] = replace(below, node=node.id, columns=kept)
    read = {i for node in reached(plan, set(chains)) - set(chains) for i in plan.nodes[node].inputs}
    return tuple(scan_input for node, scan_input in chains.items() if node in read | {plan.root})


def _scan_input(
    node: int, scan: WindowScan | WindowScanUnion, stream: PlanStream | None
) -> ScanInput:
    """The scan input of a scan without FILTERs and PROJECTs."""
    width = 2 + len(scan.properties)
    for part in scan.scans:
        if part.predicate is not None:
            predicates.checked(part.predicate, width)
    declared: dict[str, PropertyType] = {} if stream is None else dict(stream.properties)
    declared[OWN_TIME] = "integer"
    for name in scan.properties:
        if name not in declared:
            raise PlanError(
                f"node {node} ({scan.op}): the property {name} of {scan.stream} has no type"
            )
    return ScanInput(
        node,
        scan,
        (),
        "string" if stream is None else stream.vertex_type,
        tuple(declared[name] for name in scan.properties),
        tuple(range(width)),
    )


def reached(plan: PhysicalPlan, stops: Collection[int]) -> set[int]:
    """The nodes that the root reads, down to the nodes of ``stops``, which are included."""
    nodes: set[int] = set()
    pending = [plan.root]
    while pending:
        node = pending.pop()
        if node not in nodes:
            nodes.add(node)
            if node not in stops:
                pending.extend(plan.nodes[node].inputs)
    return nodes

"""The leaves of a plan: what a pipeline is fed with.

A leaf is a WSCAN or WSCAN_UNION node with the FILTERs that stand directly on it, up to the
TO_KERNEL that hands its rows over. Whoever
reads the source selects a leaf's rows (in process :meth:`Leaf.select`; on Spark in SQL, from the
same predicates by :func:`executor.predicates.spark_sql`) and turns them into a batch with
:meth:`Leaf.encode`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from algebra.physical import FilterRows, ToKernel, WindowScan, WindowScanUnion
from algebra.plan import PhysicalPlan
from catalog.model import VertexType
from executor import predicates
from executor.batch import Batch, IntArray
from executor.dictionary import Dictionary
from executor.predicates import Mask


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input of a pipeline.

    ``node`` is the id of the topmost node of the chain, by which
    :meth:`executor.pipeline.Pipeline.process` knows the leaf; ``predicates`` are SQL over
    ``c0`` (source) and ``c1`` (target), all of which a row has to satisfy beside what the
    scan itself selects.
    """

    node: int
    scan: WindowScan | WindowScanUnion
    predicates: tuple[str, ...]
    vertex_type: VertexType

    @property
    def width(self) -> int:
        """The number of columns of its rows: source and target."""
        return 2

    def expiry(self, ts: IntArray) -> IntArray:
        """``floor(ts / slide) * slide + range`` (thesis Definition 30)."""
        return ts // self.scan.slide * self.scan.slide + self.scan.range

    def select(self, edges: pa.RecordBatch) -> pa.RecordBatch:
        """The edges of this leaf: its stream, its labels, its predicates; order is kept.

        ``edges`` has columns src, trg, label, ts; without a column stream all are taken
        to be of the leaf's stream.
        """
        labels = pa.array(sorted({scan.label for scan in self.scan.scans}), pa.string())
        chosen = edges.filter(pc.is_in(edges["label"], labels))
        if "stream" in edges.schema.names:
            chosen = chosen.filter(pc.equal(chosen["stream"], pa.scalar(self.scan.stream)))
        if any(scan.predicate is not None for scan in self.scan.scans):
            chosen = chosen.filter(pa.array(self._scanned(chosen)))
        for sql in self.predicates:
            ends = [self._vertices(chosen["src"]), self._vertices(chosen["trg"])]
            chosen = chosen.filter(pa.array(predicates.mask(sql, ends)))
        return chosen

    def _scanned(self, edges: pa.RecordBatch) -> Mask:
        """Which edges the scan itself selects."""
        ends = [self._vertices(edges["src"]), self._vertices(edges["trg"])]
        found = np.zeros(edges.num_rows, np.bool_)
        for scan in self.scan.scans:
            of_label = np.asarray(pc.equal(edges["label"], pa.scalar(scan.label)), np.bool_)
            if scan.predicate is not None:
                of_label &= predicates.mask(scan.predicate, ends)
            found |= of_label
        return found

    def encode(self, edges: pa.RecordBatch, dictionary: Dictionary) -> Batch:
        """Selected edges (columns src, trg, ts; sorted by ts) as a batch of codes.

        Raises:
            ValueError: if a vertex is null or is not of the leaf's vertex type.
        """
        ts = np.array(edges["ts"].cast(pa.int64()), np.int64)
        exp = self.expiry(ts)
        columns = np.stack(
            [dictionary.encode(self._vertices(edges[end]), exp) for end in ("src", "trg")]
        )
        return Batch(columns, ts, exp)

    def _vertices(self, column: pa.Array[Any]) -> pa.Array[Any]:
        """Vertices in the leaf's vertex type: a string is never taken for an integer."""
        if self.vertex_type == "string":
            return column.cast(pa.string())
        if len(column) and not pa.types.is_integer(column.type):
            raise ValueError(
                f"stream {self.scan.stream!r} has integer vertices, but its rows hold {column.type}"
            )
        return column.cast(pa.int64())


def leaves(plan: PhysicalPlan) -> tuple[Leaf, ...]:
    """The leaves of a plan, in the order of their nodes.

    A scan that is read both filtered and unfiltered gives a leaf for each.

    Raises:
        PlanError: if a predicate holds anything that is not on the allow-list.
    """
    vertex_types: dict[str, VertexType] = {s.name: s.vertex_type for s in plan.streams}
    chains: dict[int, Leaf] = {}
    handed_over: set[int] = set()
    for node in plan.nodes:
        match node.operator:
            case WindowScan(stream=stream) | WindowScanUnion(stream=stream) as scan:
                for part in scan.scans:
                    if part.predicate is not None:
                        predicates.checked(part.predicate, 2)
                chains[node.id] = Leaf(node.id, scan, (), vertex_types.get(stream, "string"))
            case ToKernel() if node.inputs[0] in chains:
                chains[node.id] = replace(chains[node.inputs[0]], node=node.id)
                handed_over.add(node.id)
            case FilterRows(predicate=sql) if node.inputs[0] in set(chains) - handed_over:
                below = chains[node.inputs[0]]
                predicates.checked(sql, 2)
                chains[node.id] = Leaf(
                    node.id, below.scan, (*below.predicates, sql), below.vertex_type
                )
    read = {i for node in reached(plan, set(chains)) - set(chains) for i in plan.nodes[node].inputs}
    return tuple(leaf for node, leaf in chains.items() if node in read | {plan.root})


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

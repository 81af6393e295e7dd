"""What rows look like between stages and in state, and how they become batches of codes.

Rows of leaves are (port, src, trg, ts): their expiry follows from their ts. Rows that operators
made are (port, vertices, ts, exp). ``port`` is a position among the stage's inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from algebra.plan import PhysicalPlan
from catalog.model import VertexType
from executor.batch import FOREVER, Batch, IntArray
from executor.dictionary import Dictionary
from executor.leaves import Leaf, leaves
from executor.stages import Flow, Stage

_LIFETIMES: Final = np.array([4**k for k in range(32)] + [FOREVER], np.int64)


class Wire(Protocol):
    """The rows that come into a stage."""

    @property
    def schema(self) -> pa.Schema:
        """Their columns."""
        ...

    def expiry(self, rows: pa.Table) -> IntArray:
        """Until when each is valid."""
        ...

    def windows(self, rows: pa.Table) -> IntArray:
        """A length of time that each is valid for, at most and roughly; there are few of them."""
        ...

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Rows sorted by ts as what the stage's pipeline takes."""
        ...


def wire_of(plan: PhysicalPlan, stage: Stage) -> Wire:
    """How rows come into a stage of a plan."""
    if stage.number:
        return RowWire(stage.inputs, vertex_types(plan))
    return LeafWire(stage.inputs, leaves_of(plan, stage))


def leaves_of(plan: PhysicalPlan, stage: Stage) -> tuple[Leaf, ...]:
    """The leaf of each input of the first stage."""
    known = {leaf.node: leaf for leaf in leaves(plan)}
    return tuple(known[flow.source] for flow in stage.inputs)


def vertex_types(plan: PhysicalPlan) -> frozenset[VertexType]:
    """All types of vertices in a plan."""
    return frozenset(leaf.vertex_type for leaf in leaves(plan))


def text_or_integers(types: frozenset[VertexType]) -> VertexType:
    """How the vertices of leaves travel: as integers if all are, else as text."""
    return "integer" if types == {"integer"} else "string"


class LeafWire:
    """Rows of leaves.

    ``flows`` are the stage's inputs, ``leaves`` the leaf of each.
    """

    def __init__(self, flows: Sequence[Flow], leaves: Sequence[Leaf]) -> None:
        self._flows = flows
        self._leaves = leaves
        travels = text_or_integers(frozenset(leaf.vertex_type for leaf in leaves))
        vertex = pa.int64() if travels == "integer" else pa.string()
        self.schema = pa.schema(
            {"port": pa.int32(), "src": vertex, "trg": vertex, "ts": pa.int64()}
        )

    def expiry(self, rows: pa.Table) -> IntArray:
        """Of its leaf's window."""
        port, ts = rows["port"].to_numpy(), rows["ts"].to_numpy()
        found = np.empty(len(ts), np.int64)
        for i, leaf in enumerate(self._leaves):
            own = port == i
            found[own] = leaf.expiry(ts[own])
        return found

    def windows(self, rows: pa.Table) -> IntArray:
        """The length of its leaf's window."""
        ranges = np.array([leaf.scan.range for leaf in self._leaves], np.int64)
        return np.asarray(ranges[rows["port"].to_numpy()])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Integers that travelled as text become integers again."""
        found = {}
        for i, (flow, leaf) in enumerate(zip(self._flows, self._leaves, strict=True)):
            own = _of_port(rows, i, len(self._flows))
            if own.num_rows:
                vertex = pa.int64() if leaf.vertex_type == "integer" else pa.string()
                edges = own.select(["src", "trg", "ts"]).cast(
                    pa.schema({"src": vertex, "trg": vertex, "ts": pa.int64()})
                )
                found[flow.port] = leaf.encode(edges.combine_chunks().to_batches()[0], dictionary)
        return found


class RowWire:
    """Rows that operators made.

    A column of vertices is ``s0``, of strings, or ``i0``, of integers, or where a plan has both
    the two of them, one of which is null. Rows of few columns are null in the others.
    """

    def __init__(self, flows: Sequence[Flow], types: frozenset[VertexType]) -> None:
        self._flows = flows
        self._types = types
        self._width = max((flow.width for flow in flows), default=0)
        vertices: dict[str, pa.DataType] = {}
        for j in range(self._width):
            if "string" in types:
                vertices[f"s{j}"] = pa.string()
            if "integer" in types:
                vertices[f"i{j}"] = pa.int64()
        self.schema = pa.schema(
            {"port": pa.int32(), **vertices, "ts": pa.int64(), "exp": pa.int64()}
        )

    def rows(self, port: int, batch: Batch, dictionary: Dictionary) -> pa.RecordBatch:
        """A batch as rows of an input, by its position."""
        count = len(batch)
        columns: list[pa.Array[Any]] = [pa.array(np.full(count, port, np.int32))]
        for j in range(self._width):
            given = _decoded(batch.columns[j], dictionary) if j < batch.width else {}
            for name, kind in (("string", pa.string()), ("integer", pa.int64())):
                if name in self._types:
                    columns.append(given.get(name, pa.nulls(count, kind)).cast(kind))
        columns += [pa.array(batch.ts), pa.array(batch.exp)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def expiry(self, rows: pa.Table) -> IntArray:
        """As the row says."""
        return np.asarray(rows["exp"].to_numpy())

    def windows(self, rows: pa.Table) -> IntArray:
        """The next power of four."""
        lifetime = rows["exp"].to_numpy() - rows["ts"].to_numpy()
        return np.asarray(_LIFETIMES[np.searchsorted(_LIFETIMES, lifetime)])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Rows by their input."""
        found = {}
        for i, flow in enumerate(self._flows):
            own = _of_port(rows, i, len(self._flows)).combine_chunks()
            if own.num_rows:
                ts, exp = (np.array(own[name].to_numpy()) for name in ("ts", "exp"))
                columns = [self._encoded(own, j, exp, dictionary) for j in range(flow.width)]
                codes = np.array(columns, np.int64).reshape(flow.width, len(ts))
                found[flow.port] = Batch(codes, ts, exp)
        return found

    def _encoded(self, rows: pa.Table, j: int, exp: IntArray, dictionary: Dictionary) -> IntArray:
        codes = np.empty(rows.num_rows, np.int64)
        for name in (f"s{j}", f"i{j}"):
            if name in self.schema.names:
                column = rows[name]
                there = column.is_valid().to_numpy()
                codes[there] = dictionary.encode(column.drop_null(), exp[there])
        return codes


def _of_port(rows: pa.Table, port: int, ports: int) -> pa.Table:
    return rows.filter(pa.array(rows["port"].to_numpy() == port)) if ports > 1 else rows


def _decoded(codes: IntArray, dictionary: Dictionary) -> Mapping[str, pa.Array[Any]]:
    """Vertices by their type, null where they are of the other."""
    integers = dictionary.are_integers(codes)
    found = {}
    for name, own in (("string", ~integers), ("integer", integers)):
        if own.any():
            found[name] = _at(dictionary.decode(codes[own]), own)
    return found


def _at(values: pa.Array[Any], places: NDArray[np.bool_]) -> pa.Array[Any]:
    """``values`` at the places marked, null elsewhere."""
    if places.all():
        return values
    return values.take(pa.array(np.cumsum(places) - 1, mask=~places))

"""The columns of rows between stages and in state, and their conversion to batches of codes.

Rows of leaves are (port, src, trg, ts) and properties: their expiry follows from their ts. Rows
that operators made are (port, values, ts, exp). ``port`` is a position among the stage's inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ....algebra.physical import Rewindow
from ....algebra.plan import PhysicalPlan
from ....algebra.values import PropertyType, VertexType
from ...batch import FOREVER, Batch, IntArray, lasting
from ...checking import widths_of
from ...dictionary import Dictionary
from ...kernels import vertices as kernel
from ...scans import Leaf, leaves
from ...stages import Flow, Stage
from ...values import ARROW_TYPES
from .columns import carried

_TYPES: Final[Mapping[PropertyType, int]] = {
    "string": kernel.STRING,
    "integer": kernel.INTEGER,
    "number": kernel.NUMBER,
    "boolean": kernel.BOOLEAN,
}
_LIFETIMES: Final = np.array([4**k for k in range(32)] + [FOREVER], np.int64)


class Wire(Protocol):
    """The rows that come into a stage."""

    @property
    def schema(self) -> pa.Schema:
        """Their columns."""
        ...

    def expiry(self, rows: pa.Table) -> IntArray:
        """Until when each is to be kept: as long as it is valid, or, where the stage does not read
        it, until time has come to it and it travels on."""
        ...

    def windows(self, rows: pa.Table) -> IntArray:
        """A length of time that each is valid for, at most and roughly; there are few of them."""
        ...

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Rows sorted by ts as what the stage's pipeline takes."""
        ...


def wire_of(plan: PhysicalPlan, stage: Stage) -> Wire:
    """The wire of the rows that come into a stage of a plan."""
    read = stage.read_by(plan)
    if stage.number:
        return RowWire(stage.inputs, value_types(plan), read)
    return LeafWire(stage.inputs, leaves_of(plan, stage), read)


def runs_wire(plan: PhysicalPlan, stage: Stage) -> RowWire:
    """The wire of the runs of a stage's REWINDOWs, which are kept as rows, by node."""
    operators = ((i, plan.nodes[i].operator) for i in stage.nodes)
    nodes = [i for i, operator in operators if isinstance(operator, Rewindow)]
    widths = widths_of(plan)
    flows = [Flow(node, node, widths[node], "stay") for node in nodes]
    return RowWire(flows, value_types(plan))


def leaves_of(plan: PhysicalPlan, stage: Stage) -> tuple[Leaf, ...]:
    """The leaf of each input of the first stage."""
    known = {leaf.node: leaf for leaf in leaves(plan)}
    return tuple(known[flow.source] for flow in stage.inputs)


def value_types(plan: PhysicalPlan) -> frozenset[PropertyType]:
    """All types of values in the rows of a plan."""
    read = {kind for leaf in leaves(plan) for _, kind in leaf.given}
    for node in plan.nodes:
        read |= node.operator.new_types()
    return frozenset(read)


def text_or_integers(types: frozenset[VertexType]) -> VertexType:
    """The type in which vertices travel: integers if all leaves have integers, else text."""
    return "integer" if types == {"integer"} else "string"


class LeafWire:
    """Rows of leaves.

    ``flows`` are the stage's inputs, ``leaves`` the leaf of each; ``read`` the ports that the stage
    itself reads (default: all).
    """

    def __init__(
        self, flows: Sequence[Flow], leaves: Sequence[Leaf], read: Collection[int] | None = None
    ) -> None:
        self._flows = flows
        self.leaves = leaves
        self._read = {flow.port for flow in flows} if read is None else read
        travels = text_or_integers(frozenset(leaf.vertex_type for leaf in leaves))
        vertex = pa.int64() if travels == "integer" else pa.string()
        self._columns = carried(leaves)
        properties = {column: ARROW_TYPES[kind] for (_, kind), column in self._columns.items()}
        self.schema = pa.schema(
            {"port": pa.int32(), "src": vertex, "trg": vertex, "ts": pa.int64(), **properties}
        )

    def expiry(self, rows: pa.Table) -> IntArray:
        """Of its leaf's window."""
        port, ts = rows["port"].to_numpy(), rows["ts"].to_numpy()
        found = ts.copy()
        for i, (flow, leaf) in enumerate(zip(self._flows, self.leaves, strict=True)):
            if flow.port in self._read:
                own = port == i
                found[own] = leaf.expiry(ts[own])
        return found

    def windows(self, rows: pa.Table) -> IntArray:
        """The length of its leaf's window; that of a stored graph has no end."""
        ranges = np.array(
            [FOREVER if leaf.scan.range is None else leaf.scan.range for leaf in self.leaves],
            np.int64,
        )
        return np.asarray(ranges[rows["port"].to_numpy()])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Integers that travelled as text become integers again."""
        found = {}
        for i, (flow, leaf) in enumerate(zip(self._flows, self.leaves, strict=True)):
            own = _of_port(rows, i, len(self._flows))
            if own.num_rows:
                edges = self._edges(own, leaf).combine_chunks().to_batches()[0]
                found[flow.port] = leaf.encode(edges, dictionary)
        return found

    def _edges(self, rows: pa.Table, leaf: Leaf) -> pa.Table:
        """Rows of a leaf with the columns that it knows."""
        vertex = ARROW_TYPES[leaf.vertex_type]
        columns: dict[str, Any] = {"src": rows["src"].cast(vertex), "trg": rows["trg"].cast(vertex)}
        columns |= {
            field[0]: rows[self._columns[field]]
            for field in leaf.travelling
            if field in self._columns
        }
        columns["ts"] = rows["ts"]
        return pa.table(columns)


class RowWire:
    """Rows that operators made.

    A column of values is one for each type that values of the plan have: ``s0``, of strings,
    ``i0``, of integers, ``n0``, of numbers, ``b0``, of booleans. At most one of them is not null;
    none is where the value is missing. Rows of few columns are null in the others. ``read`` are the
    ports that the stage itself reads (default: all).
    """

    def __init__(
        self,
        flows: Sequence[Flow],
        types: frozenset[PropertyType],
        read: Collection[int] | None = None,
    ) -> None:
        self.flows = self._flows = tuple(flows)
        self._read = {flow.port for flow in flows} if read is None else read
        self._types = [known for known in _TYPES if known in types]
        self._width = max((flow.width for flow in flows), default=0)
        values = {
            f"{kind[0]}{j}": ARROW_TYPES[kind] for j in range(self._width) for kind in self._types
        }
        self.schema = pa.schema({"port": pa.int32(), **values, "ts": pa.int64(), "exp": pa.int64()})

    def rows(self, port: int, batch: Batch, dictionary: Dictionary) -> pa.RecordBatch:
        """A batch as rows of an input, by its position."""
        count = len(batch)
        columns: list[pa.Array[Any]] = [pa.array(np.full(count, port, np.int32))]
        for j in range(self._width):
            given = _decoded(batch.columns[j], dictionary) if j < batch.width else {}
            for kind in self._types:
                type_ = ARROW_TYPES[kind]
                columns.append(given.get(kind, pa.nulls(count, type_)).cast(type_))
        columns += [pa.array(batch.ts), pa.array(batch.exp)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def expiry(self, rows: pa.Table) -> IntArray:
        """As the row says, or that which it takes back."""
        ports = [i for i, flow in enumerate(self._flows) if flow.port in self._read]
        read = np.isin(rows["port"].to_numpy(), ports)
        return np.where(read, lasting(rows["exp"].to_numpy()), rows["ts"].to_numpy())

    def windows(self, rows: pa.Table) -> IntArray:
        """The next power of four."""
        lifetime = lasting(rows["exp"].to_numpy()) - rows["ts"].to_numpy()
        return np.asarray(_LIFETIMES[np.searchsorted(_LIFETIMES, lifetime)])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Rows by their input."""
        found = {}
        for i, flow in enumerate(self._flows):
            own = _of_port(rows, i, len(self._flows)).combine_chunks()
            if own.num_rows:
                ts, exp = (np.array(own[name].to_numpy()) for name in ("ts", "exp"))
                until = lasting(exp)
                columns = [self._encoded(own, j, until, dictionary) for j in range(flow.width)]
                codes = np.array(columns, np.int64).reshape(flow.width, len(ts))
                found[flow.port] = Batch(codes, ts, exp)
        return found

    def _encoded(self, rows: pa.Table, j: int, exp: IntArray, dictionary: Dictionary) -> IntArray:
        codes = np.empty(rows.num_rows, np.int64)
        left = np.ones(rows.num_rows, np.bool_)
        for kind in self._types:
            column = rows[f"{kind[0]}{j}"]
            there = column.is_valid().to_numpy()
            codes[there] = dictionary.encode(column.drop_null(), exp[there])
            left &= ~there
        if left.any():
            codes[left] = dictionary.encode(pa.nulls(int(left.sum())), exp[left])
        return codes


def _of_port(rows: pa.Table, port: int, ports: int) -> pa.Table:
    return rows.filter(pa.array(rows["port"].to_numpy() == port)) if ports > 1 else rows


def _decoded(codes: IntArray, dictionary: Dictionary) -> Mapping[PropertyType, pa.Array[Any]]:
    """Values by their type, null where they are of another, or missing."""
    kinds = dictionary.kinds(codes)
    found = {}
    for name, kind in _TYPES.items():
        own = kinds == kind
        if own.any():
            found[name] = _at(dictionary.decode(codes[own]), own)
    return found


def _at(values: pa.Array[Any], places: NDArray[np.bool_]) -> pa.Array[Any]:
    """``values`` at the places marked, null elsewhere."""
    if places.all():
        return values
    return values.take(pa.array(np.cumsum(places) - 1, mask=~places))

"""The columns of rows between stages and in state, and their conversion to batches of codes.

Rows of scan inputs have the columns port, src, trg, ts and properties; their expiry follows from
ts. Rows of operators have the columns port, values, ts and exp. ``port`` is the position of an
input among the inputs of the stage.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ....algebra.physical import AggregateRows, EventReportRows, Rewindow
from ....algebra.plan import PhysicalPlan
from ....algebra.values import PropertyType, VertexType
from ...batch import FOREVER, Batch, IntArray, lasting
from ...checking import widths_of
from ...dictionary import Dictionary
from ...encoding import encode
from ...kernels import vertices as kernel
from ...scans import ScanInput, scan_inputs
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
    """The format of the rows that come into a stage."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        ...

    def expiry(self, rows: pa.Table) -> IntArray:
        """The time until which the log keeps each row, in ticks.

        A row that the stage reads is kept while it is valid. A row that only travels through the
        stage is kept until its ts.
        """
        ...

    def windows(self, rows: pa.Table) -> IntArray:
        """An upper bound of the length of each row's validity, in ticks; with few distinct values.

        The log groups rows by it.
        """
        ...

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Encodes rows, sorted by ts, as batches of the stage's pipeline, by port."""
        ...


def wire_of(plan: PhysicalPlan, stage: Stage) -> Wire:
    """The wire of the rows that come into a stage of a plan."""
    read = stage.read_by(plan)
    if stage.number:
        return RowWire(stage.inputs, value_types(plan), read)
    return ScanInputWire(stage.inputs, scan_inputs_of(plan, stage), read)


def runs_wire(plan: PhysicalPlan, stage: Stage) -> RowWire:
    """The wire of the runs of a stage's REWINDOWs: each REWINDOW is a port."""
    operators = ((i, plan.nodes[i].operator) for i in stage.nodes)
    nodes = [i for i, operator in operators if isinstance(operator, Rewindow)]
    widths = widths_of(plan)
    flows = [Flow(node, node, widths[node], "stay") for node in nodes]
    return RowWire(flows, value_types(plan))


def open_rows_wire(plan: PhysicalPlan, stage: Stage) -> tuple[RowWire, int] | None:
    """The wire of the open rows of a stage, and the number of columns of their key.

    None if the stage has neither an EVENT_REPORT nor an AGGREGATE, or an AGGREGATE with a period,
    which leaves no row open.
    """
    for i in stage.nodes:
        operator = plan.nodes[i].operator
        if isinstance(operator, AggregateRows) and operator.every is None and operator.final:
            width = len(operator.keys) + len(operator.aggregates)
            return RowWire([Flow(i, i, width, "stay")], value_types(plan)), len(operator.keys)
        if isinstance(operator, EventReportRows):
            # A mark, the values, and the number of events.
            width = 2 + len(plan.nodes[i].columns)
            integers: frozenset[PropertyType] = frozenset({"integer"})
            flow = Flow(i, i, width, "stay")
            return RowWire([flow], value_types(plan) | integers), width - 1
    return None


def scan_inputs_of(plan: PhysicalPlan, stage: Stage) -> tuple[ScanInput, ...]:
    """The scan input of each input of the first stage."""
    by_node = {scan_input.node: scan_input for scan_input in scan_inputs(plan)}
    return tuple(by_node[flow.source] for flow in stage.inputs)


def value_types(plan: PhysicalPlan) -> frozenset[PropertyType]:
    """All types of values in the rows of a plan."""
    read = {kind for scan_input in scan_inputs(plan) for _, kind in scan_input.returned}
    for node in plan.nodes:
        read |= node.operator.new_types()
    return frozenset(read)


def text_or_integers(types: frozenset[VertexType]) -> VertexType:
    """The type in which vertices travel: integers if all scan inputs have integers, else text."""
    return "integer" if types == {"integer"} else "string"


class ScanInputWire:
    """The wire of rows of scan inputs.

    Args:
        flows: the inputs of the stage.
        scan_inputs: the scan input of each input.
        read: the ports that the stage itself reads; default: all.
    """

    def __init__(
        self,
        flows: Sequence[Flow],
        scan_inputs: Sequence[ScanInput],
        read: Collection[int] | None = None,
    ) -> None:
        self._flows = flows
        self.scan_inputs = scan_inputs
        self._read = {flow.port for flow in flows} if read is None else read
        vertex_type = text_or_integers(
            frozenset(scan_input.vertex_type for scan_input in scan_inputs)
        )
        vertex = pa.int64() if vertex_type == "integer" else pa.string()
        self._columns = carried(scan_inputs)
        properties = {column: ARROW_TYPES[kind] for (_, kind), column in self._columns.items()}
        self.schema = pa.schema(
            {"port": pa.int32(), "src": vertex, "trg": vertex, "ts": pa.int64(), **properties}
        )

    def expiry(self, rows: pa.Table) -> IntArray:
        """Each row's expiry in its scan input's window; ts if the stage does not read the row."""
        port, ts = rows["port"].to_numpy(), rows["ts"].to_numpy()
        expiry = ts.copy()
        for i, (flow, scan_input) in enumerate(zip(self._flows, self.scan_inputs, strict=True)):
            if flow.port in self._read:
                own = port == i
                expiry[own] = scan_input.expiry(ts[own])
        return expiry

    def windows(self, rows: pa.Table) -> IntArray:
        """The range of the window of each row's scan input; FOREVER for a stored graph."""
        ranges = np.array(
            [
                FOREVER if scan_input.scan.range is None else scan_input.scan.range
                for scan_input in self.scan_inputs
            ],
            np.int64,
        )
        return np.asarray(ranges[rows["port"].to_numpy()])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Encodes the rows of each port; integers that travelled as text become integers again."""
        batches = {}
        for i, (flow, scan_input) in enumerate(zip(self._flows, self.scan_inputs, strict=True)):
            own = _of_port(rows, i, len(self._flows))
            if own.num_rows:
                edges = self._edges(own, scan_input).combine_chunks().to_batches()[0]
                batches[flow.port] = encode(scan_input, edges, dictionary)
        return batches

    def _edges(self, rows: pa.Table, scan_input: ScanInput) -> pa.Table:
        """Rows of a scan input, with the scan input's names of the columns."""
        vertex = ARROW_TYPES[scan_input.vertex_type]
        columns: dict[str, Any] = {"src": rows["src"].cast(vertex), "trg": rows["trg"].cast(vertex)}
        columns |= {
            field[0]: rows[self._columns[field]]
            for field in scan_input.travelling
            if field in self._columns
        }
        columns["ts"] = rows["ts"]
        return pa.table(columns)


class RowWire:
    """The wire of rows of operators.

    Each column of a relation is one Arrow column for each type among the plan's values: ``s0`` of
    strings, ``i0`` of integers, ``n0`` of numbers, ``b0`` of booleans. At most one of these is not
    null; all are null if the value is missing. A row of a narrow relation is null in the columns
    of wider ones.

    Args:
        flows: the inputs of the stage.
        types: the types of values in the plan.
        read: the ports that the stage itself reads; default: all.
    """

    def __init__(
        self,
        flows: Sequence[Flow],
        types: frozenset[PropertyType],
        read: Collection[int] | None = None,
    ) -> None:
        self.flows = self._flows = tuple(flows)
        self._read = {flow.port for flow in flows} if read is None else read
        self._types = [kind for kind in _TYPES if kind in types]
        self._width = max((flow.width for flow in flows), default=0)
        values = {
            f"{kind[0]}{j}": ARROW_TYPES[kind] for j in range(self._width) for kind in self._types
        }
        self.schema = pa.schema({"port": pa.int32(), **values, "ts": pa.int64(), "exp": pa.int64()})

    def columns_of(self, j: int) -> list[str]:
        """The Arrow columns of column ``j`` of a relation."""
        return [f"{kind[0]}{j}" for kind in self._types]

    def rows(self, port: int, batch: Batch, dictionary: Dictionary) -> pa.RecordBatch:
        """Decodes a batch to rows of the input at position ``port``."""
        count = len(batch)
        columns: list[pa.Array[Any]] = [pa.array(np.full(count, port, np.int32))]
        for j in range(self._width):
            values = _decoded(batch.columns[j], dictionary) if j < batch.width else {}
            for kind in self._types:
                type_ = ARROW_TYPES[kind]
                columns.append(values.get(kind, pa.nulls(count, type_)).cast(type_))
        columns += [pa.array(batch.ts), pa.array(batch.exp)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def expiry(self, rows: pa.Table) -> IntArray:
        """The expiry of each row, or of the row that it retracts; ts where the stage reads none."""
        ports = [i for i, flow in enumerate(self._flows) if flow.port in self._read]
        read = np.isin(rows["port"].to_numpy(), ports)
        return np.where(read, lasting(rows["exp"].to_numpy()), rows["ts"].to_numpy())

    def windows(self, rows: pa.Table) -> IntArray:
        """The length of each row's validity, rounded up to a power of four."""
        lifetime = lasting(rows["exp"].to_numpy()) - rows["ts"].to_numpy()
        return np.asarray(_LIFETIMES[np.searchsorted(_LIFETIMES, lifetime)])

    def batches(self, rows: pa.Table, dictionary: Dictionary) -> dict[int, Batch]:
        """Encodes the rows of each port."""
        batches = {}
        for i, flow in enumerate(self._flows):
            own = _of_port(rows, i, len(self._flows)).combine_chunks()
            if own.num_rows:
                ts, exp = (np.array(own[name].to_numpy()) for name in ("ts", "exp"))
                until = lasting(exp)
                columns = [self._encoded(own, j, until, dictionary) for j in range(flow.width)]
                codes = np.array(columns, np.int64).reshape(flow.width, len(ts))
                batches[flow.port] = Batch(codes, ts, exp)
        return batches

    def _encoded(self, rows: pa.Table, j: int, exp: IntArray, dictionary: Dictionary) -> IntArray:
        """Encodes column ``j`` of a relation, from its Arrow columns by type."""
        codes = np.empty(rows.num_rows, np.int64)
        missing = np.ones(rows.num_rows, np.bool_)
        for kind in self._types:
            column = rows[f"{kind[0]}{j}"]
            valid = column.is_valid().to_numpy()
            codes[valid] = dictionary.encode(column.drop_null(), exp[valid])
            missing &= ~valid
        if missing.any():
            codes[missing] = dictionary.encode(pa.nulls(int(missing.sum())), exp[missing])
        return codes


def _of_port(rows: pa.Table, port: int, ports: int) -> pa.Table:
    return rows.filter(pa.array(rows["port"].to_numpy() == port)) if ports > 1 else rows


def _decoded(codes: IntArray, dictionary: Dictionary) -> Mapping[PropertyType, pa.Array[Any]]:
    """Decodes values into one array for each type, null where a value has another type or none."""
    kinds = dictionary.kinds(codes)
    values = {}
    for name, kind in _TYPES.items():
        own = kinds == kind
        if own.any():
            values[name] = _scattered(dictionary.decode(codes[own]), own)
    return values


def _scattered(values: pa.Array[Any], mask: NDArray[np.bool_]) -> pa.Array[Any]:
    """Puts ``values`` in order where ``mask`` is true, and null elsewhere."""
    if mask.all():
        return values
    return values.take(pa.array(np.cumsum(mask) - 1, mask=~mask))

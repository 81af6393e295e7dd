"""The partitions of rows of scan inputs, before the rows are encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ...batch import IntArray
from ...cells import PlacedRows
from ...partitions import partitions_of
from ...scans import ScanInput
from ...stages import Flow
from .columns import carried


class Placing:
    """How a flow distributes the rows of a scan input.

    Args:
        flow: the flow.
        scan_inputs: all scan inputs.
        number: the position of the flow's scan input among them.
    """

    def __init__(self, flow: Flow, scan_inputs: Sequence[ScanInput], number: int) -> None:
        self._cells = flow.cells
        self._fields = scan_inputs[number].returned
        self._carried = carried(scan_inputs)

    def parts(self, rows: pa.RecordBatch | pa.Table, column: int, parts: int) -> IntArray:
        """The part, of so many, in which the value of a column of each row lies.

        Integers may travel as text; their hash is that of the integer.
        """
        field = self._fields[column]
        if field[0] not in ("src", "trg"):
            return partitions_of(_whole(rows[self._carried.get(field, "ts")]), parts)
        values = _whole(rows[field[0]])
        return partitions_of(values.cast(pa.int64()) if field[1] == "integer" else values, parts)

    def in_cells(self, rows: pa.RecordBatch | pa.Table) -> PlacedRows:
        """The rows with their places in the cells of a hypercube."""
        assert self._cells is not None
        return PlacedRows(
            self._cells, rows.num_rows, lambda column, parts: self.parts(rows, column, parts)
        )


def _whole(values: pa.Array[Any] | pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """The values as one array."""
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values

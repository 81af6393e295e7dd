"""Rows in one binary value: how they cross the exchange, and lie in state.

PySpark hands rows to a stateful processor one by one, while a packed row costs as much as
one: so many rows travel as one Arrow stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import pyarrow as pa

from catalog.model import VertexType
from executor.leaves import Leaf

PARTITION = "partition"
ROWS = "rows"
PACKED = f"{PARTITION} int, {ROWS} binary"
ONLY_PARTITION = 0


def wire_type(leaves: Sequence[Leaf]) -> VertexType:
    """How vertices travel: as integers if all are, else as text."""
    types = {leaf.vertex_type for leaf in leaves}
    return "integer" if types == {"integer"} else "string"


def wire_schema(leaves: Sequence[Leaf]) -> pa.Schema:
    """The columns of packed rows; ``leaf`` is a position in ``leaves``."""
    vertex = pa.int64() if wire_type(leaves) == "integer" else pa.string()
    return pa.schema({"leaf": pa.int32(), "src": vertex, "trg": vertex, "ts": pa.int64()})


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per batch for the only partition (more of them when plans have exchanges)."""
    empty = True
    for batch in batches:
        if batch.num_rows:
            empty = False
            yield _packed_row(arrow_bytes(batch))
    if empty:
        yield _packed_row(b"")


def _packed_row(rows: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            PARTITION: pa.array([ONLY_PARTITION], pa.int32()),
            ROWS: pa.array([rows], pa.binary()),
        }
    )


def arrow_bytes(batch: pa.RecordBatch, compression: Literal["zstd"] | None = None) -> bytes:
    """A batch as an Arrow stream; :func:`table_of` reads it."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def table_of(data: bytes) -> pa.Table:
    """The rows of an Arrow stream."""
    return pa.ipc.open_stream(data).read_all()

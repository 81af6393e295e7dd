"""Messages: how rows cross an exchange, and lie in state.

PySpark hands rows to a stateful processor one by one, while a packed row costs as much as
one: so many rows travel as one Arrow stream. Every batch takes at least one message, perhaps
an empty one, from each sender to each partition: a partition without rows is never called
otherwise, and would not see time pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext

from ...partitions import partitions_of
from ...scans import Leaf
from ...stages import Flow
from ...watermarks import NEVER, Seen
from .columns import carried
from .late import SILENT, TOLD

PARTITION = "partition"
"""The column that messages are grouped by; it holds one of :func:`partition_keys`."""

PACKED = f"{PARTITION} int, kind string, source int, number int, now bigint, payload binary"
"""A message: the how manieth it is of its sender, and the latest ts that the sender knows of."""

NO_STREAM = -1
END = -2
"""Among rows of leaves, the number that stands for the end of the input instead of a leaf's."""
_MASK = 0xFFFFFFFF
_OF_WAITING = ["of", "clock"]


@dataclass(frozen=True, slots=True)
class Message:
    """Rows as an Arrow stream (``payload`` may be empty), a report as JSON, what was seen of the
    streams as JSON (:class:`headrace.executor.watermarks.Seen`), JSON lines of late edges, or the
    news that the input is at its end."""

    partition: int
    kind: Literal["rows", "report", "seen", "late", "end"]
    source: int
    number: int
    now: int
    payload: bytes = b""


@cache
def partition_keys(partitions: int) -> tuple[int, ...]:
    """For each partition the value that Spark sends to the shuffle partition of its number.

    They depend on nothing but the number of partitions, for state is kept by them. With
    another number of shuffle partitions several may meet in one task, which costs time only.
    """
    found: dict[int, int] = {}
    key = 0
    while len(found) < partitions:
        found.setdefault(_murmur3(key) % partitions, key)
        key += 1
    return tuple(found[partition] for partition in range(partitions))


def _murmur3(value: int) -> int:
    """Spark's hash of an int, Murmur3 (x86, 32 bits) of seed 42."""
    mixed = value * 0xCC9E2D51 & _MASK
    mixed = (mixed << 15 | mixed >> 17) & _MASK
    result = 42 ^ mixed * 0x1B873593 & _MASK
    result = (result << 13 | result >> 19) & _MASK
    result = (result * 5 + 0xE6546B64 & _MASK) ^ 4
    result = (result ^ result >> 16) * 0x85EBCA6B & _MASK
    result = (result ^ result >> 13) * 0xC2B2AE35 & _MASK
    result ^= result >> 16
    return result - (1 << 32) if result >= 1 << 31 else result


def leaf_packer(
    flows: Sequence[tuple[int, Flow]],
    leaves: Sequence[Leaf],
    partitions: int,
    streams: Sequence[str] | None = None,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What Spark applies to rows (leaf, src, trg, ts and properties): they become messages to
    the first stage.

    Where rows wait for a watermark they are those of
    :func:`headrace.executor.spark.reading.scan_rows.waiting_rows`, and each partition is told what
    was seen of the streams, in place of the latest ts.

    Args:
        flows: of each port of the stage the number of its leaf, and how its rows spread.
        leaves: by their numbers.
        partitions: how many there are.
        streams: their names by their numbers, where rows wait.
    """

    hashed_by = [_hashed_column(leaves, leaf, flow) for leaf, flow in flows]

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        source = 0 if context is None else context.partitionId()
        number, now, ended = 0, NEVER, False
        seen = Seen()
        for rows_and_end in batches:
            is_end = rows_and_end["leaf"].to_numpy() == END
            ended = ended or bool(is_end.any())
            batch = rows_and_end.filter(pa.array(~is_end)) if is_end.any() else rows_and_end
            if not batch.num_rows:
                continue
            of_leaves = batch
            if streams is None:
                now = max(now, int(batch["ts"].to_numpy().max()))
            else:
                seen |= _seen(batch, streams)
                of_leaves = _of_leaves(batch)
            for partition, rows in _spread(of_leaves, flows, hashed_by, partitions):
                message = Message(partition, "rows", source, number, now, arrow_bytes(rows))
                yield packed([message], partitions)
                number += 1
        if streams is not None:
            told = json.dumps(asdict(seen)).encode()
            yield packed(
                [Message(k, "seen", source, number + k, now, told) for k in range(partitions)],
                partitions,
            )
        elif partitions > 1 or not number or ended:
            kind: Literal["rows", "end"] = "end" if ended else "rows"
            yield packed(
                [Message(k, kind, source, number + k, now) for k in range(partitions)],
                partitions,
            )

    return pack


def _seen(batch: pa.RecordBatch, streams: Sequence[str]) -> Seen:
    """The largest ts of each stream among some rows, and the clock."""
    of, ts = batch["of"].to_numpy(), batch["ts"].to_numpy()
    clocks: Any = batch["clock"]
    return Seen(
        {streams[i]: int(ts[of == i].max()) for i in np.unique(of[of != NO_STREAM]).tolist()},
        clocks[0].as_py(),
    )


def _of_leaves(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What goes on to the stage."""
    chosen = batch.filter(pa.array(batch["leaf"].to_numpy() >= 0))
    return chosen.drop_columns(_OF_WAITING)


def _spread(
    batch: pa.RecordBatch,
    flows: Sequence[tuple[int, Flow]],
    hashed_by: Sequence[tuple[str, bool]],
    partitions: int,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows (port, src, trg, ts and properties) of each partition that has any."""
    names = ["port", *batch.schema.names[1:]]
    if partitions == 1:  # then the ports are the leaves
        yield 0, batch.rename_columns(names)
        return
    leaf = batch[0].to_numpy()
    spoken: set[int] = set()
    parts: list[list[pa.RecordBatch]] = [[] for _ in range(partitions)]
    for port, (number, flow) in enumerate(flows):
        own = batch.filter(pa.array(leaf == number))
        own = own.set_column(0, "port", pa.array(np.full(own.num_rows, port, np.int32)))
        if number in spoken:
            own = _silent(own)
        spoken.add(number)
        match flow.spread:
            case "single":
                parts[0].append(own)
            case "broadcast":
                parts[0].append(own)
                for part in parts[1:]:
                    part.append(_silent(own))
            case _:
                name, as_integers = hashed_by[port]
                values = own[name].cast(pa.int64()) if as_integers else own[name]
                target = partitions_of(values, partitions)
                for k, part in enumerate(parts):
                    part.append(own.filter(pa.array(target == k)))
    for k, part in enumerate(parts):
        filled = [rows for rows in part if rows.num_rows]
        if filled:
            yield k, pa.Table.from_batches(filled).combine_chunks().to_batches()[0]


def _silent(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows that do not speak for their edges, since others do."""
    if TOLD not in rows.schema.names:
        return rows
    place = rows.schema.get_field_index(TOLD)
    silent = pa.array(np.full(rows.num_rows, SILENT, np.int32))
    return rows.set_column(place, rows.schema.field(place), silent)


def _hashed_column(leaves: Sequence[Leaf], number: int, flow: Flow) -> tuple[str, bool]:
    """The column that the rows of a leaf may be hashed by, and whether it holds integers that
    may travel as text."""
    leaf = leaves[number]
    if flow.spread != "hash":
        return "src", False
    field = leaf.given[flow.column]
    if field[0] in ("src", "trg"):
        return field[0], field[1] == "integer"
    return carried(leaves).get(field, "ts"), False


def packed(messages: Sequence[Message], partitions: int) -> pa.RecordBatch:
    """Messages as rows of :data:`PACKED`."""
    keys = partition_keys(partitions)
    return pa.RecordBatch.from_pydict(
        {
            PARTITION: pa.array([keys[m.partition] for m in messages], pa.int32()),
            "kind": pa.array([m.kind for m in messages], pa.string()),
            "source": pa.array([m.source for m in messages], pa.int32()),
            "number": pa.array([m.number for m in messages], pa.int32()),
            "now": pa.array([m.now for m in messages], pa.int64()),
            "payload": pa.array([m.payload for m in messages], pa.binary()),
        }
    )


def bytes_of_frame(frame: pd.DataFrame) -> bytes:
    """Messages as Spark hands them over, for :func:`frame_of_bytes`."""
    return arrow_bytes(pa.RecordBatch.from_pandas(frame, preserve_index=False))


def frame_of_bytes(data: bytes) -> pd.DataFrame:
    """The messages of :func:`bytes_of_frame`."""
    return table_of(data).to_pandas()


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

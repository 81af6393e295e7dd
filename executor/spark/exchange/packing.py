"""Messages: the form in which rows cross an exchange and are kept in state.

PySpark hands rows to a stateful processor one by one, and a message costs as much as one row.
So one message carries many rows, as an Arrow stream. In every batch each sender sends each
partition at least one message, which may be empty: Spark never calls a partition without input, and
time would not advance there.
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

from ....algebra.plan import PhysicalPlan
from ...cells import Mask
from ...scans import ScanInput
from ...stages import Flow, Stage
from ...watermarks import NEVER, Seen, streams_read
from .hashed import Placing
from .late import LATE_SOURCE, NO_SOURCE
from .wire import scan_inputs_of

PARTITION = "partition"
"""The column that messages are grouped by; it holds one of :func:`partition_keys`."""

PACKED = f"{PARTITION} int, kind string, source int, number int, now bigint, payload binary"
"""The schema of messages; :class:`Message` has its columns."""

NO_STREAM = -1
"""The stream number of an edge of a stored graph."""

END = -2
"""The scan input number of the row that marks the end of the input."""

SLICE = "slice"
"""The kind of a row of Spark that has the path of a slice of the spool as its payload.

The stage that receives it reads and packs the slice itself.
"""
_MASK = 0xFFFFFFFF
_WATERMARK_COLUMNS = ["of", "clock"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of one sender to one partition.

    Attributes:
        partition: the receiver's number.
        kind: the content of ``payload``. rows: an Arrow stream, or nothing. report: JSON. seen: the
            largest ts of each stream, as JSON (:class:`headrace.executor.watermarks.Seen`).
            late: late edges as JSON lines. end: nothing; the input is at its end.
        source: the sender's number.
        number: the position of the message among the sender's messages of a batch.
        now: the largest ts that the sender has seen, in ticks.
        payload: the content. Rows for a receiver in the same process are not an Arrow stream, but
            the record batch itself.
    """

    partition: int
    kind: Literal["rows", "report", "seen", "late", "end"]
    source: int
    number: int
    now: int
    payload: bytes | pa.RecordBatch = b""


Sent = Iterator[Sequence[Message]]
"""Messages in the order in which they are sent; those of one sequence may go into one batch."""


@cache
def partition_keys(partitions: int) -> tuple[int, ...]:
    """For each partition a key that Spark hashes to the shuffle partition of the same number.

    Spark keeps state by key, so the keys depend only on the number of partitions. With another
    number of shuffle partitions in Spark, partitions may share a task, which costs time only.
    """
    keys: dict[int, int] = {}
    key = 0
    while len(keys) < partitions:
        keys.setdefault(_murmur3(key) % partitions, key)
        key += 1
    return tuple(keys[partition] for partition in range(partitions))


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


def stage_sender(
    plan: PhysicalPlan, stage: Stage, *, waits: bool
) -> Callable[[Iterable[pa.RecordBatch]], Sent]:
    """Returns the function that turns rows of a plan's scan inputs into messages to its first
    stage.

    ``waits`` tells whether rows wait for a watermark; :func:`scan_input_sender` has the rest.
    """
    by_port = scan_inputs_of(plan, stage)
    # Two inputs of the stage may read the same scan input: its rows are selected once.
    distinct = tuple(dict.fromkeys(by_port))
    flows = [
        (distinct.index(scan_input), flow)
        for scan_input, flow in zip(by_port, stage.inputs, strict=True)
    ]
    streams = [stream.name for stream in streams_read(plan)] if waits else None
    return scan_input_sender(flows, distinct, plan.parallelism, streams)


def stage_packer(
    plan: PhysicalPlan, stage: Stage, *, waits: bool
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns the function that packs rows of a plan's scan inputs for its first stage.

    Spark applies the function. The arguments are those of :func:`stage_sender`.
    """
    send = stage_sender(plan, stage, waits=waits)
    partitions = plan.parallelism
    return lambda batches: (packed(messages, partitions) for messages in send(batches))


def scan_input_sender(
    flows: Sequence[tuple[int, Flow]],
    scan_inputs: Sequence[ScanInput],
    partitions: int,
    streams: Sequence[str] | None = None,
) -> Callable[[Iterable[pa.RecordBatch]], Sent]:
    """Returns the function that turns rows of scan inputs into messages to the first stage.

    The rows are those of :func:`headrace.executor.spark.reading.scan_rows.scan_input_rows`, or,
    where rows wait for a watermark, of
    :func:`headrace.executor.spark.reading.scan_rows.waiting_rows`. With a watermark each partition
    gets the largest ts of each stream, otherwise the largest ts of all.

    Args:
        flows: for each port of the stage its scan input's number, and how rows are distributed.
        scan_inputs: the scan inputs by number.
        partitions: the number of partitions.
        streams: the names of streams by number, where rows wait for a watermark.
    """

    places = [Placing(flow, scan_inputs, scan_input) for scan_input, flow in flows]

    def send(batches: Iterable[pa.RecordBatch]) -> Sent:
        context = TaskContext.get()
        source = 0 if context is None else context.partitionId()
        number, now, ended = 0, NEVER, False
        seen = Seen()
        for rows_and_end in batches:
            is_end = rows_and_end["scan_input"].to_numpy() == END
            ended = ended or bool(is_end.any())
            batch = rows_and_end.filter(pa.array(~is_end)) if is_end.any() else rows_and_end
            if not batch.num_rows:
                continue
            of_scan_inputs = batch
            if streams is None:
                now = max(now, int(batch["ts"].to_numpy().max()))
            else:
                seen |= _seen(batch, streams)
                of_scan_inputs = _of_scan_inputs(batch)
            for partition, rows in _spread(of_scan_inputs, flows, places, partitions):
                yield [Message(partition, "rows", source, number, now, rows)]
                number += 1
        if streams is not None:
            times = json.dumps(asdict(seen)).encode()
            yield [Message(k, "seen", source, number + k, now, times) for k in range(partitions)]
        elif partitions > 1 or not number or ended:
            kind: Literal["rows", "end"] = "end" if ended else "rows"
            yield [Message(k, kind, source, number + k, now) for k in range(partitions)]

    return send


def _seen(batch: pa.RecordBatch, streams: Sequence[str]) -> Seen:
    """The largest ts of each stream among the rows of a batch, and the clock."""
    of, ts = batch["of"].to_numpy(), batch["ts"].to_numpy()
    clocks: Any = batch["clock"]
    return Seen(
        {streams[i]: int(ts[of == i].max()) for i in np.unique(of[of != NO_STREAM]).tolist()},
        clocks[0].as_py(),
    )


def _of_scan_inputs(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows that a scan input selected, without the columns for the watermark."""
    chosen = batch.filter(pa.array(batch["scan_input"].to_numpy() >= 0))
    return chosen.drop_columns(_WATERMARK_COLUMNS)


def _spread(
    batch: pa.RecordBatch,
    flows: Sequence[tuple[int, Flow]],
    places: Sequence[Placing],
    partitions: int,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields each partition that gets rows, with its rows (port, src, trg, ts and properties)."""
    names = ["port", *batch.schema.names[1:]]
    if partitions == 1:  # then the ports are the scan inputs
        yield 0, batch.rename_columns(names)
        return
    scan_input = batch[0].to_numpy()
    reported: set[int] = set()  # scan inputs whose rows have their edges' source already
    parts: list[list[pa.RecordBatch]] = [[] for _ in range(partitions)]
    for port, (number, flow) in enumerate(flows):
        own = batch.filter(pa.array(scan_input == number))
        own = own.set_column(0, "port", pa.array(np.full(own.num_rows, port, np.int32)))
        if number in reported:
            own = _without_source(own)
        reported.add(number)
        match flow.spread:
            case "single":
                parts[0].append(own)
            case "broadcast":
                parts[0].append(own)
                for part in parts[1:]:
                    part.append(_without_source(own))
            case "hypercube":
                placed = places[port].in_cells(own)
                for k, part in enumerate(parts):
                    on = placed.on(k)
                    copies = _without_source(own, ~placed.counted_on(k))
                    part.append(copies.filter(pa.array(on)))
            case _:
                target = places[port].parts(own, flow.column, partitions)
                for k, part in enumerate(parts):
                    part.append(own.filter(pa.array(target == k)))
    for k, part in enumerate(parts):
        filled = [rows for rows in part if rows.num_rows]
        if filled:
            yield k, pa.Table.from_batches(filled).combine_chunks().to_batches()[0]


def _without_source(rows: pa.RecordBatch, mask: Mask | None = None) -> pa.RecordBatch:
    """The rows with :data:`NO_SOURCE`, since copies of them have their edges' source.

    With a mask only its rows lose their source.
    """
    if LATE_SOURCE not in rows.schema.names:
        return rows
    position = rows.schema.get_field_index(LATE_SOURCE)
    sources = rows.column(position).to_numpy(zero_copy_only=False)
    left = np.full(rows.num_rows, NO_SOURCE, np.int32)
    if mask is not None:
        left = np.where(mask, left, sources).astype(np.int32)
    return rows.set_column(position, rows.schema.field(position), pa.array(left))


def packed(messages: Sequence[Message], partitions: int) -> pa.RecordBatch:
    """Messages as rows of the schema :data:`PACKED`."""
    keys = partition_keys(partitions)
    return pa.RecordBatch.from_pydict(
        {
            PARTITION: pa.array([keys[m.partition] for m in messages], pa.int32()),
            "kind": pa.array([m.kind for m in messages], pa.string()),
            "source": pa.array([m.source for m in messages], pa.int32()),
            "number": pa.array([m.number for m in messages], pa.int32()),
            "now": pa.array([m.now for m in messages], pa.int64()),
            "payload": pa.array([_bytes_of(m.payload) for m in messages], pa.binary()),
        }
    )


def _bytes_of(payload: bytes | pa.RecordBatch) -> bytes:
    return arrow_bytes(payload) if isinstance(payload, pa.RecordBatch) else payload


def bytes_of_frame(frame: pd.DataFrame) -> bytes:
    """Messages from Spark as an Arrow stream; :func:`frame_of_bytes` reads it."""
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


def table_of(payload: bytes | pa.RecordBatch) -> pa.Table:
    """The rows of an Arrow stream, or of a record batch."""
    if isinstance(payload, pa.RecordBatch):
        return pa.Table.from_batches([payload])
    return pa.ipc.open_stream(payload).read_all()

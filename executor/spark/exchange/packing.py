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

from ...partitions import partitions_of
from ...scans import ScanInput
from ...stages import Flow
from ...watermarks import NEVER, Seen
from .columns import carried
from .late import LATE_SOURCE, NO_SOURCE

PARTITION = "partition"
"""The column that messages are grouped by; it holds one of :func:`partition_keys`."""

PACKED = f"{PARTITION} int, kind string, source int, number int, now bigint, payload binary"
"""The schema of messages; :class:`Message` has its columns."""

NO_STREAM = -1
"""The stream number of an edge of a stored graph."""

END = -2
"""The scan input number of the row that marks the end of the input."""
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
        payload: the content.
    """

    partition: int
    kind: Literal["rows", "report", "seen", "late", "end"]
    source: int
    number: int
    now: int
    payload: bytes = b""


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


def scan_input_packer(
    flows: Sequence[tuple[int, Flow]],
    scan_inputs: Sequence[ScanInput],
    partitions: int,
    streams: Sequence[str] | None = None,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns the function that packs rows of scan inputs into messages to the first stage.

    Spark applies the function to rows of
    :func:`headrace.executor.spark.reading.scan_rows.scan_input_rows`, or, where rows wait for a
    watermark, of :func:`headrace.executor.spark.reading.scan_rows.waiting_rows`. With a watermark
    each partition gets the largest ts of each stream, otherwise the largest ts of all.

    Args:
        flows: for each port of the stage its scan input's number, and how rows are distributed.
        scan_inputs: the scan inputs by number.
        partitions: the number of partitions.
        streams: the names of streams by number, where rows wait for a watermark.
    """

    hashed_by = [_hashed_column(scan_inputs, scan_input, flow) for scan_input, flow in flows]

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
            for partition, rows in _spread(of_scan_inputs, flows, hashed_by, partitions):
                message = Message(partition, "rows", source, number, now, arrow_bytes(rows))
                yield packed([message], partitions)
                number += 1
        if streams is not None:
            times = json.dumps(asdict(seen)).encode()
            yield packed(
                [Message(k, "seen", source, number + k, now, times) for k in range(partitions)],
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
    hashed_by: Sequence[tuple[str, bool]],
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


def _without_source(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with :data:`NO_SOURCE`, since copies of them have their edges' source."""
    if LATE_SOURCE not in rows.schema.names:
        return rows
    position = rows.schema.get_field_index(LATE_SOURCE)
    no_source = pa.array(np.full(rows.num_rows, NO_SOURCE, np.int32))
    return rows.set_column(position, rows.schema.field(position), no_source)


def _hashed_column(scan_inputs: Sequence[ScanInput], number: int, flow: Flow) -> tuple[str, bool]:
    """The column by which the rows of a scan input are hashed, and whether it holds integers.

    Integers may travel as text; their hash is that of the integer.
    """
    scan_input = scan_inputs[number]
    if flow.spread != "hash":
        return "src", False
    field = scan_input.returned[flow.column]
    if field[0] in ("src", "trg"):
        return field[0], field[1] == "integer"
    return carried(scan_inputs).get(field, "ts"), False


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
            "payload": pa.array([m.payload for m in messages], pa.binary()),
        }
    )


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


def table_of(data: bytes) -> pa.Table:
    """The rows of an Arrow stream."""
    return pa.ipc.open_stream(data).read_all()

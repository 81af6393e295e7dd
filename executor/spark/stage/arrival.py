"""The messages that a partition of a stage receives in a batch, opened and merged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from ...reorder import sorted_by_ts
from ...watermarks import NEVER, Seen
from ..exchange.blocks import LATE, REPORT
from ..exchange.late import LATE_SOURCE, NO_SOURCE
from ..exchange.packing import SLICE, Message, table_of


@dataclass(frozen=True, slots=True)
class Arrived:
    """The content of all messages to a partition in a batch.

    Attributes:
        rows: sorted by ts.
        now: the largest ts that a sender has seen, in ticks.
        seen: the largest ts of each stream, where rows wait for a watermark.
        reports: reports of earlier stages, as JSON.
        late: late edges of earlier stages, as JSON lines.
        ended: whether the input is at its end.
    """

    rows: pa.Table
    now: int
    seen: Seen
    reports: list[bytes]
    late: list[bytes]
    ended: bool


def messages_in(
    frames: Iterable[pd.DataFrame], read: Callable[[Iterable[str]], Iterable[Message]]
) -> Iterator[Message]:
    """The messages that Spark hands to a partition, then those of slices.

    Args:
        frames: messages, and rows of the kind
            :data:`headrace.executor.spark.exchange.packing.SLICE`.
        read: reads slices, by their paths, into messages.
    """
    paths: list[str] = []
    for frame in frames:
        columns = (frame[name] for name in ("kind", "source", "number", "now", "payload"))
        for kind, source, number, now, payload in zip(*columns, strict=True):
            if kind == SLICE:
                paths.append(payload.decode())
            else:
                yield Message(0, kind, int(source), int(number), int(now), payload)
    if paths:
        yield from read(paths)


def arrived_in(messages: Iterable[Message], schema: pa.Schema) -> Arrived:
    """Opens messages; rows of equal ts keep the order of senders, and of each sender's messages."""
    now, seen = NEVER, Seen()
    ended = False
    reports: list[bytes] = []
    late: list[bytes] = []
    tables: list[tuple[int, int, pa.Table]] = []
    for message in messages:
        now = max(now, message.now)
        payload = message.payload
        if isinstance(payload, pa.RecordBatch):
            tables.append((message.source, message.number, table_of(payload)))
            continue
        ended = ended or message.kind == "end"
        if message.kind == REPORT:
            reports.append(payload)
        elif message.kind == LATE:
            late.append(payload)
        elif message.kind == "seen":
            seen |= Seen(**json.loads(payload))
        elif payload:
            tables.append((message.source, message.number, table_of(payload)))
    tables.sort(key=lambda part: part[:2])
    parts = [table for *_, table in tables]
    if any(LATE_SOURCE in part.schema.names for part in parts):
        schema = schema.append(pa.field(LATE_SOURCE, pa.int32()))
        parts = [_with_late_source(part, schema) for part in parts]
    rows = concatenated(schema, [part.cast(schema) for part in parts])
    return Arrived(sorted_by_ts(rows), now, seen, reports, late, ended)


def _with_late_source(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows of stored graphs, which are never late, in the schema of rows that may be late."""
    if LATE_SOURCE in rows.schema.names:
        return rows
    no_source = pa.array([NO_SOURCE] * len(rows), pa.int32())
    return rows.append_column(schema.field(LATE_SOURCE), no_source)


def concatenated(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Table:
    """One table after the other; an empty one of the schema if there are none."""
    return pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()

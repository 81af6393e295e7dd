"""Stages over partitions as on Spark, without Spark: messages, metadata and logs are real."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.batch import FOREVER
from headrace.executor.local import Edge, Result, _record_batches
from headrace.executor.scans import ScanInput
from headrace.executor.spark.exchange.blocks import LATE, RESULTS
from headrace.executor.spark.exchange.columns import carried
from headrace.executor.spark.exchange.late import LATE_SOURCE, NO_SOURCE, sources_of
from headrace.executor.spark.exchange.packing import (
    END,
    SLICE,
    Message,
    packed,
    partition_keys,
    scan_input_sender,
    table_of,
)
from headrace.executor.spark.exchange.wire import scan_inputs_of, text_or_integers
from headrace.executor.spark.reading.slice_rows import messages_of_slices
from headrace.executor.spark.stage import partition as work
from headrace.executor.spark.stage.partition import PartitionBatch
from headrace.executor.spark.state.cache import StateCache
from headrace.executor.stages import stages_of
from headrace.executor.values import ARROW_TYPES
from headrace.executor.watermarks import streams_read
from tests.executor.spark.running import results_in

_WORKERS: list[StateCache[work.Index]] = [StateCache(), StateCache()]


class Blobs(dict[int, bytes]):
    """A dictionary that behaves like Spark's map state."""

    def put(self, number: int, blob: bytes) -> None:
        assert number < 0 or number not in self
        self[number] = blob

    def remove(self, number: int) -> None:
        del self[number]

    def __missing__(self, number: int) -> bytes:
        raise AssertionError(f"blob {number} was removed or never put")

    def get(self, number: int) -> bytes:  # type: ignore[override] # no default here
        return self[number]


class Chain:
    """A running plan; the seed chooses the number of pieces of rows, and their tasks.

    Edges come in order, or with ``disorder`` in any order: then they wait for the watermark.
    """

    def __init__(self, plan: PhysicalPlan, seed: int = 0, *, disorder: bool = False) -> None:
        self.plan = plan
        self.stages = stages_of(plan)
        self.results: list[Result] = []
        self.reports: list[bytes] = []
        self.late: list[dict[str, Any]] = []
        self._streams = [stream.name for stream in streams_read(plan)] if disorder else None
        self._random = Random(seed)
        self._metadata: dict[tuple[int, int], str] = {}
        self.logs: dict[tuple[int, int], Blobs] = defaultdict(Blobs)
        by_port = scan_inputs_of(plan, self.stages[0])
        self._scan_inputs = tuple(dict.fromkeys(by_port))
        self._send = scan_input_sender(
            [
                (self._scan_inputs.index(scan_input), flow)
                for scan_input, flow in zip(by_port, self.stages[0].inputs, strict=True)
            ],
            self._scan_inputs,
            plan.parallelism,
            self._streams,
        )

    def another_worker(self, *, gone: bool = False) -> None:
        """Moves to a worker without indexes; with ``gone`` the last worker is lost."""
        if gone:
            work._CACHE._entries.clear()
        work._CACHE = next(cache for cache in _WORKERS if cache is not work._CACHE)

    def end(self) -> None:
        """Ends all streams."""
        if self._streams is None:
            self.batch([], end=True)
        for stream in self._streams or ():
            self.batch([("", "", "no label", FOREVER, stream)])

    def batch(self, edges: Sequence[Edge], clock: int | None = None, *, end: bool = False) -> None:
        """Processes one micro-batch; with ``end``, for edges in order, it is the last."""
        tasks = self._random.randint(1, 3)
        dealt: list[list[Edge]] = [[] for _ in range(tasks)]
        for edge in edges:
            self._random.choice(dealt).append(edge)
        last = self._random.randrange(tasks) if end else None
        sent = pa.concat_tables(
            self._packed(self._send(self._sent(part, clock, end=number == last)))
            for number, part in enumerate(dealt)
        ).to_pandas()
        self._run(sent)

    def slices(self, *paths: Path) -> None:
        """Processes one micro-batch of slices of the spool."""
        names = [str(path) for path in paths]
        if self.plan.parallelism == 1:
            row = {"partition": partition_keys(1)[0], "kind": SLICE, "source": 0, "number": 0}
            rows = [row | {"now": 0, "payload": name.encode()} for name in names]
            self._run(pd.DataFrame(rows))
        else:
            self._run(self._packed([[*messages_of_slices(self.plan.to_json(), names)]]).to_pandas())

    def _packed(self, sent: Iterable[Sequence[Message]]) -> pa.Table:
        """Messages in the form in which Spark moves them."""
        return pa.Table.from_batches([packed(part, self.plan.parallelism) for part in sent])

    def _run(self, sent: pd.DataFrame) -> None:
        """Runs all stages over the messages of a micro-batch."""
        results: list[Result] = []
        reports: list[bytes] = []
        for stage in self.stages:
            frames = [*self._stage(stage.number, sent)]
            sent = pd.concat(frames, ignore_index=True)
        for kind, payload in zip(sent["kind"], sent["payload"], strict=True):
            if kind == RESULTS:
                results += results_in(table_of(payload))
            elif kind == LATE:
                self.late += [json.loads(line) for line in payload.decode().splitlines()]
            else:
                reports.append(payload)
        self.results += results
        self.reports = reports

    def ports_kept(self, stage: int) -> set[int]:
        """The ports of a stage whose rows are in its logs."""
        logs = [log for (number, _), log in self.logs.items() if number == stage]
        return {
            port
            for log in logs
            for blob in log.values()
            for port in table_of(blob)["port"].to_numpy().tolist()
        }

    def _stage(self, number: int, sent: pd.DataFrame) -> Iterator[pd.DataFrame]:
        keys = partition_keys(self.plan.parallelism)
        assert set(sent["partition"]) == set(keys)
        document = self.plan.to_json()
        for key in self._random.sample(keys, len(keys)):
            own = sent[sent["partition"] == key].sample(
                frac=1, random_state=self._random.randrange(1000)
            )
            place = number, key
            batch = PartitionBatch(document, ("run", *place), self._metadata.get(place))
            yield from batch.run([own[:2], own[2:]], self.logs[place])
            self._metadata[place] = batch.metadata.to_json()

    def _sent(
        self, edges: Sequence[Edge], clock: int | None, *, end: bool
    ) -> Iterator[pa.RecordBatch]:
        if self._streams is None:
            yield from self._tagged(edges)
            if end:
                row: dict[str, object] = dict.fromkeys(self._schema.names)
                yield pa.RecordBatch.from_pylist([row | {"scan_input": END, "ts": 0}], self._schema)
            return
        rows = [each for edge in edges for each in self._waiting(edge, self._streams, clock)]
        if rows:
            yield from pa.Table.from_batches(rows).combine_chunks().to_batches()

    def _waiting(
        self, edge: Edge, streams: Sequence[str], clock: int | None
    ) -> Iterator[pa.RecordBatch]:
        """The rows of an edge, in the format of waiting_rows."""
        _, _, label, ts, stream, *_ = edge  # type: ignore[misc]
        sources, is_first = sources_of(self.plan), True
        for rows in self._tagged([edge]):
            if not rows.num_rows:
                continue
            source = sources.index((stream, label)) if is_first else NO_SOURCE
            is_first = False
            yield _with(rows, source, streams.index(stream), clock)
        if is_first and stream in streams:
            nothing = pa.RecordBatch.from_pylist(
                [{"scan_input": -1, "ts": ts}], schema=self._schema
            )
            yield _with(nothing, NO_SOURCE, streams.index(stream), clock)

    @property
    def _schema(self) -> pa.Schema:
        kinds = frozenset(scan_input.vertex_type for scan_input in self._scan_inputs)
        vertex = pa.int64() if text_or_integers(kinds) == "integer" else pa.string()
        columns = carried(self._scan_inputs)
        properties = {name: ARROW_TYPES[kind] for (_, kind), name in columns.items()}
        edge = {"scan_input": pa.int32(), "src": vertex, "trg": vertex, "ts": pa.int64()}
        return pa.schema({**edge, **properties})

    def _tagged(self, edges: Sequence[Edge]) -> Iterator[pa.RecordBatch]:
        """The rows of edges, in the format of scan_input_rows."""
        schema, columns = self._schema, carried(self._scan_inputs)
        vertex = schema.field("src").type
        for number, scan_input in enumerate(self._scan_inputs):
            for batch in _record_batches(edges):
                if _fits(batch, scan_input):
                    rows = scan_input.select(batch)
                    tagged: list[Any] = [pa.array([number] * rows.num_rows, pa.int32())]
                    tagged += [rows[name].cast(vertex) for name in ("src", "trg")] + [rows["ts"]]
                    known = {*scan_input.fields, *scan_input.travelling}
                    for (name, kind), _ in columns.items():
                        own = (name, kind) in known and name in rows.schema.names
                        type_ = ARROW_TYPES[kind]
                        empty = pa.nulls(rows.num_rows, type_)
                        tagged.append(rows[name].cast(type_) if own else empty)
                    yield pa.RecordBatch.from_arrays(tagged, schema=schema)


def _with(rows: pa.RecordBatch, source: int, of: int, clock: int | None) -> pa.RecordBatch:
    columns = {
        LATE_SOURCE: (source, pa.int32()),
        "of": (of, pa.int32()),
        "clock": (clock, pa.int64()),
    }
    for name, (value, type_) in columns.items():
        field = pa.field(name, type_, nullable=name == "clock")  # as Spark has them
        rows = rows.append_column(field, pa.array([value] * rows.num_rows, type_))
    return rows


def _fits(batch: pa.RecordBatch, scan_input: ScanInput) -> bool:
    return pa.types.is_integer(batch["src"].type) == (scan_input.vertex_type == "integer")

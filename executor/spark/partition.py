"""One micro-batch of one partition of a stage: its work, without Spark.

In: messages of rows, the partition's small head and the store of its log. Out: messages to the
partitions of the next stage, or of the last stage blocks of results; then a report; the new head.

A partition's rows are sorted by ts and run through the in-process
:class:`executor.pipeline.Pipeline`, whose state is in memory
(:mod:`executor.spark.index_home`) and is rebuilt from the log
(:mod:`executor.spark.window_log`) when it is not at hand.
"""

from __future__ import annotations

import json
import resource
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from algebra.plan import PhysicalPlan
from executor.batch import Batch
from executor.dictionary import Dictionary
from executor.operators.rewindow import kept_beyond
from executor.partitioned import pipeline_of
from executor.pipeline import Pipeline
from executor.placement import Place
from executor.spark.head import Head, totals
from executor.spark.index_home import IndexHome
from executor.spark.index_home import Place as Home
from executor.spark.output import Blocks, Messages, Output
from executor.spark.packing import NEVER, partition_keys, table_of
from executor.spark.processor import REPORT
from executor.spark.time_sort import sorted_by_ts
from executor.spark.window_log import BlobStore, WindowLog
from executor.spark.wire import Wire, memory_wire, wire_of
from executor.stages import Stage, stages_of

_FIRST_CHUNK = 1_024
_LARGEST_CHUNK = 65_536
_RESULTS_PER_CHUNK = 500_000


@dataclass(slots=True)
class Index:
    """A partition's operators with their state, and the codes of vertices in it."""

    pipeline: Pipeline
    dictionary: Dictionary

    def batches(self, wire: Wire, rows: pa.Table) -> dict[int, Batch]:
        """Rows as what the pipeline takes."""
        if self.pipeline.now is not None:
            self.dictionary.tick(self.pipeline.now)
        return wire.batches(rows, self.dictionary)


_INDEXES: IndexHome[Index] = IndexHome()  # a worker process has one, for all its tasks


@lru_cache(maxsize=4)
def _read(plan: str) -> tuple[PhysicalPlan, tuple[Stage, ...]]:
    """A plan of its document, and its stages."""
    read = PhysicalPlan.from_json(plan)
    return read, stages_of(read)


class PartitionBatch:
    """What a stage does with the rows of one partition in one batch.

    ``home`` is the run, the stage's number and the key of the partition; ``head`` is the
    partition's small value before the batch and, when :meth:`run` is at its end, after it.
    """

    def __init__(self, plan: str, home: Home, head: str | None) -> None:
        self._plan, stages = _read(plan)
        _, number, key = home
        self._home = home
        self._stage = stages[number]
        self._next = stages[number + 1] if number + 1 < len(stages) else None
        self._wire = wire_of(self._plan, self._stage)
        self._memory = memory_wire(self._plan, self._stage)
        partitions = self._plan.parallelism
        self._place = Place(partition_keys(partitions).index(key), partitions)
        self.head = Head() if head is None else Head.from_json(head)

    def run(self, frames: Iterable[pd.DataFrame], blobs: BlobStore) -> Iterator[pd.DataFrame]:
        """What is found, as it is found; at last the report."""
        head = self.head
        log = WindowLog(self._wire, blobs, head.directory)
        memory = WindowLog(self._memory, blobs, head.memory)
        index = _INDEXES.take(self._home, head.token, head.worker)
        rebuilt = index is None and head.token != ""
        if index is None:
            index = self._rebuilt(log, memory, head.now)
        started = index.pipeline.counters

        arrived = _arrived(frames, self._wire.schema)
        now = max(head.now, arrived.now)
        rows, late = _in_order(arrived.rows, head.now)
        output = self._output(index.dictionary, now)
        results = 0
        remembered: list[pa.Table] = []
        for chunk in _chunks(rows):
            found = index.pipeline.process(index.batches(self._wire, chunk.rows))
            chunk.results = sum(map(len, found.values()))
            results += chunk.results
            yield from output.rows(found)
            remembered += self._remembered(index)
        if index.pipeline.now != now != NEVER:
            index.pipeline.process({}, now)  # time passes also where no rows come
        log.append(self._read_here(rows), now)
        memory.append(pa.concat_tables([self._memory.schema.empty_table(), *remembered]), now)

        last = self._next is None
        self.head = Head(
            token=uuid.uuid4().hex,
            worker=_INDEXES.address if self._place.partitions > 1 else "",
            now=now,
            edges=head.edges + self._edges(rows),
            results=head.results + (results if last else 0),
            late=head.late + self._edges(arrived.rows.slice(0, late)),
            rebuilt=head.rebuilt + rebuilt,
            operators=totals(head.operators, started, index.pipeline.counters),
            directory=log.directory,
            memory=memory.directory,
        )
        _INDEXES.keep(self._home, self.head.token, index)
        told = report(self.head, index, self._stage.number, self._place.partition)
        yield from output.end([*arrived.reports, json.dumps(told).encode()])

    def _rebuilt(self, log: WindowLog, memory: WindowLog, now: int) -> Index:
        """The index made anew from the input that is still valid, and what is remembered."""
        dictionary = Dictionary(kept_beyond(self._plan))
        pipeline = pipeline_of(self._plan, self._stage, dictionary, self._place)
        index = Index(pipeline, dictionary)
        kept, known = log.rows(now), memory.rows(now)
        if kept.num_rows or known.num_rows:
            recalled = self._memory.batches(known, dictionary)
            pipeline.replay(index.batches(self._wire, kept), recalled)
        pipeline.remember()
        return index

    def _remembered(self, index: Index) -> Iterator[pa.Table]:
        """What the operators want remembered of the rows just processed, as rows of the log."""
        ports = [flow.port for flow in self._memory.flows]
        for node, runs in index.pipeline.memory().items():
            rows = self._memory.rows(ports.index(node), runs, index.dictionary)
            yield pa.Table.from_batches([rows])

    def _read_here(self, rows: pa.Table) -> pa.Table:
        """Rows that this stage will need again; others only travel through."""
        read = self._stage.read_by(self._plan)
        ports = [i for i, flow in enumerate(self._stage.inputs) if flow.port in read]
        if len(ports) == len(self._stage.inputs):
            return rows
        return rows.filter(pa.array(np.isin(rows["port"].to_numpy(), ports)))

    def _edges(self, rows: pa.Table) -> int:
        """How many rows of leaves there are, over all partitions each counted once."""
        if self._stage.number:
            return 0
        counted: dict[int, int] = {}
        for i, flow in enumerate(self._stage.inputs):
            if flow.source not in counted:
                counted[flow.source] = i
        copies = {i for i, f in enumerate(self._stage.inputs) if f.spread == "broadcast"}
        ports = [i for i in counted.values() if not self._place.partition or i not in copies]
        return int(np.isin(rows["port"].to_numpy(), ports).sum())

    def _output(self, dictionary: Dictionary, now: int) -> Output:
        if self._next is None:
            return Blocks(self._plan, dictionary)
        return Messages(self._plan, self._next, self._place, dictionary, now)


def report(head: Head, index: Index, stage: int, partition: int) -> dict[str, Any]:
    """What a partition of a stage has counted so far, as JSON-able values."""
    blobs = (*head.directory.blobs, *head.memory.blobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "stage": stage,
        "partition": partition,
        "now": head.now,
        "edges": head.edges,
        "results": head.results,
        "late": head.late,
        "rebuilt": head.rebuilt,
        "operators": {str(node): asdict(t) for node, t in head.operators.items()},
        "vertices": index.dictionary.entries,
        "blobs": len(blobs),
        "blob_bytes": sum(blob.size for blob in blobs),
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
    }


@dataclass(frozen=True, slots=True)
class _Arrived:
    """What came for a partition in a batch: rows by rising ts, the time, others' reports."""

    rows: pa.Table
    now: int
    reports: list[bytes]


def _arrived(frames: Iterable[pd.DataFrame], schema: pa.Schema) -> _Arrived:
    """Opens messages; of equal ts, rows keep the order of their sender's messages."""
    now = NEVER
    reports: list[bytes] = []
    tables: list[tuple[int, int, pa.Table]] = []
    for frame in frames:
        columns = (frame[name] for name in ("kind", "source", "number", "now", "payload"))
        for kind, source, number, known, payload in zip(*columns, strict=True):
            now = max(now, int(known))
            if kind == REPORT:
                reports.append(payload)
            elif payload:
                tables.append((int(source), int(number), table_of(payload).cast(schema)))
    tables.sort(key=lambda part: part[:2])
    rows = pa.concat_tables([schema.empty_table(), *(table for *_, table in tables)])
    return _Arrived(sorted_by_ts(rows.combine_chunks()), now, reports)


def _in_order(rows: pa.Table, now: int) -> tuple[pa.Table, int]:
    """The rows from ``now`` on, and how many came too late for the order."""
    late = int(np.searchsorted(rows["ts"].to_numpy(), now, side="left"))
    return rows.slice(late), late


@dataclass(slots=True)
class _Chunk:
    """Rows to process at once; ``results`` is set when that is done."""

    rows: pa.Table
    results: int = 0


def _chunks(rows: pa.Table) -> Iterator[_Chunk]:
    """Cuts a batch so that the results of one piece fit in memory, as far as can be foreseen."""
    size, start = _FIRST_CHUNK, 0
    while start < rows.num_rows:
        chunk = _Chunk(rows.slice(start, size))
        yield chunk
        start += size
        fitting = size * _RESULTS_PER_CHUNK // max(1, chunk.results)
        size = max(1, min(fitting, 4 * size, _LARGEST_CHUNK))

"""One micro-batch of one partition of a stage: its work, without Spark.

In: messages of rows, the partition's metadata and the store of its log. Out: messages to the
partitions of the next stage, or blocks of results of the last stage; then a report; the new
metadata.

A partition's rows are sorted by ts and run through the in-process
:class:`headrace.executor.pipeline.Pipeline`, whose state is in memory
(:mod:`headrace.executor.spark.state.cache`). When it is not at hand it is read from a snapshot
(:mod:`headrace.executor.spark.state.snapshot`), if there is one, and brought up to date from the
log (:mod:`headrace.executor.spark.state.log`).
"""

from __future__ import annotations

import json
import resource
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ....algebra.plan import PhysicalPlan
from ...batch import FOREVER, Batch, without_repeated_ends
from ...dictionary import Dictionary
from ...operators.rewindow import kept_beyond
from ...partitioned import pipeline_of, stage_counters
from ...partitions import Partition
from ...pipeline import Pipeline
from ...reorder import ReorderBuffer, sorted_by_ts
from ...slides import aligned_time
from ...stages import Stage, stages_of
from ...watermarks import NEVER, Seen, streams_read
from ..exchange.blocks import LATE, REPORT
from ..exchange.late import SILENT, TOLD, LateRows, added, sources_of
from ..exchange.packing import partition_keys, table_of
from ..exchange.wire import LeafWire, Wire, runs_wire, wire_of
from ..state import snapshot as snapshots
from ..state.cache import CacheKey, StateCache
from ..state.log import EXTRA_STATE, BlobStore, WindowLog
from ..state.metadata import PartitionMetadata, batch_of, totals
from ..state.snapshot import Snapshot
from .output import Blocks, Messages, Output

_FIRST_CHUNK = 1_024
_LARGEST_CHUNK = 65_536
_RESULTS_PER_CHUNK = 500_000


@dataclass(slots=True)
class Index:
    """A partition's operators with their state, the codes of vertices in it, and the rows that
    wait for the watermark."""

    pipeline: Pipeline
    dictionary: Dictionary
    held: ReorderBuffer = field(default_factory=ReorderBuffer)

    def batches(self, wire: Wire, rows: pa.Table) -> dict[int, Batch]:
        """Rows as what the pipeline takes."""
        if self.pipeline.now is not None:
            self.dictionary.tick(self.pipeline.now)
        return wire.batches(rows, self.dictionary)

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        operators = self.pipeline.counters.values()
        of_operators = sum(own.state_bytes for own in operators)
        return of_operators + self.dictionary.nbytes + self.held.nbytes


@dataclass(frozen=True, slots=True)
class _Rebuilt:
    """An index made anew: whether from a snapshot, and how many rows were replayed."""

    index: Index
    restored: bool
    replayed: int


_CACHE: StateCache[Index] = StateCache()  # a worker process has one, for all its tasks


@lru_cache(maxsize=4)
def _read(plan: str) -> tuple[PhysicalPlan, tuple[Stage, ...]]:
    """A plan of its document, and its stages."""
    read = PhysicalPlan.from_json(plan)
    return read, stages_of(read)


class PartitionBatch:
    """The work of a stage on one partition in one batch.

    Attributes:
        metadata: of the partition before the batch and, when :meth:`run` has ended, after it.
    """

    def __init__(self, plan: str, key: CacheKey, metadata: str | None) -> None:
        """Prepares a batch.

        Args:
            plan: the plan's document.
            key: the run, the stage's number, and Spark's key of the partition.
            metadata: of the partition before the batch, as JSON; None in the first batch.
        """
        self._plan, stages = _read(plan)
        _, number, partition = key
        self._key = key
        self._stage = stages[number]
        self._next = stages[number + 1] if number + 1 < len(stages) else None
        self._wire = wire_of(self._plan, self._stage)
        self._runs = runs_wire(self._plan, self._stage)
        partitions = self._plan.parallelism
        self._place = Partition(partition_keys(partitions).index(partition), partitions)
        self.metadata = PartitionMetadata.from_json(metadata or "{}")

    def run(self, frames: Iterable[pd.DataFrame], blobs: BlobStore) -> Iterator[pd.DataFrame]:
        """Gives results as they are found, and at last the report."""
        before = self.metadata
        index = _CACHE.take(self._key, before.token, before.worker)
        made = self._rebuilt(before, blobs) if index is None else None
        index = made.index if made is not None else index
        assert index is not None
        snapshot = before.snapshot
        log = WindowLog(
            self._wire, blobs, before.directory, index.pipeline.retention, apart=snapshot.before
        )
        runs = WindowLog(self._runs, blobs, before.runs, index.pipeline.retention)
        started = stage_counters(self._stage, self._place, index.pipeline)

        arrived = _arrived(frames, self._wire.schema)
        watermark = before.watermark.after(arrived.seen, streams_read(self._plan))
        now = max(before.now, arrived.now, watermark.at)
        ended = arrived.ended or now == FOREVER
        timely, late = self._timely(arrived.rows, before.now)
        index.held.add(timely)
        rows = sorted_by_ts(_laid_together(self._wire.schema, index.held.due(now)))
        time = self._aligned_time(now)
        output = self._output(index.dictionary, time, ended=ended)
        results = 0
        begun: list[pa.Table] = []
        for chunk in _chunks(rows):
            found = self._given(index.pipeline.process(index.batches(self._wire, chunk.rows)))
            chunk.results = sum(map(len, found.values()))
            results += chunk.results
            yield from output.rows(found)
            begun += self._begun(index)
        if ended or index.pipeline.now != time != NEVER:
            # Time passes also where no rows come.
            found = self._given(index.pipeline.process({}, FOREVER if ended else time))
            results += sum(map(len, found.values()))
            yield from output.rows(found)
        log.append(timely, now)
        runs.append(pa.concat_tables([self._runs.schema.empty_table(), *begun]), now)
        extra = None if ended else index.pipeline.extra_state()
        if extra is not None:
            blobs.put(EXTRA_STATE, extra)
        counters = stage_counters(self._stage, self._place, index.pipeline)
        snapshot = snapshot.then(
            timely.num_rows, snapshots.work_between(self._plan, started, counters)
        )
        snapshot = self._snapshot(snapshot, index, log, blobs, ended=ended)

        last = self._next is None
        self.metadata = PartitionMetadata(
            token=uuid.uuid4().hex,
            worker=_CACHE.address if self._place.partitions > 1 else "",
            now=now,
            latest=max(before.latest, self._latest(arrived.rows)),
            first=before.first if before.first != NEVER else self._first(rows),
            edges=before.edges + self._edges(rows),
            results=before.results + (results if last else 0),
            late=added(before.late, late.of_streams),
            rebuilt=before.rebuilt + (made is not None and before.token != ""),
            restored=before.restored + (made is not None and made.restored),
            replayed=before.replayed + (made.replayed if made is not None else 0),
            operators=totals(before.operators, started, counters),
            directory=log.directory,
            runs=runs.directory,
            remembers=extra is not None,
            watermark=watermark,
            snapshot=snapshot,
        )
        _CACHE.put(self._key, self.metadata.token, index)
        own = report(self.metadata, index, self._stage.number, self._place.partition)
        own["batch"] = batch_of(before, self.metadata)
        yield from output.end(
            [*arrived.reports, json.dumps(own).encode()],
            [*arrived.late, *filter(None, [late.lines])],
        )

    def _snapshot(
        self, last: Snapshot, index: Index, log: WindowLog, blobs: BlobStore, *, ended: bool
    ) -> Snapshot:
        """The snapshot to go on with: the last one, a new one if that is due, or none."""
        # A run of REWINDOW goes on from rows that may have expired: the log has them no more.
        if ended or self._runs.flows:
            return last
        since, kept = log.kept(since=last.before), log.kept()
        if last.is_due(since, kept, index.nbytes):
            return snapshots.write(index, blobs, last, log.directory.next_number)
        if last.chunks and since == kept:
            return snapshots.given_up(last, blobs)
        return last

    def _rebuilt(self, metadata: PartitionMetadata, blobs: BlobStore) -> _Rebuilt:
        """The index made anew: from a snapshot and the input since, or from all input that is
        still valid, or waits; and what is kept beside it."""
        found: Index | None = snapshots.read(metadata.snapshot, blobs)
        index = self._empty() if found is None else found
        pipeline = index.pipeline
        log = WindowLog(self._wire, blobs, metadata.directory, pipeline.retention)
        rows = log.rows(metadata.now, since=0 if found is None else metadata.snapshot.before)
        index.held.add(rows)
        kept = _laid_together(self._wire.schema, index.held.due(metadata.now))
        runs = WindowLog(self._runs, blobs, metadata.runs, pipeline.retention).rows(metadata.now)
        time = self._aligned_time(metadata.now)
        if kept.num_rows or runs.num_rows or found is not None:
            # Time passes also where no rows came: what was given must not be given again.
            known = self._runs.batches(runs, index.dictionary)
            pipeline.replay(index.batches(self._wire, kept), time, known)
        pipeline.record_runs()
        if metadata.remembers:
            pipeline.restore(blobs.get(EXTRA_STATE), time)
        return _Rebuilt(index, found is not None, rows.num_rows)

    def _empty(self) -> Index:
        dictionary = Dictionary(kept_beyond(self._plan))
        pipeline = pipeline_of(self._plan, self._stage, dictionary, self._place)
        return Index(pipeline, dictionary)

    def _aligned_time(self, now: int) -> int:
        """Application time for the rows of this stage: scans align that of edges to slides."""
        return aligned_time(now, None if self._stage.number else self._plan.evaluate_every)

    def _begun(self, index: Index) -> Iterator[pa.Table]:
        """The runs that the rows just processed began or extended, as rows of their log."""
        ports = [flow.port for flow in self._runs.flows]
        for node, runs in index.pipeline.runs().items():
            rows = self._runs.rows(ports.index(node), runs, index.dictionary)
            yield pa.Table.from_batches([rows])

    def _timely(self, rows: pa.Table, now: int) -> tuple[pa.Table, LateRows]:
        """The rows from ``now`` on, and the edges that came after their time."""
        count = int(np.searchsorted(rows["ts"].to_numpy(), now, side="left"))
        late = LateRows()
        if isinstance(self._wire, LeafWire) and TOLD in rows.schema.names:
            sources = sources_of(self._plan)
            late = LateRows.of(rows.slice(0, count), self._wire.leaves, sources, now)
            rows = rows.drop_columns([TOLD])
        elif count:
            raise ValueError(f"{count} rows came out of order, before {now}")
        return rows.slice(count), late

    def _given(self, found: dict[int, Batch]) -> dict[int, Batch]:
        """The output of the stage; repeated ends of one result are left out."""
        if self._next is not None:
            return found
        return {node: without_repeated_ends(batch) for node, batch in found.items()}

    def _edges(self, rows: pa.Table) -> int:
        """The number of rows of scans; each counts in one partition only."""
        if self._stage.number:
            return 0
        counted: dict[int, int] = {}
        for i, flow in enumerate(self._stage.inputs):
            if flow.source not in counted:
                counted[flow.source] = i
        copies = {i for i, f in enumerate(self._stage.inputs) if f.spread == "broadcast"}
        ports = [i for i in counted.values() if not self._place.partition or i not in copies]
        return int(np.isin(rows["port"].to_numpy(), ports).sum())

    def _first(self, rows: pa.Table) -> int:
        """The smallest ts of an edge that is not of a stored graph."""
        expiring = np.flatnonzero(self._wire.expiry(rows) != FOREVER)
        return int(rows["ts"][int(expiring[0])].as_py()) if len(expiring) else NEVER

    def _latest(self, rows: pa.Table) -> int:
        """The largest ts of an edge."""
        return NEVER if self._stage.number or not rows.num_rows else int(rows["ts"][-1].as_py())

    def _output(self, dictionary: Dictionary, now: int, *, ended: bool) -> Output:
        if self._next is None:
            return Blocks(self._plan, dictionary)
        return Messages(self._plan, self._next, self._place, dictionary, now, ended)


def report(metadata: PartitionMetadata, index: Index, stage: int, partition: int) -> dict[str, Any]:
    """The metrics of a partition of a stage so far, as JSON-able values."""
    blobs = (*metadata.directory.blobs, *metadata.runs.blobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "stage": stage,
        "partition": partition,
        "now": metadata.now if metadata.now != FOREVER else metadata.latest,
        "first": metadata.first,
        "edges": metadata.edges,
        "results": metadata.results,
        "late": metadata.late,
        "rebuilt": metadata.rebuilt,
        "restored": metadata.restored,
        "replayed": metadata.replayed,
        "operators": {str(node): asdict(t) for node, t in metadata.operators.items()},
        "vertices": index.dictionary.entries,
        "blobs": len(blobs),
        "blob_bytes": sum(blob.size for blob in blobs),
        "snapshot_bytes": metadata.snapshot.size,
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
    }


@dataclass(frozen=True, slots=True)
class _Arrived:
    """What came for a partition in a batch: rows by rising ts, the time or what was seen of the
    streams, others' reports and late edges, and whether the input is at its end."""

    rows: pa.Table
    now: int
    seen: Seen
    reports: list[bytes]
    late: list[bytes]
    ended: bool


def _arrived(frames: Iterable[pd.DataFrame], schema: pa.Schema) -> _Arrived:
    """Opens messages; of equal ts, rows keep the order of their sender's messages."""
    now, seen = NEVER, Seen()
    ended = False
    reports: list[bytes] = []
    late: list[bytes] = []
    tables: list[tuple[int, int, pa.Table]] = []
    for frame in frames:
        columns = (frame[name] for name in ("kind", "source", "number", "now", "payload"))
        for kind, source, number, known, payload in zip(*columns, strict=True):
            now = max(now, int(known))
            ended = ended or kind == "end"
            if kind == REPORT:
                reports.append(payload)
            elif kind == LATE:
                late.append(payload)
            elif kind == "seen":
                seen |= Seen(**json.loads(payload))
            elif payload:
                tables.append((int(source), int(number), table_of(payload)))
    tables.sort(key=lambda part: part[:2])
    given = [table for *_, table in tables]
    if any(TOLD in table.schema.names for table in given):
        schema = schema.append(pa.field(TOLD, pa.int32()))
        given = [_silent(table, schema) for table in given]
    rows = _laid_together(schema, [table.cast(schema) for table in given])
    return _Arrived(sorted_by_ts(rows), now, seen, reports, late, ended)


def _silent(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows of stored graphs, which are never late, in the schema of rows that may be late."""
    if TOLD in rows.schema.names:
        return rows
    return rows.append_column(schema.field(TOLD), pa.array([SILENT] * len(rows), pa.int32()))


def _laid_together(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Table:
    """One table after the other."""
    return pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()


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

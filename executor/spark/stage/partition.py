"""Processes one micro-batch of one partition of a stage, without Spark.

In: messages of rows, the partition's metadata and the store of its log. Out: messages to the
partitions of the next stage, or blocks of results from the last stage; then a report; and the new
metadata.

The rows of a batch are sorted by ts and run through the in-process
:class:`headrace.executor.pipeline.Pipeline`. The pipeline's state is in memory, in the state cache
(:mod:`headrace.executor.spark.state.cache`). A state that is not in the cache is read from a
snapshot (:mod:`headrace.executor.spark.state.snapshot`), if there is one, and brought up to date
from the log (:mod:`headrace.executor.spark.state.log`).
"""

from __future__ import annotations

import json
import resource
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ....algebra.plan import PhysicalPlan
from ...batch import FOREVER, Batch, without_repeated_ends
from ...chunks import chunks
from ...dictionary import Dictionary
from ...operators.rewindow import kept_beyond
from ...partitioned import pipeline_of, stage_counters
from ...partitions import Partition
from ...pipeline import Pipeline
from ...reorder import ReorderBuffer, sorted_by_ts
from ...slides import aligned_time
from ...stages import Stage, stages_of
from ...watermarks import NEVER, streams_read
from ..exchange.hashed import Placing
from ..exchange.late import LATE_SOURCE, LateRows, added, sources_of
from ..exchange.packing import Message, partition_keys
from ..exchange.wire import ScanInputWire, Wire, open_rows_wire, runs_wire, wire_of
from ..reading.slice_rows import messages_of_slices
from ..results.parts import PartSpec, PartWriter
from ..state import snapshot as snapshots
from ..state.cache import CacheKey, StateCache
from ..state.log import BlobStore, WindowLog
from ..state.metadata import PartitionMetadata, batch_of, totals
from ..state.open_rows import OpenRows
from ..state.snapshot import Snapshot
from .arrival import arrived_in, concatenated, messages_in
from .output import Blocks, Messages, Output


@dataclass(slots=True)
class Index:
    """The state of a partition in memory.

    Attributes:
        pipeline: the operators with their states.
        dictionary: the codes of values in the states.
        reorder_buffer: rows that wait for the watermark.
    """

    pipeline: Pipeline
    dictionary: Dictionary
    reorder_buffer: ReorderBuffer = field(default_factory=ReorderBuffer)

    def batches(self, wire: Wire, rows: pa.Table) -> dict[int, Batch]:
        """Encodes rows as batches of the pipeline, by port."""
        if self.pipeline.now is not None:
            self.dictionary.tick(self.pipeline.now)
        return wire.batches(rows, self.dictionary)

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes."""
        operators = sum(counters.state_bytes for counters in self.pipeline.counters.values())
        return operators + self.dictionary.nbytes + self.reorder_buffer.nbytes


@dataclass(frozen=True, slots=True)
class _Rebuilt:
    """An index that was not in the cache.

    ``restored`` tells whether it began with a snapshot; ``replayed`` counts the rows of the log
    that were processed again.
    """

    index: Index
    restored: bool
    replayed: int


_CACHE: StateCache[Index] = StateCache()  # one for each worker process, shared by its tasks


@lru_cache(maxsize=4)
def _read(plan: str) -> tuple[PhysicalPlan, tuple[Stage, ...]]:
    """Parses the document of a plan; returns the plan and its stages."""
    parsed = PhysicalPlan.from_json(plan)
    return parsed, stages_of(parsed)


class PartitionBatch:
    """The work of a stage on one partition in one batch.

    Attributes:
        metadata: the partition's metadata before the batch; :meth:`run` replaces it at its end.
    """

    def __init__(
        self, plan: str, key: CacheKey, metadata: str | None, parts: PartSpec | None = None
    ) -> None:
        """Prepares a batch.

        Args:
            plan: the plan's document.
            key: the run, the stage's number, and Spark's key of the partition.
            metadata: the partition's metadata before the batch, as JSON; None in the first batch.
            parts: the files that the last stage writes its results to; None if it gives them as
                rows.
        """
        self._document = plan
        self._plan, stages = _read(plan)
        _, number, partition = key
        self._key = key
        self._stage = stages[number]
        self._next = stages[number + 1] if number + 1 < len(stages) else None
        self._wire = wire_of(self._plan, self._stage)
        self._runs = runs_wire(self._plan, self._stage)
        self._open_rows = open_rows_wire(self._plan, self._stage)
        self._parts = parts
        partitions = self._plan.parallelism
        self._place = Partition(partition_keys(partitions).index(partition), partitions)
        self.metadata = PartitionMetadata.from_json(metadata or "{}")

    def run(self, frames: Iterable[pd.DataFrame], blobs: BlobStore) -> Iterator[pd.DataFrame]:
        """Yields output as soon as it is computed, and the report at the end."""
        messages = messages_in(frames, partial(messages_of_slices, self._document))
        if self._parts is None or self._next is not None:
            yield from self._run(messages, blobs, None)
        else:
            with PartWriter(self._parts, self._place.partition) as part:
                yield from self._run(messages, blobs, part)

    def _run(
        self, messages: Iterable[Message], blobs: BlobStore, part: PartWriter | None
    ) -> Iterator[pd.DataFrame]:
        before = self.metadata
        index = _CACHE.take(self._key, before.token, before.worker)
        open_rows = None
        if self._open_rows is not None:
            open_rows = OpenRows(*self._open_rows, blobs, before.open_rows)
            if before.remembers:
                open_rows.adopt()
        rebuilt = self._rebuilt(before, blobs, open_rows) if index is None else None
        index = rebuilt.index if rebuilt is not None else index
        assert index is not None
        snapshot = before.snapshot
        log = WindowLog(
            self._wire, blobs, before.directory, index.pipeline.retention, apart=snapshot.before
        )
        runs = WindowLog(self._runs, blobs, before.runs, index.pipeline.retention)
        started = stage_counters(self._stage, self._place, index.pipeline)

        arrived = arrived_in(messages, self._wire.schema)
        watermark = before.watermark.after(arrived.seen, streams_read(self._plan))
        now = max(before.now, arrived.now, watermark.at)
        ended = arrived.ended or now == FOREVER
        timely, late = self._timely(arrived.rows, before.now)
        index.reorder_buffer.add(timely)
        # At the end, operators of the stage before give the changes of all later instants.
        due = index.reorder_buffer.due(FOREVER if ended else now)
        rows = sorted_by_ts(concatenated(self._wire.schema, due))
        time = self._aligned_time(now)
        output = self._output(index.dictionary, time, part, ended=ended)
        results = 0
        new_runs: list[pa.Table] = []
        changes: list[pa.Table] = []
        for chunk in chunks(rows.num_rows):
            these = rows.slice(chunk.start, chunk.rows)
            outputs = self._outputs(index.pipeline.process(index.batches(self._wire, these)))
            chunk.results = sum(map(len, outputs.values()))
            results += chunk.results
            yield from output.rows(outputs)
            new_runs += self._new_runs(index)
            changes += self._changes(index)
        if ended or index.pipeline.now != time != NEVER:
            # Time advances in a partition without rows too.
            outputs = self._outputs(index.pipeline.process({}, FOREVER if ended else time))
            results += sum(map(len, outputs.values()))
            yield from output.rows(outputs)
        log.append(timely, now)
        runs.append(pa.concat_tables([self._runs.schema.empty_table(), *new_runs]), now)
        if open_rows is not None and ended:
            open_rows.clear()
        elif open_rows is not None:
            open_rows.append(pa.concat_tables([*changes, *self._changes(index)]))
        counters = stage_counters(self._stage, self._place, index.pipeline)
        snapshot = snapshot.then(timely.num_rows, snapshots.work_between(started, counters))
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
            rebuilt=before.rebuilt + (rebuilt is not None and before.token != ""),
            restored=before.restored + (rebuilt is not None and rebuilt.restored),
            replayed=before.replayed + (rebuilt.replayed if rebuilt is not None else 0),
            operators=totals(before.operators, started, counters),
            directory=log.directory,
            runs=runs.directory,
            open_rows=before.open_rows if open_rows is None else open_rows.directory,
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
        """The snapshot for the next batch: the last one, a new one if due, or none."""
        # A run of REWINDOW may continue rows that have expired, which the log no longer has.
        if ended or self._runs.flows:
            return last
        since, kept = log.kept(since=last.before), log.kept()
        if last.is_due(since, kept, index.nbytes):
            return snapshots.write(index, blobs, last, log.directory.next_number)
        if last.chunks and since == kept:
            return snapshots.removed(last, blobs)
        return last

    def _rebuilt(
        self, metadata: PartitionMetadata, blobs: BlobStore, open_rows: OpenRows | None
    ) -> _Rebuilt:
        """Rebuilds the index from the snapshot and the log, and restores the open rows.

        With a snapshot the rows of the log since then are replayed. Without one all rows of the
        log are: those still valid, and those that wait for the watermark.
        """
        loaded: Index | None = snapshots.read(metadata.snapshot, blobs)
        index = self._empty() if loaded is None else loaded
        pipeline = index.pipeline
        log = WindowLog(self._wire, blobs, metadata.directory, pipeline.retention)
        rows = log.rows(metadata.now, since=0 if loaded is None else metadata.snapshot.before)
        index.reorder_buffer.add(rows)
        due = concatenated(self._wire.schema, index.reorder_buffer.due(metadata.now))
        runs = WindowLog(self._runs, blobs, metadata.runs, pipeline.retention).rows(metadata.now)
        time = self._aligned_time(metadata.now)
        if due.num_rows or runs.num_rows or loaded is not None:
            # Replay up to `time` even without rows: earlier results must not be repeated.
            run_batches = self._runs.batches(runs, index.dictionary)
            pipeline.replay(index.batches(self._wire, due), time, run_batches)
        pipeline.record()
        if open_rows is not None and open_rows.is_stored:
            (flow,) = open_rows.wire.flows
            # The values of open rows are compared with those of `time`, and then not needed.
            batches = open_rows.wire.batches(open_rows.rows(time + 1), index.dictionary)
            pipeline.restore_open_rows(batches.get(flow.port, Batch.empty(flow.width)), time)
        return _Rebuilt(index, loaded is not None, rows.num_rows)

    def _empty(self) -> Index:
        dictionary = Dictionary(kept_beyond(self._plan))
        pipeline = pipeline_of(self._plan, self._stage, dictionary, self._place)
        return Index(pipeline, dictionary)

    def _aligned_time(self, now: int) -> int:
        """The application time of this stage's rows; scans align the time of edges to slides."""
        return aligned_time(now, None if self._stage.number else self._plan.evaluate_every)

    def _new_runs(self, index: Index) -> Iterator[pa.Table]:
        """The runs that the last rows began or extended, as rows of the log of runs."""
        ports = [flow.port for flow in self._runs.flows]
        for node, runs in index.pipeline.runs().items():
            rows = self._runs.rows(ports.index(node), runs, index.dictionary)
            yield pa.Table.from_batches([rows])

    def _changes(self, index: Index) -> Iterator[pa.Table]:
        """The open rows that the last rows ended or began, as rows of the store of open rows."""
        changes = index.pipeline.open_row_changes()
        if changes is not None and self._open_rows is not None:
            rows = self._open_rows[0].rows(0, changes, index.dictionary)
            yield pa.Table.from_batches([rows])

    def _timely(self, rows: pa.Table, now: int) -> tuple[pa.Table, LateRows]:
        """Splits rows by ts: those from ``now`` on, and the late ones.

        Raises:
            ValueError: for rows before ``now`` in a run whose input is sorted.
        """
        count = int(np.searchsorted(rows["ts"].to_numpy(), now, side="left"))
        late = LateRows()
        if isinstance(self._wire, ScanInputWire) and LATE_SOURCE in rows.schema.names:
            sources = sources_of(self._plan)
            late = LateRows.of(rows.slice(0, count), self._wire.scan_inputs, sources, now)
            rows = rows.drop_columns([LATE_SOURCE])
        elif count:
            raise ValueError(f"{count} rows came out of order, before {now}")
        return rows.slice(count), late

    def _outputs(self, batches: dict[int, Batch]) -> dict[int, Batch]:
        """The output of the stage; the last stage drops repeated ends of one result."""
        if self._next is not None:
            return batches
        return {node: without_repeated_ends(batch) for node, batch in batches.items()}

    def _edges(self, rows: pa.Table) -> int:
        """The number of rows of scans that this partition counts.

        A scan that several ports read is counted at the first of them; a broadcast row, in
        partition 0; a row in the cells of a hypercube, in one of them.
        """
        if self._stage.number:
            return 0
        counted: dict[int, int] = {}
        for i, flow in enumerate(self._stage.inputs):
            if flow.source not in counted:
                counted[flow.source] = i
        copies = {i for i, f in enumerate(self._stage.inputs) if f.spread == "broadcast"}
        ports = [i for i in counted.values() if not self._place.partition or i not in copies]
        port_of = rows["port"].to_numpy()
        count = int(np.isin(port_of, ports).sum())
        for port in ports:
            flow = self._stage.inputs[port]
            if flow.cells is not None and isinstance(self._wire, ScanInputWire):
                own = rows.filter(pa.array(port_of == port))
                placed = Placing(flow, self._wire.scan_inputs, port).in_cells(own)
                count -= int((~placed.counted_on(self._place.partition)).sum())
        return count

    def _first(self, rows: pa.Table) -> int:
        """The smallest ts of an edge that is not of a stored graph."""
        expiring = np.flatnonzero(self._wire.expiry(rows) != FOREVER)
        return int(rows["ts"][int(expiring[0])].as_py()) if len(expiring) else NEVER

    def _latest(self, rows: pa.Table) -> int:
        """The largest ts of an edge."""
        return NEVER if self._stage.number or not rows.num_rows else int(rows["ts"][-1].as_py())

    def _output(
        self, dictionary: Dictionary, now: int, part: PartWriter | None, *, ended: bool
    ) -> Output:
        if self._next is None:
            return Blocks(self._plan, dictionary, part)
        return Messages(self._plan, self._next, self._place, dictionary, now, ended)


def report(metadata: PartitionMetadata, index: Index, stage: int, partition: int) -> dict[str, Any]:
    """The metrics of a partition of a stage since the run began, as JSON-able values."""
    sizes = [blob.size for blob in (*metadata.directory.blobs, *metadata.runs.blobs)]
    sizes += [blob.size for blob in metadata.open_rows.blobs]
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
        "blobs": len(sizes),
        "blob_bytes": sum(sizes),
        "snapshot_bytes": metadata.snapshot.size,
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
    }

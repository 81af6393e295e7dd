"""Handles each micro-batch in the driver: runs it, publishes its parts, adds up its metrics."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row

from ..counters import Counters
from .checkpoint import CheckpointDirectory
from .exchange.blocks import LATE, PART, REPORT
from .exchange.late import LateFolder, added
from .host.storage import translate_storage_errors
from .reading.replay import Spool
from .report import OnProgress, Progress
from .results.dead_letters import DeadLetters
from .results.parts import Part
from .results.sink import Sink
from .session.class_archive import mark_used
from .session.cleanup import Callbacks


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """The metrics of all partitions since the query began.

    Attributes:
        edges: with a label that the plan reads.
        results: rows.
        late: late edges of each stream.
        rebuilt: how often the index of a partition was rebuilt.
        now: the application time reached, in time units of the plan; None before the first edge.
        ticks: application time since the first edge, in time units of the plan.
        worker_peak_bytes: the most memory of a Python worker.
        operators: by node of the plan.
    """

    edges: int = 0
    results: int = 0
    late: Mapping[str, int] = field(default_factory=dict)
    rebuilt: int = 0
    now: int | None = None
    ticks: int = 0
    worker_peak_bytes: int = 0
    operators: Mapping[int, Counters] = field(default_factory=dict)

    @staticmethod
    def of(reports: Sequence[dict[str, Any]]) -> BatchMetrics:
        """Adds up the reports of all partitions of one batch."""
        operators: dict[int, Counters] = {}
        for report in reports:
            for node, values in report["operators"].items():
                own = Counters(**values)
                operators[int(node)] = operators.get(int(node), Counters()) + own
        now = max((report["now"] for report in reports), default=None)
        first = min((report["first"] for report in reports if report["first"] >= 0), default=None)
        return BatchMetrics(
            edges=sum(report["edges"] for report in reports),
            results=sum(report["results"] for report in reports),
            late=reduce(added, (report["late"] for report in reports), {}),
            rebuilt=sum(report["rebuilt"] for report in reports),
            now=now,
            ticks=0 if now is None or first is None else now - first + 1,
            worker_peak_bytes=max((report["peak_bytes"] for report in reports), default=0),
            operators=dict(sorted(operators.items())),
        )


class Batches:
    """The function that Spark calls with each micro-batch.

    Metrics are kept in the checkpoint directory, so that a resumed run has them.

    Attributes:
        begun: whether this start of the query has begun a batch.
        error: the error of a batch that failed here, not in Spark.
        finished: whether all slices of the spool are done; always false over live sources.
        batches: the number of batches of this run.
        processed: the number of edges of this run.
        found: the number of results of this run.
        metrics: the metrics of the whole query.
        last_batch: the counters of each operator in the last batch.
    """

    def __init__(
        self,
        checkpoint: CheckpointDirectory,
        sink: Sink,
        on_progress: OnProgress | None,
        spool: Spool | None,
        letters: DeadLetters | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.sink = sink
        self.late = LateFolder(checkpoint.late)
        self._spool = spool
        self._letters = letters
        self._edges = 0
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._idle = threading.Event()
        self._idle.set()
        self.callbacks = Callbacks()
        self.begun = False
        self.error: Exception | None = None
        self._waits = False
        self.batches = 0
        self.processed = 0
        self.found = 0
        self.metrics = BatchMetrics()
        self.last_batch: Mapping[int, Counters] = {}
        self._log = checkpoint.batches
        self._reports = self._log.checked_reports()
        self.finished = False
        if spool is not None:
            slices = self._log.slices(self._log.committed)
            self.finished = slices == len(spool.slice_ends)
            if not checkpoint.fresh:
                spool.check(slices)
        if self._reports:
            self.metrics = BatchMetrics.of(self._reports)
            self._edges = self.metrics.edges

    @property
    def live(self) -> bool:
        """Whether the sources are live, so that there is no last batch."""
        return self._spool is None

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Runs a batch. All operators of the plan run in here, once, and write the results."""
        self._idle.clear()
        self.begun = True
        self.callbacks.note(frame.sparkSession)
        try:
            # An error in here is Spark's: the query fails with it, and its message says more.
            written = frame.collect()
            try:
                self._deliver(written, batch)
                if self.batches == 1:
                    mark_used(frame.sparkSession)
            except (PySparkException, Py4JError):
                raise
            except Exception as error:
                self.error = error
                raise
        finally:
            self._idle.set()

    def wait_for_start(self, reason: str) -> None:
        """Reports that the query waits for another start, and why."""
        if self._on_progress is not None:
            self._waits = True
            self._on_progress(replace(self._progress(-1), phase="waiting", reason=reason))

    def note_start(self) -> None:
        """Reports that the query has started, after :meth:`wait_for_start`."""
        if self._waits and self._on_progress is not None:
            self._waits = False
            self._on_progress(self._progress(self.checkpoint.batches.committed))

    def wait_until_idle(self, seconds: float) -> None:
        """Waits for the end of a batch that still runs in a thread of Spark's."""
        self._idle.wait(seconds)

    def _deliver(self, written: list[Row], batch: int) -> None:
        parts = [Part(**json.loads(row.payload)) for row in written if row.kind == PART]
        reports = [json.loads(row.payload) for row in written if row.kind == REPORT]
        late = [bytes(row.payload) for row in written if row.kind == LATE]
        with translate_storage_errors():
            self.late.write(batch, late)
        self.sink.deliver(batch, sorted(parts, key=lambda part: part.partition))
        self._reports = reports or self._reports
        with translate_storage_errors():
            self._log.note(batch, self._reports)
        if reports:
            before, self.metrics = self.metrics.operators, BatchMetrics.of(reports)
            self.last_batch = {
                node: done.since(before.get(node, Counters()))
                for node, done in self.metrics.operators.items()
            }
        done, self._edges = self._edges, self.metrics.edges
        if self._spool is not None:
            ends = (0, *self._spool.slice_ends)
            slices = self._log.slices(batch)
            done, self._edges = ends[self._log.slices(batch - 1)], ends[slices]
            self.finished = slices + 1 == len(ends)
        self.batches += 1
        self.processed += self._edges - done
        self.found += sum(part.rows for part in parts)
        if self._letters is not None:
            with translate_storage_errors():
                self._letters.add(batch)
        if self._on_progress is not None:
            self._on_progress(self._progress(batch))

    def _progress(self, batch: int) -> Progress:
        spool, letters = self._spool, self._letters
        rejected = spool.rejected if spool is not None else 0
        return Progress(
            phase="running",
            fraction=None if spool is None else self._edges / spool.slice_ends[-1],
            batch=batch + 1,
            batches=0 if spool is None else len(spool.slice_ends),
            edges=self._edges,
            results=self.metrics.results,
            late=sum(self.metrics.late.values()),
            rejected=rejected if letters is None else letters.rejected.lines,
            now=self.metrics.now,
            ticks=self.metrics.ticks,
            operators=self.metrics.operators,
            seconds=time.monotonic() - self._started,
        )

"""The progress of a run, and its report at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from ..counters import Counters

Phase = Literal["reading", "starting", "waiting", "running", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run. Numbers are of the whole query, over restarts.

    Attributes:
        phase: the step of the run; in ``waiting`` it waits before it starts Spark's query again.
        fraction: the part of the phase that is done; None over a live source, which has no end.
        batch: the number of micro-batches that are done.
        batches: the number of all micro-batches; 0 over a live source.
        edges: the number of edges with a label that the plan reads.
        results: the number of result rows.
        late: the number of late edges.
        rejected: the number of rows that are not edges.
        now: the application time reached, in time units of the plan.
        seconds: the time since this run began.
        ticks: application time since the first edge, in time units of the plan.
        operators: the counters of each node of the plan.
        reason: why the run waits.
    """

    phase: Phase
    fraction: float | None
    batch: int = 0
    batches: int = 0
    edges: int = 0
    results: int = 0
    late: int = 0
    rejected: int = 0
    now: int | None = None
    seconds: float = 0.0
    ticks: int = 0
    operators: Mapping[int, Counters] = field(default_factory=dict)
    reason: str = ""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of a run.

    The numbers from ``edges`` to ``operators`` are those of the whole query, over restarts. The
    others are of this run, which may have resumed an earlier one.

    Attributes:
        edges: the number of edges of the input.
        relevant: the number of edges with a label that the plan reads.
        rejected: the number of rows that are not edges.
        results: the number of result rows.
        late: the number of relevant edges that were late.
        late_by_stream: the number of late edges of each stream.
        rebuilt: the number of times that the index of a partition was rebuilt.
        ticks: application time from the first edge to the last, in time units of the plan.
        operators: the counters of each node of the plan.
        processed: the number of relevant edges.
        found: the number of results.
        batches: the number of micro-batches.
        seconds: the time from its start to its end.
        stream_seconds: the time of the streaming query, without Spark's start and the reading of
            the input.
        resumed: whether it resumed an earlier run.
        jvm_peak_bytes: the peak memory of the JVM.
        worker_peak_bytes: the peak memory of a Python worker.
        rejected_file: the file of rows that are not edges, if there are any.
        late_file: the file of late edges, if there are any.
        last_batch: the counters of each node of the plan in the last micro-batch.
    """

    edges: int
    relevant: int
    rejected: int
    results: int
    processed: int
    found: int
    batches: int
    seconds: float
    stream_seconds: float
    resumed: bool = False
    late: int = 0
    late_by_stream: Mapping[str, int] = field(default_factory=dict)
    rebuilt: int = 0
    jvm_peak_bytes: int = 0
    worker_peak_bytes: int = 0
    rejected_file: str | None = None
    late_file: str | None = None
    ticks: int = 0
    operators: Mapping[int, Counters] = field(default_factory=dict)
    last_batch: Mapping[int, Counters] = field(default_factory=dict)

    @property
    def edges_per_second(self) -> float:
        """Relevant edges of this run per second of the streaming query."""
        return self.processed / self.stream_seconds if self.stream_seconds else 0.0

    @property
    def updates_per_second(self) -> float:
        """Results of this run per second of the streaming query."""
        return self.found / self.stream_seconds if self.stream_seconds else 0.0

    def document(self) -> dict[str, Any]:
        """The report as values that JSON can hold."""
        return {
            **asdict(self),
            "operators": {str(node): asdict(done) for node, done in self.operators.items()},
            "last_batch": {str(node): asdict(done) for node, done in self.last_batch.items()},
            "edges_per_second": self.edges_per_second,
            "updates_per_second": self.updates_per_second,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Reads what :meth:`document` wrote."""
        values = dict(document)
        for derived in ("edges_per_second", "updates_per_second"):
            values.pop(derived)
        for counted in ("operators", "last_batch"):
            by_node = values.pop(counted, {})
            values[counted] = {int(k): Counters(**v) for k, v in by_node.items()}
        return cls(**values)

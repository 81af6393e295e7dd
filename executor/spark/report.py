"""What a run tells while it goes on, and at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from ..counters import Counters

Phase = Literal["reading", "starting", "waiting", "running", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    ``fraction`` is of the phase, None where that has no end, as over a live source; ``edges`` and
    ``results`` are since the query began, over restarts, ``edges`` being those with a label that
    the plan reads, ``late`` those of them that came too late, ``rejected`` the rows that are no
    edges; ``now`` is the application time reached, ``ticks`` how much of it went by since the first
    edge, in time units of the plan; ``operators`` (by node of the plan) are of the whole query too.
    ``waiting`` is for another start, since Spark gave up this one; ``reason`` says why.
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
    """The account of a run.

    ``edges``, ``relevant`` (with a label that the plan reads), ``rejected`` (rows that are no
    edges), ``late`` (relevant ones set aside because they came after their time), ``rebuilt`` (how
    often a partition's state was made anew), ``results``, ``ticks`` (application time from the
    first edge to the last) and ``operators`` (by node of the plan) are of the whole query;
    ``last_batch`` has what the latter did in the last batch. ``seconds``, ``stream_seconds`` (Spark
    at work, without starting it and reading the input), ``processed`` edges, ``batches`` and the
    peaks of memory are of this run, which
    may have taken up an earlier one.
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
        """Relevant edges of this run per second of streaming."""
        return self.processed / self.stream_seconds if self.stream_seconds else 0.0

    @property
    def updates_per_second(self) -> float:
        """Results of this run per second of streaming."""
        return self.found / self.stream_seconds if self.stream_seconds else 0.0

    def document(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            **asdict(self),
            "operators": {str(node): asdict(done) for node, done in self.operators.items()},
            "last_batch": {str(node): asdict(done) for node, done in self.last_batch.items()},
            "edges_per_second": self.edges_per_second,
            "updates_per_second": self.updates_per_second,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The report of its JSON."""
        values = dict(document)
        for derived in ("edges_per_second", "updates_per_second"):
            values.pop(derived)
        for counted in ("operators", "last_batch"):
            by_node = values.pop(counted, {})
            values[counted] = {int(k): Counters(**v) for k, v in by_node.items()}
        return cls(**values)

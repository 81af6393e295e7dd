"""What a run tells while it goes on, and at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from executor.spark.head import OperatorTotals

Phase = Literal["reading", "starting", "running", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    ``fraction`` is of the phase; ``edges`` and ``results`` are since the query began,
    over restarts, ``edges`` being those with a label that the plan reads; ``now`` is the
    application time reached.
    """

    phase: Phase
    fraction: float
    batch: int = 0
    batches: int = 0
    edges: int = 0
    results: int = 0
    now: int | None = None
    seconds: float = 0.0


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The account of a run.

    ``edges``, ``relevant`` (with a label that the plan reads), ``rejected`` (rows that are no
    edges), ``late`` (relevant ones set aside because they came after their time), ``results``
    and ``operators`` (by node of the plan) are of the whole query; ``seconds``,
    ``stream_seconds`` (Spark at work, without starting it and reading the input), ``processed``
    edges, ``batches`` and the peaks of memory are of this run, which
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
    operators: Mapping[int, OperatorTotals] = field(default_factory=dict)

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
            "edges_per_second": self.edges_per_second,
            "updates_per_second": self.updates_per_second,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The report of its JSON."""
        values = dict(document)
        for derived in ("edges_per_second", "updates_per_second"):
            values.pop(derived)
        operators = {int(k): OperatorTotals(**v) for k, v in values.pop("operators").items()}
        return cls(**values, operators=operators)

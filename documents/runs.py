"""Runs: their progress and metrics, and measured numbers of operators beside the estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..algebra.plan import PhysicalPlan
from .model import Document

if TYPE_CHECKING:
    from ..executor.counters import Counters
    from ..executor.spark.report import RunReport
    from ..running.analysis import Analysis
    from ..running.measures import Measured


class ProgressDocument(Document):
    """The progress of a run; ``fraction`` is null if the input has no end."""

    phase: str
    fraction: float | None
    batch: int
    edges: int
    results: int
    late: int
    rejected: int
    now: int | None
    lag: float | None
    ticks: int
    seconds: float
    edges_per_second: float
    results_per_second: float
    state_entries: int
    state_bytes: int


class OperatorNumbers(Document):
    """Numbers of an operator, each null if it is unknown."""

    rate: float | None
    validity: float | None
    population: float | None

    @property
    def largest(self) -> tuple[Literal["rate", "validity", "population"], float] | None:
        """The largest number with its name; None if all are unknown."""
        named = (("rate", self.rate), ("validity", self.validity), ("population", self.population))
        told: list[Any] = [(name, value) for name, value in named if value is not None]
        return max(told, key=lambda item: item[1], default=None)


class _AtNode(Document):
    node: int


class MeasuredDocument(Document):
    """The measured numbers of an operator, beside the estimates.

    ``rows`` is ``rows_out``. ``rate`` is rows per time unit, ``validity`` the mean in time units of
    rows that expire, ``population`` the rows valid at an instant; ``endless`` counts rows that
    never expire, and ``dropped`` those that coalescing left out. ``q_error`` says how many times
    too large or too small an estimate is.
    """

    op: str
    rows_in: int
    rows: int
    rows_out: int
    dropped: int
    endless: int
    rate: float
    validity: float | None
    population: float
    seconds: float
    state_entries: int
    state_bytes: int
    estimate: OperatorNumbers
    q_error: OperatorNumbers


class OperatorDocument(MeasuredDocument, _AtNode):
    """The measured numbers of an operator of a plan, beside the estimates."""


class AnalysisDocument(Document):
    """A run of a plan over files, to measure it; ``nodes`` by the ids of the plan's nodes.

    ``rejected`` counts rows that are no edges, ``ticks`` the application time of the input.
    """

    edges: int
    rejected: int
    results: int
    ticks: int
    seconds: float
    nodes: dict[str, MeasuredDocument]


class LastBatch(Document):
    """The counters of an operator in the last micro-batch."""

    rows_in: int = 0
    rows_out: int = 0
    dropped: int = 0
    seconds: float = 0.0


class OperatorMetrics(MeasuredDocument):
    """The measured numbers of an operator, with the last micro-batch."""

    last_batch: LastBatch


class RunMetrics(Document):
    """The metrics of a run, as ``run --metrics`` writes them.

    The fields of a run are those of `headrace.executor.spark.report.RunReport`; ``operators`` by
    the ids of the plan's nodes.
    """

    plan: str
    time_unit: str
    edges: int
    relevant: int
    rejected: int
    results: int
    processed: int
    found: int
    batches: int
    seconds: float
    stream_seconds: float
    resumed: bool
    late: int
    late_by_stream: dict[str, int]
    rebuilt: int
    jvm_peak_bytes: int
    worker_peak_bytes: int
    rejected_file: str | None
    late_file: str | None
    ticks: int
    operators: dict[str, OperatorMetrics]
    edges_per_second: float
    updates_per_second: float


def measured_document(measured: Measured) -> MeasuredDocument:
    """The measured numbers of a node, beside the estimates of the plan."""
    done, expected, errors = measured.counters, measured.estimate, measured.q_errors
    return MeasuredDocument(
        op=measured.op,
        rows_in=done.rows_in,
        rows=done.rows_out,
        rows_out=done.rows_out,
        dropped=done.dropped,
        endless=done.endless,
        rate=measured.rate,
        validity=measured.validity,
        population=measured.population,
        seconds=done.seconds,
        state_entries=done.state_entries,
        state_bytes=done.state_bytes,
        estimate=OperatorNumbers(
            rate=expected.rate, validity=expected.interval, population=expected.population
        ),
        q_error=OperatorNumbers(
            rate=errors.rate, validity=errors.validity, population=errors.population
        ),
    )


def operator_documents(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int
) -> tuple[OperatorDocument, ...]:
    """The measured numbers of all operators of a plan, over ``ticks`` of application time."""
    from ..running.measures import measured

    return tuple(
        OperatorDocument(node=node, **dict(measured_document(found)))
        for node, found in measured(plan, counters, ticks).items()
    )


def analysis_document(analysis: Analysis) -> AnalysisDocument:
    """A run of a plan over files, as it was measured."""
    return AnalysisDocument(
        edges=analysis.edges,
        rejected=analysis.rejected,
        results=analysis.results,
        ticks=analysis.ticks,
        seconds=analysis.seconds,
        nodes={str(node): measured_document(found) for node, found in analysis.nodes.items()},
    )


def metrics_document(plan: PhysicalPlan, report: RunReport) -> RunMetrics:
    """The metrics of a run that has ended, and of each operator."""
    values = report.document()
    last = values.pop("last_batch")
    values["operators"] = {
        str(done.node): OperatorMetrics(
            **{name: value for name, value in done if name != "node"},
            last_batch=LastBatch(
                **{k: v for k, v in last.get(str(done.node), {}).items() if k in _OF_A_BATCH}
            ),
        )
        for done in operator_documents(plan, report.operators, report.ticks)
    }
    return RunMetrics(plan=plan.digest, time_unit=plan.time_unit, **values)


_OF_A_BATCH = frozenset(LastBatch.model_fields)

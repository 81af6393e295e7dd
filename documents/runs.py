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
    """The progress of a run, over restarts.

    Attributes:
        phase: the phase of the run.
        fraction: the finished part of the phase, from 0 to 1; null for unbounded input.
        batch: the number of finished micro-batches.
        edges: the number of edges with a label that the plan reads.
        results: the number of results.
        late: the number of late edges.
        rejected: the number of rows that are not edges.
        now: the application time reached, in time units; null before the first edge.
        lag: the time that a live stream is behind the clock, in seconds; null if unknown.
        ticks: the application time since the first edge, in time units.
        seconds: the time since this run began.
        edges_per_second: the mean over the last seconds.
        results_per_second: the mean over the last seconds.
        state_entries: the number of entries in the states of all operators.
        state_bytes: the memory allocated for the states, in bytes.
    """

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
        measured: list[Any] = [(name, value) for name, value in named if value is not None]
        return max(measured, key=lambda item: item[1], default=None)


class _AtNode(Document):
    node: int


class MeasuredDocument(Document):
    """The measured numbers of an operator, beside the estimates.

    Attributes:
        op: the name of the operator.
        rows_in: the number of input rows.
        rows: the same as ``rows_out``.
        rows_out: the number of output rows.
        dropped: the number of rows that coalescing left out.
        endless: the number of output rows that never expire.
        rate: output rows per time unit.
        validity: the mean validity of rows that expire, in time units; null without any.
        population: output rows valid at an instant.
        seconds: the time of the operator.
        state_entries: the number of entries in its state.
        state_bytes: the memory allocated for its state, in bytes.
        estimate: the estimates of the plan.
        q_error: the factor by which each estimate is too large or too small.
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
    """A run of a plan over files that measures its operators.

    Attributes:
        edges: the number of edges in the input.
        rejected: the number of rows that are not edges.
        results: the number of results.
        ticks: the application time of the input, in time units.
        seconds: the time of the run, without reading the input.
        nodes: the measured numbers by node id.
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

    `headrace.executor.spark.report.RunReport` describes the fields that have no line here.

    Attributes:
        plan: the digest of the plan.
        time_unit: the time unit of the plan.
        operators: the metrics of each operator, by node id.
        edges_per_second: relevant edges of this run per second of streaming.
        updates_per_second: results of this run per second of streaming.
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
    """Converts the measured numbers of a node to a document, with the plan's estimates."""
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
            rate=expected.emitted_rate,
            validity=expected.interval,
            population=expected.emitted_population,
        ),
        q_error=OperatorNumbers(
            rate=errors.rate, validity=errors.validity, population=errors.population
        ),
    )


def operator_documents(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int
) -> tuple[OperatorDocument, ...]:
    """Returns the measured numbers of all operators over ``ticks`` time units of input."""
    from ..running.measures import measured

    return tuple(
        OperatorDocument(node=node, **dict(measured_document(of_node)))
        for node, of_node in measured(plan, counters, ticks).items()
    )


def analysis_document(analysis: Analysis) -> AnalysisDocument:
    """Converts the analysis of a run to a document."""
    return AnalysisDocument(
        edges=analysis.edges,
        rejected=analysis.rejected,
        results=analysis.results,
        ticks=analysis.ticks,
        seconds=analysis.seconds,
        nodes={str(node): measured_document(of_node) for node, of_node in analysis.nodes.items()},
    )


def metrics_document(plan: PhysicalPlan, report: RunReport) -> RunMetrics:
    """Returns the metrics of a finished run and of each operator."""
    values = report.document()
    last = values.pop("last_batch")
    values["operators"] = {
        str(done.node): OperatorMetrics(
            **{name: value for name, value in done if name != "node"},
            last_batch=LastBatch(
                **{k: v for k, v in last.get(str(done.node), {}).items() if k in _BATCH_FIELDS}
            ),
        )
        for done in operator_documents(plan, report.operators, report.ticks)
    }
    return RunMetrics(plan=plan.digest, time_unit=plan.time_unit, **values)


_BATCH_FIELDS = frozenset(LastBatch.model_fields)

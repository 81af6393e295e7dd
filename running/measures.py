"""Measured characteristics of the nodes of a plan, beside their estimates.

In: a plan, the counters of a run and its length in application time. Out: each node's measured
rate, validity and population, and how far the plan's estimates are from them, as *q-errors*:
max(estimated / measured, measured / estimated), 1 where they agree.

Populations are rate times validity (Little's law), as the cost model has them: the mean number
of rows valid at an instant of a stream that goes on like this. A row of an operator that
coalesces counts what it adds to what was said before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..algebra.plan import Estimate, PhysicalPlan

if TYPE_CHECKING:
    from ..executor.counters import Counters
    from ..executor.spark.report import RunReport

_OF_A_BATCH = ("rows_in", "rows_out", "dropped", "seconds")


@dataclass(frozen=True, slots=True)
class QErrors:
    """The factors by which estimates are too large or too small; None without a measured value."""

    rate: float | None = None
    validity: float | None = None
    population: float | None = None

    @property
    def worst(self) -> tuple[str, float] | None:
        """The largest of the three, and its name; None if there is none."""
        named = (("rate", self.rate), ("validity", self.validity), ("population", self.population))
        known = [(name, value) for name, value in named if value is not None]
        return max(known, key=lambda item: item[1], default=None)

    def document(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"rate": self.rate, "validity": self.validity, "population": self.population}


@dataclass(frozen=True, slots=True)
class Measured:
    """The counters of a node after ``ticks`` of application time, and its estimate.

    ``ticks`` is 0 for a node that reads stored graphs only: it runs once and has no rate.
    """

    op: str
    counters: Counters
    ticks: int
    estimate: Estimate

    @property
    def rate(self) -> float:
        """Rows given per time unit."""
        return self.counters.rows_out / self.ticks if self.ticks else 0.0

    @property
    def validity(self) -> float | None:
        """The mean validity of the rows that expire, in time units; None without any."""
        expiring = self.counters.rows_out - self.counters.endless
        return self.counters.validity / expiring if expiring else None

    @property
    def population(self) -> float:
        """Rows valid at an instant."""
        return self.counters.endless + (self.counters.validity / self.ticks if self.ticks else 0.0)

    @property
    def q_errors(self) -> QErrors:
        """The q-errors of the estimates.

        Less than one row, or one time unit of one row, over the whole run counts as one, since a
        factor of zero says nothing.
        """
        if not self.ticks and not self.counters.endless:
            return QErrors()
        expected, least = self.estimate, 1 / max(self.ticks, 1)
        population = _q_error(expected.population, self.population, least)
        if expected.interval is None or not self.ticks:
            return QErrors(population=population)
        rate = _q_error(expected.rate, self.rate, least)
        if not self.validity or not expected.interval:
            return QErrors(rate, None, population)
        return QErrors(rate, _q_error(expected.interval, self.validity), population)

    def document(self) -> dict[str, Any]:
        """As JSON-able values."""
        done = self.counters
        return {
            "op": self.op,
            "rows_in": done.rows_in,
            "rows": done.rows_out,
            "rows_out": done.rows_out,
            "dropped": done.dropped,
            "endless": done.endless,
            "rate": self.rate,
            "validity": self.validity,
            "population": self.population,
            "seconds": done.seconds,
            "state_entries": done.state_entries,
            "state_bytes": done.state_bytes,
            "estimate": {
                "rate": self.estimate.rate,
                "validity": self.estimate.interval,
                "population": self.estimate.population,
            },
            "q_error": self.q_errors.document(),
        }


def measured(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int
) -> dict[int, Measured]:
    """By node id; of a leaf's chain what can be known (:mod:`headrace.executor.accounts`)."""
    from ..executor.accounts import with_chains

    once = _computed_once(plan)
    return {
        node: Measured(
            plan.nodes[node].op, done, 0 if node in once else ticks, plan.nodes[node].estimate
        )
        for node, done in sorted(with_chains(plan, counters).items())
    }


def _computed_once(plan: PhysicalPlan) -> set[int]:
    """The nodes that read nothing but stored graphs."""
    found = {node.id for node, scan in plan.scans if scan.range is None}
    for node in plan.nodes:
        if node.inputs and found.issuperset(node.inputs):
            found.add(node.id)
    return found


def metrics_document(plan: PhysicalPlan, report: RunReport) -> dict[str, Any]:
    """The metrics of a run, as ``run --metrics`` writes them."""
    from ..executor.counters import Counters

    document = {"plan": plan.digest, "time_unit": plan.time_unit, **report.document()}
    last, nothing = document.pop("last_batch"), asdict(Counters())
    document["operators"] = {
        str(node): {
            **found.document(),
            "last_batch": {k: last.get(str(node), nothing)[k] for k in _OF_A_BATCH},
        }
        for node, found in measured(plan, report.operators, report.ticks).items()
    }
    return document


def furthest_off(nodes: Mapping[int, Measured]) -> tuple[int, str, float] | None:
    """The node with the largest q-error, which one it is, and how large; None without any."""
    off = [(node, *worst) for node, found in nodes.items() if (worst := found.q_errors.worst)]
    return max(off, key=lambda item: item[2], default=None)


def _q_error(estimate: float, measure: float, least: float = 0.0) -> float:
    one, other = max(estimate, least), max(measure, least)
    return max(one / other, other / one)

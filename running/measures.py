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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra.plan import Estimate, PhysicalPlan

if TYPE_CHECKING:
    from ..executor.counters import Counters


@dataclass(frozen=True, slots=True)
class QErrors:
    """The factors by which estimates are too large or too small; None without a measured value."""

    rate: float | None = None
    validity: float | None = None
    population: float | None = None


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


def measured(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int
) -> dict[int, Measured]:
    """By node id; of a leaf's chain what can be known (:mod:`headrace.executor.accounts`)."""
    from ..executor.partitioned import plan_counters

    once = _computed_once(plan)
    return {
        node: Measured(
            plan.nodes[node].op, done, 0 if node in once else ticks, plan.nodes[node].estimate
        )
        for node, done in sorted(plan_counters(plan, counters).items())
    }


def _computed_once(plan: PhysicalPlan) -> set[int]:
    """The nodes that read nothing but stored graphs."""
    found = {node.id for node, scan in plan.scans if scan.range is None}
    for node in plan.nodes:
        if node.inputs and found.issuperset(node.inputs):
            found.add(node.id)
    return found


def _q_error(estimate: float, measure: float, least: float = 0.0) -> float:
    one, other = max(estimate, least), max(measure, least)
    return max(one / other, other / one)

"""Measured characteristics of the nodes of a plan, beside their estimates.

In: a plan, the counters of a run and its length in application time. Out: each node's measured
rate, validity and population, and the *q-errors* of the estimates: max(estimated / measured,
measured / estimated), which is 1 for an exact estimate.

A population is rate times validity (Little's law), as in the cost model: the mean number of rows
valid at an instant of a stream that continues unchanged. A row of a coalescing operator counts only
with the validity that it adds to earlier rows of its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import Estimate

if TYPE_CHECKING:
    from ..executor.counters import Counters


@dataclass(frozen=True, slots=True)
class QErrors:
    """The q-errors of the estimates of a node; None without a measured value."""

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
        """Output rows per time unit."""
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
        """The q-errors of the estimates of the emitted rows, with those that repeat others.

        A rate below one row in the whole run counts as one row, and a population below one row
        for one time unit as that: a q-error over zero would be infinite.
        """
        if not self.ticks and not self.counters.endless:
            return QErrors()
        expected, least = self.estimate, 1 / max(self.ticks, 1)
        population = q_error(expected.emitted_population, self.population, least)
        if expected.interval is None or not self.ticks:
            return QErrors(population=population)
        rate = q_error(expected.emitted_rate, self.rate, least)
        if not self.validity or not expected.interval:
            return QErrors(rate, None, population)
        return QErrors(rate, q_error(expected.interval, self.validity), population)


def measured(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int
) -> dict[int, Measured]:
    """Returns the measured numbers of each node, by node id.

    The operators of a fused scan have only the counters that
    :func:`headrace.executor.partitioned.plan_counters` can derive.
    """
    from ..executor.partitioned import plan_counters

    once = computed_once(plan)
    return {
        node: Measured(
            plan.nodes[node].op, counted, 0 if node in once else ticks, plan.nodes[node].estimate
        )
        for node, counted in sorted(plan_counters(plan, counters).items())
    }


def computed_once(plan: PhysicalPlan) -> set[int]:
    """Returns the nodes that read only stored graphs."""
    nodes = {node.id for node, scan in plan.scans if scan.range is None}
    for node in plan.nodes:
        if node.inputs and nodes.issuperset(node.inputs):
            nodes.add(node.id)
    return nodes


def q_error(estimate: float, measure: float, least: float = 0.0) -> float:
    """max(estimate / measure, measure / estimate); values below ``least`` count as ``least``."""
    one, other = max(estimate, least), max(measure, least)
    return max(one / other, other / one)

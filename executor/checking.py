"""Checks before a run that a plan can run and that its rows would be right.

In: a plan. Out: its widths and distributions, or a :class:`PlanError`.

The checks trust no derived field of a plan document. They derive widths, distributions and update
patterns from the operators, by the laws in their classes (:mod:`headrace.algebra.physical`). The
optimizer plans by the same laws, so a plan from elsewhere is refused for the same reasons for which
no search would have chosen it.
"""

from __future__ import annotations

from ..algebra.physical import Exchange, FilterRows
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanError
from ..algebra.properties import ANY, COPIED, SINGLE, Convention, Distribution, UpdatePattern
from . import predicates
from .scans import reached, scan_inputs


def check(plan: PhysicalPlan) -> None:
    """Refuses a plan that would fail or return wrong rows.

    Raises:
        PlanError: with the node and the reason.
    """
    distributions(plan)
    if plan.update_patterns()[plan.root] is UpdatePattern.MARKED:
        raise PlanError(f"node {plan.root}: no RETRACT expands the deletions of its scans")
    for node in plan.nodes:
        for position, below in enumerate(node.inputs):
            if node.operator.reads_every_row(position) and plan.nodes[below].operator.coalesces:
                op = plan.nodes[below].op
                raise PlanError(f"node {node.id} ({node.op}): {op} drops rows that it counts")
    widths = widths_of(plan)
    scanned = {scan_input.node for scan_input in scan_inputs(plan)}
    for i in widths.keys() - scanned:
        operator = plan.nodes[i].operator
        if isinstance(operator, FilterRows):
            predicates.checked(operator.predicate, widths[i])
    if len(plan.columns) != widths[plan.root]:
        raise PlanError(
            f"node {plan.root} ({plan.nodes[plan.root].op}): its rows have {widths[plan.root]} "
            f"columns, and {len(plan.columns)} names"
        )


def check_document(plan: PhysicalPlan) -> None:
    """As :func:`check`, and also that a worker can read the plan's document.

    Raises:
        PlanError: as :func:`check`.
    """
    PhysicalPlan.from_json(plan.to_json())
    check(plan)


def widths_of(plan: PhysicalPlan) -> dict[int, int]:
    """The width of each scan input, and of each node above them that the root reads.

    Raises:
        PlanError: if an operator does not fit its inputs, with the node's id.
    """
    widths = {scan_input.node: scan_input.width for scan_input in scan_inputs(plan)}
    for i in sorted(reached(plan, widths) - widths.keys()):
        node = plan.nodes[i]
        try:
            widths[i] = node.operator.output_width([widths[k] for k in node.inputs])
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    return widths


def distributions(plan: PhysicalPlan) -> dict[int, Distribution]:
    """The distribution of each scan input, and of each node above them that the root reads.

    With several partitions each row of a scan input is in one arbitrary partition, and the rows of
    the root may not be broadcast. With one partition an EXCHANGE is refused.

    Raises:
        PlanError: if the inputs of an operator are not distributed as it requires.
    """
    several = plan.parallelism > 1
    lie = dict.fromkeys(
        (scan_input.node for scan_input in scan_inputs(plan)), ANY if several else SINGLE
    )
    for i in sorted(widths_of(plan).keys() - lie.keys()):
        node = plan.nodes[i]
        try:
            lie[i] = _distribution(plan, i, [lie[k] for k in node.inputs])
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    if lie[plan.root].spread in COPIED:
        op = plan.nodes[plan.root].op
        raise PlanError(f"node {plan.root} ({op}): the root would return every row several times")
    return lie


def _distribution(plan: PhysicalPlan, node: int, inputs: list[Distribution]) -> Distribution:
    operator = plan.nodes[node].operator
    if all(below is Convention.SPARK_SQL for below, _ in operator.conventions):
        raise ValueError("its input is not a scan with filters and projections only")
    if operator.least_partitions > plan.parallelism:
        cells = operator.least_partitions
        raise ValueError(f"its hypercube has {cells} cells for {plan.parallelism} partitions")
    if not operator.reads_cells and any(below.cells is not None for below in inputs):
        raise ValueError("its input lies in cells, which only MULTIWAY_JOIN with shares reads")
    if plan.parallelism > 1:
        return operator.distribution(inputs)
    if isinstance(operator, Exchange):
        raise ValueError("the plan has parallelism 1, so there is nothing to exchange")
    return SINGLE

"""Whether a plan can run, and would give right rows, said before anything does.

In: a plan. Nothing that its document says of itself is trusted: widths, distributions and update
patterns are derived from the operators, by the laws that stand with their classes
(:mod:`headrace.algebra.physical`). The optimizer plans by the same laws; so a plan that was made or
changed elsewhere is refused for the same reasons for which no search would have chosen it.
"""

from __future__ import annotations

from ..algebra.physical import Exchange, FilterRows
from ..algebra.plan import PhysicalPlan, PlanError
from ..algebra.properties import ANY, BROADCAST, SINGLE, Convention, Distribution, UpdatePattern
from . import predicates
from .scans import leaves, reached


def check(plan: PhysicalPlan) -> None:
    """Refuses a plan that would fail, or give wrong answers.

    Raises:
        PlanError: with the node and the reason.
    """
    distributions(plan)
    if plan.update_patterns()[plan.root] is UpdatePattern.MARKED:
        raise PlanError(f"node {plan.root}: no RETRACT expands the deletions of its scans")
    widths = widths_of(plan)
    scanned = {leaf.node for leaf in leaves(plan)}
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
    """:func:`check`, and whether a worker that is sent the plan would take it.

    Raises:
        PlanError: as :func:`check`.
    """
    PhysicalPlan.from_json(plan.to_json())
    check(plan)


def widths_of(plan: PhysicalPlan) -> dict[int, int]:
    """The widths of the leaves and of the nodes above them that the root needs.

    Raises:
        PlanError: if an operator does not fit its inputs, with the node's id.
    """
    widths = {leaf.node: leaf.width for leaf in leaves(plan)}
    for i in sorted(reached(plan, widths) - widths.keys()):
        node = plan.nodes[i]
        try:
            widths[i] = node.operator.output_width([widths[k] for k in node.inputs])
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    return widths


def distributions(plan: PhysicalPlan) -> dict[int, Distribution]:
    """The distribution of the rows of each leaf, and of each node above, that the root needs.

    Over several partitions the rows of a leaf lie anywhere, each on one of them, and those of the
    root may not be copies. Over one there is nothing to distribute, and an EXCHANGE is refused.

    Raises:
        PlanError: if an operator does not find its rows as it needs them.
    """
    several = plan.parallelism > 1
    lie = dict.fromkeys((leaf.node for leaf in leaves(plan)), ANY if several else SINGLE)
    for i in sorted(widths_of(plan).keys() - lie.keys()):
        node = plan.nodes[i]
        try:
            lie[i] = _distribution(plan, i, [lie[k] for k in node.inputs])
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    if lie[plan.root] == BROADCAST:
        op = plan.nodes[plan.root].op
        raise PlanError(f"node {plan.root} ({op}): the root would give every row several times")
    return lie


def _distribution(plan: PhysicalPlan, node: int, inputs: list[Distribution]) -> Distribution:
    operator = plan.nodes[node].operator
    if all(below is Convention.SPARK_SQL for below, _ in operator.conventions):
        raise ValueError("it does not stand over a scan and filters alone")
    if plan.parallelism > 1:
        return operator.distribution(inputs)
    if isinstance(operator, Exchange):
        raise ValueError("the plan is made for one partition, and there is no other")
    return SINGLE

"""Whether a plan can run, said before anything does.

In: a plan. Nothing that its document says of itself is trusted: widths and places of rows are
derived from the operators.
"""

from __future__ import annotations

from ..algebra.physical import FilterRows, ToKernel, WindowScan, WindowScanUnion
from ..algebra.plan import PhysicalPlan, PlanError
from . import distribution, predicates
from .scans import leaves
from .widths import widths_of


def check(plan: PhysicalPlan) -> None:
    """Refuses a plan that would fail, or give wrong answers.

    Raises:
        PlanError: with the node and the reason.
    """
    distribution.check(plan)
    widths = widths_of(plan)
    of_leaves = {leaf.node for leaf in leaves(plan)}
    for i in widths.keys() - of_leaves:
        node = plan.nodes[i]
        match node.operator:
            case FilterRows(predicate=sql):
                predicates.checked(sql, widths[i])
            case ToKernel() | WindowScan() | WindowScanUnion():
                raise PlanError(f"node {i} ({node.op}): it stands on a leaf alone")
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

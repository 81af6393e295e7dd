"""The plan as written within the plan space, and whether the search keeps it.

The plan has the joins and paths of the query as they entered the memo, and coalesces rows at the
root alone. Scans with their conditions have their cheapest form, and operators their cheapest
places. So its cost is comparable with that of the cheapest plan: both read the estimates of the
same groups, over the same partitions.

The search keeps the plan as written if the cheapest plan gains less than the error of the model.
Operators in both plans have the same error and do not change the difference. So the error counts
the operators in one of the plans only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isclose

from ..algebra.physical import PhysicalOperator
from ..algebra.properties import Convention
from ..memo import Memo
from .goal_table import GoalTable
from .goals import Alternative, Goal
from .selection import Chosen, Selection, cheapest_selection, chosen
from .steps import Step, in_order

STANDARD_ERRORS = 0.25
"""The standard errors of a gain within which the plan as written is kept: the chance that a gain of
a quarter of its standard error is one is 60 %."""


@dataclass(frozen=True, slots=True)
class KeptAsWritten:
    """The reason for which a search keeps the plan as written.

    Attributes:
        cheapest: the cost of the cheapest plan per time unit.
        error: the error of the difference to the plan as written, in the same unit.
    """

    cheapest: float
    error: float


def kept_as_written(
    goals: GoalTable,
    written: Selection,
    best: Step,
    margin: float,
    cost: Callable[[Step], float],
) -> tuple[Chosen, KeptAsWritten | None] | None:
    """The plan as written, if the best plan gains less over it than the error of the model.

    Of two plans with equal costs the plan as written is kept without a reason. Returns None if the
    best plan gains more, or is the plan as written.

    Args:
        goals: the goals of the search.
        written: the plan as written.
        best: the cheapest plan.
        margin: the error of the cost constants, as a part of a cost.
        cost: the cost that the search minimises, per time unit.
    """
    kept = chosen(goals.coster, written)
    error = error_of_difference(best, kept.plan, margin)
    least, costs = cost(best), cost(kept.plan)
    if _same(kept.plan, best):
        return None
    if isclose(costs, least, rel_tol=1e-9):
        return kept, None
    if costs > least + error:
        return None
    return kept, KeptAsWritten(least, error)


def as_written(memo: Memo, goals: GoalTable, roots: Sequence[Goal]) -> Selection | None:
    """The plan as written; None if rules have replaced one of its expressions.

    Args:
        memo: the memo after the search.
        goals: the goals of the search.
        roots: the goals that the plan may have for its root.
    """
    written = {expression.id for expression in memo.expressions if not expression.rule}
    alternatives: dict[Goal, list[Alternative]] = {}
    pending = list(roots)
    for goal in pending:
        if goal in alternatives:
            continue
        in_sql = goal.required.convention is Convention.SPARK_SQL
        taken = [
            alternative
            for alternative in goals.physical_alternatives(goal)
            if (in_sql or alternative.choice.source in written)
            and not _coalesces_below(goals, alternative)
        ]
        taken += goals.enforced_alternatives(goal)
        alternatives[goal] = taken
        pending += [below for _, inputs in taken for below in inputs]
    return cheapest_selection(roots, alternatives)


def _coalesces_below(goals: GoalTable, alternative: Alternative) -> bool:
    """Whether an input is coalesced although neither operator nor result need it."""
    choice, inputs = alternative
    if choice.operator.ends_deletions or not any(below.required.coalesced for below in inputs):
        return False
    return not choice.operator.keeps_coalesced(goals.coster.widths(choice))


def error_of_difference(cheapest: Step, other: Step, margin: float) -> float:
    """The error of the difference of two plans' costs, per time unit.

    It has two independent parts, both of the operators in one of the plans only:

    - the part ``margin`` of the cost of the cheapest plan's operators;
    - ``STANDARD_ERRORS`` of the difference, as far as estimates are from a sample. An operator's
      cost has the largest standard error of the rows that it reads and emits, and the errors of
      different operators are independent.
    """
    first, second = Counter(_priced(cheapest)), Counter(_priced(other))
    own, others = list((first - second).elements()), list((second - first).elements())
    sampled = hypot(*[local * error for _, _, local, error in (*own, *others)])
    return hypot(margin * sum(local for _, _, local, _ in own), STANDARD_ERRORS * sampled)


def _priced(plan: Step) -> Iterator[tuple[int | None, type[PhysicalOperator], float, float]]:
    """The group, the operator, its cost and the standard error of the cost, for each node.

    A join has the same ones whichever of its inputs is the first.
    """
    for step, _ in in_order(plan):
        rows = (step.costed.output, *step.costed.inputs)
        errors = [r.on_sample.standard_error or 0.0 for r in rows if r.on_sample is not None]
        yield step.group, type(step.operator), step.local, max(errors, default=0.0)


def _same(one: Step, other: Step) -> bool:
    first, second = in_order(one), in_order(other)
    return [(step.operator, inputs) for step, inputs in first] == [
        (step.operator, inputs) for step, inputs in second
    ]

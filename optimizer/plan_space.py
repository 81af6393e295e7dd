"""The plan spaces of a memo: logical, and physical under required properties.

A physical plan has enforcers only where a property is asked for that the operators below do
not deliver, so no plan says the same twice. To count each once, a goal of this space names
what is *delivered* exactly, where the search's goals name what is at least required.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memo import Alternative, GroupExpression, GroupId, PlanSpace
from optimizer.goals import Choice
from optimizer.physical_properties import makes_coalesced, passes_coalesced
from optimizer.search import Search


@dataclass(frozen=True, slots=True)
class PlanGoal:
    """A group whose plans are to be coalesced (or not; or None, as they come)."""

    group: GroupId
    coalesced: bool | None = None


def logical_space(search: Search) -> PlanSpace[GroupId, GroupExpression]:
    """The complete logical plans; plans that differ in the order of a join's inputs differ."""
    memo = search.memo

    def alternatives(group: GroupId) -> Sequence[Alternative[GroupId, GroupExpression]]:
        return [Alternative(e, e.inputs) for e in memo.group(group).expressions]

    return PlanSpace(alternatives)


def physical_space(search: Search) -> PlanSpace[PlanGoal, Choice]:
    """The complete physical plans."""
    memo = search.memo

    def alternatives(goal: PlanGoal) -> Sequence[Alternative[PlanGoal, Choice]]:
        found: list[Alternative[PlanGoal, Choice]] = []
        for choice in search.implementations(goal.group):
            widths = tuple(memo.group(i).properties.width for i in choice.inputs)
            asked: bool | None = None
            if goal.coalesced is not None:
                if passes_coalesced(choice.operator, widths):
                    asked = goal.coalesced
                elif makes_coalesced(choice.operator) is not goal.coalesced:
                    continue
            inputs = tuple(PlanGoal(memo.find(i), asked) for i in choice.inputs)
            found.append(Alternative(choice, inputs, choice.local))
        if goal.coalesced:
            enforcer = search.coalesce(goal.group)
            found.append(Alternative(enforcer, (PlanGoal(goal.group, False),), enforcer.local))
        return found

    return PlanSpace(alternatives, lambda goal: goal.group)

"""Plans that may take other alternatives than the cheapest ones of each goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..algebra.properties import RequiredProperties
from ..memo import Winner
from ..memo.cheapest import cheapest
from .coster import Coster
from .extraction import winning_plan
from .goals import Alternative, Goal, GoalKey
from .steps import Step


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A plan as the alternative that it takes for each goal.

    ``root`` is the goal of the whole plan. ``winners`` has the alternatives, also of goals that the
    plan does not reach; the search may know cheaper ones.
    """

    root: GoalKey
    winners: Mapping[GoalKey, Winner]


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A plan that a search chooses.

    Attributes:
        plan: its steps.
        required: the properties of its root; None for the start plan of the search and for the
            canonical plan.
        winners: the alternative that it takes for each goal; None if those are the cheapest ones.
    """

    plan: Step
    required: RequiredProperties | None
    winners: Mapping[GoalKey, Winner] | None = None


def chosen(coster: Coster, selection: Selection) -> Chosen:
    """The plan of a selection."""
    plan = winning_plan(coster, *selection.root, selection.winners)
    return Chosen(plan, selection.root[1], selection.winners)


def cheapest_selection(
    roots: Sequence[Goal], alternatives: Mapping[Goal, Sequence[Alternative]]
) -> Selection | None:
    """The cheapest plan, as a tree, that takes only some alternatives of each goal.

    Args:
        roots: the goals that the plan may have for its root.
        alternatives: the alternatives of each goal below the roots.

    Returns:
        The plan; None if the alternatives do not suffice for one.
    """
    priced = {
        goal: [(choice.local, inputs) for choice, inputs in choices]
        for goal, choices in alternatives.items()
    }
    winners: dict[GoalKey, Winner] = {}
    for settled in cheapest(priced):
        assert settled.alternative is not None
        taken = alternatives[settled.goal][settled.alternative]
        winners[settled.goal.key] = taken.winner(settled.cost)
    complete = [goal.key for goal in roots if goal.key in winners]
    if not complete:
        return None
    return Selection(min(complete, key=lambda key: winners[key].cost), winners)

"""The goal table: the goals of one search, their alternatives, and their winners."""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra.properties import RequiredProperties
from ..memo import GroupId
from .coster import Coster
from .enforcers import enforcers
from .events import Events
from .goals import Alternative, Choice, Goal
from .physical_properties import child_requirements


class GoalTable:
    """One :class:`Goal` for each group and required properties that the search asked for."""

    def __init__(self, coster: Coster, events: Events) -> None:
        self.coster = coster
        self._groups = coster.groups
        self._events = events
        self._goals: dict[tuple[GroupId, RequiredProperties], Goal] = {}

    def __iter__(self) -> Iterator[Goal]:
        """The goals of groups that were not merged away, in the order of their creation."""
        alive = self._groups.alive
        return iter([goal for goal in self._goals.values() if goal.group in alive])

    def goal(self, group: GroupId, required: RequiredProperties) -> Goal:
        """The goal of a group under properties."""
        key = (self._groups.find(group), required)
        goal = self._goals.get(key)
        if goal is None:
            goal = self._goals[key] = Goal(*key)
        return goal

    def physical_alternatives(self, goal: Goal) -> tuple[Alternative, ...]:
        """The alternatives by an operator that computes the group, the cheapest operator first."""
        if goal.physical is None:
            goal.physical = tuple(self._physical(goal))
        return goal.physical

    def enforced_alternatives(self, goal: Goal) -> tuple[Alternative, ...]:
        """The enforcers that lead to a goal, each over a weaker goal of the same group."""
        if goal.enforced is None:
            goal.enforced = tuple(
                [
                    Alternative(choice, (self.goal(goal.group, weaker),))
                    for choice, weaker in enforcers(self.coster, goal.group, goal.required)
                ]
            )
        return goal.enforced

    def _physical(self, goal: Goal) -> list[Alternative]:
        coster = self.coster
        alternatives: list[Alternative] = []
        for choice in coster.choices(goal.group):
            widths = coster.widths(choice)
            repeats = coster.repeats(choice)
            for children in child_requirements(
                choice.operator, widths, goal.required, coster.parallelism, repeats
            ):
                placed = coster.placed(
                    choice,
                    goal.group,
                    children.divided,
                    children.result_divided,
                    tuple([required.coalesced for required in children.required]),
                )
                below_goals = zip(choice.inputs, children.required, strict=True)
                alternatives.append(
                    Alternative(placed, tuple([self.goal(*below) for below in below_goals]))
                )
        if coster.parallelism > 1:
            alternatives.sort(key=lambda alternative: alternative.choice.local)
        return alternatives

    def alternatives(self, goal: Goal) -> Iterator[Alternative]:
        """All alternatives of a goal, enforcers last."""
        yield from self.physical_alternatives(goal)
        yield from self.enforced_alternatives(goal)

    def set_winner(self, goal: Goal, choice: Choice, inputs: tuple[Goal, ...], cost: float) -> None:
        """Records a plan that is cheaper than the goal's earlier plans."""
        before = None if goal.best is None else goal.best.cost
        goal.best = Alternative(choice, inputs).winner(cost)
        group = self._groups[goal.group]
        group.winners[goal.required] = goal.best
        self._events.winner_changed(group.id, goal, inputs, before)

    def forget(self) -> None:
        """Forgets all goals and winners, so that everything is costed anew."""
        self._goals.clear()
        self.coster.forget()
        for group in self._groups:
            group.winners.clear()
        self._events.costs_forgotten()

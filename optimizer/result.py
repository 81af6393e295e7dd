"""The result of a search, and the memo that it leaves, as immutable values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..algebra.logical import WScan
from ..algebra.plan import PhysicalPlan
from ..algebra.properties import DeliveredProperties, RequiredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import Group, GroupExpression, GroupId, Memo, Winner
from .as_written import KeptAsWritten
from .budget import StopReason
from .events import RuleStatistics
from .extraction import delivered_by_winners
from .goal_table import GoalTable
from .goals import Choice, Goal, GoalKey
from .plans import Plans
from .steps import Step, shared_cost
from .trace import Trace
from .why import MOST_ALTERNATIVES, Reason, goals_of, reasons


@dataclass(frozen=True, slots=True)
class FoundAlternative:
    """An alternative of a goal when the search ended.

    ``inputs`` are the goals that the choice reads. ``at_least`` is a lower bound of its cost per
    time unit, or the cost itself if ``exact``.
    """

    choice: Choice
    inputs: tuple[tuple[GroupId, RequiredProperties], ...]
    at_least: float
    exact: bool


@dataclass(frozen=True, slots=True)
class FoundGoal:
    """A goal when the search ended; see :class:`headrace.optimizer.goals.Goal`.

    A goal has no ``alternatives`` if none was tried, because every alternative that reads the goal
    was pruned on its other costs.
    """

    required: RequiredProperties
    done: bool
    at_least: float
    alternatives: tuple[FoundAlternative, ...]


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A group when the search ended.

    Attributes:
        id: the number of the group.
        width: the number of columns.
        scans: the windowed scans that it reads, without their predicates.
        estimate: the estimated characteristics of its rows.
        expressions: its members.
        winners: its cheapest plans by required properties, with the properties that they deliver;
            None where an input has no winner.
        goals: the goals of the group, one for each set of required properties.
    """

    id: GroupId
    width: int
    scans: tuple[WScan, ...]
    estimate: Characteristics
    expressions: tuple[GroupExpression, ...]
    winners: Mapping[RequiredProperties, tuple[Winner, DeliveredProperties | None]]
    goals: tuple[FoundGoal, ...]


class SearchSpace:
    """The memo of a search that has ended, with its goals and costs, for reading."""

    def __init__(self, memo: Memo, goals: GoalTable) -> None:
        self._memo = memo
        self._goals = goals

    def groups(self) -> tuple[FoundGroup, ...]:
        """All groups, by their numbers."""
        delivered = delivered_by_winners(self._goals.coster)
        wanted: dict[GroupId, list[Goal]] = {}
        for goal in self._goals:
            wanted.setdefault(goal.group, []).append(goal)
        return tuple(
            self._group(group, wanted.get(group.id, []), delivered) for group in self._memo.groups
        )

    def requirements(
        self,
        best: Step,
        required: RequiredProperties,
        winners: Mapping[GoalKey, Winner] | None = None,
    ) -> dict[int, RequiredProperties]:
        """The requirement that each node of a plan meets, by the node's number."""
        goals = goals_of(self._goals, best, required, winners)
        return {node: goal.required for node, goal in goals.items()}

    def reasons(
        self,
        best: Step,
        required: RequiredProperties,
        *,
        most: int = MOST_ALTERNATIVES,
        winners: Mapping[GoalKey, Winner] | None = None,
    ) -> dict[int, Reason]:
        """See :func:`headrace.optimizer.why.reasons`."""
        return reasons(self._memo, self._goals, best, required, most=most, winners=winners)

    def alternatives(
        self, group: GroupId, required: object
    ) -> Iterator[tuple[float, tuple[tuple[GroupId, RequiredProperties], ...]]]:
        """All alternatives of a goal, in the form that :meth:`headrace.memo.Memo.check` takes."""
        assert isinstance(required, RequiredProperties)
        for choice, inputs in self._goals.alternatives(self._goals.goal(group, required)):
            yield choice.local, tuple((g.group, g.required) for g in inputs)

    def _group(
        self,
        group: Group,
        goals: list[Goal],
        delivered: Mapping[tuple[GroupId, RequiredProperties], DeliveredProperties],
    ) -> FoundGroup:
        coster = self._goals.coster
        winners = {
            required: (winner, delivered.get((group.id, required)))
            for required, winner in group.winners.items()
            if isinstance(required, RequiredProperties)
        }
        return FoundGroup(
            group.id,
            group.properties.width,
            coster.algebra.scans(group.properties),
            coster.estimate(group.id),
            tuple(group.expressions),
            winners,
            tuple(map(self._goal, goals)),
        )

    def _goal(self, goal: Goal) -> FoundGoal:
        tried = goal.best is not None or goal.failed >= 0
        alternatives = self._goals.alternatives(goal) if tried else ()
        return FoundGoal(
            goal.required,
            goal.done,
            goal.at_least,
            tuple(
                FoundAlternative(
                    a.choice, tuple((g.group, g.required) for g in a.inputs), a.at_least, a.settled
                )
                for a in alternatives
            ),
        )


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        plan: the chosen plan: the cheapest one, or the plan as written within the margin.
        best: its steps.
        required: the root's properties in the plan; None if the plan is the start plan of the
            search or the canonical plan.
        canonical_plan: the plan of the query as written.
        canonical_cost: the cost of its tree per time unit.
        canonical_shared_cost: its cost per time unit with shared sub-plans counted once.
        memo: the equivalent expressions that were found.
        root: the memo's group of the whole query.
        space: the memo with goals and costs, for reading.
        physical_expressions: the number of physical operators over groups that were priced.
        stop_reason: why the search ended.
        circular: whether groups read each other in a circle, so that goals were settled again.
        optimize_ms: the milliseconds of the search.
        rules: statistics by rule name.
        plans: all complete plans of the memo.
        shared_costs: whether the shared cost was minimised, and not the cost of the tree.
        winners: the alternative that the plan takes for each goal; None if those are the cheapest.
        kept_as_written: why the plan is the one as written; None if it is the cheapest one.
        trace: the steps of the search, if it recorded them.
    """

    plan: PhysicalPlan
    best: Step
    required: RequiredProperties | None
    canonical_plan: PhysicalPlan
    canonical_cost: float
    canonical_shared_cost: float
    memo: Memo
    root: GroupId
    space: SearchSpace
    physical_expressions: int
    stop_reason: StopReason
    circular: bool
    optimize_ms: float
    rules: Mapping[str, RuleStatistics]
    plans: Plans
    shared_costs: bool = False
    winners: Mapping[GoalKey, Winner] | None = None
    kept_as_written: KeptAsWritten | None = None
    trace: Trace | None = None

    @property
    def cost(self) -> float:
        """The cost of the plan's tree per time unit."""
        return self.best.cost

    @property
    def shared_cost(self) -> float:
        """The cost of the plan with shared sub-plans counted once."""
        return shared_cost(self.best)

    def reasons(self) -> dict[int, Reason]:
        """The reason of each node of the plan, by its number.

        Empty if the search found no cheaper plan than its start plan or the canonical plan.
        """
        if self.required is None:
            return {}
        return self.space.reasons(self.best, self.required, winners=self.winners)

    def requirements(self) -> dict[int, RequiredProperties]:
        """The requirement that each node of the plan meets; empty as :meth:`reasons` are."""
        if self.required is None:
            return {}
        return self.space.requirements(self.best, self.required, self.winners)

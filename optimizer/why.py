"""The reasons for a plan, operator by operator.

For each node: the rules that made its logical expression from the query as written, the operator
that runs it, the cheapest other alternative of the same goal, and the difference of their costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf

from ..algebra.properties import RequiredProperties
from ..memo import GroupExpression, GroupId, Memo, Winner
from ..memo.cheapest import cheapest
from .goal_table import GoalTable
from .goals import Alternative, Choice, Goal, GoalKey
from .steps import Step, in_order

MOST_ALTERNATIVES = 5000
"""The most alternatives that are priced below the alternatives that the search pruned."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An alternative that was not chosen, under its enforcers, outermost first."""

    alternative: Alternative
    enforcers: tuple[Choice, ...] = ()

    @property
    def choice(self) -> Choice:
        """The operator below the enforcers."""
        return self.alternative.choice

    @property
    def inputs(self) -> tuple[Goal, ...]:
        """The goals that it reads."""
        return self.alternative.inputs

    @property
    def local(self) -> float:
        """The costs of the operators themselves."""
        return sum([enforcer.local for enforcer in self.enforcers], self.choice.local)

    @property
    def at_least(self) -> float:
        """A lower bound of its cost."""
        return sum([below.at_least for below in self.inputs], self.local)


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The cheapest other alternative of a goal, over the best plans of its inputs.

    Attributes:
        choice: its operator.
        required: the properties required of its inputs.
        enforcers: the enforcers on it, the outermost first.
        cost: its cost per time unit. For a pruned alternative the cost over the explored part of
            its inputs, or infinity if that part is too large to add up.
        exact: whether the cost is exact, that is, the search did not prune the alternative.
        at_least: a lower bound of its cost.
        own: the part of the difference to the winner that its own operators make; positive where
            the winner is cheaper.
        inputs: the part of the difference that its inputs make.
    """

    choice: Choice
    required: tuple[RequiredProperties, ...]
    enforcers: tuple[Choice, ...]
    cost: float
    exact: bool
    at_least: float
    own: float
    inputs: float

    @property
    def difference(self) -> float:
        """The difference to the cost of the winner, per time unit."""
        return self.own + self.inputs


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for a node of the plan.

    Attributes:
        group: the group that the node computes.
        required: the properties required of the group.
        winner: the plan of the group under the required properties, the cheapest one unless the
            search chose the plan as written.
        choice: the operator of the winner.
        lineage: the expressions from one of the query as written to the one that is run, each
            made by its rule from the one before; empty for an enforcer.
        alternatives: the number of alternatives.
        mirrored: the number of alternatives with the same inputs in another order and equal cost.
        runner_up: the cheapest of the other alternatives; None if there was none.
    """

    group: GroupId
    required: RequiredProperties
    winner: Winner
    choice: Choice
    lineage: tuple[GroupExpression, ...]
    alternatives: int
    mirrored: int
    runner_up: RunnerUp | None


def reasons(
    memo: Memo,
    goals: GoalTable,
    best: Step,
    required: RequiredProperties,
    *,
    most: int = MOST_ALTERNATIVES,
    winners: Mapping[GoalKey, Winner] | None = None,
) -> dict[int, Reason]:
    """The reason of each node of a plan, by the node's number in the plan.

    Args:
        memo: the memo of a finished search.
        goals: its goals.
        best: the plan.
        required: the properties of the plan's root.
        most: the most alternatives that are priced below the alternatives that the search pruned.
        winners: the alternative that the plan takes for each goal; None for the cheapest ones.
    """
    why = _Why(memo, goals, most)
    return {
        node: why.reason(goal, winner)
        for node, goal in goals_of(goals, best, required, winners).items()
        if (winner := _winner(goal, winners)) is not None
    }


def goals_of(
    goals: GoalTable,
    best: Step,
    required: RequiredProperties,
    winners: Mapping[GoalKey, Winner] | None = None,
) -> dict[int, Goal]:
    """The goal that each node of a plan reaches, by the node's number in the plan."""
    reached: dict[int, Goal] = {}
    assert best.group is not None
    pending = [(best, goals.goal(best.group, required))]
    while pending:
        step, goal = pending.pop()
        winner = _winner(goal, winners)
        if id(step) in reached or winner is None:
            continue
        reached[id(step)] = goal
        pending += zip(step.inputs, _below(goals, winner), strict=True)
    return {
        node: reached[id(step)]
        for node, (step, _) in enumerate(in_order(best))
        if id(step) in reached
    }


def _winner(goal: Goal, winners: Mapping[GoalKey, Winner] | None) -> Winner | None:
    return goal.best if winners is None else winners.get(goal.key)


class _Why:
    """Reads the goals of a search that has ended, and changes none."""

    def __init__(self, memo: Memo, goals: GoalTable, most: int) -> None:
        self._memo = memo
        self._goals = goals
        self._room = most
        self._alternatives: dict[Goal, tuple[Alternative, ...]] = {}
        self._costs: dict[Goal, float] = {}

    def reason(self, goal: Goal, winner: Winner) -> Reason:
        """The reason of the alternative that the plan takes for a goal."""
        choice = _choice(winner)
        others: list[Rival] = []
        mirrored = 0
        for rival in self._rivals(goal, winner, choice):
            if self._mirrors(rival.alternative, winner):
                mirrored += 1
            else:
                others.append(rival)
        return Reason(
            goal.group,
            goal.required,
            winner,
            choice,
            lineage(self._expressions.get(choice.source)),
            1 + mirrored + len(others),
            mirrored,
            self._runner_up(others, winner),
        )

    def _runner_up(self, others: list[Rival], winner: Winner) -> RunnerUp | None:
        exact = [rival for rival in others if rival.alternative.settled]
        best = min((rival.at_least for rival in exact), default=inf)
        # Price a pruned alternative only if it may be cheaper than the best exact one.
        pruned = [r for r in others if not r.alternative.settled and r.at_least < best]
        self._price(below for rival in (*exact, *pruned) for below in rival.inputs)
        priced = [(self._cost_of(rival), rival.at_least, rival) for rival in (*exact, *pruned)]
        if not priced:
            return None
        # An alternative with too many goals below to price counts with its lower bound.
        cost, at_least, rival = min(
            priced, key=lambda p: (p[1] if isinf(p[0]) else p[0], p[2].choice.source)
        )
        inputs = (cost - rival.local) - (winner.cost - winner.local)
        return RunnerUp(
            rival.choice,
            tuple(below.required for below in rival.inputs),
            rival.enforcers,
            cost,
            rival.alternative.settled,
            at_least,
            _unless_rounding(rival.local - winner.local, winner.cost),
            _unless_rounding(inputs, winner.cost),
        )

    def _rivals(self, goal: Goal, winner: Winner, chosen: Choice) -> Iterator[Rival]:
        """Every alternative but the one chosen.

        An enforcer is listed with each operator that it could stand on. It is left out on the
        chosen operator over the same inputs, which needs no enforcer.
        """
        below = _below(self._goals, winner)
        pending: list[tuple[Goal, tuple[Choice, ...]]] = [(goal, ())]
        seen = {goal}
        for at, enforcers in pending:
            for alternative in self._alternatives_of(at):
                choice, inputs = alternative
                if _same(choice, chosen) and inputs == below:
                    continue
                if enforcers and self._mirrors(alternative, winner):
                    continue
                if choice.source >= 0 or chosen.source < 0:
                    yield Rival(alternative, enforcers)
                elif inputs[0] not in seen:
                    seen.add(inputs[0])
                    pending.append((inputs[0], (*enforcers, choice)))

    def _mirrors(self, alternative: Alternative, winner: Winner) -> bool:
        """Whether one reads the winner's inputs in another order, at the same cost."""
        choice, inputs = alternative
        return (
            type(choice.operator) is type(_choice(winner).operator)
            and choice.local == winner.local
            and sorted(map(id, inputs)) == sorted(map(id, _below(self._goals, winner)))
        )

    def _alternatives_of(self, goal: Goal) -> tuple[Alternative, ...]:
        alternatives = self._alternatives.get(goal)
        if alternatives is None:
            alternatives = self._alternatives[goal] = tuple(self._goals.alternatives(goal))
        return alternatives

    def _cost_of(self, rival: Rival) -> float:
        return sum([self._costs[below] for below in rival.inputs], rival.local)

    def _price(self, goals: Iterable[Goal]) -> None:
        """Prices goals: by their winners, else by their cheapest explored alternatives."""
        unpriced: dict[Goal, list[tuple[float, tuple[Goal, ...]]]] = {}
        pending = list(goals)
        while pending:
            goal = pending.pop()
            if goal in self._costs:
                continue
            winner = goal.best
            self._costs[goal] = inf if winner is None else winner.cost
            if winner is None and self._room > 0:
                alternatives = self._alternatives_of(goal)
                unpriced[goal] = [(choice.local, inputs) for choice, inputs in alternatives]
                self._room -= len(alternatives)
                pending += [below for _, inputs in alternatives for below in inputs]
        read = (
            below
            for alternatives in unpriced.values()
            for _, inputs in alternatives
            for below in inputs
        )
        priced = {goal: self._costs[goal] for goal in read if goal not in unpriced}
        for settled in cheapest(unpriced, priced):
            self._costs[settled.goal] = settled.cost

    @cached_property
    def _expressions(self) -> dict[int, GroupExpression]:
        return {e.id: e for e in self._memo.expressions}


def _below(goals: GoalTable, winner: Winner) -> tuple[Goal, ...]:
    """The goals that a winner reads."""
    return tuple([goals.goal(group, _required(properties)) for group, properties in winner.inputs])


def _choice(winner: Winner) -> Choice:
    assert isinstance(winner.choice, Choice)
    return winner.choice


def lineage(expression: GroupExpression | None) -> tuple[GroupExpression, ...]:
    """The chain of source expressions from an expression of the query to ``expression``."""
    steps: list[GroupExpression] = []
    while expression is not None:
        steps.append(expression)
        expression = expression.source
    return tuple(reversed(steps))


def _same(one: Choice, other: Choice) -> bool:
    return (one.operator, one.inputs) == (other.operator, other.inputs)


def _unless_rounding(difference: float, whole: float) -> float:
    """A difference, or 0 if it is within the rounding error of float sums."""
    return difference if abs(difference) > 1e-9 * abs(whole) else 0.0


def _required(properties: object) -> RequiredProperties:
    assert isinstance(properties, RequiredProperties)
    return properties

"""Why the chosen plan is as it is, operator by operator.

For each node: by which rules its logical expression came from the query as written, what runs
it, which other way to the same goal would have been the cheapest, and what decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf

from ..algebra.properties import RequiredProperties
from ..memo import GroupExpression, GroupId, Winner
from ..memo.cheapest import cheapest
from .goals import Choice, Goal
from .search import Search
from .steps import Step, in_order

MOST_WAYS = 5000
"""How many ways are looked at below those that the search left."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a goal: an operator over the goals of its inputs, under enforcers, if any."""

    choice: Choice
    inputs: tuple[Goal, ...]
    enforcers: tuple[Choice, ...] = ()

    @property
    def local(self) -> float:
        """What the operators themselves cost."""
        return sum([enforcer.local for enforcer in self.enforcers], self.choice.local)


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The cheapest other way to a goal, over the best plans of its inputs.

    ``required`` is what ``choice`` asks of its inputs; ``enforcers`` stand on it, the outermost
    first. ``cost`` is known exactly if ``exact``. Else the search left the way once it was
    sure to cost more than the winner: at least ``at_least``, and ``cost`` over what was
    explored of its inputs before, infinite if that is too much to add up. ``own`` is the part
    of the difference to the winner that the operators themselves make, ``inputs`` the part of
    what they read; positive where the winner is cheaper.
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
        """How much more it costs per time unit."""
        return self.own + self.inputs


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a node of the plan is what it is.

    ``lineage`` leads from an expression of the query as written to the one that is run, each
    made by its rule from the one before; empty for an enforcer. ``winner`` is the plan of
    ``group`` under ``required``. ``ways`` are how many there were, and ``mirrored`` how many
    of them read the same inputs in another order at the same cost. ``runner_up`` is None if
    there was no other way.
    """

    group: GroupId
    required: RequiredProperties
    winner: Winner
    choice: Choice
    lineage: tuple[GroupExpression, ...]
    ways: int
    mirrored: int
    runner_up: RunnerUp | None


def reasons(
    search: Search, best: Step, required: RequiredProperties, most_ways: int = MOST_WAYS
) -> dict[int, Reason]:
    """The reason of each node of a plan of winners, by the node's number in the plan.

    ``best`` is the plan that the search found for its root under ``required``.
    """
    why = _Why(search, most_ways)
    return {node: why.reason(goal) for node, goal in goals_of(search, best, required).items()}


def goals_of(search: Search, best: Step, required: RequiredProperties) -> dict[int, Goal]:
    """The goal that each node of a plan of winners reaches, by the node's number in the plan."""
    goals: dict[int, Goal] = {}
    assert best.group is not None
    pending = [(best, search.goal(best.group, required))]
    while pending:
        step, goal = pending.pop()
        if id(step) in goals or goal.best is None:
            continue
        goals[id(step)] = goal
        below = [search.goal(group, _required(asked)) for group, asked in goal.best.inputs]
        pending += zip(step.inputs, below, strict=True)
    return {
        node: goals[id(step)] for node, (step, _) in enumerate(in_order(best)) if id(step) in goals
    }


class _Why:
    """Looks at the goals of a search that has ended, and changes none."""

    def __init__(self, search: Search, most_ways: int) -> None:
        self._search = search
        self._room = most_ways
        self._ways: dict[int, tuple[Way, ...]] = {}
        self._costs: dict[Goal, float] = {}

    def reason(self, goal: Goal) -> Reason:
        """The reason of a goal's winner."""
        winner = goal.best
        assert winner is not None
        choice = winner.choice
        assert isinstance(choice, Choice)
        others: list[Way] = []
        mirrored = 0
        for way in self._alternatives(goal, choice):
            if self._mirrors(way, winner):
                mirrored += 1
            else:
                others.append(way)
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

    def _runner_up(self, others: list[Way], winner: Winner) -> RunnerUp | None:
        settled = [way for way in others if _done(way)]
        best = min((_least_cost(way) for way in settled), default=inf)
        # Only what might be cheaper than the best of those known is looked at any further.
        open_ways = [way for way in others if not _done(way) and _least_cost(way) < best]
        self._cost_all(below for way in (*settled, *open_ways) for below in way.inputs)
        priced = [(self._cost_of(way), _least_cost(way), way) for way in (*settled, *open_ways)]
        if not priced:
            return None
        # What could not be added up counts as what it costs at least.
        cost, at_least, way = min(
            priced, key=lambda p: (p[1] if isinf(p[0]) else p[0], p[2].choice.source)
        )
        inputs = (cost - way.local) - (winner.cost - winner.local)
        return RunnerUp(
            way.choice,
            tuple(below.required for below in way.inputs),
            way.enforcers,
            cost,
            _done(way),
            at_least,
            _unless_rounding(way.local - winner.local, winner.cost),
            _unless_rounding(inputs, winner.cost),
        )

    # -- the ways to a goal ---------------------------------------------------------------

    def _alternatives(self, goal: Goal, chosen: Choice) -> Iterator[Way]:
        """Every way but the one chosen.

        An enforcer is shown on each operator that it could stand on, and left out on the
        chosen one over the same inputs, which does without it.
        """
        winner = goal.best
        assert winner is not None
        pending: list[tuple[Goal, tuple[Choice, ...]]] = [(goal, ())]
        seen = {id(goal)}
        for at, enforcers in pending:
            for way in self._ways_to(at):
                if _same(way.choice, chosen) and way.inputs == self._below(winner):
                    continue
                if enforcers and self._mirrors(way, winner):
                    continue
                if way.choice.source >= 0 or chosen.source < 0:
                    yield Way(way.choice, way.inputs, enforcers)
                elif id(way.inputs[0]) not in seen:
                    seen.add(id(way.inputs[0]))
                    pending.append((way.inputs[0], (*enforcers, way.choice)))

    def _mirrors(self, way: Way, winner: Winner) -> bool:
        """Whether a way reads the winner's inputs in another order, at the same cost."""
        choice = winner.choice
        assert isinstance(choice, Choice)
        return (
            type(way.choice.operator) is type(choice.operator)
            and way.local == winner.local
            and sorted(map(id, way.inputs)) == sorted(map(id, self._below(winner)))
        )

    def _below(self, winner: Winner) -> tuple[Goal, ...]:
        """What a winner reads."""
        inputs = winner.inputs
        return tuple([self._search.goal(group, _required(asked)) for group, asked in inputs])

    def _ways_to(self, goal: Goal) -> tuple[Way, ...]:
        known = self._ways.get(id(goal))
        if known is None:
            known = self._ways[id(goal)] = tuple(
                Way(choice, inputs) for choice, inputs in self._search.ways(goal)
            )
        return known

    def _cost_of(self, way: Way) -> float:
        return sum([self._costs[below] for below in way.inputs], way.local)

    def _cost_all(self, goals: Iterable[Goal]) -> None:
        """Prices goals: winners where the search ended, else the cheapest of what it explored."""
        unpriced: dict[Goal, list[tuple[float, tuple[Goal, ...]]]] = {}
        pending = list(goals)
        while pending:
            goal = pending.pop()
            if goal in self._costs:
                continue
            known = goal.best
            self._costs[goal] = inf if known is None else known.cost
            if known is None and self._room > 0:
                ways = self._ways_to(goal)
                unpriced[goal] = [(way.local, way.inputs) for way in ways]
                self._room -= len(ways)
                pending += [below for way in ways for below in way.inputs]
        read = (below for ways in unpriced.values() for _, inputs in ways for below in inputs)
        priced = {goal: self._costs[goal] for goal in read if goal not in unpriced}
        for settled in cheapest(unpriced, priced):
            self._costs[settled.goal] = settled.cost

    @cached_property
    def _expressions(self) -> dict[int, GroupExpression]:
        return {e.id: e for e in self._search.memo.expressions}


def lineage(expression: GroupExpression | None) -> tuple[GroupExpression, ...]:
    """The expressions that rules made one from the other, up to this one; the first is the
    query's own."""
    found: list[GroupExpression] = []
    while expression is not None:
        found.append(expression)
        expression = expression.source
    return tuple(reversed(found))


def _same(one: Choice, other: Choice) -> bool:
    return (one.operator, one.inputs) == (other.operator, other.inputs)


def _unless_rounding(difference: float, whole: float) -> float:
    """A difference, or nothing if it is no more than what adding floats leaves."""
    return difference if abs(difference) > 1e-9 * abs(whole) else 0.0


def _done(way: Way) -> bool:
    """Whether the search knows exactly what a way costs."""
    return all(below.done for below in way.inputs)


def _least_cost(way: Way) -> float:
    """What a way certainly costs."""
    return sum([below.at_least for below in way.inputs], way.local)


def _required(properties: object) -> RequiredProperties:
    assert isinstance(properties, RequiredProperties)
    return properties

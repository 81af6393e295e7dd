"""The plan of the least *shared cost*, which counts a sub-plan that is used several times once.

The tree cost, which branch and bound minimises, adds up over the inputs of an operator. The shared
cost does not: whether a sub-plan has to be paid for depends on the rest of the plan. To minimise it
is multi-query optimization, which is NP-hard (T. Sellis, "Multiple-query optimization", TODS 13(1),
1988). This module follows the greedy algorithm of P. Roy, S. Seshadri, S. Sudarshan and S. Bhobe
("Efficient and extensible algorithms for multi query optimization", SIGMOD 2000). A goal in a set
of *free* goals costs nothing where it is read. For each set the cheapest trees are a plan, and its
shared cost is counted exactly. Goals enter and leave the set as long as the plan becomes cheaper.
So do indexes of inputs that two joins may hold together: a join that reads a free index costs less.
As one of the readers has to pay for what is free, the plan then takes other alternatives of its
goals, one at a time, as long as it becomes cheaper.

Each of these plans is a plan of the plan space. The result may miss the optimum; bench/sharing.py
compares it with all plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from operator import attrgetter

from ..algebra.logical import WScan, WScanUnion
from ..algebra.physical import IndexForm, PhysicalOperator, index_forms
from ..memo import Groups, Winner
from .goal_table import GoalTable
from .goals import Alternative, Goal, GoalKey
from .selection import Selection
from .steps import saved_by_sharing

MOST_ALTERNATIVES = 4_000
"""The most alternatives of a memo whose plans are compared by shared cost."""
MOST_VISITS = 40_000
"""The most alternatives that are added up, in all sets of free goals together."""


@dataclass(frozen=True, slots=True)
class _Priced:
    """An alternative with the numbers of the goals that it reads.

    ``sides`` has the number of the index of each input that others may share, with what the
    alternative costs less if one does; ``saved`` has the latter for all inputs.
    """

    local: float
    inputs: tuple[int, ...]
    alternative: Alternative
    saved: tuple[float, ...]
    sides: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan: its shared cost, its root, and the alternative that it takes for each goal."""

    cost: float
    root: int
    taken: Sequence[_Priced | None]


def least_shared(
    goals: GoalTable, roots: Sequence[Goal], stopped: Callable[[], bool] = lambda: False
) -> Selection | None:
    """The plan of the least shared cost that the greedy algorithm comes to.

    Args:
        goals: the goals of a finished search.
        roots: the goals that the plan may have for its root.
        stopped: whether the time is over.

    Returns:
        The plan; None if no sub-plan can be used twice, or there are too many alternatives.
    """
    if not may_share(goals.coster.groups):
        return None
    graph = _Graph.of(goals, roots, stopped)
    if graph is None or not graph.reusable:
        return None
    return graph.selection(_least(graph, stopped))


def may_share(groups: Groups) -> bool:
    """Whether two inputs of an expression read a scan both, so that a plan may use it twice."""
    for group in groups:
        for expression in group.expressions:
            before = 0
            for below in expression.inputs:
                scans = groups[below].properties.scans
                if before & scans:
                    return True
                before |= scans
    return False


def _least(graph: _Graph, stopped: Callable[[], bool]) -> _Plan:
    """The cheapest of the plans that the algorithm comes to from several sets of free goals."""
    visits = count(MOST_VISITS // max(graph.alternatives, 1), -1)

    def over() -> bool:
        return next(visits) <= 0 or stopped()

    sets = (), graph.scans, graph.reusable, graph.indexes, (*graph.reusable, *graph.indexes)
    plans = {free: graph.plan(free) for free in map(frozenset, sets)}
    free, best = min(plans.items(), key=lambda one: one[1].cost)
    begun = graph.different([*plans.values(), _improved(graph, free, best, over)])
    return min((_exchanged(graph, plan, over) for plan in begun), key=attrgetter("cost"))


def _improved(graph: _Graph, free: frozenset[int], best: _Plan, over: Callable[[], bool]) -> _Plan:
    """Lets reusable goals enter and leave the set of free goals, while that makes plans cheaper."""
    better = True
    while better:
        better = False
        for goal in graph.by_cost(best):
            if over():
                return best
            changed = free ^ {goal}
            plan = graph.plan(changed)
            if plan.cost < best.cost * (1 - 1e-9):
                free, best, better = changed, plan, True
    return best


def _exchanged(graph: _Graph, best: _Plan, over: Callable[[], bool]) -> _Plan:
    """Takes other alternatives of single goals of a plan, while that makes it cheaper."""
    better = True
    while better:
        better = False
        for plan in graph.neighbours(best):
            if over():
                return best
            if plan.cost < best.cost * (1 - 1e-9):
                best, better = plan, True
                break
    return best


def _cheapest_over(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """The alternatives without those that read the same goals, by the same indexes if others may
    share them, as a cheaper one."""
    cheapest: dict[Hashable, Alternative] = {}
    for alternative in alternatives:
        inputs = tuple(map(id, alternative.inputs))
        forms = index_forms(alternative.choice.operator)
        read = tuple(sorted(inputs)), frozenset(zip(inputs, forms, strict=False))
        other = cheapest.get(read)
        if other is None or alternative.choice.local < other.choice.local:
            cheapest[read] = alternative
    return list(cheapest.values())


def _with_indexes(
    goals: Sequence[Sequence[_Priced]],
) -> tuple[tuple[int, ...], tuple[tuple[_Priced, ...], ...]]:
    """Numbers the indexes that two sides of alternatives may read, after the goals."""
    sides: Counter[tuple[int, IndexForm]] = Counter()
    for priced in goals:
        for one in priced:
            sides.update(_indexes_of(one))
    shared = [index for index, count in sides.items() if count > 1]
    number = {index: len(goals) + k for k, index in enumerate(shared)}
    numbered = tuple([tuple([_with_sides(one, number) for one in priced]) for priced in goals])
    return tuple(number.values()), numbered


def _indexes_of(one: _Priced) -> list[tuple[int, IndexForm]]:
    """The goal and the form of each index of an alternative that others may share."""
    if not one.saved:
        return []
    return list(zip(one.inputs, index_forms(one.alternative.choice.operator), strict=True))


def _with_sides(one: _Priced, number: Mapping[tuple[int, IndexForm], int]) -> _Priced:
    parts = zip(_indexes_of(one), one.saved, strict=True)
    sides = tuple([(number[index], part) for index, part in parts if index in number])
    return replace(one, sides=sides) if sides else one


class _Graph:
    """The goals below the roots with their alternatives, each goal after those that it reads.

    Attributes:
        alternatives: the number of alternatives.
        reusable: the numbers of the goals that a plan may use twice.
        scans: those of them that are scans.
        indexes: the numbers of the indexes of inputs that a plan may use twice; they follow those
            of the goals.
    """

    def __init__(self, goals: GoalTable, roots: tuple[int, ...], priced: dict[Goal, list[_Priced]]):
        self._goals = tuple(priced)
        self.indexes, self._priced = _with_indexes(tuple(map(tuple, priced.values())))
        self._roots = roots
        self.alternatives = sum(map(len, self._priced))
        self.reusable = tuple(self._used_twice())
        groups = goals.coster.groups
        self.scans = tuple(
            k
            for k in self.reusable
            if (group := groups[self._goals[k].group]).has(WScan) or group.has(WScanUnion)
        )

    @classmethod
    def of(
        cls, goals: GoalTable, roots: Sequence[Goal], stopped: Callable[[], bool]
    ) -> _Graph | None:
        """The graph below the roots; None if it is too large.

        Where groups read each other in a circle, an alternative that closes the circle is left out.
        """
        number: dict[Goal, int] = {}
        done: dict[Goal, list[_Priced]] = {}
        active: dict[Goal, list[Alternative]] = {}
        room = MOST_ALTERNATIVES
        pending = list(reversed(roots))
        while pending:
            goal = pending[-1]
            if goal in number:
                pending.pop()
            elif goal not in active:
                active[goal] = _cheapest_over(goals.alternatives(goal))
                room -= len(active[goal])
                if room < 0 or stopped():
                    return None
                missing = [i for a in active[goal] for i in a.inputs]
                pending += [i for i in missing if i not in number and i not in active]
            else:
                pending.pop()
                saved = goals.coster.saved
                done[goal] = [
                    _Priced(
                        a.choice.local, tuple([number[i] for i in a.inputs]), a, saved(a.choice)
                    )
                    for a in active.pop(goal)
                    if all(i in number for i in a.inputs)
                ]
                number[goal] = len(number)
        return cls(goals, tuple(number[goal] for goal in roots), done)

    def _used_twice(self) -> Iterator[int]:
        """The goals that two inputs of one alternative may reach; sets are bits of a number."""
        reached: list[int] = []
        twice = 0
        for k, priced in enumerate(self._priced):
            below = 1 << k
            for one in priced:
                before = 0
                for i in one.inputs:
                    twice |= before & reached[i]
                    before |= reached[i]
                below |= before
            reached.append(below)
        for k in range(len(reached)):
            if twice >> k & 1:
                yield k

    def plan(self, free: frozenset[int]) -> _Plan:
        """The plan of the cheapest trees, if goals and indexes in ``free`` cost nothing where they
        are read."""
        costs: list[float] = []
        own: list[float] = []
        taken: list[_Priced | None] = []
        for k, priced in enumerate(self._priced):
            least, cheapest = inf, None
            for one in priced:
                cost = one.local
                for index, part in one.sides:
                    if index in free:
                        cost -= part
                for i in one.inputs:
                    cost += costs[i]
                if cost < least:
                    least, cheapest = cost, one
            own.append(least)
            costs.append(0.0 if k in free and cheapest is not None else least)
            taken.append(cheapest)
        root = min(self._roots, key=own.__getitem__)
        return _Plan(self._shared_cost(root, taken), root, taken)

    def _shared_cost(self, root: int, taken: Sequence[_Priced | None]) -> float:
        """The cost of a plan with equal operators over equal inputs, and equal indexes of equal
        inputs, counted once."""
        reached = self._reached(root, taken)
        if reached is None:
            return inf
        node: dict[int, int] = {}
        numbers: dict[tuple[PhysicalOperator, tuple[int, ...]], int] = {}
        nodes: list[tuple[PhysicalOperator, tuple[int, ...], tuple[float, ...]]] = []
        indexed: list[int] = []
        total = 0.0
        for k in reached:
            one = taken[k]
            assert one is not None
            key = (one.alternative.choice.operator, tuple([node[i] for i in one.inputs]))
            if key not in numbers:
                numbers[key] = len(nodes)
                nodes.append((*key, one.saved))
                total += one.local
                if one.saved:
                    indexed += key[1]
            node[k] = numbers[key]
        if len(indexed) == len(set(indexed)):
            return total  # no two joins read one input
        return total - sum(saved_by_sharing(nodes))

    @staticmethod
    def _reached(root: int, taken: Sequence[_Priced | None]) -> list[int] | None:
        """The goals of a plan, each after those that it reads; None without a complete plan."""
        reached, pending = {root}, [root]
        while pending:
            one = taken[pending.pop()]
            if one is None:
                return None
            new = [i for i in one.inputs if i not in reached]
            reached.update(new)
            pending += new
        return sorted(reached)

    def neighbours(self, plan: _Plan) -> Iterator[_Plan]:
        """The plans that differ from one by the alternative of one of its goals."""
        for k in reversed(self._reached(plan.root, plan.taken) or ()):
            for one in self._priced[k]:
                if one is not plan.taken[k]:
                    taken = [*plan.taken]
                    taken[k] = one
                    yield _Plan(self._shared_cost(plan.root, taken), plan.root, taken)

    def different(self, plans: Iterable[_Plan]) -> list[_Plan]:
        """The plans without those that take the same alternatives as an earlier one."""
        first: dict[tuple[int, ...], _Plan] = {}
        for plan in plans:
            reached = self._reached(plan.root, plan.taken) or ()
            first.setdefault(tuple([id(plan.taken[k]) for k in reached]), plan)
        return list(first.values())

    def by_cost(self, best: _Plan) -> list[int]:
        """The reusable goals, those of the dearest trees first, and the indexes."""
        costs: list[float] = []
        for one in best.taken:
            costs.append(inf if one is None else one.local + sum([costs[i] for i in one.inputs]))
        goals = [k for k in self.reusable if costs[k] < inf]
        return [*sorted(goals, key=lambda k: (-costs[k], k)), *self.indexes]

    def selection(self, plan: _Plan) -> Selection | None:
        """The alternatives of a plan, with the costs of their trees."""
        reached = self._reached(plan.root, plan.taken)
        if reached is None:
            return None
        costs: dict[int, float] = {}
        winners: dict[GoalKey, Winner] = {}
        for k in reached:
            one = plan.taken[k]
            assert one is not None
            costs[k] = sum([costs[i] for i in one.inputs], one.local)
            winners[self._goals[k].key] = one.alternative.winner(costs[k])
        return Selection(self._goals[plan.root].key, winners)

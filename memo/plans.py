"""Counting, ranking and sampling the complete plans of a memo.

A plan space is an and/or graph: a *goal* has alternatives, and each alternative has input goals.
A complete plan chooses one alternative per goal, as a tree: a goal that is reached twice may
be computed by two alternatives. Where groups read each other in a circle, a plan is complete only
if no group stands below itself. Only in a circle a node is a goal together with the groups of the
circle that stand above it.

Counts are exact (Python integers), ranking is by tree cost, cheapest first, and sampling is
uniform, by unranking a random number below the count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod
from random import Random
from typing import Generic, TypeVar

from .deep import Work, finished

G = TypeVar("G", bound=Hashable)
A = TypeVar("A")
Context = frozenset[Hashable]
Node = tuple[G, Context]


@dataclass(frozen=True, slots=True)
class Alternative(Generic[G, A]):
    """An alternative of a goal: the choice, the goals that it reads, and its own cost."""

    choice: A
    inputs: tuple[G, ...]
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanTree(Generic[G, A]):
    """A complete plan: a goal, the choice for it, and the plans below."""

    goal: G
    choice: A
    inputs: tuple[PlanTree[G, A], ...]
    cost: float


@dataclass(slots=True)
class _Ranking(Generic[G, A]):
    """The plans of one node so far, cheapest first, and the candidates for the next plan.

    Attributes:
        plans: for each plan its cost, the number of its alternative, and the ranks of its inputs.
        candidates: a heap of such triples.
        proposed: alternatives with ranks that have been candidates."""

    plans: list[tuple[float, int, tuple[int, ...]]]
    candidates: list[tuple[float, int, tuple[int, ...]]]
    proposed: set[tuple[int, tuple[int, ...]]]


class PlanSpace(Generic[G, A]):
    """The complete plans below a goal.

    Args:
        alternatives: returns the alternatives of a goal, always in the same order.
        group: returns the group of a goal. No group may stand below itself, except that an
            alternative may read another goal of the same group directly (an enforcer).
        check: called before each step; may raise an error that ends the work.
    """

    def __init__(
        self,
        alternatives: Callable[[G], Sequence[Alternative[G, A]]],
        group: Callable[[G], Hashable] = lambda goal: goal,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._alternatives_of = alternatives
        self._group = group
        self._check = check
        self._alternatives_by_goal: dict[G, Sequence[Alternative[G, A]]] = {}
        self._circles: dict[Hashable, frozenset[Hashable]] = {}
        self._expanded: dict[Node[G], list[tuple[Alternative[G, A], tuple[Node[G], ...]]]] = {}
        self._counts: dict[Node[G], int] = {}
        self._rankings: dict[Node[G], _Ranking[G, A]] = {}

    def prepare(self, root: G) -> None:
        """Visits the alternatives of all goals below the root, as other methods do first."""
        self._root(root)

    def count(self, root: G) -> int:
        """The number of complete plans."""
        return self._count(self._root(root))

    def unrank(self, root: G, number: int) -> PlanTree[G, A]:
        """The plan of a number from 0 to ``count - 1``.

        Raises:
            IndexError: for another number.
        """
        node = self._root(root)
        if not 0 <= number < self._count(node):
            raise IndexError(f"plan {number} of {self._count(node)}")
        return finished(self._unrank(node, number))

    def sample(self, root: G, size: int, random: Random) -> list[PlanTree[G, A]]:
        """Plans drawn uniformly, with replacement."""
        total = self.count(root)
        return [self.unrank(root, random.randrange(total)) for _ in range(size)] if total else []

    def ranked(self, root: G) -> Iterator[PlanTree[G, A]]:
        """All plans, cheapest first; of equal cost in the order of their alternatives."""
        node = self._root(root)
        k = 0
        while finished(self._nth(node, k)):
            yield finished(self._built(node, k))
            k += 1

    # -- the graph --------------------------------------------------------------------

    def _alternatives(self, goal: G) -> Sequence[Alternative[G, A]]:
        alternatives = self._alternatives_by_goal.get(goal)
        if alternatives is None:
            alternatives = self._alternatives_by_goal[goal] = tuple(self._alternatives_of(goal))
        return alternatives

    def _root(self, root: G) -> Node[G]:
        if self._group(root) not in self._circles:
            self._find_circles(root)
        return root, frozenset()

    def _find_circles(self, root: G) -> None:
        """Finds the groups that each group reads in a circle, itself among them."""
        # Imported here: it takes an eighth of a second, and most commands count no plans.
        from networkx import DiGraph, strongly_connected_components

        reads: DiGraph[Hashable] = DiGraph()
        pending, seen = [root], {root}
        while pending:
            self._check()
            goal = pending.pop()
            reads.add_node(self._group(goal))
            for alternative in self._alternatives(goal):
                for read in alternative.inputs:
                    reads.add_edge(self._group(goal), self._group(read))
                    if read not in seen:
                        seen.add(read)
                        pending.append(read)
        for circle in map(frozenset, strongly_connected_components(reads)):
            self._circles.update(dict.fromkeys(circle, circle))

    def _options(self, node: Node[G]) -> list[tuple[Alternative[G, A], tuple[Node[G], ...]]]:
        """The alternatives of a goal that put no group below itself."""
        self._check()
        options = self._expanded.get(node)
        if options is None:
            goal, above = node
            group = self._group(goal)
            circle = self._circles[group]
            passed: Context = above | {group} if len(circle) > 1 else frozenset()
            options = []
            for alternative in self._alternatives(goal):
                below: list[Node[G]] = []
                for inner in alternative.inputs:
                    other = self._group(inner)
                    if other == group:
                        below.append((inner, above))
                    elif other in passed:
                        break
                    else:
                        below.append((inner, passed if other in circle else frozenset()))
                else:
                    options.append((alternative, tuple(below)))
            self._expanded[node] = options
        return options

    # -- counting ---------------------------------------------------------------------

    def _count(self, root: Node[G]) -> int:
        counts = self._counts
        pending = [root]
        while pending:
            node = pending[-1]
            if node in counts:
                pending.pop()
                continue
            missing = [
                below
                for _, inputs in self._options(node)
                for below in inputs
                if below not in counts
            ]
            if missing:
                pending.extend(missing)
                continue
            options = self._options(node)
            counts[node] = sum(prod(counts[below] for below in inputs) for _, inputs in options)
            pending.pop()
        return counts[root]

    def _unrank(self, node: Node[G], number: int) -> Work[PlanTree[G, A]]:
        for alternative, inputs in self._options(node):
            plans_here = prod(self._count(below) for below in inputs)
            if number < plans_here:
                plans = []
                for below in inputs:
                    number, digit = divmod(number, self._count(below))
                    plans.append((yield self._unrank(below, digit)))
                return self._tree(node, alternative, tuple(plans))
            number -= plans_here
        raise IndexError(number)

    def _tree(
        self, node: Node[G], alternative: Alternative[G, A], inputs: tuple[PlanTree[G, A], ...]
    ) -> PlanTree[G, A]:
        cost = sum([plan.cost for plan in inputs], alternative.cost)
        return PlanTree(node[0], alternative.choice, inputs, cost)

    # -- ranking ----------------------------------------------------------------------

    def _nth(self, node: Node[G], k: int) -> Work[bool]:
        """Finds the plans of a node up to the k-th; returns whether there is a k-th plan.

        Lazy k-best (Huang and Chiang 2005, algorithm 3): a candidate is an alternative with
        a rank for each input; a candidate that becomes a plan proposes its neighbours.
        """
        ranking = self._rankings.get(node)
        if ranking is None:
            ranking = self._rankings[node] = _Ranking([], [], set())
            for index, (_, inputs) in enumerate(self._options(node)):
                yield self._propose(node, ranking, index, (0,) * len(inputs))
        while len(ranking.plans) <= k and ranking.candidates:
            best = heappop(ranking.candidates)
            ranking.plans.append(best)
            _, index, ranks = best
            for position in range(len(ranks)):
                following = (*ranks[:position], ranks[position] + 1, *ranks[position + 1 :])
                yield self._propose(node, ranking, index, following)
        return len(ranking.plans) > k

    def _propose(
        self, node: Node[G], ranking: _Ranking[G, A], index: int, ranks: tuple[int, ...]
    ) -> Work[None]:
        if (index, ranks) in ranking.proposed:
            return
        ranking.proposed.add((index, ranks))
        alternative, inputs = self._options(node)[index]
        cost = alternative.cost
        for below, rank in zip(inputs, ranks, strict=True):
            if not (yield self._nth(below, rank)):
                return
            cost += self._rankings[below].plans[rank][0]
        heappush(ranking.candidates, (cost, index, ranks))

    def _built(self, node: Node[G], k: int) -> Work[PlanTree[G, A]]:
        _, index, ranks = self._rankings[node].plans[k]
        alternative, inputs = self._options(node)[index]
        plans = []
        for below, rank in zip(inputs, ranks, strict=True):
            plans.append((yield self._built(below, rank)))
        return self._tree(node, alternative, tuple(plans))

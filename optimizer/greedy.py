"""A good join order without a search, for queries too large to be searched exhaustively.

Several greedy orders are built, and the cheapest is improved: some of its joins are split into a
few blocks, which dynamic programming joins at the least cost, until no split improves the order.
Sets of atoms are bits of a number. Costs are those of hash joins on the estimates of the cost
model, with one estimate per set of atoms, as the memo has one per group. Two sets that share
no variable are joined only after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from operator import attrgetter, or_

from ..algebra.logical import Filter, Pattern, WScan, WScanUnion
from ..algebra.physical import HashJoin
from ..costmodel.characteristics import Characteristics
from ..memo import GroupId
from .budget import Budget
from .cost import CostEstimator
from .coster import Coster
from .emission import emitted
from .entry import Joins
from .options import Options

BLOCKS = 7
"""The number of parts that dynamic programming joins; takes at most 966 joins."""
STARTS = 4
"""The number of atoms, those with the fewest rows, from which an order is grown."""
ORDERING = 0.5
"""The part of the time after which the best order found until then is taken."""
MANY_JOINS = 1_000
"""The most joins of a pattern of edges, as :func:`has_more_joins` counts them, that are searched
whether they bring a cheaper plan or not. A star of seven edges has 882, one of eight 2,032."""
EXPRESSIONS_PER_MS = 2
"""The least speed of a search, in expressions per millisecond, on a slow or busy machine."""


def may_be_cut(atoms: int, options: Options) -> bool:
    """Whether the joins of ``atoms`` atoms may be too many for the budget.

    Where all atoms share a variable there are 3^n - 2^(n+1) + 1 joins of two sets of them.
    """
    budgets = [options.budget_expressions]
    if options.budget_ms is not None:
        budgets.append(int(options.budget_ms * EXPRESSIONS_PER_MS))
    joins = 3**atoms - 2 ** (atoms + 1) + 1
    return any(budget is not None and atoms + joins > budget for budget in budgets)


def has_more_joins(bindings: Sequence[tuple[int, ...]], most: int) -> bool:
    """Whether a pattern has more than ``most`` joins of a connected part with an atom beside it.

    Sets of atoms are bits of a number. Each join counts in both orders.
    """
    variables = [set(binding) for binding in bindings]
    near = [_bits(k for k, other in enumerate(variables) if own & other) for own in variables]
    beside = {1 << k: mask & ~(1 << k) for k, mask in enumerate(near)}
    waiting, joins = list(beside), 0
    while waiting:
        part = waiting.pop()
        joins += 2 * beside[part].bit_count()
        if joins > most:
            return True
        for k, mask in enumerate(near):
            if beside[part] >> k & 1:
                larger = part | 1 << k
                if larger not in beside:
                    beside[larger] = (beside[part] | mask) & ~larger
                    waiting.append(larger)
    return False


class StartOrder:
    """Greedy joins for those patterns of a query whose search may be cut or is long.

    ``reordered`` says whether any pattern entered the memo in another order than it was written,
    and ``has_many_joins`` whether the search of any should end when it brings no cheaper plan.
    """

    def __init__(self, coster: Coster, options: Options, budget: Budget) -> None:
        self.reordered = False
        self.has_many_joins = False
        self._coster = coster
        self._options = options
        self._stopped = partial(budget.out_of_time, ORDERING)

    def __call__(self, pattern: Pattern, groups: tuple[GroupId, ...]) -> Joins | None:
        """The joins to start from for a PATTERN over groups; None for the written order."""
        many = self._has_many_joins(pattern, groups)
        if not many and not may_be_cut(len(groups), self._options):
            return None
        self.reordered = True
        self.has_many_joins |= many
        estimates = [self._coster.estimate(group) for group in groups]
        return greedy_joins(pattern, estimates, self._coster.cost_model, self._stopped)

    def _has_many_joins(self, pattern: Pattern, groups: tuple[GroupId, ...]) -> bool:
        """Whether a greedy order is likely to be as good as a plan of a search within the budget.

        It may be worse where rules rewrite inputs, such as paths, together with the pattern. So the
        joins of such patterns may be as many as the budget has expressions.
        """
        budget = self._options.budget_expressions
        if budget is None:
            return False
        most = min(budget, MANY_JOINS) if all(map(self._reads_edges, groups)) else budget
        return has_more_joins(pattern.bindings, most)

    def _reads_edges(self, group: GroupId) -> bool:
        """Whether a group has the edges of labels, all of them or those of a filter."""
        first = self._coster.groups[group].expressions[0]
        if isinstance(first.operator, Filter):
            return self._reads_edges(first.inputs[0])
        return isinstance(first.operator, WScan | WScanUnion)


def greedy_joins(
    pattern: Pattern,
    estimates: Sequence[Characteristics],
    cost_model: CostEstimator,
    stopped: Callable[[], bool] = lambda: False,
) -> Joins:
    """A join order for a PATTERN of two or more inputs with the given estimates.

    The order costs no more than the written order. Once ``stopped`` returns true, the best order
    so far is returned.
    """
    space = _Space(pattern, estimates, cost_model)
    best = space.grown(0, lambda _, atom: atom.first)
    space.stopped = stopped
    with suppress(_StoppedError):
        for candidate in _candidates(space):
            best = min(best, candidate, key=_cost)
        for better in _improvements(space, best):
            best = better
    return _numbered(best, space.atoms)


class _StoppedError(Exception):
    """The time is over, and another join would have to be costed."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Joins of the ``atoms`` of a set: their ``cost``, and the two ``inputs`` of the last one."""

    atoms: int
    cost: float
    inputs: tuple[_Plan, ...] = ()

    @property
    def first(self) -> int:
        """The number of the atom that was written first."""
        return (self.atoms & -self.atoms).bit_length() - 1


_cost = attrgetter("cost")


class _Space:
    """The sets of atoms of one PATTERN, with the estimates and costs of joining two of them."""

    def __init__(
        self, pattern: Pattern, estimates: Sequence[Characteristics], cost_model: CostEstimator
    ) -> None:
        self._cost_model = cost_model
        self._output = frozenset(pattern.output)
        self._readers: dict[int, int] = {}
        for k, binding in enumerate(pattern.bindings):
            for variable in binding:
                self._readers[variable] = self._readers.get(variable, 0) | 1 << k
        self._bound = {1 << k: binding for k, binding in enumerate(pattern.bindings)}
        self._variables = {atom: _bits(binding) for atom, binding in self._bound.items()}
        self._estimates = {1 << k: estimate for k, estimate in enumerate(estimates)}
        self._local: dict[tuple[int, int], float] = {}
        self.stopped: Callable[[], bool] = lambda: False
        self.atoms = tuple(_Plan(atoms, 0.0) for atoms in self._bound)

    def connected(self, left: int, right: int) -> bool:
        """Whether two sets share a variable."""
        return bool(self._variables[left] & self._variables[right])

    def rows(self, plan: _Plan) -> float:
        """The rows that a set emits per time unit, without COALESCE."""
        return self._estimates[plan.atoms].derivation_rate

    def join(self, left: _Plan, right: _Plan) -> _Plan:
        """The join of two plans.

        Raises:
            _StoppedError: if the join is new and the time is over.
        """
        one, other = left.atoms, right.atoms
        # A join with swapped inputs costs the same.
        sides = (one, other) if one < other else (other, one)
        local = self._local.get(sides)
        if local is None:
            if self.stopped():
                raise _StoppedError
            local = self._local[sides] = self._join(one, other)
        return _Plan(left.atoms | right.atoms, local + left.cost + right.cost, (left, right))

    def grown(self, start: int, weight: Callable[[_Plan, _Plan], float]) -> _Plan:
        """A left-deep plan from an atom: the connected atom of the least weight is joined next."""
        waiting = list(self.atoms)
        parts: list[_Plan] = []
        done = waiting.pop(start)
        while waiting:
            near = [atom for atom in waiting if self.connected(done.atoms, atom.atoms)]
            if near:
                following = min(near, key=partial(weight, done))
                waiting.remove(following)
                done = self.join(done, following)
            else:
                parts.append(done)
                done = waiting.pop(0)
        return reduce(self.join, [*parts, done])

    def paired(self, weight: Callable[[_Plan], float]) -> _Plan:
        """A plan that joins next the two parts whose join has the least weight."""
        parts = list(self.atoms)
        joins = self._pairs(parts)
        while len(parts) > 1:
            done = min(joins or self._pairs(parts, crossing=True), key=weight)
            parts = [part for part in parts if not part.atoms & done.atoms]
            joins = [join for join in joins if not join.atoms & done.atoms]
            joins += [self.join(p, done) for p in parts if self.connected(p.atoms, done.atoms)]
            parts.append(done)
        return parts[0]

    def _pairs(self, parts: Sequence[_Plan], crossing: bool = False) -> list[_Plan]:
        return [
            self.join(left, right)
            for k, left in enumerate(parts)
            for right in parts[k + 1 :]
            if crossing or self.connected(left.atoms, right.atoms)
        ]

    def exact(self, blocks: Sequence[_Plan]) -> _Plan | None:
        """The cheapest plan over some parts; None if they are not connected."""
        best: dict[int, _Plan] = {1 << k: block for k, block in enumerate(blocks)}
        whole = (1 << len(blocks)) - 1
        for chosen in range(1, whole + 1):
            cheapest: _Plan | None = None
            for half in _halves(chosen):
                left, right = best.get(half), best.get(chosen - half)
                if left is None or right is None or not self.connected(left.atoms, right.atoms):
                    continue
                # The join itself costs something too, so a dear pair of inputs cannot be cheapest.
                if cheapest is None or left.cost + right.cost < cheapest.cost:
                    joined = self.join(left, right)
                    if cheapest is None or joined.cost < cheapest.cost:
                        cheapest = joined
            if cheapest is not None:
                best[chosen] = cheapest
        return best.get(whole)

    def _join(self, left: int, right: int) -> float:
        atoms = left | right
        bound = self._bound
        kept = bound.get(atoms)
        if kept is None:
            kept = bound[atoms] = tuple(
                v
                for v in dict.fromkeys(bound[left] + bound[right])
                if v in self._output or self._readers[v] & ~atoms
            )
            self._variables[atoms] = _bits(kept)
        bindings = bound[left], bound[right]
        inputs = self._estimates[left], self._estimates[right]
        output = self._estimates.get(atoms)
        if output is None:
            pattern, _ = Pattern(bindings, kept).canonical((0, 1))
            output = self._estimates[atoms] = self._cost_model.characteristics(pattern, inputs)
        join = HashJoin(bindings, kept)
        widths = len(bindings[0]), len(bindings[1])
        return self._cost_model.cost(join, *emitted(join, output, inputs, (False, False), widths))


def _candidates(space: _Space) -> Iterator[_Plan]:
    """Greedy orders: pairs by rows and by cost, then grown from atoms with few rows."""
    yield space.paired(space.rows)
    yield space.paired(_cost)
    for start in sorted(space.atoms, key=space.rows)[:STARTS]:
        yield space.grown(start.first, lambda done, atom: space.rows(space.join(done, atom)))


def _improvements(space: _Space, plan: _Plan) -> Iterator[_Plan]:
    """Plans of falling cost, until no join can be improved together with some joins below it."""
    settled: set[_Plan] = set()
    while True:
        join = next((join for join in _joins_of(plan) if join not in settled), None)
        if join is None:
            return
        better = space.exact(_blocks(join))
        if better is None or better.cost >= join.cost * (1 - 1e-9):  # ignore rounding errors
            settled.add(join)
        else:
            plan = _replaced(space, plan, join, better)
            yield plan


def _blocks(plan: _Plan) -> list[_Plan]:
    """The parts of a plan after its last join and the dearest joins below are split."""
    blocks = list(plan.inputs)
    while len(blocks) < BLOCKS:
        dearest = max(blocks, key=_cost)
        if not dearest.inputs:
            break
        at = blocks.index(dearest)
        blocks[at : at + 1] = dearest.inputs
    return blocks


def _replaced(space: _Space, plan: _Plan, old: _Plan, new: _Plan) -> _Plan:
    """The plan with another one over the same atoms in the place of a part."""
    above: list[_Plan] = []
    while plan is not old:
        above.append(plan)
        plan = next(below for below in plan.inputs if below.atoms & old.atoms)
    for join in reversed(above):
        left, right = (new if below is old else below for below in join.inputs)
        old, new = join, space.join(left, right)
    return new


def _joins_of(plan: _Plan) -> list[_Plan]:
    """The joins of a plan, each after those below it."""
    joins = [plan] if plan.inputs else []
    for join in joins:
        joins.extend(below for below in join.inputs if below.inputs)
    return joins[::-1]


def _bits(numbers: Iterable[int]) -> int:
    return reduce(or_, (1 << number for number in numbers), 0)


def _halves(chosen: int) -> Iterator[int]:
    """The proper subsets of a set that have its least element."""
    rest = chosen & (chosen - 1)
    part = (rest - 1) & rest
    while rest:
        yield chosen - rest + part
        if part == 0:
            break
        part = (part - 1) & rest


def _numbered(plan: _Plan, atoms: Sequence[_Plan]) -> Joins:
    """The joins as pairs of numbers, atoms first."""
    number = {atom: k for k, atom in enumerate(atoms)}
    joins = _joins_of(plan)
    number |= {join: k for k, join in enumerate(joins, start=len(number))}
    return tuple((number[join.inputs[0]], number[join.inputs[1]]) for join in joins)

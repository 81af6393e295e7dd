"""The coster: estimates groups, and prices the physical operators that compute them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import inf

from ..algebra.logical import LogicalOperator
from ..algebra.physical import PhysicalOperator
from ..algebra.properties import DeliveredProperties, Distribution
from ..costmodel.characteristics import Characteristics
from ..memo import Group, GroupExpression, GroupId, Groups, MemoListener
from ..rules.registry import implementations_by_operator
from .algebra_operators import AlgebraOperators
from .cost import CostEstimator
from .emission import emitted, repeating
from .goals import Choice, Costed
from .options import Options
from .physical_properties import delivered
from .placements import Place

_Placing = tuple[int, tuple[float, ...], float, tuple[bool, ...]]
"""The ``id`` of a choice, and the other arguments of :meth:`Coster.placed` but its group."""


class Coster(MemoListener):
    """Estimates and choices for the groups of one memo, each computed once.

    Attributes:
        groups: the groups of the memo.
        algebra: their operators.
        cost_model: computes estimates and costs.
        parallelism: the number of partitions of a plan.
        stale: whether the choices of a group have changed since the group was costed.
        two_rates: whether the rows of any group repeat (:mod:`headrace.optimizer.emission`).
    """

    def __init__(
        self,
        groups: Groups,
        algebra: AlgebraOperators,
        cost_model: CostEstimator,
        options: Options,
    ) -> None:
        self.groups = groups
        self.algebra = algebra
        self.cost_model = cost_model
        self.parallelism = options.parallelism
        self.stale = False
        self.two_rates = False
        self._rules = implementations_by_operator(
            options.parallelism, options.simple_budget, options.evaluate_every
        )
        self._estimates: dict[GroupId, Characteristics] = {}
        self._choices: dict[GroupId, tuple[Choice, ...]] = {}
        self._choices_of: dict[int, tuple[Choice, ...]] = {}
        """The choices of single expressions, by their number."""
        self._placed: dict[_Placing, tuple[Choice, Choice]] = {}
        """Choices as placed, each with the choice itself, whose ``id`` is in the key."""
        self._implemented: dict[int, tuple[Hashable, tuple[tuple[PhysicalOperator, str], ...]]] = {}
        """What computes an operator, by the ``id`` of the operator, which is kept alive."""

    # -- changes of the memo ----------------------------------------------------------------

    def expression_added(self, expression: GroupExpression) -> None:
        """Estimates a new group by its first expression; drops the choices of an older one."""
        group = expression.group
        if group not in self._estimates:
            operator = expression.operator
            assert isinstance(operator, LogicalOperator)
            inputs = tuple([self._estimates[i] for i in expression.inputs])
            estimate = self.cost_model.characteristics(operator, inputs)
            self._estimates[group] = estimate
            if not self.two_rates and repeating(estimate):
                self.two_rates = True
                self._choices_of.clear()
                self._placed.clear()
        if self._choices.pop(group, None) is not None:
            self.stale = True

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Drops all choices, which may read the absorbed group."""
        self._estimates.pop(absorbed.id, None)
        self.stale = self.stale or bool(self._choices)
        self._choices.clear()
        self._choices_of.clear()
        self._placed.clear()

    def forget(self) -> None:
        """Drops the choices of all groups; those of single expressions, also as placed, and
        estimates stay."""
        self._choices.clear()

    # -- estimates and costs ----------------------------------------------------------------

    @property
    def choices_priced(self) -> int:
        """The number of choices so far."""
        return sum(map(len, self._choices.values()))

    def estimate(self, group: GroupId) -> Characteristics:
        """The characteristics of a group, those of its first expression."""
        known = self._estimates.get(group)
        return self._estimates[self.groups.find(group)] if known is None else known

    def repeats(self, choice: Choice) -> tuple[bool, ...]:
        """For each group that a choice reads whether its rows repeat."""
        if not self.two_rates:
            return (False,) * len(choice.inputs)
        return tuple([repeating(self.estimate(i)) for i in choice.inputs])

    def widths(self, choice: Choice) -> tuple[int, ...]:
        """The numbers of columns of the groups that a choice reads."""
        return tuple([self.groups[i].properties.width for i in choice.inputs])

    def delivered(
        self, choice: Choice, inputs: tuple[DeliveredProperties, ...]
    ) -> DeliveredProperties:
        """The properties of a choice's result, from the properties of its inputs."""
        return delivered(choice.operator, self.widths(choice), inputs, self.parallelism)

    def choices(self, group: GroupId) -> tuple[Choice, ...]:
        """The operators that compute a group on one partition, the cheapest first; no enforcers."""
        group = self.groups.find(group)
        priced = self._choices.get(group)
        if priced is None:
            priced = self._choices[group] = self._price(group)
        return priced

    def saved(self, choice: Choice) -> tuple[float, ...]:
        """For each input what the choice costs less if another operator holds its index."""
        return self.cost_model.saved(choice.operator, *choice.costed)

    def placed(
        self,
        choice: Choice,
        group: GroupId,
        divided: tuple[float, ...],
        result_divided: float,
        coalesced: tuple[bool, ...],
    ) -> Choice:
        """A choice with its cost on the busiest partition, priced once for all goals of a group.

        ``divided`` holds for each input all rows divided by those on the busiest partition,
        ``result_divided`` the same for the rows of the group. ``coalesced`` says which inputs are
        read coalesced.
        """
        if self.parallelism == 1 and not any(coalesced):
            return choice
        placing = id(choice), divided, result_divided, coalesced
        known = self._placed.get(placing)
        if known is not None:
            return known[1]
        costed = self._costed(choice.operator, group, choice.inputs, coalesced)
        if self.parallelism > 1:
            inputs = zip(costed.inputs, divided, strict=True)
            costed = Costed(
                costed.output.share(result_divided),
                tuple([rows.share(over) for rows, over in inputs]),
            )
        local = self.cost_model.cost(choice.operator, *costed)
        placed = choice._replace(local=local, costed=costed)
        self._placed[placing] = choice, placed
        return placed

    def enforcer(
        self,
        name: str,
        operator: PhysicalOperator,
        group: GroupId,
        below: Distribution,
        here: Distribution,
        *,
        coalesced: bool = False,
    ) -> Choice:
        """An enforcer with its cost, from rows distributed as ``below`` to ``here``.

        ``coalesced`` says whether the rows that it reads are coalesced.
        """
        source, result = (Place(d).divided(self.parallelism) for d in (below, here))
        output, (rows,) = self._costed(operator, group, (group,), (coalesced,))
        costed = Costed(output.share(result), (rows.share(source),))
        local = self.cost_model.cost(operator, *costed)
        return Choice(operator, (self.groups.find(group),), local, name, -1, costed)

    def _costed(
        self,
        operator: PhysicalOperator,
        group: GroupId,
        inputs: tuple[GroupId, ...],
        coalesced: tuple[bool, ...],
    ) -> Costed:
        """What the operator and its inputs emit, before rows are divided over partitions."""
        below = tuple([self.estimate(i) for i in inputs])
        if not self.two_rates:
            return Costed(self.estimate(group), below)
        widths = tuple([self.groups[i].properties.width for i in inputs])
        return Costed(*emitted(operator, self.estimate(group), below, coalesced, widths))

    def least_local(self, expression: GroupExpression) -> float:
        """The cost of the cheapest operator for an expression; ``inf`` without one."""
        return min([choice.local for choice in self._priced(expression)], default=inf)

    def least_cost(
        self, operator: LogicalOperator, group: GroupId, inputs: tuple[GroupId, ...]
    ) -> float:
        """A lower bound of the cost of a member that a group could have, on one partition."""
        costed = self._costed
        bounds = [
            self.cost_model.least_cost(
                implemented, *costed(implemented, group, inputs, (False,) * len(inputs))
            )
            for implemented, _ in self._implementations(operator, inputs)
        ]
        return min(bounds, default=inf)

    def _price(self, group: GroupId) -> tuple[Choice, ...]:
        """Prices the different operators over different inputs of a group's members."""
        cheapest_choices: dict[Hashable, Choice] = {}
        for expression in self.groups[group].expressions:
            for choice in self._priced(expression):
                cheapest_choices.setdefault((choice.operator, choice.inputs), choice)
        return tuple(sorted(cheapest_choices.values(), key=lambda c: (c.local, c.source)))

    def _priced(self, expression: GroupExpression) -> tuple[Choice, ...]:
        """The choices of one expression, priced once until groups merge."""
        priced = self._choices_of.get(expression.id)
        if priced is None:
            group, read = expression.group, expression.inputs
            priced = tuple(
                [
                    self._choice(operator, group, read, rule, expression.id)
                    for operator, rule in self._implementations(expression.operator, read)
                ]
            )
            self._choices_of[expression.id] = priced
        return priced

    def _implementations(
        self, logical: Hashable, read: tuple[GroupId, ...]
    ) -> Iterator[tuple[PhysicalOperator, str]]:
        """The operators that compute an expression, and the names of their rules."""
        algebra = self.algebra
        deletions = algebra.deletions and any(self.groups[i].properties.deletions for i in read)
        for implemented, rule in self._implementing(logical):
            if deletions and not implemented.reads_retractions:
                continue
            operator = algebra.times.shrunk(implemented, read)
            yield operator.over_deletions() if deletions else operator, rule

    def _implementing(self, operator: Hashable) -> tuple[tuple[PhysicalOperator, str], ...]:
        """The operators that compute a logical one, made once for each object.

        Equal objects may differ in the names of variables, which their implementations keep.
        """
        known = self._implemented.get(id(operator))
        if known is None:
            made = [
                (implemented, rule.name)
                for rule in self._rules.get(type(operator), ())
                for implemented in rule.implement(operator)
            ]
            known = self._implemented[id(operator)] = operator, tuple(made)
        return known[1]

    def _choice(
        self,
        operator: PhysicalOperator,
        group: GroupId,
        read: tuple[GroupId, ...],
        rule: str,
        source: int,
    ) -> Choice:
        costed = self._costed(operator, group, read, (False,) * len(read))
        arranged = self.cost_model.arranged(operator, *costed)
        local = self.cost_model.cost(arranged, *costed)
        return Choice(arranged, read, local, rule, source, costed)

"""The state of one search, and the loop that runs its tasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from math import inf

from ..algebra.deadline import NO_DEADLINE, Deadline
from ..algebra.logical import LogicalOperator
from ..algebra.properties import RequiredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import Group, GroupExpression, GroupId, Memo, MemoListener, Winner
from ..memo.cheapest import cheapest
from ..memo.pattern import Match
from ..rules.registry import implementations_by_operator
from ..rules.rule import Context
from .algebra_side import AlgebraSide
from .budget import EXPLORING, Budget
from .cost import CostEstimator
from .enforcers import Enforcers
from .errors import CannotPlanError
from .events import (
    CostsForgotten,
    Event,
    ExpressionAdded,
    GroupAdded,
    GroupsMerged,
    Listener,
    RuleApplied,
    WayLeft,
    WinnerChanged,
)
from .goals import Choice, Goal
from .options import Options
from .physical_properties import ways_to_deliver
from .rule_table import RuleEntry, rule_table
from .tasks import ApplyRule, ExploreExpression, ExploreGroup, OptimizeGroup, Task


class Search(MemoListener):
    """One search: a memo, a stack of tasks, and goals."""

    def __init__(
        self,
        cost_model: CostEstimator,
        options: Options,
        listeners: Sequence[Listener] = (),
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self.cost_model = cost_model
        self.options = options
        self.listeners = tuple(listeners)
        self.side = AlgebraSide(paths_of_labels="PathOfLabel" not in options.disabled_rules)
        self.side.times.late = options.evaluate_every or 0
        self.memo: Memo = self.side.new_memo(self)
        self.context = Context(
            self.memo,
            self.side.flat,
            cross_products=options.cross_products,
            duplicate_free=options.duplicate_free,
        )
        self.entries = rule_table(options)
        self._entry_of = {entry.rule.name: entry for entry in self.entries}
        self.queued: set[tuple[int, int]] = set()
        self.exploration_over = False
        self.circular = False
        self.budget = Budget(options, deadline)
        self.step = 0
        self._stack: list[Task] = []
        self._by_type: dict[type, tuple[RuleEntry, ...]] = {}
        self._implementations = implementations_by_operator(
            options.parallelism, options.simple_budget, options.evaluate_every
        )
        self.enforcing = Enforcers(self, options.parallelism)
        self._estimates: dict[GroupId, Characteristics] = {}
        self._goals: dict[tuple[GroupId, RequiredProperties], Goal] = {}
        self._choices: dict[GroupId, tuple[Choice, ...]] = {}
        self._stale = False
        self.cut = False
        self._bounded = True

    # -- running ------------------------------------------------------------------------

    def explore(self, root: GroupId) -> None:
        """Finds all logical expressions of a group, and of those that it takes."""
        self.push(ExploreGroup(root))
        self._run()

    def explore_everything(self) -> None:
        """Finds all logical expressions of all groups."""
        while not self.exploration_over:
            unexplored = [g.id for g in self.memo.groups if not g.explored]
            if not unexplored:
                return
            for group in unexplored:
                self.explore(group)

    def optimize(self, root: GroupId, required: RequiredProperties) -> Winner | None:
        """The cheapest plan, or the best found in time; None if there was no time for any.

        Raises:
            CannotPlanError: if nothing computes the root.
        """
        while True:
            self._stale = False
            self.circular = False
            goal = self.goal(root, required)
            self.push(OptimizeGroup(goal, inf))
            self._run()
            if self.cut:
                return self.goal(root, required).best
            if not self._stale:
                break
            # Groups merged after they were costed: the memo is explored, only costs are redone.
            self.forget_costs()
        if self.circular:
            self._settle(goal)
        if goal.best is None and not self.cut:
            raise CannotPlanError(f"nothing computes G{self.memo.find(root)} {goal.required}")
        return goal.best

    def optimize_any(
        self, root: GroupId, acceptable: tuple[RequiredProperties, ...]
    ) -> RequiredProperties | None:
        """The properties, of those acceptable, under which the root has its cheapest plan.

        Raises:
            CannotPlanError: if nothing computes the root under any of them.
        """
        best: dict[RequiredProperties, Winner] = {}
        # A later search may find groups equal, and forget what an earlier one has costed.
        while len(best) < len(acceptable) and not self.cut:
            for required in acceptable:
                self.optimize(root, required)
            goals = [self.goal(root, required) for required in acceptable]
            best = {goal.required: goal.best for goal in goals if goal.best is not None}
        return min(best, key=lambda required: best[required].cost, default=None)

    def optimize_unexplored(
        self, root: GroupId, acceptable: tuple[RequiredProperties, ...]
    ) -> RequiredProperties:
        """As :meth:`optimize_any`, but unexplored and unbounded; costs are to be forgotten then."""
        before = self.exploration_over, self._bounded, self.listeners
        self.exploration_over, self._bounded, self.listeners = True, False, ()
        required = self.optimize_any(root, acceptable)
        self.exploration_over, self._bounded, self.listeners = before
        assert required is not None
        return required

    def push(self, task: Task) -> None:
        """Puts a task on the stack."""
        self._stack.append(task)

    def push_rule(self, expression: GroupExpression, entry: RuleEntry) -> None:
        """Puts a rule application on the stack, unless it waits there already."""
        key = (expression.id, entry.index)
        if key not in self.queued:
            self.queued.add(key)
            self._stack.append(ApplyRule(expression, entry))

    def over_budget(self) -> bool:
        """Whether exploration has to end."""
        if not self.exploration_over:
            self.exploration_over = self.budget.explored(self.memo.expression_count)
        return self.exploration_over

    def interrupted(self) -> bool:
        """Whether exploration has to end in the middle of a rule, which may have many results."""
        if not self.exploration_over:
            self.exploration_over = self.budget.out_of_time(EXPLORING)
        return self.exploration_over

    @property
    def physical_expressions(self) -> int:
        """How many ways to compute a group were costed."""
        return sum(map(len, self._choices.values()))

    def _run(self) -> None:
        stack, count = self._stack, 0
        while stack:
            stack.pop().run(self)
            count += 1
            if count % 16 == 0 and self._out_of_time():
                stack.clear()
                self.queued.clear()

    # -- what tasks ask -----------------------------------------------------------------

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals asked for up to now, those of groups that are still there."""
        find = self.memo.find
        return tuple(goal for goal in self._goals.values() if find(goal.group) == goal.group)

    def rules_for(self, operator: type) -> tuple[RuleEntry, ...]:
        """The rules whose pattern has such an operator at its root, least promising first."""
        known = self._by_type.get(operator)
        if known is None:
            fitting = [e for e in self.entries if any(p.of_type is operator for _, p in e.patterns)]
            known = tuple(sorted(fitting, key=lambda e: (e.rule.promise, -e.index)))
            self._by_type[operator] = known
        return known

    def wants(self, entry: RuleEntry, expression: GroupExpression) -> bool:
        """Whether a rule is to be applied to an expression that it has not been applied to."""
        spent = expression.needless | expression.barred | expression.fired
        if spent & entry.bit or not entry.rule.considers(expression, self.context):
            return False
        return not entry.spared or self.side.flat.repeats(expression.inputs)

    def estimate(self, group: GroupId) -> Characteristics:
        """The characteristics of a group, those of its first expression."""
        return self._estimates[self.memo.find(group)]

    def goal(self, group: GroupId, required: RequiredProperties) -> Goal:
        """The goal of a group under properties."""
        key = (self.memo.find(group), required)
        known = self._goals.get(key)
        if known is None:
            known = self._goals[key] = Goal(*key)
        return known

    def implementations(self, group: GroupId) -> tuple[Choice, ...]:
        """The ways to compute a group on one partition, enforcers apart, cheapest first."""
        group = self.memo.find(group)
        known = self._choices.get(group)
        if known is None:
            found: dict[Hashable, Choice] = {}
            output = self._estimates[group]
            for expression in self.memo.group(group).expressions:
                deletions = self.side.deletions and self._deletes(expression)
                for rule in self._implementations.get(type(expression.operator), ()):
                    inputs = tuple([self._estimates[i] for i in expression.inputs])
                    for implemented in rule.implement(expression.operator):
                        operator = implemented
                        if self.side.times.any:
                            operator = self.side.times.shrunk(implemented, expression.inputs)
                        if deletions:
                            operator = operator.over_deletions()
                        key = (operator, expression.inputs)
                        if key not in found:
                            local = self.cost_model.cost(operator, output, inputs)
                            found[key] = Choice(
                                operator, expression.inputs, local, rule.name, expression.id
                            )
            known = tuple(sorted(found.values(), key=lambda c: (c.local, c.source)))
            self._choices[group] = known
        return known

    def _deletes(self, expression: GroupExpression) -> bool:
        """Whether an input may take back rows that it gave."""
        return any(self.memo.group(i).properties.deletions for i in expression.inputs)

    def operator_ways(self, goal: Goal) -> list[tuple[Choice, tuple[Goal, ...]]]:
        """The ways to a goal by an operator that computes the group."""
        found: list[tuple[Choice, tuple[Goal, ...]]] = []
        parallelism = self.options.parallelism
        for choice in self.implementations(goal.group):
            widths = self.widths(choice)
            for way in ways_to_deliver(choice.operator, widths, goal.required, parallelism):
                asked = zip(choice.inputs, way.inputs, strict=True)
                placed = choice
                if parallelism > 1:
                    local = self.placed_cost(choice, goal.group, way.divided, way.result_divided)
                    placed = replace(choice, local=local)
                found.append((placed, tuple([self.goal(i, wanted) for i, wanted in asked])))
        if parallelism > 1:
            found.sort(key=lambda way: way[0].local)
        return found

    def placed_cost(
        self, choice: Choice, group: GroupId, divided: tuple[int, ...], result_divided: int
    ) -> float:
        """What a choice costs the busiest partition, with rows divided over so many."""
        inputs = zip(choice.inputs, divided, strict=True)
        return self.cost_model.cost(
            choice.operator,
            self.estimate(group).share(result_divided),
            tuple([self.estimate(i).share(over) for i, over in inputs]),
        )

    def widths(self, choice: Choice) -> tuple[int, ...]:
        """The numbers of columns of what a choice reads."""
        return tuple([self.memo.group(i).properties.width for i in choice.inputs])

    def enforcers(self, goal: Goal) -> Iterator[tuple[Choice, Goal]]:
        """The enforcers that lead to a goal, each with the weaker goal that it reads."""
        for choice, weaker in self.enforcing.of(goal.group, goal.required):
            yield choice, self.goal(goal.group, weaker)

    def alternatives(
        self, group: GroupId, required: Hashable
    ) -> Iterator[tuple[float, tuple[tuple[GroupId, Hashable], ...]]]:
        """All ways to a goal, as :meth:`headrace.memo.Memo.check` wants them."""
        assert isinstance(required, RequiredProperties)
        for choice, inputs in self.ways(self.goal(group, required)):
            yield choice.local, tuple((g.group, g.required) for g in inputs)

    def ways(self, goal: Goal) -> Iterator[tuple[Choice, tuple[Goal, ...]]]:
        """All ways to a goal, enforcers last: a choice, and the goals of what it reads."""
        yield from self.operator_ways(goal)
        for choice, weaker in self.enforcers(goal):
            yield choice, (weaker,)

    def set_winner(self, goal: Goal, choice: Choice, inputs: tuple[Goal, ...], cost: float) -> None:
        """Keeps a cheaper plan."""
        before = None if goal.best is None else goal.best.cost
        below = tuple([(g.group, g.required) for g in inputs])
        goal.best = Winner(cost, choice.local, choice, below)
        self.memo.group(goal.group).winners[goal.required] = goal.best
        if self.listeners:
            self._tell(WinnerChanged(self._next(), goal.group, goal.required, cost, before))

    # -- what the memo tells --------------------------------------------------------------

    def group_added(self, group: Group) -> None:
        """A new group."""
        if self.listeners:
            self._tell(GroupAdded(self._next(), group.id))

    def expression_added(self, expression: GroupExpression) -> None:
        """Estimates a new group; has a new member explored, and looked at by parents' rules."""
        if expression.group not in self._estimates:
            operator = expression.operator
            assert isinstance(operator, LogicalOperator)
            inputs = tuple([self._estimates[i] for i in expression.inputs])
            self._estimates[expression.group] = self.cost_model.characteristics(operator, inputs)
        entry = self._entry_of.get(expression.rule)
        if entry is not None:
            expression.barred |= entry.bars
            if entry.inherits and expression.source is not None:
                expression.barred |= expression.source.barred & entry.inherits
        if self.listeners:
            self._tell(ExpressionAdded(self._next(), expression.group, expression))
        if expression.group in self._choices:
            self._stale = True
            del self._choices[expression.group]
        group = self.memo.group(expression.group)
        if group.explored:
            self.push(ExploreExpression(expression))
        if group.watchers:
            self._wake(group, type(expression.operator))

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Has everything seen anew that a merge may concern; marks keep it from being repeated."""
        self.side.flat.merged(survivor, absorbed)
        self.side.times.merged()
        self._estimates.pop(absorbed.id, None)
        if self._choices:
            self._stale = True
        self._choices.clear()
        if self.listeners:
            self._tell(GroupsMerged(self._next(), survivor.id, absorbed.id))
        if survivor.explored:
            for expression in survivor.expressions:
                self.push(ExploreExpression(expression))
        self._wake(survivor, None)

    def expression_changed(self, expression: GroupExpression) -> None:
        """A merge changed a member: it is to be explored as if it were new."""
        if self.memo.group(expression.group).explored:
            self.push(ExploreExpression(expression))

    def tell_applied(
        self, rule: str, match: Match, results: int, new: int, known: Sequence[int]
    ) -> None:
        """Tells that a rule was applied."""
        matched = tuple(e.id for e in match.expressions)
        self._tell(RuleApplied(self._next(), rule, matched, results, new, tuple(known)))

    def tell_left(
        self, goal: Goal, choice: Choice, inputs: Sequence[Goal], cost: float, bound: float
    ) -> None:
        """Tells that a way to a goal was left at ``cost``, as it cannot be the cheapest."""
        if self.listeners:
            costs = [below.best.cost for below in inputs if below.done and below.best is not None]
            exact = len(costs) == len(inputs) and cost == sum(costs, choice.local)
            way = (goal.group, goal.required, choice, cost, exact, bound)
            self._tell(WayLeft(self._next(), *way))

    def _wake(self, group: Group, of_type: type | None) -> None:
        gone: list[tuple[int, int]] = []
        for key, parent in group.watchers.items():
            if not parent.alive:
                gone.append(key)
                continue
            entry = self.entries[key[1]]
            if of_type is None or of_type in entry.inner_types:
                self.push_rule(parent, entry)
        for key in gone:
            del group.watchers[key]

    def _next(self) -> int:
        self.step += 1
        return self.step

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    # -- costs again ------------------------------------------------------------------------

    def forget_costs(self) -> None:
        """Has everything costed anew."""
        self._goals.clear()
        self._choices.clear()
        for group in self.memo.groups:
            group.winners.clear()
        if self.listeners:
            self._tell(CostsForgotten(self._next()))

    def _settle(self, root: Goal) -> None:
        """Costs every goal below the root anew, where groups read each other in a circle.

        The search leaves out an alternative that reads a goal that is being worked on, so goals
        may have been finished without it. Here all alternatives count, unpruned. A winner that
        is as cheap as can be stays.
        """
        goals, ways = [root], {}
        for goal in goals:
            if goal in ways:
                continue
            if self._out_of_time():
                return
            ways[goal] = list(self.ways(goal))
            goals.extend(below for _, inputs in ways[goal] for below in inputs)
        priced = {
            goal: [(choice.local, inputs) for choice, inputs in found]
            for goal, found in ways.items()
        }
        for settled in cheapest(priced):
            if self._out_of_time():
                return
            goal = settled.goal
            assert settled.alternative is not None
            if goal.best is None or settled.cost < goal.best.cost:
                choice, inputs = ways[goal][settled.alternative]
                self.set_winner(goal, choice, inputs, settled.cost)
            goal.done = True

    def _out_of_time(self) -> bool:
        """Whether the search has to end here; then it is cut."""
        if self._bounded and self.budget.out_of_time():
            self.cut = self.exploration_over = True
        return self.cut

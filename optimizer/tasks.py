"""The tasks of the search, on an explicit stack; who pushes whom::

    OptimizeGroup ──► ExploreGroup ──► ExploreExpression ──► ApplyRule
         │                 ▲                                   │  │
         │                 └──── groups that a pattern looks into │
         │                        ▲                               ▼
         │                        └────────────────── new expressions
         ├──► OptimizeInputs ──► OptimizeGroup (an input, under a bound)
         ├──► Enforce ──► OptimizeInputs (over the same group, asked for less)
         └──► FinishGoal

A task that needs another one's result pushes itself, then that one, and runs again after it.
Groups merge while tasks wait, so a task resolves its groups when it runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from ..memo import GroupExpression, GroupId, Winner
from ..memo.pattern import Op
from .goals import Choice, Goal

if TYPE_CHECKING:
    from .rule_table import RuleEntry
    from .search import Search


class Task(ABC):
    """One step of the search."""

    __slots__ = ()

    @abstractmethod
    def run(self, search: Search) -> None:
        """Does the step; may push further tasks."""


class ExploreGroup(Task):
    """Finds all logical expressions of a group."""

    __slots__ = ("group",)

    def __init__(self, group: GroupId) -> None:
        self.group = group

    def run(self, search: Search) -> None:
        """Explores every member; members that come later are explored as they come."""
        group = search.memo.group(self.group)
        if group.explored:
            return
        group.explored = True
        for expression in reversed(group.expressions):
            search.push(ExploreExpression(expression))


class ExploreExpression(Task):
    """Applies the transformation rules to an expression."""

    __slots__ = ("expression",)

    def __init__(self, expression: GroupExpression) -> None:
        self.expression = expression

    def run(self, search: Search) -> None:
        """Pushes the rules that fit, the most promising on top, and what they look into."""
        expression = self.expression
        if not expression.alive or search.exploration_over:
            return
        for entry in search.rules_for(type(expression.operator)):
            if not search.wants(entry, expression):
                continue
            search.push_rule(expression, entry)
            for position in entry.looks_into(expression):
                group = search.memo.group(expression.inputs[position])
                if not group.explored:
                    search.push(ExploreGroup(group.id))


class ApplyRule(Task):
    """Applies one rule to the bindings at one expression that it has not seen."""

    __slots__ = ("entry", "expression")

    def __init__(self, expression: GroupExpression, entry: RuleEntry) -> None:
        self.expression = expression
        self.entry = entry

    def run(self, search: Search) -> None:
        """Inserts the results into the expression's group."""
        expression, entry = self.expression, self.entry
        search.queued.discard((expression.id, entry.index))
        if not expression.alive or search.exploration_over:
            return
        started = perf_counter()
        for position in entry.looks_into(expression):
            group = search.memo.group(expression.inputs[position])
            group.watchers[expression.id, entry.index] = expression
        fresh = not expression.fired & entry.bit
        expression.fired |= entry.bit
        for slot, pattern in entry.patterns:
            if (fresh or pattern.looks_below) and not self._pattern(search, slot, pattern):
                break
        entry.statistics.ms += (perf_counter() - started) * 1000

    def _pattern(self, search: Search, slot: int, pattern: Op) -> bool:
        """Applies the rule to the bindings of one pattern; whether the search goes on."""
        expression, entry = self.expression, self.entry
        rule, statistics, context, memo = entry.rule, entry.statistics, search.context, search.memo
        for match in rule.matches(pattern, slot, expression, context):
            if search.over_budget():
                return False
            statistics.bindings += 1
            if not rule.condition(match, context):
                continue
            results = new = 0
            known: list[int] = []
            for tree in rule.rewrite(match, context):
                if results and search.interrupted():
                    break
                results += 1
                insertion = memo.insert(tree, expression.group, rule.name, expression)
                result = insertion.expression
                if insertion.new and result is not None:
                    result.needless = entry.needless
                    new += 1
                elif result is not None and result.alive:
                    known.append(result.id)
            statistics.fired += results
            statistics.duplicates += results - new
            if results and search.listeners:
                search.tell_applied(rule.name, match, results, new, known)
        return True


class OptimizeGroup(Task):
    """Finds the cheapest plan for a goal that costs at most ``limit``."""

    __slots__ = ("goal", "limit")

    def __init__(self, goal: Goal, limit: float) -> None:
        self.goal = goal
        self.limit = limit

    def run(self, search: Search) -> None:
        """Explores the group, then tries every way to compute it, cheap ones first."""
        goal = self.goal
        if goal.done or goal.active or goal.failed >= self.limit:
            return
        group = search.memo.group(goal.group)
        if not group.explored and not search.exploration_over:
            search.push(self)
            search.push(ExploreGroup(group.id))
            return
        goal.active = True
        goal.limit = self.limit
        search.push(FinishGoal(goal))
        search.push(Enforce(goal))
        for choice, inputs in reversed(search.operator_ways(goal)):
            search.push(OptimizeInputs(goal, choice, inputs))


class Enforce(Task):
    """Tries the enforcers that close the gap to what the goal requires."""

    __slots__ = ("goal",)

    def __init__(self, goal: Goal) -> None:
        self.goal = goal

    def run(self, search: Search) -> None:
        """Each enforcer reads a weaker goal of the same group, so it never feeds itself."""
        for choice, weaker in search.enforcers(self.goal):
            search.push(OptimizeInputs(self.goal, choice, (weaker,)))


FEW_INPUTS = 16
"""Of more inputs what the later ones cost at least is not added up before they are looked at:
that would take as many steps for each of them as there are inputs."""


class OptimizeInputs(Task):
    """Adds up one way to reach a goal; asks for its inputs' plans under what is left."""

    __slots__ = ("choice", "goal", "inputs", "priced", "total")

    def __init__(self, goal: Goal, choice: Choice, inputs: tuple[Goal, ...]) -> None:
        self.goal = goal
        self.choice = choice
        self.inputs = inputs
        # The first inputs that have plans, which are not added up again: how many, and the sum.
        self.priced = 0
        self.total = choice.local

    def run(self, search: Search) -> None:
        """Sums in the order of the inputs, as every cost of a plan is summed."""
        goal, prune = self.goal, search.options.prune
        limit = goal.limit if prune else inf
        best = inf if goal.best is None else goal.best.cost
        total = self.total
        missing: Goal | None = None
        for below in islice(self.inputs, self.priced, None):
            if below.done and below.best is not None:
                total += below.best.cost
                if missing is None:
                    self.priced, self.total = self.priced + 1, total
            elif below.active:
                search.circular = True
                return
            else:
                total += max(below.failed, 0.0)
                missing = missing or below
            # Adding is monotone in floating point too: what is pruned here could not have won.
            if total == inf or (prune and (total > limit or total >= best)):
                search.tell_left(goal, self.choice, self.inputs, total, min(limit, best))
                return
            if missing is not None and len(self.inputs) > FEW_INPUTS:
                break
        if missing is None:
            # A choice without inputs was not held against the limit yet.
            if total < best and not (prune and total > limit):
                search.set_winner(goal, self.choice, self.inputs, total)
            else:
                search.tell_left(goal, self.choice, self.inputs, total, min(limit, best))
            return
        allowed = inf
        if prune and min(limit, best) < inf:
            bound = min(limit, best)
            known = total - max(missing.failed, 0.0)
            allowed = max(bound - known, 0.0) + bound * 1e-9  # rounding must not cut a winner
        if missing.failed >= allowed:
            search.tell_left(goal, self.choice, self.inputs, total, min(limit, best))
            return
        search.push(self)
        search.push(OptimizeGroup(missing, allowed))


class FinishGoal(Task):
    """Says what is known of a goal now that all ways were tried."""

    __slots__ = ("goal",)

    def __init__(self, goal: Goal) -> None:
        self.goal = goal

    def run(self, search: Search) -> None:
        """A plan within the limit is the cheapest of all; none within it is worth keeping too."""
        goal = self.goal
        goal.active = False
        if goal.best is not None:
            goal.done = True
        else:
            goal.failed = max(goal.failed, goal.limit)


__all__ = ["ApplyRule", "OptimizeGroup", "Task", "Winner"]

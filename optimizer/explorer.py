"""The explorer: applies transformation rules until a group has all its logical expressions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from time import perf_counter

from ..memo import GroupExpression, GroupId
from ..memo.pattern import Op
from ..rules.rule import Context
from .agenda import Agenda, ApplyRule, ExploreExpression, ExploreGroup
from .budget import Budget
from .events import Events
from .rule_table import RuleEntry

TASKS_PER_CHECK = 16
"""The number of tasks between two checks of the time."""


class Explorer:
    """Runs the tasks of an agenda over one memo, within a budget."""

    def __init__(self, context: Context, agenda: Agenda, budget: Budget, events: Events) -> None:
        self.memo = context.memo
        self._groups = context.memo.groups
        self._context = context
        self._agenda = agenda
        self._budget = budget
        self._events = events
        self._considered: dict[tuple[Hashable, tuple[int, ...]], tuple[RuleEntry, ...]] = {}

    def explore(self, group: GroupId, most: int | None = None) -> bool:
        """Finds all logical expressions of a group, and of the groups that rules look into.

        Pauses once the memo has ``most`` expressions; a further call goes on from there.

        Returns:
            Whether all were found, or exploration is over.
        """
        agenda, count = self._agenda, 0
        agenda.push(ExploreGroup(group))
        while (task := agenda.pop()) is not None:
            match task:
                case ApplyRule():
                    self._apply(task.expression, task.entry)
                case ExploreExpression():
                    self._explore_expression(task.expression)
                case ExploreGroup():
                    self._explore_group(task.group)
            count += 1
            if count % TASKS_PER_CHECK == 0 and self._budget.ends_search():
                agenda.clear()
            if most is not None and self.memo.expression_count >= most:
                return self._budget.exploration_over
        return True

    def stop(self) -> None:
        """Drops all that remains to be explored."""
        self._agenda.clear()

    def explore_everything(self, check: Callable[[], None] = lambda: None) -> None:
        """Finds all logical expressions of all groups.

        ``check`` is called before each group; it may raise an error that ends the work.
        """
        while not self._budget.exploration_over:
            unexplored = [g.id for g in self._groups if not g.explored]
            if not unexplored:
                return
            for group in unexplored:
                check()
                self.explore(group)

    def _explore_group(self, number: GroupId) -> None:
        """Explores every member; members that come later are explored as they come."""
        group = self._groups[number]
        if not group.explored:
            group.explored = True
            for expression in reversed(group.expressions):
                self._agenda.push(ExploreExpression(expression))

    def _explore_expression(self, expression: GroupExpression) -> None:
        """Pushes the rules that fit, the most promising on top, and the groups they look into."""
        if not expression.alive or self._budget.exploration_over:
            return
        done = expression.masked | expression.fired
        for entry in self._considering(expression):
            if done & entry.bit or not self._wants(entry, expression):
                continue
            self._agenda.push_rule(expression, entry)
            for position in entry.looks_into(expression):
                group = self._groups[expression.inputs[position]]
                if not group.explored:
                    self._agenda.push(ExploreGroup(group.id))

    def _considering(self, expression: GroupExpression) -> tuple[RuleEntry, ...]:
        """The rules that consider an expression, the least promising first, found once for each
        operator and widths."""
        groups, read = self._groups.alive, (expression.group, *expression.inputs)
        key = expression.operator, tuple([groups[i].properties.width for i in read])
        entries = self._considered.get(key)
        if entries is None:
            matching = self._agenda.rules.matching(type(expression.operator))
            considering = [e for e in matching if e.rule.considers(expression, self._context)]
            entries = self._considered[key] = tuple(considering)
        return entries

    def _wants(self, entry: RuleEntry, expression: GroupExpression) -> bool:
        """Whether other rules do not find all results of a rule at an expression."""
        return not entry.subsumed or self._context.columns.repeats(expression.inputs)

    def _apply(self, expression: GroupExpression, entry: RuleEntry) -> None:
        """Inserts the results of a rule into the expression's group."""
        if not expression.alive or self._budget.exploration_over:
            return
        started = perf_counter()
        for position in entry.looks_into(expression):
            group = self._groups[expression.inputs[position]]
            group.dependents[expression.id, entry.index] = expression
        fresh = not expression.fired & entry.bit
        expression.fired |= entry.bit
        for slot, pattern in entry.patterns:
            # A pattern that looks at the root alone binds once; others as members come.
            if (fresh or pattern.looks_below) and not self._match(expression, entry, slot, pattern):
                break
        entry.statistics.ms += (perf_counter() - started) * 1000

    def _match(self, expression: GroupExpression, entry: RuleEntry, slot: int, pattern: Op) -> bool:
        """Applies a rule to the new bindings of a pattern; False if exploration has to end."""
        memo, context, budget = self.memo, self._context, self._budget
        rule, statistics = entry.rule, entry.statistics
        for match in rule.matches(pattern, slot, expression, context):
            if budget.ends_exploration(memo.expression_count):
                return False
            statistics.bindings += 1
            if not rule.condition(match, context):
                continue
            results = new = 0
            known: list[int] = []
            for tree in rule.rewrite(match, context):
                if results and budget.ends_exploration():
                    break
                results += 1
                insertion = memo.insert(tree, expression.group, rule.name, expression)
                result = insertion.expression
                if insertion.new and result is not None:
                    result.masked |= entry.redundant
                    new += 1
                elif result is not None and result.alive:
                    known.append(result.id)
            statistics.fired += results
            statistics.duplicates += results - new
            if results and self._events.wanted:
                self._events.rule_applied(rule.name, match, results, new, known)
        return True

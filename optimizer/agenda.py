"""The agenda of exploration: a stack of tasks, to which changes of the memo add.

::

    ExploreGroup ──► ExploreExpression ──► ApplyRule ──► new members of groups
         ▲                                     │               │
         └── groups that a pattern looks into ─┘               ├──► ExploreExpression
                                                               └──► ApplyRule at dependents
"""

from __future__ import annotations

from typing import NamedTuple

from ..memo import Group, GroupExpression, GroupId, Groups, MemoListener
from .rule_table import RuleEntry, RuleTable


class ExploreGroup(NamedTuple):
    """Find all logical expressions of a group."""

    group: GroupId


class ExploreExpression(NamedTuple):
    """Apply the transformation rules to an expression."""

    expression: GroupExpression


class ApplyRule(NamedTuple):
    """Apply one rule to the bindings at one expression that it has not seen."""

    expression: GroupExpression
    entry: RuleEntry


Task = ExploreGroup | ExploreExpression | ApplyRule


class Agenda(MemoListener):
    """The waiting tasks, the next one last; a rule waits at most once per expression.

    Groups merge while tasks wait, so a task resolves its groups when it runs.
    """

    def __init__(self, groups: Groups, rules: RuleTable) -> None:
        self._groups = groups
        self.rules = rules
        self._stack: list[Task] = []
        self._queued: set[tuple[int, int]] = set()

    def push(self, task: ExploreGroup | ExploreExpression) -> None:
        """Adds a task."""
        self._stack.append(task)

    def push_rule(self, expression: GroupExpression, entry: RuleEntry) -> None:
        """Adds a rule application, unless it waits already."""
        key = (expression.id, entry.index)
        if key not in self._queued:
            self._queued.add(key)
            self._stack.append(ApplyRule(expression, entry))

    def pop(self) -> Task | None:
        """Takes the next task; None if no task waits."""
        if not self._stack:
            return None
        task = self._stack.pop()
        if isinstance(task, ApplyRule):
            self._queued.discard((task.expression.id, task.entry.index))
        return task

    def clear(self) -> None:
        """Drops all tasks."""
        self._stack.clear()
        self._queued.clear()

    # -- changes of the memo ----------------------------------------------------------------

    def expression_added(self, expression: GroupExpression) -> None:
        """Adds tasks to explore a new member, and to match the dependents of its group again."""
        expression.masked |= self.rules.mask_of_new(expression)
        group = self._groups[expression.group]
        if group.explored:
            self.push(ExploreExpression(expression))
        if group.dependents:
            self._wake(group, type(expression.operator))

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Re-explores the expressions affected by a merge; match cursors prevent repetition."""
        if survivor.explored:
            for expression in survivor.expressions:
                self.push(ExploreExpression(expression))
        self._wake(survivor, None)

    def expression_changed(self, expression: GroupExpression) -> None:
        """Adds tasks to explore a member with a new operator like a new member."""
        if self._groups[expression.group].explored:
            self.push(ExploreExpression(expression))

    def _wake(self, group: Group, of_type: type | None) -> None:
        """Adds tasks to match dependents again: by the rules that look for a type, or by all."""
        dead: list[tuple[int, int]] = []
        for key, parent in group.dependents.items():
            if not parent.alive:
                dead.append(key)
                continue
            entry = self.rules.entries[key[1]]
            if of_type is None or of_type in entry.inner_types:
                self.push_rule(parent, entry)
        for key in dead:
            del group.dependents[key]

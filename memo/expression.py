"""Expressions that rules yield, and those that the memo keeps.

``Expression`` is an immutable value that a rule builds: an operator over groups and
further expressions. ``GroupExpression`` is the memo's record of one operator over groups;
operator and inputs are its identity, the rest is the bookkeeping of the search.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

GroupId = int
"""The number of a group; resolve a stored one with :meth:`headrace.memo.Memo.find`."""


Digest = tuple[Hashable, tuple[GroupId, ...]]
"""The identity of a group expression: its operator and the groups it reads."""


class Expression(NamedTuple):
    """An operator over groups of the memo and expressions that are not yet in it."""

    operator: Hashable
    inputs: tuple[Expression | GroupId, ...] = ()


Tree = Expression | GroupId
"""The result of a rule: a new expression, or a group that is equal as it is."""


class GroupExpression:
    """One operator over groups.

    Attributes:
        id: unique, and larger than those of all expressions inserted before.
        group: the group that the expression belongs to.
        operator: what is computed, an opaque value.
        inputs: the groups that are read.
        rule: the rule that made the expression; empty for one of the query itself.
        source: the expression that the rule was applied to.
        alive: whether the expression is a member of its group.
        fired: a bit for each rule that was applied to the expression.
        masked: a bit for each rule that is never applied to the expression.
        cursors: for each pattern, how far the log of an input group was matched, by the position
            of the input and the number of the log.
    """

    __slots__ = (
        "alive",
        "cursors",
        "fired",
        "group",
        "id",
        "inputs",
        "masked",
        "operator",
        "rule",
        "source",
    )

    def __init__(
        self,
        *,
        id: int,
        group: GroupId,
        operator: Hashable,
        inputs: tuple[GroupId, ...],
        rule: str,
        source: GroupExpression | None,
    ) -> None:
        self.id = id
        self.group = group
        self.operator = operator
        self.inputs = inputs
        self.rule = rule
        self.source = source
        self.alive = True
        self.fired = 0
        self.masked = 0
        self.cursors: dict[int, dict[tuple[int, int], int]] = {}

    @property
    def digest(self) -> Digest:
        """The expression's identity."""
        return self.operator, self.inputs

    def inherit_rules(self, twin: GroupExpression) -> None:
        """Takes over which rules were applied to an equal expression, or never are."""
        self.fired |= twin.fired
        self.masked |= twin.masked

    def __repr__(self) -> str:
        inputs = " ".join(f"G{i}" for i in self.inputs)
        return f"<e{self.id} in G{self.group}: {self.operator} {inputs}>"

"""Groups: all equivalent expressions found so far, and the best plan per properties."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .expression import GroupExpression, GroupId


@dataclass(frozen=True, slots=True)
class Winner:
    """The cheapest known plan of a group under some required properties.

    ``choice`` is opaque to the memo; ``inputs`` are the (group, properties) whose winners
    stand below it. ``cost`` is ``local`` plus the costs of those, in their order.
    """

    cost: float
    local: float
    choice: Hashable
    inputs: tuple[tuple[GroupId, Hashable], ...]


class Log:
    """The members of a group in the order in which they came, by operator type.

    Positions in it never change, so a reader's mark stays right; when groups merge their
    logs stay apart and the survivor has both.
    """

    __slots__ = ("by_type", "id")

    def __init__(self, id: int) -> None:
        self.id = id
        self.by_type: dict[type, list[GroupExpression]] = {}

    def append(self, expression: GroupExpression, of_type: type) -> None:
        """Enters a new member."""
        self.by_type.setdefault(of_type, []).append(expression)


@dataclass(slots=True, eq=False)
class Group:
    """Expressions that are known to be equal.

    ``ghosts`` read the group itself: they belong to it, but are never part of a plan.
    ``properties`` are logical properties, supplied by the operator side. ``parents`` are
    the expressions that read this group (by id, so that their order is stable);
    ``watchers`` those to which a rule was applied that looks at this group's members, with
    that rule. ``explored`` is set as soon as the search begins to apply rules to members.
    """

    id: GroupId
    properties: Any
    expressions: list[GroupExpression] = field(default_factory=list)
    ghosts: list[GroupExpression] = field(default_factory=list)
    logs: list[Log] = field(default_factory=list)
    parents: dict[int, GroupExpression] = field(default_factory=dict)
    watchers: dict[tuple[int, int], GroupExpression] = field(default_factory=dict)
    winners: dict[Hashable, Winner] = field(default_factory=dict)
    explored: bool = False

    def members(self, of_type: type) -> Iterator[GroupExpression]:
        """The living members whose operator has the type."""
        for log in self.logs:
            for expression in log.by_type.get(of_type, ()):
                if expression.alive and type(expression.operator) is of_type:
                    yield expression

    def has(self, of_type: type) -> bool:
        """Whether a member with such an operator ever came."""
        return any(of_type in log.by_type for log in self.logs)

    def add(self, expression: GroupExpression) -> None:
        """Enters a new member."""
        self.expressions.append(expression)
        self.logs[0].append(expression, type(expression.operator))

    def relog(self, expression: GroupExpression, operator: Hashable) -> None:
        """Enters a member again, because merging gave it an operator of another type."""
        self.logs[0].append(expression, type(operator))

"""Groups: all equivalent expressions found so far, and the best plan per properties."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .expression import GroupExpression, GroupId


@dataclass(frozen=True, slots=True)
class Winner:
    """The cheapest known plan of a group under some required properties.

    Attributes:
        cost: ``local`` plus the costs of the winners of ``inputs``, added in order.
        local: the cost of the choice alone.
        choice: the physical operator, opaque to the memo.
        inputs: each input's group and required properties.
    """

    cost: float
    local: float
    choice: Hashable
    inputs: tuple[tuple[GroupId, Hashable], ...]


class Log:
    """The members of a group in the order in which they came, by operator type.

    Positions in a log never change, so a match cursor stays valid. When groups merge their
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

    Attributes:
        id: the number of the group.
        properties: logical properties (:class:`headrace.memo.Operators`).
        expressions: the members, of which plans are made.
        cyclic: expressions that equal the group and read it; never part of a plan.
        logs: the members by type, in the order of their insertion.
        parents: the expressions that read the group, by id, so that their order is stable.
        dependents: expressions, by their id and the number of a rule, to which that rule was
            applied and which it matches together with members of this group.
        winners: the cheapest known plans, by required properties.
        explored: whether the search has begun to apply rules to members.
    """

    id: GroupId
    properties: Any
    expressions: list[GroupExpression] = field(default_factory=list)
    cyclic: list[GroupExpression] = field(default_factory=list)
    logs: list[Log] = field(default_factory=list)
    parents: dict[int, GroupExpression] = field(default_factory=dict)
    dependents: dict[tuple[int, int], GroupExpression] = field(default_factory=dict)
    winners: dict[Hashable, Winner] = field(default_factory=dict)
    explored: bool = False

    def members(self, of_type: type) -> Iterator[GroupExpression]:
        """The living members whose operator has the type."""
        for log in self.logs:
            for expression in log.by_type.get(of_type, ()):
                if expression.alive and type(expression.operator) is of_type:
                    yield expression

    def has(self, of_type: type) -> bool:
        """Whether the group ever had a member with an operator of the type."""
        return any(of_type in log.by_type for log in self.logs)

    def add(self, expression: GroupExpression) -> None:
        """Enters a new member."""
        self.expressions.append(expression)
        self.logs[0].append(expression, type(expression.operator))

    def relog(self, expression: GroupExpression, operator: Hashable) -> None:
        """Enters a member again, because merging gave it an operator of another type."""
        self.logs[0].append(expression, type(operator))


class Groups:
    """The groups of a memo by number, with a union-find over the numbers that merged."""

    def __init__(self) -> None:
        self.alive: dict[GroupId, Group] = {}
        """The groups that were not merged into another one, in the order of their numbers."""
        self._leader: list[GroupId] = []

    def find(self, group: GroupId) -> GroupId:
        """The number under which a group is known now."""
        leader = self._leader
        while leader[group] != group:
            leader[group] = leader[leader[group]]
            group = leader[group]
        return group

    def __getitem__(self, group: GroupId) -> Group:
        """The group of a number, also of one that was merged away."""
        alive = self.alive.get(group)
        return self.alive[self.find(group)] if alive is None else alive

    def __iter__(self) -> Iterator[Group]:
        """The groups in the order of their numbers, as they are when the iteration begins."""
        return iter(tuple(self.alive.values()))

    def __len__(self) -> int:
        """How many groups there are."""
        return len(self.alive)

    def new(self, properties: Any) -> Group:
        """Adds an empty group."""
        group = Group(len(self._leader), properties)
        group.logs.append(Log(group.id))
        self._leader.append(group.id)
        self.alive[group.id] = group
        return group

    def absorb(self, kept: Group, gone: Group) -> None:
        """Moves members and winners of one group to another, which gets the number of both."""
        self._leader[gone.id] = kept.id
        del self.alive[gone.id]
        for expression in (*gone.expressions, *gone.cyclic):
            expression.group = kept.id
        kept.expressions.extend(gone.expressions)
        kept.cyclic.extend(gone.cyclic)
        kept.logs.extend(gone.logs)
        kept.dependents.update(gone.dependents)
        kept.explored = kept.explored or gone.explored
        for properties, winner in gone.winners.items():
            current = kept.winners.get(properties)
            if current is None or winner.cost < current.cost:
                kept.winners[properties] = winner

"""Expressions: what rules yield, and what the memo keeps.

``Expression`` is an immutable value that a rule builds: an operator over groups and
further expressions. ``GroupExpression`` is the memo's record of one operator over groups;
operator and inputs are its identity, the rest is the bookkeeping of the search.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Protocol, Self

GroupId = int
"""The number of a group; resolve a stored one with :meth:`headrace.memo.Memo.find`."""


class Operator(Hashable, Protocol):
    """What the memo wants of an operator: a value with one canonical form over its inputs."""

    def canonical(self, inputs: tuple[int, ...], /) -> tuple[Self, tuple[int, ...]]:
        """The form in which equal operators over equal inputs are equal."""
        ...


Digest = tuple[Hashable, tuple[GroupId, ...]]
"""The identity of a group expression: its operator and the groups it reads."""


class Expression(NamedTuple):
    """An operator over groups of the memo and expressions that are not yet in it."""

    operator: Hashable
    inputs: tuple[Expression | GroupId, ...] = ()


Tree = Expression | GroupId
"""What a rule yields: a new expression, or a group that is equal as it stands."""


class GroupExpression:
    """One operator over groups.

    ``id`` is unique and grows with the time of insertion. ``rule`` and ``source`` say what
    made it. ``fired`` has a bit for each rule applied to it, ``needless`` one for each rule
    that would find nothing new, ``barred`` one for each that is not to be applied. ``marks``
    remember, by rule, how far into which log of an input group its members were matched.
    """

    __slots__ = (
        "alive",
        "barred",
        "fired",
        "group",
        "id",
        "inputs",
        "marks",
        "needless",
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
        self.needless = 0
        self.barred = 0
        self.marks: dict[int, dict[tuple[int, int], int]] = {}

    @property
    def digest(self) -> Digest:
        """The expression's identity."""
        return self.operator, self.inputs

    def __repr__(self) -> str:
        inputs = " ".join(f"G{i}" for i in self.inputs)
        return f"<e{self.id} in G{self.group}: {self.operator} {inputs}>"

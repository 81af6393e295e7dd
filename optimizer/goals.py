"""Goals of the search: a group under required properties, with its bounds and winner."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ..algebra.physical import PhysicalOperator
from ..algebra.properties import RequiredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import GroupId, Winner

GoalKey = tuple[GroupId, RequiredProperties]
"""The identity of a goal: its group and the required properties."""


class Costed(NamedTuple):
    """The rows that an operator emits and those that its inputs emit, on the busiest partition."""

    output: Characteristics
    inputs: tuple[Characteristics, ...]


class Choice(NamedTuple):
    """A physical operator over groups.

    Attributes:
        operator: what computes the group.
        inputs: the groups that the operator reads.
        local: the operator's own cost per time unit.
        costed: the characteristics from which the cost was computed.
        rule: the implementation rule, or the name of the enforcer.
        source: the id of the logical expression that is computed; -1 for an enforcer.
    """

    operator: PhysicalOperator
    inputs: tuple[GroupId, ...]
    local: float
    rule: str
    source: int
    costed: Costed


class Goal:
    """A group under required properties.

    Attributes:
        group: the group to compute.
        required: the properties of its rows.
        best: the cheapest plan found so far; the cheapest of all once ``done``.
        done: whether all alternatives were tried and there is a plan.
        failed: the largest cost bound under which there is certainly no plan.
        active: whether alternatives are being tried.
        limit: the cost bound for the alternatives.
        physical: the alternatives by operators that compute the group; None before the first use.
        enforced: the alternatives by an enforcer; None before the first use.
    """

    __slots__ = (
        "active", "best", "done", "enforced", "failed", "group", "limit", "physical", "required"
    )  # fmt: skip

    def __init__(self, group: GroupId, required: RequiredProperties) -> None:
        self.group = group
        self.required = required
        self.best: Winner | None = None
        self.done = False
        self.failed = -inf
        self.active = False
        self.limit = inf
        self.physical: tuple[Alternative, ...] | None = None
        self.enforced: tuple[Alternative, ...] | None = None

    @property
    def key(self) -> GoalKey:
        """Its group and required properties."""
        return self.group, self.required

    @property
    def at_least(self) -> float:
        """A lower bound of the cost of any plan."""
        if self.done and self.best is not None:
            return self.best.cost
        return max(self.failed, 0.0)


class Alternative(NamedTuple):
    """An alternative of a goal: a choice over the goals of its inputs."""

    choice: Choice
    inputs: tuple[Goal, ...]

    @property
    def at_least(self) -> float:
        """A lower bound of its cost."""
        return sum([below.at_least for below in self.inputs], self.choice.local)

    def winner(self, cost: float) -> Winner:
        """The winner of a goal that takes this alternative at a cost."""
        below = tuple([(goal.group, goal.required) for goal in self.inputs])
        return Winner(cost, self.choice.local, self.choice, below)

    @property
    def settled(self) -> bool:
        """Whether the search knows the exact cost."""
        return all(below.done for below in self.inputs)

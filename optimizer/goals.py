"""Goals of the search: a group under required properties, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ..algebra.physical import PhysicalOperator
from ..algebra.properties import RequiredProperties
from ..memo import GroupId, Winner


@dataclass(frozen=True, slots=True)
class Choice:
    """A physical operator over groups: one way to compute a group.

    ``local`` is its own cost; ``rule`` what proposed it for the logical expression with the
    number ``source`` (-1 for an enforcer).
    """

    operator: PhysicalOperator
    inputs: tuple[GroupId, ...]
    local: float
    rule: str
    source: int


class Goal:
    """A group under required properties.

    ``best`` is the cheapest plan found so far, and the cheapest of all once ``done``.
    ``failed`` is the largest bound under which there is certainly no plan. ``active`` while
    its alternatives are tried, within ``limit``.
    """

    __slots__ = ("active", "best", "done", "failed", "group", "limit", "required")

    def __init__(self, group: GroupId, required: RequiredProperties) -> None:
        self.group = group
        self.required = required
        self.best: Winner | None = None
        self.done = False
        self.failed = -inf
        self.active = False
        self.limit = inf

    @property
    def at_least(self) -> float:
        """What a plan for it certainly costs."""
        if self.done and self.best is not None:
            return self.best.cost
        return max(self.failed, 0.0)

"""The patterns that one MATCH, or a pattern in a condition, adds to a body."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.window import Window
from .bodies import Body
from .clauses import Match
from .path_tests import Conditions, conditions_of, read_by
from .syntax import Exists, Part, Relationship


@dataclass(frozen=True, slots=True)
class Block:
    """The parts of one MATCH, and what holds for all of them.

    Attributes:
        parts: the parts.
        within: the window of WITHIN, if any.
        new: whether the parts may bind new variables.
        conditions: the conditions after WHERE.
        read: the names of paths whose nodes, relationships or length are read.
        returned: the names of paths that the answer returns.
    """

    parts: tuple[Part, ...]
    within: Window | None
    new: bool
    conditions: Conditions
    read: frozenset[str]
    returned: frozenset[str] = frozenset()

    @staticmethod
    def of(match: Match, body: Body, returned: frozenset[str], read: frozenset[str]) -> Block:
        """The block of a MATCH."""
        parts = match.parts
        within = None if match.within is None else body.program.length(match.within)
        conditions = conditions_of(parts, match.condition, counted=body.counted, read=read)
        return Block(parts, within, True, conditions, read, returned)

    @staticmethod
    def of_test(test: Exists) -> Block:
        """The block of a pattern in a condition."""
        read = read_by(test.parts, test.condition, counted=False)
        conditions = conditions_of(test.parts, test.condition, counted=False, read=read)
        return Block(test.parts, None, test.is_block, conditions, read)

    @property
    def relationships(self) -> tuple[Relationship, ...]:
        """All relationships but those of shortest paths."""
        return tuple(
            one
            for part in self.parts
            if part.shortest is None
            for one in part.pattern.relationships
        )

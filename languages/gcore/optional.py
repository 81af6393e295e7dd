"""Translates OPTIONAL to rules, which have no outer join.

- A block with unused vertices is dropped.
- A block is joined like a mandatory one if the answer needs its vertices (in an edge of the answer,
  an equality, or another pattern).
- Blocks of one MATCH are alternatives if they share the same mandatory vertices and bind the same
  used vertices.
- A block is refused if the answer would have to show its absence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..query.atoms import Location
from . import errors
from .bodies import Part, vertices_of


@dataclass(frozen=True, slots=True)
class OptionalBlock:
    """An OPTIONAL block with its alternative parts; ``match`` is the number of its MATCH."""

    match: int
    parts: tuple[Part, ...]
    at: Location

    @property
    def own(self) -> frozenset[str]:
        """The variables of the patterns of the block."""
        return self.parts[0].own

    @property
    def variables(self) -> frozenset[str]:
        """All variables of the block."""
        return frozenset[str]().union(*(part.variables for part in self.parts))


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternative blocks; the chosen one is joined with the rest on ``interface``."""

    blocks: tuple[OptionalBlock, ...]
    interface: frozenset[str]

    @property
    def match(self) -> int:
        """The number of the MATCH of the blocks."""
        return self.blocks[0].match

    @property
    def variables(self) -> frozenset[str]:
        """The variables that other blocks can share with the choice."""
        return self.blocks[0].variables if len(self.blocks) == 1 else self.interface

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts to choose from."""
        return tuple(part for block in self.blocks for part in block.parts)

    @property
    def is_binary(self) -> bool:
        """Whether one binary predicate can represent all parts."""
        ends = len(self.interface) == 2 and all(
            self.interface <= {name for pattern, _ in part.located for name in vertices_of(pattern)}
            for part in self.parts
        )
        return ends and all(part.is_complete for part in self.parts)


def joined(
    blocks: Sequence[OptionalBlock],
    mandatory: Sequence[Part],
    head: frozenset[str],
    head_fails: bool,
) -> list[Choice]:
    """The choices that are joined, in the order of the text.

    ``mandatory`` is the part of each MATCH, ``head`` the variables of the answer.
    ``head_fails``: a missing variable of the head removes the answer.

    Raises:
        QueryError: E-OPT if the answer would have to show an absence.
    """
    tested = frozenset[str]().union(*(part.tested for part in mandatory))
    fails = tested | head if head_fails else tested
    choices = _choices(blocks, mandatory, head | tested)
    taken: set[int] = set()
    while True:
        more = {
            number
            for number, choice in enumerate(choices)
            if number not in taken
            and _new(number, choices, mandatory)
            & (fails | _patterns_using(number, choice, choices, mandatory, taken))
        }
        if not more:
            break
        taken |= more
    for number, choice in enumerate(choices):
        shared = [choices[other].variables & choice.variables for other in taken if other < number]
        bound = mandatory[choice.match].own
        new = _new(number, choices, mandatory)
        edges = frozenset[str]().union(*(part.edges for part in choice.parts))
        again = not (new - edges) and any(names - bound for names in shared)
        if number not in taken and (new & head or again):
            raise errors.OPTIONAL.error(choice.blocks[0].at, "OPTIONAL")
    return [choices[number] for number in sorted(taken)]


def _choices(
    blocks: Sequence[OptionalBlock], mandatory: Sequence[Part], used: frozenset[str]
) -> list[Choice]:
    """The blocks grouped by the variables that they share with the rest; a group is a choice."""
    kinds: dict[object, list[OptionalBlock]] = {}
    interfaces: dict[object, frozenset[str]] = {}
    for number, block in enumerate(blocks):
        bound = mandatory[block.match].own
        elsewhere = [part.own for m, part in enumerate(mandatory) if m != block.match]
        elsewhere += [other.variables for other in blocks if other.match != block.match]
        exported = (block.own - bound) & used.union(*elsewhere)
        over = block.variables & bound
        kind: object = (block.match, over, exported) if exported else number
        kinds.setdefault(kind, []).append(block)
        interfaces[kind] = over | exported
    choices = [Choice(tuple(alike), interfaces[kind]) for kind, alike in kinds.items()]
    for choice in choices:
        inside = frozenset[str]().union(*(block.variables for block in choice.blocks))
        for other in choices:
            local = inside - choice.variables
            if other is not choice and other.match == choice.match and local & other.variables:
                raise errors.OPTIONAL.error(choice.blocks[0].at, "OPTIONAL")
    return choices


def _new(number: int, choices: Sequence[Choice], mandatory: Sequence[Part]) -> frozenset[str]:
    """The vertices and edges that no earlier block of the MATCH binds."""
    choice = choices[number]
    before = [other.variables for other in choices[:number] if other.match == choice.match]
    return choice.variables.difference(mandatory[choice.match].own, *before)


def _patterns_using(
    number: int,
    choice: Choice,
    choices: Sequence[Choice],
    mandatory: Sequence[Part],
    taken: set[int],
) -> frozenset[str]:
    """The vertices of the other required patterns: of other MATCHes and of later blocks."""
    parts = [part.own for m, part in enumerate(mandatory) if m != choice.match]
    later = [
        choices[other].variables
        for other in taken
        if other > number or choices[other].match != choice.match
    ]
    return frozenset[str]().union(*parts, *later)

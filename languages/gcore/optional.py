"""The translation of OPTIONAL into rules, which have no outer join.

- A block whose vertices are not used is dropped.
- A block whose vertices are used where their absence fails (an edge of the answer, an equality,
  another pattern) is joined like any other.
- Blocks of one MATCH over the same mandatory vertices that bind the same used ones are
  alternatives of each other.
- A block whose absence the answer would have to show is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..query.regular_query import Location
from . import errors
from .bodies import Part, vertices_of


@dataclass(frozen=True, slots=True)
class OptionalBlock:
    """An OPTIONAL block of the MATCH with this number, and its alternative parts."""

    match: int
    parts: tuple[Part, ...]
    at: Location

    @property
    def own(self) -> frozenset[str]:
        """The variables of its patterns."""
        return self.parts[0].own

    @property
    def variables(self) -> frozenset[str]:
        """All variables in it."""
        return frozenset[str]().union(*(part.variables for part in self.parts))


@dataclass(frozen=True, slots=True)
class Choice:
    """Blocks of which one is taken, joined on ``interface`` with the rest."""

    blocks: tuple[OptionalBlock, ...]
    interface: frozenset[str]

    @property
    def match(self) -> int:
        """The number of their MATCH."""
        return self.blocks[0].match

    @property
    def variables(self) -> frozenset[str]:
        """The variables that other blocks can share with it."""
        return self.blocks[0].variables if len(self.blocks) == 1 else self.interface

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts to choose from."""
        return tuple(part for block in self.blocks for part in block.parts)

    @property
    def is_binary(self) -> bool:
        """Whether all that is chosen from can be one predicate over two vertices."""
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

    ``mandatory`` is the part of each MATCH; ``head`` the variables of the answer, and
    ``head_fails`` whether there is no answer without them.

    Raises:
        QueryError: E-OPT if an absence would have to be told.
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
    """The blocks by what they share with the rest; those of one kind are one choice."""
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
    """The vertices and edges that a choice is the first of its MATCH to bind."""
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
    """The vertices of the patterns that must hold too: of other MATCHes and later blocks."""
    parts = [part.own for m, part in enumerate(mandatory) if m != choice.match]
    later = [
        choices[other].variables
        for other in taken
        if other > number or choices[other].match != choice.match
    ]
    return frozenset[str]().union(*parts, *later)

"""Translates a CONSTRUCT or SELECT with its MATCHes to a rule for each edge and alternative.

A rule combines one alternative of each condition and of each OPTIONAL block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from ..query.atoms import EdgeAtom, Variable
from ..query.errors import line_of
from . import errors
from .bodies import Body, Part, vertices_of
from .conditions import MOST_ALTERNATIVES, alternatives, too_many
from .heads import Head, check_paths, edges_of, table_of, with_columns, with_paths
from .links import Links
from .optional import Choice, OptionalBlock, joined
from .program import Program
from .scope import scope_of
from .sources import DEFAULT_SOURCE, Source
from .syntax import Basic, Block, Construct, Match, Name, On, Pattern

SourceOf = Callable[[On], Source]


class Statement:
    """Translates one statement; ``source_of`` returns the source of an ON."""

    def __init__(self, program: Program, basic: Basic, source_of: SourceOf) -> None:
        self._program = program
        self._basic = basic
        self._scope = scope_of(basic)
        self._links = Links(program, basic.macros)
        self._mandatory: list[list[Part]] = []
        self._optional: list[OptionalBlock] = []
        self._taken: set[OptionalBlock] = set()
        if sum(1 + len(match.optional) for match in basic.matches) > MOST_ALTERNATIVES:
            raise too_many()
        for number, match in enumerate(basic.matches):
            self._read(number, match, source_of)

    def translate(self, predicates: Mapping[str, str]) -> None:
        """Adds the rules; ``predicates`` are those of each label; a table has the key ""."""
        head = self._basic.head
        if isinstance(head, Construct):
            for edge in edges_of(head):
                assert edge.label is not None
                for column in edge.paths:
                    self._scope.check_path(column.names[0])
                for column in edge.columns:
                    if not isinstance(column.value, Name):
                        continue
                    self._scope.check_vertex(column.value, errors.NEW_VERTEX)
                self._define(predicates[edge.label.text], edge)
        else:
            self._define(predicates[""], table_of(head, self._scope))
        self._links.warn_of_unused()
        for block in self._optional:
            if block not in self._taken:
                reason = "nothing uses what it binds, so it is left out"
                self._program.warnings.append(line_of("W-UNUSED", block.at, "OPTIONAL", reason))

    def _read(self, number: int, match: Match, source_of: SourceOf) -> None:
        """Reads a MATCH; the source of a pattern is the first ON at or after the pattern."""
        source: Source = DEFAULT_SOURCE
        located: list[list[tuple[Pattern, Source]]] = []
        for block in reversed((match.block, *match.optional)):
            inside: list[tuple[Pattern, Source]] = []
            for matched in reversed(block.matched):
                source = source if matched.on is None else source_of(matched.on)
                inside.append((matched.pattern, source))
            located.append(inside[::-1])
        first, *others = located[::-1]
        self._mandatory.append(self._parts(match.block, first))
        for block, patterns in zip(match.optional, others, strict=True):
            parts = tuple(self._parts(block, patterns))
            self._optional.append(OptionalBlock(number, parts, block.at))

    def _parts(self, block: Block, patterns: list[tuple[Pattern, Source]]) -> list[Part]:
        holding = alternatives(block.condition, self._scope)
        return [Part.of(patterns, holds) for holds in holding]

    def _define(self, predicate: str, head: Head) -> None:
        """Adds a rule for each combination of alternatives."""
        head = with_paths(head, self._links.returned)
        count = 0
        for mandatory in product(*self._mandatory):
            choices = joined(self._optional, mandatory, head.variables, head.label is not None)
            self._taken.update(block for choice in choices for block in choice.blocks)
            for taken in product(*map(_alternatives, choices)):
                count += 1
                if count > MOST_ALTERNATIVES:
                    raise too_many()
                body = Body(self._program.variables())
                for number, part in enumerate(mandatory):
                    self._add(body, part)
                    for choice, chosen in zip(choices, taken, strict=True):
                        if choice.match == number:
                            self._add_choice(body, choice, chosen)
                rule = body.finished(
                    predicate, head.vertices, head.at, head.referenced, head.outputs
                )
                check_paths(head, rule)
                self._program.rules.append(with_columns(head, rule, body.anonymous))

    def _add(self, body: Body, part: Part) -> None:
        for pattern, source in part.located:
            self._links.add(body, pattern, source)
        body.hold(part.holds)

    def _add_choice(self, body: Body, choice: Choice, chosen: Part | None) -> None:
        """Adds the chosen part; None adds an atom over a predicate of all parts."""
        if chosen is not None:
            self._add(body, chosen)
            return
        at = choice.blocks[0].at
        order = dict.fromkeys(
            name for pattern, _ in choice.parts[0].located for name in vertices_of(pattern)
        )
        ends = [name for name in order if name in choice.interface]
        predicate = self._program.names.fresh("either")
        sources: list[list[set[Source]]] = []
        for part in choice.parts:
            inside = Body(self._program.variables())
            self._add(inside, part)
            self._program.rules.append(inside.finished(predicate, ends, at))
            sources.append([inside.sources_of(name) for name in ends])
        source, target = map(Variable, ends)
        body.atoms.append(EdgeAtom.of(predicate, source, target, at))
        for name, several in zip(ends, zip(*sources, strict=True), strict=True):
            body.bind(name, *set.intersection(*several))


def _alternatives(choice: Choice) -> tuple[Part | None, ...]:
    """The parts to choose from; None stands for one predicate of all parts."""
    return (None,) if len(choice.blocks) > 1 and choice.is_binary else choice.parts

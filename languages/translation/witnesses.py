"""Returned paths: the rule without path columns, and the columns of each path's ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...algebra.logical import LogicalExpression
from ..query.conditions import key_of_end
from ..query.errors import QueryError
from ..query.regular_query import Location, PathAtom, Rule, Variable
from ..query.returned_paths import path_columns
from .reports import streams_with_deletions


def check_no_deletions(expression: LogicalExpression, at: Location) -> None:
    """Checks that no stream below an answer with paths has deletions.

    Raises:
        QueryError: E-LATER.
    """
    for stream in streams_with_deletions(expression):
        raise QueryError(
            "E-LATER",
            "paths in the answer over a stream with deletions are not supported yet",
            at=at,
            text=stream,
            hint="answer with the vertices that the path joins",
        )


@dataclass(frozen=True, slots=True)
class Ends:
    """A returned path: its atom, and the columns of its ends."""

    name: str
    atom: PathAtom
    source: int
    target: int


def without_paths(rule: Rule) -> tuple[Rule, tuple[Ends, ...]]:
    """The rule with the ends of its paths in place of path columns, and the ends."""
    paths = path_columns(rule)
    own = tuple((name, of) for name, of in rule.properties if name not in paths)
    taken = {name for name, _ in own}
    columns = [name for name in rule.variables if name not in paths]
    ends: list[Ends] = []
    for name, of in paths.items():
        number, atom = next(
            (number, atom)
            for number, atom in enumerate(rule.body)
            if isinstance(atom, PathAtom) and atom.alias == of.path
        )
        places: list[int] = []
        for column, term in enumerate((atom.source, atom.target)):
            # The column of a constant has no name in the text.
            end = term.name if isinstance(term, Variable) else key_of_end(number, column)
            if end not in columns or end in taken:
                columns.append(end)
            places.append(columns.index(end))
        ends.append(Ends(name, atom, *places))
    return replace(rule, variables=tuple(columns), properties=own), tuple(ends)

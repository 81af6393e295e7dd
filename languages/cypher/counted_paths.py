"""``count(p)`` of a path.

A path that is not null has a length, so the query counts lengths: ``count(length(p))``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..query.shortest_paths import LENGTH
from .clauses import Item, Match, Projection, Single, Unwind, With
from .leaves import Variable
from .projections import closes
from .syntax import Call, Expression
from .walking import with_parts


def with_counted_lengths(single: Single) -> Single:
    """The query with ``count(length(p))`` in place of each ``count(p)`` of a path."""
    paths = set[str]()
    clauses: list[Match | With | Unwind] = []
    for clause in single.clauses:
        if isinstance(clause, Match):
            paths |= {part.variable.text for part in clause.parts if part.variable is not None}
        if isinstance(clause, With):
            clauses.append(replace(clause, projection=_counting(clause.projection, paths)))
            paths = _passed_on(clause.projection, paths)
        else:
            clauses.append(clause)
    return replace(single, clauses=tuple(clauses), result=_counting(single.result, paths))


def _passed_on(projection: Projection, paths: Collection[str]) -> set[str]:
    """The names of paths behind a WITH; one that closes a rule hands none on to be counted."""
    if closes(projection):
        return set()
    return set(paths if projection.is_star else ()) | {
        item.name
        for item in projection.items
        if isinstance(item.value, Variable) and item.value.name.text in paths
    }


def _counting(projection: Projection, paths: Collection[str]) -> Projection:
    items = tuple(
        Item(_over_lengths(item.value, paths), item.alias, item.text) for item in projection.items
    )
    return replace(projection, items=items)


def _over_lengths(of: Expression, paths: Collection[str]) -> Expression:
    """An expression that counts the lengths of paths."""
    if isinstance(of, Call) and of.function.text.lower() == "count" and not of.distinct:
        match of.arguments:
            case (Variable(name) as path,) if name.text in paths:
                length = Call(replace(of.function, text=LENGTH), (path,))
                return replace(of, arguments=(length,))
    return with_parts(of, lambda part: _over_lengths(part, paths))

"""``*`` of a WITH with a LIMIT of rows that may repeat, as the variables that it stands for.

A relationship cannot be a column, so only the variables that the query reads behind the WITH become
columns. Rows that agree in these are told apart by their numbers (:mod:`.limited_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from .clauses import Item, Match, Projection, Single, Unwind, With
from .leaves import HasLabels, Name, Property, Variable
from .projections import closes
from .syntax import Node, Part, Relationship


def with_star_columns(single: Single, is_limited: Callable[[Projection], bool]) -> Single:
    """The query with columns in place of the ``*`` of each WITH that ``is_limited`` chooses."""
    clauses: list[Match | With | Unwind] = []
    known: dict[str, None] = {}
    for place, clause in enumerate(single.clauses):
        clauses.append(clause)
        if isinstance(clause, With):
            given = clause.projection
            if given.is_star and is_limited(given):
                later = single.clauses[place + 1 :]
                read = {*_names((clause.condition, later, single.result))}
                is_read_all = single.result.is_star or any(map(_closes_all, later))
                given = _over_columns(given, [n for n in known if is_read_all or n in read])
                clauses[-1] = replace(clause, projection=given)
            passed = known if given.is_star else {}
            known = {**passed, **dict.fromkeys(item.name for item in given.items)}
        elif isinstance(clause, Match):
            known |= dict.fromkeys(_names(clause.parts))
        else:
            known[clause.variable.text] = None
    return replace(single, clauses=tuple(clauses))


def _closes_all(clause: Match | With | Unwind) -> bool:
    """Whether a clause gives all variables as columns of rows of its own."""
    is_star = isinstance(clause, With) and clause.projection.is_star
    return is_star and isinstance(clause, With) and closes(clause.projection)


def _over_columns(given: Projection, names: list[str]) -> Projection:
    columns = [Item(Variable(Name(name, given.at)), None, name) for name in names]
    return replace(given, items=(*columns, *given.items), is_star=False)


def _names(tree: Any) -> Iterator[str]:
    """The variables in a tree, also those of its patterns."""
    match tree:
        case Variable(name) | HasLabels(name) | Property(name):
            yield name.text
        case Node(variable) | Relationship(variable) | Part(variable) if variable is not None:
            yield variable.text
    parts = tree if isinstance(tree, tuple) else ()
    if is_dataclass(tree):
        parts = tuple(getattr(tree, field.name) for field in fields(tree))
    for part in parts:
        yield from _names(part)

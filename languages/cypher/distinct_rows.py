"""Projections whose rows cannot repeat, so that DISTINCT changes nothing.

The rows of a WITH that closes a rule are different from each other in its keys. They stay different
while no pattern and no UNWIND follows and each WITH passes the keys on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .clauses import Item, Match, Projection, Unwind, With
from .leaves import Literal, Variable
from .lists import named_lists
from .projections import aggregates, is_aggregated
from .syntax import Call


def with_distinct(
    projection: Projection, start: Projection | None, clauses: Sequence[Match | With | Unwind]
) -> Projection:
    """The projection of a WITH, with DISTINCT where its rows or the values of its lists differ.

    Args:
        projection: the projection.
        start: the projection of the last WITH before it that closes a rule, if any.
        clauses: the clauses between the two.
    """
    keys = keys_of(start, clauses)
    if not is_aggregated(projection):
        read = _variables([item.value for item in projection.items])
        is_different = keys is not None and (projection.is_star or keys <= read)
        return replace(
            projection, distinct=projection.distinct or is_different or _is_one(projection)
        )
    if keys is None:
        return projection
    groups = [item.value for item in projection.items if not any(aggregates(item.value))]
    lists = {
        item.name: _with_distinct(item, keys - _variables(groups))
        for item in named_lists(projection)
    }
    return replace(projection, items=tuple(lists.get(one.name, one) for one in projection.items))


def _is_one(projection: Projection) -> bool:
    """Whether a projection has one row, or none."""
    limit = projection.limit
    return isinstance(limit, Literal) and limit.value == 1 and projection.skip is None


def _with_distinct(item: Item, keys: Collection[str]) -> Item:
    """A list by other keys of its rows, with DISTINCT if its argument is the last key of them."""
    assert isinstance(item.value, Call)
    if not _variables(item.value.arguments) >= set(keys):
        return item
    return replace(item, value=replace(item.value, distinct=True))


def _variables(values: Sequence[object]) -> set[str]:
    """The names of the values that are variables."""
    return {of.name.text for of in values if isinstance(of, Variable)}


def keys_of(start: Projection | None, clauses: Sequence[Match | With | Unwind]) -> set[str] | None:
    """The variables in which all rows after some clauses differ; None if rows may repeat.

    ``start`` and ``clauses`` are as of :func:`with_distinct`.
    """
    if start is None or start.is_star:
        return None
    keys = {item.name for item in start.items if not any(aggregates(item.value))}
    for clause in clauses:
        if not isinstance(clause, With):
            return None
        names = {
            item.value.name.text: item.name
            for item in clause.projection.items
            if isinstance(item.value, Variable)
        }
        if clause.projection.is_star:
            names |= {key: key for key in keys}
        if not keys <= names.keys():
            return None
        keys = {names[key] for key in keys}
    return keys

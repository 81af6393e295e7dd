"""Translates ORDER BY, SKIP and LIMIT.

A key that is computed from columns becomes a further column of the rows that are ordered; a last
rule leaves it out. Since the columns decide its value, no row comes twice by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra.orders import Direction
from ..query.regular_query import Limit
from . import errors
from .clauses import Item, Projection
from .expression_text import expression_text
from .program import Program
from .syntax import Call, Exists, Expression, HasLabels, Literal, Name, Property, Variable
from .values import AGGREGATES
from .walking import with_parts


def with_keys(program: Program, projection: Projection) -> Projection:
    """The projection with a column for each key of its order that is computed from columns.

    Raises:
        QueryError: E-LATER for a key that columns do not decide.
    """
    items = projection.items
    keys: dict[str, Item] = {}
    for key in projection.order if items and projection.limit is not None else ():
        text = expression_text(key.value)
        if _column(items, text) is None:
            value = _of_values(key.value, items)
            keys[text] = Item(value, Name(program.fresh("key"), key.value.at), text)
    return replace(projection, items=(*items, *keys.values())) if keys else projection


def limit_of(projection: Projection, items: Sequence[Item]) -> Limit | None:
    """The order of the columns ``items`` and the number of rows.

    Raises:
        QueryError: E-ORDER for an order or SKIP without LIMIT, E-LATER for a key that is not a
            column, E-SYNTAX for numbers that are not written out.
    """
    if projection.limit is None:
        if projection.skip is not None:
            raise errors.SKIP_ONLY.error(projection.skip.at, "SKIP")
        if projection.order:
            raise errors.ORDER_ONLY.error(projection.order[0].value.at, "ORDER BY")
        return None
    rows = _rows(projection.limit)
    skipped = 0 if projection.skip is None else _rows(projection.skip)
    order: list[tuple[str, Direction]] = []
    for key in projection.order:
        text = expression_text(key.value)
        column = _column(items, text)
        if column is None:
            raise errors.SORTED.error(key.value.at, text)
        order.append((column.name, "desc" if key.descending else "asc"))
    return Limit(tuple(order), rows, projection.limit.at, skipped)


def _column(items: Sequence[Item], text: str) -> Item | None:
    """The column of a name, else the one of a value with this text; None without any."""
    named = (item for item in items if item.name == text)
    return next(named, next((item for item in items if item.text == text), None))


def _of_values(of: Expression, items: Sequence[Item]) -> Expression:
    """An expression over columns, with their values in place of their names.

    Raises:
        QueryError: E-LATER if it reads anything else.
    """
    text = expression_text(of)
    column = _column(items, text)
    if column is not None:
        return column.value
    reads = isinstance(of, Variable | Property | Exists | HasLabels)
    if reads or (isinstance(of, Call) and of.function.text.lower() in AGGREGATES):
        raise errors.SORTED.error(of.at, text)
    return with_parts(of, lambda part: _of_values(part, items))


def _rows(of: Expression) -> int:
    """A number of rows."""
    count = of.value if isinstance(of, Literal) else None
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise errors.ROWS.error(of.at, expression_text(of))
    return count

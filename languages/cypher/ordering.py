"""Translates ORDER BY, SKIP and LIMIT.

A key that is computed from columns becomes a further column of the rows that are ordered; a last
rule leaves it out. Since the columns decide its value, no row comes twice by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra.orders import Direction
from ..query.errors import line_of
from ..query.regular_query import Limit
from . import errors
from .bodies import Body
from .clauses import Item, Projection, Sorted
from .expression_text import expression_text
from .leaves import HasLabels, Literal, Name, Property, Variable
from .program import Program
from .syntax import Call, Exists, Expression, MatchCount
from .values import AGGREGATES
from .walking import names_in, with_parts


def with_keys(program: Program, projection: Projection) -> Projection:
    """The projection with an order by columns, of which those come last that only the order has.

    Raises:
        QueryError: E-LATER for a key that columns do not decide.
    """
    items, is_star = projection.items, projection.is_star
    if projection.limit is None:
        return projection
    keys: dict[str, Item] = {}
    order: list[Sorted] = []
    for key in projection.order:
        text = expression_text(key.value)
        column = column_of(items, text) or keys.get(text)
        if column is None and is_star and isinstance(key.value, Variable):
            order.append(key)
            continue
        if column is None:
            value = _of_values(key.value, items, is_star=is_star)
            name = Name(program.fresh("key"), key.value.at)
            column = keys[text] = Item(value, name, text)
        order.append(replace(key, value=Variable(Name(column.name, key.value.at))))
    return replace(projection, items=(*items, *keys.values()), order=tuple(order))


def without_order(program: Program, result: Projection) -> Projection:
    """RETURN without an order that chooses no rows, of which a warning tells."""
    if not result.order or result.limit is not None or result.skip is not None:
        return result
    at = result.order[0].value.at
    reason = "a result is a set of rows, which has no order"
    hint = "sort the answers after the query, or add LIMIT, by which the order chooses rows"
    program.warnings.append(line_of("W-ORDER", at, "ORDER BY", reason, hint))
    return replace(result, order=())


def check_order(body: Body, projection: Projection, order: Sequence[Sorted]) -> None:
    """Checks that the keys of an order read columns, and variables that a body binds.

    Raises:
        QueryError: E-SAFE for another one.
    """
    columns = {item.name for item in projection.items}
    for key in order:
        for name in names_in(key.value):
            if name is not None and name not in columns:
                at = key.value.at
                if body.bound(Name(name, at)) is None:
                    raise errors.UNBOUND.error(at, name)


def limit_of(projection: Projection, items: Sequence[Item]) -> Limit | None:
    """The order by the columns ``items``, as :func:`with_keys` gives it, and the number of rows.

    Raises:
        QueryError: E-ORDER for an order or SKIP without LIMIT, E-LATER for a key that is not the
            name of a column, E-SYNTAX for numbers that are not written out.
    """
    if projection.limit is None:
        if projection.skip is not None:
            raise errors.SKIP_ONLY.error(projection.skip.at, "SKIP")
        if projection.order:
            raise errors.ORDER_ONLY.error(projection.order[0].value.at, "ORDER BY")
        return None
    rows = rows_of(projection.limit)
    skipped = 0 if projection.skip is None else rows_of(projection.skip)
    names = {item.name for item in items}
    order: list[tuple[str, Direction]] = []
    for key in projection.order:
        name = key.value.name.text if isinstance(key.value, Variable) else None
        if name is None or name not in names:
            raise errors.SORTED.error(key.value.at, expression_text(key.value))
        order.append((name, "desc" if key.descending else "asc"))
    return Limit(tuple(order), rows, projection.limit.at, skipped)


def column_of(items: Sequence[Item], text: str) -> Item | None:
    """The column of a name, else the one of a value with this text; None without any.

    A value is not meant if a column has the name of one of its variables for something else.
    """
    others = {i.name for i in items if i.text != i.name}
    named = (item for item in items if item.name == text)
    same = (i for i in items if i.text == text and others.isdisjoint(names_in(i.value)))
    return next(named, next(same, None))


def _of_values(of: Expression, items: Sequence[Item], *, is_star: bool) -> Expression:
    """An expression over columns, with their values in place of their names.

    With ``*`` all variables are columns.

    Raises:
        QueryError: E-LATER if it reads anything else.
    """
    text = expression_text(of)
    column = column_of(items, text)
    if column is not None:
        return column.value
    if isinstance(of, Property) and (is_star or _is_column(of.owner.text, items)):
        return of
    if is_star and isinstance(of, Variable):
        return of
    reads = isinstance(of, Variable | Property | Exists | MatchCount | HasLabels)
    if reads or (isinstance(of, Call) and of.function.text.lower() in AGGREGATES):
        raise errors.SORTED.error(of.at, text)
    return with_parts(of, lambda part: _of_values(part, items, is_star=is_star))


def _is_column(name: str, items: Sequence[Item]) -> bool:
    """Whether a variable is a column by its own name, so that the column decides its properties."""
    return any(isinstance(i.value, Variable) and i.value.name.text == i.name == name for i in items)


def rows_of(of: Expression) -> int:
    """The number of rows of LIMIT or SKIP.

    Raises:
        QueryError: E-SYNTAX if it is not written out as a whole number that is not negative.
    """
    count = of.value if isinstance(of, Literal) else None
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise errors.ROWS.error(of.at, expression_text(of))
    return count

"""The order of the rows of a relation, for operators that keep the first of them.

An order has pairs of a column and a direction. Rows that agree in all of these are ordered by the
other columns, ascending, from the first column to the last: so an order is total.

Numbers come before strings, strings before truth values. Strings are ordered by their characters. A
missing value comes last in both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final, Literal, get_args

Direction = Literal["asc", "desc"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)

Order = tuple[tuple[int, Direction], ...]
"""Columns with their directions, the most significant first."""


def shortest(order: Sequence[tuple[int, Direction]]) -> Order:
    """The shortest order that is equal to an order: without the columns that only follow from it.

    >>> shortest([(1, "desc"), (0, "asc"), (1, "asc")])
    ((1, 'desc'),)
    """
    first: dict[int, Direction] = {}
    for column, direction in order:
        first.setdefault(column, direction)
    kept = list(first.items())
    while kept:
        *before, (column, direction) = kept
        columns = {other for other, _ in before}
        if direction == "desc" or column != next(c for c in count() if c not in columns):
            break
        kept = before
    return tuple(kept)


def total(order: Order, width: int) -> Order:
    """All columns of a relation in an order, with those that the order does not name."""
    named = {column for column, _ in order}
    others = [column for column in range(width) if column not in named]
    return (*order, *((column, "asc") for column in others))

"""The checks of ORDER BY and LIMIT.

In: the rules of a query. Out: the limit of each head, which one of its rules has.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.orders import Order
from .errors import QueryError, listed
from .regular_query import Limit, Rule
from .returned_paths import path_columns


def check_limits(rules: Sequence[Rule]) -> None:
    """Checks that a head has one limit at most, over its own columns.

    Raises:
        QueryError: E-ORDER for a second limit, for a limit of no rows, and for a column that the
            head does not have; E-LATER for the limit of an answer with paths.
    """
    first: dict[str, Limit] = {}
    for rule in rules:
        limit = rule.limit
        if limit is None:
            continue
        if rule.head in first:
            line = first[rule.head].location.line
            raise QueryError(
                "E-ORDER",
                f"{rule.head} has a LIMIT already, in line {line}",
                at=limit.location,
                text="LIMIT",
                hint="a LIMIT is one of all rows of a head: write it after one of its rules",
            )
        first[rule.head] = limit
        if limit.rows == 0:
            raise QueryError(
                "E-ORDER",
                "a LIMIT of 0 leaves no row",
                at=limit.location,
                text="LIMIT 0",
                hint="write at least LIMIT 1",
            )
        for name, _ in limit.order:
            if name not in rule.variables:
                raise QueryError(
                    "E-ORDER",
                    f"ORDER BY names {name}, which is no column of {rule.head}",
                    at=limit.location,
                    text=name,
                    hint=f"its columns are {listed(list(dict.fromkeys(rule.variables)))}; "
                    "give the head another column to order by it",
                )
        if path_columns(rule):
            raise QueryError(
                "E-LATER",
                "a LIMIT on an answer with paths is not supported yet",
                at=limit.location,
                text="LIMIT",
                hint="leave the paths out of the head, or the limit",
            )


def limit_of(rules: Sequence[Rule]) -> tuple[Order, int, int] | None:
    """The order over the columns of a head, its number of rows, and of those left out before.

    None without a limit.
    """
    for rule in rules:
        if rule.limit is not None:
            order = rule.limit.order
            columns = tuple([(rule.variables.index(n), d) for n, d in order])
            return columns, rule.limit.rows, rule.limit.offset
    return None

"""Parses ORDER BY and LIMIT of RQ."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer

from ...algebra.orders import Direction
from ..parsing.tokens import location_of, name_of
from ..query.errors import QueryError
from ..query.regular_query import Limit


class Limits(Transformer[Token, Any]):
    """One method for each grammar rule of ORDER BY and LIMIT."""

    def order(self, parts: list[Token]) -> tuple[str, Direction]:
        """A column, with or without its direction."""
        column, *direction = parts
        name = column[1:] if column.type == "QVAR" else name_of(column)
        descends = bool(direction) and direction[0].type == "DESC"
        return name, "desc" if descends else "asc"

    def limit(self, parts: list[Any]) -> Limit:
        """``ORDER BY n DESC, x LIMIT 100``.

        Raises:
            QueryError: E-ORDER for an order without a limit.
        """
        first, last = parts[0], parts[-1]
        if not isinstance(last, Token):
            raise QueryError(
                "E-ORDER",
                "an answer is a set of rows, so ORDER BY needs a LIMIT",
                at=location_of(first),
                text="ORDER BY",
                hint="write how many of the first rows count, as in ORDER BY n DESC LIMIT 10, "
                "or sort the answers after the query",
            )
        columns = tuple(part for part in parts if not isinstance(part, Token))
        return Limit(columns, int(last.split()[-1]), location_of(first))

"""Parses ORDER BY, LIMIT and OFFSET of RQ."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer

from ...algebra.orders import Direction
from ..parsing.tokens import location_of, name_of
from ..query.errors import QueryError
from ..query.regular_query import Limit


class Limits(Transformer[Token, Any]):
    """One method for each grammar rule of ORDER BY, LIMIT and OFFSET."""

    def order(self, parts: list[Token]) -> tuple[str, Direction]:
        """A column, with or without its direction."""
        column, *direction = parts
        name = column[1:] if column.type == "QVAR" else name_of(column)
        descends = bool(direction) and direction[0].type == "DESC"
        return name, "desc" if descends else "asc"

    def limit(self, parts: list[Any]) -> Limit:
        """``ORDER BY n DESC, x LIMIT 100 OFFSET 20``.

        Raises:
            QueryError: E-ORDER for an order or an offset without a limit.
        """
        first = parts[0]
        tokens = {part.type: part for part in parts if isinstance(part, Token)}
        columns = tuple(part for part in parts if not isinstance(part, Token))
        if "LIMIT_TO" not in tokens:
            what = "ORDER BY" if columns else "OFFSET"
            raise QueryError(
                "E-ORDER",
                f"an answer is a set of rows, so {what} needs a LIMIT",
                at=location_of(first),
                text=what,
                hint="write how many of the first rows count, as in ORDER BY n DESC LIMIT 10, "
                "or sort the answers after the query",
            )
        rows, offset = (
            int(tokens[kind].split()[-1]) if kind in tokens else 0
            for kind in ("LIMIT_TO", "OFFSET_TO")
        )
        return Limit(columns, rows, location_of(first), offset)

"""Puts the values of parameters in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..parsing.parameters import ParameterValue
from ..query.atoms import Location
from ..query.errors import QueryError, listed
from . import errors
from .clauses import Query
from .leaves import Literal, Parameter
from .syntax import Expression, ListOf
from .walking import with_parts


def bound(query: Query, parameters: Mapping[str, ParameterValue]) -> Query:
    """The query with literals and lists in place of its parameters.

    Raises:
        QueryError: E-PARAM for a parameter without a value, and for a value without a parameter.
    """
    used: set[str] = set()

    def replaced(of: Expression) -> Expression:
        if not isinstance(of, Parameter):
            return with_parts(of, replaced)
        name = of.name.text
        used.add(name)
        if name not in parameters:
            raise errors.NO_VALUE.error(of.at, f"${name}")
        return _literal(parameters[name], of.at)

    changed = with_parts(query, replaced)
    if unused := sorted(parameters.keys() - used):
        raise QueryError(
            "E-PARAM",
            "the query has no parameter of this name",
            text=unused[0],
            hint=f"its parameters are {listed(sorted(f'${name}' for name in used))}"
            if used
            else f"write ${unused[0]} where the value stands",
        )
    return changed


def _literal(value: ParameterValue, at: Location) -> Expression:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return Literal(value, at)
    return ListOf(tuple(Literal(item, at) for item in value), at)

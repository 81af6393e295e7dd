"""The parameters of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...algebra.functions import LARGEST_INTEGER, SMALLEST_INTEGER
from ..query.errors import QueryError

ParameterItem = str | int | float | bool | None
ParameterValue = ParameterItem | Sequence[ParameterItem]
Parameters = Mapping[str, ParameterValue]
"""The values of parameters by their names, without ``$``."""


NO_PARAMETERS: Parameters = MappingProxyType({})


def check_unused(parameters: Parameters, language: str) -> None:
    """Refuses parameters of a language that has none.

    Raises:
        QueryError: E-PARAM if there are any.
    """
    if parameters:
        raise QueryError(
            "E-PARAM",
            f"{language} has no parameters",
            text=min(parameters),
            hint="write the value into the query, or write the query in Cypher",
        )


def checked(parameters: Parameters) -> Parameters:
    """The parameters, if their values are allowed.

    Raises:
        QueryError: E-PARAM for a value that is neither text, a number, a truth value, null nor a
            list of them, and for a number beyond 64 bits.
    """
    for name, value in parameters.items():
        items = value if isinstance(value, list | tuple) else [value]
        if not all(map(_is_allowed, items)):
            raise QueryError(
                "E-PARAM",
                "its value is not one of a query",
                text=name,
                hint="give text, a number of 64 bits, true, false, null, or a list of them",
            )
    return parameters


def _is_allowed(item: Any) -> bool:
    if isinstance(item, float):
        return math.isfinite(item)
    if isinstance(item, int):
        return SMALLEST_INTEGER <= item <= LARGEST_INTEGER
    return item is None or isinstance(item, str)

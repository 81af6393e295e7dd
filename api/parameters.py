"""The values of parameters, from the options of a command."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..languages.parsing.parameters import Parameters, ParameterValue
from ..planning.errors import UsageError


def values_of(options: Iterable[str]) -> Parameters:
    """The values of options ``name=value`` by name; a value that is not JSON is text.

    >>> values_of(["most=3", "$name=Ann", 'names=["Ann"]'])
    {'most': 3, 'name': 'Ann', 'names': ['Ann']}

    Raises:
        UsageError: for an option without a name or a value, and for a second value of a name.
    """
    values: dict[str, ParameterValue] = {}
    for option in options:
        name, sign, written = option.partition("=")
        name = name.strip().removeprefix("$")
        if not sign or not name:
            raise UsageError(f"--param {option}: expected NAME=VALUE", hint="as --param most=3")
        if name in values:
            raise UsageError(f"--param {name}: the parameter has a value already")
        try:
            values[name] = json.loads(written)
        except ValueError:
            values[name] = written
    return values

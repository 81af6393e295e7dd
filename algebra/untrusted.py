"""The bounds of a plan document, and the checks of its JSON text and values.

A plan document may come from anybody, so nothing in it is trusted. This module checks the text and
the values. Each operator checks its own sizes and numbers with the functions at the end
(:meth:`headrace.algebra.physical.base.PhysicalOperator.check_bounds`), the plan its streams and
nodes (:mod:`headrace.algebra.plan`), and the executor widths and distributions
(:mod:`headrace.executor.checking`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from . import predicate_syntax

LONGEST_DOCUMENT: Final = 50_000_000
"""The most characters of a document."""
DEEPEST_DOCUMENT: Final = 16
"""The deepest nesting of lists and objects in a document."""
LONGEST_STRING: Final = predicate_syntax.LONGEST
"""The most characters of a string in a document."""
MOST_NODES: Final = 30_000
MOST_OPERATORS: Final = 100_000
"""The most nodes times partitions: each partition has an operator for each node."""
MOST_INPUTS: Final = 1_000
"""The most inputs of a node."""
WIDEST: Final = 1_000
"""The most columns of a node, and parts of a list of columns, variables, labels or properties."""
MOST_ATOMS: Final = 64
"""The most atoms of a multiway join."""
MOST_TRANSITIONS: Final = 100_000
"""The most transitions of an automaton, which has at most ``MOST_STATES`` and a start."""
MOST_VARIABLES: Final = 100_000
"""The exclusive limit of the numbers of variables in a join."""

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class DocumentError(ValueError):
    """A document that is refused; the message says where and why."""


# -- the text -------------------------------------------------------------------------------


def parsed(text: str) -> object:
    """The value of a JSON text.

    Raises:
        DocumentError: if it is not JSON (RFC 8259), too long or too deep, has a key twice, or a
            number that is none of 64 bits.
    """
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentError(f"it has more than {LONGEST_DOCUMENT:,} characters")
    try:
        return json.loads(
            text,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_number,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP) from error


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 20 else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        raise DocumentError(f"{text[:24]}... is not an integer of 64 bits")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise DocumentError(f"{text[:24]} is not a number of 64 bits")
    return value


def _no_number(text: str) -> float:
    raise DocumentError(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = _repeated(key for key, _ in pairs)
        raise DocumentError(f"the key {twice!r} stands twice in one object")
    return members


_TOO_DEEP = f"its lists and objects nest more than {DEEPEST_DOCUMENT} deep"


def refuse_values(document: object) -> None:
    """Checks every value of a document; to be called before anything else reads it.

    Raises:
        DocumentError: if it nests too deep, or holds a string that is too long or no text, a
            number beyond 64 bits, or a value that JSON does not have.
    """
    level: list[object] = [document]
    depth = 0
    while level:
        if depth > DEEPEST_DOCUMENT:
            raise DocumentError(_TOO_DEEP)
        below: list[object] = []
        for value in level:
            if isinstance(value, str):
                _refuse_string(value)
            elif isinstance(value, dict):
                below.extend(value)
                below.extend(value.values())
            elif isinstance(value, list | tuple):
                below.extend(value)
            elif isinstance(value, int):  # or a boolean
                if not _SMALLEST <= value <= _LARGEST:
                    raise DocumentError("it holds an integer beyond 64 bits")
            elif isinstance(value, float):
                if not math.isfinite(value):
                    raise DocumentError(f"it holds {value}, which is not JSON")
            elif value is not None:
                raise DocumentError(f"it holds a {type(value).__name__}, which is not JSON")
        level = below
        depth += 1


def _refuse_string(value: str) -> None:
    if len(value) > LONGEST_STRING:
        raise DocumentError(f"it holds a string of more than {LONGEST_STRING:,} characters")
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"it holds {value[:40]!r}, which is not Unicode text") from error


# -- for the checks of operators and plans ---------------------------------------------------


def at_most(number: int, most: int, what: str) -> None:
    """Raises DocumentError if there are more than ``most``."""
    if number > most:
        raise DocumentError(f"it has {number:,} {what}, where {most:,} are the most")


def between(values: Iterable[int], least: int, end: int, what: str) -> None:
    """Raises DocumentError unless every value is at least ``least`` and below ``end``."""
    for value in values:
        if not least <= value < end:
            raise DocumentError(f"{what} is {value}, and has to be from {least} to {end - 1}")


def distinct(values: Sequence[Hashable], what: str) -> None:
    """Raises DocumentError if a value occurs twice."""
    if len(set(values)) < len(values):
        raise DocumentError(f"the {what} {_repeated(values)!r} stands there twice")


def _repeated(values: Iterable[Hashable]) -> str:
    """The first value that occurs more than once, shortened; there must be one."""
    return str(next(value for value, times in Counter(values).items() if times > 1))[:80]

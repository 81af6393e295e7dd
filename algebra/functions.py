"""The functions of values: their arguments, their results, and their meaning.

A function is written in capitals before its arguments, ``TEXT_LEFT(c0, 2)``. Its result is
null where an argument is null or of a kind that the function does not take, and where it has none.
The functions of :data:`LENIENT` have their own rules for nulls.

:func:`applied` is the one definition of all other functions; executors that compute with arrays or
in SQL give the same values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from . import regular_texts, times
from .values import LISTS, NUMBERS, ColumnType, PropertyType

Scalar = str | int | float | bool
Kind = Literal["string", "number", "boolean", "any"]
Gives = PropertyType | Literal["list", "strings", "numeric", "joined"]
"""The type of a result. Numeric: an integer over integers, and a number otherwise. Joined: the one
of the arguments that may be the result. List: lists of values of the types of the arguments."""

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
EARTH_RADIUS: Final = 6_378_140.0
"""The radius of the sphere on which distances are measured, in metres."""
MOST_ARGUMENTS: Final = 64
LONGEST_TEXT: Final = 1_000_000
"""The most characters of a text that is joined or replaced; a longer one is null."""
BLANKS: Final = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\u2028\u2029\u3000"
"""The characters that trimming removes."""


@dataclass(frozen=True, slots=True)
class Function:
    """What a function takes and gives.

    Attributes:
        takes: the kinds of the arguments; further ones are of the last kind.
        gives: the type of the result.
        meaning: the result for arguments of these kinds that are not null, None for null; None
            for a function of :data:`LENIENT`.
        least: the least number of arguments.
        most: the largest number of arguments.
        in_sql: whether Spark SQL has a function with the same results.
    """

    takes: tuple[Kind, ...]
    gives: Gives
    meaning: Callable[..., Any] | None
    least: int
    most: int
    in_sql: bool


_OF_NOTHING: Final[frozenset[ColumnType]] = frozenset({"integers"})
"""The type of lists that have no values, or nulls alone."""


def applied(name: str, values: Sequence[Any]) -> Any:
    """The result of a function that is not of :data:`LENIENT` for arguments of the kinds that it
    takes, none of them null; None where it is null."""
    meaning = FUNCTIONS[name].meaning
    assert meaning is not None
    try:
        return known(meaning(*values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def known(value: Any) -> Any:
    """The value; None for an integer beyond 64 bits and a float that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return None
    return value


def types_of(name: str, arguments: Sequence[frozenset[ColumnType]]) -> frozenset[ColumnType]:
    """The types that results may have over arguments of such types."""
    gives = FUNCTIONS[name].gives
    if gives == "numeric":
        return numeric_types(arguments)
    if gives == "list":
        members = [arguments[place] for place in results_of(name, len(arguments))]
        found = frozenset[ColumnType]().union(*members)
        return frozenset(LISTS[kind] for kind in LISTS if kind in found) or _OF_NOTHING
    if gives != "joined":
        return frozenset({gives})
    results = [arguments[place] for place in results_of(name, len(arguments))]
    joined = frozenset[ColumnType]().union(*results)
    is_sure = all(len(types) <= 1 for types in results)
    return frozenset({"number"}) if is_sure and joined == NUMBERS else joined


def numeric_types(arguments: Sequence[frozenset[ColumnType]]) -> frozenset[ColumnType]:
    """The types of results that are integers over integers, and numbers otherwise."""
    joined = frozenset[ColumnType]().union(*arguments)
    if joined == NUMBERS and all(len(types) == 1 for types in arguments):
        return frozenset({"number"})
    return joined & NUMBERS or NUMBERS


def kinds_of(name: str, arguments: int) -> tuple[Kind, ...]:
    """The kinds of the arguments that a function takes."""
    if name == CASE_WHEN:
        return (*("boolean", "any") * (arguments // 2), "any")
    if name == LIST_WHERE:
        return ("boolean", "any") * (arguments // 2)
    if name == MAP_OF:
        return tuple(("string", "any")[place % 2] for place in range(arguments))
    takes = FUNCTIONS[name].takes
    return tuple(takes[min(place, len(takes) - 1)] for place in range(arguments))


def results_of(name: str, arguments: int) -> tuple[int, ...]:
    """The arguments of a function of a joined type that may be its result, or of those of a list
    that may be its members."""
    if name == LIST_WHERE:
        return (*range(1, arguments, 2),)
    if name == CASE_WHEN:
        return (*range(1, arguments, 2), arguments - 1)
    return tuple(range(arguments))


# -- functions of texts ---------------------------------------------------------------------


def _part(text: str, start: float, length: float = LARGEST_INTEGER) -> str | None:
    """Some characters; the numbers lose their fractions, and none may be negative then."""
    first, most = int(start), int(length)
    return text[first:][:most] if first >= 0 <= most else None


def _right(text: str, length: float) -> str | None:
    last = int(length)
    return text[max(len(text) - last, 0) :] if last >= 0 else None


def _replaced(text: str, search: str, other: str) -> str | None:
    """The text with another part; an empty part is nowhere."""
    if not search:
        return text
    length = len(text) + text.count(search) * (len(other) - len(search))
    return text.replace(search, other) if length <= LONGEST_TEXT else None


def _joined(one: str, other: str) -> str | None:
    return one + other if len(one) + len(other) <= LONGEST_TEXT else None


_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def _as_integer(value: Scalar) -> int | None:
    if not isinstance(value, str):
        return int(value)
    text = value.strip(BLANKS)
    if len(text) > 400:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    number = _as_float(text)
    return None if number is None else int(number)


def _as_float(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return float(value)
    text = value.strip(BLANKS)
    return float(text) if len(text) <= 400 and _NUMBER.fullmatch(text) else None


def _as_text(value: Scalar) -> str:
    """The value as text; numbers with a fraction as Java writes them, 1.0E10."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    if value == 0.0:
        return "0.0"
    if 1e-3 <= abs(value) < 1e7:
        written = repr(value)
        if "e" not in written:
            return written
    mantissa, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        digits = mantissa.lstrip("-").replace(".", "").strip("0") or "0"
        exponent = str(math.floor(math.log10(abs(value))))
        mantissa = f"{'-' * (value < 0)}{digits[0]}.{digits[1:] or '0'}"
    elif "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}E{int(exponent)}"


def _as_boolean(value: Scalar) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip(BLANKS).lower())
    return bool(value)


# -- functions of numbers -------------------------------------------------------------------


def _divide(one: Any, other: Any) -> Any:
    """The quotient; that of two integers drops the fraction."""
    if not other:
        return None
    if isinstance(one, float) or isinstance(other, float):
        return float(one) / float(other)
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _modulo(one: Any, other: Any) -> Any:
    """The remainder, with the sign of the dividend."""
    if not other:
        return None
    if isinstance(one, float) or isinstance(other, float):
        return math.fmod(float(one), float(other))
    remainder = abs(one) % abs(other)
    return -remainder if one < 0 else remainder


def _ceiling(number: float) -> float:
    return float(number) if abs(number) >= 2**52 else float(math.ceil(number))


def _floor(number: float) -> float:
    return float(number) if abs(number) >= 2**52 else float(math.floor(number))


def _round(number: float) -> float:
    """The nearest whole number, and the larger one of two."""
    below = _floor(number)
    return below + 1.0 if number - below >= 0.5 else below


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _plane_distance(x: float, y: float, u: float, v: float) -> float:
    across, up = float(x) - float(u), float(y) - float(v)
    return math.sqrt(across * across + up * up)


def _earth_distance(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> float:
    """The length of the great circle between two points in degrees, in metres (haversine)."""
    one, other = math.radians(latitude), math.radians(other_latitude)
    up, along = other - one, math.radians(other_longitude) - math.radians(longitude)
    half = math.sin(up / 2) ** 2 + math.cos(one) * math.cos(other) * math.sin(along / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(half, 1.0)))


# -- the table ------------------------------------------------------------------------------

EQUAL: Final = "EQUAL"
UNEQUAL: Final = "UNEQUAL"
LESS: Final = "LESS"
AT_MOST: Final = "AT_MOST"
ALL_TRUE: Final = "ALL_TRUE"
ANY_TRUE: Final = "ANY_TRUE"
LOGICAL_NOT: Final = "LOGICAL_NOT"
IS_NOT_NULL: Final = "IS_NOT_NULL"
CASE_WHEN: Final = "CASE_WHEN"
FIRST_NOT_NULL: Final = "FIRST_NOT_NULL"
NULL_VALUE: Final = "NULL_VALUE"
LIST_OF: Final = "LIST_OF"
LIST_WHERE: Final = "LIST_WHERE"
MAP_OF: Final = "MAP_OF"
NESTED: Final = "NESTED"

LENIENT: Final = frozenset(
    {
        EQUAL,
        UNEQUAL,
        LESS,
        AT_MOST,
        ALL_TRUE,
        ANY_TRUE,
        IS_NOT_NULL,
        CASE_WHEN,
        FIRST_NOT_NULL,
        NULL_VALUE,
        LIST_OF,
        LIST_WHERE,
        MAP_OF,
    }
)
"""The functions with rules of their own.

- ``EQUAL``, ``UNEQUAL``, ``LESS`` and ``AT_MOST`` are comparisons, as truth values.
- ``ALL_TRUE`` and ``ANY_TRUE`` are AND and OR; a null is an unknown truth value.
- ``IS_NOT_NULL`` tells whether its argument is not null.
- ``CASE_WHEN(test, value, ..., otherwise)`` is the value after the first test that is true.
- ``FIRST_NOT_NULL`` is the first argument that is not null.
- ``NULL_VALUE()`` is null.
- ``LIST_OF`` is the JSON text of the list of its arguments, as the lists of paths are.
- ``LIST_WHERE(test, value, ...)`` is the list of the values after a test that is true.
- ``MAP_OF(key, value, ...)`` is the JSON text of a map, and null without one of its keys; a last
  key without a value is left out.

The results of ``CASE_WHEN`` and ``FIRST_NOT_NULL`` are of the kind of their first argument that
has one; an argument of another kind counts as null.
"""
COMPARISONS: Final = (EQUAL, UNEQUAL, LESS, AT_MOST)


def _nested(texts: str) -> str | None:
    """The JSON text of a list of lists and maps, from that of a list of their texts."""
    members = json.loads(texts)
    if not isinstance(members, list) or not all(isinstance(one, str) for one in members):
        return None
    return f"[{','.join(members)}]"


def _of(
    takes: str,
    gives: Gives,
    meaning: Callable[..., Any] | None,
    least: int | None = None,
    most: int | None = None,
    *,
    in_sql: bool = False,
) -> Function:
    """A function; ``takes`` has a letter for each argument: text, number, boolean, any."""
    kinds: dict[str, Kind] = {"t": "string", "n": "number", "b": "boolean", "a": "any"}
    taken = tuple(kinds[letter] for letter in takes)
    least = len(taken) if least is None else least
    return Function(taken, gives, meaning, least, most or max(len(taken), least), in_sql)


def _number(meaning: Callable[[float], float]) -> Function:
    return _of("n", "number", meaning)


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        EQUAL: _of("aa", "boolean", None, in_sql=True),
        UNEQUAL: _of("aa", "boolean", None, in_sql=True),
        LESS: _of("aa", "boolean", None, in_sql=True),
        AT_MOST: _of("aa", "boolean", None, in_sql=True),
        ALL_TRUE: _of("b", "boolean", None, 1, MOST_ARGUMENTS, in_sql=True),
        ANY_TRUE: _of("b", "boolean", None, 1, MOST_ARGUMENTS, in_sql=True),
        LOGICAL_NOT: _of("b", "boolean", lambda truth: not truth, in_sql=True),
        IS_NOT_NULL: _of("a", "boolean", None, in_sql=True),
        CASE_WHEN: _of("a", "joined", None, 3, 2 * MOST_ARGUMENTS + 1, in_sql=True),
        FIRST_NOT_NULL: _of("a", "joined", None, 1, MOST_ARGUMENTS, in_sql=True),
        NULL_VALUE: Function(("any",), "joined", None, 0, 0, in_sql=True),
        "TO_LOWER": _of("t", "string", str.lower),
        "TO_UPPER": _of("t", "string", str.upper),
        "TEXT_SIZE": _of("t", "integer", len, in_sql=True),
        "TEXT_TRIM": _of("t", "string", lambda text: text.strip(BLANKS), in_sql=True),
        "TEXT_LTRIM": _of("t", "string", lambda text: text.lstrip(BLANKS), in_sql=True),
        "TEXT_RTRIM": _of("t", "string", lambda text: text.rstrip(BLANKS), in_sql=True),
        "TEXT_LEFT": _of("tn", "string", lambda text, n: _part(text, 0, n), in_sql=True),
        "TEXT_RIGHT": _of("tn", "string", _right, in_sql=True),
        "TEXT_PART": _of("tnn", "string", _part, 2, in_sql=True),
        "TEXT_REPLACE": _of("ttt", "string", _replaced),
        "TEXT_REVERSE": _of("t", "string", lambda text: text[::-1], in_sql=True),
        "TEXT_JOIN": _of("tt", "string", _joined),
        "TEXT_STARTS": _of("tt", "boolean", str.startswith, in_sql=True),
        "TEXT_ENDS": _of("tt", "boolean", str.endswith, in_sql=True),
        "TEXT_CONTAINS": _of("tt", "boolean", lambda text, part: part in text, in_sql=True),
        "TEXT_MATCHES": _of("tt", "boolean", regular_texts.matches),
        "AS_INTEGER": _of("a", "integer", _as_integer),
        "AS_FLOAT": _of("a", "number", _as_float),
        "AS_TEXT": _of("a", "string", _as_text),
        "AS_BOOLEAN": _of("a", "boolean", _as_boolean),
        "AS_TIME": _of("tn", "integer", lambda t, tick: times.as_time(t.strip(BLANKS), tick)),
        "TIME_PART": _of("nnt", "integer", times.time_part),
        "TIME_START": _of("nnt", "integer", times.time_start),
        "DIVIDE": _of("nn", "numeric", _divide),
        "MODULO": _of("nn", "numeric", _modulo, in_sql=True),
        "TO_POWER": _of("nn", "number", lambda one, other: math.pow(float(one), float(other))),
        "ROUND_UP": _of("n", "number", _ceiling),
        "ROUND_DOWN": _of("n", "number", _floor),
        "ROUND_NEAREST": _of("n", "number", _round),
        "SIGN_OF": _of("n", "integer", _sign, in_sql=True),
        "SQUARE_ROOT": _number(math.sqrt),
        "EXPONENTIAL": _number(math.exp),
        "NATURAL_LOG": _number(math.log),
        "DECIMAL_LOG": _number(math.log10),
        "SINE": _number(math.sin),
        "COSINE": _number(math.cos),
        "TANGENT": _number(math.tan),
        "ARC_SINE": _number(math.asin),
        "ARC_COSINE": _number(math.acos),
        "ARC_TANGENT": _number(math.atan),
        "ARC_TANGENT_OF": _of("nn", "number", math.atan2),
        "AS_DEGREES": _number(math.degrees),
        "AS_RADIANS": _number(math.radians),
        LIST_OF: _of("a", "list", None, 0, MOST_ARGUMENTS),
        LIST_WHERE: _of("a", "list", None, 2, 2 * MOST_ARGUMENTS),
        MAP_OF: _of("a", "string", None, 2, MOST_ARGUMENTS),
        NESTED: _of("t", "strings", _nested),
        "PLANE_DISTANCE": _of("nnnn", "number", _plane_distance),
        "EARTH_DISTANCE": _of("nnnn", "number", _earth_distance),
    }
)
"""The functions by name."""

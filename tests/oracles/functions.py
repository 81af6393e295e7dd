"""The functions of values by definition, one row at a time; None is an unknown value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

SPACES = "".join(map(chr, [9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x2028, 0x2029, 0x3000]))


def kind(value: Any) -> str:
    """``t`` of a text, ``n`` of a number, ``b`` of a truth value."""
    return {str: "t", bool: "b"}.get(type(value), "n")


def result(name: str, values: list[Any]) -> Any:
    """The result of a function over perhaps unknown values."""
    if name in _LENIENT:
        return _LENIENT[name](values)
    takes, meaning = _STRICT[name]
    if None in values:
        return None
    if any(wanted not in ("a", kind(v)) for wanted, v in zip(takes, values, strict=False)):
        return None
    found = meaning(*values)
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, int) and not isinstance(found, bool):
        return found if -(2**63) <= found < 2**63 else None
    return found


def compare(sign: str, one: Any, other: Any) -> bool | None:
    """``=``, ``<>``, ``<`` or ``<=``; values of different kinds have no order."""
    if one is None or other is None:
        return None
    if kind(one) != kind(other):
        return {"=": False, "<>": True}.get(sign)
    if float in (type(one), type(other)):
        one, other = float(one), float(other)
    if isinstance(one, str):
        one, other = one.encode(), other.encode()
    outcomes = {"=": one == other, "<>": one != other, "<": one < other, "<=": one <= other}
    return bool(outcomes[sign])


def _all(values: list[Any]) -> bool | None:
    truths = [value if isinstance(value, bool) else None for value in values]
    return False if False in truths else None if None in truths else True


def _any(values: list[Any]) -> bool | None:
    truths = [value if isinstance(value, bool) else None for value in values]
    return True if True in truths else None if None in truths else False


def _choose(values: list[Any]) -> Any:
    for test, value in zip(values[:-1:2], values[1::2], strict=True):
        if test is True:
            return value
    return values[-1]


def _map(values: list[Any]) -> str | None:
    pairs = [(values[k], values[k + 1]) for k in range(0, len(values) - 1, 2)]
    if not all(isinstance(key, str) for key, _ in pairs):
        return None
    written = [f"{json.dumps(k, ensure_ascii=False)}:{_json(v)}" for k, v in pairs]
    return "{" + ",".join(written) + "}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


_LENIENT: Mapping[str, Callable[[list[Any]], Any]] = {
    "EQUAL": lambda values: compare("=", *values),
    "UNEQUAL": lambda values: compare("<>", *values),
    "LESS": lambda values: compare("<", *values),
    "AT_MOST": lambda values: compare("<=", *values),
    "ALL_TRUE": _all,
    "ANY_TRUE": _any,
    "IS_NOT_NULL": lambda values: values[0] is not None,
    "CASE_WHEN": _choose,
    "FIRST_NOT_NULL": lambda values: next((v for v in values if v is not None), None),
    "NULL_VALUE": lambda values: None,
    "MAP_OF": _map,
    "LIST_OF": _json,
    "LIST_WHERE": lambda values: _json(
        [value for test, value in zip(values[::2], values[1::2], strict=True) if test is True]
    ),
}


def _divide(one: Any, other: Any) -> Any:
    if other == 0:
        return None
    if float in (type(one), type(other)):
        return float(one) / float(other)
    return math.trunc(Fraction(one, other))


def _modulo(one: Any, other: Any) -> Any:
    if other == 0:
        return None
    if float in (type(one), type(other)):
        return math.fmod(one, other)
    return one - other * math.trunc(Fraction(one, other))


def _rounded(number: Any, mode: str) -> float:
    return float(Decimal(number).to_integral_value(mode))


def _nearest(number: Any) -> float:
    return _rounded(float(number), ROUND_HALF_UP if number >= 0 else ROUND_HALF_DOWN)


def _part(text: str, start: Any, length: Any = 2**40) -> str | None:
    start, length = math.trunc(start), math.trunc(length)
    return None if start < 0 or length < 0 else text[start : start + length]


def _right(text: str, length: Any) -> str | None:
    length = math.trunc(length)
    return None if length < 0 else text[::-1][:length][::-1]


def _as_float(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _as_integer(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return math.trunc(Decimal(value.strip(SPACES)))
        except ArithmeticError:
            return None
    return math.trunc(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    point = len(written) + exponent  # the place of the point among the digits
    minus = "-" if sign and value else ""
    if value == 0:
        return "0.0"
    if -2 <= point <= 7:
        whole, rest = written[: max(point, 0)].ljust(point, "0"), written[max(point, 0) :]
        return f"{minus}{whole or '0'}.{'0' * -point}{rest or '0'}"
    return f"{minus}{written[0]}.{written[1:] or '0'}E{point - 1}"


def _distance(lat: Any, lon: Any, other_lat: Any, other_lon: Any) -> float:
    """By the haversine of the angle between two points on a sphere of 6 378 140 m."""
    a, b, c, d = (math.radians(degrees) for degrees in (lat, lon, other_lat, other_lon))
    h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6378140.0 * math.asin(math.sqrt(min(h, 1.0)))


_SECONDS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}


def _date(day: int) -> tuple[int, int, int] | None:
    """The year, month and day of a day since 1970, by counting from March of the year 0."""
    day += 719_468
    era, of_era = divmod(day, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = 400 * era + year + (month >= 10), (month + 2) % 12 + 1, of_year - (153 * month + 2) // 5
    return (date[0], date[1], date[2] + 1) if 1 <= date[0] <= 9999 else None


def _micros(time: Any, tick: Any) -> tuple[int, int]:
    """The day of a time, and the microseconds since its start."""
    day, micros = divmod(math.floor(time) * int(tick), 86_400_000_000)
    return int(day), int(micros)


def _time_part(time: Any, tick: Any, part: str) -> int | None:
    day, micros = _micros(time, tick)
    date, second = _date(day), micros // 1_000_000
    if date is None:
        return None
    clock = {"hour": second // 3600, "minute": second // 60 % 60, "second": second % 60}
    return {"year": date[0], "month": date[1], "day": date[2], **clock}.get(part)


def _time_start(time: Any, tick: Any, period: str) -> int | None:
    day, micros = _micros(time, tick)
    date = _date(day)
    if date is None:
        return None
    if period in _SECONDS:
        length = _SECONDS[period] * 1_000_000
        return (day * 86_400_000_000 + micros // length * length) // int(tick)
    back = {"week": (day + 3) % 7, "month": date[2] - 1, "year": 0}.get(period)
    if back is None:
        return None
    while period == "year" and _date(day - back) not in ((date[0], 1, 1), None):
        back += 1
    return None if _date(day - back) is None else (day - back) * 86_400_000_000 // int(tick)


_STRICT: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "LOGICAL_NOT": ("b", lambda truth: not truth),
    "TO_LOWER": ("t", str.lower),
    "TO_UPPER": ("t", str.upper),
    "TEXT_SIZE": ("t", len),
    "TEXT_TRIM": ("t", lambda text: text.strip(SPACES)),
    "TEXT_LTRIM": ("t", lambda text: text.lstrip(SPACES)),
    "TEXT_RTRIM": ("t", lambda text: text.rstrip(SPACES)),
    "TEXT_LEFT": ("tn", lambda text, length: _part(text, 0, length)),
    "TEXT_RIGHT": ("tn", _right),
    "TEXT_PART": ("tnn", _part),
    "TEXT_REPLACE": ("ttt", lambda text, old, new: new.join(text.split(old)) if old else text),
    "TEXT_REVERSE": ("t", lambda text: "".join(reversed(text))),
    "TEXT_JOIN": ("tt", lambda one, other: f"{one}{other}"),
    "TEXT_STARTS": ("tt", lambda text, part: text[: len(part)] == part),
    "TEXT_ENDS": ("tt", lambda text, part: text[len(text) - len(part) :] == part
                  if len(part) <= len(text) else False),
    "TEXT_CONTAINS": ("tt", lambda text, part: text.find(part) >= 0),
    "TEXT_MATCHES": ("tt", lambda text, expression: bool(re.fullmatch(expression, text))),
    "TIME_PART": ("nnt", _time_part),
    "TIME_START": ("nnt", _time_start),
    "AS_INTEGER": ("a", _as_integer),
    "AS_FLOAT": ("a", _as_float),
    "AS_TEXT": ("a", _as_text),
    "AS_BOOLEAN": ("a", lambda v: {"true": True, "false": False}.get(v.lower())
                   if isinstance(v, str) else v != 0),
    "DIVIDE": ("nn", _divide),
    "MODULO": ("nn", _modulo),
    "ROUND_UP": ("n", lambda number: _rounded(number, ROUND_CEILING)),
    "ROUND_DOWN": ("n", lambda number: _rounded(number, ROUND_FLOOR)),
    "ROUND_NEAREST": ("n", _nearest),
    "SIGN_OF": ("n", lambda number: int(number > 0) - int(number < 0)),
    "SQUARE_ROOT": ("n", lambda number: math.sqrt(number) if number >= 0 else None),
    "NESTED": ("t", lambda texts: _json([json.loads(text) for text in json.loads(texts)])),
    "PLANE_DISTANCE": ("nnnn", lambda x, y, u, v: math.sqrt(
        (float(x) - float(u)) ** 2 + (float(y) - float(v)) ** 2)),
    "EARTH_DISTANCE": ("nnnn", _distance),
}  # fmt: skip

"""The root of a query in plain Python: computed columns, aggregates and reports."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.oracles.conditions import Expr, expr_text, value

Row = tuple[Any, ...]
Binding = Mapping[str, Any]


@dataclass(frozen=True)
class Agg:
    """``function(argument)``: ``count`` (of rows without an argument), ``count distinct``, ``sum``,
    ``avg``, ``min``, ``max``, ``collect``, ``collect distinct``, ``stddev``, ``stddev_pop``,
    ``latest``, which has a time, or ``percentile_cont`` and ``percentile_disc``, which have a
    number."""

    function: str
    argument: Expr | None = None
    time: Expr | None = None
    percentile: float | None = None


def values_of_column(of: Expr | Agg) -> tuple[Expr, ...]:
    """The values that a column of a head reads."""
    values = (of.argument, of.time) if isinstance(of, Agg) else (of,)
    return tuple(value for value in values if value is not None)


Column = Expr | Agg


@dataclass(frozen=True)
class Emit:
    """``EMIT mode EVERY every``; modes are ``entering``, ``exit`` and ``snapshot``.

    With ``events`` there is a report at every ``events``-th event, and ``every`` says nothing.
    """

    mode: str
    every: int
    events: int | None = None
    start: int = 0


def column_text(of: Column) -> str:
    """A column of a head as RQ."""
    if not isinstance(of, Agg):
        return expr_text(of)
    function, _, distinct = of.function.partition(" ")
    argument = "*" if of.argument is None else expr_text(of.argument)
    argument += "" if of.time is None else f", {expr_text(of.time)}"
    argument += "" if of.percentile is None else f", {of.percentile}"
    return f"{function}({f'{distinct} ' if distinct else ''}{argument})"


def emit_text(emit: Emit) -> str:
    """The clause as RQ."""
    mode = "SNAPSHOT" if emit.mode == "snapshot" else f"ON {emit.mode.upper()}"
    every = emit.every if emit.events is None else f"{emit.events} EVENTS"
    return f"EMIT {mode} EVERY {every}{f' STARTING AT {emit.start}' if emit.start else ''}"


def aggregated(
    columns: Sequence[Sequence[Column]], bindings: Sequence[Iterable[Binding]]
) -> set[Row]:
    """The rows of an answer: the columns and the bindings of the body of each rule."""
    groups: dict[tuple[Row, Row], list[list[Any]]] = {}
    for rule, found in zip(columns, bindings, strict=True):
        for binding in found:
            key = tuple(value(c, binding) for c in rule if not isinstance(c, Agg))
            arguments = [_argument(c, binding) for c in rule if isinstance(c, Agg)]
            kinds = tuple(map(type, key))
            groups.setdefault((kinds, key), []).append(arguments)
    rows: set[Row] = set()
    for (_, key), several in groups.items():
        calls = [c for c in columns[0] if isinstance(c, Agg)]
        found_of = iter(
            [
                _of(call.function, [v for v in own if v is not None], call.percentile)
                for call, own in zip(calls, zip(*several, strict=True), strict=True)
            ]
        )
        keys = iter(key)
        rows.add(tuple(next(found_of) if isinstance(c, Agg) else next(keys) for c in columns[0]))
    return rows


@dataclass(frozen=True)
class First:
    """``ORDER BY column DESC, column LIMIT limit OFFSET offset``; ``order`` has columns, with
    whether they descend."""

    order: tuple[tuple[str, bool], ...]
    limit: int
    offset: int = 0


def first_text(of: First) -> str:
    """The clause as RQ."""
    order = ", ".join(f"{name} DESC" if descends else name for name, descends in of.order)
    offset = f" OFFSET {of.offset}" if of.offset else ""
    return f"{f'ORDER BY {order} ' if order else ''}LIMIT {of.limit}{offset}"


def first_rows(columns: Sequence[str], of: First, rows: Iterable[Row]) -> set[Row]:
    """The first rows: by the columns of the order, then by all columns, missing values last."""
    ordered = list(rows)
    # Sorting is stable, so the most significant column is the last to sort by.
    for name, descends in reversed([*of.order, *((name, False) for name in columns)]):
        place = columns.index(name)
        known = [row for row in ordered if row[place] is not None]
        known.sort(key=lambda row: _order(row[place]), reverse=descends)
        ordered = known + [row for row in ordered if row[place] is None]
    return set(ordered[of.offset : of.offset + of.limit])


def _argument(of: Agg, binding: Binding) -> Any:
    found = True if of.argument is None else value(of.argument, binding)
    if of.time is None or found is None:
        return found
    time = value(of.time, binding)
    return None if time is None else (time, found)


def _of(function: str, values: list[Any], percentile: float | None = None) -> Any:
    match function:
        case "count":
            return len(values)
        case "count distinct":
            return len(set(map(_order, values)))
        case "min":
            return min(values, default=None, key=_order)
        case "max":
            return max(values, default=None, key=_order)
        case "latest":
            newest = max(values, default=(0, None), key=lambda pair: (*map(_order, pair),))
            return newest[1]
        case "collect":
            return _json(sorted(values, key=_exactly))
        case "collect distinct":
            different = {_order(v): v for v in sorted(values, key=_exactly, reverse=True)}
            return _json(sorted(different.values(), key=_order))
        case "sum partial" | "avg partial" | "stddev partial" | "stddev_pop partial":
            # the values of parts are their values
            return _of(function.removesuffix(" partial"), [v for part in values for v in part])
    values = [v for v in values if _order(v)[0] == 0]
    if function in ("partial sum", "partial squares"):
        return tuple(values)
    if function in ("stddev", "stddev_pop"):
        return _deviation(values, sample=function == "stddev")
    if percentile is not None:
        return _percentile(function, sorted(values, key=_exactly), Fraction(str(percentile)))
    if not values:
        return None
    total = sum(map(Fraction, values), Fraction(0))
    if function == "avg":
        return _rounded(total / len(values))
    if any(isinstance(v, float) for v in values):
        return _rounded(total)
    return int(total) if -(2**63) <= total < 2**63 else None


def _deviation(values: list[int | float], *, sample: bool) -> float | None:
    """Python's own deviation, which is exact and rounded once."""
    if any(isinstance(v, float) and math.isinf(v) for v in values):
        return None
    if len(values) < 2:
        return 0.0
    try:
        return statistics.stdev(values) if sample else statistics.pstdev(values)
    except OverflowError:
        return None


def _percentile(function: str, values: list[int | float], share: Fraction) -> int | float | None:
    """``percentile_disc`` is the first value that the share does not exceed; ``percentile_cont``
    the point at the share of the way from the first value to the last one."""
    if not values:
        return None
    if function == "percentile_disc":
        ranks = (k for k in range(len(values)) if Fraction(k + 1, len(values)) >= share)
        return values[next(ranks)]
    place = share * (len(values) - 1)
    rest = place - int(place)
    parts = [(values[int(place)], 1 - rest), *([(values[int(place) + 1], rest)] if rest else [])]
    if any(isinstance(v, float) and math.isinf(v) for v, _ in parts):
        return None
    return _rounded(sum((Fraction(v) * part for v, part in parts), Fraction(0)))


def _order(of: Any) -> tuple[int, Any]:
    """Numbers come before strings, these before truth values."""
    return 2 if isinstance(of, bool) else 1 if isinstance(of, str) else 0, of


def _exactly(of: Any) -> tuple[int, Any, bool]:
    """An integer comes before a number that equals it."""
    return (*_order(of), isinstance(of, float))


def _json(listed: list[Any]) -> str:
    """The text of an array, with numbers as Arrow writes them; an infinite one is ``1e999``."""
    return f"[{','.join(map(_json_value, listed))}]"


def _json_value(of: Any) -> str:
    if not isinstance(of, float):
        return json.dumps(of, ensure_ascii=False)
    if math.isinf(of):
        return "1e999" if of > 0 else "-1e999"
    sign, digits, exponent = Decimal(repr(of)).normalize().as_tuple()
    shown, least = "".join(map(str, digits)), int(exponent)
    power = len(shown) + least - 1
    if of and not -7 < power < 10:
        after = f".{shown[1:]}" if shown[1:] else ""
        return f"{'-' * sign}{shown[0]}{after}e{power:+d}"
    whole = abs(Decimal(repr(of))).normalize()
    text = f"{'-' * sign}{whole:f}"
    return text if "." in text else f"{text}.0"


def _rounded(exact: Fraction) -> float | None:
    try:
        found = float(exact)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def reports(
    emit: Emit, at: Callable[[int], frozenset[Row]], last: int, events: Iterable[int]
) -> set[tuple[int, Row]]:
    """All reports as pairs of an instant and a row.

    ``last`` is the last change; ``events`` are the instants at which something arrives.
    """
    instants: Sequence[int]
    if emit.events is None:
        instants = range(emit.start, max(last, emit.start) + emit.every, emit.every)
    else:
        counted = sorted({event for event in events if event >= emit.start})
        instants = counted[emit.events - 1 :: emit.events]
    found: set[tuple[int, Row]] = set()
    before: frozenset[Row] = frozenset()
    for instant in instants:
        now = at(instant)
        match emit.mode:
            case "snapshot":
                rows: Iterable[Row] = now
            case "entering":
                rows = now - before
            case _:
                rows = before - now
        found.update((instant, row) for row in rows)
        before = now
    return found

"""The root of a query in plain Python: computed columns, aggregates and reports."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tests.oracles.conditions import Expr, expr_text, value

Row = tuple[Any, ...]
Binding = Mapping[str, Any]


@dataclass(frozen=True)
class Agg:
    """``function(argument)``: ``count`` (of rows without an argument), ``count distinct``, ``sum``,
    ``avg``, ``min``, ``max``, ``collect`` or ``collect distinct``."""

    function: str
    argument: Expr | None = None


Column = Expr | Agg


@dataclass(frozen=True)
class Emit:
    """``EMIT mode EVERY every``; modes are ``entering``, ``exit`` and ``snapshot``."""

    mode: str
    every: int


def column_text(of: Column) -> str:
    """A column of a head as RQ."""
    if not isinstance(of, Agg):
        return expr_text(of)
    function, _, distinct = of.function.partition(" ")
    argument = "*" if of.argument is None else expr_text(of.argument)
    return f"{function}({f'{distinct} ' if distinct else ''}{argument})"


def emit_text(emit: Emit) -> str:
    """The clause as RQ."""
    mode = "SNAPSHOT" if emit.mode == "snapshot" else f"ON {emit.mode.upper()}"
    return f"EMIT {mode} EVERY {emit.every}"


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
        calls = [c.function for c in columns[0] if isinstance(c, Agg)]
        found_of = iter(
            [
                _of(f, [v for v in own if v is not None])
                for f, own in zip(calls, zip(*several, strict=True), strict=True)
            ]
        )
        keys = iter(key)
        rows.add(tuple(next(found_of) if isinstance(c, Agg) else next(keys) for c in columns[0]))
    return rows


@dataclass(frozen=True)
class First:
    """``ORDER BY column DESC, column LIMIT limit``; ``order`` has columns, with whether they
    descend."""

    order: tuple[tuple[str, bool], ...]
    limit: int


def first_text(of: First) -> str:
    """The clause as RQ."""
    order = ", ".join(f"{name} DESC" if descends else name for name, descends in of.order)
    return f"{f'ORDER BY {order} ' if order else ''}LIMIT {of.limit}"


def first_rows(
    columns: Sequence[str], order: Sequence[tuple[str, bool]], limit: int, rows: Iterable[Row]
) -> set[Row]:
    """The first rows: by the columns of the order, then by all columns, missing values last."""
    ordered = list(rows)
    # Sorting is stable, so the most significant column is the last to sort by.
    for name, descends in reversed([*order, *((name, False) for name in columns)]):
        place = columns.index(name)
        known = [row for row in ordered if row[place] is not None]
        known.sort(key=lambda row: _order(row[place]), reverse=descends)
        ordered = known + [row for row in ordered if row[place] is None]
    return set(ordered[:limit])


def _argument(of: Agg, binding: Binding) -> Any:
    return True if of.argument is None else value(of.argument, binding)


def _of(function: str, values: list[Any]) -> Any:
    match function:
        case "count":
            return len(values)
        case "count distinct":
            return len(set(map(_order, values)))
        case "min":
            return min(values, default=None, key=_order)
        case "max":
            return max(values, default=None, key=_order)
        case "collect":
            return _json(sorted(values, key=_exactly))
        case "collect distinct":
            different = {_order(v): v for v in sorted(values, key=_exactly, reverse=True)}
            return _json(sorted(different.values(), key=_order))
        case "sum partial" | "avg partial":  # the values of parts are their values
            return _of(function.split(maxsplit=1)[0], [v for part in values for v in part])
    values = [v for v in values if _order(v)[0] == 0]
    if function == "partial sum":
        return tuple(values)
    if not values:
        return None
    total = sum(map(Fraction, values), Fraction(0))
    if function == "avg":
        return _rounded(total / len(values))
    if any(isinstance(v, float) for v in values):
        return _rounded(total)
    return int(total) if -(2**63) <= total < 2**63 else None


def _order(of: Any) -> tuple[int, Any]:
    """Numbers come before strings, these before truth values."""
    return 2 if isinstance(of, bool) else 1 if isinstance(of, str) else 0, of


def _exactly(of: Any) -> tuple[int, Any, bool]:
    """An integer comes before a number that equals it."""
    return (*_order(of), isinstance(of, float))


def _json(listed: list[Any]) -> str:
    """The text of an array, in which an infinite number is ``1e999``."""
    return f"[{','.join(map(_json_value, listed))}]"


def _json_value(of: Any) -> str:
    if not isinstance(of, float):
        return json.dumps(of, ensure_ascii=False)
    text = str(pc.cast(pa.scalar(of), pa.string())).replace("inf", "1e999")
    return text if set(text) & set(".e") else f"{text}.0"


def _rounded(exact: Fraction) -> float | None:
    try:
        found = float(exact)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def reports(emit: Emit, at: Callable[[int], frozenset[Row]], last: int) -> set[tuple[int, Row]]:
    """All reports as pairs of an instant and a row; ``last`` is the last change."""
    found: set[tuple[int, Row]] = set()
    for instant in range(0, last + emit.every, emit.every):
        now = at(instant)
        before = at(instant - emit.every)
        match emit.mode:
            case "snapshot":
                rows = now
            case "entering":
                rows = now - before
            case _:
                rows = before - now
        found.update((instant, row) for row in rows)
    return found

"""Evaluates scalar expressions (:mod:`headrace.algebra.scalar`) over columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..algebra.functions import FUNCTIONS, LARGEST_INTEGER, SMALLEST_INTEGER
from ..algebra.scalar import Call, Column, Literal, Value
from .evaluated import Evaluated, Mask, alike
from .functions import called

_SURE = 2.0**62
"""An integer product did not overflow if its absolute value as a float is below this."""


class Scalars:
    """Evaluates expressions over columns of strings, int64, float64, booleans or nulls."""

    def __init__(self, columns: Sequence[pa.Array[Any]]) -> None:
        self._columns = columns
        self._rows = len(columns[0])
        self._read: dict[int, Evaluated] = {}

    def known(self, column: Column) -> Mask:
        """The rows that have a value in a column."""
        return self.of(column).known

    def of(self, value: Value) -> Evaluated:
        """The value of an expression in each row."""
        match value:
            case Column(place):
                if place not in self._read:
                    self._read[place] = _column(self._columns[place])
                return self._read[place]
            case Literal(str() as text):
                return Evaluated("string", pa.scalar(text), self._everywhere)
            case Literal(bool() as truth):
                return Evaluated("boolean", np.full(self._rows, truth), self._everywhere)
            case Literal(number):
                return Evaluated("number", np.full(self._rows, number), self._everywhere)
            case Call(function, arguments):
                parts = [self.of(part) for part in arguments]
                if function in FUNCTIONS:
                    return called(function, parts, self._rows)
                if any(part.kind != "number" for part in parts):
                    return Evaluated.null(self._rows)
                known = np.logical_and.reduce([part.known for part in parts])
                with np.errstate(all="ignore"):
                    values, in_range = _computed(function, [part.values for part in parts])
                return Evaluated("number", values, known & in_range)

    @property
    def _everywhere(self) -> Mask:
        return np.ones(self._rows, np.bool_)


def _column(column: pa.Array[Any]) -> Evaluated:
    known = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    kind = column.type
    if pa.types.is_null(kind):
        return Evaluated("null", None, known)
    if pa.types.is_boolean(kind):
        return Evaluated("boolean", _filled(column, False), known)
    if pa.types.is_floating(kind):
        values = _filled(column, 0.0)
        return Evaluated("number", values, known & ~np.isnan(values))
    if pa.types.is_integer(kind):
        return Evaluated("number", _filled(column, 0), known)
    return Evaluated("string", column, known)


def _filled(column: pa.Array[Any], empty: Any) -> Any:
    whole = column.fill_null(empty) if column.null_count else column
    return whole.to_numpy(zero_copy_only=False)


def _computed(function: str, values: list[Any]) -> tuple[Any, Mask]:
    """The result of a function of numbers, and a mask of the rows where it is defined."""
    if function == "/":
        values = [part.astype(np.float64) for part in values]
    if len(values) == 2:
        values = list(alike(*values))
    result = _plain(function, values)
    if result.dtype.kind == "f":
        return result, np.isfinite(result)
    return result, _fits(function, values, result)


def _plain(function: str, values: list[Any]) -> Any:
    match function:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "/":
            return np.where(values[1] == 0, np.nan, values[0] / values[1])
        case "ABS":
            return np.abs(values[0])
        case _:
            return -values[0]


def _fits(function: str, values: list[Any], result: Any) -> Mask:
    """A mask of the rows where an integer result did not overflow 64 bits."""
    match function, values:
        case "+", [a, b]:
            return np.asarray(((a ^ result) & (b ^ result)) >= 0)
        case "-", [a, b]:
            return np.asarray(((a ^ b) & (a ^ result)) >= 0)
        case "*", [a, b]:
            fits = np.asarray(np.abs(a.astype(np.float64) * b.astype(np.float64)) < _SURE)
            for row in np.flatnonzero(~fits):
                fits[row] = SMALLEST_INTEGER <= int(a[row]) * int(b[row]) <= LARGEST_INTEGER
            return fits
        case _:
            return np.asarray(values[0] != SMALLEST_INTEGER)

"""Converts the values of properties to their declared types.

In: a raw column and a type. Out: a column of that type, null for a missing value, and the mask of
rows with a value of another type. Null, empty text and NaN are missing values. ``true`` and
``false`` may be in any case. A timestamp read as an integer counts ticks of the catalog's unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..algebra.values import PropertyType
from .raw import Column
from .timestamps import ticks_of_times, whole_numbers

Mask = NDArray[np.bool_]

ARROW_TYPES: Mapping[PropertyType, Any] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}
"""The Arrow types of properties."""

EXPECTED: Mapping[PropertyType, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}

_NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_INFINITY = r"(?i)^\s*[+-]?inf(inity)?\s*$"
_NAN = r"(?i)^\s*nan\s*$"
_NO_TEXT: Any = pa.scalar(None, pa.string())


def converted(raw: Column, kind: PropertyType, time_unit: str) -> tuple[Column, Mask]:
    """The values of ``raw`` as ``kind``, and the mask of rows with a value of another type."""
    texts = _present(raw, kind)
    values: Column = _CONVERSIONS[kind](texts, time_unit)
    bad: Column = pc.and_(pc.is_valid(texts), pc.is_null(values))
    return values, bad.to_numpy(zero_copy_only=False)


def without_nan(values: Column) -> Column:
    """The values with null in place of NaN."""
    if not pa.types.is_floating(values.type) or not pc.any(pc.is_nan(values)).as_py():
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _present(raw: Column, kind: PropertyType) -> Column:
    """The column with null for every missing value."""
    if pa.types.is_null(raw.type):
        return pc.cast(raw, pa.string())
    if not pa.types.is_string(raw.type):
        return without_nan(raw)
    lengths: Column = pc.binary_length(raw)
    nothing = pc.equal(lengths, pa.scalar(0))
    if kind == "number":
        nothing = pc.or_(nothing, pc.match_substring_regex(raw, _NAN))
    return pc.if_else(nothing, _NO_TEXT, raw) if pc.any(nothing).as_py() else raw


def _texts(raw: Column, time_unit: str) -> Column:
    return raw if pa.types.is_string(raw.type) else pc.cast(raw, pa.string())


def _integers(raw: Column, time_unit: str) -> Column:
    kind = raw.type
    if pa.types.is_integer(kind):
        return pc.cast(raw, pa.int64())
    if pa.types.is_string(kind):
        return whole_numbers(raw)
    if pa.types.is_temporal(kind):
        return ticks_of_times(raw, time_unit)
    if pa.types.is_floating(kind):  # some writers store nullable integers as floats
        size: Column = pc.abs(raw)
        whole = pc.and_(pc.equal(pc.floor(raw), raw), pc.less(size, pa.scalar(2.0**63)))
        return pc.cast(pc.if_else(whole, raw, pa.scalar(None, kind)), pa.int64())
    return pa.nulls(len(raw), pa.int64())


def _numbers(raw: Column, time_unit: str) -> Column:
    kind = raw.type
    if pa.types.is_integer(kind):
        return pc.cast(raw, pa.float64(), safe=False)
    if pa.types.is_floating(kind):
        return pc.cast(raw, pa.float64())
    if pa.types.is_string(kind):
        number = pc.or_(
            pc.match_substring_regex(raw, _NUMBER), pc.match_substring_regex(raw, _INFINITY)
        )
        trimmed = pc.utf8_trim_whitespace(pc.if_else(number, raw, _NO_TEXT))
        try:
            return pc.cast(trimmed, pa.float64())
        except pa.ArrowInvalid:  # Arrow does not read a leading sign or very long numbers
            exact = [None if text is None else float(text) for text in trimmed.to_pylist()]
            return pa.array(exact, pa.float64())
    return pa.nulls(len(raw), pa.float64())


def _booleans(raw: Column, time_unit: str) -> Column:
    if pa.types.is_boolean(raw.type):
        return raw
    if not pa.types.is_string(raw.type):
        return pa.nulls(len(raw), pa.bool_())
    words: Any = pc.utf8_lower(pc.utf8_trim_whitespace(raw))
    is_truth = pc.is_in(words, pa.array(["true", "false"]))
    return pc.if_else(is_truth, pc.equal(words, pa.scalar("true")), pa.scalar(None, pa.bool_()))


_CONVERSIONS: Mapping[PropertyType, Any] = {
    "string": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": _booleans,
}

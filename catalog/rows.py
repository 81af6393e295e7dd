"""Checks raw columns of edges, all rows at once, and rejects invalid rows.

In: columns of text, whole numbers or timestamps, null where a row has no value. Out: a record batch
of edges, and the position and reason of each rejected row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..algebra.values import PropertyType
from .model import VertexType
from .raw import Column
from .timestamps import microseconds_per_tick, ticks_of_texts, ticks_of_times
from .timestamps import whole_numbers as numbers_of_texts
from .values import ARROW_TYPES, EXPECTED, converted

LATEST = 2**62
"""The exclusive upper bound of timestamps, so that adding a window never overflows 64 bits."""

Mask = NDArray[np.bool_]
Columns = Mapping[str, Column]
"""Columns of one length by role (``src``, ``trg`` or ``id``, ``ts``, optional ``label`` and ``op``)
or by the name of a property."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The requirements on the rows of a file.

    Attributes:
        vertex_type: the type of vertices.
        time_unit: the unit of ``ts``; edges of a stored graph have no ``ts``, and get time 0.
        label: the label of every row; None if a column holds it.
        deletions: whether rows may delete edges; a deletion needs no properties.
        properties: the types of properties by name; a property may be missing.
        vertices: whether rows have ``id``, which becomes both ends of an edge.
    """

    vertex_type: VertexType = "string"
    time_unit: str = "second"
    label: str | None = None
    deletions: bool = False
    properties: Mapping[str, PropertyType] = field(default_factory=lambda: MappingProxyType({}))
    vertices: bool = False

    @property
    def schema(self) -> pa.Schema:
        """The columns of edges: src, trg, label, ts, op if deletions are declared, properties."""
        vertex = pa.string() if self.vertex_type == "string" else pa.int64()
        edge = [("src", vertex), ("trg", vertex), ("label", pa.string()), ("ts", pa.int64())]
        edge += [("op", pa.string())] if self.deletions else []
        properties = [(name, ARROW_TYPES[kind]) for name, kind in self.properties.items()]
        return pa.schema([*edge, *properties])


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """The edges in their order, and (position, reason) of rejected rows.

    ``positions`` are the positions of the edges among the rows; None if every row is an edge.
    """

    edges: pa.RecordBatch
    bad: tuple[tuple[int, str], ...]
    positions: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class _Column:
    """Converted values, the mask of invalid rows, and a function from raw value to reason."""

    values: Column
    bad: Mask
    reason: Callable[[object], str]


def checked_rows(columns: Columns, rows: int, expectation: Expectation) -> CheckedRows:
    """Splits rows into edges and rejected rows; the first invalid column gives the reason."""
    ends = ("src", "trg")
    if expectation.vertices:
        columns, ends = {**columns, "src": columns["id"], "trg": columns["id"]}, ("id", "id")
    results = {
        "src": _vertices(ends[0], columns["src"], expectation),
        "trg": _vertices(ends[1], columns["trg"], expectation),
        "label": _labels(columns, rows, expectation),
        "ts": _times(columns, rows, expectation),
    }
    for name, kind in expectation.properties.items():
        results[name] = _values(name, kind, columns, rows, expectation)
    verdicts = dict(results)
    if "op" in columns or expectation.deletions:
        raw = columns.get("op", pa.nulls(rows, pa.string()))
        verdicts["op"] = _operations(raw, expectation)
    if expectation.deletions:
        results["op"] = verdicts["op"]
    edges = pa.RecordBatch.from_arrays(
        [results[name].values for name in expectation.schema.names],
        schema=expectation.schema,
    )
    any_bad = np.logical_or.reduce([column.bad for column in verdicts.values()])
    if not any_bad.any():
        return CheckedRows(edges, ())
    bad = []
    for position in np.flatnonzero(any_bad).tolist():
        role, column = next((r, c) for r, c in verdicts.items() if c.bad[position])
        raw = columns[role][position].as_py() if role in columns else None
        bad.append((position, column.reason(raw)))
    good = np.flatnonzero(~any_bad)
    return CheckedRows(edges.take(good), tuple(bad), good)


def _vertices(role: str, raw: Column, expectation: Expectation) -> _Column:
    def reason(value: object) -> str:
        if value is None:
            return f"{role} is missing"
        return f"{role} is empty" if value == "" else f"{role} {value!r} is not a whole number"

    if expectation.vertex_type == "integer":
        values: Column = numbers_of_texts(raw) if pa.types.is_string(raw.type) else raw
        return _Column(values, _mask(pc.is_null(values)), reason)
    values = _text(raw)
    return _Column(values, _absent(values), reason)


def _labels(columns: Columns, rows: int, expectation: Expectation) -> _Column:
    if expectation.label is not None:
        values = pa.repeat(pa.scalar(expectation.label, pa.string()), rows)
        return _Column(values, np.zeros(rows, np.bool_), _no_reason)
    raw = columns["label"]
    values = _text(raw)
    return _Column(
        values,
        _absent(values),
        lambda value: "label is missing" if value is None else "label is empty",
    )


def _times(columns: Columns, rows: int, expectation: Expectation) -> _Column:
    raw = columns.get("ts")
    if raw is None:
        zeros = np.zeros(rows, np.int64)
        return _Column(pa.array(zeros), np.zeros(rows, np.bool_), _no_reason)
    unit = expectation.time_unit
    values: Column = raw
    if pa.types.is_string(raw.type):
        values = ticks_of_texts(raw, unit)
    elif pa.types.is_temporal(raw.type):
        values = ticks_of_times(raw, unit)
    ticks = pc.fill_null(values, -1).to_numpy(zero_copy_only=False)
    return _Column(values, (ticks < 0) | (ticks >= LATEST), lambda value: _why_no_time(value, unit))


def _why_no_time(value: object, unit: str) -> str:
    if value is None:
        return "ts is missing"
    if value == "":
        return "ts is empty"
    text = pa.array([str(value)])
    ticks = ticks_of_texts(text, unit)[0].as_py()
    if ticks is not None:
        return f"ts {value} is {'negative' if ticks < 0 else 'too large'}"
    if (
        microseconds_per_tick(unit) is None
        and ticks_of_texts(text, "second")[0].as_py() is not None
    ):
        return f"ts {str(value)!r} is a date, but the time unit {unit!r} is not a length of time"
    return f"ts {str(value)!r} is neither a whole number nor ISO-8601"


def _values(
    name: str, kind: PropertyType, columns: Columns, rows: int, expectation: Expectation
) -> _Column:
    if name not in columns:
        return _Column(pa.nulls(rows, ARROW_TYPES[kind]), np.zeros(rows, np.bool_), _no_reason)
    values, bad = converted(columns[name], kind, expectation.time_unit)
    return _Column(values, bad, lambda value: f"{name} {value!r} is not {EXPECTED[kind]}")


def _operations(raw: Column, expectation: Expectation) -> _Column:
    operations = pa.array(["+", "-"] if expectation.deletions else ["+"], pa.string())
    values: Column = pc.fill_null(_text(raw), "+")
    values = pc.if_else(_absent(values), "+", values)
    bad = ~_mask(pc.is_in(values, operations))

    def reason(value: object) -> str:
        if value == "-":
            return "op '-' deletes, and the stream declares no deletions"
        return f"op {value!r} is neither '+' nor '-'"

    return _Column(values, bad, reason)


def _absent(texts: Column) -> Mask:
    lengths: Column = pc.binary_length(texts)
    absent: Mask = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False) == 0
    return absent


def _text(column: Column) -> Column:
    return column if pa.types.is_string(column.type) else pc.cast(column, pa.string())


def _mask(values: Column) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False)
    return mask


def _no_reason(value: object) -> str:
    raise AssertionError(f"a row with {value!r} was taken")

"""Evaluates the functions of :mod:`headrace.algebra.functions` over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ..algebra import functions
from ..algebra.functions import FUNCTIONS
from .evaluated import Evaluated, Kind, Mask, compared
from .json_text import joined, json_values

_COMPARED: Final[Mapping[str, type]] = {
    functions.EQUAL: exp.EQ,
    functions.UNEQUAL: exp.NEQ,
    functions.LESS: exp.LT,
    functions.AT_MOST: exp.LTE,
}


def called(function: str, parts: Sequence[Evaluated], rows: int) -> Evaluated:
    """The result of a function in each row."""
    match function:
        case functions.EQUAL | functions.UNEQUAL | functions.LESS | functions.AT_MOST:
            return _truth(*compared(_COMPARED[function], parts[0], parts[1], rows))
        case functions.ALL_TRUE | functions.ANY_TRUE:
            masks = [_masks(part, rows) for part in parts]
            true = [true for true, _ in masks]
            false = [false for _, false in masks]
            if function == functions.ALL_TRUE:
                return _truth(np.logical_and.reduce(true), np.logical_or.reduce(false))
            return _truth(np.logical_or.reduce(true), np.logical_and.reduce(false))
        case functions.IS_NOT_NULL:
            return _truth(parts[0].known, ~parts[0].known)
        case functions.NULL_VALUE:
            return Evaluated.null(rows)
        case functions.LIST_OF:
            return _joined("[", [_json(part) for part in parts], "]", rows)
        case functions.LIST_WHERE:
            return _kept(parts, rows)
        case functions.MAP_OF:
            pairs = list(zip(parts[::2], parts[1::2], strict=False))
            if any(key.kind != "string" for key, _ in pairs):
                return Evaluated.null(rows)
            entries = [joined([_json(key), pa.scalar(":"), _json(of)]) for key, of in pairs]
            known = np.logical_and.reduce([key.known for key, _ in pairs])
            return replace(_joined("{", entries, "}", rows), known=known)
        case functions.CASE_WHEN:
            return _chosen(parts, rows)
        case functions.FIRST_NOT_NULL:
            return _first([(part.known, part) for part in parts], rows)
    kinds = functions.kinds_of(function, len(parts))
    for part, kind in zip(parts, kinds, strict=True):
        if part.kind == "null" or kind not in ("any", part.kind):
            return Evaluated.null(rows)
    return _applied(function, parts, rows)


def _truth(true: Mask, false: Mask) -> Evaluated:
    return Evaluated("boolean", true, true | false)


def _masks(part: Evaluated, rows: int) -> tuple[Mask, Mask]:
    """Masks of the rows where a truth value is true, and where it is false."""
    if part.kind != "boolean":
        return np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
    return part.known & part.values, part.known & ~part.values


def _json(part: Evaluated) -> Any:
    """The JSON texts of values."""
    return json_values(part.array())


def _joined(start: str, columns: Sequence[Any], end: str, rows: int) -> Evaluated:
    """The texts of columns with commas between them."""
    between: Any = pa.scalar(",")
    items = pc.binary_join_element_wise(*columns, between) if columns else pa.repeat("", rows)
    texts = joined([pa.scalar(start), items, pa.scalar(end)])
    return Evaluated("string", texts, np.ones(rows, np.bool_))


def _kept(parts: Sequence[Evaluated], rows: int) -> Evaluated:
    """The texts of the lists of the values after a test that is true."""
    comma: Any = pa.scalar(",")
    nothing: Any = pa.scalar("")
    texts = [
        pc.if_else(pa.array(_masks(test, rows)[0]), joined([comma, _json(value)]), nothing)
        for test, value in zip(parts[::2], parts[1::2], strict=True)
    ]
    members = pc.utf8_slice_codeunits(joined(texts), 1)  # without the first comma
    return Evaluated(
        "string", joined([pa.scalar("["), members, pa.scalar("]")]), np.ones(rows, np.bool_)
    )


def _chosen(parts: Sequence[Evaluated], rows: int) -> Evaluated:
    """The values after the first test that is true."""
    options: list[tuple[Mask, Evaluated]] = []
    remaining = np.ones(rows, np.bool_)
    for test, value in zip(parts[:-1:2], parts[1::2], strict=True):
        true, _ = _masks(test, rows)
        options.append((remaining & true, value))
        remaining = remaining & ~true
    return _first([*options, (remaining, parts[-1])], rows)


def _first(options: Sequence[tuple[Mask, Evaluated]], rows: int) -> Evaluated:
    """The values of the first option whose mask has a row; all of the kind of the first option
    that has one."""
    kind: Kind = next((value.kind for _, value in options if value.kind != "null"), "null")
    if kind == "null":
        return Evaluated.null(rows)
    known = np.zeros(rows, np.bool_)
    remaining = np.ones(rows, np.bool_)
    is_float = kind == "number" and any(
        value.kind == kind and value.values.dtype == np.float64 for _, value in options
    )
    values: Any = np.zeros(rows, {"string": object, "boolean": np.bool_}.get(kind, np.int64))
    if is_float:
        values = np.zeros(rows, np.float64)
    for mask, value in options:
        own = mask & remaining
        remaining &= ~own
        if value.kind == kind and own.any():
            found = np.array(value.python(), object) if kind == "string" else value.values
            values[own] = found[own]
            known |= own & value.known
    if kind == "string":
        return Evaluated(kind, pa.array(np.where(known, values, None), pa.string()), known)
    return Evaluated(kind, values, known)


def _applied(function: str, parts: Sequence[Evaluated], rows: int) -> Evaluated:
    """A strict function, computed once for each combination of texts."""
    known = np.logical_and.reduce([part.known for part in parts])
    places = np.flatnonzero(known)
    chosen = [[column[row] for row in places] for column in (part.python() for part in parts)]
    arguments = list(zip(*chosen, strict=True))
    if all(part.kind == "string" for part in parts):
        results = {one: functions.applied(function, one) for one in set(arguments)}
        found = [results[one] for one in arguments]
    else:
        found = [functions.applied(function, one) for one in arguments]
    has_result = np.fromiter((one is not None for one in found), np.bool_, len(found))
    known = known.copy()
    known[places[~has_result]] = False
    exact = all(part.kind != "number" or part.values.dtype != np.float64 for part in parts)
    return _of_results(function, exact, [one for one in found if one is not None], known)


def _of_results(function: str, exact: bool, results: list[Any], known: Mask) -> Evaluated:
    """The results of a function in the rows that are known; ``exact`` is over integers."""
    gives = FUNCTIONS[function].gives
    if gives in ("string", "strings"):
        texts = np.full(len(known), None, object)
        texts[known] = results
        return Evaluated("string", pa.array(texts, pa.string()), known)
    if gives == "boolean":
        truths = np.zeros(len(known), np.bool_)
        truths[known] = results
        return Evaluated("boolean", truths, known)
    whole = gives == "integer" or (gives == "numeric" and exact)
    numbers: Any = np.zeros(len(known), np.int64 if whole else np.float64)
    numbers[known] = results
    return Evaluated("number", numbers, known)

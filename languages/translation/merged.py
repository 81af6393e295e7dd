"""Streams whose elements are merged: a vertex, or an edge with its id, has its newest properties.

In: the scan of a label. Out: one row for each element, with the latest value of each property among
its valid rows. The rows of a vertex are those of all labels of the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from ...algebra.aggregates import AggregateCall
from ...algebra.logical import Aggregate, LogicalExpression, Pattern, WScan
from .inputs import Origin
from .relations import Relation, over, projected, union

_TIME = "ts"


def merged_edges(scan: WScan, origin: Origin, properties: Sequence[str]) -> Relation:
    """The ends of the edges of a label, and these properties of them."""
    keys = origin.identity
    values = [name for name in properties if name not in keys]
    rows, place = _scanned(scan, origin, [*keys, *values])
    group = (0, 1, *(place[name] for name in keys))
    merged = _latest(rows, group, values, place) if values else projected(rows, group)
    names = [*keys, *values]
    return projected(merged, [0, 1, *(2 + names.index(name) for name in properties)])


def merged_vertices(
    scan: WScan, origin: Origin, labels: Sequence[str], properties: Sequence[str]
) -> Relation:
    """The vertices of a label, twice, and these properties of them.

    ``labels`` are those of the stream: a row of any of them may have the newest value.
    """
    scans = [replace(scan, label=label) for label in dict.fromkeys((scan.label, *labels))]
    parts = [_scanned(one, origin, properties) for one in scans]
    _, place = parts[0]
    rows = reduce(union, [rows for rows, _ in parts])
    merged = _latest(rows, (0,), properties, place)
    if len(scans) > 1:
        own = Relation(LogicalExpression(scan), (origin.vertex_type, origin.vertex_type))
        columns = tuple(range(1 + len(properties)))
        pattern = Pattern(((0,), columns), columns)
        merged = over(pattern, [projected(own, [0]), merged], merged.types)
    return projected(merged, [0, 0, *range(1, 1 + len(properties))])


def _scanned(
    scan: WScan, origin: Origin, properties: Sequence[str]
) -> tuple[Relation, dict[str, int]]:
    """The rows of a label with their properties and times, and the column of each."""
    read = tuple(sorted({*properties, _TIME}))
    ends = (origin.vertex_type, origin.vertex_type)
    types = (*ends, *(origin.properties[name] for name in read))
    rows = Relation(LogicalExpression(replace(scan, properties=read)), types)
    return rows, {name: 2 + number for number, name in enumerate(read)}


def _latest(
    rows: Relation, keys: tuple[int, ...], values: Sequence[str], place: dict[str, int]
) -> Relation:
    """The latest values of the rows of each key."""
    calls = tuple(AggregateCall("latest", place[name], place[_TIME]) for name in values)
    output = tuple(range(len(keys) + len(calls)))
    types = tuple(rows.types[column] for column in (*keys, *(place[name] for name in values)))
    return over(Aggregate(keys, calls, output, retracts=True), [rows], types)

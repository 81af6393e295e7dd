"""Decides conditions of scans and joins on the edges of a sample, with the code that runs them.

In: a condition, and a sample. Out: a mask of the edges or rows that satisfy the condition. The
sample has hashes of vertices instead of their values, so it decides equality of vertices, but no
order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..algebra.predicate import Predicate
from ..catalog.model import Catalog, StreamSample
from ..catalog.sketch import hashes_of
from ..catalog.values import ARROW_TYPES
from ..costmodel.sampling.arrays import Ints
from ..costmodel.sampling.properties import Checking, Properties, values_of
from ..costmodel.sampling.relations import Scanned
from ..executor.predicates import code_mask, mask

Mask = NDArray[np.bool_]
NO_VERTEX = -1
"""A code that no vertex has."""


def satisfying(catalog: Catalog) -> Callable[[Scanned, StreamSample], Mask | None]:
    """Returns what decides conditions on the samples of a catalog's streams."""

    def decide(scan: Scanned, sample: StreamSample) -> Mask | None:
        assert scan.condition is not None
        kind = catalog.streams[scan.stream].vertex_type
        kept = np.ones(len(sample.ts), np.bool_)
        for part in scan.condition.normal.conjuncts:
            satisfied = _satisfied(part, scan.properties, sample, ARROW_TYPES[kind])
            if satisfied is None:
                return None
            kept &= satisfied
        return kept

    return decide


def checking(catalog: Catalog) -> Checking:
    """Returns what decides conditions on rows of edges of the samples of a catalog."""

    def check(
        condition: Predicate, properties: Properties, codes: Mapping[int, Ints], rows: int
    ) -> Mask | None:
        columns = sorted(condition.columns)
        sql = condition.renumbered({column: k for k, column in enumerate(columns)}).sql
        if not columns:
            return mask(sql, [pa.nulls(rows)])
        if not properties.keys() & set(columns):
            return _of_vertices(sql, np.stack([codes[column] for column in columns]))
        if not properties.keys() >= set(columns):
            return None
        values = []
        for column in columns:
            stream, name = properties[column]
            of_edges = values_of(catalog.samples[stream], name)
            if of_edges is None:
                return None
            taken = of_edges.take(pa.array(codes[column]))
            values.append(taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken)
        return mask(sql, values)

    return check


def _of_vertices(sql: str, codes: Ints) -> Mask | None:
    """The rows of vertices that satisfy a condition without literals; a vertex has other codes at
    other instants, so that a literal has none."""
    literals: list[str | int] = []

    def code(literal: str | int) -> int:
        literals.append(literal)
        return NO_VERTEX

    kept = code_mask(sql, codes, code)
    return None if literals else kept


def _satisfied(
    condition: Predicate, properties: tuple[str, ...], sample: StreamSample, kind: Any
) -> Mask | None:
    """A mask of the edges that satisfy a condition; None if the sample does not decide it."""
    columns = sorted(condition.columns)
    place = {column: k for k, column in enumerate(columns)}
    sql = condition.renumbered(place).sql
    if not columns:
        return mask(sql, [pa.nulls(len(sample.ts))])
    if columns[-1] < 2:
        ends = (sample.sources, sample.targets)

        def code(value: str | int) -> int:
            try:
                hashed = hashes_of(pa.array([value], kind))[0]
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                return NO_VERTEX
            at = int(np.searchsorted(sample.vertices, hashed))
            return at if at < len(sample.vertices) and sample.vertices[at] == hashed else NO_VERTEX

        return code_mask(sql, np.stack([ends[column] for column in columns]), code)
    values = [_values(column, properties, sample) for column in columns]
    known = [value for value in values if value is not None]
    return mask(sql, known) if len(known) == len(values) else None


def _values(column: int, properties: tuple[str, ...], sample: StreamSample) -> Any:
    """The values of a column of a scan; None if the sample does not have them."""
    if column < 2:
        return None
    return values_of(sample, properties[column - 2])

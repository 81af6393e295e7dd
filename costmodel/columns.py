"""The statistics of a column of a relation beyond its number of distinct values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..algebra.values import PropertyType
from ..catalog.model import Catalog, End, LabelStatistics, Stream
from .distributions import Distribution, of_property, of_vertices


@dataclass(frozen=True, slots=True)
class Column:
    """A column that an operator passes on unchanged from scans of edges.

    Attributes:
        ends: the ends of labels whose vertices the column holds, each with the share of the rows
            that come from it; empty for a property.
        skew: the degree skew of the label of the only end; None if unknown.
        distribution: the distribution of the values; None if unknown.
        catalog: the catalog with the joint statistics of ``ends``.
    """

    ends: tuple[tuple[End, float], ...] = ()
    skew: float | None = None
    distribution: Distribution | None = None
    catalog: Catalog | None = field(default=None, repr=False, compare=False)


Columns = tuple[Column | None, ...]
"""The columns of a relation; None for a column without such statistics. Empty for no column."""


def columns_of_scan(
    catalog: Catalog,
    stream: Stream,
    label: str,
    statistics: LabelStatistics,
    properties: tuple[tuple[str, PropertyType], ...],
) -> Columns:
    """The columns src, trg and ``properties`` of a scan; empty without statistics of any.

    A row of a vertex has the vertex in both columns, which have the statistics of the source.
    """
    columns: list[Column | None] = []
    ends: tuple[Literal["src", "trg"], ...] = ("src", "src") if stream.vertices else ("src", "trg")
    for end in ends:
        frequent = statistics.frequent_src if end == "src" else statistics.frequent_trg
        distinct = statistics.distinct_src if end == "src" else statistics.distinct_trg
        values = of_vertices(frequent, distinct, stream.vertex_type) if frequent else None
        skew = statistics.degree_skew
        known = values is not None or skew is not None or catalog.joint
        origin = (((stream.name, label, end), 1.0),)
        columns.append(Column(origin, skew, values, catalog) if known else None)
    for name, kind in properties:
        described = statistics.properties.get(name)
        count = statistics.distinct_properties.get(name, 0.0)
        columns.append(
            None if described is None else Column(distribution=of_property(described, count, kind))
        )
    return tuple(columns) if any(columns) else ()

"""Names of the columns of properties in Spark's DataFrames.

``p0``, ``p1``, ...: one for each name and type among the properties that a plan's leaves read,
in the order of these; so no name of a user's meets another one, nor differs by case alone. The
ends, label, stream and ts of an edge have columns of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ....algebra.values import PropertyType
from ...scans import DELETES, OWN_TIME, Field, Leaf, property_column

SQL_TYPES: Mapping[PropertyType, str] = {
    "string": "string",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
}
"""Spark's types."""


def properties_of(leaves: Collection[Leaf]) -> dict[Field, str]:
    """The column of each property, by name and type; the time of an edge is none of them, but
    what says of a deletion that it is one is."""
    read = {
        (name, kind)
        for leaf in leaves
        for name, kind in zip(leaf.scan.properties, leaf.types, strict=True)
        if name != OWN_TIME
    }
    if any(leaf.deletes for leaf in leaves):
        read.add(DELETES)
    return {field: f"p{i}" for i, field in enumerate(sorted(read))}


def columns_of(leaves: Collection[Leaf]) -> dict[Field, str]:
    """The same by the names of :attr:`headrace.executor.scans.Leaf.fields`."""
    found = properties_of(leaves)
    return {
        (name if (name, kind) == DELETES else property_column(name), kind): column
        for (name, kind), column in found.items()
    }


def carried(leaves: Collection[Leaf]) -> dict[Field, str]:
    """Those of :func:`columns_of` that come with rows; the others are for predicates alone."""
    given = {field for leaf in leaves for field in leaf.travelling}
    return {field: column for field, column in columns_of(leaves).items() if field in given}

"""Names of the columns of properties in Spark's DataFrames.

The columns are ``p0``, ``p1``, ..., one for each pair of name and type that a plan's scan inputs
read, in sorted order. Property names of users may collide, or differ by case alone; these do not.
The ends, label, stream and ts of an edge have separate columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ....algebra.values import PropertyType
from ...scans import DELETES, OWN_TIME, Field, ScanInput, property_column

SQL_TYPES: Mapping[PropertyType, str] = {
    "string": "string",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
}
"""The Spark SQL type of each property type."""


def properties_of(scan_inputs: Collection[ScanInput]) -> dict[Field, str]:
    """The column of each property, by name and type.

    The time of an edge has no such column; the mark of a deletion (``op``) has one.
    """
    read = {
        (name, kind)
        for scan_input in scan_inputs
        for name, kind in zip(scan_input.scan.properties, scan_input.types, strict=True)
        if name != OWN_TIME
    }
    if any(scan_input.deletes for scan_input in scan_inputs):
        read.add(DELETES)
    return {field: f"p{i}" for i, field in enumerate(sorted(read))}


def columns_of(scan_inputs: Collection[ScanInput]) -> dict[Field, str]:
    """The columns of :func:`properties_of`, by :attr:`headrace.executor.scans.ScanInput.fields`."""
    return {
        (name if (name, kind) == DELETES else property_column(name), kind): column
        for (name, kind), column in properties_of(scan_inputs).items()
    }


def carried(scan_inputs: Collection[ScanInput]) -> dict[Field, str]:
    """The columns of :func:`columns_of` that rows carry; predicates alone read the others."""
    fields = {field for scan_input in scan_inputs for field in scan_input.travelling}
    return {field: column for field, column in columns_of(scan_inputs).items() if field in fields}

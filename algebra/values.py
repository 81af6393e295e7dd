"""The types of the values that columns hold: vertices, and properties of edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

VertexType = Literal["string", "integer"]
PropertyType = Literal["string", "integer", "number", "boolean"]
"""``number`` is a 64-bit float. A value of any of these types may be missing."""

ListType = Literal["strings", "integers", "numbers", "booleans"]
ColumnType = PropertyType | Literal["path"] | ListType
"""Paths and lists are text: JSON of the steps of a path, or of the values of a list. Only the
writers of results read the text as JSON."""
LISTS: Final[Mapping[PropertyType, ListType]] = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
}
"""The type of lists of each type of values."""
NUMBERS: Final[frozenset[ColumnType]] = frozenset({"integer", "number"})
EVERY_TYPE: Final[frozenset[ColumnType]] = frozenset(LISTS)
"""The types of properties."""
Types = tuple[frozenset[ColumnType], ...]
"""For each column of a relation the types that its values may have."""


class StreamTypes(NamedTuple):
    """The types of a stream's vertices and of its properties, by name."""

    vertex: VertexType
    properties: Mapping[str, PropertyType]


def only_type(types: frozenset[ColumnType]) -> PropertyType | None:
    """The one type of a property among types; None for several or none."""
    found = [kind for kind in LISTS if kind in types]
    return found[0] if len(found) == len(types) == 1 else None

"""The types of the values that columns hold: vertices, and properties of edges."""

from __future__ import annotations

from typing import Literal

VertexType = Literal["string", "integer"]
PropertyType = Literal["string", "integer", "number", "boolean"]
"""``number`` is a 64-bit float. A value of any of these types may be missing."""

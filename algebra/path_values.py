"""The values of shortest paths that operators give as columns.

A value of the path itself is one in each row of the path: its ``length``, the number of its steps;
its ``path``, JSON of its steps; its ``nodes``, JSON of the vertices that it visits.

The values of a *member* are those of one vertex or of one step of the path, so that the path has a
row for each of its members: the ``node`` itself; the ``start`` and the ``end`` of a step, as its
edge points; and the ``place`` of the vertex or the step on the path, from 0 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

PathValue = Literal["length", "path", "nodes", "place", "node", "start", "end"]
Members = Literal["nodes", "steps"]

LISTED: Final[tuple[PathValue, ...]] = ("path", "nodes")
"""The values that are JSON of all members."""
NUMBERS: Final[tuple[PathValue, ...]] = ("length", "place")
"""The values that are integers."""
VERTICES: Final[tuple[PathValue, ...]] = ("node", "start", "end")
"""The values that are vertices."""


def members(values: Sequence[PathValue]) -> Members | None:
    """The members of a path that have a row each; None if the path has one row.

    Raises:
        ValueError: if the values are of vertices and of steps, or a place is that of neither.
    """
    of_nodes, of_steps = "node" in values, not {"start", "end"}.isdisjoint(values)
    if of_nodes and of_steps:
        raise ValueError("the rows of a path are for its vertices or for its steps, not for both")
    if "place" in values and not (of_nodes or of_steps):
        raise ValueError("a place is that of a vertex or of a step")
    if of_nodes:
        return "nodes"
    return "steps" if of_steps else None

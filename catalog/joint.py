"""Joint statistics of the ends of labels, from the coordinated sketches of their vertices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations_with_replacement
from typing import Literal

from .model import End, Joint, Stream
from .sketch import Degrees, Sketch

MOST_JOINT = 8
"""The most labels of a catalog that have joint statistics: those with the most edges."""
_UNSEEN = 0.5
"""The assumed number of meeting edges if the sample has none."""

Ends = Mapping[tuple[str, str], Sketch]
"""The sketch of each (label, ``src`` or ``trg``) of a stream."""


def joint_of(streams: Collection[Stream], ends: Mapping[str, Ends]) -> tuple[Joint, ...]:
    """The joint statistics of streams whose ends were measured together.

    The statistics are exact for ends of at most ``COMPARED`` vertices. Beyond,
    the vertices that are frequent at both ends have counters, and the others are sampled.

    Args:
        streams: the streams; only those with vertices of one type are compared.
        ends: the sketches of each stream, by its name.
    """
    vertex_type = {stream.name: stream.vertex_type for stream in streams}
    degrees: dict[End, Degrees] = {}
    for stream in streams:
        for (label, end), sketch in ends.get(stream.name, {}).items():
            # Both ends of a row of vertices are the vertex.
            if sketch.total and not (stream.vertices and end == "trg"):
                side: Literal["src", "trg"] = "src" if end == "src" else "trg"
                degrees[stream.name, label, side] = sketch.degrees()
    edges = {(stream, label): one.total for (stream, label, _), one in degrees.items()}
    frequent = sorted(edges, key=lambda name: (-edges[name], name))[:MOST_JOINT]
    measured = [end for end in sorted(degrees) if end[:2] in frequent]
    return tuple(
        _joint(left, right, degrees[left], degrees[right])
        for left, right in combinations_with_replacement(measured, 2)
        if vertex_type[left[0]] == vertex_type[right[0]]
    )


def _joint(left: End, right: End, one: Degrees, other: Degrees) -> Joint:
    meeting, shared = one.compared(other)
    selectivity = min(max(meeting, _UNSEEN) / (one.total * other.total), 1.0)
    return Joint(left, right, float(f"{selectivity:.4g}"), float(round(shared)))

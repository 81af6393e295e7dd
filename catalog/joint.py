"""Joint statistics of the ends of labels, from the coordinated sketches of their vertices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations_with_replacement

from .model import End, Joint, Stream
from .sketch import Sketch

MOST_JOINT = 8
"""The most labels of a catalog that have joint statistics: those with the most edges."""
_UNSEEN = 0.5
"""The assumed number of meeting edges if the sample has none."""

Ends = Mapping[tuple[str, str], Sketch]
"""The sketch of each (label, ``src`` or ``trg``) of a stream."""


def joint_of(streams: Collection[Stream], ends: Mapping[str, Ends]) -> tuple[Joint, ...]:
    """The joint statistics of streams whose ends were measured together.

    A sum over k-minimum-values samples is exact for labels of at most ``KEPT`` vertices. Beyond,
    the vertices that are frequent at both ends have counters, and the others are sampled.

    Args:
        streams: the streams; only those with vertices of one type are compared.
        ends: the sketches of each stream, by its name.
    """
    vertex_type = {stream.name: stream.vertex_type for stream in streams}
    sketches: dict[End, Sketch] = {}
    for stream in streams:
        for (label, end), sketch in ends.get(stream.name, {}).items():
            # Both ends of a row of vertices are the vertex.
            if sketch.total and not (stream.vertices and end == "trg"):
                sketches[stream.name, label, "src" if end == "src" else "trg"] = sketch
    edges = {(stream, label): sketch.total for (stream, label, _), sketch in sketches.items()}
    frequent = sorted(edges, key=lambda name: (-edges[name], name))[:MOST_JOINT]
    measured = [end for end in sorted(sketches) if end[:2] in frequent]
    return tuple(
        _joint(left, right, sketches[left], sketches[right])
        for left, right in combinations_with_replacement(measured, 2)
        if vertex_type[left[0]] == vertex_type[right[0]]
    )


def _joint(left: End, right: End, one: Sketch, other: Sketch) -> Joint:
    meeting = max(one.product(other), _UNSEEN)
    selectivity = min(meeting / (one.total * other.total), 1.0)
    return Joint(left, right, float(f"{selectivity:.4g}"), float(round(one.shared(other))))

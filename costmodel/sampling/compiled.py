"""Calls the compiled kernels that evaluate relations on a sample.

Numba takes longer to import than a plan without a sample takes to find, so it is imported with the
first sample.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from .arrays import FOREVER, Adjacency, Graphs, Ints, Pairs, Versions, graphs_of
from .snapshot import Snapshot, TimePoints

ROOM = 1 << 15
"""The rows of results for which a search has room at least."""


class Found(NamedTuple):
    """What searches found, with a row for each version of a pair and each state that accepts it.

    Attributes:
        sources: the sources.
        vertices: the vertices that they reach.
        versions: the versions: before, and since a short time before the instant.
        left: the edges that may still be read; negative if the searches were ended.
    """

    sources: Ints
    vertices: Ints
    versions: Versions
    left: int


def found(
    graphs: Graphs, sources: Ints, snapshot: Snapshot, *, accepting: Ints, left: int
) -> Found:
    """Searches along an automaton from some sources.

    Args:
        graphs: the pairs that its moves follow; none enters state 0, in which a search begins.
        sources: the vertices at which the searches begin.
        snapshot: the snapshot graphs.
        accepting: for each state 1 if it accepts, else 0.
        left: the most edges to read.
    """
    from ...executor.kernels import stops, widest

    vertices = max(snapshot.most_vertices, 1)
    size = len(accepting) * vertices
    nodes = np.zeros((widest.NODE_FIELDS, size), np.int64)
    room = np.empty((widest.ROW_FIELDS, max(ROOM, 2 * size)), np.int64)
    header = np.zeros(widest.HEADER_FIELDS, np.int64)
    header[widest.LEFT] = left
    first = snapshot.begins[snapshot.instant[sources]]
    moments, since = snapshot.moments[sources], snapshot.points.since
    parts: list[Ints] = []
    stop = stops.OUT_FULL
    while stop == stops.OUT_FULL:
        header[widest.WRITTEN] = 0
        stop = widest.widest(
            header, sources, first, moments, since, FOREVER, vertices, graphs.moves, accepting,
            graphs.begins, graphs.targets, graphs.expiries, nodes, room,
        )  # fmt: skip
        parts.append(room[:, : header[widest.WRITTEN]].copy())
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    created, expiry, replaced = rows[widest.CREATED], rows[widest.EXPIRY], rows[widest.REPLACED]
    return Found(
        rows[widest.SOURCE],
        rows[widest.VERTEX],
        Versions(created, expiry, replaced, rows[widest.FRESH] > 0),
        -1 if stop == stops.OVER_BUDGET else int(header[widest.LEFT]),
    )


def joined(low: Ints, high: Ints, left: Versions, right: Versions) -> tuple[Ints, Ints, Versions]:
    """The versions of joined rows: those of both that are there at one time, before either is
    replaced.

    Args:
        low: for each row of the left the first row of the right that it may join with.
        high: for each row of the left the end of these rows.
        left: the versions of the left.
        right: the versions of the right.

    Returns:
        The rows of the left, the rows of the right, and the versions.
    """
    from ...executor.kernels import versioned

    most = int((high - low).sum())
    rows, others = np.empty(most, np.int64), np.empty(most, np.int64)
    created, expiry, replaced = np.empty((3, most), np.int64)
    room = Versions(created, expiry, replaced, np.empty(most, np.bool_))
    written = slice(versioned.joined(low, high, left, right, rows, others, room))
    return rows[written], others[written], room.take(written)


@cache
def prepare() -> None:
    """Imports the kernels, and compiles them if they have no machine code on disk yet."""
    none = np.empty(0, np.int64)
    versions = Versions(none, none, none, none > 0)
    joined(none, none, versions, versions)
    points = TimePoints(none, none.astype(float), 1, 1)
    nothing = Snapshot({}, {}, np.zeros(1, np.int64), none, points, 1, {})
    graphs = graphs_of([(0, 1, Pairs(Adjacency(np.zeros(1, np.int64), none), none, none))])
    found(graphs, none, nothing, accepting=np.array([0, 1]), left=0)

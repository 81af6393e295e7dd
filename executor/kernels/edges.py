"""The edges that a path operator holds, each once with its largest expiry.

An edge is indexed by its two vertices and its input, and is in an adjacency list of each vertex. An
expired edge stays in its lists until a sweep copies the others.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .store import ADDED, COUNT
from .tables import EMPTY, find, put

# Fields of an edge. TARGET is SOURCE + 1 and NEXT_IN is NEXT_OUT + 1. So a walk over an edge, with
# `inverse` 1 against its direction, leads from field SOURCE + inverse to field TARGET - inverse
# along the list NEXT_OUT + inverse.
SOURCE, TARGET, INPUT, EXPIRY, NEXT_OUT, NEXT_IN, EDGE_FIELDS = range(7)


class Edges(NamedTuple):
    """The arrays of a store of edges.

    Attributes:
        header: counts, and when a sweep is due.
        rows: an edge in each row; a store may have further fields.
        edge_map: the edge with a (source, :func:`edge_key`).
        adjacency: the first edge in the list of a (vertex, 2 · input + inverse).
        walked: for each 2 · input + inverse, whether lists of it are kept.
    """

    header: IntArray
    rows: IntArray
    edge_map: IntArray
    adjacency: IntArray
    walked: IntArray


@kernel
def edge_key(target: int, number: int, inputs: int) -> int:
    """The second half of an edge's key; the first is its source."""
    return target * inputs + number


@kernel
def find_edge(edges: Edges, behind: int, ahead: int, number: int, inverse: int) -> int:
    """The edge of an input from ``behind`` to ``ahead``, or the inverse of one from ``ahead``
    to ``behind``; EMPTY if there is none."""
    source, target = behind, ahead
    if inverse != 0:
        source, target = ahead, behind
    key = edge_key(target, number, edges.walked.shape[0] // 2)
    return edges.edge_map[find(edges.edge_map, source, key), 2]


@kernel
def _link(edges: Edges, edge: int) -> None:
    """Puts an edge at the front of the adjacency lists that the automaton walks."""
    rows, adjacency = edges.rows, edges.adjacency
    for inverse in range(2):
        key = 2 * rows[edge, INPUT] + inverse
        if edges.walked[key] != 0:
            vertex = rows[edge, SOURCE + inverse]
            slot = find(adjacency, vertex, key)
            rows[edge, NEXT_OUT + inverse] = adjacency[slot, 2]
            adjacency[slot, 0], adjacency[slot, 1], adjacency[slot, 2] = vertex, key, edge


@kernel
def enter(edges: Edges, source: int, target: int, number: int, expiry: int, reorders: bool) -> int:
    """Holds an edge and returns its number; EMPTY if it is held with at least this expiry.

    With ``reorders`` an edge whose expiry grows becomes a new one at the front of its lists, and
    the old one is dead. The caller ensures that there is room for one more edge.
    """
    rows, index = edges.rows, edges.edge_map
    key = edge_key(target, number, edges.walked.shape[0] // 2)
    slot = find(index, source, key)
    edge = index[slot, 2]
    if edge != EMPTY:
        if rows[edge, EXPIRY] >= expiry:
            return EMPTY
        if not reorders:
            rows[edge, EXPIRY] = expiry
            return edge
        rows[edge, EXPIRY] = EMPTY
    edge = edges.header[COUNT]
    edges.header[COUNT] += 1
    edges.header[ADDED] += 1
    index[slot, 0], index[slot, 1], index[slot, 2] = source, key, edge
    rows[edge, SOURCE], rows[edge, TARGET], rows[edge, INPUT] = source, target, number
    rows[edge, EXPIRY] = expiry
    _link(edges, edge)
    return edge


@kernel
def count_valid(edges: Edges, now: int) -> tuple[int, int, int]:
    """The number of edges that :func:`copy_valid` keeps, the number of those that never expire, and
    the latest expiry of the others."""
    count = lasting = 0
    latest = now
    for edge in range(edges.header[COUNT]):
        expiry = edges.rows[edge, EXPIRY]
        if expiry > now:
            count += 1
            if expiry == FOREVER:
                lasting += 1
            else:
                latest = max(latest, expiry)
    return count, lasting, latest


@kernel
def copy_valid(old: Edges, fresh: Edges, now: int) -> None:
    """Copies the edges valid after ``now`` into fresh arrays under the same header."""
    header, rows = fresh.header, fresh.rows
    count = header[COUNT]
    header[COUNT] = header[ADDED] = 0
    for number in range(count):
        if old.rows[number, EXPIRY] > now:
            edge = header[COUNT]
            header[COUNT] += 1
            for part in range(rows.shape[1]):
                rows[edge, part] = old.rows[number, part]
            key = edge_key(rows[edge, TARGET], rows[edge, INPUT], fresh.walked.shape[0] // 2)
            put(fresh.edge_map, rows[edge, SOURCE], key, edge)
            _link(fresh, edge)

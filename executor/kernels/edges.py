"""The edges that a path operator holds, each once with its largest expiry.

Two indexes with open addressing lead to edges. A slot has 32 bits of the hash above the number of
the edge, as in :mod:`headrace.executor.kernels.rows`; the edge itself has the key.

An edge is indexed by its two vertices and its input, and is in an adjacency list of each vertex. An
expired edge stays in its lists until a sweep copies the others.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import ROW_BITS, ROW_MASK, row_at
from .store import ADDED, COUNT
from .tables import EMPTY, mixed

# Fields of an edge. TARGET is SOURCE + 1 and NEXT_IN is NEXT_OUT + 1. So a walk over an edge, with
# `inverse` 1 against its direction, leads from field SOURCE + inverse to field TARGET - inverse
# along the list NEXT_OUT + inverse.
SOURCE, TARGET, INPUT, EXPIRY, NEXT_OUT, NEXT_IN, EDGE_FIELDS = range(7)


class Edges(NamedTuple):
    """The arrays of a store of edges.

    Attributes:
        header: counts, and when a sweep is due.
        rows: an edge in each row; a store may have further fields.
        edge_map: the index of edges by source, target and input.
        adjacency: the index of the first edges of lists, by vertex and 2 · input + inverse.
        walked: for each 2 · input + inverse, whether lists of it are kept.
    """

    header: IntArray
    rows: IntArray
    edge_map: IntArray
    adjacency: IntArray
    walked: IntArray


@kernel
def _hash_of_edge(source: int, target: int, number: int) -> int:
    return mixed(mixed(mixed(source) + target) + number)


@kernel
def _find(edges: Edges, source: int, target: int, number: int, hashed: int) -> int:
    """The slot of an edge in ``edge_map``, or the free slot for it."""
    index, rows = edges.edge_map, edges.rows
    mask = index.shape[0] - 1
    slot, tag = hashed & mask, hashed << ROW_BITS
    while index[slot] != EMPTY:
        if (index[slot] ^ tag) >> ROW_BITS == 0:
            edge = index[slot] & ROW_MASK
            same = rows[edge, SOURCE] == source and rows[edge, TARGET] == target
            if same and rows[edge, INPUT] == number:
                break
        slot = (slot + 1) & mask
    return slot


@kernel
def find_edge(edges: Edges, behind: int, ahead: int, number: int, inverse: int) -> int:
    """The edge of an input from ``behind`` to ``ahead``, or the inverse of one from ``ahead``
    to ``behind``; EMPTY if there is none."""
    source, target = behind, ahead
    if inverse != 0:
        source, target = ahead, behind
    hashed = _hash_of_edge(source, target, number)
    return row_at(edges.edge_map, _find(edges, source, target, number, hashed))


@kernel
def _slot_of_list(edges: Edges, vertex: int, key: int, hashed: int) -> int:
    """The slot of a list in ``adjacency``, or the free slot for it."""
    index, rows = edges.adjacency, edges.rows
    mask = index.shape[0] - 1
    slot, tag = hashed & mask, hashed << ROW_BITS
    while index[slot] != EMPTY:
        if (index[slot] ^ tag) >> ROW_BITS == 0:
            edge = index[slot] & ROW_MASK
            if rows[edge, SOURCE + (key & 1)] == vertex and rows[edge, INPUT] == key >> 1:
                break
        slot = (slot + 1) & mask
    return slot


@kernel
def first_edge(edges: Edges, vertex: int, key: int) -> int:
    """The first edge in the list of a (vertex, 2 · input + inverse), or EMPTY."""
    slot = _slot_of_list(edges, vertex, key, mixed(mixed(vertex) + key))
    return row_at(edges.adjacency, slot)


@kernel
def _link(edges: Edges, edge: int) -> None:
    """Puts an edge at the front of the adjacency lists that the automaton walks."""
    rows, adjacency = edges.rows, edges.adjacency
    for inverse in range(2):
        key = 2 * rows[edge, INPUT] + inverse
        if edges.walked[key] != 0:
            vertex = rows[edge, SOURCE + inverse]
            hashed = mixed(mixed(vertex) + key)
            slot = _slot_of_list(edges, vertex, key, hashed)
            rows[edge, NEXT_OUT + inverse] = row_at(adjacency, slot)
            adjacency[slot] = (hashed << ROW_BITS) | edge


@kernel
def enter(edges: Edges, source: int, target: int, number: int, expiry: int, reorders: bool) -> int:
    """Holds an edge and returns its number; EMPTY if it is held with at least this expiry.

    With ``reorders`` an edge whose expiry grows becomes a new one at the front of its lists, and
    the old one is dead. The caller ensures that there is room for one more edge.
    """
    rows, index = edges.rows, edges.edge_map
    hashed = _hash_of_edge(source, target, number)
    slot = _find(edges, source, target, number, hashed)
    edge = row_at(index, slot)
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
    index[slot] = (hashed << ROW_BITS) | edge
    rows[edge, SOURCE], rows[edge, TARGET], rows[edge, INPUT] = source, target, number
    rows[edge, EXPIRY] = expiry
    _link(edges, edge)
    return edge


@kernel
def _free_slot(index: IntArray, hashed: int) -> int:
    """A free slot for an entry that the index does not have."""
    mask = index.shape[0] - 1
    slot = hashed & mask
    while index[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


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
            hashed = _hash_of_edge(rows[edge, SOURCE], rows[edge, TARGET], rows[edge, INPUT])
            slot = _free_slot(fresh.edge_map, hashed)
            fresh.edge_map[slot] = (hashed << ROW_BITS) | edge
            _link(fresh, edge)

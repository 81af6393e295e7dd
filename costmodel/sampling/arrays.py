"""Arrays of the edges and rows of snapshots: adjacency, versions, and pairs with their expiries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
FOREVER = 2**62
"""The expiry of the edges of a stored graph."""
MOST_VERSIONS = 3.0
"""The mean number of versions of a version's pair, above which older ones are left out."""


class Adjacency(NamedTuple):
    """Entries of vertices: their number by vertex, and the vertex at the other end of each.

    Attributes:
        begins: where the entries of each vertex begin, and the number of entries.
        targets: the other vertex of each entry.
    """

    begins: Ints
    targets: Ints

    @property
    def degrees(self) -> Ints:
        """The number of entries of each vertex."""
        return np.diff(self.begins)

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """The two vertices of each entry."""
        return np.repeat(np.arange(len(self.begins) - 1), self.degrees), self.targets

    def of(self, vertices: Ints) -> tuple[Ints, Ints]:
        """The entries of some vertices: positions in ``vertices``, and positions of entries."""
        begins = self.begins[vertices]
        counts = self.begins[vertices + 1] - begins
        rows = np.repeat(np.arange(len(vertices)), counts)
        ends = np.cumsum(counts)
        first = np.repeat(begins - (ends - counts), counts)
        return rows, first + np.arange(len(rows))

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of the targets of each vertex."""
        sums = np.zeros(len(self.targets) + 1)
        np.cumsum(values[self.targets], out=sums[1:])
        of_vertices: Floats = np.diff(sums[self.begins])
        return of_vertices


class Versions(NamedTuple):
    """Versions of rows: one for each expiry that a row had.

    Attributes:
        created: the time since which the row has the expiry.
        expiry: the first instant at which the row is no longer valid if no later version renews it.
        replaced: the time at which the next version was created; :data:`FOREVER` for the last one.
        fresh: whether the row was absent before.
    """

    created: Ints
    expiry: Ints
    replaced: Ints
    fresh: Mask

    def take(self, rows: Ints | Mask | slice) -> Versions:
        """Some of the versions."""
        return Versions(
            self.created[rows], self.expiry[rows], self.replaced[rows], self.fresh[rows]
        )


class Links(NamedTuple):
    """The versions of pairs of vertices, by the first vertex, and of a pair by time."""

    adjacency: Adjacency
    versions: Versions


class Pairs(NamedTuple):
    """Different pairs of vertices, by the first vertex.

    Attributes:
        adjacency: the pairs.
        expiry: the first instant at which a pair is no longer valid.
        before: its expiry a short time before; 0 if it was not there.
    """

    adjacency: Adjacency
    expiry: Ints
    before: Ints


class Graphs(NamedTuple):
    """The pairs that the moves of an automaton follow.

    Attributes:
        moves: for each move its state, the state that it enters, and its graph.
        begins: for each graph where the pairs of each vertex begin, and their end.
        targets: the vertex at the other end of each pair.
        expiries: the expiry of each pair, at the instant and a short time before.
    """

    moves: Ints
    begins: Ints
    targets: Ints
    expiries: Ints


def starts_of(ordered: Ints) -> Ints:
    """The first position of each value in an ordered row of values."""
    return np.flatnonzero(np.append(len(ordered) > 0, ordered[1:] != ordered[:-1])[: len(ordered)])


def coalesced(keys: Ints, created: Ints, expiry: Ints) -> tuple[Ints, Ints, Versions]:
    """The rows that COALESCE passes: those that expire after all earlier rows of their key.

    Returns:
        The positions in the order of key and time; the passed ones among them, as positions in
        that order; and the versions of the passed ones.
    """
    if not len(keys):
        nothing = np.empty(0, np.int64)
        return nothing, nothing, Versions(nothing, nothing, nothing, nothing > 0)
    order = _by_time(keys, created)
    keys, created, expiry = keys[order], created[order], expiry[order]
    first = np.empty(len(keys), np.bool_)
    first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    group = np.cumsum(first)
    passed = first.copy()
    if not first.all():
        # The largest expiry so far within each group: groups do not overlap when shifted.
        rank = expiry - expiry.min()
        if int(rank.max()) > 2**40:
            _, rank = np.unique(expiry, return_inverse=True)
        shifted = group * (int(rank.max()) + 1) + rank
        passed[1:] |= shifted[1:] > np.maximum.accumulate(shifted)[:-1]
    kept = np.flatnonzero(passed)
    replaced = np.full(len(kept), FOREVER)
    same = group[kept[1:]] == group[kept[:-1]]
    replaced[:-1][same] = created[kept[1:]][same]
    return order, kept, Versions(created[kept], expiry[kept], replaced, first[kept])


def _by_time(keys: Ints, created: Ints) -> Ints:
    """The order of rows by key and time."""
    times = created - created.min()
    span = int(times.max()) + 1
    if (int(keys.max()) + 1) * span < FOREVER:
        return np.argsort(keys * span + times)
    return np.lexsort((times, keys))


def links_of(sources: Ints, targets: Ints, created: Ints, expiry: Ints, vertices: int) -> Links:
    """The links of rows of two vertices below ``vertices``, coalesced."""
    order, kept, versions = coalesced(sources * vertices + targets, created, expiry)
    passed = order[kept]
    counts = np.bincount(sources[passed], minlength=vertices)
    begins = np.concatenate([[0], np.cumsum(counts)])
    return Links(Adjacency(begins, targets[passed]), versions)


def pairs_of(links: Links, cutoffs: Ints) -> Pairs:
    """The pairs of links; ``cutoffs`` has the short time before the instant of each vertex."""
    begins, targets = links.adjacency
    versions = links.versions
    last = versions.replaced == FOREVER
    starts = np.flatnonzero(np.concatenate([[True], last[:-1]])[: len(last)])
    old = np.where(versions.created <= cutoffs[targets], versions.expiry, 0)
    before = np.maximum.reduceat(old, starts) if len(starts) else old
    sums = np.concatenate([[0], np.cumsum(last)])
    return Pairs(Adjacency(sums[begins], targets[last]), versions.expiry[last], before)


def graphs_of(moves: Sequence[tuple[int, int, Pairs]]) -> Graphs:
    """The graphs of some moves: from state, to state, and the pairs that they follow."""
    places: dict[int, int] = {}
    different: list[Pairs] = []
    numbered = []
    for at, to, pairs in moves:
        if id(pairs) not in places:
            places[id(pairs)] = len(different)
            different.append(pairs)
        numbered.append((at, to, places[id(pairs)]))
    begins, end = [], 0
    for pairs in different:
        begins.append(pairs.adjacency.begins + end if end else pairs.adjacency.begins)
        end += len(pairs.expiry)
    columns = [(p.adjacency.targets, p.expiry, p.before) for p in different]
    targets, now, before = map(np.concatenate, zip(*columns, strict=True))
    return Graphs(np.array(numbered, np.int64), np.stack(begins), targets, np.stack([now, before]))

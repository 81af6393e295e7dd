"""Snapshot graphs of a sample at some instants, in arrays that a search reads.

The graphs are the parts of one graph: a vertex has a number of its own at each instant. So rows of
several instants are evaluated at once, and no row mixes edges of two instants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...catalog.model import StreamSample
from .relations import Edges, Relation, Scanned

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Masks = Mapping[Scanned, NDArray[np.bool_]]
"""For each scan with a condition a mask of the edges of its sample."""
FOREVER = 2**62
"""The expiry of the edges of a stored graph."""
MOST_VERSIONS = 3.0
"""The mean number of versions of a version's pair, above which older ones are left out."""
LOOKED_AT = 2_000
"""The edges of a scan of which repeats are counted."""


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
        sums: Floats = np.concatenate([[0.0], np.cumsum(values[self.targets])])
        of_vertices: Floats = sums[self.begins[1:]] - sums[self.begins[:-1]]
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

    def take(self, rows: Ints | Mask) -> Versions:
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


@dataclass(frozen=True, slots=True)
class TimePoints:
    """Instants of a sample, with the weights of their rows in a mean over time.

    Attributes:
        moments: the instants.
        weights: the weights, whose sum is 1.
        since: the short time before each instant over which changes of paths are counted.
        slide: the slide of the windows, so that a row changes at most once within it.
    """

    moments: Ints
    weights: Floats
    since: int
    slide: int


class Valid(NamedTuple):
    """The edges of a scan that are valid at some instant.

    Attributes:
        sources: the sources, numbered by instant.
        targets: the targets, numbered by instant.
        created: the times of the edges.
        expiry: the first instants at which they are no longer valid.
        rows: the positions of the edges in the sample.
    """

    sources: Ints
    targets: Ints
    created: Ints
    expiry: Ints
    rows: Ints


@dataclass(eq=False)
class Snapshot:
    """The valid edges of some scans at some instants; vertices are numbers below ``vertices``.

    Attributes:
        edges: the edges of each scan without its condition.
        masks: the edges that satisfy the conditions of scans; it may grow.
        begins: the first vertex of each instant, and the number of vertices.
        instant: the instant of each vertex, as a position.
        points: the instants.
        memory: the time before an instant over which versions are kept.
        weights: the weight of each vertex: that of its instant.
        moments: the instant of each vertex.
        known_pairs: the pairs of relations that evaluations read.
        known_candidates: the possible values of columns that evaluations read.
    """

    edges: Mapping[Scanned, Valid]
    masks: Masks
    begins: Ints
    instant: Ints
    points: TimePoints
    memory: int
    weights: Floats = field(init=False, repr=False)
    moments: Ints = field(init=False, repr=False)
    _links: dict[tuple[Edges, bool], Links] = field(default_factory=dict, repr=False)
    known_pairs: dict[tuple[Relation, bool], Pairs] = field(default_factory=dict, repr=False)
    known_candidates: dict[tuple[Relation, int], Floats] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.weights = self.points.weights[self.instant]
        self.moments = self.points.moments[self.instant]

    @property
    def vertices(self) -> int:
        """The number of vertices, counted at each instant."""
        return int(self.begins[-1])

    @property
    def most_vertices(self) -> int:
        """The largest number of vertices at an instant."""
        return int(np.diff(self.begins).max(initial=0))

    def valid(self, scan: Scanned) -> Valid:
        """The edges of a scan that satisfy its condition."""
        edges = self.edges[scan.bare]
        if scan.condition is None:
            return edges
        kept = self.masks[scan][edges.rows]
        return Valid(*(column[kept] for column in edges))

    def links(self, edges: Edges, inverse: bool) -> Links:
        """The edges from source to target, or from target to source if ``inverse``."""
        key = (edges, inverse)
        links = self._links.get(key)
        if links is None:
            parts = [self.valid(scan) for scan in edges.scans]
            columns = map(np.concatenate, zip(*parts, strict=True))
            valid = parts[0] if len(parts) == 1 else Valid(*columns)
            ends = valid[1::-1] if inverse else valid[:2]
            links = self.kept(links_of(*ends, valid.created, valid.expiry, self.vertices))
            self._links[key] = links
        return links

    def kept(self, links: Links) -> Links:
        """The versions that are not replaced for longer than ``memory``."""
        (begins, targets), versions = links
        kept = versions.replaced > self.moments[targets] - self.memory
        if kept.all():
            return links
        sums = np.concatenate([[0], np.cumsum(kept)])
        return Links(Adjacency(sums[begins], targets[kept]), versions.take(kept))

    def pairs(self, links: Links) -> Pairs:
        """The pairs of links with their expiries now and a short time before."""
        return pairs_of(links, self.moments - self.points.since)


def snapshot_of(
    samples: Mapping[str, StreamSample],
    scans: Sequence[Scanned],
    points: TimePoints,
    masks: Masks,
) -> Snapshot:
    """The snapshots of a sample at some instants.

    Args:
        samples: the samples of the streams.
        scans: the scans, without conditions.
        points: the instants.
        masks: the edges that satisfy the conditions of scans.
    """
    numbers = _common_numbers({scan.stream: samples[scan.stream] for scan in scans})
    vertices = 1 + max([int(n.max(initial=0)) for n in numbers.values()])
    count = len(points.moments)
    valid: dict[Scanned, Valid] = {}
    repeats = 1.0
    present = np.zeros(count * vertices, np.bool_)
    for scan in scans:
        sample = samples[scan.stream]
        mine = sample.rows_of(scan.label)
        rows, place, expiry = _valid(sample.ts[mine], scan, points)
        number, rows = numbers[scan.stream], mine[rows]
        sources = number[sample.sources[rows]] + place * vertices
        targets = number[sample.targets[rows]] + place * vertices
        present[sources] = present[targets] = True
        created = sample.ts[rows] if scan.window is not None else np.zeros(len(rows), np.int64)
        valid[scan] = Valid(sources, targets, created, expiry, rows)
        if scan.window is not None:
            repeats = max(repeats, _repeats(sources, targets, expiry))
    codes = np.cumsum(present) - 1
    edges = {
        scan: one._replace(sources=codes[one.sources], targets=codes[one.targets])
        for scan, one in valid.items()
    }
    there = np.flatnonzero(present) // vertices
    begins = np.searchsorted(there, np.arange(count + 1))
    shortest = min(scan.window.range for scan in scans if scan.window is not None)
    memory = max(int(shortest * min(MOST_VERSIONS / repeats, 1.0)), points.since)
    return Snapshot(edges, masks, begins.astype(np.int64), there, points, memory)


def _repeats(sources: Ints, targets: Ints, expiry: Ints) -> float:
    """The mean number of versions of the pair of a version, among some edges."""
    pairs = np.stack([sources, targets, expiry])[:, :LOOKED_AT]
    if not pairs.size:
        return 1.0
    order = np.lexsort(pairs[::-1])
    changes = np.diff(pairs[:, order], prepend=-1) != 0
    versions = np.flatnonzero(changes.any(axis=0))
    begins = np.flatnonzero(changes[:2, versions].any(axis=0))
    counts = np.diff(begins, append=len(versions))
    return float((counts**2).sum() / counts.sum())


def _common_numbers(samples: Mapping[str, StreamSample]) -> dict[str, Ints]:
    """For each stream the numbers of its vertices among those of all streams."""
    if len(samples) == 1:
        return {name: np.arange(len(sample.vertices)) for name, sample in samples.items()}
    every = np.unique(np.concatenate([sample.vertices for sample in samples.values()]))
    return {name: np.searchsorted(every, sample.vertices) for name, sample in samples.items()}


def _valid(ts: Ints, scan: Scanned, points: TimePoints) -> tuple[Ints, Ints, Ints]:
    """The positions of valid edges, the positions of their instants, and their expiries."""
    count = len(points.moments)
    if scan.window is None:
        rows = np.tile(np.arange(len(ts)), count)
        return rows, np.repeat(np.arange(count), len(ts)), np.full(len(rows), FOREVER)
    length, slide = scan.window.range, scan.window.slide
    earliest = ((points.moments - length) // slide + 1) * slide
    first = np.searchsorted(ts, earliest)
    counts = np.maximum(np.searchsorted(ts, points.moments, "right") - first, 0)
    place = np.repeat(np.arange(count), counts)
    ends = np.cumsum(counts)
    rows = np.repeat(first - (ends - counts), counts) + np.arange(len(place))
    return rows, place, ts[rows] // slide * slide + length

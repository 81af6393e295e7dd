"""Snapshot graphs of a sample at some instants, in arrays that a search reads.

The graphs are the parts of one graph: a vertex has a number of its own at each instant. So rows of
several instants are evaluated at once, and no row mixes edges of two instants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.automaton import Automaton
from ...algebra.regex import Regex
from ...catalog.model import StreamSample
from .arrays import (
    FOREVER,
    MOST_VERSIONS,
    Adjacency,
    Floats,
    Graphs,
    Ints,
    Links,
    Pairs,
    Versions,
    links_of,
    pairs_of,
)
from .relations import Edges, Relation, Scanned

Masks = Mapping[Scanned, NDArray[np.bool_]]
"""For each scan with a condition a mask of the edges of its sample."""
KEPT_SNAPSHOTS = 4
"""The snapshots that a process keeps for later queries."""
KEPT_LINKS = 32
"""The links, and the pairs, of scans without conditions that a process keeps, at most 2 MB each."""
LOOKED_AT = 2_000
"""The edges of a scan of which repeats are counted."""


@dataclass(frozen=True, slots=True, eq=False)
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
        memory: the time before an instant over which versions are kept, in whole slides.
        samples: the samples of the streams, by name.
        origin: the snapshot of all queries over these scans, which is kept; None for itself.
        weights: the weight of each vertex: that of its instant.
        moments: the instant of each vertex.
        known_pairs: the pairs of relations that evaluations read.
        known_graphs: the graphs that the moves of automata follow over some inputs.
        known_candidates: the possible values of columns that evaluations read.
        flows_of_ones: by relation and column, the number of derivations of pairs by vertex.
        walks_of_ones: by expression and inputs, the number of walks by vertex.
        ones: 1 for each vertex.
    """

    edges: Mapping[Scanned, Valid]
    masks: Masks
    begins: Ints
    instant: Ints
    points: TimePoints
    memory: int
    samples: Mapping[str, StreamSample]
    origin: Snapshot | None = None
    weights: Floats = field(init=False, repr=False)
    moments: Ints = field(init=False, repr=False)
    _links: dict[tuple[Edges, bool], Links] = field(default_factory=dict, repr=False)
    _rows: dict[tuple[Edges, bool], tuple[Links, Ints]] = field(default_factory=dict, repr=False)
    known_pairs: dict[tuple[Relation, bool], Pairs] = field(default_factory=dict, repr=False)
    known_graphs: dict[tuple[Automaton, tuple[Relation, ...]], Graphs] = field(
        default_factory=dict, repr=False
    )
    known_candidates: dict[tuple[Relation, int], Floats] = field(default_factory=dict, repr=False)
    flows_of_ones: dict[tuple[Relation, int], Floats] = field(default_factory=dict, repr=False)
    walks_of_ones: dict[tuple[Regex, tuple[Relation, ...]], Floats] = field(
        default_factory=dict, repr=False
    )
    ones: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.weights = self.points.weights[self.instant]
        self.moments = self.points.moments[self.instant]
        self.ones = np.ones(self.vertices)

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

    def of_query(self, masks: Masks) -> Snapshot:
        """The same snapshot with the conditions of a query, and caches of its own."""
        return Snapshot(
            self.edges,
            masks,
            self.begins,
            self.instant,
            self.points,
            self.memory,
            self.samples,
            self,
        )

    def links(self, edges: Edges, inverse: bool) -> Links:
        """The edges from source to target, or from target to source if ``inverse``."""
        if self.origin is not None and _is_bare(edges):
            return _links_of(self.origin, edges, inverse)
        key = (edges, inverse)
        links = self._links.get(key)
        if links is None:
            links = self._links[key] = self._new_links(edges, inverse)
        return links

    def pairs_of_edges(self, edges: Edges, inverse: bool) -> Pairs:
        """The different pairs of :meth:`links`."""
        if self.origin is not None and _is_bare(edges):
            return _pairs_of(self.origin, edges, inverse)
        return self.pairs(self.links(edges, inverse))

    def different(self, edges: Edges) -> float:
        """The different pairs of the valid edges for each valid edge, in a mean over time."""
        valid = sum([float(self.weights[self.valid(s).sources].sum()) for s in edges.scans])
        degrees = self.pairs_of_edges(edges, False).adjacency.degrees
        # A product of matrices would start threads, which take more time than the sum.
        return float((degrees * self.weights).sum()) / valid if valid else 1.0

    def rows_of(self, edges: Edges, inverse: bool) -> tuple[Links, Ints]:
        """All edges, not coalesced, with the position of each in the sample."""
        known = self._rows.get((edges, inverse))
        if known is None:
            valid = self._valid(edges)
            first, second = valid[1::-1] if inverse else valid[:2]
            order = np.argsort(first, kind="stable")
            counts = np.bincount(first, minlength=self.vertices)
            begins = np.concatenate([[0], np.cumsum(counts)])
            ends = np.full(len(order), FOREVER)
            versions = Versions(valid.created[order], valid.expiry[order], ends, ends > 0)
            known = Links(Adjacency(begins, second[order]), versions), valid.rows[order]
            self._rows[edges, inverse] = known
        return known

    def _valid(self, edges: Edges) -> Valid:
        """The edges of some scans that satisfy their conditions."""
        parts = [self.valid(scan) for scan in edges.scans]
        columns = map(np.concatenate, zip(*parts, strict=True))
        return parts[0] if len(parts) == 1 else Valid(*columns)

    def _new_links(self, edges: Edges, inverse: bool) -> Links:
        valid = self._valid(edges)
        ends = valid[1::-1] if inverse else valid[:2]
        return self.kept(links_of(*ends, valid.created, valid.expiry, self.vertices))

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


def _is_bare(edges: Edges) -> bool:
    return all(scan.condition is None for scan in edges.scans)


@lru_cache(maxsize=KEPT_LINKS)
def _links_of(snapshot: Snapshot, edges: Edges, inverse: bool) -> Links:
    return snapshot._new_links(edges, inverse)


@lru_cache(maxsize=KEPT_LINKS)
def _pairs_of(snapshot: Snapshot, edges: Edges, inverse: bool) -> Pairs:
    return snapshot.pairs(_links_of(snapshot, edges, inverse))


@lru_cache(maxsize=KEPT_SNAPSHOTS)
def snapshot_of(
    samples: tuple[tuple[str, StreamSample], ...],
    scans: tuple[Scanned, ...],
    points: TimePoints,
) -> Snapshot:
    """The snapshots of a sample at some instants; the last ones are kept.

    Args:
        samples: the samples of the streams, by name.
        scans: the scans, without conditions.
        points: the instants.
    """
    return _snapshot_of(dict(samples), scans, points)


def _snapshot_of(
    samples: Mapping[str, StreamSample], scans: Sequence[Scanned], points: TimePoints
) -> Snapshot:
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
    memory = int(shortest * min(MOST_VERSIONS / repeats, 1.0))
    # Whole slides, as only the ends of slides are looked at.
    memory = max(memory // points.slide * points.slide, points.since)
    return Snapshot(edges, {}, begins.astype(np.int64), there, points, memory, samples)


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

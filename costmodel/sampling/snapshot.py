"""The snapshot graph of a sample at an instant, in arrays that a search reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.window import Window
from ...catalog.model import StreamSample
from .relations import Edges, Scanned

Ints = NDArray[np.int64]
FOREVER = 2**62
"""The expiry of the edges of a stored graph."""


class Links(NamedTuple):
    """Pairs of vertices, sorted by the first one; of equal pairs the one that expires last.

    Attributes:
        begins: where the pairs of each vertex begin, and the number of pairs.
        targets: the second vertex of each pair.
        expiry: the first instant at which a pair is no longer valid.
    """

    begins: Ints
    targets: Ints
    expiry: Ints

    @property
    def degrees(self) -> Ints:
        """The number of pairs of each vertex."""
        return np.diff(self.begins)

    def of(self, vertices: Ints) -> tuple[Ints, Ints]:
        """The pairs of some vertices: positions in ``vertices``, and positions of pairs."""
        begins = self.begins[vertices]
        counts = self.begins[vertices + 1] - begins
        rows = np.repeat(np.arange(len(vertices)), counts)
        ends = np.cumsum(counts)
        first = np.repeat(begins - (ends - counts), counts)
        return rows, first + np.arange(len(rows))


def links_of(sources: Ints, targets: Ints, expiry: Ints, vertices: int) -> Links:
    """The links of pairs of vertices below ``vertices``."""
    pairs = sources * vertices + targets
    order = np.lexsort((expiry, pairs))
    last = np.ones(len(pairs), np.bool_)
    last[:-1] = np.diff(pairs[order]) != 0
    kept = order[last]
    sources = sources[kept]
    begins = np.searchsorted(sources, np.arange(vertices + 1))
    return Links(begins.astype(np.int64), targets[kept], expiry[kept])


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The valid edges of some scans at an instant; vertices are numbers below ``vertices``.

    Attributes:
        edges: the sources, targets and expiries of each scan.
        vertices: the number of vertices.
    """

    edges: Mapping[Scanned, tuple[Ints, Ints, Ints]]
    vertices: int
    _links: dict[tuple[Edges, bool], Links] = field(default_factory=dict, repr=False)

    def links(self, edges: Edges, inverse: bool) -> Links:
        """The edges from source to target, or from target to source if ``inverse``."""
        key = (edges, inverse)
        links = self._links.get(key)
        if links is None:
            parts = [self.edges[scan] for scan in edges.scans]
            sources, targets, expiry = (
                np.concatenate(column) for column in zip(*parts, strict=True)
            )
            ends = (targets, sources) if inverse else (sources, targets)
            links = self._links[key] = links_of(*ends, expiry, self.vertices)
        return links


def snapshots(
    samples: Mapping[str, StreamSample], scans: Sequence[Scanned], moments: Sequence[int]
) -> list[Snapshot]:
    """The snapshots of a sample at some moments, with the same numbers of vertices."""
    longest = max([window.range for *_, window in scans if window is not None], default=0)
    read: dict[tuple[str, str], tuple[NDArray[np.uint64], NDArray[np.uint64], Ints]] = {}
    for stream, label, _ in scans:
        if (stream, label) not in read:
            sample = samples[stream]
            rows = slice(0, len(sample.ts))
            if not sample.stored:
                first, last = min(moments) - longest, max(moments)
                rows = slice(*np.searchsorted(sample.ts, [first, last + 1]))
            code = sample.labels.index(label) if label in sample.labels else -1
            mine = np.flatnonzero(sample.label[rows] == code)
            read[stream, label] = (
                sample.src[rows][mine],
                sample.trg[rows][mine],
                sample.ts[rows][mine],
            )
    hashes = [end for src, trg, _ in read.values() for end in (src, trg)]
    known, codes = np.unique(np.concatenate(hashes), return_inverse=True)
    numbered: dict[tuple[str, str], tuple[Ints, Ints, Ints]] = {}
    begin = 0
    for key, (src, _, ts) in read.items():
        ends = codes[begin : begin + 2 * len(src)].astype(np.int64)
        numbered[key] = ends[: len(src)], ends[len(src) :], ts
        begin += 2 * len(src)
    return [
        Snapshot(
            {scan: _valid(*numbered[scan[:2]], scan[2], instant) for scan in scans}, len(known)
        )
        for instant in moments
    ]


def _valid(
    sources: Ints, targets: Ints, ts: Ints, window: Window | None, instant: int
) -> tuple[Ints, Ints, Ints]:
    """The edges that are valid at an instant under a window, with their expiries."""
    if window is None:
        return sources, targets, np.full(len(sources), FOREVER)
    expiry = ts // window.slide * window.slide + window.range
    rows = np.flatnonzero((ts <= instant) & (expiry > instant))
    return sources[rows], targets[rows], expiry[rows]

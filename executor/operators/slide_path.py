"""SLIDE_PATH: pairs of vertices connected by a path, computed once for all edges of one ts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...algebra.physical import SlidePath
from ..batch import FOREVER, Batch, IntArray
from ..kernels import closure
from ..kernels import path as kernel
from ..schedule import Schedule
from .base import CHUNK, Results
from .edges import merged_rows

_SET_BYTES = 1 << 26
"""Bytes for the sets of targets; more targets are processed in several passes."""
_MOST_WORDS = 512

# Fields of a held edge, the first index of the array of edges.
SOURCE, TARGET, INPUT, EXPIRY, EDGE_FIELDS = range(5)


class SlidePathOperator:
    """Holds only the valid edges.

    For each ts, and for each expiry of an edge from the latest to the earliest, computes the
    vertices that roots reach over the edges with at least that expiry, with the new edges and
    without them. The difference is the new pairs. So each pair has at most one row for each ts,
    with its final expiry.

    Args:
        path: the physical operator.
        inputs: the number of inputs.
        is_root: tests which vertices are roots in this partition; None if all are.
    """

    def __init__(
        self,
        path: SlidePath,
        inputs: int,
        is_root: Callable[[IntArray], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._states = path.states
        self._moves = path.transitions
        self._inputs = inputs
        self._is_root = is_root
        self._accepting: IntArray = np.zeros(path.states, np.int64)
        self._accepting[list(path.accepting)] = 1
        self._edges: IntArray = np.empty((EDGE_FIELDS, 0), np.int64)
        self._schedule = Schedule()

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair that is connected for longer than its rows of an earlier ts say."""
        if not any(map(len, inputs)):
            return Batch.empty(2)
        rows = merged_rows(inputs)
        results = Results(2, wanted, room=CHUNK)
        ends = np.flatnonzero(np.diff(rows[kernel.ROW_TS])) + 1
        for slide in np.split(rows, ends, axis=1):
            self._take(slide, results, wanted)
        return results.batch()

    def _take(self, rows: IntArray, results: Results, wanted: bool) -> None:
        """Adds the edges of one ts and writes the new pairs.

        ``before`` is the expiry of each edge before this ts, ``now`` for a new edge.
        """
        now = int(rows[kernel.ROW_TS, 0])
        places = [kernel.ROW_SOURCE, kernel.ROW_TARGET, kernel.ROW_INPUT, kernel.ROW_EXP]
        old = self._edges[:, self._edges[EXPIRY] > now]
        both = np.concatenate([old, rows[places]], axis=1)
        before = np.concatenate([old[EXPIRY], np.full(rows.shape[1], now)])
        # Among equal edges the one with the largest expiry comes last and is kept.
        order = np.lexsort((both[EXPIRY], both[INPUT], both[TARGET], both[SOURCE]))
        both, before = both[:, order], before[order]
        same = np.all(both[:EXPIRY, 1:] == both[:EXPIRY, :-1], axis=0)
        firsts = np.flatnonzero(np.r_[True, ~same])
        lasts = np.r_[firsts[1:], both.shape[1]] - 1
        before = np.maximum.reduceat(before, firsts)
        self._edges = np.ascontiguousarray(both[:, lasts])
        if wanted and np.any(self._edges[EXPIRY] > before):
            self._search(before, now, results)

    def _search(self, before: IntArray, now: int, results: Results) -> None:
        """Writes the pairs that the edges connect for longer than with their expiries before.

        Builds the product graph of edges and automaton in compressed rows: arcs of node
        ``vertex · states + state`` are ``head[starts[node] : starts[node + 1]]``.
        """
        codes, ends = np.unique(self._edges[:INPUT], return_inverse=True)
        source, target = ends.reshape(2, -1)
        k, number, expiry = self._states, self._edges[INPUT], self._edges[EXPIRY]
        own = np.ones(len(codes), np.bool_) if self._is_root is None else self._is_root(codes)
        tails, heads, widths, widths_before = [], [], [], []
        for state, i, inverse, to in self._moves:
            behind, ahead = (target, source) if inverse else (source, target)
            chosen = number == i
            if state == 0:
                chosen &= own[behind]
            tails.append(behind[chosen] * k + state)
            heads.append(ahead[chosen] * k + to)
            widths.append(expiry[chosen])
            widths_before.append(before[chosen])
        tail = np.concatenate(tails)
        order = np.argsort(tail, kind="stable")
        nodes = len(codes) * k
        starts = np.searchsorted(tail[order], np.arange(nodes + 1)).astype(np.int64)
        head, width, width_before = (
            np.concatenate(part)[order] for part in (heads, widths, widths_before)
        )
        roots = np.flatnonzero(np.diff(starts)[::k]).astype(np.int64)
        room = _SET_BYTES // (8 * (2 * nodes + len(roots) + 1))
        words = max(1, min(room, _MOST_WORDS, -(-len(codes) // 64)))
        sets, sets_before = (np.empty((nodes, words), np.uint64) for _ in range(2))
        component, component_before = (np.empty(nodes, np.int64) for _ in range(2))
        work = np.empty((closure.WORK_FIELDS, nodes), np.int64)
        for first in range(0, len(codes), 64 * words):
            done = np.zeros((len(roots), words), np.uint64)
            for level in np.unique(width)[::-1].tolist():
                graph = roots, k, starts, head
                closure.reach(*graph, width, level, self._accepting, first, component, work, sets)
                closure.reach(
                    *graph, width_before, level, self._accepting, first,
                    component_before, work, sets_before,
                )  # fmt: skip
                root = written = 0
                while root < len(roots):
                    root, written = closure.report(
                        roots, root, k, component, sets, component_before, sets_before,
                        done, codes, first, now, level, results.buffer, written,
                    )  # fmt: skip
                    results.take(written)
                    written = 0

    def tick(self, now: int) -> None:
        """Sweeps if a sweep is due at ``now``."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Drops the edges that expired at or before ``now``."""
        self._edges = np.ascontiguousarray(self._edges[:, self._edges[EXPIRY] > now])
        passing = self._edges[EXPIRY][self._edges[EXPIRY] < FOREVER]
        lasting = self.entries - len(passing)
        self._schedule.swept(now, lasting, int(passing.max()) if len(passing) else now)

    @property
    def entries(self) -> int:
        """Edges held."""
        return int(self._edges.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._edges.nbytes

"""S_PATH and PAIR_PATH: pairs of vertices connected by a path in the language of the automaton."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from ...algebra.physical import AutomatonPath, PairPath
from ..batch import Batch, IntArray
from ..counters import Tally, new_tally
from ..kernels import forest, stops
from ..kernels import path as kernel
from ..kernels.forest import Forest
from ..kernels.pairs import copy_valid_pairs, count_valid_pairs
from ..kernels.tables import EMPTY, enlarged, enlarged_table, new_table
from .automaton import automaton_of
from .base import Results, drive
from .edges import SMALLEST, EdgesOperator, IsRoot, mark_roots, merged_rows, walked_by

_SMALLEST_POOL = 1024


class PathOperator(EdgesOperator):
    """Holds the valid edges, for each root its widest paths, and of PAIR_PATH the valid pairs.

    Results are coalesced, also over several accepting states.

    Args:
        path: the physical operator.
        inputs: the number of inputs.
        is_root: tests which vertices are roots in this partition; None if all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    _with_deletions = False

    def __init__(self, path: AutomatonPath, inputs: int, is_root: IsRoot | None = None) -> None:
        self._is_root = is_root
        self._automaton = automaton_of(path, inputs)
        moves = self._automaton.moves
        keys = 2 * moves[:, kernel.MOVE_INPUT] + moves[:, kernel.MOVE_INVERSE]
        if self._with_deletions:  # a deletion searches backwards, along the edges into a node
            keys = np.concatenate([keys, keys ^ 1])
        super().__init__(walked_by(keys, inputs))
        counts: IntArray = np.zeros(forest.HEADER_FIELDS, np.int64)
        counts[forest.WITH_DELETIONS] = self._with_deletions
        counts[forest.PAIR_INPUT] = inputs - 1 if isinstance(path, PairPath) else EMPTY
        free: IntArray = np.full(forest.BLOCK_SIZES, EMPTY, np.int64)
        self._forest = self._new_forest(counts, free, SMALLEST, _SMALLEST_POOL, SMALLEST)
        cursors: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        cursors[kernel.MOVE] = cursors[kernel.EXPANDING] = EMPTY
        self._search = self._new_search(cursors, np.empty(path.states, np.int64))
        self.tally: Tally = new_tally()

    def _new_forest(
        self, counts: IntArray, free: IntArray, nodes: int, slots: int, members: int
    ) -> Forest:
        listed = self._with_deletions
        return Forest(
            counts,
            np.empty((nodes, forest.NODE_FIELDS), np.int64),
            new_table(nodes),
            np.empty((slots, 2), np.int64),
            free,
            # Every root has an edge, so there are at most two trees for each edge.
            new_table(2 * len(self._edges.rows) if listed else 1),
            np.empty((members if listed else 0, forest.MEMBER_FIELDS), np.int64),
            new_table(1),
        )

    def _new_search(self, cursors: IntArray, rivals: IntArray) -> kernel.Search:
        heap, arena = np.empty((SMALLEST, 2), np.int64), np.empty((_SMALLEST_POOL, 2), np.int64)
        return kernel.Search(cursors, heap, arena, rivals)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair whose paths last longer than its earlier rows."""
        if not any(map(len, inputs)):
            return Batch.empty(2)
        results = Results(2, wanted)
        rows = self._changes(merged_rows(inputs))
        mark_roots(rows, self._is_root)
        h = self._search.header
        take = partial(results.drain, h, kernel.OUT, kernel.NEED)
        h[kernel.ROW] = 0
        drive(
            lambda: self._advance(rows, results.buffer),
            {
                **self._enlargements(),
                stops.SWEEP_DUE: lambda: self.purge(int(rows[kernel.ROW_TS, h[kernel.ROW]])),
                stops.OUT_FULL: take,
            },
        )
        take()
        return results.batch()

    def _advance(self, rows: IntArray, out: IntArray) -> int:
        """Calls the kernel."""
        return kernel.advance(
            rows, self._automaton, self._edges, self._forest, self._search, out, self.tally
        )

    def _changes(self, rows: IntArray) -> IntArray:
        """The rows that the kernel reads."""
        return rows

    def _enlargements(self) -> dict[int, Callable[[], None]]:
        """The action for each reason of a stop that asks for a larger array."""
        return {
            stops.EDGES_FULL: self._enlarge_edges,
            stops.NODES_FULL: self._enlarge_nodes,
            stops.POOL_FULL: lambda: self._enlarge_forest("pool"),
            stops.MEMBERS_FULL: lambda: self._enlarge_forest("members"),
            stops.PAIRS_FULL: self._enlarge_pairs,
            stops.HEAP_FULL: lambda: self._enlarge_search("heap"),
            stops.ARENA_FULL: lambda: self._enlarge_search("arena"),
        }

    def _enlarge_edges(self) -> None:
        super()._enlarge_edges()
        if self._with_deletions:
            trees = enlarged_table(self._forest.trees, 2 * len(self._edges.rows))
            self._forest = self._forest._replace(trees=trees)

    def _enlarge_nodes(self) -> None:
        old = self._forest
        length = 2 * len(old.nodes)
        nodes, node_map = enlarged(old.nodes, length), enlarged_table(old.node_map, length)
        self._forest = old._replace(nodes=nodes, node_map=node_map)

    def _enlarge_forest(self, field: str) -> None:
        array = self._needed(getattr(self._forest, field))
        self._forest = self._forest._replace(**{field: array})

    def _enlarge_pairs(self) -> None:
        pairs = self._forest.pairs
        self._forest = self._forest._replace(pairs=enlarged_table(pairs, len(pairs)))

    def _enlarge_search(self, field: str) -> None:
        array = self._needed(getattr(self._search, field))
        self._search = self._search._replace(**{field: array})

    def _needed(self, array: IntArray) -> IntArray:
        """A copy of an array that is large enough for the kernel to continue."""
        return enlarged(array, max(2 * len(array), int(self._search.header[kernel.NEED])))

    def purge(self, now: int) -> None:
        """Drops the edges, values and pairs that expired at or before ``now``.

        The new arrays have room for half as many entries again.
        """
        old = self._forest
        nodes, slots, values, lasting = forest.count_valid(old, now)
        lasting_edges, latest = self._sweep_edges(now)
        pairs, lasting_pairs = count_valid_pairs(old.pairs, now)
        self._forest = self._new_forest(
            old.header,
            old.free,
            max(SMALLEST, nodes * 3 // 2),
            max(_SMALLEST_POOL, slots * 3 // 2),
            max(SMALLEST, values * 3 // 2),
        )._replace(pairs=new_table(max(1, pairs * 3 // 2)))
        forest.copy_valid(old, self._forest, now)
        copy_valid_pairs(old.pairs, self._forest.pairs, now)
        self._forest.header[forest.PAIRS] = pairs
        self._search = self._new_search(self._search.header, self._search.rivals)
        self._swept(now, lasting + lasting_edges + lasting_pairs, latest)

    def _state(self) -> Iterable[tuple[IntArray, ...]]:
        return self._edges, self._forest, self._search

    @property
    def entries(self) -> int:
        """Edges, tree nodes and pairs held."""
        header = self._forest.header
        return super().entries + int(header[forest.VALUES] + header[forest.PAIRS])

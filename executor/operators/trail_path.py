"""TRAIL_PATH: pairs of vertices connected by a path that repeats no edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from ...algebra.physical import TrailPath
from ..batch import Batch, IntArray, merge_order
from ..kernels import numbering, region, stops
from ..kernels.path import (
    MOVE_INPUT,
    ROW_EXP,
    ROW_FIELDS,
    ROW_INPUT,
    ROW_SOURCE,
    ROW_TARGET,
    ROW_TS,
    Automaton,
)
from ..kernels.rows import Input
from .automaton import arrays_of
from .base import drive
from .edges import IsRoot, mark_roots, walked_by
from .rows import RowSet
from .simple_path import PathSearch

_OF_EDGE: Final = -(2**40)
"""An edge with number n is the vertex with code _OF_EDGE - n; vertices of the input have codes from
0 on, and fewer. A small negative code would have the hash of a vertex, as codes of opposite signs
have nearly equal hashes, and an edge would be found in the wrong one of its two lists."""


class TrailPathOperator(PathSearch):
    """Searches for trails as for simple paths, in a graph where each edge is a vertex.

    An edge of input i from u to v becomes a vertex e with an edge of input 2 · i from u to e, and
    one of input 2 · i + 1 from e to v. A path may visit e once, and u and v again. Both halves
    arrive together; the search starts at the second one, which every new path contains.

    Args:
        path: the physical operator.
        widths: the number of columns of each input.
        is_root: tests which vertices are roots in this partition; None if all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    what = "trails"

    def __init__(
        self, path: TrailPath, widths: Sequence[int], is_root: IsRoot | None = None
    ) -> None:
        automaton = _of_halves(path, len(widths))
        keys = 2 * automaton.moves[:, MOVE_INPUT]
        walked = walked_by(np.concatenate([keys, keys + 1]), 2 * len(widths))
        super().__init__(path, automaton, walked, is_root)
        self._region.header[region.TRAILS] = 1
        self._relations: IntArray = np.array(path.relations, np.int64)
        self._width = max(widths, default=2)
        # Edges by relation and columns; the place of an edge is its number.
        self._numbers = RowSet(1 + self._width, None)
        self._h: IntArray = np.zeros(numbering.HEADER_FIELDS, np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair whose trails last longer than its earlier rows.

        Raises:
            StepBudgetError: if the search for an edge exceeds the plan's budget of steps.
        """
        count = sum(map(len, inputs))
        if not count:
            return Batch.empty(2)
        order = merge_order(inputs)
        number = np.repeat(np.arange(len(inputs)), [len(b) for b in inputs])[order]
        edges = np.zeros((1 + self._width, count), np.int64)
        begin = 0
        for batch in inputs:
            edges[1 : 1 + batch.width, begin : begin + len(batch)] = batch.columns
            begin += len(batch)
        edges = np.take(edges, order, axis=1)  # in C order, unlike edges[:, order]
        edges[0] = self._relations[number]
        rows = np.empty((ROW_FIELDS, count), np.int64)
        rows[ROW_SOURCE], rows[ROW_TARGET] = edges[1], edges[2]
        rows[ROW_TS] = np.concatenate([b.ts for b in inputs])[order]
        rows[ROW_EXP] = np.concatenate([b.exp for b in inputs])[order]
        rows[ROW_INPUT] = 2 * number
        mark_roots(rows, self._is_root)
        middle = _OF_EDGE - self._numbered(Input(edges, rows[ROW_TS], rows[ROW_EXP]))
        halves = np.repeat(rows, 2, axis=1)
        halves[ROW_TARGET, ::2] = halves[ROW_SOURCE, 1::2] = middle
        halves[ROW_INPUT, 1::2] += 1
        return self.searched(halves, wanted)

    def _numbered(self, edges: Input) -> IntArray:
        """The number of each edge."""
        h, held = self._h, self._numbers
        numbers: IntArray = np.empty(len(edges.ts), np.int64)
        h[numbering.ROW] = 0
        drive(
            lambda: numbering.advance(h, edges, held.arrays, numbers),
            {stops.SWEEP_DUE: lambda: held.purge(int(edges.ts[h[numbering.ROW]]))},
        )
        return numbers

    def purge(self, now: int) -> None:
        """Drops the edges and pairs that expired at or before ``now``, and the edges' numbers."""
        super().purge(now)
        self._numbers.purge(now)

    def _state(self) -> Iterable[tuple[IntArray, ...]]:
        return *super()._state(), (self._numbers.arrays.rows, self._numbers.arrays.values)


def _of_halves(path: TrailPath, inputs: int) -> Automaton:
    """The automaton over halves of edges: a step over an edge is two steps, over a state between.

    A new edge begins its searches at its second half alone.
    """
    between: dict[tuple[int, bool, int], int] = {}
    halves: set[tuple[int, int, bool, int]] = set()
    for state, number, inverse, to in path.transitions:
        middle = path.states + between.setdefault((number, inverse, to), len(between))
        first, second = 2 * number + inverse, 2 * number + 1 - inverse
        halves |= {(state, first, inverse, middle), (middle, second, inverse, to)}
    states = path.states + len(between)
    begins = [None if half % 2 == 0 else half for half in range(2 * inputs)]
    return arrays_of(halves, states, path.accepting, begins)

"""WITNESS: adds to each row a path that proves the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...algebra.physical import WitnessPaths
from ..batch import Batch, IntArray
from ..dictionary import Dictionary
from ..kernels import stops
from ..kernels import witness as kernel
from ..kernels.path import ROW_TS
from ..kernels.region import Stepping
from ..kernels.tables import new_table
from .automaton import accepting_flags, check_start, steps_by_state
from .base import drive
from .coalesce import CoalesceOperator
from .edges import SMALLEST, EdgesOperator, merged_rows, walked_by
from .path_texts import path_texts, step_names, vertex_texts
from .simple_path import StepBudgetError


class WitnessError(ValueError):
    """A row has no witness: the plan computes rows that its paths do not explain."""


class WitnessOperator(EdgesOperator):
    """Holds the valid edges, and the largest reported expiry of each key.

    Args:
        witness: the physical operator.
        inputs: the number of inputs of edges, without the input of rows.
        dictionary: the dictionary of the codes; each path becomes a string in it.

    Raises:
        ValueError: if a transition enters the start state.
    """

    def __init__(self, witness: WitnessPaths, inputs: int, dictionary: Dictionary) -> None:
        check_start(witness.transitions)
        super().__init__(walked_by(np.arange(2 * inputs), inputs))
        self._witness = witness
        self._dictionary = dictionary
        self._coalescing = CoalesceOperator(len(witness.keys))
        moves, states = witness.transitions, witness.states
        self._stepping = Stepping(
            steps_by_state([(s, 2 * i + inv, to) for s, i, inv, to in moves], states),
            steps_by_state([(to, 2 * i + inv, s) for s, i, inv, to in moves], states),
            accepting_flags(states, witness.accepting),
        )
        self._search = _new_search(np.zeros(kernel.HEADER_FIELDS, np.int64), SMALLEST)
        self._steps: IntArray = np.empty((kernel.STEP_FIELDS, SMALLEST), np.int64)
        self._names = step_names(witness.labels)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows that extend the validity of their key, each with its witness.

        Raises:
            WitnessError: if a row has no witness.
            StepBudgetError: if the search for a simple path exceeds the plan's budget of steps.
        """
        rows, *edges = inputs
        extends = self._coalescing.extends(rows.project(self._witness.keys))
        new = rows.take(extends) if wanted else Batch.empty(rows.width)
        ends = self._searched(merged_rows(edges), new)
        width = len(self._witness.output)
        if not len(new):
            return Batch.empty(width)
        columns = np.empty((width, len(new)), np.int64)
        for place, column in enumerate(self._witness.output):
            if column < rows.width:
                columns[place] = new.columns[column]
            else:
                columns[place] = self._texts(ends, new.exp)
        return Batch(columns, new.ts, new.exp)

    def _searched(self, edges: IntArray, rows: Batch) -> IntArray:
        """Adds edges and searches a path for each row.

        Returns the end of each row's path in the array of steps.
        """
        h = self._search.header
        self._steps = np.empty((kernel.STEP_FIELDS, SMALLEST), np.int64)
        wants = np.empty((kernel.WANT_FIELDS, len(rows)), np.int64)
        wants[kernel.WANT_SOURCE] = rows.columns[self._witness.source]
        wants[kernel.WANT_TARGET] = rows.columns[self._witness.target]
        wants[kernel.WANT_TS], wants[kernel.WANT_EXP] = rows.ts, rows.exp
        ends: IntArray = np.zeros(len(rows), np.int64)

        def give_up() -> None:
            raise StepBudgetError(
                f"WITNESS {self._witness.regex}: the search for a simple path at "
                f"{wants[kernel.WANT_TS, h[kernel.ROW]]} took more than "
                f"{self._witness.budget:,} steps"
            )

        def refuse() -> None:
            raise WitnessError(
                f"WITNESS {self._witness.regex}: no path explains a row of "
                f"{wants[kernel.WANT_TS, h[kernel.ROW]]}: the plan's rows are not those "
                "of its paths"
            )

        h[:] = 0
        drive(
            lambda: kernel.advance(
                edges, wants, self._witness.simple, self._witness.budget, self._stepping,
                self._edges, self._search, ends, self._steps,
            ),
            {
                stops.SWEEP_DUE: lambda: self._sweep(self._time(edges, wants)),
                stops.EDGES_FULL: self._enlarge_edges,
                stops.NODES_FULL: self._enlarge_search,
                stops.OUT_FULL: self._enlarge_steps,
                stops.OVER_BUDGET: give_up,
                stops.NO_PATH: refuse,
            },
        )  # fmt: skip
        return ends

    def _enlarge_search(self) -> None:
        self._search = _new_search(self._search.header, 2 * len(self._search.nodes))

    def _enlarge_steps(self) -> None:
        self._steps = np.hstack([self._steps, np.empty_like(self._steps)])

    def _time(self, edges: IntArray, wants: IntArray) -> int:
        """The ts of the current row, of edges or of rows, whichever is earlier."""
        h = self._search.header
        times = [
            int(table[field, row])
            for table, field, row in (
                (edges, ROW_TS, h[kernel.EDGE_ROW]),
                (wants, kernel.WANT_TS, h[kernel.ROW]),
            )
            if row < table.shape[1]
        ]
        return min(times)

    def _texts(self, ends: IntArray, exp: IntArray) -> IntArray:
        """The codes of the paths as JSON texts; the steps of path i end before ``ends[i]``."""
        steps = self._steps[:, : ends[-1]].copy()
        codes, place = np.unique(steps[[0, 2]], return_inverse=True)
        steps[[0, 2]] = place.reshape(2, -1)
        vertices = vertex_texts(self._dictionary, codes)
        whole = path_texts(vertices, self._names, steps, ends)
        return self._dictionary.encode(whole, exp)

    def tick(self, now: int) -> None:
        """Sweeps if a sweep is due at ``now``."""
        self._coalescing.tick(now)
        if self._schedule.is_due(now, super().entries):
            self._sweep(now)

    def purge(self, now: int) -> None:
        """Drops the edges and keys that expired at or before ``now``."""
        self._coalescing.purge(now)
        self._sweep(now)

    def _sweep(self, now: int) -> None:
        """Drops expired edges."""
        lasting, latest = self._sweep_edges(now)
        if not super().entries:
            self._search = _new_search(self._search.header, SMALLEST)
        self._swept(now, lasting, latest)

    def _state(self) -> Iterable[tuple[IntArray, ...]]:
        return self._edges, self._search, (self._steps,)

    @property
    def entries(self) -> int:
        """Edges and keys held."""
        return super().entries + self._coalescing.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self._coalescing.nbytes


def _new_search(cursors: IntArray, nodes: int) -> kernel.Search:
    """An empty search with room for a number of nodes."""
    return kernel.Search(
        cursors,
        np.empty((nodes, kernel.NODE_FIELDS), np.int64),
        new_table(nodes),
        np.empty((nodes + 1, kernel.STACK_FIELDS), np.int64),
    )

"""WITNESS: with each row a path that says why it holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...algebra.physical import WitnessPaths
from ..batch import Batch, IntArray
from ..dictionary import Dictionary
from ..kernels import witness as kernel
from ..kernels.forest import EDGE_FIELDS
from ..kernels.path import ROW_TS
from ..kernels.tables import enlarged, enlarged_table, new_table
from ..schedule import LEAST_ADDED, Schedule
from .coalesce import CoalesceOperator
from .path import merged_rows
from .simple_path import StepBudgetError, steps_by_state

_SMALLEST = 64


class WitnessError(ValueError):
    """No path says why a row holds: the plan computes rows that its paths do not explain."""


class WitnessOperator:
    """Holds the valid edges, and for each key the largest expiry said.

    Args:
        witness: what to look for.
        inputs: how many inputs of edges there are.
        dictionary: what gave the codes; a path becomes a text of its own there.

    Raises:
        ValueError: if a transition enters the start state.
    """

    def __init__(self, witness: WitnessPaths, inputs: int, dictionary: Dictionary) -> None:
        moves = sorted(witness.transitions)
        if any(to == 0 for *_, to in moves):
            raise ValueError("a transition of the path's automaton enters its start state")
        self._witness = witness
        self._dictionary = dictionary
        self._said = CoalesceOperator(len(witness.keys))
        states = witness.states
        self._forwards = steps_by_state([(s, 2 * i + inv, to) for s, i, inv, to in moves], states)
        self._backwards = steps_by_state([(to, 2 * i + inv, s) for s, i, inv, to in moves], states)
        self._accepting: IntArray = np.array(witness.accepting, np.int64)
        self._final: IntArray = np.zeros(states, np.int64)
        self._final[self._accepting] = 1
        self._walked: IntArray = np.ones(2 * inputs, np.int64)
        self._schedule = Schedule()
        self._h: IntArray = np.zeros(kernel.HEADER_LENGTH, np.int64)
        self._h[kernel.SWEEP_AFTER] = LEAST_ADDED
        self._allocate(_SMALLEST)
        self._make_space(_SMALLEST)
        self._steps: IntArray = np.empty((kernel.STEP_FIELDS, _SMALLEST), np.int64)
        names = [name for label in witness.labels for name in (label, f"^{label}")]
        self._names: Any = pa.array([json.dumps(n, ensure_ascii=False) for n in names], pa.string())

    def _allocate(self, edges: int) -> None:
        self._edges: IntArray = np.empty((edges, EDGE_FIELDS), np.int64)
        self._edge_map = new_table(edges)
        self._heads = new_table(2 * edges)

    def _make_space(self, nodes: int) -> None:
        """Room for a search of so many nodes."""
        self._nodes: IntArray = np.empty((nodes, kernel.NODE_FIELDS), np.int64)
        self._index = new_table(nodes)
        self._stack: IntArray = np.empty((nodes + 1, kernel.STACK_FIELDS), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows that say something new of their key, each with its path.

        Raises:
            WitnessError: if a row has no path.
            StepBudgetError: if the search for one takes more steps than the plan allows.
        """
        rows, *edges = inputs
        extends = self._said.extends(rows.project(self._witness.keys))
        new = rows.take(extends) if wanted else Batch.empty(rows.width)
        ends = self._searched(merged_rows(edges), new)
        width = len(self._witness.output)
        if not len(new):
            return Batch.empty(width)
        columns = np.empty((width, len(new)), np.int64)
        for place, column in enumerate(self._witness.output):
            given = new.columns[column] if column < rows.width else self._texts(ends, new.exp)
            columns[place] = given
        return Batch(columns, new.ts, new.exp)

    def _searched(self, edges: IntArray, rows: Batch) -> IntArray:
        """Takes in edges; after which step the path of each row ends."""
        h = self._h
        self._steps = np.empty((kernel.STEP_FIELDS, _SMALLEST), np.int64)
        wants = np.empty((kernel.WANT_FIELDS, len(rows)), np.int64)
        wants[kernel.WANT_SOURCE] = rows.columns[self._witness.source]
        wants[kernel.WANT_TARGET] = rows.columns[self._witness.target]
        wants[kernel.WANT_TS], wants[kernel.WANT_EXP] = rows.ts, rows.exp
        ends: IntArray = np.zeros(len(rows), np.int64)
        h[kernel.EDGE_ROW] = h[kernel.ROW] = h[kernel.STEPS] = h[kernel.FOUND] = 0
        while True:
            status = kernel.advance(
                h, edges, wants, self._witness.simple, self._witness.budget, self._walked,
                self._accepting, self._final, *self._forwards, *self._backwards,
                self._edges, self._edge_map, self._heads, self._nodes, self._index, self._stack,
                ends, self._steps,
            )  # fmt: skip
            match status:
                case kernel.DONE:
                    return ends
                case kernel.SWEEP_DUE:
                    self._sweep(self._time(edges, wants))
                case kernel.EDGES_FULL:
                    length = 2 * len(self._edges)
                    self._edges = enlarged(self._edges, length)
                    self._edge_map = enlarged_table(self._edge_map, length)
                    self._heads = enlarged_table(self._heads, 2 * length)
                case kernel.NODES_FULL:
                    self._make_space(2 * len(self._nodes))
                case kernel.OUT_FULL:
                    self._steps = np.hstack([self._steps, np.empty_like(self._steps)])
                case kernel.OVER_BUDGET:
                    raise StepBudgetError(
                        f"WITNESS {self._witness.regex}: the search for a simple path at "
                        f"{wants[kernel.WANT_TS, h[kernel.ROW]]} took more than "
                        f"{self._witness.budget:,} steps"
                    )
                case _:
                    raise WitnessError(
                        f"WITNESS {self._witness.regex}: no path explains a row of "
                        f"{wants[kernel.WANT_TS, h[kernel.ROW]]}: the plan's rows are not those "
                        "of its paths"
                    )

    def _time(self, edges: IntArray, wants: IntArray) -> int:
        """That of the row in work."""
        h = self._h
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
        """The codes of paths, whose steps end at ``ends``."""
        steps = self._steps[:, : ends[-1]]
        codes, place = np.unique(steps[[0, 2]], return_inverse=True)
        values = self._dictionary.decode(codes).to_pylist()
        vertices: Any = pa.array([json.dumps(v, ensure_ascii=False) for v in values], pa.string())
        from_, to = place.reshape(2, -1)
        comma, nothing = pa.scalar(","), pa.scalar("")
        parts: list[Any] = [
            pa.scalar("["),
            vertices.take(pa.array(from_)),
            comma,
            self._names.take(pa.array(steps[1])),
            comma,
            vertices.take(pa.array(to)),
            pa.scalar("]"),
        ]
        steps_text: Any = pc.binary_join_element_wise(*parts, nothing)
        lists: Any = pa.ListArray.from_arrays(pa.array(np.r_[0, ends], pa.int32()), steps_text)
        parts = [pa.scalar("["), pc.binary_join(lists, ","), pa.scalar("]")]
        whole: Any = pc.binary_join_element_wise(*parts, nothing)
        return self._dictionary.encode(whole, exp)

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        self._said.tick(now)
        if self._schedule.is_due(now, int(self._h[kernel.EDGES])):
            self._sweep(now)

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``."""
        self._said.purge(now)
        self._sweep(now)

    def _sweep(self, now: int) -> None:
        """Drops edges; leaves room for half as much again."""
        h, edges = self._h, self._edges
        count, lasting, latest = kernel.count_valid(h, edges, now)
        self._allocate(max(_SMALLEST, count * 3 // 2))
        kernel.sweep(h, self._walked, edges, self._edges, self._edge_map, self._heads, now)
        if not count:
            self._make_space(_SMALLEST)
        self._schedule.swept(now, lasting, latest)
        h[kernel.SWEEP_AT] = self._schedule.due_at
        h[kernel.SWEEP_AFTER] = max(LEAST_ADDED, count // 4)

    @property
    def entries(self) -> int:
        """Edges and keys held."""
        return int(self._h[kernel.EDGES]) + self._said.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        arrays = (
            self._edges, self._edge_map, self._heads, self._nodes, self._index, self._stack,
            self._steps,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays) + self._said.nbytes

"""SHORTEST_PATH: shortest paths over the edges that are valid at each multiple of a period.

An instant is searched once application time has passed it. Its rows hold until the first instant at
which the edges have changed, so an instant without a change is not searched. The state is the set
of valid edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...algebra.path_values import LISTED, NUMBERS, members
from ...algebra.physical import ShortestPath
from ..batch import FOREVER, Batch, IntArray, merged
from ..dictionary import Dictionary
from ..kernels import path_tree, stops
from ..kernels import shortest as kernel
from ..kernels.path import ROW_EXP, ROW_INPUT, ROW_TS
from ..kernels.rows import Input
from ..kernels.tables import EMPTY
from .automaton import accepting_flags, check_start
from .base import drive
from .edges import IsRoot, merged_rows
from .path_texts import Elements, step_names, step_texts, vertex_texts
from .report import next_multiple
from .simple_path import StepBudgetError
from .valid_values import ValidValues

_ROOM = 1 << 10
"""The rows and paths of the first buffers of a search."""


class ShortestPathOperator:
    """Holds the valid edges, and the columns of the rows of the last instant.

    Args:
        path: the physical operator.
        inputs: the number of inputs.
        dictionary: the dictionary of the codes; lengths and paths become values in it.
        is_root: tests which vertices are roots in this partition; None if all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    def __init__(
        self, path: ShortestPath, inputs: int, dictionary: Dictionary, is_root: IsRoot | None
    ) -> None:
        check_start(path.transitions)
        self._path = path
        self._dictionary = dictionary
        self._is_root = is_root
        self._held = ValidValues(3)
        self._h: IntArray = np.zeros(kernel.EDGES_HEADER_FIELDS, np.int64)
        self._names = step_names(path.labels)
        self._automaton = _Automaton.of(path)
        self._width = 2 + len(path.values)
        self._arrived: list[Batch] = []
        self._next: int | None = None
        self._columns: IntArray = np.empty((self._width, 0), np.int64)  # of the last instant
        self._codes: list[IntArray] = []  # the values in these columns
        self._out: IntArray = np.empty((self._width, _ROOM), np.int64)
        self._tree: IntArray = np.empty((_ROOM, path_tree.TREE_FIELDS), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Takes rows, for :meth:`advance`; returns none."""
        if any(map(len, inputs)):
            rows = merged_rows(inputs)
            columns = np.ascontiguousarray(rows[[ROW_INPUT, 0, 1]])
            self._arrived.append(Batch(columns, rows[ROW_TS].copy(), rows[ROW_EXP].copy()))
        return Batch.empty(self._width)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The rows of the instants before ``now``."""
        arrived = merged(self._arrived or [Batch.empty(3)])
        self._arrived.clear()
        edges = Input(*arrived.arrays)
        self._h[kernel.ROW] = 0
        if self._next is None and len(arrived):
            self._next = next_multiple(int(arrived.ts[0]), self._path.every)
        found: list[Batch] = []
        while self._next is not None and self._next < now:
            instant = self._next
            self._take(edges, instant)
            changes = kernel.expire(self._held.expiring, instant, self._h)
            if self._h[kernel.ROW] < len(arrived):
                changes = min(changes, int(arrived.ts[self._h[kernel.ROW]]))
            self._next = self._multiple(min(changes, now))
            if wanted:
                found.append(self._at(instant, self._next))
            else:  # nothing holds the values of the last rows any longer
                self._h[kernel.CHANGED] = 1
        self._take(edges, FOREVER)
        if now < FOREVER:
            _ = kernel.expire(self._held.expiring, now, self._h)
        return merged(found) if found else Batch.empty(self._width)

    def _multiple(self, time: int) -> int:
        """The first instant that is not before a time; FOREVER if there is none."""
        every = self._path.every
        return FOREVER if time > FOREVER - every else next_multiple(time, every)

    def _take(self, edges: Input, until: int) -> None:
        drive(
            lambda: kernel.take(self._held.expiring, edges, until, self._h),
            {stops.SWEEP_DUE: self._held.enlarge},
        )

    def _at(self, instant: int, until: int) -> Batch:
        """The rows of an instant, valid until another one."""
        if self._h[kernel.CHANGED]:
            self._columns = self._searched(instant, until)
            self._h[kernel.CHANGED] = 0
        else:
            for codes in self._codes:
                self._dictionary.hold(codes, np.full(len(codes), until, np.int64))
        columns = self._columns
        rows = columns.shape[1]
        return Batch(columns, np.full(rows, instant, np.int64), np.full(rows, until, np.int64))

    def _searched(self, instant: int, until: int) -> IntArray:
        """The columns of the rows of the snapshot at an instant, which hold until another one.

        Raises:
            StepBudgetError: if the paths from one vertex exceed the plan's budget of steps.
        """
        path, dictionary, needed = self._path, self._dictionary, min(until, FOREVER - 1) + 1
        edges: IntArray = np.empty((3, self._held.entries), np.int64)
        kernel.copy_edges(self._held.expiring, edges)
        graph = self._graph(edges)
        columns = _columns(path)
        texts = [k for k, value in enumerate(path.values, 2) if value in LISTED]
        numbers = [k for k, value in enumerate(path.values, 2) if value in NUMBERS]
        writes = kernel.LENGTHS
        if path.shows_steps:
            writes = kernel.ALL_PATHS if path.all_paths else kernel.ONE_PATH
        elements = [self._elements(path.values[k - 2], graph, needed) for k in texts]
        parts = Elements.of(elements)
        search, rows = _new_search(graph, self._automaton, writes), np.array(texts, np.int64)
        h = search[0]

        def step() -> int:
            own = path_tree.Texts(rows, *parts.arrays, dictionary.arrays(0, 0))
            state = kernel.Search(*search, self._tree, own, columns)
            return int(kernel.search(graph, state, writes, path.budget, needed, self._out))

        def enlarge_out() -> None:
            more = max(int(h[path_tree.NEED]), self._out.shape[1])
            self._out = np.hstack([self._out, np.empty((self._width, more), np.int64)])

        def enlarge_tree() -> None:
            length = max(int(h[path_tree.NEED]), 2 * len(self._tree))
            self._tree = np.empty((length, path_tree.TREE_FIELDS), np.int64)

        def enlarge_dictionary() -> None:
            dictionary.arrays(int(h[path_tree.NEED]), int(h[path_tree.NEED_TEXT]))

        def give_up() -> None:
            raise StepBudgetError(
                f"{path.op} {path.regex}: the shortest paths from one vertex at {instant} have "
                f"more than {path.budget:,} steps"
            )

        drive(
            step,
            {
                stops.OUT_FULL: enlarge_out,
                stops.SPACE_FULL: enlarge_tree,
                stops.TEXTS_FULL: enlarge_dictionary,
                stops.OVER_BUDGET: give_up,
            },
        )
        found = self._out[:, : h[path_tree.OUT]].copy()
        dictionary.hold(graph.codes, np.full(len(graph.codes), until, np.int64))
        self._codes = [graph.codes, *(found[k] for k in texts)]
        for k in numbers if found.size else ():
            least = int(found[k].min())
            values = pa.array(np.arange(least, int(found[k].max()) + 1))
            codes = dictionary.encode(values, np.full(len(values), needed, np.int64))
            found[k] = codes[found[k] - least]
            self._codes.append(codes)
        return found

    def _elements(self, value: str, graph: kernel.Graph, until: int) -> tuple[Any, IntArray]:
        """The texts and the codes of the elements of a list: of each arc, and of each root.

        A list of steps does not have the root as an element.
        """
        vertices = vertex_texts(self._dictionary, graph.codes)
        if value == "path":
            begins = np.repeat(np.arange(len(graph.codes)), np.diff(graph.starts))
            symbols = np.array(self._automaton.symbols, np.int64)[graph.symbols]
            texts = step_texts(vertices, self._names, np.stack([begins, symbols, graph.ends]))
            roots = pa.array([""] * len(vertices), pa.string())
        else:
            texts, roots = vertices.take(pa.array(graph.ends)), vertices
        texts = pa.concat_arrays([texts, roots])
        codes = self._dictionary.encode(texts, np.full(len(texts), until, np.int64))
        if value == "path":
            codes[len(graph.ends) :] = EMPTY
        return texts, codes

    def _graph(self, edges: IntArray) -> kernel.Graph:
        """The vertices and the arcs of a snapshot.

        With one path for each pair, the arcs of a vertex are in the order of paths: by the value of
        the vertex that they enter, and then by the name of the step.
        """
        automaton = self._automaton
        vertices, numbers = np.unique(edges[1:], return_inverse=True)
        begins, ends = numbers.reshape(2, -1)
        symbols = [np.flatnonzero(edges[0] == s // 2) for s in automaton.symbols]
        arcs = [(ends, begins) if s % 2 else (begins, ends) for s in automaton.symbols]
        none: list[IntArray] = [np.empty(0, np.int64)]
        from_ = np.concatenate(none + [a[0][k] for a, k in zip(arcs, symbols, strict=True)])
        to = np.concatenate(none + [a[1][k] for a, k in zip(arcs, symbols, strict=True)])
        symbol = np.repeat(np.arange(len(symbols)), list(map(len, symbols)))
        order = np.arange(len(from_))
        if self._path.shows_steps and not self._path.all_paths:
            ranks = _ranks(vertices, self._dictionary)
            order = _sorted(automaton.ranks[symbol], order, len(symbols))[0]
            order = _sorted(ranks[to], order, len(vertices))[0]
        order, starts = _sorted(from_, order, len(vertices))
        roots = np.unique(from_[automaton.next_state[0, symbol] != EMPTY])
        if self._is_root is not None:
            roots = roots[self._is_root(vertices[roots])]
        return kernel.Graph(
            starts, symbol[order], np.array(automaton.symbols, np.int64) % 2, to[order],
            automaton.next_state, automaton.accepting, roots, vertices,
        )  # fmt: skip

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`advance` drops expired edges."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`advance` drops expired edges."""

    @property
    def entries(self) -> int:
        """Edges held, and those that wait, and the rows of the last instant."""
        rows = int(self._columns.shape[1])
        return self._held.entries + sum(map(len, self._arrived)) + rows

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        waiting = sum(array.nbytes for batch in self._arrived for array in batch.arrays)
        own = (self._columns, self._out, self._tree)
        return self._held.nbytes + waiting + sum(array.nbytes for array in own)


@dataclass(frozen=True, slots=True)
class _Automaton:
    """The automaton of a path as arrays.

    Attributes:
        symbols: 2 · input + inverse of each symbol that it reads.
        ranks: the position of each symbol in the order of the names of steps.
        next_state: int64[states, symbols]: the state after a symbol, or EMPTY.
        accepting: for each state, 1 if it accepts.
    """

    symbols: tuple[int, ...]
    ranks: IntArray
    next_state: IntArray
    accepting: IntArray

    @staticmethod
    def of(path: ShortestPath) -> _Automaton:
        """The automaton of a physical operator."""
        symbols = sorted({2 * i + inverse for _, i, inverse, _ in path.transitions})
        next_state: IntArray = np.full((path.states, len(symbols)), EMPTY, np.int64)
        for state, number, inverse, to in path.transitions:
            next_state[state, symbols.index(2 * number + inverse)] = to

        def name(place: int) -> tuple[str, int]:
            symbol = symbols[place]
            label = path.labels[symbol // 2] if path.labels else ""
            return "^" * (symbol % 2) + label, symbol

        ranks: IntArray = np.zeros(len(symbols), np.int64)
        ranks[sorted(range(len(symbols)), key=name)] = np.arange(len(symbols))
        flags = accepting_flags(path.states, path.accepting)
        return _Automaton(tuple(symbols), ranks, next_state, flags)


def _columns(path: ShortestPath) -> path_tree.Columns:
    """The columns of a physical operator other than texts."""
    place = {value: k for k, value in enumerate(path.values, 2)}
    rows = {None: path_tree.WHOLE, "nodes": path_tree.NODES, "steps": path_tree.STEPS}
    return path_tree.Columns(
        rows[members(path.values)],
        place.get("length", EMPTY),
        place.get("place", EMPTY),
        place.get("node", EMPTY),
        place.get("start", EMPTY),
        place.get("end", EMPTY),
    )


def _new_search(
    graph: kernel.Graph, automaton: _Automaton, writes: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The arrays of a search of a graph that belong to no other search."""
    vertices, states = len(graph.starts) - 1, len(automaton.accepting)
    arcs = 1
    if writes != kernel.LENGTHS:
        of_symbol = (automaton.next_state != EMPTY).sum(axis=0)
        arcs += int(of_symbol[graph.symbols].sum())
    return (
        np.zeros(path_tree.HEADER_FIELDS, np.int64),
        np.full(vertices * states, EMPTY, np.int64),
        np.empty((vertices * states + 1, path_tree.NODE_FIELDS), np.int64),
        np.empty((arcs, path_tree.BACK_FIELDS), np.int64),
        np.full(vertices, EMPTY, np.int64),
    )


def _sorted(keys: IntArray, order: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """The positions in ``order`` by their keys below ``count``, and where each key begins."""
    counts: IntArray = np.empty(count + 1, np.int64)
    out = np.empty_like(order)
    kernel.counting_sort(keys, order, counts, out)
    return out, counts


def _ranks(codes: IntArray, dictionary: Dictionary) -> IntArray:
    """The position of each vertex in their order: integers, then strings by their UTF-8 bytes."""
    numbers, are_numbers = dictionary.integers(codes)
    ranks: IntArray = np.empty(len(codes), np.int64)
    of_numbers, of_strings = np.flatnonzero(are_numbers), np.flatnonzero(~are_numbers)
    ranks[of_numbers[np.argsort(numbers[of_numbers])]] = np.arange(len(of_numbers))
    if len(of_strings):
        order = np.asarray(pc.sort_indices(dictionary.decode(codes[of_strings])))
        ranks[of_strings[order]] = len(of_numbers) + np.arange(len(of_strings))
    return ranks

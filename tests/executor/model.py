"""The meaning of operators on snapshots, and random rows to check it on.

A row is ``(values, ts, exp)``, valid in ``[ts, exp)``. Two streams of rows are equal when
their snapshots are equal at every instant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
from hypothesis import strategies as st

from headrace.algebra.physical import AutomatonPath, HashJoin, MultiwayJoin
from headrace.executor.batch import Batch
from headrace.executor.operators.base import Operator, time_driven


class Row(NamedTuple):
    values: tuple[int, ...]
    ts: int
    exp: int


Rows = Sequence[Row]
Vertex = TypeVar("Vertex", int, str | int)
Values = set[tuple[Vertex, ...]]
Meaning = Callable[[Sequence[Values[int]]], Values[int]]


def snapshot(rows: Iterable[Row], t: int) -> Values[int]:
    return {row.values for row in rows if row.ts <= t < row.exp}


def changes(ports: Sequence[Rows]) -> list[int]:
    """The instants at which a snapshot of the input can change."""
    return sorted({t for rows in ports for row in rows for t in (row.ts, row.exp)})


def joined(join: HashJoin, inputs: Sequence[Values[Vertex]]) -> Values[Vertex]:
    """Nested loops."""
    found = set()
    for left in inputs[0]:
        for right in inputs[1]:
            known = dict(zip(join.bindings[0], left, strict=True))
            fits = [known.get(v, x) == x for v, x in zip(join.bindings[1], right, strict=True)]
            known.update(zip(join.bindings[1], right, strict=True))
            if all(fits):
                found.add(tuple(known[v] for v in join.output))
    return found


def joined_at_once(
    join: MultiwayJoin,
    inputs: Sequence[Values[Any]],
    holds: Callable[[dict[int, Any]], bool] = lambda _: True,
) -> Values[Any]:
    """The rows of a multiway join by nested loops."""
    partial_rows: list[dict[int, Any]] = [{}]
    for read, binding in zip(join.reads, join.bindings, strict=True):
        partial_rows = [
            {**row, **dict(zip(binding, values, strict=True))}
            for row in partial_rows
            for values in inputs[read]
            if all(row.get(v, x) == x for v, x in zip(binding, values, strict=True))
        ]
    return {tuple(row[v] for v in join.output) for row in partial_rows if holds(row)}


def walked(path: AutomatonPath, inputs: Sequence[Values[Vertex]]) -> Values[Vertex]:
    """The roots and ends of accepted walks."""
    nodes = tree_nodes(path, inputs)
    return {(root, vertex) for root, vertex, state in nodes if state in path.accepting}


def tree_nodes(
    path: AutomatonPath, inputs: Sequence[Values[Vertex]]
) -> set[tuple[Vertex, Vertex, int]]:
    """All (root, vertex, state) of the spanning forest, without the roots themselves."""
    steps: dict[tuple[Vertex, int], set[tuple[Vertex, int]]] = defaultdict(set)
    for state, number, inverse, to in path.transitions:
        for source, target in inputs[number]:
            start, end = (target, source) if inverse else (source, target)
            steps[start, state].add((end, to))
    found = set()
    for root in {vertex for vertex, state in steps if state == 0}:
        pending = [(root, 0)]
        seen: set[tuple[Vertex, int]] = set()
        while pending:
            fresh = steps[pending.pop()] - seen
            seen |= fresh
            pending.extend(fresh)
        found |= {(root, vertex, state) for vertex, state in seen}
    return found


def batch_of(rows: Rows, width: int) -> Batch:
    columns = np.array([row.values for row in rows], np.int64).reshape(len(rows), width).T
    ts = np.array([row.ts for row in rows], np.int64)
    return Batch(np.ascontiguousarray(columns), ts, np.array([row.exp for row in rows], np.int64))


def rows_of(batch: Batch) -> list[Row]:
    values = map(tuple, batch.columns.T.tolist()) if batch.width else iter([()] * len(batch))
    return list(map(Row, values, batch.ts.tolist(), batch.exp.tolist()))


def run(
    operator: Operator, ports: Sequence[Rows], widths: Sequence[int], cuts: Iterable[int]
) -> list[Row]:
    """The operator's results where the input is cut before the given instants.

    At each cut it is also told the time, as a pipeline does after each batch.
    """
    found: list[Row] = []
    starts = [0] * len(ports)
    last = max((rows[-1].ts for rows in ports if rows), default=0)
    for cut in [*sorted({cut for cut in cuts if cut <= last}), last + 1]:
        ends = [bisect_left(rows, cut, key=at) for rows in ports]
        parts = [rows[start:end] for rows, start, end in zip(ports, starts, ends, strict=True)]
        batches = [batch_of(part, width) for part, width in zip(parts, widths, strict=True)]
        found += rows_of(operator.process(batches, True))
        if (driven := time_driven(operator)) is not None:
            found += rows_of(driven.advance(cut, True))
        operator.tick(cut)
        starts = ends
    return found


def sizes_over_time(
    operator: Operator, ports: Sequence[Rows], widths: Sequence[int], step: int = 10
) -> list[tuple[int, int]]:
    """(entries, bytes) after each batch of ``step`` time units."""
    sizes = []
    last = max(rows[-1].ts for rows in ports)
    for start in range(0, last + 1, step):
        parts = [
            rows[bisect_left(rows, start, key=at) : bisect_left(rows, start + step, key=at)]
            for rows in ports
        ]
        run(operator, parts, widths, ())
        operator.tick(start + step)
        sizes.append((operator.entries, operator.nbytes))
    return sizes


def at(row: Row) -> int:
    return row.ts


def check(
    operator: Operator,
    meaning: Meaning,
    ports: Sequence[Rows],
    widths: Sequence[int],
    cuts: Iterable[int] = (),
) -> list[Row]:
    """Runs an operator and holds every snapshot of its results to what it means."""
    found = run(operator, ports, widths, cuts)
    hold(found, meaning, ports)
    return found


def hold(found: Rows, meaning: Meaning, ports: Sequence[Rows]) -> None:
    """Every snapshot is right, and results are what the eager direct approach gives."""
    instants = changes(ports)
    for t in instants:
        expected = meaning([snapshot(rows, t) for rows in ports])
        assert snapshot(found, t) == expected, f"at {t}"
    assert [row.ts for row in found] == sorted(row.ts for row in found)
    assert {row.ts for row in found} <= {row.ts for rows in ports for row in rows}
    assert {row.exp for row in found} <= {row.exp for rows in ports for row in rows}
    assert all(row.ts < row.exp for row in found)


def is_coalesced(rows: Rows) -> bool:
    """Whether no row lies inside what earlier rows of its values said."""
    latest: dict[tuple[int, ...], int] = {}
    for row in rows:
        if row.exp <= latest.get(row.values, row.ts):
            return False
        latest[row.values] = row.exp
    return True


GAPS = st.sampled_from([0] * 6 + [1] * 6 + [2, 2, 3, 5, 12, 40])
"""From one row to the next: bursts, and now and then longer than any validity."""

LENGTHS = st.integers(1, 12)
WINDOWS = st.tuples(LENGTHS, st.integers(1, 4)).map(lambda w: (max(w), w[1]))
"""(range, slide) of a window."""


@st.composite
def ports(
    draw: st.DrawFn, widths: Sequence[int], vertices: int = 4, longest: int = 40
) -> tuple[list[Row], ...]:
    """Rows for each port, sorted by ts.

    Each port has a window of its own, or validities of any length as derived rows have.
    """
    windows = [draw(st.none() | WINDOWS) for _ in widths]
    events = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(widths) - 1),
                st.tuples(*[st.integers(0, vertices - 1)] * max(widths)),
                GAPS,
                LENGTHS,
            ),
            max_size=longest,
        )
    )
    found: tuple[list[Row], ...] = tuple([] for _ in widths)
    times = accumulate(gap for _, _, gap, _ in events)
    for (port, values, _, length), ts in zip(events, times, strict=True):
        window = windows[port]
        exp = ts + length if window is None else ts // window[1] * window[1] + window[0]
        found[port].append(Row(values[: widths[port]], ts, exp))
    return found


CUTS = st.one_of(
    st.just(range(0)), st.just(range(2_000)), st.lists(st.integers(0, 100), max_size=8)
)
"""Where batches end: nowhere, at every instant, here and there."""

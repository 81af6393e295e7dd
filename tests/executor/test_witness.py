"""WITNESS: the paths for rows of S_PATH and SIMPLE_PATH."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import SimplePath, SPath, WitnessPaths
from headrace.algebra.regex import Regex, Symbol
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.path import PathOperator
from headrace.executor.operators.simple_path import SimplePathOperator, StepBudgetError
from headrace.executor.operators.witness import WitnessError, WitnessOperator
from tests.executor.model import CUTS, Row, Rows, batch_of, ports, rows_of, run, snapshot
from tests.executor.test_path import PATTERNS, stream
from tests.executor.test_simple_path import FORMS
from tests.oracles.witnesses import accepts
from tests.properties.algebra import as_written
from tests.strategies.amount import examples

A = Symbol(0)
PLUS = regex.plus(A)
Line = tuple[tuple[Any, ...], int, int]
ALL = (0, 1), (0, 1, 2)


def witness_of(
    pattern: Regex,
    columns: tuple[tuple[int, ...], tuple[int, ...]] = ALL,
    *,
    simple: bool = False,
    budget: int = 1_000_000,
) -> WitnessPaths:
    dfa = minimal_dfa(pattern).with_fresh_start()
    labels = tuple("abc"[: 1 + max(int(ref) for ref in regex.refs(pattern))])
    return WitnessPaths(
        *columns, 0, 1, dfa.states, dfa.transitions, dfa.accepting, labels, simple,
        regex.text(pattern), budget,
    )  # fmt: skip


def numbers(count: int = 5_000) -> Dictionary:
    """A dictionary in which each number is its own code."""
    dictionary = Dictionary()
    codes = dictionary.encode(pa.array(range(count)), np.full(count, FOREVER))
    assert codes.tolist() == list(range(count))
    return dictionary


class Running:
    """A WITNESS over edges, and over the rows that a path operator finds in them."""

    def __init__(self, witness: WitnessPaths, inputs: int = 1) -> None:
        self.dictionary = numbers()
        self.operator = WitnessOperator(witness, inputs, self.dictionary)
        automaton = witness.states, witness.transitions, witness.accepting
        self.path = (
            SimplePathOperator(SimplePath(*automaton), inputs)
            if witness.simple
            else PathOperator(SPath(*automaton), inputs)
        )

    def lines(
        self, edges: Sequence[Rows], cuts: Sequence[int] = (), *, wanted: bool = True
    ) -> list[Line]:
        found: list[Line] = []
        last = max((side[-1].ts for side in edges if side), default=0)
        for start, end in pairwise([0, *sorted({c for c in cuts if 0 < c <= last}), last + 1]):
            parts = [batch_of([r for r in side if start <= r.ts < end], 2) for side in edges]
            rows = self.path.process(parts, True)
            found += self.decoded(self.operator.process([rows, *parts], wanted))
            self.operator.tick(end)
        return found

    def decoded(self, batch: Batch) -> list[Line]:
        columns = [self.dictionary.decode(codes).to_pylist() for codes in batch.columns]
        values = zip(*columns, strict=True)
        return list(zip(values, batch.ts.tolist(), batch.exp.tolist(), strict=True))


def steps_of(line: Line) -> list[tuple[int, str, int]]:
    return [(x, label, y) for x, label, y in json.loads(line[0][-1])]


def faults(pattern: Regex, edges: Sequence[Rows], line: Line, *, simple: bool) -> list[str]:
    """What is wrong with the path of a line."""
    (source, target, _), ts, exp = line
    steps = steps_of(line)
    found = [f"{a} {b} do not meet" for a, b in pairwise(steps) if a[2] != b[0]]
    if (steps[0][0], steps[-1][2]) != (source, target):
        found.append("other ends")
    word = []
    for x, label, y in steps:
        side, inverse = "abc".index(label[-1]), label[0] == "^"
        word.append((str(side), inverse))
        pair = (y, x) if inverse else (x, y)
        valid = {row.values for row in edges[side] if row.ts <= ts and row.exp >= exp}
        if pair not in valid:
            found.append(f"no edge {pair} is valid in [{ts}, {exp})")
    if not accepts(as_written(pattern), word):
        found.append("another word")
    vertices = [source, *(y for *_, y in steps)]
    if simple and len(set(vertices)) < len(vertices):
        found.append("a vertex twice")
    return found


@given(pattern=PATTERNS, edges=ports((2, 2)), cuts=CUTS)
@examples(40)
def test_witnesses_of_random_patterns_are_paths(
    pattern: Regex, edges: tuple[list[Row], ...], cuts: Sequence[int]
) -> None:
    witness = witness_of(pattern)
    edges = edges[: len(witness.labels)]
    lines = Running(witness, len(edges)).lines(edges, list(cuts))
    automaton = SPath(witness.states, witness.transitions, witness.accepting)
    rows = run(PathOperator(automaton, len(edges)), edges, (2,) * len(edges), ())
    assert [(line[0][:2], *line[1:]) for line in lines] == [tuple(row) for row in rows]
    for line in lines:
        assert faults(pattern, edges, line, simple=False) == []


@pytest.mark.parametrize("name", FORMS)
def test_witnesses_of_simple_paths_are_simple(name: str) -> None:
    pattern = FORMS[name]
    inputs = 1 + max(int(ref) for ref in regex.refs(pattern))

    @given(edges=ports((2,) * inputs, vertices=5), cuts=CUTS)
    @examples(8)
    def holds(edges: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        for line in Running(witness_of(pattern, simple=True), inputs).lines(edges, list(cuts)):
            assert faults(pattern, edges, line, simple=True) == []

    holds()


def test_a_witness_is_a_shortest_path_that_lasts_as_long() -> None:
    edges = stream(7, 600, 40, True)
    lines = Running(witness_of(PLUS)).lines([edges], range(0, 400, 3))
    assert len(lines) > 500
    for line in lines[::25]:
        (source, target, _), ts, exp = line
        graph: nx.DiGraph[int] = nx.DiGraph()
        valid = [row for row in edges if row.ts <= ts and row.exp >= exp]
        graph.add_edges_from((row.values[0], row.values[1]) for row in valid)
        if source != target:
            assert len(steps_of(line)) == nx.shortest_path_length(graph, source, target)
    assert max(len(steps_of(line)) for line in lines) > 3


def test_a_row_that_extends_validity_has_its_own_witness() -> None:
    edges = [Row((1, 2), 0, 5), Row((2, 4), 0, 5), Row((1, 3), 1, 9), Row((3, 4), 2, 9)]
    lines = [line for line in Running(witness_of(PLUS)).lines([edges]) if line[0][:2] == (1, 4)]
    assert [line[1:] for line in lines] == [(0, 5), (2, 9)]
    assert [steps_of(line) for line in lines] == [
        [(1, "a", 2), (2, "a", 4)],
        [(1, "a", 3), (3, "a", 4)],
    ]


def test_a_witness_uses_edges_of_its_own_ts_but_no_later_ones() -> None:
    """Rows of 0 are given a path before the shorter one of 1 is there, in one batch too."""
    edges = [Row((1, 2), 0, 9), Row((2, 3), 0, 9), Row((1, 3), 1, 9)]
    lines = Running(witness_of(PLUS)).lines([edges])
    (line,) = [line for line in lines if line[0][:2] == (1, 3)]
    assert (line[1], steps_of(line)) == (0, [(1, "a", 2), (2, "a", 3)])


@pytest.mark.parametrize(("keys", "output", "count"), [((0,), (2, 0), 2), ((), (2,), 1)])
def test_rows_of_equal_keys_are_coalesced(
    keys: tuple[int, ...], output: tuple[int, ...], count: int
) -> None:
    edges = [Row((1, 2), 0, 9), Row((1, 3), 0, 9), Row((2, 3), 0, 9)]
    lines = Running(witness_of(PLUS, (keys, output))).lines([edges])
    assert len(lines) == count
    assert all(json.loads(values[0])[0][1] == "a" for values, *_ in lines)


def test_a_long_witness_keeps_special_characters_of_vertices() -> None:
    dictionary = Dictionary()
    names = ['say "a"', "back\\slash", "Zoë\n", *map(str, range(2_000))]
    codes = dictionary.encode(pa.array(names), np.full(len(names), FOREVER))
    edges = batch_of([Row(pair, 0, 9) for pair in pairwise(codes.tolist())], 2)
    whole = batch_of([Row((int(codes[0]), int(codes[-1])), 0, 9)], 2)
    operator = WitnessOperator(witness_of(PLUS), 1, dictionary)
    found = operator.process([whole, edges], True)
    (path,) = dictionary.decode(found.columns[2]).to_pylist()
    assert path is not None
    assert json.loads(path) == [[x, "a", y] for x, y in pairwise(names)]


def test_batches_and_sweeps_do_not_change_witnesses() -> None:
    edges = [stream(3, 1_500, 30, True), stream(5, 1_500, 30, True)]
    pattern = regex.concat([A, regex.star(Symbol(1, inverse=True))])
    whole, cut = Running(witness_of(pattern), 2), Running(witness_of(pattern), 2)
    expected = whole.lines(edges)
    assert len(expected) > 2_000
    assert cut.lines(edges, range(0, 2_000, 7)) == expected


@given(edges=ports((2, 2)), now=st.integers(0, 60))
@examples(30)
def test_valid_rows_alone_restore_the_state(edges: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what is still valid goes on, with the same paths."""
    pattern = regex.plus(regex.alternation([A, Symbol(1, inverse=True)]))
    before = [[row for row in side if row.ts < now] for side in edges]
    after = [[row for row in side if row.ts >= now] for side in edges]
    went_on, restored = Running(witness_of(pattern), 2), Running(witness_of(pattern), 2)
    went_on.lines(before)
    restored.lines([[row for row in side if row.exp > now] for side in before], wanted=False)
    assert restored.lines(after) == went_on.lines(after)


def test_a_purge_keeps_exactly_the_valid_entries() -> None:
    edges = stream(2, 1_000, 2, True)
    running = Running(witness_of(PLUS))
    lines = running.lines([edges], range(0, 500, 40))
    rows = [Row(values[:2], ts, exp) for values, ts, exp in lines]
    running.operator.purge(500)
    assert running.operator.entries == len(snapshot(edges, 500)) + len(snapshot(rows, 500)) > 0
    running.operator.purge(FOREVER - 1)
    assert running.operator.entries == 0


def test_state_is_bounded_on_a_stream_whose_vertices_change() -> None:
    running = Running(witness_of(regex.concat([A, A])))
    edges = stream(4, 4_000, 3, True)
    sizes = []
    for start in range(0, edges[-1].ts, 40):
        running.lines([[row for row in edges if start <= row.ts < start + 40]])
        sizes.append((running.operator.entries, running.operator.nbytes))
    early, late = sizes[3 : len(sizes) // 3], sizes[len(sizes) // 3 :]
    assert max(late)[0] <= 1.5 * max(early)[0]
    assert max(size for _, size in late) <= 2 * max(size for _, size in early)


def test_a_search_beyond_its_budget_raises() -> None:
    """1 -> .. -> 4 -> .. in an even number of steps, past many vertices that lead nowhere."""
    edges = batch_of([Row((x, y), 0, 9) for x in range(8) for y in range(8) if x != y], 2)
    cycle = batch_of([Row((8, 0), 0, 9), Row((1, 9), 0, 9)], 2)
    dictionary = numbers(20)
    odd = regex.concat([*([A] * 9), regex.plus(regex.concat([A, A]))])
    operator = WitnessOperator(witness_of(odd, simple=True, budget=50), 1, dictionary)
    both = Batch(np.hstack([edges.columns, cycle.columns]), *map(np.hstack, zip(
        (edges.ts, edges.exp), (cycle.ts, cycle.exp), strict=True)))  # fmt: skip
    with pytest.raises(StepBudgetError, match="more than 50 steps"):
        operator.process([batch_of([Row((8, 9), 0, 9)], 2), both], True)


def test_a_row_without_a_witness_raises() -> None:
    operator = WitnessOperator(witness_of(PLUS), 1, numbers(9))
    with pytest.raises(WitnessError, match=r"WITNESS 0\+: no path explains a row of 3"):
        operator.process([batch_of([Row((1, 2), 3, 9)], 2), batch_of([], 2)], True)


def test_no_row_outlives_its_witness() -> None:
    """An edge that expires earlier than the row is none of it."""
    operator = WitnessOperator(witness_of(PLUS), 1, numbers(9))
    edges = batch_of([Row((1, 2), 0, 8)], 2)
    with pytest.raises(WitnessError):
        operator.process([batch_of([Row((1, 2), 3, 9)], 2), edges], True)
    assert rows_of(edges)

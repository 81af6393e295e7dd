"""SIMPLE_PATH against all paths of each snapshot, walked one by one."""

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import SimplePath
from headrace.algebra.regex import Regex, Symbol
from headrace.executor.batch import FOREVER
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.simple_path import SimplePathOperator, StepBudgetError
from tests.executor.model import (
    CUTS,
    Row,
    Rows,
    Values,
    changes,
    check,
    hold,
    is_coalesced,
    ports,
    run,
    sizes_over_time,
    snapshot,
)
from tests.executor.test_path import PATTERNS, REGEXES, stream
from tests.oracles.paths import simple_pairs
from tests.properties.algebra import as_written
from tests.strategies.amount import examples

A, B = Symbol(0), Symbol(1)
FORMS: dict[str, Regex] = {
    **REGEXES,
    "(a·a)+": regex.plus(regex.concat([A, A])),
    "a·a·a": regex.concat([A, A, A]),
    "(a·b)+": regex.plus(regex.concat([A, B])),
    "(a·b·b|b·a)+": regex.plus(regex.alternation([regex.concat([A, B, B]), regex.concat([B, A])])),
    "(a·a|^b)+": regex.plus(regex.alternation([regex.concat([A, A]), Symbol(1, inverse=True)])),
}


def path_of(pattern: Regex, budget: int = 1_000_000) -> SimplePath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    text = regex.text(pattern)
    return SimplePath(
        automaton.states, automaton.transitions, automaton.accepting, text, budget=budget
    )


def meaning(pattern: Regex, inputs: Sequence[Values[int]]) -> Values[int]:
    relations = {str(i): {(row[0], row[1]) for row in rows} for i, rows in enumerate(inputs)}
    return {(x, y) for x, y in simple_pairs(as_written(pattern), relations)}  # type: ignore[misc]


@pytest.mark.parametrize("name", FORMS)
def test_simple_path_has_the_snapshots_of_an_enumeration(name: str) -> None:
    pattern = FORMS[name]
    inputs = 1 + max(int(ref) for ref in regex.refs(pattern))

    @given(rows=ports((2,) * inputs, vertices=5), cuts=CUTS)
    @examples(30)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        operator = SimplePathOperator(path_of(pattern), inputs)
        found = check(operator, partial(meaning, pattern), rows, (2,) * inputs, cuts)
        assert is_coalesced(found)

    holds()


@given(pattern=PATTERNS, rows=ports((2, 2), vertices=4), cuts=CUTS)
@examples(150)
def test_snapshots_of_random_patterns(
    pattern: Regex, rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    operator = SimplePathOperator(path_of(pattern), 2)
    assert is_coalesced(check(operator, partial(meaning, pattern), rows, (2, 2), cuts))


def only(name: str, *sides: Rows) -> list[Row]:
    operator = SimplePathOperator(path_of(FORMS[name]), len(sides))
    return check(operator, partial(meaning, FORMS[name]), sides, (2,) * len(sides))


def test_a_loop_is_on_no_simple_path() -> None:
    assert only("a+", [Row((1, 1), 0, 5)]) == []
    assert only("a·a", [Row((1, 2), 0, 5), Row((2, 2), 0, 5)]) == []


def test_a_cycle_does_not_lead_back_to_the_root() -> None:
    found = only("a+", [Row((1, 2), 0, 5), Row((2, 1), 1, 9)])
    assert found == [Row((1, 2), 0, 5), Row((2, 1), 1, 9)]


def test_a_walk_of_even_length_over_an_odd_cycle_is_no_simple_path() -> None:
    """1 -> 2 -> 3 -> 1 -> 4 -> ... takes an even number of steps to 4, but meets 1 twice."""
    cycle = [Row((1, 2), 0, 50), Row((2, 3), 0, 50), Row((3, 1), 0, 50), Row((1, 4), 1, 40)]
    found = only("(a·a)+", cycle)
    assert {row.values for row in found if row.values[1] == 4} == {(3, 4)}


def test_the_widest_walk_hides_a_narrower_simple_path() -> None:
    """From 1 to 5 in an even number of steps: the walk that lasts until 90 meets 2 twice."""
    wide = [Row(pair, 0, 90) for pair in ((1, 2), (2, 3), (3, 4), (4, 2))]
    narrow = [Row((1, 6), 0, 30)]
    found = only("(a·a)+", [*wide, *narrow, Row((6, 5), 1, 90), Row((2, 7), 2, 90)])
    assert Row((1, 5), 1, 30) in found
    assert {row.values for row in found if row.values[0] == 1} == {(1, 3), (1, 5), (1, 7)}


def test_a_longer_lasting_simple_path_extends() -> None:
    rows = [Row((1, 2), 0, 10), Row((2, 3), 0, 90), Row((1, 4), 2, 60), Row((4, 3), 3, 70)]
    found = only("a·a", rows)
    assert found == [Row((1, 3), 0, 10), Row((1, 3), 3, 60)]


def test_an_edge_may_make_several_moves() -> None:
    """The one edge 2 -> 3 is the first step of one path and the second of another."""
    found = only("a·a", [Row((1, 2), 0, 50), Row((3, 4), 0, 60), Row((2, 3), 1, 70)])
    assert set(found) == {Row((1, 3), 1, 50), Row((2, 4), 1, 60)}


def test_a_simple_path_does_not_walk_an_edge_back() -> None:
    assert only("a·^a", [Row((1, 2), 0, 9), Row((1, 2), 3, 20)]) == []


def test_edges_of_a_stored_graph_never_expire() -> None:
    operator = SimplePathOperator(path_of(FORMS["a·b*"]), 2)
    rows = [Row((1, 2), 900, 910)], [Row((2, 3), 0, FOREVER), Row((3, 1), 0, FOREVER)]
    found = run(operator, rows, (2, 2), (100, 800))
    assert set(found) == {Row((1, 2), 900, 910), Row((1, 3), 900, 910)}
    operator.purge(10**12)
    assert operator.entries == 2


def test_an_automaton_that_returns_to_its_start_is_refused() -> None:
    with pytest.raises(ValueError, match="start state"):
        SimplePathOperator(SimplePath(1, ((0, 0, False, 0),), (0,)), 1)


def dense(seed: int, vertices: int, edges: int) -> tuple[list[Row], list[Row]]:
    """Two ports of a dense graph with unequal windows."""
    random = Random(seed)
    sides: tuple[list[Row], list[Row]] = ([], [])
    for ts in range(edges):
        source, target = random.sample(range(vertices), 2)
        port = random.randrange(2)
        sides[port].append(Row((source, target), ts, ts + random.choice((9, 25))))
    return sides


@pytest.mark.parametrize("name", ["(a·a)+", "(a·b)+", "(a·b·b|b·a)+", "(a·a|^b)+", "a·b·a"])
def test_dense_graphs_have_the_right_snapshots(name: str) -> None:
    for seed in range(3):
        rows = dense(seed, 7, 80)
        operator = SimplePathOperator(path_of(FORMS[name]), 2)
        assert is_coalesced(check(operator, partial(meaning, FORMS[name]), rows, (2, 2), [40]))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """So many results that every array fills, and state is swept within the batch."""
    rows = [row for row in stream(1, 2_500, 5, fresh) if row.values[0] != row.values[1]]
    operator = SimplePathOperator(path_of(FORMS["a+"]), 1)
    found = run(operator, [rows], [2], ())
    assert len(found) > CHUNK, "more than a result buffer holds"
    assert is_coalesced(found)
    for t in changes([rows])[::20]:  # of a+, simple paths connect what any paths connect
        graph = snapshot(rows, t)
        expected = {pair for pair in reached(graph) if pair[0] != pair[1]}
        assert snapshot(found, t) == expected, f"at {t}"
    assert operator.entries < 100 + 3 * 60 * 60


def reached(graph: Values[int]) -> Values[int]:
    """The transitive closure."""
    found = set(graph)
    while True:
        after: dict[int, set[int]] = {}
        for source, target in graph:
            after.setdefault(source, set()).add(target)
        more = {(x, z) for x, y in found for z in after.get(y, ())} - found
        if not more:
            return found
        found |= more


def test_a_purge_keeps_exactly_the_valid_entries() -> None:
    rows = [row for row in stream(2, 1_000, 2, True) if row.values[0] != row.values[1]]
    operator = SimplePathOperator(path_of(FORMS["a·a"]), 1)
    empty = operator.nbytes
    found = run(operator, [rows], (2,), range(0, 500, 40))
    operator.purge(500)
    assert operator.entries == len(snapshot(rows, 500)) + len(snapshot(found, 500)) > 0
    operator.purge(600)
    assert operator.entries == 0
    assert operator.nbytes == empty


def test_state_is_bounded_on_a_stream_whose_vertices_change() -> None:
    operator = SimplePathOperator(path_of(FORMS["a·a"]), 1)
    sizes = sizes_over_time(operator, [stream(4, 12_000, 3, True)], [2])
    early, late = sizes[10:100], sizes[100:]
    assert max(late)[0] <= 1.5 * max(early)[0]
    assert max(bytes_ for _, bytes_ in late) <= 2 * max(bytes_ for _, bytes_ in early)


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_valid_edges_alone_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what is still valid goes on like one that saw all."""
    path = path_of(FORMS["(a·b)+"])
    before = [[row for row in side if row.ts < now] for side in rows]
    after = [[row for row in side if row.ts >= now] for side in rows]
    kept = [[row for row in side if row.exp > now] for side in before]
    went_on, restored = SimplePathOperator(path, 2), SimplePathOperator(path, 2)
    run(went_on, before, (2, 2), ())
    run(restored, kept, (2, 2), ())
    expected = run(went_on, after, (2, 2), ())
    assert sorted(run(restored, after, (2, 2), ())) == sorted(expected)


def _belongs(part: int, vertices: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.equal(vertices % 3, part)


@given(rows=ports((2, 2)), cuts=CUTS)
@examples(40)
def test_partitions_divide_the_roots(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
    pattern = FORMS["(a·a|^b)+"]
    found: list[Row] = []
    for part in range(3):
        operator = SimplePathOperator(path_of(pattern), 2, partial(_belongs, part))
        own = run(operator, rows, (2, 2), cuts)
        assert all(row.values[0] % 3 == part for row in own)
        found += own
    hold(sorted(found, key=lambda row: row.ts), partial(meaning, pattern), rows)


def test_a_search_beyond_its_budget_raises() -> None:
    random = Random(3)
    edges = [Row((x, y), 0, 9) for x in range(40) for y in range(40) if random.random() < 0.1]
    edges = [row for row in edges if row.values[0] != row.values[1]]
    operator = SimplePathOperator(path_of(FORMS["(a·a)+"], budget=50), 1)
    with pytest.raises(StepBudgetError, match="more than 50 steps"):
        run(operator, [edges], (2,), ())

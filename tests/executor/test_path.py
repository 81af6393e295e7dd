"""S_PATH against a search over the product graph of each snapshot."""

from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import SPath
from headrace.algebra.regex import Regex, Symbol
from headrace.executor.batch import FOREVER
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.path import PathOperator
from tests.executor.model import (
    CUTS,
    Row,
    Rows,
    changes,
    check,
    is_coalesced,
    ports,
    run,
    sizes_over_time,
    snapshot,
    tree_nodes,
    walked,
)
from tests.strategies.amount import examples

A, B, C = Symbol(0), Symbol(1), Symbol(2)
BACK_A, BACK_B = Symbol(0, inverse=True), Symbol(1, inverse=True)

REGEXES: dict[str, Regex] = {
    "a": A,
    "a+": regex.plus(A),
    "a·b*": regex.concat([A, regex.star(B)]),
    "a·b*·c*": regex.concat([A, regex.star(B), regex.star(C)]),
    "(a|b|c)+": regex.plus(regex.alternation([A, B, C])),
    "(a·b·c)+": regex.plus(regex.concat([A, B, C])),
    "a*·b*": regex.concat([regex.star(A), regex.star(B)]),
    "a?·b*": regex.concat([regex.optional(A), regex.star(B)]),
    "a·a": regex.concat([A, A]),
    "a{2,4}": regex.repeat(A, 2, 4),
    "(a|^a)+": regex.plus(regex.alternation([A, BACK_A])),
    "a·^a": regex.concat([A, BACK_A]),
    "^a+": regex.plus(BACK_A),
    "(a·^b)+": regex.plus(regex.concat([A, BACK_B])),
    "a·b·a": regex.concat([A, B, A]),
}


def path_of(pattern: Regex) -> SPath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    return SPath(automaton.states, automaton.transitions, automaton.accepting)


def inputs_of(path: SPath) -> int:
    return 1 + max(number for _, number, *_ in path.transitions)


@pytest.mark.parametrize("name", REGEXES)
def test_path_has_the_snapshots_of_a_product_graph_search(name: str) -> None:
    path = path_of(REGEXES[name])
    inputs = inputs_of(path)

    @given(rows=ports((2,) * inputs), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        found = check(PathOperator(path, inputs), partial(walked, path), rows, (2,) * inputs, cuts)
        assert is_coalesced(found)

    holds()


def _extended(parts: st.SearchStrategy[Regex]) -> st.SearchStrategy[Regex]:
    several = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(
        several.map(regex.concat),
        several.map(regex.alternation),
        parts.map(regex.star),
        parts.map(regex.plus),
        parts.map(regex.optional),
    )


PATTERNS = (
    st.recursive(st.sampled_from([A, A, B, B, BACK_A, BACK_B]), _extended, max_leaves=6)
    .map(regex.nonempty)
    .filter(lambda r: not isinstance(r, regex.Nothing))
)


@given(pattern=PATTERNS, rows=ports((2, 2), vertices=3), cuts=CUTS)
@examples(150)
def test_snapshots_of_random_patterns(
    pattern: Regex, rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    path = path_of(pattern)
    assert is_coalesced(check(PathOperator(path, 2), partial(walked, path), rows, (2, 2), cuts))


@given(rows=ports((2, 2)), cuts=CUTS)
@examples(60)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
    path = path_of(REGEXES["a·b*"])
    whole = run(PathOperator(path, 2), rows, (2, 2), ())
    assert sorted(run(PathOperator(path, 2), rows, (2, 2), cuts)) == sorted(whole)


def only(name: str, rows: Rows) -> list[Row]:
    path = path_of(REGEXES[name])
    return check(PathOperator(path, 1), partial(walked, path), (rows,), (2,))


def test_an_expired_node_counts_as_absent() -> None:
    """Else (1, 3) would be reported valid in the gap from 5 to 10."""
    found = only("a+", [Row((1, 2), 0, 5), Row((2, 3), 3, 100), Row((1, 2), 10, 20)])
    assert [row for row in found if row.values == (1, 3)] == [
        Row((1, 3), 3, 5),
        Row((1, 3), 10, 20),
    ]


def test_a_wider_path_reaches_the_whole_subtree() -> None:
    rows = [Row((1, 2), 0, 5), Row((2, 3), 1, 50), Row((3, 4), 1, 40), Row((1, 2), 2, 45)]
    found = only("a+", rows)
    assert Row((1, 2), 2, 45) in found
    assert Row((1, 3), 2, 45) in found
    assert Row((1, 4), 2, 40) in found


def test_a_wider_path_improves_other_trees() -> None:
    """The new edge 1 -> 3 makes a wider way to 2, which was reached directly before."""
    rows = [Row((1, 2), 0, 5), Row((3, 2), 0, 30), Row((2, 4), 0, 20), Row((1, 3), 1, 25)]
    found = only("a+", rows)
    assert Row((1, 2), 1, 25) in found
    assert Row((1, 4), 1, 20) in found


def test_each_pair_is_reported_once_per_edge_with_its_final_expiry() -> None:
    """Two ways of different width lead from 2 to 5; the narrow one is never reported."""
    ways = [Row((2, 3), 0, 10), Row((3, 5), 0, 10), Row((2, 4), 0, 90), Row((4, 5), 0, 80)]
    found = only("a+", [*ways, Row((5, 6), 0, 70), Row((1, 2), 1, 60)])
    assert [row for row in found if row.values[0] == 1 and row.values[1] > 4] == [
        Row((1, 5), 1, 60),
        Row((1, 6), 1, 60),
    ]


def test_a_self_loop_connects_the_root_to_itself() -> None:
    assert only("a+", [Row((1, 1), 0, 5)]) == [Row((1, 1), 0, 5)]


def test_a_cycle_leads_back_to_the_root() -> None:
    found = only("a+", [Row((1, 2), 0, 5), Row((2, 1), 1, 9)])
    assert set(found) == {
        Row((1, 2), 0, 5),
        Row((2, 1), 1, 9),
        Row((1, 1), 1, 5),
        Row((2, 2), 1, 5),
    }


def test_a_parallel_edge_that_expires_no_later_has_no_results() -> None:
    assert only("a+", [Row((1, 2), 0, 9), Row((1, 2), 1, 9), Row((1, 2), 2, 8)]) == [
        Row((1, 2), 0, 9)
    ]


def test_several_accepting_states_report_a_pair_once() -> None:
    """a·b*·c* accepts 1 -> 2 -> 2 in two states; the second adds nothing."""
    path = path_of(REGEXES["a·b*·c*"])
    assert len(path.accepting) == 2
    rows = [Row((1, 2), 0, 50)], [Row((2, 3), 1, 30)], [Row((2, 3), 2, 20), Row((2, 3), 3, 40)]
    found = check(PathOperator(path, 3), partial(walked, path), rows, (2, 2, 2))
    assert found == [Row((1, 2), 0, 50), Row((1, 3), 1, 30), Row((1, 3), 3, 40)]


def test_edges_of_a_stored_graph_never_expire() -> None:
    path = path_of(REGEXES["a·b*"])
    operator = PathOperator(path, 2)
    rows = [Row((1, 2), 900, 910)], [Row((2, 3), 0, FOREVER), Row((3, 4), 0, FOREVER)]
    found = run(operator, rows, (2, 2), (100, 800))
    assert set(found) == {Row((1, 2), 900, 910), Row((1, 3), 900, 910), Row((1, 4), 900, 910)}
    operator.purge(10**12)
    assert operator.entries == 2


def test_a_path_of_a_stored_graph_lasts_forever() -> None:
    found = only("a+", [Row((1, 2), 0, FOREVER), Row((2, 3), 0, FOREVER), Row((2, 1), 5, 9)])
    assert Row((1, 3), 0, FOREVER) in found
    assert Row((1, 1), 5, 9) in found


def test_an_automaton_that_returns_to_its_start_is_refused() -> None:
    with pytest.raises(ValueError, match="start state"):
        PathOperator(SPath(1, ((0, 0, False, 0),), (0,)), 1)


def stream(seed: int, length: int, pace: int, fresh: bool) -> list[Row]:
    """A long stream of edges; the vertices change with time if ``fresh``."""
    random = Random(seed)
    found = []
    for i in range(length):
        ts = i // pace
        base = ts // 10 * 8 if fresh else 0
        source, target = (base + random.randrange(60) for _ in range(2))
        found.append(Row((source, target), ts, ts // 5 * 5 + 20))
    return found


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """So many results that every array fills, and state is swept within the batch."""
    path = path_of(REGEXES["a+"])
    rows = stream(1, 2_500, 5, fresh)
    operator = PathOperator(path, 1)
    found = run(operator, [rows], [2], ())
    assert len(found) > CHUNK, "more than a result buffer holds"
    assert is_coalesced(found)
    meaning = partial(walked, path)
    for t in changes([rows])[::20]:
        assert snapshot(found, t) == meaning([snapshot(rows, t)]), f"at {t}"
    assert operator.entries < 100 + 3 * 60 * 60


def test_a_purge_keeps_exactly_the_valid_entries() -> None:
    path = path_of(REGEXES["(a·b·c)+"])
    random = Random(11)
    edges = stream(2, 3_000, 10, True)
    rows: list[list[Row]] = [[], [], []]
    for edge in edges:
        rows[random.randrange(3)].append(edge)
    operator = PathOperator(path, 3)
    empty = operator.nbytes
    run(operator, rows, (2, 2, 2), range(0, 300, 40))
    for now in (300, 305, 310):
        operator.purge(now)
        graph = [snapshot(edges_of_label, now) for edges_of_label in rows]
        assert operator.entries == sum(map(len, graph)) + len(tree_nodes(path, graph))
    assert operator.entries > 0
    operator.purge(400)
    assert operator.entries == 0
    assert operator.nbytes == empty


def test_state_is_bounded_on_a_stream_whose_vertices_change() -> None:
    path = path_of(REGEXES["a+"])
    rows = stream(4, 12_000, 3, True)
    operator = PathOperator(path, 1)
    sizes = sizes_over_time(operator, [rows], [2])
    early, late = sizes[10:100], sizes[100:]
    assert max(late)[0] <= 1.5 * max(early)[0]
    assert max(bytes_ for _, bytes_ in late) <= 2 * max(bytes_ for _, bytes_ in early)


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_valid_edges_alone_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what is still valid goes on like one that saw all."""
    path = path_of(REGEXES["a·b*"])
    before = [[row for row in side if row.ts < now] for side in rows]
    after = [[row for row in side if row.ts >= now] for side in rows]
    kept = [[row for row in side if row.exp > now] for side in before]
    went_on, restored = PathOperator(path, 2), PathOperator(path, 2)
    run(went_on, before, (2, 2), ())
    run(restored, kept, (2, 2), ())
    expected = run(went_on, after, (2, 2), ())
    assert sorted(run(restored, after, (2, 2), ())) == sorted(expected)

"""HASH_JOIN against nested loops over snapshots."""

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin
from headrace.executor import predicates
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.local import Value
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.join import JoinOperator
from tests.executor import deletions
from tests.executor.model import (
    CUTS,
    Row,
    Rows,
    Values,
    changes,
    check,
    hold,
    is_coalesced,
    joined,
    ports,
    run,
    sizes_over_time,
    snapshot,
)
from tests.strategies.amount import examples

JOINS = {
    "chain": HashJoin(((0, 1), (1, 2)), (0, 2)),
    "two keys": HashJoin(((0, 1), (1, 0)), (1, 0)),
    "cross product": HashJoin(((0, 1), (2, 3)), (3, 0, 2)),
    "all kept": HashJoin(((0, 1), (1, 2)), (2, 1, 0)),
    "star that keeps nothing of the key": HashJoin(((0, 1), (0, 2)), (2, 1)),
    "three columns and one": HashJoin(((0, 1, 2), (2,)), (0,)),
    "wide": HashJoin(((0, 1, 2, 3), (3, 4, 1)), (4, 3, 2, 1, 0)),
    "output with a repeat": HashJoin(((0, 1), (1, 2)), (1, 1)),
    "no columns kept": HashJoin(((0, 1), (1, 2)), ()),
}


def widths_of(join: HashJoin) -> list[int]:
    return [len(binding) for binding in join.bindings]


@pytest.mark.parametrize("name", JOINS)
def test_join_has_the_snapshots_of_nested_loops(name: str) -> None:
    join = JOINS[name]

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        found = check(JoinOperator(join), partial(joined, join), rows, widths_of(join), cuts)
        if {variable for binding in join.bindings for variable in binding} <= set(join.output):
            assert is_coalesced(found)

    holds()


@given(rows=ports((2, 2)), cuts=CUTS)
@examples(60)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
    join = JOINS["chain"]
    whole = run(JoinOperator(join), rows, (2, 2), ())
    assert sorted(run(JoinOperator(join), rows, (2, 2), cuts)) == sorted(whole)


def test_validity_is_the_intersection() -> None:
    join = JOINS["chain"]
    found = check(
        JoinOperator(join),
        partial(joined, join),
        ([Row((1, 2), 0, 10)], [Row((2, 3), 4, 20)]),
        (2, 2),
    )
    assert found == [Row((1, 3), 4, 10)]


def test_rows_whose_validities_only_touch_do_not_join() -> None:
    join = JOINS["chain"]
    rows = [Row((1, 2), 0, 4)], [Row((2, 3), 4, 20)]
    assert check(JoinOperator(join), partial(joined, join), rows, (2, 2)) == []


def test_a_repeated_row_joins_again_only_if_it_expires_later() -> None:
    join = JOINS["chain"]
    left = [Row((1, 2), 0, 10), Row((1, 2), 1, 10), Row((1, 2), 2, 9), Row((1, 2), 3, 12)]
    right = [Row((2, 3), 0, 100)]
    found = check(JoinOperator(join), partial(joined, join), (left, right), (2, 2))
    assert found == [Row((1, 3), 0, 10), Row((1, 3), 3, 12)]


def test_rows_of_a_stored_graph_never_expire() -> None:
    join = JOINS["chain"]
    operator = JoinOperator(join)
    rows = [Row((1, 2), 0, FOREVER)], [Row((2, 3), 900, 910)]
    assert run(operator, rows, (2, 2), (100, 800)) == [Row((1, 3), 900, 910)]
    operator.purge(10**12)
    assert operator.entries == 1


def stream(seed: int, length: int, pace: int, fresh: bool) -> tuple[list[Row], list[Row]]:
    """A long stream with hubs; the vertices change with time if ``fresh``."""
    random = Random(seed)
    sides: tuple[list[Row], list[Row]] = [], []
    for i in range(length):
        ts = i // pace
        base = ts // 20 * 10 if fresh else 0

        def vertex(base: int = base) -> int:
            return base + min(int(random.expovariate(0.2)), 40)

        length_of_row = random.choice([5, 30])
        sides[random.randrange(2)].append(Row((vertex(), vertex()), ts, ts + length_of_row))
    return sides


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """So many rows that tables grow and state is swept within the batch."""
    join = JOINS["chain"]
    rows = stream(3, 12_000, 12, fresh)
    operator = JoinOperator(join)
    found = run(operator, rows, (2, 2), ())
    meaning = partial(joined, join)
    for t in changes(rows)[:: len(changes(rows)) // 12]:
        assert snapshot(found, t) == meaning([snapshot(side, t) for side in rows])
    assert operator.entries < 6_000, "what expired long ago is gone"


def test_a_row_may_have_more_results_than_a_buffer_holds() -> None:
    join = JOINS["cross product"]
    rows = [Row((i, 0), 0, 5) for i in range(300)], [Row((0, i), 1, 6) for i in range(300)]
    found = run(JoinOperator(join), rows, (2, 2), ())
    assert len(found) == 300 * 300 > CHUNK
    assert set(found) == {Row((j, i, 0), 1, 5) for i in range(300) for j in range(300)}


def valid(rows: Rows, now: int) -> int:
    """Different values that are valid after ``now``."""
    return len({row.values for row in rows if row.exp > now and row.ts <= now})


def test_a_purge_keeps_exactly_the_valid_rows() -> None:
    join = JOINS["chain"]
    rows = stream(5, 3_000, 10, True)
    operator = JoinOperator(join)
    empty = operator.nbytes
    run(operator, rows, (2, 2), range(0, 300, 50))
    for now in (300, 310, 320):
        operator.purge(now)
        assert operator.entries == sum(valid(side, now) for side in rows)
    assert operator.entries > 0
    operator.purge(400)
    assert operator.entries == 0
    assert operator.nbytes == empty


def test_state_is_bounded_on_a_stream_whose_vertices_change() -> None:
    join = JOINS["chain"]
    rows = stream(7, 40_000, 10, True)
    operator = JoinOperator(join)
    sizes = sizes_over_time(operator, rows, (2, 2))
    early, late = sizes[10:100], sizes[100:]
    assert max(late)[0] <= 1.5 * max(early)[0]
    assert max(bytes_ for _, bytes_ in late) <= 2 * max(bytes_ for _, bytes_ in early)


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_valid_rows_alone_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what is still valid goes on like one that saw all."""
    join = JOINS["chain"]
    before = [[row for row in side if row.ts < now] for side in rows]
    after = [[row for row in side if row.ts >= now] for side in rows]
    kept = [[row for row in side if row.exp > now] for side in before]
    went_on, restored = JoinOperator(join), JoinOperator(join)
    run(went_on, before, (2, 2), ())
    run(restored, kept, (2, 2), ())
    expected = run(went_on, after, (2, 2), ())
    assert sorted(run(restored, after, (2, 2), ())) == sorted(expected)
    if now == 0:
        hold(expected, partial(joined, join), rows)


RESIDUALS = {
    "unequal ends": (HashJoin(((0, 1), (1, 2)), (0, 2), residual="c0 <> c2"), (0, 2)),
    "not kept": (HashJoin(((0, 1), (1, 2)), (1,), residual="c0 <> c2"), (0, 2)),
    "of a cross product": (HashJoin(((0, 1), (2, 3)), (3, 0), residual="c1 = c2"), (1, 2)),
}


@pytest.mark.parametrize("name", RESIDUALS)
def test_a_residual_is_checked_on_each_pair(name: str) -> None:
    join, (one, other) = RESIDUALS[name]
    everything = HashJoin(join.bindings, tuple(range(4 if "cross" in name else 3)))

    def meaning(inputs: Sequence[Values[int]]) -> Values[int]:
        pairs = joined(everything, inputs)
        holds = {pair for pair in pairs if (pair[one] == pair[other]) is ("cross" in name)}
        return {tuple(pair[v] for v in join.output) for pair in holds}

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        check(JoinOperator(join), meaning, rows, widths_of(join), cuts)

    holds()


COMPARISONS = [
    "c1 - c2 <= 1",
    "c1 < c2",
    "c1 <> c2",
    "c2 <= c1 + 5 AND c1 <= c2",
    "ABS(c1 - c2) <= 1 AND c0 <> c2",
    "c1 < c2 OR c0 = c1",
]
OTHERS = st.sampled_from([2**62, -(2**62), "x", "y", 2.5, None])
POOLS = st.permutations([3, 2, 0]) | st.tuples(st.sampled_from([3, 2]), OTHERS, OTHERS)


@pytest.mark.parametrize("residual", COMPARISONS)
@pytest.mark.parametrize("deleting", [False, True])
def test_what_a_kernel_checks_itself_changes_no_result(residual: str, deleting: bool) -> None:
    """Pairs are those of all pairs that the whole residual holds for, for values of any type."""
    join = HashJoin(((0, 1), (0, 2)), (1, 2, 0), residual=residual)
    everything = HashJoin(join.bindings, (0, 1, 2))

    streams = deletions.ports if deleting else ports

    @given(rows=streams((2, 2), vertices=3), pool=POOLS, cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row], ...], pool: Sequence[Value], cuts: list[int]) -> None:
        dictionary = Dictionary()
        codes = [dictionary.constant(value) for value in pool]
        coded = [
            [Row((codes[key % 2], codes[value]), ts, exp) for (key, value), ts, exp in port]
            for port in rows
        ]

        def meaning(inputs: Sequence[Values[int]]) -> Values[int]:
            pairs = sorted(joined(everything, inputs))
            columns = np.array(pairs, np.int64).reshape(len(pairs), 3).T
            values = [dictionary.decode(column) for column in columns]
            if not pairs:
                return set()
            chosen = predicates.mask(residual, values)
            return {(y, z, x) for (x, y, z), kept in zip(pairs, chosen, strict=True) if kept}

        planned = join.over_deletions() if deleting else join
        operator = JoinOperator(planned, dictionary)
        (deletions.check if deleting else check)(operator, meaning, coded, (2, 2), cuts)

    holds()


def test_pairs_that_fail_the_residual_are_dropped_however_many() -> None:
    join = HashJoin(((0, 1), (2, 3)), (0, 3), residual="c1 = c2")
    rows = [Row((i, 0), 0, 5) for i in range(300)], [Row((i, i), 1, 6) for i in range(300)]
    found = run(JoinOperator(join), rows, (2, 2), ())
    assert CHUNK < 300 * 300
    assert set(found) == {Row((i, 0), 1, 5) for i in range(300)}


def coded(dictionary: Dictionary, times: Sequence[int | str]) -> Batch:
    """Rows of a key and a time, arriving then (or, without a number, at 0)."""
    arrivals = np.array([t if isinstance(t, int) else 0 for t in times], np.int64)
    expiries = arrivals + 100
    keys = dictionary.encode(pa.array(["k"] * len(times)), expiries)
    values = [dictionary.encode(pa.array([t]), expiries[:1] + 1000)[0] for t in times]
    return Batch(np.array([keys, values], np.int64), arrivals, expiries)


def test_rows_are_released_at_their_horizon() -> None:
    dictionary = Dictionary()
    join = HashJoin(
        ((0, 1), (0, 2)), (1, 2), residual="c1 < c2 AND c2 <= c1 + 5", horizon=((1, 5), (1, -1))
    )
    operator = JoinOperator(join, dictionary)
    left, right = coded(dictionary, [0, 3, 9]), coded(dictionary, [2, 5, 8, 12])
    found = operator.process([left, right], True)
    pairs = zip(*(dictionary.decode(column).to_pylist() for column in found.columns), strict=True)
    assert sorted(pairs) == [(0, 2), (0, 5), (3, 5), (3, 8), (9, 12)]
    assert operator.entries == 3, "nothing of the right side is held"
    for now, held in ((5, 3), (6, 2), (8, 2), (9, 1), (14, 1), (15, 0)):
        fresh = JoinOperator(join, dictionary)
        fresh.process([left, right], False)
        fresh.purge(now)
        assert fresh.entries == held, now


def test_a_horizon_over_other_values_than_integers_is_ignored() -> None:
    dictionary = Dictionary()
    operator = JoinOperator(HashJoin(((0, 1), (0, 2)), (0,), horizon=((1, 0), None)), dictionary)
    operator.process([coded(dictionary, ["u", "v"]), Batch.empty(2)], True)
    operator.purge(99)
    assert operator.entries == 2
    operator.purge(100)
    assert operator.entries == 0


@pytest.mark.parametrize(
    ("join", "problem"),
    [
        (HashJoin(((0, 1), (1, 2)), (0,), residual="c0 < c3"), "c3"),
        (HashJoin(((0, 1), (1, 4)), (0,), residual="c0 < c3"), "an unbound variable"),
        (HashJoin(((0, 1), (1, 2)), (0,), residual="sleep(c0)"), "not allowed"),
        (HashJoin(((0, 1), (1, 2)), (0,), horizon=((2, 5), None)), "a horizon"),
        (HashJoin(((0, 1), (1, 2)), (0,), horizon=(None, (0, 2**62))), "a horizon"),
    ],
)
def test_invalid_joins_are_refused(join: HashJoin, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        join.output_width((2, 2))

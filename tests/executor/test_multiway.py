"""MULTIWAY_JOIN against nested loops over snapshots."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.joins import connected_to, first_orders, join_variables
from headrace.algebra.physical import MultiwayJoin
from headrace.algebra.properties import BROADCAST, hashed
from headrace.executor.batch import FOREVER
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.multiway import MultiwayOperator
from headrace.executor.partitions import Partition
from headrace.executor.spark.state import snapshot as snapshots
from headrace.executor.spark.state.snapshot import Snapshot
from tests.executor import deletions
from tests.executor.model import (
    CUTS,
    Row,
    Values,
    changes,
    check,
    is_coalesced,
    joined_at_once,
    ports,
    run,
    sizes_over_time,
    snapshot,
)
from tests.executor.spark.chain import Blobs
from tests.strategies.amount import examples


def join(
    reads: tuple[int, ...], bindings: tuple[tuple[int, ...], ...], output: tuple[int, ...]
) -> MultiwayJoin:
    return MultiwayJoin(reads, bindings, output, first_orders(bindings))


CLIQUE = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
JOINS = {
    "triangle of one relation": join((0, 0, 0), ((0, 1), (1, 2), (2, 0)), (0, 1, 2)),
    "triangle of three relations": join((0, 1, 2), ((0, 1), (1, 2), (0, 2)), (0, 2)),
    "triangle of two relations": join((0, 1, 0), ((0, 1), (1, 2), (0, 2)), (2, 1)),
    "4-clique of one relation": join((0,) * 6, CLIQUE, (0, 1, 2, 3)),
    "4-clique of two relations": join((0, 1, 0, 1, 1, 0), CLIQUE, (3, 0)),
    "4-cycle": join((0, 1, 0, 1), ((0, 1), (1, 2), (2, 3), (3, 0)), (0, 2)),
    "chain": join((0, 1, 0), ((0, 1), (1, 2), (2, 3)), (0, 3)),
    "star with private columns": join((0, 1, 0), ((0, 1), (0, 2), (0, 3)), (1, 2, 3)),
    "triangle with a pendant": join((0, 0, 0, 1), ((0, 1), (1, 2), (2, 0), (0, 3)), (3, 1)),
    "parallel atoms": join((0, 1, 0, 0), ((0, 1), (0, 1), (1, 0), (1, 2)), (0, 1, 2)),
    "triangle with columns of their own": join(
        (0, 1, 0), ((0, 1, 3), (1, 2), (2, 0, 4)), (0, 1, 2, 3, 4)
    ),
    "vertices and edges": join((1, 0, 1, 0), ((0,), (0, 1), (1,), (1, 0)), (0, 1)),
    "an atom twice": join((0, 0, 0), ((0, 1), (0, 1), (1, 0)), (0, 1)),
}


def widths_of(join: MultiwayJoin) -> list[int]:
    width = dict(zip(join.reads, map(len, join.bindings), strict=True))
    return [width[k] for k in sorted(width)]


def orders_of(join: MultiwayJoin, random: Random) -> tuple[tuple[int, ...], ...]:
    """Random prefix orders."""
    shared = join_variables(join.bindings)
    orders = []
    for binding in join.bindings:
        candidates = []
        for order in permutations(shared - set(binding)):
            bound = set(binding) & shared
            for variable in order:
                if not connected_to(join.bindings, variable) & bound:
                    break
                bound.add(variable)
            else:
                candidates.append(order)
        orders.append(random.choice(candidates))
    return tuple(orders)


def with_orders(join: MultiwayJoin, seed: int) -> MultiwayJoin:
    return replace(join, orders=orders_of(join, Random(seed)))


@pytest.mark.parametrize("name", JOINS)
def test_results_have_the_snapshots_of_nested_loops(name: str) -> None:
    @given(rows=ports(widths_of(JOINS[name])), cuts=CUTS, seed=st.integers(0, 99))
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int], seed: int) -> None:
        join, widths = with_orders(JOINS[name], seed), widths_of(JOINS[name])
        assert join.output_width(widths) == len(join.output)
        found = check(
            MultiwayOperator(join, widths), partial(joined_at_once, join), rows, widths, cuts
        )
        if {variable for binding in join.bindings for variable in binding} <= set(join.output):
            assert is_coalesced(found)

    holds()


@pytest.mark.parametrize("name", JOINS)
def test_deletions_retract_results(name: str) -> None:
    @given(rows=deletions.ports(widths_of(JOINS[name])), cuts=CUTS, seed=st.integers(0, 99))
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: list[int], seed: int) -> None:
        join, widths = with_orders(JOINS[name], seed).over_deletions(), widths_of(JOINS[name])
        operator = MultiwayOperator(join, widths)
        deletions.check(operator, partial(joined_at_once, join), rows, widths, cuts)

    holds()


@given(rows=ports((2,), vertices=3), cuts=CUTS)
@examples(60)
def test_batches_and_orders_do_not_change_the_rows(
    rows: tuple[list[Row], ...], cuts: list[int]
) -> None:
    clique = JOINS["4-clique of one relation"]
    whole = run(MultiwayOperator(clique, [2]), rows, (2,), ())
    for seed, parts in ((1, ()), (2, cuts)):
        operator = MultiwayOperator(with_orders(clique, seed), [2])
        assert sorted(run(operator, rows, (2,), parts)) == sorted(whole)


def test_each_derivation_counts_once() -> None:
    """A loop is a triangle in one way, though it takes the place of three atoms."""
    triangle = JOINS["triangle of one relation"]
    rows = [Row((1, 1), 0, 10), Row((1, 2), 1, 10), Row((2, 1), 2, 10)]
    found = Counter(run(MultiwayOperator(triangle, [2]), [rows], (2,), ()))
    assert found == Counter(
        [Row((1, 1, 1), 0, 10)]
        + [Row(values, 2, 10) for values in ((1, 1, 2), (1, 2, 1), (2, 1, 1))]
    )


def test_a_repeated_row_joins_again_only_if_it_expires_later() -> None:
    triangle = JOINS["triangle of one relation"]
    rows = [
        Row((1, 2), 0, 30),
        Row((2, 3), 1, 30),
        Row((3, 1), 2, 10),
        Row((3, 1), 3, 9),
        Row((3, 1), 4, 20),
    ]
    found = run(MultiwayOperator(triangle, [2]), [rows], (2,), ())
    turns = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    assert sorted(found) == sorted([Row(t, 2, 10) for t in turns] + [Row(t, 4, 20) for t in turns])


@given(rows=ports((2,), vertices=5), partitions=st.integers(2, 3))
@examples(30)
def test_own_values_divide_the_results(rows: tuple[list[Row], ...], partitions: int) -> None:
    """Each partition has all rows, and each result is of the partition of its variable's value."""
    dictionary = Dictionary()
    codes = dictionary.encode(pa.array(range(5)), np.full(5, FOREVER)).tolist()
    coded = [[Row(tuple(codes[x] for x in r.values), r.ts, r.exp) for r in p] for p in rows]
    triangle = JOINS["triangle of one relation"]
    whole = run(MultiwayOperator(triangle, [2]), coded, (2,), ())
    for variable in range(3):
        own = replace(triangle, own=variable)
        assert own.distribution([BROADCAST]) == hashed(variable)
        parts = []
        for number in range(partitions):
            partition = Partition(number, partitions)
            found = run(MultiwayOperator(own, [2], dictionary, partition), coded, (2,), ())
            values = np.array([row.values[variable] for row in found], np.int64)
            assert (dictionary.partitions(values, partitions) == number).all()
            parts += found
        assert sorted(parts) == sorted(whole)


def test_rows_of_a_stored_graph_never_expire() -> None:
    triangle = JOINS["triangle of two relations"]
    rows = [Row((1, 2), 0, FOREVER), Row((1, 3), 0, FOREVER)], [Row((2, 3), 900, 910)]
    operator = MultiwayOperator(triangle, [2, 2])
    assert run(operator, rows, (2, 2), (100, 800)) == [Row((3, 2), 900, 910)]
    operator.purge(10**12)
    assert operator.entries == 2


@pytest.mark.parametrize("deleting", [False, True])
def test_a_join_goes_on_from_a_snapshot(deleting: bool) -> None:
    """Snapshots of a partition have the operators pickled."""
    triangle = JOINS["triangle of two relations"]
    if deleting:
        triangle = triangle.over_deletions()
    rows = dense(7, [2, 2], deleting=deleting)
    before = [[r for r in port if r.ts < 12] for port in rows]
    after = [[r for r in port if r.ts >= 12] for port in rows]
    operator = MultiwayOperator(triangle, [2, 2])
    run(operator, before, (2, 2), ())
    blobs = Blobs()
    restored: Any = snapshots.read(snapshots.write(operator, blobs, Snapshot(), 0), blobs)
    found = run(restored, after, (2, 2), ())
    assert found == run(operator, after, (2, 2), ())
    assert found


def stream(seed: int, length: int, pace: int) -> list[Row]:
    """A long stream with hubs, whose vertices change with time."""
    random = Random(seed)
    rows = []
    for i in range(length):
        ts = i // pace
        base = ts // 20 * 10
        source, target = (base + min(int(random.expovariate(0.2)), 40) for _ in range(2))
        rows.append(Row((source, target), ts, ts + random.choice([5, 30])))
    return rows


def test_a_long_stream_in_one_batch() -> None:
    """The rows are so many that tables grow and a sweep comes within the batch."""
    triangle = JOINS["triangle of one relation"]
    rows = stream(3, 6_000, 6)
    operator = MultiwayOperator(triangle, [2])
    found = run(operator, [rows], (2,), ())
    for t in changes([rows])[:: len(changes([rows])) // 12]:
        assert snapshot(found, t) == joined_at_once(triangle, [snapshot(rows, t)])
    assert operator.entries < 3_000
    end = rows[-1].ts + 1
    operator.purge(end)
    assert operator.entries == len({r.values for r in rows if r.exp > end})


def test_memory_is_released() -> None:
    operator = MultiwayOperator(JOINS["triangle of one relation"], [2])
    sizes = sizes_over_time(operator, [stream(5, 8_000, 10)], [2])
    late = sizes[len(sizes) // 2 :]
    assert max(entries for entries, _ in late) < 1_500
    assert max(nbytes for _, nbytes in late) <= 2 * max(nbytes for _, nbytes in sizes[10:40])


def dense(seed: int, widths: Sequence[int], *, deleting: bool) -> list[list[Row]]:
    """Streams among two vertices, with four values of further columns, so that many rows join."""
    random = Random(seed)
    found: list[list[Row]] = [[] for _ in widths]
    for ts in range(24):
        for rows, width in zip(found, widths, strict=True):
            ends = [random.randrange(2) for _ in range(2)]
            values = (*ends, *(random.randrange(4) for _ in range(width - 2)))
            rows.append(Row(values, ts, ts + random.randint(1, 8)))
            lasting = [r for r in rows if r.exp > ts and Row(r.values, ts, ~r.exp) not in rows]
            if deleting and ts % 3 == 2:
                gone = random.choice(lasting)
                if deletions.held(rows, ts)[gone.values, gone.exp] > 0:
                    rows.append(Row(gone.values, ts, ~gone.exp))
    return found


RESIDUALS: dict[str, Callable[[dict[int, int]], bool]] = {
    "c0 <> c1 AND c1 <> c2": lambda row: row[0] != row[1] != row[2],
    "c3 - c4 <= 1": lambda row: row[3] - row[4] <= 1,
    "ABS(c3 - c4) <= 1 AND c0 <> c2": lambda row: abs(row[3] - row[4]) <= 1 and row[0] != row[2],
    "c3 < c4 OR c0 = c1": lambda row: row[3] < row[4] or row[0] == row[1],
    "c3 < c2": lambda row: row[3] < row[2],
}


@pytest.mark.parametrize("residual", RESIDUALS)
@pytest.mark.parametrize("deleting", [False, True])
def test_residuals_drop_results(residual: str, deleting: bool) -> None:
    plain = JOINS["triangle with columns of their own"]
    bindings, widths = plain.bindings, widths_of(plain)

    @given(seed=st.integers(0, 9_999))
    @examples(20)
    def holds(seed: int) -> None:
        rows = dense(seed, widths, deleting=deleting)
        dictionary = Dictionary()
        # Codes differ from the integers that they stand for.
        codes = dictionary.encode(pa.array([3, 2, 1, 0]), np.full(4, FOREVER))
        code = dict(zip([3, 2, 1, 0], codes.tolist(), strict=True))
        back = {c: number for number, c in code.items()}
        coded = [[Row(tuple(code[x] for x in r.values), r.ts, r.exp) for r in p] for p in rows]
        orders = orders_of(plain, Random(seed))
        join = MultiwayJoin(plain.reads, bindings, (2, 0), orders, residual=residual)
        if deleting:
            join = join.over_deletions()
        operator = MultiwayOperator(join, widths, dictionary)

        def meaning(inputs: Sequence[Values[int]]) -> Values[int]:
            decoded = [{tuple(back[x] for x in row) for row in side} for side in inputs]
            kept = joined_at_once(join, decoded, RESIDUALS[residual])
            return {tuple(code[x] for x in row) for row in kept}

        (deletions.check if deleting else check)(operator, meaning, coded, widths)

    holds()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"reads": (0, 1, 1)}, "each input is read"),
        ({"bindings": ((0, 1), (1, 2), (2, 2))}, "occurs twice"),
        ({"bindings": ((0, 1), (1, 2), (3, 4))}, "one or two variables"),
        ({"orders": ((2,), (0,), (0,))}, "an order names the shared variables"),
        ({"orders": ((2,), (0,))}, "an input and an order"),
        ({"output": (5,)}, "is not bound"),
        ({"residual": "c0 <> c9"}, "c9"),
    ],
)
def test_the_law_refuses_a_wrong_operator(changed: dict[str, Any], problem: str) -> None:
    right = MultiwayJoin(
        reads=(0, 0, 0),
        bindings=((0, 1), (1, 2), (0, 2)),
        output=(0, 1, 2),
        orders=((2,), (0,), (1,)),
    )
    wrong = replace(right, **changed)
    with pytest.raises(ValueError, match=problem):
        wrong.output_width([2])

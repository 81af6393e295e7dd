"""Joins that share the index of an input against the same joins with an index each."""

import pickle
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.join import JoinOperator
from headrace.executor.operators.shared_index import Sharing
from headrace.executor.pipeline import Pipeline, StageInput, StageNode
from headrace.executor.spark.state import snapshot as snapshots
from headrace.executor.spark.state.snapshot import Snapshot
from tests.executor.model import CUTS, Row, Rows, at, batch_of, hold, joined, ports, rows_of
from tests.executor.spark.chain import Blobs
from tests.strategies.amount import examples

JOINS = {
    10: (HashJoin(((0, 1), (1, 2)), (0, 1, 2)), (0, 1)),
    11: (HashJoin(((2, 1), (0, 1)), (0, 2)), (2, 0)),
    12: (HashJoin(((0, 1, 2), (3, 1)), (0, 2, 3)), (10, 0)),
    13: (HashJoin(((0, 1), (2, 1)), (0, 2)), (0, 0)),
}
"""Joins that read the second column of input 0; the last one on both sides."""

BY_TWO_COLUMNS = {
    20: (HashJoin(((0, 1), (0, 1, 2)), (0, 1, 2)), (0, 1)),
    21: (HashJoin(((1, 0), (0, 1)), (0, 1)), (0, 2)),
    22: (HashJoin(((0, 1), (1, 0)), (0, 1)), (2, 0)),
    23: (HashJoin(((0, 1, 2), (2, 3, 0)), (1, 3)), (1, 1)),
    24: (HashJoin(((0, 1), (1, 0)), (1, 0)), (0, 0)),
    25: (HashJoin(((3, 0, 2), (0, 1, 2)), (1, 3)), (1, 1)),
}
"""Joins by two columns of each input, which they name in ascending order and in descending order;
the last three join an input with itself. The inputs have two, three and two columns."""
WIDTHS = 2, 3, 2


def pipeline(joins: Sequence[int] = tuple(JOINS), *, deletions: bool = False) -> Pipeline:
    nodes = []
    for number in joins:
        join, inputs = JOINS[number]
        nodes.append(StageNode(number, join.over_deletions() if deletions else join, inputs))
    return Pipeline(nodes, [StageInput(k, 2) for k in range(3)], joins, Dictionary())


def by_two_columns(
    joins: Sequence[int] = tuple(BY_TWO_COLUMNS), *, deletions: bool = False
) -> Pipeline:
    nodes = [
        StageNode(number, join.over_deletions() if deletions else join, inputs)
        for number in joins
        for join, inputs in [BY_TWO_COLUMNS[number]]
    ]
    return Pipeline(nodes, [StageInput(k, WIDTHS[k]) for k in range(3)], joins, Dictionary())


def retracted(rows: Rows, seed: int) -> list[Row]:
    """Rows, and retractions of about half of them."""
    random = Random(seed)
    ends = [
        Row(row.values, ts, ~row.exp)
        for row in rows
        if random.random() < 0.5 and (ts := random.randint(row.ts, row.exp)) < row.exp
    ]
    return sorted([*rows, *ends], key=at)


def cut(
    inputs: Sequence[Rows], cuts: Sequence[int], widths: Sequence[int] = (2, 2, 2)
) -> list[list[Batch]]:
    """The batches of the inputs, cut before the given instants."""
    last = max((rows[-1].ts for rows in inputs if rows), default=0)
    batches, starts = [], [0] * len(inputs)
    for instant in [*sorted({c for c in cuts if c <= last}), last + 1]:
        ends = [bisect_left(rows, instant, key=at) for rows in inputs]
        parts = zip(inputs, starts, ends, widths, strict=True)
        batches.append([batch_of(rows[start:end], width) for rows, start, end, width in parts])
        starts = ends
    return batches


def net(rows: Rows) -> Counter[Row]:
    """How often each row comes at each ts, less its retractions at that ts."""
    counts: Counter[Row] = Counter()
    for values, ts, exp in rows:
        counts[Row(values, ts, max(exp, ~exp))] += 1 if exp >= 0 else -1
    assert [row.ts for row in rows] == sorted(row.ts for row in rows)
    return Counter({row: count for row, count in counts.items() if count})


@pytest.mark.parametrize("deletions", [False, True])
def test_joins_over_a_shared_index_give_the_rows_of_joins_with_their_own(deletions: bool) -> None:
    @given(rows=ports((2, 2, 2)), cuts=CUTS, seed=st.integers(0, 99))
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int], seed: int) -> None:
        inputs = [retracted(each, seed + k) if deletions else each for k, each in enumerate(rows)]
        sharing = pipeline(deletions=deletions)
        alone = {k: pipeline([k], deletions=deletions) for k in (10, 11)}
        of_results, twice = (
            JoinOperator(join.over_deletions() if deletions else join)
            for join, _ in (JOINS[12], JOINS[13])
        )
        for batches in cut(inputs, cuts):
            given_rows = dict(enumerate(batches))
            found = sharing.process(given_rows)
            for number, own in alone.items():
                assert rows_of(found[number]) == rows_of(own.process(given_rows)[number])
            assert rows_of(found[12]) == rows_of(of_results.process([found[10], batches[0]], True))
            expected = rows_of(twice.process([batches[0], batches[0]], True))
            assert net(rows_of(found[13])) == net(expected)

    holds()


@given(rows=ports((2, 2, 2)), cuts=CUTS)
@examples(60)
def test_each_join_over_a_shared_index_has_the_right_snapshots(
    rows: tuple[list[Row], ...], cuts: Sequence[int]
) -> None:
    running = pipeline()
    found: dict[int, list[Row]] = {number: [] for number in JOINS}
    for batches in cut(rows, cuts):
        for number, batch in running.process(dict(enumerate(batches))).items():
            found[number] += rows_of(batch)
    for number, (join, inputs) in JOINS.items():
        if number != 12:
            hold(found[number], partial(joined, join), [rows[k] for k in inputs])


@pytest.mark.parametrize("deletions", [False, True])
def test_joins_that_name_key_columns_in_other_orders_give_the_rows_of_joins_with_their_own(
    deletions: bool,
) -> None:
    """Also where a batch has the rows of both sides of a join with itself."""

    @given(rows=ports(WIDTHS, vertices=3), cuts=CUTS, seed=st.integers(0, 99))
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int], seed: int) -> None:
        inputs = [retracted(each, seed + k) if deletions else each for k, each in enumerate(rows)]
        sharing = by_two_columns(deletions=deletions)
        alone = {
            number: JoinOperator(join.over_deletions() if deletions else join)
            for number, (join, _) in BY_TWO_COLUMNS.items()
        }
        found: dict[int, list[Row]] = {number: [] for number in BY_TWO_COLUMNS}
        for batches in cut(inputs, cuts, WIDTHS):
            for number, batch in sharing.process(dict(enumerate(batches))).items():
                read = [batches[k] for k in BY_TWO_COLUMNS[number][1]]
                own = rows_of(alone[number].process(read, True))
                assert net(rows_of(batch)) == net(own), number
                found[number] += rows_of(batch)
        for number, (join, sides) in BY_TWO_COLUMNS.items():
            if not deletions:
                hold(found[number], partial(joined, join), [rows[k] for k in sides])

    holds()


def test_joins_that_name_key_columns_in_other_orders_share_an_index() -> None:
    """An input is held once for each key, by the first join that reads it by this key."""
    running = by_two_columns()
    rows = {port: many(0, 1_000 * (port + 1), width) for port, width in enumerate(WIDTHS)}
    running.process(rows)
    entries = [counters.state_entries for counters in running.counters.values()]
    assert entries == [1_000 + 2_000, 3_000, 0, 2_000, 0, 2_000]


def test_an_input_joined_with_itself_in_reverse_is_held_once() -> None:
    """The key of ``a(x, y), a(y, x)`` is (0, 1) on one side, and (1, 0) on the other."""
    running = by_two_columns([24])
    found = running.process({0: batch_of([Row((1, 2), 0, 9), Row((2, 1), 1, 5)], 2)})[24]
    assert rows_of(found) == [Row((1, 2), 1, 5), Row((2, 1), 1, 5)]
    assert running.counters[24].state_entries == 2


def many(ts: int, rows: int, width: int = 2) -> Batch:
    """Rows of one ts, valid for 10 ticks, each with a key of its own."""
    numbers = np.arange(rows, dtype=np.int64)
    times = np.full(rows, ts, np.int64)
    columns = [numbers, *[numbers + rows * ts] * (width - 1)]
    return Batch(np.array(columns), times, times + 10)


def test_a_shared_index_is_held_and_counted_once() -> None:
    sharing, alone = pipeline([10, 11]), [pipeline([10]), pipeline([11])]
    for running in (sharing, *alone):
        running.process({0: many(0, 5_000), 1: many(0, 100), 2: many(0, 200)})
    counters = sharing.counters
    assert [counters[k].state_entries for k in (10, 11)] == [5_100, 200]
    assert alone[1].counters[11].state_entries == 5_200
    both = sum(running.counters[k].state_bytes for running, k in zip(alone, (10, 11), strict=True))
    assert sum(each.state_bytes for each in counters.values()) < 0.6 * both


def test_a_shared_index_expires_once_all_readers_are_done() -> None:
    """The row of key 1 expires within the batch, after a row of the second reader has met it."""
    running = pipeline([10, 11])
    running.process({0: batch_of([Row((7, 1), 0, 5)], 2)})
    late = [Row((1, 8), 9, 20)]
    found = running.process({1: batch_of(late, 2), 2: batch_of([Row((9, 1), 4, 20), *late], 2)})
    assert rows_of(found[11]) == [Row((7, 9), 4, 5)]
    assert not rows_of(found[10])
    running.purge(9)
    assert running.counters[10].state_entries == 1, "the row of input 1"


def test_a_shared_index_does_not_grow_with_the_stream() -> None:
    running = pipeline([10, 11])
    sizes = []
    for ts in range(0, 400, 2):
        running.process({0: many(ts, 100), 1: many(ts, 1)})
        sizes.append(running.counters[10].state_bytes)
    assert max(sizes[100:]) == max(sizes[:100]), "bounded by the valid rows and a batch"


def test_a_snapshot_has_a_shared_index_once() -> None:
    running = pipeline([10, 11])
    running.process({0: many(0, 5_000)})
    size, alone = len(pickle.dumps(running)), pipeline([10])
    alone.process({0: many(0, 5_000)})
    assert size < 1.1 * len(pickle.dumps(alone))
    blobs = Blobs()
    restored: Any = snapshots.read(snapshots.write(running, blobs, Snapshot(), 0), blobs)
    after = {0: many(3, 50), 1: many(3, 50), 2: many(3, 50)}
    found, again = running.process(after), restored.process(after)
    assert [rows_of(found[k]) for k in (10, 11)] == [rows_of(again[k]) for k in (10, 11)]


def test_joins_share_an_index_of_the_same_form_alone() -> None:
    join = HashJoin(((0, 1), (1, 2)), (0, 2))
    early = HashJoin(((0, 1), (1, 2)), (0, 2), horizon=((0, 5), None))
    other_key = HashJoin(((1, 0), (1, 2)), (0, 2))
    sharing = Sharing(
        [
            (10, join, (0, 1)),
            (11, early, (0, 2)),
            (12, other_key, (0, 2)),
            (13, join.over_deletions(), (0, 2)),
            (14, early, (0, 1)),
        ]
    )
    assert sharing.of(10, 2)[0] is None
    assert sharing.of(11, 2)[0] is sharing.of(14, 2)[0] is not None
    assert sharing.of(12, 2)[0] is sharing.of(13, 2)[0] is None
    assert sharing.of(10, 2)[1] is sharing.of(14, 2)[1] is not None
    assert sharing.of(11, 2)[1] is sharing.of(12, 2)[1] is not None
    assert [len(sharing.owned(node)) for node in range(10, 15)] == [1, 2, 0, 0, 0]


def test_rows_behind_their_horizon_are_joined_and_not_held() -> None:
    """Rows of input 0 are held for two ticks after the time in their first column."""
    join = HashJoin(((0, 1), (1, 2)), (0, 2), horizon=((0, 2), None))
    dictionary = Dictionary()
    times = dictionary.encode(pa.array([0, 3, 9]), np.full(3, FOREVER))
    rows = [Row((int(code), 7), 5, 20) for code in times]
    nodes = [StageNode(10, join, (0, 1)), StageNode(11, join, (0, 2))]
    running = Pipeline(nodes, [StageInput(k, 2) for k in range(3)], [10, 11], dictionary)
    partners = [Row((7, 1), 5, 20)]
    running.process({1: batch_of(partners, 2), 2: batch_of(partners, 2)})
    found = running.process({0: batch_of(rows, 2)})
    for number in (10, 11):
        assert len(rows_of(found[number])) == 3
    assert running.counters[10].state_entries == 3, "two rows of input 0, one of input 1"

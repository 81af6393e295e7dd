"""SEMI_JOIN over streams with deletions, against nested loops over snapshots."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import SemiJoin
from headrace.executor.batch import FOREVER
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.semi_join import SemiJoinWithDeletions
from tests.executor.deletions import check, ports, valid
from tests.executor.model import CUTS, Row, Rows, run
from tests.executor.test_semi_join import CHAIN, JOINS, meaning, widths_of
from tests.strategies.amount import examples


@pytest.mark.parametrize("name", JOINS)
def test_it_has_the_snapshots_of_nested_loops(name: str) -> None:
    join = JOINS[name]

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        found = check(built(join), partial(meaning, join), rows, widths_of(join), cuts)
        assert all(row.ts < (row.exp if row.exp >= 0 else ~row.exp) for row in found)

    holds()


def built(join: SemiJoin = CHAIN) -> SemiJoinWithDeletions:
    return SemiJoinWithDeletions(join.over_deletions())


@given(rows=ports((2, 2)), cuts=CUTS)
@examples(60)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
    whole = run(built(), rows, (2, 2), ())
    assert sorted(run(built(), rows, (2, 2), cuts)) == sorted(whole)


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_valid_rows_alone_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what has not expired goes on like one that saw all."""
    before = [[row for row in side if row.ts < now] for side in rows]
    after = [[row for row in side if row.ts >= now] for side in rows]
    kept = [[row for row in side if max(row.exp, ~row.exp) > now] for side in before]
    went_on, restored = built(), built()
    run(went_on, before, (2, 2), ())
    run(restored, kept, (2, 2), ())
    for operator in (went_on, restored):
        operator.purge(now)
    assert went_on.entries == restored.entries
    assert sorted(run(went_on, after, (2, 2), ())) == sorted(run(restored, after, (2, 2), ()))


def stream(seed: int, length: int, pace: int) -> tuple[Rows, Rows]:
    """Two long streams with hubs, of which a third of the rows take back one that is valid."""
    random = Random(seed)
    sides: tuple[list[Row], list[Row]] = [], []
    still: list[tuple[int, Row]] = []
    for i in range(length):
        ts, side = i // pace, random.randrange(2)
        if still and random.random() < 0.33:
            taken, row = still.pop(random.randrange(len(still)))
            if row.exp > ts:
                sides[taken].append(Row(row.values, ts, ~row.exp))
            continue
        values = random.randrange(40), min(int(random.expovariate(0.2)), 40)
        row = Row(values if side == 0 else values[::-1], ts, ts + random.randint(1, 40))
        sides[side].append(row)
        still.append((side, row))
    return sides


def test_a_snapshot_goes_on_like_its_operator() -> None:
    rows = stream(11, 4_000, 10)
    before, after = (
        [[r for r in side if (r.ts < 200) is early] for side in rows] for early in (True, False)
    )
    operator = built()
    run(operator, before, (2, 2), ())
    copy: SemiJoinWithDeletions = pickle.loads(pickle.dumps(operator))
    assert copy.entries == operator.entries > 0
    assert run(copy, after, (2, 2), ()) == run(operator, after, (2, 2), ())


def test_a_long_stream_in_one_batch() -> None:
    """So many rows that tables grow and state is swept within the batch."""
    rows = stream(3, 12_000, 12)
    operator = built()
    found = run(operator, rows, (2, 2), ())
    instants = sorted({row.ts for side in rows for row in side})
    for t in instants[:: len(instants) // 12]:
        assert valid(found, t) == meaning(CHAIN, [valid(side, t) for side in rows])
    assert operator.entries < 6_000, "what expired or was taken back long ago is gone"


def test_a_row_is_shortened_when_the_longest_row_of_its_key_goes() -> None:
    left = [Row((1, 2), 0, 50)]
    right = [
        Row((2, 3), 1, 20), Row((2, 4), 2, 40), Row((2, 5), 3, 30),
        Row((2, 3), 4, ~20), Row((2, 4), 5, ~40), Row((2, 5), 6, ~30),
    ]  # fmt: skip
    found = check(built(), partial(meaning, CHAIN), (left, right), (2, 2))
    grown = Row((1, 2), 2, 40), Row((1, 2), 2, ~20)
    shortened = Row((1, 2), 5, 30), Row((1, 2), 5, ~40)
    assert found == [Row((1, 2), 1, 20), *grown, *shortened, Row((1, 2), 6, ~30)]


def test_each_copy_of_a_row_has_to_be_taken_back() -> None:
    left = [Row((1, 2), 0, 50), Row((1, 2), 1, 50), Row((1, 2), 5, ~50), Row((1, 2), 8, ~50)]
    right = [Row((2, 3), 2, 40), Row((2, 4), 2, 40), Row((2, 3), 3, ~40)]
    found = check(built(), partial(meaning, CHAIN), (left, right), (2, 2))
    assert found == [Row((1, 2), 2, 40), Row((1, 2), 8, ~40)]


def test_a_row_that_was_taken_back_comes_again() -> None:
    rows = [Row((1, 2), 0, 50), Row((1, 2), 2, ~50), Row((1, 2), 3, 50)], [Row((2, 3), 1, 40)]
    found = check(built(), partial(meaning, CHAIN), rows, (2, 2))
    assert found == [Row((1, 2), 1, 40), Row((1, 2), 2, ~40), Row((1, 2), 3, 40)]


def test_rows_of_a_stored_graph_never_expire() -> None:
    rows = [Row((1, 2), 0, FOREVER)], [Row((2, 3), 900, FOREVER), Row((2, 3), 950, ~FOREVER)]
    operator = built()
    found = run(operator, rows, (2, 2), (100, 800))
    assert found == [Row((1, 2), 900, FOREVER), Row((1, 2), 950, ~FOREVER)]
    operator.purge(10**12)
    assert operator.entries == 1, "the row; nothing is left of its key"


def test_a_key_may_have_more_rows_than_a_buffer_holds() -> None:
    count = CHUNK + 10
    left = [Row((i, 0), 0, 50) for i in range(count)]
    right = [Row((0, 1), 1, 20), Row((0, 1), 2, 30), Row((0, 1), 3, ~30), Row((0, 1), 4, ~20)]
    found = run(built(), (left, right), (2, 2), ())
    assert [sum(row.ts == t for row in found) for t in range(1, 5)] == [
        count, 2 * count, 2 * count, count,
    ]  # fmt: skip

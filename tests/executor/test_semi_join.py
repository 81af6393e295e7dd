"""SEMI_JOIN against nested loops over snapshots."""

import pickle
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin, SemiJoin
from headrace.algebra.properties import ANY, BROADCAST, SINGLE, UpdatePattern, hashed
from headrace.executor.batch import FOREVER
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.semi_join import SemiJoinOperator
from tests.executor.model import CUTS, Row, Values, check, joined, ports, run, snapshot
from tests.executor.test_join import stream
from tests.strategies.amount import examples

CHAIN = SemiJoin(((0, 1), (1, 2)), (0, 1))
JOINS = {
    "chain": CHAIN,
    "star": SemiJoin(((0, 1), (0, 2)), (0, 1)),
    "two keys": SemiJoin(((0, 1), (1, 0)), (1, 0)),
    "second column of the second input": SemiJoin(((0, 1), (2, 0)), (0, 1)),
    "keys alone": SemiJoin(((0,), (0,)), (0,)),
    "wide": SemiJoin(((0, 1, 2, 3), (3, 4, 1)), (2, 0)),
    "key not kept": SemiJoin(((0, 1), (1, 2)), (0,)),
    "no columns kept": SemiJoin(((0, 1), (1, 2)), ()),
}


def meaning(join: SemiJoin, inputs: Sequence[Values[int]]) -> Values[int]:
    return joined(HashJoin(join.bindings, join.output), inputs)


def widths_of(join: SemiJoin) -> list[int]:
    return [len(binding) for binding in join.bindings]


def is_coalesced(rows: list[Row]) -> bool:
    """Whether each row expires later than all earlier rows of its value."""
    latest: dict[tuple[int, ...], int] = {}
    for row in rows:
        if latest.get(row.values, 0) >= row.exp:
            return False
        latest[row.values] = row.exp
    return True


@pytest.mark.parametrize("name", JOINS)
def test_semi_join_has_the_snapshots_of_nested_loops(name: str) -> None:
    join = JOINS[name]

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
        operator = SemiJoinOperator(join)
        found = check(operator, partial(meaning, join), rows, widths_of(join), cuts)
        assert not join.coalesces or is_coalesced(found)

    holds()


@given(rows=ports((2, 2)), cuts=CUTS)
@examples(60)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
    whole = run(SemiJoinOperator(CHAIN), rows, (2, 2), ())
    assert sorted(run(SemiJoinOperator(CHAIN), rows, (2, 2), cuts)) == sorted(whole)


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_valid_rows_alone_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what is still valid goes on like one that saw all."""
    before = [[row for row in side if row.ts < now] for side in rows]
    after = [[row for row in side if row.ts >= now] for side in rows]
    kept = [[row for row in side if row.exp > now] for side in before]
    went_on, restored = SemiJoinOperator(CHAIN), SemiJoinOperator(CHAIN)
    run(went_on, before, (2, 2), ())
    run(restored, kept, (2, 2), ())
    went_on.purge(now)
    restored.purge(now)
    assert went_on.entries == restored.entries
    assert sorted(run(went_on, after, (2, 2), ())) == sorted(run(restored, after, (2, 2), ()))


def test_a_snapshot_goes_on_like_its_operator() -> None:
    rows = stream(11, 4_000, 10, True)
    before, after = (
        [[r for r in s if (r.ts < 200) is early] for s in rows] for early in (True, False)
    )
    operator = SemiJoinOperator(CHAIN)
    run(operator, before, (2, 2), ())
    copy: SemiJoinOperator = pickle.loads(pickle.dumps(operator))
    assert copy.entries == operator.entries > 0
    assert run(copy, after, (2, 2), ()) == run(operator, after, (2, 2), ())


def test_a_row_is_given_when_its_key_comes_and_when_the_key_lasts_longer() -> None:
    left = [Row((1, 2), 0, 10)]
    right = [Row((2, 3), 4, 6), Row((2, 4), 5, 6), Row((2, 5), 5, 8), Row((2, 6), 7, 20)]
    rows = left, [*right, Row((2, 7), 8, 30)]
    found = check(SemiJoinOperator(CHAIN), partial(meaning, CHAIN), rows, (2, 2))
    assert found == [Row((1, 2), 4, 6), Row((1, 2), 5, 8), Row((1, 2), 7, 10)]


def test_a_covered_row_is_given_again_when_it_lasts_longer() -> None:
    """Two rows of a key are covered by its first right row, one returns, and the key goes on."""
    left = [Row((1, 2), 0, 5), Row((4, 2), 0, 5), Row((1, 2), 2, 9), Row((4, 2), 3, 4)]
    rows = (left, [Row((2, 3), 1, 7), Row((2, 3), 6, 12), Row((2, 8), 8, 20)])
    found = check(SemiJoinOperator(CHAIN), partial(meaning, CHAIN), rows, (2, 2))
    both = [Row((1, 2), 1, 5), Row((4, 2), 1, 5)]
    assert sorted(found) == [both[0], Row((1, 2), 2, 7), Row((1, 2), 6, 9), both[1]]


def test_rows_of_a_stored_graph_never_expire() -> None:
    rows = [Row((1, 2), 0, FOREVER)], [Row((2, 3), 900, 910)]
    operator = SemiJoinOperator(CHAIN)
    assert run(operator, rows, (2, 2), (100, 800)) == [Row((1, 2), 900, 910)]
    operator.purge(10**12)
    assert operator.entries == 1


def test_a_key_may_have_more_rows_than_a_buffer_holds() -> None:
    """A key that never lasts as long as its rows, and then one that covers them."""
    rows = CHUNK + 10
    left = [Row((i, 0), 0, 50) for i in range(rows)]
    right = [Row((0, 1), 1, 20), Row((0, 1), 2, 30), Row((0, 1), 3, 60), Row((0, 1), 4, 70)]
    found = run(SemiJoinOperator(CHAIN), (left, right), (2, 2), ())
    assert len(found) == 3 * rows
    assert {row.exp for row in found} == {20, 30, 50}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """There are so many rows that tables grow, and state is swept within the batch."""
    rows = stream(3, 12_000, 12, fresh)
    operator = SemiJoinOperator(CHAIN)
    found = run(operator, rows, (2, 2), ())
    assert is_coalesced(found)
    instants = sorted({row.ts for side in rows for row in side})
    for t in instants[:: len(instants) // 12]:
        assert snapshot(found, t) == meaning(CHAIN, [snapshot(side, t) for side in rows])
    assert operator.entries < 6_000, "what expired long ago is gone"


def test_the_law_of_distribution() -> None:
    assert CHAIN.distribution((hashed(1), hashed(0))) == hashed(1)
    assert CHAIN.distribution((hashed(0), BROADCAST)) == hashed(0)
    assert CHAIN.distribution((SINGLE, BROADCAST)) == SINGLE
    assert CHAIN.distribution((BROADCAST, BROADCAST)) == BROADCAST
    assert SemiJoin(((0, 1), (1, 2)), (0,)).distribution((hashed(1), hashed(0))) == ANY
    for refused in ((hashed(0), hashed(0)), (ANY, BROADCAST), (BROADCAST, hashed(0))):
        with pytest.raises(ValueError, match="may lie apart"):
            CHAIN.distribution(refused)
    for tried in CHAIN.input_distributions((2, 2)):
        CHAIN.distribution(tried)


def test_over_deletions_a_variant_takes_its_place() -> None:
    appended, retracted = UpdatePattern.APPEND_ONLY, UpdatePattern.WITH_DELETIONS
    assert CHAIN.update_pattern_over([appended, appended]) is appended
    variant = CHAIN.over_deletions()
    assert variant.update_pattern_over([appended, retracted]) is retracted
    assert CHAIN.coalesces
    assert not variant.coalesces, "the longer row of a value comes before the shorter one is gone"
    assert not variant.ends_deletions, "bags need no coalesced inputs"
    with pytest.raises(ValueError, match="not made for deletions"):
        CHAIN.update_pattern_over([retracted, appended])
    with pytest.raises(ValueError, match="is made for deletions"):
        variant.update_pattern_over([appended, appended])


@pytest.mark.parametrize(
    ("join", "problem"),
    [
        (SemiJoin(((0, 1), (1, 2)), (2,)), "not of the first input"),
        (SemiJoin(((0, 1), (2, 3)), (0,)), "share no variable"),
        (SemiJoin(((0, 0), (0, 1)), (0,)), "occurs twice"),
        (SemiJoin(((0, 1), (1, 2, 3)), (0,)), "3 variables for 2 columns"),
    ],
)
def test_invalid_semi_joins_are_refused(join: SemiJoin, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        join.output_width((2, 2))

"""ANTI_JOIN against NOT EXISTS over snapshots."""

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import AntiJoin
from headrace.algebra.properties import ANY, BROADCAST, NOTHING, SINGLE, UpdatePattern, hashed
from headrace.executor.batch import FOREVER
from headrace.executor.operators.anti_join import AntiJoinOperator
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.coalesce import CoalesceWithDeletions
from tests.executor import deletions
from tests.executor.deletions import changes, held, valid
from tests.executor.model import CUTS, Row, Rows, Values, batch_of, ports, rows_of, run
from tests.executor.test_join import stream
from tests.strategies.amount import examples

CHAIN = AntiJoin(((0, 1), (1,)))
JOINS = {
    "second column": CHAIN,
    "first column": AntiJoin(((0, 1), (0,))),
    "keys alone": AntiJoin(((0,), (0,))),
    "both columns": AntiJoin(((0, 1), (0, 1))),
    "both columns, turned": AntiJoin(((0, 1), (1, 0))),
    "wide": AntiJoin(((0, 1, 2, 3), (3, 1))),
}


def meaning(join: AntiJoin, inputs: Sequence[Values[int]]) -> Values[int]:
    return {row for row in inputs[0] if tuple(row[k] for k in join.keys) not in inputs[1]}


def widths_of(join: AntiJoin) -> list[int]:
    return [len(binding) for binding in join.bindings]


def ended(
    operator: AntiJoinOperator, rows: Sequence[Rows], widths: Sequence[int], cuts: Sequence[int]
) -> list[Row]:
    """The results up to the end of the input."""
    return [*run(operator, rows, widths, cuts), *rows_of(operator.advance(FOREVER, True))]


def hold(join: AntiJoin, found: Rows, rows: Sequence[Rows]) -> None:
    """Each snapshot is right, nothing is taken back that is not there, and no row is empty."""
    for t in changes(rows):
        assert valid(found, t) == meaning(join, [valid(side, t) for side in rows]), f"at {t}"
    assert [row.ts for row in found] == sorted(row.ts for row in found)
    assert all(row.ts < (row.exp if row.exp >= 0 else ~row.exp) for row in found)
    for t in {row.ts for row in found}:
        counts = held(found, t)
        assert all(n >= 0 for n in counts.values())
        begun = {row.values for row in found if row.ts == t and row.exp >= 0}
        gone = {row.values for row in found if row.ts == t and row.exp < 0}
        assert begun & gone <= valid(found, t), "no row begins and ends at one instant"


@pytest.mark.parametrize("name", JOINS)
def test_anti_join_has_the_snapshots_of_not_exists(name: str) -> None:
    join = JOINS[name]

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(25)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        hold(join, ended(AntiJoinOperator(join), rows, widths_of(join), cuts), rows)

    holds()


@pytest.mark.parametrize("name", JOINS)
def test_over_coalesced_inputs_with_deletions_it_has_the_right_snapshots(name: str) -> None:
    join = JOINS[name]

    @given(rows=deletions.ports(widths_of(join)), cuts=CUTS)
    @examples(25)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        sides = [
            run(CoalesceWithDeletions(width), [side], [width], ())
            for side, width in zip(rows, widths_of(join), strict=True)
        ]
        operator = AntiJoinOperator(join.over_deletions())
        hold(join, ended(operator, sides, widths_of(join), cuts), rows)

    holds()


@given(rows=ports((2, 1)), cuts=CUTS)
@examples(25)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
    whole = ended(AntiJoinOperator(CHAIN), rows, (2, 1), ())
    assert sorted(ended(AntiJoinOperator(CHAIN), rows, (2, 1), cuts)) == sorted(whole)


@given(rows=ports((2, 1)), now=st.integers(0, 60))
@examples(60)
def test_the_rows_of_its_retention_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what its retention keeps goes on like one that saw all.

    The rows of ``now`` came too, and their instant is not over.
    """
    before = [[row for row in side if row.ts <= now] for side in rows]
    after = [[row for row in side if row.ts > now] for side in rows]
    kept = [[row for row in side if row.exp > now - CHAIN.retention()] for side in before]
    went_on, restored = AntiJoinOperator(CHAIN), AntiJoinOperator(CHAIN)
    for operator, seen in ((went_on, before), (restored, kept)):
        operator.process([batch_of(s, w) for s, w in zip(seen, (2, 1), strict=True)], True)
        operator.advance(now, True)
    going, anew = (ended(o, after, (2, 1), ()) for o in (went_on, restored))
    assert sorted(going) == sorted(anew)


def test_a_snapshot_goes_on_like_its_operator() -> None:
    left, right = stream(11, 4_000, 10, True)
    sides = left, [Row(row.values[:1], *row[1:]) for row in right]
    before, after = (
        [[r for r in s if (r.ts < 200) is early] for s in sides] for early in (True, False)
    )
    operator = AntiJoinOperator(CHAIN)
    run(operator, before, (2, 1), ())
    copy: AntiJoinOperator = pickle.loads(pickle.dumps(operator))
    assert copy.entries == operator.entries > 0
    assert run(copy, after, (2, 1), ()) == run(operator, after, (2, 1), ())


def test_a_row_ends_with_a_match_and_begins_again_after_the_last_one() -> None:
    left = [Row((1, 2), 0, 20)]
    right = [Row((2,), 4, 6), Row((2,), 5, 8), Row((2,), 12, 15)]
    found = ended(AntiJoinOperator(CHAIN), (left, right), (2, 1), ())
    both = Row((1, 2), 8, 20), Row((1, 2), 12, ~20)
    assert found == [Row((1, 2), 0, 20), Row((1, 2), 4, ~20), *both, Row((1, 2), 15, 20)]


def test_an_instant_counts_when_it_is_over() -> None:
    """A row and its match of one instant, in batches of their own, give nothing."""
    operator = AntiJoinOperator(CHAIN)
    nothing = [batch_of([], 2), batch_of([], 1)]
    assert not len(operator.process([batch_of([Row((1, 2), 3, 9)], 2), nothing[1]], True))
    assert not len(operator.advance(3, True))
    operator.process([nothing[0], batch_of([Row((2,), 3, 5)], 1)], True)
    assert not len(operator.advance(3, True))
    assert not len(operator.advance(5, True)), "at 5 another match may still come"
    operator.process([nothing[0], batch_of([Row((2,), 5, 7)], 1)], True)
    assert not len(operator.advance(7, True))
    assert rows_of(operator.advance(8, True)) == [Row((1, 2), 7, 9)]


def test_a_row_that_grows_is_given_anew_before_its_shorter_form_is_retracted() -> None:
    rows = [Row((1, 2), 0, 5), Row((1, 2), 3, 9)], [Row((2,), 7, 8)]
    found = ended(AntiJoinOperator(CHAIN), rows, (2, 1), ())
    grown = Row((1, 2), 3, 9), Row((1, 2), 3, ~5)
    assert found == [Row((1, 2), 0, 5), *grown, Row((1, 2), 7, ~9), Row((1, 2), 8, 9)]


def test_rows_of_a_stored_graph_never_expire() -> None:
    rows = [Row((1, 2), 0, FOREVER)], [Row((2,), 900, 910)]
    found = ended(AntiJoinOperator(CHAIN), rows, (2, 1), (100, 800))
    assert found == [Row((1, 2), 0, FOREVER), Row((1, 2), 900, ~FOREVER), Row((1, 2), 910, FOREVER)]


def test_a_key_may_have_more_rows_than_a_buffer_holds() -> None:
    count = CHUNK + 10
    left = [Row((i, 0), 0, 50) for i in range(count)]
    found = ended(AntiJoinOperator(CHAIN), (left, [Row((0,), 1, 20)]), (2, 1), ())
    assert len(found) == 3 * count
    assert {row.exp for row in found} == {50, ~50}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """So many rows that tables grow and state is swept within the batch."""
    left, right = stream(3, 12_000, 12, fresh)
    rows = left, [Row(row.values[:1], *row[1:]) for row in right]
    operator = AntiJoinOperator(CHAIN)
    found = ended(operator, rows, (2, 1), ())
    instants = sorted({row.ts for side in rows for row in side})
    for t in instants[:: len(instants) // 12]:
        assert valid(found, t) == meaning(CHAIN, [valid(side, t) for side in rows])
    assert operator.entries < 6_000, "what expired long ago is gone"


def test_the_law_of_distribution() -> None:
    assert CHAIN.distribution((hashed(1), hashed(0))) == hashed(1)
    assert CHAIN.distribution((hashed(0), BROADCAST)) == hashed(0)
    assert CHAIN.distribution((SINGLE, BROADCAST)) == SINGLE
    assert CHAIN.distribution((BROADCAST, BROADCAST)) == BROADCAST
    assert CHAIN.distribution((hashed(0), NOTHING)) == hashed(0)
    assert CHAIN.distribution((NOTHING, hashed(0))) == NOTHING
    for refused in ((hashed(0), hashed(0)), (ANY, BROADCAST), (BROADCAST, hashed(0))):
        with pytest.raises(ValueError, match="may lie apart"):
            CHAIN.distribution(refused)
    for tried in CHAIN.input_distributions((2, 1)):
        CHAIN.distribution(tried)


def test_its_rows_have_deletions_over_any_inputs() -> None:
    appended, retracted = UpdatePattern.APPEND_ONLY, UpdatePattern.WITH_DELETIONS
    assert CHAIN.update_pattern_over([appended, appended]) is retracted
    assert CHAIN.over_deletions().update_pattern_over([appended, retracted]) is retracted
    with pytest.raises(ValueError, match="not made for deletions"):
        CHAIN.update_pattern_over([retracted, appended])
    with pytest.raises(ValueError, match="is made for deletions"):
        CHAIN.over_deletions().update_pattern_over([appended, appended])


@pytest.mark.parametrize(
    ("join", "problem"),
    [
        (AntiJoin(((0, 1), ())), "share no variable"),
        (AntiJoin(((0, 1), (2,))), "is not of the first"),
        (AntiJoin(((0, 0), (0,))), "occurs twice"),
        (AntiJoin(((0, 1), (1, 0))), "2 variables for 1 columns"),
    ],
)
def test_invalid_anti_joins_are_refused(join: AntiJoin, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        join.output_width((2, 0 if not join.bindings[1] else 1))

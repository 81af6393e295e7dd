"""LEFT_JOIN against nested loops over snapshots."""

import pickle
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import LeftJoin
from headrace.algebra.properties import ANY, BROADCAST, NOTHING, SINGLE, UpdatePattern, hashed
from headrace.executor.batch import FOREVER
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.coalesce import CoalesceWithDeletions
from headrace.executor.operators.left_join import (
    LeftJoinOperator,
    LeftJoinWithDeletions,
    left_join,
)
from tests.executor import deletions
from tests.executor.deletions import changes, held, valid
from tests.executor.model import CUTS, Row, Rows, Values, batch_of, ports, rows_of, run
from tests.executor.test_join import stream
from tests.strategies.amount import examples

CHAIN = LeftJoin(((0, 1), (1, 2)))
JOINS = {
    "second column": CHAIN,
    "first column": LeftJoin(((0, 1), (2, 0))),
    "keys alone": LeftJoin(((0,), (0,))),
    "both columns": LeftJoin(((0, 1), (0, 1))),
    "two columns of its own": LeftJoin(((0, 1), (2, 1, 3))),
    "wide": LeftJoin(((0, 1, 2), (2, 3, 0))),
}
VALUES = 100
"""The codes of the dictionary below the one of missing values."""


def built(join: LeftJoin) -> LeftJoinOperator | LeftJoinWithDeletions:
    """The operator, with a dictionary in which rows have codes below :data:`VALUES`."""
    dictionary = Dictionary()
    dictionary.encode(pa.array(range(VALUES)), batch_of([Row((), 0, FOREVER)] * VALUES, 0).exp)
    assert dictionary.constant(None) == VALUES
    return left_join(join, dictionary)


def meaning(join: LeftJoin, inputs: Sequence[Values[int]]) -> Values[int]:
    found: Values[int] = set()
    for row in inputs[0]:
        known = dict(zip(join.bindings[0], row, strict=True))
        others = [dict(zip(join.bindings[1], other, strict=True)) for other in inputs[1]]
        matches = [o for o in others if all(o[v] == known[v] for v in o.keys() & known.keys())]
        for match in matches or [dict.fromkeys(join.own, VALUES)]:
            found.add(tuple({**match, **known}[v] for v in join.output))
    return found


def widths_of(join: LeftJoin) -> list[int]:
    return [len(binding) for binding in join.bindings]


def ended(
    operator: LeftJoinOperator | LeftJoinWithDeletions,
    rows: Sequence[Rows],
    widths: Sequence[int],
    cuts: Sequence[int],
) -> list[Row]:
    """The results up to the end of the input."""
    return [*run(operator, rows, widths, cuts), *rows_of(operator.advance(FOREVER, True))]


def hold(join: LeftJoin, found: Rows, rows: Sequence[Rows]) -> None:
    """Each snapshot is right, and nothing is taken back that is not there."""
    for t in changes(rows):
        assert valid(found, t) == meaning(join, [valid(side, t) for side in rows]), f"at {t}"
    assert all(row.ts < (row.exp if row.exp >= 0 else ~row.exp) for row in found)
    for t in {row.ts for row in found}:
        assert all(n >= 0 for n in held(found, t).values())


@pytest.mark.parametrize("name", JOINS)
def test_left_join_has_the_right_snapshots(name: str) -> None:
    join = JOINS[name]

    @given(rows=ports(widths_of(join)), cuts=CUTS)
    @examples(25)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        hold(join, ended(built(join), rows, widths_of(join), cuts), rows)

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
        hold(join, ended(built(join.over_deletions()), sides, widths_of(join), cuts), rows)

    holds()


@given(rows=ports((2, 2)), now=st.integers(0, 60))
@examples(60)
def test_the_rows_of_its_retention_restore_the_state(rows: tuple[list[Row], ...], now: int) -> None:
    """An operator that saw only what its retention keeps goes on like one that saw all.

    The rows of ``now`` came too, and their instant is not over.
    """
    before = [[row for row in side if row.ts <= now] for side in rows]
    after = [[row for row in side if row.ts > now] for side in rows]
    kept = [[row for row in side if row.exp > now - CHAIN.retention()] for side in before]
    went_on, restored = built(CHAIN), built(CHAIN)
    for operator, seen in ((went_on, before), (restored, kept)):
        operator.process([batch_of(side, 2) for side in seen], True)
        operator.advance(now, True)
    going, anew = (ended(o, after, (2, 2), ()) for o in (went_on, restored))
    assert sorted(going) == sorted(anew)


def test_a_snapshot_goes_on_like_its_operator() -> None:
    sides = stream(11, 4_000, 10, True)
    before, after = (
        [[r for r in s if (r.ts < 200) is early] for s in sides] for early in (True, False)
    )
    operator = built(CHAIN)
    run(operator, before, (2, 2), ())
    copy = pickle.loads(pickle.dumps(operator))
    assert copy.entries == operator.entries > 0
    assert run(copy, after, (2, 2), ()) == run(operator, after, (2, 2), ())
    assert operator.nbytes > 0


def test_the_row_without_a_match_ends_with_a_match_and_begins_again_after_the_last_one() -> None:
    left = [Row((1, 2), 0, 20)]
    right = [Row((2, 7), 4, 6), Row((2, 8), 5, 8)]
    found = ended(built(CHAIN), (left, right), (2, 2), ())
    pairs = {Row((1, 2, 7), 4, 6), Row((1, 2, 8), 5, 8)}
    alone = [Row((1, 2, VALUES), *times) for times in ((0, 20), (4, ~20), (8, 20))]
    assert set(found) == {*pairs, *alone}


def test_a_key_matches_until_the_last_of_its_rows_is_deleted() -> None:
    left = [Row((1, 2), 0, 20)]
    right = [Row((2, 7), 1, 9), Row((2, 8), 2, 9), Row((2, 7), 3, ~9), Row((2, 8), 5, ~9)]
    found = ended(built(CHAIN.over_deletions()), (left, right), (2, 2), ())
    assert valid(found, 4) == {(1, 2, 8)}
    assert valid(found, 5) == {(1, 2, VALUES)}


def test_rows_that_move_to_smaller_arrays_lose_their_last_match_in_time() -> None:
    operator = built(CHAIN)
    lasting = [Row((row, row), 0, 500) for row in range(10)]
    passing = [Row((row % 90, row // 90), 0, 50) for row in range(900)]
    matches = [Row((row, row), 0, 100 + row) for row in range(10)]
    run(operator, (lasting + passing, matches), (2, 2), ())
    operator.advance(60, True)
    large = operator.nbytes
    operator.purge(60)
    assert operator.nbytes < large / 2
    alone = rows_of(operator.advance(FOREVER, True))
    assert alone == [Row((row, row, VALUES), 100 + row, 500) for row in range(10)]


def test_an_instant_counts_when_it_is_over() -> None:
    """A row and its match of one instant, in batches of their own, give the pair alone."""
    operator = built(CHAIN)
    nothing = batch_of([], 2)
    operator.process([batch_of([Row((1, 2), 3, 9)], 2), nothing], True)
    assert not len(operator.advance(3, True))
    pairs = operator.process([nothing, batch_of([Row((2, 5), 3, 5)], 2)], True)
    assert rows_of(pairs) == [Row((1, 2, 5), 3, 5)]
    assert not len(operator.advance(5, True)), "at 5 another match may still come"
    assert rows_of(operator.advance(6, True)) == [Row((1, 2, VALUES), 5, 9)]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool) -> None:
    """So many rows that tables grow and state is swept within the batch."""
    rows = [[Row(tuple(v % VALUES for v in r.values), *r[1:]) for r in s]
            for s in stream(3, 6_000, 12, fresh)]  # fmt: skip
    operator = built(CHAIN)
    found = ended(operator, rows, (2, 2), ())
    instants = sorted({row.ts for side in rows for row in side})
    for t in instants[:: len(instants) // 6]:
        assert valid(found, t) == meaning(CHAIN, [valid(side, t) for side in rows])
    assert operator.entries < 9_000, "what expired long ago is gone"


def test_the_law_of_distribution() -> None:
    assert CHAIN.distribution((hashed(1), hashed(0))) == hashed(1)
    assert CHAIN.distribution((hashed(0), BROADCAST)) == hashed(0)
    assert CHAIN.distribution((SINGLE, BROADCAST)) == SINGLE
    assert CHAIN.distribution((hashed(0), NOTHING)) == hashed(0)
    assert CHAIN.distribution((NOTHING, hashed(0))) == NOTHING
    for refused in ((hashed(0), hashed(0)), (ANY, BROADCAST), (BROADCAST, hashed(0))):
        with pytest.raises(ValueError, match="may lie apart"):
            CHAIN.distribution(refused)
    for tried in CHAIN.input_distributions((2, 2)):
        CHAIN.distribution(tried)


def test_its_rows_have_deletions_over_any_inputs() -> None:
    appended, retracted = UpdatePattern.APPEND_ONLY, UpdatePattern.WITH_DELETIONS
    assert CHAIN.update_pattern_over([appended, appended]) is retracted
    assert CHAIN.over_deletions().update_pattern_over([appended, retracted]) is retracted
    with pytest.raises(ValueError, match="not made for deletions"):
        CHAIN.update_pattern_over([retracted, appended])


@pytest.mark.parametrize(
    ("join", "problem"),
    [
        (LeftJoin(((0, 1), (2, 3))), "share no variable"),
        (LeftJoin(((0, 0), (0, 1))), "occurs twice"),
        (LeftJoin(((0, 1), (1,))), "1 variables for 2 columns"),
    ],
)
def test_invalid_left_joins_are_refused(join: LeftJoin, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        join.output_width((2, 2))

"""TOP_K against sorting each snapshot."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.orders import shortest, total
from headrace.algebra.physical import TopRows
from headrace.algebra.properties import ANY, BROADCAST, NOTHING, SINGLE, UpdatePattern, hashed
from headrace.executor.batch import FOREVER
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.aggregate import codes_of
from headrace.executor.operators.base import CHUNK
from headrace.executor.operators.coalesce import CoalesceWithDeletions
from headrace.executor.operators.top import TopOperator
from tests.executor import deletions
from tests.executor.deletions import changes, held, valid
from tests.executor.model import CUTS, Row, Rows, Values, batch_of, ports, rows_of, run
from tests.executor.test_join import stream
from tests.strategies.amount import examples

POOL: Sequence[Any] = (
    3, "abcdefgh", None, 2.5, -1, True, "abcdefgz", "", -0.5, False, 2**62, 2.0**62, "b", -(2**63),
    2**53 + 1, "\u00e9", "abcdefg", 5e-324, math.inf, 0,
)  # fmt: skip
"""Values in the order of their codes."""
TOPS = {
    "by the last column, descending": TopRows(((1, "desc"),), 2),
    "by the first": TopRows((), 1),
    "by both": TopRows(((1, "asc"), (0, "desc")), 3),
    "more than there are": TopRows(((1, "desc"),), 1000),
    "the second": TopRows(((1, "desc"),), 1, offset=1),
    "after two": TopRows(((1, "asc"), (0, "desc")), 2, offset=2),
    "all but the first": TopRows((), 1000, offset=1),
    "after more than there are": TopRows((), 3, offset=1000),
}


def dictionary() -> Dictionary:
    """A dictionary that has the values of the pool in their order."""
    own = Dictionary()
    for code, value in enumerate(POOL):
        assert codes_of([value], np.array([FOREVER]), own).tolist() == [code]
    return own


def integers(most: int) -> Dictionary:
    """A dictionary in which each integer below ``most`` has itself as code."""
    own = Dictionary()
    codes = codes_of(range(most), np.full(most, FOREVER, np.int64), own)
    assert codes.tolist() == list(range(most))
    return own


def operator_of(top: TopRows, width: int = 2) -> TopOperator:
    return TopOperator(top, width, dictionary())


def order_of(one: Any, other: Any) -> int:
    """Numbers, strings, truth values; an integer comes before an equal float."""

    def rank(value: Any) -> int:
        return 2 if isinstance(value, bool) else 1 if isinstance(value, str) else 0

    keys = [(rank(v), v, isinstance(v, float)) for v in (one, other)]
    return (keys[0] > keys[1]) - (keys[0] < keys[1])


def first_rows(top: TopRows, rows: Values[int]) -> Values[int]:
    """The first rows of a set of codes after the offset, by the values of the pool."""

    def compared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
        for column, direction in total(top.order, len(one)):
            a, b = POOL[one[column]], POOL[other[column]]
            if one[column] != other[column]:
                if a is None or b is None:
                    return 1 if a is None else -1
                return order_of(a, b) * (-1 if direction == "desc" else 1)
        return 0

    before = top.offset or 0
    return set(sorted(rows, key=cmp_to_key(compared))[before : before + top.limit])


def ended(operator: TopOperator, rows: Rows, width: int, cuts: Sequence[int]) -> list[Row]:
    """The results up to the end of the input."""
    return [*run(operator, [rows], [width], cuts), *rows_of(operator.advance(FOREVER, True))]


def hold(top: TopRows, found: Rows, rows: Rows) -> None:
    """Each snapshot is right, and a value has one row at most, which is never empty."""
    for t in changes([rows]):
        assert valid(found, t) == first_rows(top, valid(rows, t)), f"at {t}"
    assert [row.ts for row in found] == sorted(row.ts for row in found)
    assert all(row.ts < (row.exp if row.exp >= 0 else ~row.exp) for row in found)
    for t in {row.ts for row in found}:
        counts = held(found, t)
        assert all(n >= 0 for n in counts.values())
        alive = [values for (values, exp), n in counts.items() if n > 0 and exp > t]
        assert len(alive) == len(set(alive)), "coalesced"


@pytest.mark.parametrize("name", TOPS)
def test_it_has_the_first_rows_of_each_snapshot(name: str) -> None:
    top = TOPS[name]

    @given(rows=ports((2,), vertices=len(POOL)), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        hold(top, ended(operator_of(top), rows[0], 2, cuts), rows[0])

    holds()


@pytest.mark.parametrize("name", TOPS)
def test_over_a_coalesced_input_with_deletions_it_has_the_right_snapshots(name: str) -> None:
    top = TOPS[name]

    @given(rows=deletions.ports((2,), vertices=len(POOL)), cuts=CUTS)
    @examples(40)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        side = run(CoalesceWithDeletions(2), rows, [2], ())
        hold(top, ended(operator_of(top.over_deletions()), side, 2, cuts), rows[0])

    holds()


@given(
    codes=st.lists(st.integers(0, len(POOL) - 1), min_size=1, unique=True),
    descends=st.booleans(),
    limit=st.integers(1, len(POOL)),
    offset=st.integers(0, 4),
)
@examples(60)
def test_values_of_all_types_are_ordered(
    codes: list[int], descends: bool, limit: int, offset: int
) -> None:
    top = TopRows(((0, "desc"),) if descends else (), limit, offset=offset or None)
    found = ended(operator_of(top, 1), [Row((code,), 0, 5) for code in codes], 1, ())
    rows: Values[int] = {(code,) for code in codes}
    assert {row.values for row in found} == first_rows(top, rows)
    assert len(found) == max(min(limit, len(codes) - offset), 0)


@given(rows=ports((2,), vertices=len(POOL)), cuts=CUTS)
@examples(25)
def test_batches_do_not_change_the_rows(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
    top = TOPS["by both"]
    whole = ended(operator_of(top), rows[0], 2, ())
    assert sorted(ended(operator_of(top), rows[0], 2, cuts)) == sorted(whole)


@given(
    rows=ports((2,), vertices=len(POOL)),
    now=st.integers(0, 60),
    name=st.sampled_from(["by the last column, descending", "after two"]),
)
@examples(60)
def test_the_rows_of_its_lookback_restore_the_state(
    rows: tuple[list[Row], ...], now: int, name: str
) -> None:
    """An operator that saw only the rows that its lookback keeps goes on like one that saw all.

    The rows of ``now`` came too, and their instant is not over.
    """
    top = TOPS[name]
    before = [row for row in rows[0] if row.ts <= now]
    after = [row for row in rows[0] if row.ts > now]
    kept = [row for row in before if row.exp > now - top.lookback]
    went_on, restored = operator_of(top), operator_of(top)
    for operator, seen in ((went_on, before), (restored, kept)):
        operator.process([batch_of(seen, 2)], True)
        operator.advance(now, True)
    assert sorted(ended(went_on, after, 2, ())) == sorted(ended(restored, after, 2, ()))


def test_a_row_is_pushed_out_and_begins_again() -> None:
    rows = [Row((0, 4), 0, 20), Row((1, 0), 4, 9)]
    found = ended(operator_of(TopRows(((1, "desc"),), 1)), rows, 2, ())
    assert found == [
        Row((0, 4), 0, 20), Row((1, 0), 4, 9), Row((0, 4), 4, ~20), Row((0, 4), 9, 20),
    ]  # fmt: skip


def test_a_row_before_the_offset_moves_those_behind_it() -> None:
    rows = [Row((0, 4), 0, 20), Row((1, 0), 4, 9)]
    found = ended(operator_of(TopRows(((1, "desc"),), 1, offset=1)), rows, 2, ())
    assert found == [Row((0, 4), 4, 20), Row((0, 4), 9, ~20)]
    before = [Row((1, 0), 0, 20), Row((0, 4), 4, 9)]
    again = ended(operator_of(TopRows((), 1, offset=1)), before, 2, ())
    assert again == [Row((1, 0), 4, 20), Row((1, 0), 9, ~20)]


def test_an_instant_counts_when_it_is_over() -> None:
    operator = operator_of(TopRows(((1, "desc"),), 1))
    operator.process([batch_of([Row((0, 4), 3, 9)], 2)], True)
    assert not len(operator.advance(3, True))
    operator.process([batch_of([Row((0, 0), 3, 5)], 2)], True)
    assert not len(operator.advance(3, True))
    assert rows_of(operator.advance(5, True)) == [Row((0, 0), 3, 5)]
    operator.process([batch_of([Row((0, 0), 5, 7)], 2)], True)
    assert rows_of(operator.advance(8, True)) == [Row((0, 0), 5, 7), Row((0, 4), 7, 9)]


def test_a_row_that_grows_is_retracted_before_its_longer_form_is_given() -> None:
    rows = [Row((0, 4), 0, 5), Row((0, 4), 3, 9)]
    found = ended(operator_of(TopRows((), 1)), rows, 2, ())
    assert found == [Row((0, 4), 0, 5), Row((0, 4), 3, ~5), Row((0, 4), 3, 9)]


def test_rows_of_a_stored_graph_never_expire() -> None:
    rows = [Row((0, 4), 0, FOREVER), Row((0, 0), 900, 910)]
    found = ended(operator_of(TopRows(((1, "desc"),), 1)), rows, 2, (100, 800))
    assert found[-1] == Row((0, 4), 910, FOREVER)


def test_more_rows_may_change_at_an_instant_than_a_buffer_holds() -> None:
    count = CHUNK + 10
    operator = TopOperator(TopRows((), count), 1, integers(count + 1))
    found = ended(operator, [Row((code,), 0, 50) for code in range(count + 1)], 1, ())
    assert len(found) == count


@pytest.mark.parametrize("offset", [0, 5])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_long_stream_in_one_batch(fresh: bool, offset: int) -> None:
    """So many rows that the store grows, and others leave it, within the batch."""
    rows, _ = stream(3, 12_000, len(POOL), fresh)
    top = TopRows(((1, "desc"),), 7, offset=offset or None)
    operator = TopOperator(top, 2, integers(1 + max(code for row in rows for code in row.values)))
    found = ended(operator, rows, 2, ())
    instants = sorted({row.ts for row in rows})
    for t in instants[:: len(instants) // 12]:
        first = sorted(valid(rows, t), key=lambda row: (-row[1], row[0]))
        assert valid(found, t) == set(first[offset : offset + 7])
    assert operator.entries == 0


def test_a_snapshot_goes_on_like_its_operator() -> None:
    rows, _ = stream(11, 4_000, len(POOL), False)
    most = 1 + max(code for row in rows for code in row.values)
    operator = TopOperator(TopRows(((1, "desc"),), 3), 2, integers(most))
    run(operator, [[row for row in rows if row.ts < 200]], [2], ())
    copy: TopOperator = pickle.loads(pickle.dumps(operator))
    assert copy.entries == operator.entries > 0
    after = [[row for row in rows if row.ts >= 200]]
    assert run(copy, after, [2], ()) == run(operator, after, [2], ())


def test_the_law_of_distribution() -> None:
    top = TopRows((), 1)
    for lies in (SINGLE, BROADCAST, NOTHING):
        assert top.distribution((lies,)) == lies
    for refused in (ANY, hashed(0)):
        with pytest.raises(ValueError, match="first among all"):
            top.distribution((refused,))
    assert list(top.input_distributions((2,))) == [(SINGLE,)]
    assert top.coalesces


def test_the_law_of_distribution_of_the_first_rows_of_each_partition() -> None:
    top = TopRows((), 1, partial=True)
    for lies in (ANY, hashed(1), SINGLE, BROADCAST, NOTHING):
        assert top.distribution((lies,)) == lies
    assert list(top.input_distributions((2,))) == [(ANY,), (hashed(0),), (hashed(1),)]
    assert not top.coalesces, "two partitions may have one value"
    assert top.keeps_coalesced((2,))
    assert top.over_deletions().coalesces, "its input is coalesced"
    assert top.repeats((2,)) == "dropped"


@given(rows=ports((2,), vertices=len(POOL)), parts=st.lists(st.integers(0, 2), min_size=1))
@examples(40)
def test_first_rows_are_among_those_of_each_part(
    rows: tuple[list[Row], ...], parts: list[int]
) -> None:
    """Rows of one value lie on any part, and the rows of all parts are coalesced."""
    top = TOPS["by both"]
    divided: list[list[Row]] = [[], [], []]
    for number, row in enumerate(rows[0]):
        divided[parts[number % len(parts)]].append(row)
    first = [ended(operator_of(replace(top, partial=True)), part, 2, ()) for part in divided]
    united = sorted((row for part in first for row in part), key=lambda row: row.ts)
    side = run(CoalesceWithDeletions(2), [united], [2], ())
    hold(top, ended(operator_of(top.over_deletions()), side, 2, ()), rows[0])


def test_its_rows_have_deletions_over_any_input() -> None:
    top = TopRows((), 1)
    appended, retracted = UpdatePattern.APPEND_ONLY, UpdatePattern.WITH_DELETIONS
    assert top.update_pattern_over([appended]) is retracted
    assert top.over_deletions().update_pattern_over([retracted]) is retracted
    with pytest.raises(ValueError, match="not made for deletions"):
        top.update_pattern_over([retracted])


@pytest.mark.parametrize(
    ("top", "problem"),
    [
        (TopRows(((2, "asc"),), 1), "no such column"),
        (TopRows(((1, "asc"), (1, "desc")), 1), "occurs twice"),
        (TopRows((), 0), "not a number of rows"),
        (TopRows((), 1, offset=-1), "offset is not a number of rows"),
        (TopRows((), 1, partial=True, offset=1), "no row of a partition is left out"),
    ],
)
def test_invalid_tops_are_refused(top: TopRows, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        top.output_width((2,))


def test_an_order_leaves_out_what_follows_from_it() -> None:
    assert shortest([(0, "asc"), (1, "asc")]) == ()
    assert shortest([(1, "desc"), (0, "asc"), (1, "asc")]) == ((1, "desc"),)
    assert shortest([(1, "asc"), (0, "asc")]) == ((1, "asc"),)
    assert shortest([(2, "asc"), (1, "asc")]) == ((2, "asc"), (1, "asc"))
    assert total(((1, "desc"),), 3) == ((1, "desc"), (0, "asc"), (2, "asc"))

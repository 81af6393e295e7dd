"""REWINDOW: each run of a value is valid in the window in which it begins."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.batch import FOREVER, Batch
from headrace.executor.operators.rewindow import RewindowOperator
from tests.strategies.amount import examples

Row = tuple[int, int, int]


def batch(rows: list[Row]) -> Batch:
    values, ts, exp = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Batch(values.reshape(1, -1), ts, exp)


def lines(found: Batch) -> list[Row]:
    columns = (found.columns[0].tolist(), found.ts.tolist(), found.exp.tolist())
    return list(zip(*columns, strict=True))


def test_a_run_ends_with_its_first_window() -> None:
    operator = RewindowOperator(1, 10, 5)
    rows = [
        (1, 3, 6),
        (1, 5, 9),
        (2, 6, 30),
        (1, 9, 20),
        (1, 12, 40),
        (2, 31, 50),
        (2, 45, FOREVER),
    ]
    assert lines(operator.process([batch(rows)], True)) == [
        (1, 3, 6),
        (1, 5, 9),
        (2, 6, 15),
        (1, 9, 10),
        (2, 31, 40),
    ]


def test_a_row_at_the_end_of_a_run_continues_it_and_a_later_row_does_not() -> None:
    operator = RewindowOperator(1, 6, 1)
    assert lines(operator.process([batch([(1, 0, 4)])], True)) == [(1, 0, 4)]
    operator.purge(4)
    assert operator.entries == 1
    assert lines(operator.process([batch([(1, 4, 9)])], True)) == [(1, 4, 6)]
    operator.purge(10)
    assert operator.entries == 0
    assert lines(operator.process([batch([(1, 10, 12)])], True)) == [(1, 10, 12)]


drawn = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 0, 1, 1, 2, 5]), st.integers(1, 9)),
    min_size=1,
    max_size=30,
)


def timed(steps: list[tuple[int, int, int]]) -> list[Row]:
    now, rows = 0, []
    for value, gap, lasting in steps:
        now += gap
        rows.append((value, now, now + lasting))
    return rows


def meant(rows: list[Row], length: int, slide: int) -> set[tuple[int, int]]:
    """The values and instants of a window over rows, by counting instants."""
    valid: dict[int, set[int]] = defaultdict(set)
    for value, ts, exp in rows:
        valid[value].update(range(ts, exp))
    found = set()
    for value, instants in valid.items():
        start = None
        for before, now in pairwise([-2, *sorted(instants)]):
            start = now if start is None or now != before + 1 else start
            if now < start // slide * slide + length:
                found.add((value, now))
    return found


def instants(found: list[Row]) -> set[tuple[int, int]]:
    return {(value, t) for value, ts, exp in found for t in range(ts, exp)}


@given(steps=drawn, length=st.integers(1, 12), slide=st.integers(1, 5), cut=st.integers(0, 30))
@examples(200)
def test_rewindow_equals_a_count_per_tick_also_after_a_restore(
    steps: list[tuple[int, int, int]], length: int, slide: int, cut: int
) -> None:
    slide = min(slide, length)
    rows = timed(steps)
    wanted = meant(rows, length, slide)
    assert (
        instants(lines(RewindowOperator(1, length, slide).process([batch(rows)], True))) == wanted
    )

    first, second = rows[:cut], rows[cut:]
    operator = RewindowOperator(1, length, slide)
    operator.records_runs = True
    found = []
    for part in (first[: len(first) // 2], first[len(first) // 2 :]):
        if part:
            found += lines(operator.process([batch(part)], True))
            operator.tick(part[-1][1])
    if second and first:
        now = first[-1][1]
        runs = [row for kept in operator.recorded_runs for row in lines(kept) if row[2] > now]
        operator = RewindowOperator(1, length, slide)
        runs.sort(key=lambda row: row[1])
        operator.restore_runs(batch(runs) if runs else Batch.empty(1))
        again = [row for row in first if row[2] > now]
        if again:
            operator.process([batch(again)], False)
        else:
            operator.process([Batch.empty(1)], False)
    if second:
        found += lines(operator.process([batch(second)], True))
    assert instants(found) == wanted

"""EVENT_REPORT: the state of the operator, and many values at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace.algebra.aggregates import ReportMode
from headrace.algebra.physical import (
    Coalesce,
    EventReportRows,
    PhysicalOperator,
    ToKernel,
    WindowScan,
)
from headrace.algebra.plan_parts import PlanError
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.local import run_plan
from headrace.executor.operators.event_report import EventReportOperator
from tests.executor.plans import plan_of

MANY = 3_000
NO_ROWS = Batch.empty(1)


def rows_of(dictionary: Dictionary, values: range, ts: int, exp: int) -> Batch:
    """A row of each value, all with one validity."""
    times, until = (np.full(len(values), time, np.int64) for time in (ts, exp))
    return Batch(dictionary.encode(pa.array(values), until).reshape(1, -1), times, until)


def event(dictionary: Dictionary, ts: int) -> Batch:
    """A row of an event."""
    return rows_of(dictionary, range(1), ts, ts + 1)


def said(dictionary: Dictionary, *batches: Batch) -> list[tuple[int, Any]]:
    """The instants and values of reports."""
    return sorted(
        (int(ts), value)
        for batch in batches
        for ts, value in zip(batch.ts, dictionary.decode(batch.columns[0]).to_pylist(), strict=True)
    )


def built(
    mode: ReportMode, dictionary: Dictionary, events: int = 1, start: int | None = None
) -> EventReportOperator:
    operator = EventReportOperator(EventReportRows(mode, events, start=start), 1, dictionary)
    operator.records_changes = True
    return operator


@pytest.mark.parametrize("mode", ["entering", "snapshot"])
def test_a_report_waits_until_time_is_past_its_instant(mode: ReportMode) -> None:
    dictionary = Dictionary()
    operator = built(mode, dictionary)
    first = operator.process([rows_of(dictionary, range(1), 3, 9), event(dictionary, 3)], True)
    assert len(first) + len(operator.advance(3, True)) == 0
    # Another value of the instant comes later; what comes at 5 is not in the report.
    more = rows_of(dictionary, range(1, 2), 3, 9)
    later = rows_of(dictionary, range(2, 3), 5, 9)
    both = Batch(
        *(np.concatenate(pair, axis=-1) for pair in zip(more.arrays, later.arrays, strict=True))
    )
    found = operator.process([both, NO_ROWS], True)
    assert said(dictionary, found, operator.advance(5, True)) == [(3, 0), (3, 1)]


@pytest.mark.parametrize(("mode", "at"), [("entering", 1), ("snapshot", 1), ("exit", 7)])
def test_many_values_enter_and_leave_at_once(mode: ReportMode, at: int) -> None:
    dictionary = Dictionary()
    operator = built(mode, dictionary)
    values = rows_of(dictionary, range(MANY), 1, 5)
    found = [operator.process([values, event(dictionary, 1)], True), operator.advance(2, True)]
    found.append(operator.process([NO_ROWS, event(dictionary, 7)], True))
    found.append(operator.advance(FOREVER, True))
    assert said(dictionary, *found) == [(at, value) for value in range(MANY)]


def test_values_that_come_and_go_between_reports_are_dropped() -> None:
    dictionary = Dictionary()
    operator = built("exit", dictionary, events=1_000)
    for ts in range(200):
        rows = rows_of(dictionary, range(10 * ts, 10 * ts + 10), ts, ts + 2)
        operator.process([rows, event(dictionary, ts)], True)
        operator.advance(ts + 1, True)
        dictionary.purge(ts + 1)
    assert operator.entries <= 20
    assert len(operator.advance(FOREVER, True)) == 0


def test_a_value_that_left_is_kept_for_the_next_report() -> None:
    """Its code is not given to another value meanwhile."""
    dictionary = Dictionary()
    operator = built("exit", dictionary)
    operator.process([rows_of(dictionary, range(3), 1, 4), event(dictionary, 1)], True)
    for now in (2, 50, 60, 70):
        assert len(operator.advance(now, True)) == 0
        dictionary.purge(now)
        rows_of(dictionary, range(100 * now, 100 * now + 9), now, now + 1)
    operator.process([NO_ROWS, event(dictionary, 80)], True)
    assert said(dictionary, operator.advance(81, True)) == [(80, 0), (80, 1), (80, 2)]


@pytest.mark.parametrize("mode", ["entering", "exit", "snapshot"])
def test_a_restored_operator_goes_on(mode: ReportMode) -> None:
    """The last report had values from 0 on; those below 1,000 left it and others came."""
    dictionary = Dictionary()
    one = built(mode, dictionary, events=2)
    old = rows_of(dictionary, range(1_000), 1, 4)
    kept = rows_of(dictionary, range(1_000, MANY), 2, FOREVER)
    fresh = rows_of(dictionary, range(MANY, MANY + 500), 5, FOREVER)
    changes = []
    for rows, ts in ((old, 1), (kept, 2), (fresh, 5)):
        one.process([rows, event(dictionary, ts)], True)
        one.advance(ts, True)
        changes.append(one.open_row_changes())
    one.advance(6, True)
    changes.append(one.open_row_changes())
    open_rows: dict[tuple[int, ...], tuple[Batch, int]] = {}
    for batch in changes:
        for i, key in enumerate(map(tuple, batch.columns[:-1].T.tolist())):
            open_rows.pop(key, None)
            if batch.exp[i] == FOREVER:
                open_rows[key] = (batch, i)
    stored = [
        Batch(batch.columns[:, [i]], batch.ts[[i]], batch.exp[[i]])
        for batch, i in open_rows.values()
    ]
    restored = Batch(
        *(np.concatenate(parts, axis=-1) for parts in zip(*(b.arrays for b in stored), strict=True))
    )
    other = built(mode, dictionary, events=2)
    for rows, ts in ((kept, 2), (fresh, 5)):
        other.process([rows, event(dictionary, ts)], False)
    other.advance(6, False)
    other.restore_open_rows(restored, 6)
    for operator in (one, other):
        operator.process([NO_ROWS, event(dictionary, 9)], True)
    expected = said(dictionary, one.advance(FOREVER, True))
    assert len(expected) == {"entering": 500, "exit": 1_000, "snapshot": MANY - 500}[mode]
    assert said(dictionary, other.advance(FOREVER, True)) == expected


def test_events_before_the_start_are_not_counted() -> None:
    dictionary = Dictionary()
    operator = built("snapshot", dictionary, events=2, start=4)
    operator.process([rows_of(dictionary, range(1), 1, FOREVER), NO_ROWS], True)
    for ts in (1, 3, 4, 6, 7):
        operator.process([NO_ROWS, event(dictionary, ts)], True)
    assert said(dictionary, operator.advance(FOREVER, True)) == [(6, 0)]


A, B = (WindowScan("s", label, 6, 1) for label in "ab")
REFUSED: dict[str, tuple[tuple[tuple[PhysicalOperator, tuple[int, ...]], ...], str]] = {
    "no events": (((A, ()), (EventReportRows("exit", 1), (0,))), "others of events"),
    "no number of events": (
        ((A, ()), (B, ()), (EventReportRows("exit", 0), (0, 1))),
        "number of events between its reports is not positive",
    ),
    "a negative start": (
        ((A, ()), (B, ()), (EventReportRows("exit", 1, start=-1), (0, 1))),
        "its first instant is negative",
    ),
    "events of which some are dropped": (
        (
            *((A, ()), (B, ()), (ToKernel(), (1,)), (Coalesce(), (2,))),
            (EventReportRows("exit", 1), (0, 3)),
        ),
        "COALESCE drops rows that it counts",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_counts_wrong_is_refused(name: str) -> None:
    nodes, why = REFUSED[name]
    with pytest.raises(PlanError, match=why):
        list(run_plan(plan_of(list(nodes)), []))

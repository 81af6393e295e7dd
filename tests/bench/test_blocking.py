"""The blocking time of a page, read from a trace."""

from __future__ import annotations

from typing import Any

import pytest

from bench.blocking import Blocking

PAINT = {"name": "firstContentfulPaint", "pid": 1, "tid": 2, "ts": 50_000}


TASK = "ThreadControllerImpl::RunTask"
MICROTASKS = "BlinkScheduler_PerformMicrotaskCheckpoint"


def task(start_ms: float, cpu_ms: float, *, thread: int = 2, name: str = TASK) -> dict[str, Any]:
    """A task whose wall time is twice its processor time."""
    times = {"ts": 1000 * start_ms, "dur": 2000 * cpu_ms, "tdur": 1000 * cpu_ms}
    return {"name": name, "pid": 1, "tid": thread, **times}


def test_only_the_part_of_a_task_beyond_50_ms_blocks() -> None:
    events = [PAINT, task(60, 10), task(100, 20), task(200, 15)]
    assert Blocking.of(events) == Blocking(blocking_ms=40, longest_ms=80, busy_ms=180)


def test_tasks_before_the_first_paint_and_of_other_threads_do_not_block() -> None:
    events = [task(0, 20), task(60, 90, thread=3), PAINT, task(60, 5)]
    assert Blocking.of(events) == Blocking(blocking_ms=0, longest_ms=20, busy_ms=100)


def test_microtasks_behind_a_task_block_and_those_within_one_are_part_of_it() -> None:
    within = task(101, 5, name=MICROTASKS)
    behind = task(140, 30, name=MICROTASKS)
    assert Blocking.of([PAINT, within, behind, task(100, 20)]) == Blocking(100, 120, 200)


def test_a_task_that_has_not_ended_is_left_out() -> None:
    unfinished = {**task(60, 0), "ph": "B"}
    del unfinished["dur"], unfinished["tdur"]
    assert Blocking.of([PAINT, unfinished]) == Blocking(0, 0, 0)


def test_a_page_that_paints_nothing_has_no_blocking_time() -> None:
    with pytest.raises(ValueError, match="first paint"):
        Blocking.of([task(0, 1)])

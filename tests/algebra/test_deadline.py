"""The one deadline of a request, on a clock that the tests set."""

from __future__ import annotations

import pytest

from headrace.algebra import deadline
from headrace.algebra.deadline import LEAST_MS, NO_DEADLINE, Deadline, OutOfTimeError


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(deadline, "perf_counter", found)
    return found


def test_a_part_of_the_budget_passes_before_the_whole(clock: Clock) -> None:
    limit = Deadline(1000)
    clock.now = 0.8
    assert limit.passed(0.75) == "budget_ms"
    assert limit.passed() is None
    clock.now = 1.1
    assert limit.passed() == "budget_ms"


def test_cancelled_is_polled_until_it_returns_true(clock: Clock) -> None:
    answers = [False, True]
    limit = Deadline(cancelled=lambda: answers.pop(0))
    assert limit.passed() is None
    assert limit.passed() == "cancelled"
    assert limit.passed() == "cancelled"


def test_steps_before_the_first_plan_have_a_least_time(clock: Clock) -> None:
    limit = Deadline(1)
    clock.now = LEAST_MS / 1000
    limit.check("reading")
    clock.now += 0.001
    with pytest.raises(OutOfTimeError, match="while reading") as raised:
        limit.check("reading")
    assert raised.value.reason == "budget_ms"


def test_steps_before_the_first_plan_may_exceed_the_budget(clock: Clock) -> None:
    limit = Deadline(10_000)
    clock.now = 14.9
    limit.check("entering", budgets=1.5)
    with pytest.raises(OutOfTimeError):
        limit.check("reading")


def test_steps_before_the_first_plan_end_soon_after_cancelling(clock: Clock) -> None:
    limit = Deadline(cancelled=lambda: clock.now > 5)
    clock.now = 5.1
    limit.check("reading")
    clock.now = 5.2 + LEAST_MS / 1000
    with pytest.raises(OutOfTimeError) as raised:
        limit.check("reading")
    assert raised.value.reason == "cancelled"


def test_no_deadline_never_passes(clock: Clock) -> None:
    clock.now = 1e9
    NO_DEADLINE.check("anything")
    assert NO_DEADLINE.passed() is None
    assert not NO_DEADLINE.interruptible


def test_work_of_the_process_takes_no_time_of_a_request(clock: Clock) -> None:
    limit = Deadline(2000)
    with limit.paused():
        clock.now = 30.0
    assert limit.elapsed_ms() == 0.0
    clock.now = 31.9
    limit.check("the query was read")
    clock.now = 32.1
    with pytest.raises(OutOfTimeError):
        limit.check("the query was read")

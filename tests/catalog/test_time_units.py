"""The unit of ``ts`` is guessed from the values."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headrace.catalog.time_units import date_of, guessed_time_unit

AT = 1_700_000_000


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("second", 1), ("millisecond", 10**3), ("microsecond", 10**6), ("nanosecond", 10**9)],
)
@pytest.mark.parametrize("read_as", ["second", "millisecond", "day"])
def test_machine_timestamps_have_one_plausible_unit(unit: str, factor: int, read_as: str) -> None:
    guess = guessed_time_unit(AT * factor, (AT + 86_400) * factor, read_as)
    assert guess.unit == unit
    assert "2023-11-14 to 2023-11-15" in guess.reason


@pytest.mark.parametrize("span", [(0, 4_999), (-5, 10), (1, 10**12), (10**18 * 8, 10**18 * 9)])
def test_other_numbers_are_a_plain_counter(span: tuple[int, int]) -> None:
    guess = guessed_time_unit(*span, "second")
    assert guess.unit is None
    assert f"{span[0]} to {span[1]}" in guess.reason


def test_a_declared_unit_counts_if_it_gives_dates() -> None:
    assert guessed_time_unit(14_975, 15_000, "day").unit == "day"
    assert guessed_time_unit(14_975, 15_000, "second").unit is None
    assert guessed_time_unit(14_975, 15_000, "step").unit is None


def test_timestamps_are_not_guessed() -> None:
    guess = guessed_time_unit(0, 10, "minute", dates=True)
    assert guess.unit == "minute"
    assert "timestamps" in guess.reason


def test_dates_of_times() -> None:
    assert date_of(AT, "second") == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert date_of(1_999, "nanosecond") == datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)
    assert date_of(5, "step") is None
    assert date_of(10**18, "second") is None

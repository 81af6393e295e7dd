from __future__ import annotations

import math

import pytest

from headrace.documents.numbers import duration, number, per_unit, printable, share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.0001, "1.0e-04"), (0.025, "0.025"), (1, "1"), (12.345, "12.3"),
        (999.4, "999"), (999.6, "1k"), (1234, "1.23k"), (999_600, "1M"), (2.5e6, "2.5M"),
        (7e14, "700T"), (1e18, "1.0e+18"), (math.inf, "∞"),
    ],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("ticks", "unit", "text"),
    [
        (30 * 86400, "second", "30d"), (90, "second", "1.5m"), (3600, "second", "1h"),
        (0.5, "second", "500ms"), (None, "second", "∞"), (math.inf, "second", "∞"),
        (1500, "millisecond", "1.5s"), (2, "day", "2d"), (0, "second", "0s"),
        (40, "tick", "40"),
    ],
)  # fmt: skip
def test_durations_use_the_largest_whole_unit(ticks: float | None, unit: str, text: str) -> None:
    assert duration(ticks, unit) == text


def test_shares_are_percentages() -> None:
    assert [share(1, 3), share(1, 1000), share(0, 5), share(5, 0)] == ["33%", "<1%", "0%", "0%"]


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\nb\\u202e"
    assert printable("größe ⋈ 数") == "größe ⋈ 数"


@pytest.mark.parametrize(
    ("unit", "rate", "sign", "shown"),
    [
        ("second", 5.0, "s", "5"), ("second", 0.5, "min", "30"), ("second", 1 / 3600, "h", "1"),
        ("second", 1e-9, "d", "8.6e-05"), ("millisecond", 0.02, "s", "20"),
        ("hour", 0.5, "d", "12"), ("day", 0.001, "d", "0.001"), ("tick", 0.001, "tick", "0.001"),
        ("second", 0.0, "s", "0"),
    ],
)  # fmt: skip
def test_rates_use_a_unit_with_at_least_one_row(
    unit: str, rate: float, sign: str, shown: str
) -> None:
    per = per_unit(unit, rate)
    assert per(rate) == shown
    assert per.sign == sign

"""Lengths of time: read in every notation, written back exactly, refused with a reason."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import durations
from headrace.algebra.durations import DurationError, unit


@pytest.mark.parametrize(
    ("text", "time_unit", "ticks"),
    [
        ("24h", "second", 86_400),
        ("24 H", "second", 86_400),
        ("24 hours", "second", 86_400),
        ("1 Week", "day", 7),
        ("1w", "second", 604_800),
        ("500ms", "millisecond", 500),
        ("1.5s", "millisecond", 1_500),
        ("2m", "second", 120),
        ("0.5 d", "hour", 12),
        ("100", "second", 100),
        ("100", "furlong", 100),
        ("PT4H", "second", 14_400),
        ("pt1m30s", "second", 90),
        ("P1DT12H", "hour", 36),
        ("P2W", "day", 14),
        ("PT0.25S", "millisecond", 250),
        (" 30d ", "second", 2_592_000),
        ("3us", "microsecond", 3),
        ("0", "second", 0),
    ],
)
def test_a_duration_is_read_in_ticks(text: str, time_unit: str, ticks: int) -> None:
    assert durations.ticks(text, time_unit) == ticks


@pytest.mark.parametrize(
    ("text", "time_unit", "reason"),
    [
        ("1.5s", "second", "not a whole number of seconds"),
        ("90m", "hour", "not a whole number of hours"),
        ("1.5", "second", "no unit"),
        ("3y", "second", "'y' is not a unit of time"),
        ("P1M", "second", "months and years have no fixed length"),
        ("P1Y2D", "second", "months and years have no fixed length"),
        ("P", "second", "not a length of time"),
        ("PT", "second", "not a length of time"),
        ("P1DT", "second", "not a length of time"),
        ("", "second", "not a length of time"),
        ("-5s", "second", "not a length of time"),
        ("soon", "second", "not a length of time"),
        ("5s", "furlong", "cannot be counted in the time unit 'furlong'"),
        ("9" * 5000, "second", "not a length of time"),
        ("99999999999999w", "second", "is too long"),
    ],
)
def test_text_other_than_a_duration_is_refused(text: str, time_unit: str, reason: str) -> None:
    with pytest.raises(DurationError, match=reason):
        durations.ticks(text, time_unit)


@given(
    st.integers(0, 10**12),
    st.sampled_from(["microsecond", "millisecond", "second", "minute", "hour", "day", "tick"]),
)
def test_a_written_duration_reads_as_the_same_ticks(count: int, time_unit: str) -> None:
    assert durations.ticks(durations.text(count, time_unit), time_unit) == count


@given(st.text(alphabet="0123456789.PTYMWDHSpmsdh -", max_size=12))
def test_any_text_reads_as_ticks_or_is_refused(text: str) -> None:
    with suppress(DurationError):
        assert durations.ticks(text) >= 0


@pytest.mark.parametrize(
    ("count", "time_unit", "text"),
    [
        (2_592_000, "second", "30d"),
        (90_000, "second", "25h"),
        (90, "second", "90s"),
        (90, "minute", "90m"),
        (1_500, "millisecond", "1500ms"),
        (0, "second", "0"),
        (7, "day", "7d"),
        (5, "step", "5"),
    ],
)
def test_a_duration_is_written_in_its_largest_unit(count: int, time_unit: str, text: str) -> None:
    assert durations.text(count, time_unit) == text


def test_units_are_read_under_their_full_name() -> None:
    assert {unit(text) for text in ("ms", "MS", "millisecond", "milliseconds")} == {"millisecond"}
    assert [unit(text) for text in ("s", "min", "hrs", "us")] == [
        "second", "minute", "hour", "microsecond",
    ]  # fmt: skip
    assert [unit(text) for text in ("step", "Tick", " ")] == ["step", "Tick", " "]

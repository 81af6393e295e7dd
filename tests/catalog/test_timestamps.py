"""Timestamps against Python's own datetime and int."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog.timestamps import (
    finer_unit,
    microseconds_per_tick,
    ticks_of_texts,
    ticks_of_times,
    whole_numbers,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {"microsecond": 1, "millisecond": 1_000, "second": 1_000_000, "day": 86_400_000_000}


def ticks(*texts: str | None, unit: str = "second") -> list[int | None]:
    result: list[int | None] = ticks_of_texts(pa.array(texts, pa.string()), unit).to_pylist()
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("007", 7),
        (" 12 ", 12),
        ("-5", -5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("0000000000000000000000000001", 1),
        ("1" * 5000, None),
        ("+5", None),
        ("0x1F", None),
        ("1_000", None),
        ("1e3", None),
        ("1.0", None),
        ("٣", None),
        ("", None),
        (None, None),
        ("abc", None),
        ("1970-01-01", 0),
        ("1970-01-02T00:00", 86400),
        ("1970-01-01 00:00:59", 59),
        ("1970-01-01T00:00:59.999999", 59),
        ("1970-01-01T00:00:59.999999999", 59),
        ("1969-12-31T23:59:59.5", -1),
        ("2016-03-06T10:00:00Z", 1457258400),
        ("2016-03-06T12:00:00+02:00", 1457258400),
        ("2016-03-06T12:00:00+0200", 1457258400),
        ("20160306T100000Z", 1457258400),
        ("2016-02-30", None),
        ("2016-13-01T00:00:00Z", None),
        ("24:00", None),
    ],
)
def test_ticks_of_a_text_alone_and_among_others(text: str | None, expected: int | None) -> None:
    assert ticks(text) == [expected]
    # In company, where other texts take the fast ways.
    assert ticks("7", text, "1970-01-01T00:00:08", "1970-01-01T00:00:09Z") == [7, expected, 8, 9]


def test_a_date_has_no_ticks_in_a_unit_without_length() -> None:
    assert ticks("5", "1970-01-01", unit="step") == [5, None]
    assert microseconds_per_tick("step") is None
    assert ticks_of_times(pa.array([5], pa.timestamp("s")), "step").to_pylist() == [None]


def test_arrow_times_of_every_type_become_ticks() -> None:
    for kind in (pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns", "Europe/Paris")):
        moments = pa.array([EPOCH + timedelta(seconds=90)], pa.timestamp("us", "UTC")).cast(kind)
        assert ticks_of_times(moments, "second").to_pylist() == [90]
    assert ticks_of_times(pa.array([1], pa.date32()), "second").to_pylist() == [86400]
    assert ticks_of_times(pa.array([None], pa.date32()), "second").to_pylist() == [None]


local = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = local | st.builds(lambda moment, zone: moment.replace(tzinfo=zone), local, offsets)


@given(st.lists(moments, min_size=1), st.sampled_from(sorted(UNITS)), st.sampled_from("T "))
def test_iso_times_are_those_of_python(moments: list[datetime], unit: str, between: str) -> None:
    expected = [
        ((i if i.tzinfo else i.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=UNITS[unit])
        for i in moments
    ]
    assert ticks(*(i.isoformat(between) for i in moments), unit=unit) == expected


@given(st.lists(st.none() | st.integers(-(2**70), 2**70).map(str) | st.text(max_size=5)))
def test_whole_numbers_are_those_of_python(texts: list[str | None]) -> None:
    def expected(text: str | None) -> int | None:
        if text is None:
            return None
        digits = text.strip(" \t\n\r\v\f")
        if not digits.removeprefix("-").isdigit() or not digits.isascii():
            return None
        return int(digits) if -(2**63) <= int(digits) < 2**63 else None

    assert whole_numbers(pa.array(texts, pa.string())).to_pylist() == list(map(expected, texts))


@pytest.mark.parametrize(
    ("ticks", "unit", "finer"),
    [
        (1_700_000_000, "second", None),
        (1_700_000_000_000, "second", "millisecond"),
        (1_700_000_000_000_000, "second", "microsecond"),
        (1_700_000_000_000_000_000, "second", None),  # there is no unit for it
        (1_700_000_000_000, "ms", None),
        (1_700_000_000_000_000, "millisecond", "microsecond"),
        (1_700_000_000, "hour", "second"),
        (20_000, "day", None),
        (10**15, "step", None),
        (0, "second", None),
    ],
)
def test_times_too_large_for_their_unit_suggest_a_finer_unit(
    ticks: int, unit: str, finer: str | None
) -> None:
    assert finer_unit(ticks, unit) == finer

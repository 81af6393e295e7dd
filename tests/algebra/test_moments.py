"""Instants as people write them, in ticks and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import moments
from headrace.algebra.durations import DurationError
from tests.strategies.amount import examples

UNITS = ("microsecond", "millisecond", "second", "minute", "day", "step")


@pytest.mark.parametrize(
    ("text", "unit", "ticks"),
    [
        ("1970-01-02", "second", 86_400),
        ("2024-02-29T12:00Z", "minute", 28_486_800),
        ("1970-01-01T02:00:00.5+02:00", "millisecond", 500),
        ("1970-01-01T00:00:01", "second", 1),
        ("12", "step", 12),
    ],
)
def test_an_instant_has_its_ticks(text: str, unit: str, ticks: int) -> None:
    assert moments.ticks(text, unit) == ticks


@pytest.mark.parametrize(
    ("text", "unit", "why"),
    [
        ("yesterday", "second", "it is not an instant"),
        ("1969-12-31", "second", "before time 0"),
        ("1970-01-01T00:00:01", "minute", "between two minutes"),
        ("1970-01-02", "step", "cannot be counted"),
        ("9" * 19, "second", "too late"),
    ],
)
def test_what_is_no_instant_is_refused(text: str, unit: str, why: str) -> None:
    with pytest.raises(DurationError, match=why):
        moments.ticks(text, unit)


@given(ticks=st.integers(0, 2**62), unit=st.sampled_from(UNITS))
@examples(60)
def test_a_written_instant_is_read_again(ticks: int, unit: str) -> None:
    written = moments.text(ticks, unit)
    if len(str(ticks)) <= 18 or not written.isdecimal():
        assert moments.ticks(written, unit) == ticks

"""The watermark if the clock of the machine is changed."""

from __future__ import annotations

from headrace.algebra.plan_parts import PlanStream
from headrace.executor.watermarks import Seen, Watermark

IDLE_MS = 100
STREAMS = tuple(
    PlanStream(name=name, labels=(name,), vertex_type="string", delay=0, idle_ms=IDLE_MS)
    for name in ("a", "b")
)


def after(*batches: tuple[dict[str, int], int]) -> int:
    """The watermark after batches: the largest ts per stream, and the clock at their start."""
    watermark = Watermark()
    for times, clock in batches:
        watermark = watermark.after(Seen(times, clock), STREAMS)
    return watermark.at


def test_idle_time_restarts_if_the_clock_is_set_back() -> None:
    set_back = 1_000_000
    began = ({"a": 1, "b": 1}, 2 * set_back)
    assert after(began, ({"a": 5}, set_back), ({"a": 6}, set_back + IDLE_MS - 1)) == 1
    assert after(began, ({"a": 5}, set_back), ({"a": 6}, set_back + IDLE_MS)) == 6


def test_a_watermark_never_falls_when_the_clock_is_set() -> None:
    clocks = [500, 10, 10_000_000, 20, 10_000_000, 0]
    watermark, before = Watermark(), -1
    for number, clock in enumerate(clocks):
        watermark = watermark.after(Seen({"a": number, "b": number}, clock), STREAMS)
        assert watermark.at >= before
        before = watermark.at
    assert before == len(clocks) - 1

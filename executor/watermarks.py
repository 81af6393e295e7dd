"""The watermark: the progress of application time over streams that are out of order.

Each stream may be out of order by its declared *delay*: its further rows are not earlier than its
largest ts so far, less the delay. The *watermark* is the least of these bounds over all streams
that are not idle. Rows later than the watermark wait; rows earlier than the watermark of the
previous batch are late.

All streams share one watermark, so that a consumer can order their rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanStream
from .batch import FOREVER

NEVER: Final = -1
"""Before every time: the watermark before the first row."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The progress of streams within one batch of rows.

    Attributes:
        times: the largest ts of each stream that has rows; FOREVER
            (:data:`headrace.executor.batch.FOREVER`) for a stream that has ended.
        clock: the wall clock when the rows arrived, in milliseconds; None in a replay, where no
            stream is ever idle.
    """

    times: Mapping[str, int] = field(default_factory=dict)
    clock: int | None = None

    def __or__(self, other: Seen) -> Seen:
        """The progress in both batches together."""
        clocks = [clock for clock in (self.clock, other.clock) if clock is not None]
        return Seen(_largest(self.times, other.times), max(clocks, default=None))


@dataclass(frozen=True, slots=True)
class Watermark:
    """The watermark after some batches, and the progress that it is computed from.

    Attributes:
        at: the watermark, in ticks.
        seen: the largest ts of each stream.
        heard: the wall clock of each stream's latest rows, or of the first batch without any, in
            milliseconds.
    """

    at: int = NEVER
    seen: Mapping[str, int] = field(default_factory=dict)
    heard: Mapping[str, int] = field(default_factory=dict)

    def after(self, batch: Seen, streams: Collection[PlanStream]) -> Watermark:
        """The watermark after one more batch; it never falls."""
        seen = _largest(self.seen, batch.times)
        heard = dict(self.heard)
        if batch.clock is not None:
            # If the clock was set back, idle time counts from the earlier clock.
            heard = {name: min(at, batch.clock) for name, at in heard.items()}
            for stream in streams:
                if stream.name in batch.times or stream.name not in heard:
                    heard[stream.name] = batch.clock
        bounds = [
            _bound(seen.get(stream.name, NEVER), stream.delay)
            for stream in streams
            if not _idle(stream, heard, batch)
        ]
        return Watermark(max(self.at, min(bounds, default=NEVER)), seen, heard)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """A watermark from the document that :func:`dataclasses.asdict` made of it."""
        return cls(**document)


def streams_read(plan: PhysicalPlan) -> tuple[PlanStream, ...]:
    """The streams that a plan reads through a window; stored graphs have no watermark."""
    read = {scan.stream for _, scan in plan.scans if scan.range is not None}
    return tuple(stream for stream in plan.streams if stream.name in read)


def in_disorder(plan: PhysicalPlan) -> bool:
    """Whether the rows of some stream of a plan may come out of order."""
    return any(stream.delay for stream in streams_read(plan))


def _bound(seen: int, delay: int) -> int:
    """A lower bound for the ts of further rows of a stream."""
    return FOREVER if seen == FOREVER else max(NEVER, seen - delay)


def _idle(stream: PlanStream, heard: Mapping[str, int], batch: Seen) -> bool:
    """Whether a stream had no rows for its ``idle_ms``, so that the watermark ignores it."""
    if stream.idle_ms is None or batch.clock is None or stream.name in batch.times:
        return False
    return batch.clock - heard[stream.name] >= stream.idle_ms


def _largest(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {
        name: max(some.get(name, NEVER), others.get(name, NEVER)) for name in {**some, **others}
    }

"""How far application time has come, over streams that come in disorder.

Each stream may be out of order by its declared *delay*: what it will still bring is not earlier
than the largest ts seen of it, less the delay. The *watermark* is the least such bound over all
streams; a stream that is idle does not count. Rows later than it wait; rows earlier than the
watermark of the batches before come too late.

One value for all streams, so that whoever takes their rows can put them in order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from ..algebra.plan import PhysicalPlan, PlanStream
from .batch import FOREVER

NEVER: Final = -1
"""Before every time: the watermark while nothing is known."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The largest ts per stream among some rows, and when these came, in milliseconds.

    A stream that is at its end was seen :data:`headrace.executor.batch.FOREVER`. Without a
    ``clock``, as in a replay, no stream is ever idle.
    """

    times: Mapping[str, int] = field(default_factory=dict)
    clock: int | None = None

    def __or__(self, other: Seen) -> Seen:
        """What was seen in either."""
        clocks = [clock for clock in (self.clock, other.clock) if clock is not None]
        return Seen(_largest(self.times, other.times), max(clocks, default=None))


@dataclass(frozen=True, slots=True)
class Watermark:
    """The watermark ``at`` after some batches, and what it follows from.

    ``seen`` is the largest ts per stream, ``heard`` the clock at which a stream had rows last, or
    was first waited for.
    """

    at: int = NEVER
    seen: Mapping[str, int] = field(default_factory=dict)
    heard: Mapping[str, int] = field(default_factory=dict)

    def after(self, batch: Seen, streams: Collection[PlanStream]) -> Watermark:
        """The watermark when a batch has come; it never falls."""
        seen = _largest(self.seen, batch.times)
        heard = dict(self.heard)
        if batch.clock is not None:
            # Where the clock was set back, silence counts from there on.
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
        """A watermark of what :func:`dataclasses.asdict` gave."""
        return cls(**document)


def streams_read(plan: PhysicalPlan) -> tuple[PlanStream, ...]:
    """The streams whose time counts: those that a plan reads, without stored graphs."""
    read = {scan.stream for _, scan in plan.scans if scan.range is not None}
    return tuple(stream for stream in plan.streams if stream.name in read)


def in_disorder(plan: PhysicalPlan) -> bool:
    """Whether the rows of some stream of a plan may come out of order."""
    return any(stream.delay for stream in streams_read(plan))


def _bound(seen: int, delay: int) -> int:
    """No row earlier than this will come."""
    return FOREVER if seen == FOREVER else max(NEVER, seen - delay)


def _idle(stream: PlanStream, heard: Mapping[str, int], batch: Seen) -> bool:
    """Whether a stream has been silent for so long that nobody waits for it."""
    if stream.idle_ms is None or batch.clock is None or stream.name in batch.times:
        return False
    return batch.clock - heard[stream.name] >= stream.idle_ms


def _largest(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {
        name: max(some.get(name, NEVER), others.get(name, NEVER)) for name in {**some, **others}
    }

"""How fast a stream is replayed: so much of its time per second of the clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....algebra.durations import DurationError, ticks
from ..host.errors import InputError

_INTERVAL = "1 second"


@dataclass(frozen=True, slots=True)
class ReplayRate:
    """A slice holds ``span`` time units of the stream, and one is taken every ``interval``."""

    span: int
    interval: str

    @staticmethod
    def of(speed: float, interval: str | None = None) -> ReplayRate:
        """The pace of ``speed`` time units per second, with a slice every ``interval`` or so: a
        slice has a whole number of time units.

        Raises:
            InputError: if either is none.
        """
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(
                f"A stream cannot be replayed at {speed:g} time units per second.",
                "Give a number above 0.",
            )
        try:
            milliseconds = ticks(interval or _INTERVAL, "millisecond")
        except DurationError as error:
            raise InputError(f"The interval is no length of time: {error}") from error
        if not milliseconds:
            raise InputError("A stream cannot be replayed in intervals of no length.")
        span = max(1, round(speed * milliseconds / 1000))
        return ReplayRate(span, f"{max(1, round(span / speed * 1000))} milliseconds")

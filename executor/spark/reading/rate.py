"""The rate at which files are replayed: time units of the stream per second of the clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....algebra.durations import DurationError, ticks
from ..host.errors import InputError

_INTERVAL = "1 second"


@dataclass(frozen=True, slots=True)
class ReplayRate:
    """How much of the stream each micro-batch takes, and how often.

    Attributes:
        slice_length: of the stream that a micro-batch takes, in time units of the stream.
        interval: between two micro-batches, as Spark reads it.
    """

    slice_length: int
    interval: str

    @staticmethod
    def of(speed: float, interval: str | None = None) -> ReplayRate:
        """The rate of ``speed`` time units per second, with a slice about every ``interval``.

        The interval is adjusted so that a slice has a whole number of time units.

        Raises:
            InputError: if the speed is not above 0, or the interval is not a length of time.
        """
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(
                f"A stream cannot be replayed at {speed:g} time units per second.",
                "Give a number above 0.",
            )
        try:
            milliseconds = ticks(interval or _INTERVAL, "millisecond")
        except DurationError as error:
            raise InputError(f"The interval is not a length of time: {error}") from error
        if not milliseconds:
            raise InputError("A stream cannot be replayed in intervals of no length.")
        length = max(1, round(speed * milliseconds / 1000))
        return ReplayRate(length, f"{max(1, round(length / speed * 1000))} milliseconds")

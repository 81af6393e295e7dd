"""The window of a clause, from how long it is written to be."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...algebra import durations
from ...algebra.durations import DurationError
from ...algebra.window import Window
from ..query.errors import QueryError
from ..query.regular_query import Location


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time as written: ``24h``, ``30 days``, ``100``."""

    text: str
    at: Location = field(compare=False)

    @property
    def has_unit(self) -> bool:
        """Whether it is more than a number of ticks."""
        return not self.text.isdecimal()

    def ticks(self, time_unit: str) -> int:
        """How many ticks of ``time_unit`` it has.

        Raises:
            QueryError: E-WINDOW if it is no length of time.
        """
        try:
            return durations.ticks(self.text, time_unit)
        except DurationError as error:
            raise QueryError(
                "E-WINDOW", error.reason, at=self.at, text=self.text, hint=error.hint
            ) from None


def window_of(length: Length, slide: Length | None, time_unit: str) -> Window:
    """The window in ticks of ``time_unit``; without a slide it slides by one tick.

    Raises:
        QueryError: E-WINDOW if it is none.
    """
    range_ = length.ticks(time_unit)
    step = 1 if slide is None else slide.ticks(time_unit)
    if range_ == 0 or step == 0:
        wrong = length if range_ == 0 or slide is None else slide
        raise QueryError(
            "E-WINDOW",
            "a window and its slide are longer than nothing",
            at=wrong.at,
            text=wrong.text,
            hint="write a length, as 24h",
        )
    if step > range_:
        wrong = slide or length
        raise QueryError(
            "E-WINDOW",
            f"the slide is longer than the window of {length.text}",
            at=wrong.at,
            text=wrong.text,
            hint="edges would be lost between windows; SLIDE is at most the window's length",
        )
    return Window(range_, step)

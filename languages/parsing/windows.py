"""Lengths of time and windows, as written and in ticks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lark import Token

from ...algebra import durations
from ...algebra.durations import DurationError
from ...algebra.window import Window
from ..query.atoms import Location
from ..query.errors import QueryError
from .tokens import location_of


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time as written: ``24h``, ``30 days``, ``100``."""

    text: str
    at: Location = field(compare=False)

    @staticmethod
    def of(token: Token) -> Length:
        """The length of a token."""
        return Length(str(token), location_of(token))

    @property
    def has_unit(self) -> bool:
        """Whether the length has a unit, instead of a number of ticks."""
        return not self.text.isdecimal()

    def ticks(self, time_unit: str) -> int:
        """The number of ticks of ``time_unit``.

        Raises:
            QueryError: E-WINDOW if the text is not a length of time.
        """
        try:
            return durations.ticks(self.text, time_unit)
        except DurationError as error:
            raise QueryError(
                "E-WINDOW", error.reason, at=self.at, text=self.text, hint=error.hint
            ) from None


@dataclass(frozen=True, slots=True)
class WindowText:
    """``WINDOW range SLIDE slide`` as written; the default slide is one tick."""

    range: Length
    slide: Length | None

    @staticmethod
    def of(tokens: Iterable[Token]) -> WindowText:
        """The window of one or two tokens: the range, and the slide."""
        range_, *slide = map(Length.of, tokens)
        return WindowText(range_, slide[0] if slide else None)

    def __str__(self) -> str:
        slide = f" SLIDE {self.slide.text}" if self.slide else ""
        return f"WINDOW {self.range.text}{slide}"

    @property
    def has_unit(self) -> bool:
        """Whether the range or the slide has a unit."""
        return self.range.has_unit or (self.slide is not None and self.slide.has_unit)

    def window(self, time_unit: str) -> Window:
        """The window in ticks of ``time_unit``.

        Raises:
            QueryError: E-WINDOW for an invalid or zero length, or a slide longer than the range.
        """
        length, slide = self.range, self.slide
        range_ = length.ticks(time_unit)
        step = 1 if slide is None else slide.ticks(time_unit)
        if range_ == 0 or step == 0:
            wrong = length if range_ == 0 or slide is None else slide
            raise QueryError(
                "E-WINDOW",
                "a window and its slide must be longer than zero",
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

"""Sliding windows over application time (thesis Definition 30)."""

from dataclasses import dataclass
from typing import Final

LONGEST_WINDOW: Final = 2**62 - 1
"""Time units of a window. The time of an edge is below 2^62, so that their sum is a number of 64
bits."""


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A time-based sliding window; both lengths in the catalog's time unit.

    An edge at time ``t`` is valid in ``[t, floor(t / slide) * slide + range)``.

    Raises:
        ValueError: unless ``0 < slide <= range``.
    """

    range: int
    slide: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.slide <= self.range:
            raise ValueError(
                f"a window needs 0 < slide <= range, got range {self.range}, slide {self.slide}"
            )

    def expiry(self, t: int) -> int:
        """The first instant at which an edge of time ``t`` is no longer valid."""
        return t // self.slide * self.slide + self.range

    @property
    def divides(self) -> bool:
        """Whether the slide divides the range (if not, users get a warning)."""
        return self.range % self.slide == 0

    def __str__(self) -> str:
        return f"{self.range}" if self.slide == 1 else f"{self.range},{self.slide}"

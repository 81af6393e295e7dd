"""Operators of the EMIT clause: the rows that are valid, new or gone at certain instants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .. import durations, notation
from ..aggregates import ReportMode
from ..notation import InputNames
from ..properties import SINGLE, Distribution
from .base import (
    DeletionVariant,
    WithDeletions,
    on_one_or_hashed,
    one_input,
    registered,
    require,
    together,
)


@registered
@dataclass(frozen=True, slots=True)
class ReportRows(DeletionVariant):
    """Reports valid, new or gone rows at each multiple of ``every``, once the instant is past.

    ``snapshot`` reports the valid rows, ``entering`` the valid rows that were not valid one period
    ago, and ``exit`` the rows that were valid one period ago and are not now. The ts of a result is
    the instant of its report, its exp the instant of the next report. Results are never retracted.
    With ``start`` the instants are ``start``, ``start + every`` and so on. At the first instant
    each valid row is new, and none is gone.
    """

    mode: ReportMode
    every: int
    update_pattern: WithDeletions = field(default=None, hash=False)
    start: int | None = None
    op: Literal["REPORT"] = "REPORT"

    coalesces: ClassVar[bool] = True

    @property
    def final(self) -> bool:
        """A report is never retracted."""
        return True

    def output_width(self, inputs: Sequence[int]) -> int:
        width = one_input(inputs)
        require(self.every > 0, "the period of its reports is not positive")
        require(self.start is None or self.start >= 0, "its first instant is negative")
        return width

    def retention(self) -> int:
        """The report after a row's expiry still reads the row."""
        return self.every

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Equal rows have to be on one partition."""
        return together(inputs[0], "value")

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """On one partition, or hashed by any column."""
        return on_one_or_hashed(range(widths[0]))

    def arguments(self, names: InputNames) -> str:
        """``entering every 1d``."""
        period = durations.text(self.every, names.time_unit)
        return notation.report(self.mode, period, self.start or 0)


@registered
@dataclass(frozen=True, slots=True)
class EventReportRows(DeletionVariant):
    """Reports valid, new or gone rows of the first input at events, once the instant is past.

    An event is an instant from ``start`` on at which another input has a row. There is a report at
    every ``events``-th of them; ``entering`` and ``exit`` compare with the report before. The ts of
    a result is the instant of its report. Results are never retracted.
    """

    mode: ReportMode
    events: int
    update_pattern: WithDeletions = field(default=None, hash=False)
    start: int | None = None
    op: Literal["EVENT_REPORT"] = "EVENT_REPORT"

    coalesces: ClassVar[bool] = True

    @property
    def final(self) -> bool:
        """A report is never retracted."""
        return True

    def reads_every_row(self, position: int) -> bool:
        """A row of an event counts, although it may repeat another one."""
        return position > 0

    def output_width(self, inputs: Sequence[int]) -> int:
        require(len(inputs) > 1, "it has an input of rows, and others of events")
        require(self.events > 0, "the number of events between its reports is not positive")
        require(self.start is None or self.start >= 0, "its first instant is negative")
        return inputs[0]

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """All events are counted in one place."""
        require(all(below == SINGLE for below in inputs), "its inputs lie on several partitions")
        return SINGLE

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """On one partition."""
        return iter([(SINGLE,) * len(widths)])

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        return tuple(own) if position == 0 else ("",) * width

    def arguments(self, names: InputNames) -> str:
        """``entering every 2 events``."""
        return notation.report(self.mode, notation.events(self.events), self.start or 0)

    def relation(self, below: Sequence[str]) -> str | None:
        """The name of the rows that it reports."""
        return below[0]

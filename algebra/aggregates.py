"""Aggregates and reports: functions at the root of a query, over the rows valid at an instant.

Aggregates skip missing values. Over no value at all a count is 0, a list is empty, and every other
aggregate is missing. A list has its values in ascending order, an integer before an equal number.
The sum and the mean of numbers are computed in real arithmetic and rounded once, so that they do
not depend on the order of the rows. A result that does not fit (an integer beyond 64 bits, a float
that is not finite) is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Function = Literal[
    "count",
    "count_distinct",
    "sum",
    "avg",
    "min",
    "max",
    "collect",
    "collect_distinct",
    "latest",
    "partial_sum",
    "sum_partial",
    "avg_partial",
]
FUNCTIONS: Final[tuple[Function, ...]] = get_args(Function)

IGNORING_REPEATS: Final[frozenset[Function]] = frozenset(
    {"count_distinct", "min", "max", "collect_distinct", "latest"}
)
"""The functions whose result does not depend on how often a value occurs."""

COLLECTING: Final[frozenset[Function]] = frozenset({"collect", "collect_distinct"})
"""The functions whose result is a list of values, as the JSON text of an array."""

OF_PARTS: Final[Mapping[Function, tuple[Function, Function]]] = {
    "count": ("count", "sum"),
    "min": ("min", "min"),
    "max": ("max", "max"),
    "sum": ("partial_sum", "sum_partial"),
    "avg": ("partial_sum", "avg_partial"),
}
"""For a function the one of each part of a group, and the one that gives its value from theirs.

``partial_sum`` is text with the exact sum of the values and their number."""

ORDERING: Final[frozenset[Function]] = IGNORING_REPEATS | COLLECTING
"""The functions that keep the values of a group in order, each with its number."""

_OF_SUMS: Final = frozenset({"partial_sum", "sum_partial", "avg_partial"})

ReportMode = Literal["entering", "exit", "snapshot"]
"""The rows that a report gives at an instant: ``entering`` rows are valid now and were not one
period ago, ``exit`` rows were valid one period ago and are not now, ``snapshot`` rows are valid."""
REPORT_MODES: Final[tuple[ReportMode, ...]] = get_args(ReportMode)


Call = tuple[Function, int | None] | tuple[Literal["latest"], int, int]
"""A call as plan documents have it: a function and its column, or ``latest`` with the column of its
values and that of their times."""


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``function(column)``; without a column it counts rows.

    ``latest(column, by)`` is the value of ``column`` in the row with the greatest value of ``by``,
    and of several such values the greatest. A row that lacks one of the two values does not count.
    """

    function: Function
    column: int | None = None
    by: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it reads."""
        return tuple(column for column in (self.column, self.by) if column is not None)

    @property
    def call(self) -> Call:
        """The call as plan documents have it."""
        if self.function != "latest":
            return self.function, self.column
        assert self.column is not None
        assert self.by is not None
        return self.function, self.column, self.by

    def moved(self, place: Mapping[int, int]) -> AggregateCall:
        """The call over columns at other places."""
        column = None if self.column is None else place[self.column]
        by = None if self.by is None else place[self.by]
        return AggregateCall(self.function, column, by)

    def __str__(self) -> str:
        if self.by is not None:
            return f"{self.function}(c{self.column}, c{self.by})"
        argument = "*" if self.column is None else f"c{self.column}"
        if self.function in _OF_SUMS:
            return f"{self.function}({argument})"
        function, _, distinct = self.function.partition("_")
        return f"{function}({'distinct ' * bool(distinct)}{argument})"

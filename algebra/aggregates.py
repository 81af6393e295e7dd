"""Aggregates and reports: what stands at the root of a query, over the rows valid at an instant.

What an aggregate is over no known value: a count is 0, all others are missing. Missing values
count for none of them. The sum and the mean of numbers are those of real arithmetic, rounded
once, so that they do not depend on any order; what does not fit (an integer beyond 64 bits, a
float that is not finite) is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Function = Literal["count", "count_distinct", "sum", "avg", "min", "max"]
FUNCTIONS: Final[tuple[Function, ...]] = get_args(Function)

ReportMode = Literal["entering", "exit", "snapshot"]
"""What is reported at an instant: rows that are valid and were not one period ago, rows that
were and are not, or all that are."""
REPORT_MODES: Final[tuple[ReportMode, ...]] = get_args(ReportMode)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``function(column)``; without a column it counts rows."""

    function: Function
    column: int | None = None

    def __str__(self) -> str:
        argument = "*" if self.column is None else f"c{self.column}"
        if self.function == "count_distinct":
            return f"count(distinct {argument})"
        return f"{self.function}({argument})"

"""Aggregates and reports: functions at the root of a query, over the rows valid at an instant.

Aggregates skip missing values. Over no value at all a count is 0, a list is empty, a deviation is
0 (as over one value), and every other aggregate is missing. A list has its values in ascending
order, an integer before an equal number. Sums, means, deviations and percentiles of numbers are
computed in real arithmetic and rounded once, so that they do not depend on the order of the rows. A
result that does not fit (an integer beyond 64 bits, a float that is not finite) is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
    "stddev",
    "stddev_pop",
    "percentile_cont",
    "percentile_disc",
    "partial_sum",
    "sum_partial",
    "avg_partial",
    "partial_squares",
    "stddev_partial",
    "stddev_pop_partial",
]
FUNCTIONS: Final[tuple[Function, ...]] = get_args(Function)


@dataclass(frozen=True, slots=True)
class Definition:
    """What the layers of Headrace need to know of an aggregate function.

    Attributes:
        result: the type of its results; a ``value`` has the type of the column that it reads.
        numbers: whether it is for numbers; it ignores values of other types.
        ordered: whether it keeps the values of a group in order, each with its number.
        ignores_repeats: whether its result does not depend on how often a value occurs.
        parts: the function of each part of a group, and the one that gives the result from theirs;
            None if no plan divides a group.
        second: its second argument: a column of times, or a constant from 0 to 1.
        distinct: the function for DISTINCT; None if it does not take DISTINCT.
        in_queries: whether queries call it by its name.
    """

    result: Literal["integer", "number", "value", "list"]
    numbers: bool = False
    ordered: bool = False
    ignores_repeats: bool = False
    parts: tuple[Function, Function] | None = None
    second: Literal["time", "percentile"] | None = None
    distinct: Function | None = None
    in_queries: bool = True


def _of_sums(result: Literal["number", "value"]) -> Definition:
    """A function of plans alone, of partial sums or for one."""
    return Definition(result, numbers=True, in_queries=False)


DEFINITIONS: Final[Mapping[Function, Definition]] = {
    "count": Definition("integer", parts=("count", "sum"), distinct="count_distinct"),
    "count_distinct": Definition("integer", ordered=True, ignores_repeats=True, in_queries=False),
    "sum": Definition("value", numbers=True, parts=("partial_sum", "sum_partial")),
    "avg": Definition("number", numbers=True, parts=("partial_sum", "avg_partial")),
    "min": Definition(
        "value", ordered=True, ignores_repeats=True, parts=("min", "min"), distinct="min"
    ),
    "max": Definition(
        "value", ordered=True, ignores_repeats=True, parts=("max", "max"), distinct="max"
    ),
    "collect": Definition("list", ordered=True, distinct="collect_distinct"),
    "collect_distinct": Definition("list", ordered=True, ignores_repeats=True, in_queries=False),
    "latest": Definition(
        "value", ordered=True, ignores_repeats=True, second="time", distinct="latest"
    ),
    "stddev": Definition("number", numbers=True, parts=("partial_squares", "stddev_partial")),
    "stddev_pop": Definition(
        "number", numbers=True, parts=("partial_squares", "stddev_pop_partial")
    ),
    "percentile_cont": Definition("number", numbers=True, ordered=True, second="percentile"),
    "percentile_disc": Definition("value", numbers=True, ordered=True, second="percentile"),
    "partial_sum": _of_sums("value"),
    "sum_partial": _of_sums("value"),
    "avg_partial": _of_sums("number"),
    "partial_squares": _of_sums("value"),
    "stddev_partial": _of_sums("number"),
    "stddev_pop_partial": _of_sums("number"),
}
"""Each function once.

``stddev`` is the standard deviation of a sample, ``stddev_pop`` that of a whole population.
``percentile_disc`` is the least value that at least this share of the values does not exceed, and
``percentile_cont`` interpolates linearly between the two nearest values.

``partial_sum`` is text with the exact sum of the values and their number, ``partial_squares`` has
the sum of their squares too."""

IN_QUERIES: Final = tuple(f for f, known in DEFINITIONS.items() if known.in_queries)
"""The functions that queries call by their names."""

IGNORING_REPEATS: Final = frozenset(f for f, known in DEFINITIONS.items() if known.ignores_repeats)
"""The functions whose result does not depend on how often a value occurs."""

COLLECTING: Final = frozenset(f for f, known in DEFINITIONS.items() if known.result == "list")
"""The functions whose result is a list of values, as the JSON text of an array."""

OF_PARTS: Final[Mapping[Function, tuple[Function, Function]]] = {
    f: known.parts for f, known in DEFINITIONS.items() if known.parts is not None
}
"""For a function the one of each part of a group, and the one that gives its value from theirs."""

PARTIAL_SUMS: Final[frozenset[Function]] = frozenset({"partial_sum", "partial_squares"})
"""The functions whose result is text for one of the functions of partial sums."""

ORDERING: Final = frozenset(f for f, known in DEFINITIONS.items() if known.ordered)
"""The functions that keep the values of a group in order, each with its number."""

DEVIATIONS: Final[frozenset[Function]] = frozenset(
    {"stddev", "stddev_pop", "stddev_partial", "stddev_pop_partial"}
)
"""The functions whose result is a standard deviation."""

PERCENTILE_UNITS: Final = 10**9
"""A percentile is a whole number of these parts of 1: it has at most nine decimals."""

ReportMode = Literal["entering", "exit", "snapshot"]
"""The rows that a report gives at an instant: ``entering`` rows are valid now and were not one
period ago, ``exit`` rows were valid one period ago and are not now, ``snapshot`` rows are valid."""
REPORT_MODES: Final[tuple[ReportMode, ...]] = get_args(ReportMode)


Call = (
    tuple[Function, int | None]
    | tuple[Literal["latest"], int, int]
    | tuple[Literal["percentile_cont", "percentile_disc"], int, float]
)
"""A call as plan documents have it: a function and its column, ``latest`` with the column of its
values and that of their times, or a percentile with its column and a number from 0 to 1."""


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``function(column)``; without a column it counts rows.

    ``latest(column, by)`` is the value of ``column`` in the row with the greatest value of ``by``,
    and of several such values the greatest. A row that lacks one of the two values does not count.
    """

    function: Function
    column: int | None = None
    by: int | None = None
    percentile: float | None = None

    @classmethod
    def read(cls, call: Call) -> AggregateCall:
        """The call that a plan document has."""
        function, column, *second = call
        if DEFINITIONS[function].second == "percentile" and second:
            return cls(function, column, percentile=float(second[0]))
        return cls(function, column, *map(int, second))

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it reads."""
        return tuple(column for column in (self.column, self.by) if column is not None)

    @property
    def call(self) -> Call:
        """The call as plan documents have it."""
        if self.function == "latest" and self.column is not None and self.by is not None:
            return self.function, self.column, self.by
        if self.function in ("percentile_cont", "percentile_disc"):
            assert self.column is not None
            assert self.percentile is not None
            return self.function, self.column, self.percentile
        return self.function, self.column

    def moved(self, place: Mapping[int, int]) -> AggregateCall:
        """The call over columns at other places."""
        column = None if self.column is None else place[self.column]
        by = None if self.by is None else place[self.by]
        return AggregateCall(self.function, column, by, self.percentile)

    def __str__(self) -> str:
        arguments = [f"c{column}" for column in self.columns] or ["*"]
        arguments += [] if self.percentile is None else [str(self.percentile)]
        return call_text(self.function, arguments)


def call_text(function: Function, arguments: Sequence[str]) -> str:
    """The text of a call: ``count(distinct x)``, ``latest(x, e.ts)``."""
    name = function.removesuffix("_distinct")
    return f"{name}({'distinct ' * (name != function)}{', '.join(arguments)})"


def percentile_units(percentile: float) -> int | None:
    """The whole number of :data:`PERCENTILE_UNITS` that a percentile is.

    A percentile is the number that is written: 0.1 is a tenth, and not the float nearest to it.
    None if it is not between 0 and 1, or has more decimals.
    """
    if not 0 <= percentile <= 1:
        return None
    units = Decimal(str(percentile)) * PERCENTILE_UNITS
    return int(units) if units == int(units) else None

"""Operators at the root of a query: aggregates, returned paths and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import durations, notation, regex
from ..aggregates import COLLECTING, AggregateCall, ReportMode
from ..combinations import RETRACTING, Feature, Form, declared
from ..notation import InputNames
from .base import LogicalOperator, PathSemantics, VertexPaths
from .rows import EVERY_INSTANT

AGGREGATES = declared(Form("aggregates in the answer", refuses=frozenset({Feature.PATHS})))
LISTS = declared(
    Form("lists in the answer", brings=Feature.LISTS, refuses=frozenset({Feature.PATHS}))
)
AGGREGATES_READ = declared(
    Form(
        "aggregates that other rules read",
        brings=Feature.AGGREGATES,
        refuses=frozenset({Feature.SLIDES}),
        remedy=EVERY_INSTANT,
    )
)
RETURNED_PATHS = declared(
    Form(
        "paths in the answer",
        brings=Feature.PATHS,
        refuses=RETRACTING | {Feature.TRAILS},
        hint="answer with the vertices that the path joins",
    )
)
REPORTS = declared(
    Form(
        "reports with `EMIT`",
        brings=Feature.EMIT,
        refuses=frozenset({Feature.PATHS, Feature.SLIDES}),
        hint="leave EMIT out: each result then has its validity interval",
        remedy=EVERY_INSTANT,
    )
)
EVENT_REPORTS = declared(
    Form(
        "reports at events",
        brings=Feature.EVENTS,
        refuses=frozenset({Feature.PATHS, Feature.LISTS, Feature.SHORTEST, Feature.SLIDES}),
        hint="report after a period, as EMIT SNAPSHOT EVERY 1h",
        remedy=EVERY_INSTANT,
    )
)


@dataclass(frozen=True, slots=True)
class Aggregate(LogicalOperator):
    """γ: one row for each combination of the ``keys`` among the rows valid at an instant.

    Attributes:
        keys: the columns to group by.
        aggregates: the functions, each with its columns.
        output: the output columns, as positions in the keys followed by the aggregates.
        every: the period in ticks; the operator gives rows at its multiples, each valid until the
            next multiple. None gives rows at every instant.
        retracts: whether a row is given when its values begin to hold, and is retracted when they
            change, for an operator above that reads it. Otherwise a row is given when it is final.
    """

    keys: tuple[int, ...]
    aggregates: tuple[AggregateCall, ...]
    output: tuple[int, ...]
    every: int | None = None
    retracts: bool = False

    op: ClassVar[str] = "AGGREGATE"

    @property
    def form(self) -> Form:
        if self.retracts:
            return AGGREGATES_READ
        is_list = any(call.function in COLLECTING for call in self.aggregates)
        return LISTS if is_list else AGGREGATES

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``count(*) by src  every 1d``."""
        calls = [call.call for call in self.aggregates]
        return notation.aggregates(
            self.keys,
            calls,
            self.output,
            self.every,
            names,
            marks=("retracts",) if self.retracts else (),
        )


@dataclass(frozen=True, slots=True)
class Witness(LogicalOperator):
    """ω: adds to each row of the first input a path as its witness (payload, Definition 7).

    The path runs over edges of the other inputs. All its edges are valid for as long as the row.

    Attributes:
        keys: the columns that identify a row; of rows that agree in them one counts.
        output: the output columns, as columns of the first input; the number of columns of the
            first input stands for the path.
        source: the column of the first input with the first vertex of the path.
        target: the column of the first input with the last vertex of the path.
        regex: the expression that the path matches; symbol k stands for input k + 1.
        labels: the name of a step over input k + 1, by k.
        semantics: which paths count.
    """

    keys: tuple[int, ...]
    output: tuple[int, ...]
    source: int
    target: int
    regex: regex.Regex
    labels: tuple[str, ...]
    semantics: VertexPaths = PathSemantics.ARBITRARY

    op: ClassVar[str] = "WITNESS"

    @property
    def form(self) -> Form:
        return RETURNED_PATHS

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``src (a·b+) trg  simple``."""
        words = regex.text(self.regex, lambda ref: self.labels[int(ref)])
        ends = notation.chosen(names.columns[0], (self.source, self.target))
        simple = self.semantics is PathSemantics.SIMPLE
        return notation.witness(ends, words, simple=simple)


@dataclass(frozen=True, slots=True)
class Report(LogicalOperator):
    """ρ: the rows that are valid, new or gone at the ticks ``start``, ``start + every``, ..."""

    mode: ReportMode
    every: int
    start: int = 0

    op: ClassVar[str] = "REPORT"

    @property
    def form(self) -> Form:
        return REPORTS

    def arguments(self, names: InputNames) -> str:
        """``entering every 1d``."""
        period = durations.text(self.every, names.time_unit)
        return notation.report(self.mode, period, self.start)


@dataclass(frozen=True, slots=True)
class EventReport(LogicalOperator):
    """ρ: the rows of the first input that are valid, new or gone at events.

    An event is an instant from ``start`` on at which any other input has a row. There is a report
    at every ``events``-th of them.
    """

    mode: ReportMode
    events: int
    start: int = 0

    op: ClassVar[str] = "EVENT_REPORT"

    @property
    def form(self) -> Form:
        return EVENT_REPORTS

    def arguments(self, names: InputNames) -> str:
        """``entering every 2 events``."""
        return notation.report(self.mode, notation.events(self.events), self.start)

"""Operators at the root of a query: aggregates, returned paths and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import durations, notation, regex
from ..aggregates import AggregateCall, ReportMode
from ..notation import InputNames
from .base import LogicalOperator, PathSemantics


@dataclass(frozen=True, slots=True)
class Aggregate(LogicalOperator):
    """γ: one row for each combination of the ``keys`` among the rows valid at an instant.

    Output columns are ``output``, positions in the keys followed by the ``aggregates``. With
    ``every`` the rows are those at its multiples, each valid until the next one.
    """

    keys: tuple[int, ...]
    aggregates: tuple[AggregateCall, ...]
    output: tuple[int, ...]
    every: int | None = None

    op: ClassVar[str] = "AGGREGATE"

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``count(*) by src  every 1d``."""
        calls = [(call.function, call.column) for call in self.aggregates]
        return notation.aggregates(self.keys, calls, self.every, names)


@dataclass(frozen=True, slots=True)
class Witness(LogicalOperator):
    """ω: with each row of the first input a path that says why it holds (payload, Definition 7).

    The path leads from the vertex in column ``source`` to that in ``target`` over edges of the
    other inputs, all of them valid for as long as the row; its word is in ``regex``, whose symbol
    k is input k + 1, each step of which is called ``labels[k]``. Rows are told apart by the
    columns ``keys``; of several that differ in others alone one counts. ``output`` are columns
    of the first input, and the number of those for the path.
    """

    keys: tuple[int, ...]
    output: tuple[int, ...]
    source: int
    target: int
    regex: regex.Regex
    labels: tuple[str, ...]
    semantics: PathSemantics = PathSemantics.ARBITRARY

    op: ClassVar[str] = "WITNESS"

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
    """ρ: what is there, what is new, or what is gone at each multiple of ``every``."""

    mode: ReportMode
    every: int

    op: ClassVar[str] = "REPORT"

    def arguments(self, names: InputNames) -> str:
        """``entering every 1d``."""
        return f"{self.mode} every {durations.text(self.every, names.time_unit)}"

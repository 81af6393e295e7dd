"""Implementation rules of what stands at the root of a query. Not in the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..algebra import regex
from ..algebra.automaton import minimal_dfa
from ..algebra.logical import Aggregate, Compute, PathSemantics, Report, Witness
from ..algebra.physical import (
    DEFAULT_STEPS,
    AggregateRows,
    ComputeColumns,
    PhysicalOperator,
    ReportRows,
    WitnessPaths,
)
from ..algebra.scalar import text
from ..memo import GroupExpression
from .rule import ImplementationRule


class ComputeByColumns(ImplementationRule):
    """χ(S)  ⇒  COMPUTE"""

    name = "ComputeByColumns"
    operator = Compute

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        compute: Any = expression.operator
        assert isinstance(compute, Compute)
        yield ComputeColumns(tuple(map(text, compute.values)))


class AggregateByKeys(ImplementationRule):
    """γ(S)  ⇒  AGGREGATE, incremental: rows come and go, and change the row of their keys"""

    name = "AggregateByKeys"
    operator = Aggregate

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        aggregate: Any = expression.operator
        assert isinstance(aggregate, Aggregate)
        calls = tuple((call.function, call.column) for call in aggregate.aggregates)
        yield AggregateRows(aggregate.keys, calls, aggregate.output, aggregate.every)


class WitnessBySearch(ImplementationRule):
    """ω(S, S1, ..)  ⇒  WITNESS, a search for each row over the minimal DFA of the path's words"""

    name = "WitnessBySearch"
    operator = Witness

    def __init__(self, budget: int = DEFAULT_STEPS) -> None:
        self._budget = budget

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        witness: Any = expression.operator
        assert isinstance(witness, Witness)
        automaton = minimal_dfa(witness.regex).with_fresh_start()
        yield WitnessPaths(
            witness.keys,
            witness.output,
            witness.source,
            witness.target,
            automaton.states,
            automaton.transitions,
            automaton.accepting,
            witness.labels,
            witness.semantics is PathSemantics.SIMPLE,
            regex.text(witness.regex),
            self._budget,
        )


class ReportByInstants(ImplementationRule):
    """ρ(S)  ⇒  REPORT"""

    name = "ReportByInstants"
    operator = Report

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        report: Any = expression.operator
        assert isinstance(report, Report)
        yield ReportRows(report.mode, report.every)

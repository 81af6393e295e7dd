"""Implementation rules of what stands at the root of a query. Not in the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from algebra.logical import Aggregate, Compute, Report
from algebra.physical import AggregateRows, ComputeColumns, PhysicalOperator, ReportRows
from algebra.scalar import text
from memo import GroupExpression
from rules.rule import ImplementationRule


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


class ReportByInstants(ImplementationRule):
    """ρ(S)  ⇒  REPORT"""

    name = "ReportByInstants"
    operator = Report

    def implement(self, expression: GroupExpression) -> Iterator[PhysicalOperator]:
        report: Any = expression.operator
        assert isinstance(report, Report)
        yield ReportRows(report.mode, report.every)

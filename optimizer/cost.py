"""The interface of a cost model."""

from __future__ import annotations

from typing import Protocol

from ..algebra.logical import LogicalOperator
from ..algebra.physical import PhysicalOperator
from ..costmodel.characteristics import Characteristics


class CostEstimator(Protocol):
    """Estimates results of logical operators and costs physical ones.

    :class:`headrace.costmodel.CostModel` is one. Costs are per unit of application time, finite and
    not negative.
    """

    def for_search(self) -> CostEstimator:
        """The same cost model, which may keep what it has estimated for one search."""
        ...

    def characteristics(
        self, operator: LogicalOperator, inputs: tuple[Characteristics, ...], /
    ) -> Characteristics:
        """The characteristics of the operator's result."""
        ...

    def cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
        /,
    ) -> float:
        """The operator's own cost."""
        ...

    def least_cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
        /,
    ) -> float:
        """A lower bound of the cost of the operator as :meth:`arranged`; quicker than both."""
        ...

    def saved(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
        /,
    ) -> tuple[float, ...]:
        """For each input what the operator costs less if another one holds its index.

        Empty for an operator that shares no index.
        """
        ...

    def arranged(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
        /,
    ) -> PhysicalOperator:
        """The operator with the arguments that cost least, where it leaves a choice."""
        ...

"""LEFTJOIN: optional parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .. import notation
from ..combinations import Feature, Form, declared
from ..notation import InputNames
from .base import I, LogicalOperator

OPTIONAL = declared(Form("rules with `optional`", brings=Feature.OPTIONAL))


@dataclass(frozen=True, slots=True)
class LeftJoin(LogicalOperator):
    """⟕: the pairs of rows that agree on the key, and the rows of the first input without a pair.

    At each instant a row of the first input has a row in the result for each row of the second
    that agrees with it on the key, or else one row, with missing values in the columns of the
    second. The result is not monotone: the row without a match ends when a match begins, so
    consumers read deletions.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable that column ``j`` of input ``k`` is bound to.
            The variables of both inputs are the key. The output has the columns of the first
            input, then those of the second that are not of the key. Variables are numbered by the
            columns of the output.
        names: the variables' names in the query, for people to read.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "LEFTJOIN"
    names_inputs: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        return OPTIONAL

    @staticmethod
    def on(width: int, compared: Sequence[int | None], names: tuple[str, ...] = ()) -> LeftJoin:
        """The operator over a first input of ``width`` columns.

        Args:
            width: the number of columns of the first input.
            compared: for each column of the second input the column of the first that it is
                compared with, or None for a column of the output.
            names: the names of the columns of the output.
        """
        right: list[int] = []
        own = width
        for column in compared:
            right.append(own if column is None else column)
            own += column is None
        return LeftJoin((tuple(range(width)), tuple(right)), names)

    @property
    def compared(self) -> tuple[int | None, ...]:
        """For each column of the second input the column of the first that it is compared with,
        or None."""
        left, right = self.bindings
        return tuple([left.index(v) if v in left else None for v in right])

    @property
    def keys(self) -> dict[int, int]:
        """The columns of the first input in the key, each with its column of the second."""
        return {column: k for k, column in enumerate(self.compared) if column is not None}

    @property
    def output(self) -> tuple[int, ...]:
        """The variables of the output columns."""
        left, right = self.bindings
        return (*left, *[variable for variable in right if variable not in left])

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Variables numbered by the columns of the output."""
        output = self.output
        if output == tuple(range(len(output))):
            return self, inputs
        names = tuple([self.names[variable] for variable in output]) if self.names else ()
        return LeftJoin.on(len(self.bindings[0]), self.compared, names), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.output)

    def arguments(self, names: InputNames) -> str:
        """``x,y ⟕ y,z → x,y,z  on y``."""
        name = notation.variable_names(self.names)
        return notation.joined(self.bindings, self.output, name, "⟕")

"""ANTIJOIN: negation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .. import notation
from ..combinations import Feature, Form, declared
from ..notation import InputNames
from .base import I, LogicalOperator

NEGATIONS = declared(Form("rules with `not`", brings=Feature.NEGATION))


@dataclass(frozen=True, slots=True)
class AntiJoin(LogicalOperator):
    """▷: the rows of the first input without a row of the second that agrees on the key.

    At each instant a row is in the result if it is valid and no matching row is. The result is not
    monotone: a row ends when a match begins, so its consumers read deletions.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable that column ``j`` of input ``k`` is bound to.
            The columns of the second input are the key: their variables are all of the first.
            Variables are numbered by the columns of the first input.
        names: the variables' names in the query, for people to read.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    names: tuple[str, ...] = field(default=(), compare=False)

    op: ClassVar[str] = "ANTIJOIN"
    names_inputs: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        return NEGATIONS

    @staticmethod
    def on(width: int, keys: Sequence[int], names: tuple[str, ...] = ()) -> AntiJoin:
        """The operator over a first input of ``width`` columns; ``keys`` are the columns that
        those of the second input are compared with."""
        return AntiJoin((tuple(range(width)), tuple(keys)), names)

    @property
    def keys(self) -> tuple[int, ...]:
        """The columns of the first input that those of the second are compared with."""
        left, right = self.bindings
        return tuple([left.index(variable) for variable in right])

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """Variables numbered by the columns of the first input."""
        left = self.bindings[0]
        if left == tuple(range(len(left))):
            return self, inputs
        names = tuple([self.names[variable] for variable in left]) if self.names else ()
        return AntiJoin.on(len(left), self.keys, names), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.bindings[0])

    def arguments(self, names: InputNames) -> str:
        """``x,y ▷ y → x,y  on y``."""
        name = notation.variable_names(self.names)
        return notation.joined(self.bindings, self.bindings[0], name, "▷")

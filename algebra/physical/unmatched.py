"""What the anti-join and the left join share: rows of an input that have no match of their key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Self

from .. import notation
from ..notation import InputNames
from ..properties import BROADCAST, NOTHING, SINGLE, Distribution, Spread, UpdatePattern
from ..untrusted import MOST_VARIABLES, WIDEST, at_most, between
from .base import DeletionVariant, hashed_by, require
from .joins import named_variables, names_from_inputs
from .key_joins import KeyJoin


class TellsUnmatched(KeyJoin, DeletionVariant):
    """A join that tells which rows of its first input have no match of their key in the second.

    The rows of an instant count together, once application time has passed it. The result has
    deletions over any inputs, since a match retracts what held without it. The first
    output columns are those of the first input.
    """

    __slots__ = ()

    @property
    def output(self) -> tuple[int, ...]:
        """The variables of the output columns."""
        raise NotImplementedError

    def named(self, columns: tuple[str, ...]) -> Self:
        """The join with variables named after the names of its output columns."""
        return self._called(named_variables(self.bindings, self.output, self.variables, columns))

    def named_by_inputs(self, inputs: Sequence[Sequence[str]]) -> Self:
        """The join with names for the variables that have none, from the columns of its inputs."""
        return self._called(names_from_inputs(self.variables, self.bindings, inputs))

    def _called(self, names: tuple[str, ...]) -> Self:
        variant: Any = self
        changed: Self = replace(variant, variables=names)
        return changed

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in self.output)

    def check_bounds(self, inputs: int) -> None:
        """Checks the numbers of columns and variables."""
        for listed in (*self.bindings, self.variables):
            at_most(len(listed), WIDEST, "columns")
        between([v for b in self.bindings for v in b], 0, MOST_VARIABLES, "a variable")

    def retention(self) -> int:
        """A key that expires at the present time still matches, since its instant is not past."""
        return 1

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Copies of the second input, both on one partition, or both hashed on a shared variable.

        Equal rows of the first input have to be on one partition, as each holds an open row.
        """
        left, right = inputs
        if left == NOTHING:
            return NOTHING
        if left == right and left in (SINGLE, BROADCAST):
            return left
        lie = f"its inputs lie {left} and {right}"
        if right in (BROADCAST, NOTHING) and left in (SINGLE, BROADCAST):
            require(left == SINGLE or right == NOTHING, f"{lie}, so that rows may lie apart")
            return left
        require(left.spread is Spread.HASH, f"{lie}, so that equal rows may lie apart")
        if right not in (BROADCAST, NOTHING):
            first, second = (
                frozenset(binding[column] for column in side.columns)
                for binding, side in zip(self.bindings, inputs, strict=True)
            )
            require(bool(first & second), f"{lie}, so that rows with one key may lie apart")
        return hashed_by(left.columns)

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """With deletions, over any inputs."""
        retracted = self.retracted(inputs)
        if retracted is not (self.update_pattern is not None):
            raise ValueError(f"{self.op} is {'not ' * retracted}made for deletions")
        return UpdatePattern.WITH_DELETIONS

    @property
    def ends_deletions(self) -> bool:
        """Whether the inputs have to be coalesced: a retraction ends the validity of its value."""
        return self.update_pattern is not None

    def arguments(self, names: InputNames) -> str:
        """``x,y ▷ y → x,y  on y``."""
        name = notation.variable_names(self.variables)
        return notation.joined(self.bindings, self.output, name, notation.SYMBOLS[self.op])

"""The semi-join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from .. import notation
from ..hashing import hashed_once
from ..notation import InputNames
from ..properties import BROADCAST, NOTHING, SINGLE, Distribution, Spread
from ..untrusted import MOST_VARIABLES, WIDEST, at_most, between
from ..values import StreamTypes, Types
from .base import DeletionVariant, Repeats, WithDeletions, hashed_by, registered, require
from .joins import named_variables, names_from_inputs
from .key_joins import KeyJoin


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class SemiJoin(KeyJoin, DeletionVariant):
    """Keeps the rows of the first input while the second has a row with the same shared variables.

    The second input is held as its keys alone, each with its latest expiry. A row of the first
    input is given again only where its validity grows. Over deletions all rows of both inputs
    are held, since a retraction has to count the rows of a key.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable of column ``j`` of input ``k``; the inputs
            share a variable.
        output: the variables of the output columns, all of them of the first input.
        variables: the names of the variables, for people.
        update_pattern: the variant for inputs with deletions; null without deletions.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    output: tuple[int, ...]
    variables: tuple[str, ...] = field(default=(), compare=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["SEMI_JOIN"] = "SEMI_JOIN"

    article: ClassVar[str] = "a semi-join"

    def named(self, columns: tuple[str, ...]) -> SemiJoin:
        """The semi-join with variables named after the names of its output columns."""
        names = named_variables(self.bindings, self.output, self.variables, columns)
        return replace(self, variables=names)

    def named_by_inputs(self, inputs: Sequence[Sequence[str]]) -> SemiJoin:
        """The join with names for the variables that have none, from the columns of its inputs."""
        names = names_from_inputs(self.variables, self.bindings, inputs)
        return replace(self, variables=names)

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in self.output)

    def check_bounds(self, inputs: int) -> None:
        """Checks the numbers of columns and variables."""
        for listed in (*self.bindings, self.output, self.variables):
            at_most(len(listed), WIDEST, "columns")
        between([v for b in self.bindings for v in b], 0, MOST_VARIABLES, "a variable")

    def output_width(self, inputs: Sequence[int]) -> int:
        self.check_columns(inputs)
        require(bool(self.shared), "the inputs share no variable")
        kept = set(self.output) <= set(self.bindings[0])
        require(kept, "an output variable is not of the first input")
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        of_variable = dict(zip(self.bindings[0], inputs[0], strict=True))
        return tuple([of_variable[variable] for variable in self.output])

    @property
    def coalesces(self) -> bool:
        """Whether all columns of the first input are kept, and no row is retracted."""
        return self.update_pattern is None and set(self.output) == set(self.bindings[0])

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """Rows that repeat others come only of columns left out, and of growth over deletions."""
        return "dropped" if self.coalesces else "extended"

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Copies of the second input, both on one partition, or both hashed on a shared variable.

        Equal rows of the first input have to be on one partition, since the result is coalesced.
        """
        left, right = inputs
        if NOTHING in (left, right):
            return NOTHING
        if left == right and left in (SINGLE, BROADCAST):
            return left
        lie = f"its inputs lie {left} and {right}"
        if right == BROADCAST and left == SINGLE:
            return SINGLE
        require(left.spread is Spread.HASH, f"{lie}, so that equal rows may lie apart")
        first, second = (
            frozenset(binding[column] for column in side.columns)
            for binding, side in zip(self.bindings, inputs, strict=True)
        )
        if right != BROADCAST:
            require(bool(first & second), f"{lie}, so that rows to be joined may lie apart")
        return hashed_by([i for i, variable in enumerate(self.output) if variable in first])

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋉ y,z → x,y  on y``."""
        name = notation.variable_names(self.variables)
        return notation.joined(self.bindings, self.output, name, "⋉")

"""The anti-join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ..values import StreamTypes, Types
from .base import Repeats, WithDeletions, registered, require
from .unmatched import TellsUnmatched


@registered
@dataclass(frozen=True, slots=True)
class AntiJoin(TellsUnmatched):
    """Keeps the rows of the first input while the second has no row with the same key.

    The rows of an instant count together, once application time has passed it. The result has
    deletions over any inputs: a match retracts a row, and the row begins again when the last match
    ends. A row whose validity grows is given anew before its shorter form is retracted.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable of column ``j`` of input ``k``; the variables
            of the second input, the key, are all of the first.
        variables: the names of the variables, for people.
        update_pattern: the variant for inputs with deletions, which have to be coalesced; null
            without deletions.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    variables: tuple[str, ...] = field(default=(), compare=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["ANTI_JOIN"] = "ANTI_JOIN"

    article: ClassVar[str] = "an anti-join"

    @property
    def keys(self) -> tuple[int, ...]:
        """The columns of the first input that those of the second are compared with."""
        left, right = self.bindings
        return tuple([left.index(variable) for variable in right])

    @property
    def output(self) -> tuple[int, ...]:
        """The variables of the output columns."""
        return self.bindings[0]

    def output_width(self, inputs: Sequence[int]) -> int:
        self.check_columns(inputs)
        left, right = self.bindings
        require(bool(right), "the inputs share no variable")
        require(set(right) <= set(left), "a variable of the second input is not of the first")
        return len(left)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        return inputs[0]

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """A row for each growth of the validity of a row of the first input."""
        return "passed"

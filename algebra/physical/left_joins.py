"""The left join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ..values import StreamTypes, Types
from .base import Repeats, WithDeletions, registered, require
from .unmatched import TellsUnmatched


@registered
@dataclass(frozen=True, slots=True)
class LeftJoin(TellsUnmatched):
    """Joins the inputs on the variables of both, and keeps rows of the first without a match.

    A row of the first input without a match has missing values in the columns of the second. Pairs
    begin and end as those of HASH_JOIN, rows without a match as those of ANTI_JOIN. The result has
    deletions over any inputs: a match retracts the row without one.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable of column ``j`` of input ``k``. The variables
            of both inputs are the key. The output has the variables of the first input, then the
            others of the second.
        variables: the names of the variables, for people.
        update_pattern: the variant for inputs with deletions, which have to be coalesced; null
            without deletions.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    variables: tuple[str, ...] = field(default=(), compare=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["LEFT_JOIN"] = "LEFT_JOIN"

    article: ClassVar[str] = "a left join"

    @property
    def output(self) -> tuple[int, ...]:
        """The variables of the output columns."""
        return (*self.bindings[0], *self.own)

    @property
    def own(self) -> tuple[int, ...]:
        """The variables of the second input alone, which may be missing."""
        left, right = self.bindings
        return tuple([variable for variable in right if variable not in left])

    def output_width(self, inputs: Sequence[int]) -> int:
        self.check_columns(inputs)
        require(bool(self.shared), "the inputs share no variable")
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        of_right = dict(zip(self.bindings[1], inputs[1], strict=True))
        return (*inputs[0], *[of_right[variable] for variable in self.own])

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """A row for each derivation of a pair."""
        return "derived"

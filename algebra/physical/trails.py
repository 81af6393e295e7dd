"""The operator that searches for trails: paths that repeat no edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ..limits import DEFAULT_STEPS
from .base import registered, require
from .paths import AutomatonPath, NotOverDeletions


@registered
@dataclass(frozen=True, slots=True)
class TrailPath(NotOverDeletions, AutomatonPath):
    """Paths that repeat no edge: a search from each new edge for the pairs that it completes.

    A row of an input is an edge: its source, its target, and then the columns that tell it from
    other edges with these ends.

    Attributes:
        relations: for each input the number of the relation that its edges are from. Equal rows of
            two inputs of one relation are one edge.
        budget: the most steps of the search for one edge; a longer search ends the run with an
            error. Operators that differ only in their budgets are equal.
    """

    relations: tuple[int, ...] = ()
    budget: int = field(default=DEFAULT_STEPS, compare=False)
    op: Literal["TRAIL_PATH"] = "TRAIL_PATH"

    coalesces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of TRAIL_PATH is at least one step")

    def check_bounds(self, inputs: int) -> None:
        """Checks the automaton, and that each input has a relation."""
        AutomatonPath.check_bounds(self, inputs)
        require(len(self.relations) == inputs, "each input of edges has a relation")

    def output_width(self, inputs: Sequence[int]) -> int:
        """Two columns, over edges that have the same columns in all inputs of a relation."""
        require(len(self.relations) == len(inputs), "each input of edges has a relation")
        require(all(width >= 2 for width in inputs), "an edge has two ends")
        widths = dict(zip(self.relations, inputs, strict=True))
        alike = all(widths[r] == w for r, w in zip(self.relations, inputs, strict=True))
        require(alike, "the edges of one relation have the same columns in all inputs")
        self.require_known(len(inputs))
        return 2

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        return ("src", "trg", *[""] * (width - 2))

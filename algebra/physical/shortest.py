"""The operator for shortest paths, by a search at each report instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .. import durations, notation
from ..limits import DEFAULT_STEPS
from ..notation import InputNames
from ..path_values import LISTED, NUMBERS, VERTICES, PathValue, members
from ..untrusted import WIDEST, at_most, distinct
from ..values import ColumnType, PropertyType, StreamTypes, Types
from .base import DeletionVariant, WithDeletions, registered, require
from .paths import AutomatonPath

_TYPES: Mapping[str, frozenset[ColumnType]] = {
    **dict.fromkeys(NUMBERS, frozenset[ColumnType]({"integer"})),
    **dict.fromkeys(LISTED, frozenset[ColumnType]({"path"})),
}
"""The types of the values other than vertices."""


@registered
@dataclass(frozen=True, slots=True)
class ShortestPath(AutomatonPath, DeletionVariant):
    """Shortest paths at each multiple of ``every``: a breadth-first search over the valid edges.

    A row has the ends of a path, and then its ``values``. It is given when the instant is past,
    holds until an instant at which the edges have changed, and is never retracted.

    Attributes:
        every: the period in time units.
        values: the values of a path: its ``length``, the number of its steps; the ``path``, JSON of
            its steps; its ``nodes``, JSON of the vertices that it visits. With one of the others a
            path has a row for each of its vertices, the ``node``, or for each of its steps, from
            ``start`` to ``end``; ``place`` counts them from 0.
        labels: the name of a step over each input; empty if no value shows steps or vertices.
        all_paths: true if each shortest path of a pair has a row; null for one of them, the first
            by its vertices and the names of its steps.
        budget: the most steps of all shortest paths from one vertex at one instant; more end the
            run with an error. Operators that differ only in their budgets are equal.
        update_pattern: the variant for inputs with deletions, which have to be coalesced; null
            without deletions.
    """

    every: int = 1
    values: tuple[PathValue, ...] = ("length",)
    labels: tuple[str, ...] = ()
    all_paths: Literal[True] | None = None
    budget: int = field(default=DEFAULT_STEPS, compare=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["SHORTEST_PATH"] = "SHORTEST_PATH"

    final: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError("the budget of SHORTEST_PATH is at least one step")

    @property
    def coalesces(self) -> bool:
        """Whether no row repeats another: all paths, or all members of one without their places,
        may agree in the values that are shown."""
        return not self.all_paths and (members(self.values) is None or "place" in self.values)

    @property
    def lookback(self) -> int:
        """One period: the rows of the last instant still hold."""
        return self.every

    @property
    def shows_steps(self) -> bool:
        """Whether a value shows the steps or the vertices of a path."""
        return self.values != ("length",) and bool(self.values)

    def check_bounds(self, inputs: int) -> None:
        """Checks the automaton, the values and the number of labels."""
        AutomatonPath.check_bounds(self, inputs)
        at_most(len(self.labels), WIDEST, "labels")
        distinct(self.values, "value of a path")
        _ = members(self.values)

    def output_width(self, inputs: Sequence[int]) -> int:
        """The ends of a path and its values."""
        AutomatonPath.output_width(self, inputs)
        require(self.every > 0, "the period of its rows is not positive")
        named = len(inputs) if self.shows_steps else 0
        require(len(self.labels) == named, "each input has a label where paths are shown")
        require(not self.all_paths or self.shows_steps, "all paths of a pair have one length")
        return 2 + len(self.values)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the ends, and of the values."""
        ends = AutomatonPath.column_types(self, inputs, streams)
        walked = {number for _, number, *_ in self.transitions}
        passed = frozenset[ColumnType]().union(*(of for i in walked for of in inputs[i][:2]))
        shown = (passed if value in VERTICES else _TYPES[value] for value in self.values)
        return (*ends, *shown)

    def new_types(self) -> frozenset[PropertyType]:
        """Integers; paths are strings."""
        return frozenset({"integer", "string"})

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return ("src", "trg", *self.values)

    def arguments(self, names: InputNames) -> str:
        """``all shortest a·b+ → length, path  every 1h  by root  where src = 7``."""
        words = notation.path_text(self, names.inputs)
        every = durations.text(self.every, names.time_unit)
        shown = notation.shortest(words, self.values, every, all_paths=self.all_paths is True)
        by = "  by root" if self.roots == "own" else ""
        return shown + by + notation.sources(self.sources)

"""The operator for shortest paths, at the instants of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from .. import durations, notation, regex
from ..combinations import Feature, Form, declared
from ..notation import InputNames
from ..path_values import PathValue, members
from ..predicate import Predicate
from .base import I, LogicalOperator
from .patterns import canonical_regex
from .rows import Empty

SHORTEST_PATHS = declared(
    Form(
        "shortest paths at instants",
        brings=Feature.SHORTEST,
        refuses=frozenset({Feature.PATHS, Feature.TRAILS, Feature.SLIDES}),
        hint="read the values of shortest paths alone, under the path semantics arbitrary",
    )
)


@dataclass(frozen=True, slots=True)
class Shortest(LogicalOperator):
    """P of shortest paths: pairs connected by a non-empty path with a word in L(R), and values of a
    path of the least length.

    The rows are right at the multiples of a period, and hold between two of them.

    Attributes:
        regex: the words of the paths, as in :class:`Path`. Canonical only without labels: names of
            steps and their order belong to the paths.
        values: the values of a path (:mod:`headrace.algebra.path_values`), the columns after its
            two ends. With values of a member there is a row for each vertex or step.
        labels: the name of a step over each input; empty if no value shows steps.
        all_paths: whether each shortest path of a pair has a row, or one of them: the first, by its
            vertices and the names of its steps.
        every: the period in ticks; None until the translation knows it.
        sources: the condition on ``c0`` that a source satisfies; None for paths from any vertex.

    Raises:
        ValueError: if the values are of vertices and of steps, or a place is that of neither.
    """

    regex: regex.Regex
    values: tuple[PathValue, ...]
    labels: tuple[str, ...] = ()
    all_paths: bool = False
    every: int | None = None
    sources: Predicate | None = None

    op: ClassVar[str] = "SHORTEST"
    names_inputs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _ = members(self.values)

    @property
    def form(self) -> Form:
        return SHORTEST_PATHS

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """As :meth:`Path.canonical` without labels; the condition in its normal form."""
        sources = None if self.sources is None else self.sources.normal
        form = replace(self, sources=sources)
        if self.labels:
            return form, inputs
        r, used = canonical_regex(self.regex, inputs)
        if r is None:
            return Empty(2 + len(self.values)), ()
        return replace(form, regex=r), used

    def width(self, inputs: Sequence[int]) -> int:
        return 2 + len(self.values)

    def arguments(self, names: InputNames) -> str:
        """``all shortest a·b+ → length, path  every 1h  where src = 7``."""
        words = regex.text(self.regex, lambda ref: names.inputs[int(ref)])
        sql = None if self.sources is None else self.sources.sql
        every = "" if self.every is None else durations.text(self.every, names.time_unit)
        return notation.shortest(
            words, self.values, every, all_paths=self.all_paths
        ) + notation.sources(sql)

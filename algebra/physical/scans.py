"""Scans: the operators that read a stream."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .. import notation, predicate_syntax
from ..hashing import hashed_once
from ..notation import InputNames
from ..properties import ANY, Distribution, UpdatePattern
from ..untrusted import WIDEST, at_most
from ..values import ColumnType, StreamTypes, Types
from ..window import LONGEST_WINDOW
from .base import (
    IN_SQL,
    Conventions,
    PhysicalOperator,
    WithDeletions,
    registered,
    require,
)

OWN_TIME = "ts"
"""The property that every edge has: its own time, an integer."""


class Scan(PhysicalOperator):
    """An operator without inputs that reads labels of one stream under one window."""

    __slots__ = ()
    conventions: ClassVar[Conventions] = IN_SQL
    holds_state: ClassVar[bool] = False

    stream: str
    range: int | None
    slide: int | None
    properties: tuple[str, ...]

    @property
    def update_pattern(self) -> WithDeletions:
        """Not null where deletions come along."""
        return None

    @property
    def scans(self) -> tuple[WindowScan, ...]:
        raise NotImplementedError

    def check_bounds(self, inputs: int) -> None:
        """Checks the window, the numbers of labels and properties, and the predicates."""
        require(not inputs, "it has no input")
        require(bool(self.scans), "it reads no label")
        at_most(len(self.scans), WIDEST, "labels")
        at_most(len(self.properties), WIDEST, "properties")
        length, slide = self.range, self.slide
        if length is not None and slide is not None and not 0 < slide <= length <= LONGEST_WINDOW:
            raise ValueError(
                f"a window needs 0 < slide <= range <= {LONGEST_WINDOW}, got range {length}, "
                f"slide {slide}"
            )
        for scan in self.scans:
            if scan.predicate is not None:
                is_sql = predicate_syntax.in_sql(scan.predicate)
                require(is_sql, "its predicate has functions that only FILTER above it computes")

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return ("src", "trg", *self.properties)

    def output_width(self, inputs: Sequence[int]) -> int:
        require(not inputs, "it has no input")
        return 2 + len(self.properties)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types that the stream declares."""
        vertex, properties = streams[self.stream]
        declared: dict[str, ColumnType] = {**properties, OWN_TIME: "integer"}
        of_properties = [declared[name] for name in self.properties]
        return tuple(frozenset({kind}) for kind in (vertex, vertex, *of_properties))

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Each edge is on some partition."""
        return ANY

    def arguments(self, names: InputNames) -> str:
        """``input.a  window 30d``."""
        selections = [(scan.label, scan.predicate) for scan in self.scans]
        length = notation.window(self.range, self.slide, names.time_unit)
        return notation.scan(self.stream, selections, length, self.properties)


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class WindowScan(Scan):
    """Reads one label of a stream and gives each edge its validity (Definition 30).

    Attributes:
        stream: the name of the stream.
        label: the label of the edges.
        range: the range of the window in time units; null for a stored graph, whose edges are
            valid in ``[0, inf)``.
        slide: the slide of the window in time units; null for a stored graph.
        predicate: the condition that scanned edges satisfy, as SQL over columns ``c0``, ``c1``,
            ...; null scans all edges.
        properties: the edge properties that follow source and target as columns; ``ts`` is the
            time of the edge.
        update_pattern: not null if the rows include deletions, marked for a RETRACT above.
    """

    stream: str
    label: str
    range: int | None
    slide: int | None
    predicate: str | None = None
    properties: tuple[str, ...] = ()
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["WSCAN"] = "WSCAN"

    @property
    def scans(self) -> tuple[WindowScan, ...]:
        return (self,)

    @property
    def marks(self) -> bool:
        """Whether the rows include deletions."""
        return self.update_pattern is not None

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """Marked, if deletions come along."""
        return UpdatePattern.MARKED if self.marks else UpdatePattern.APPEND_ONLY

    def relation(self, below: Sequence[str]) -> str | None:
        return self.label


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class WindowScanUnion(Scan):
    """Reads several labels of a stream at once, as WSCAN does one; does not coalesce.

    A stream with deletions is read label by label.

    Attributes:
        stream: the name of the stream.
        selections: pairs of a label and a predicate as in :class:`WindowScan`; an edge is read once
            if it satisfies one of them.
        range: the range of the window in time units; null for a stored graph.
        slide: the slide of the window in time units; null for a stored graph.
        properties: the edge properties that follow source and target as columns.
    """

    stream: str
    selections: tuple[tuple[str, str | None], ...]
    range: int | None
    slide: int | None
    properties: tuple[str, ...] = ()
    op: Literal["WSCAN_UNION"] = "WSCAN_UNION"

    @property
    def scans(self) -> tuple[WindowScan, ...]:
        return tuple(
            WindowScan(self.stream, label, self.range, self.slide, predicate, self.properties)
            for label, predicate in self.selections
        )

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a∪b)``."""
        return f"({'∪'.join(dict.fromkeys(label for label, _ in self.selections))})"

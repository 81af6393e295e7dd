"""Scans, and operators that look at one row at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from .. import notation, scalar
from ..combinations import RETRACTING, Feature, Form, declared
from ..hashing import hashed_once
from ..notation import InputNames
from ..predicate import TRUE, Predicate
from ..remedy import Remedy
from ..window import Window
from .base import I, LogicalOperator

EVERY_INSTANT = Remedy("evaluate", "evaluate at every instant", "eager")
STORED = declared(Form("stored graphs"))
DELETING = declared(
    Form(
        "streams with deletions",
        brings=Feature.DELETIONS,
        refuses=frozenset({Feature.SLIDES}),
        hint="declare the stream without deletions",
        remedy=EVERY_INSTANT,
    )
)
UNIONS = declared(Form("unions"))
COMPUTED = declared(Form("computed columns"))
VIEWS = declared(
    Form(
        "windows over results",
        brings=Feature.WINDOWS,
        refuses=RETRACTING | {Feature.SHORTEST, Feature.SLIDES},
        hint="give the streams inside their windows, and leave this one out",
        remedy=EVERY_INSTANT,
    )
)


@hashed_once
@dataclass(frozen=True, slots=True)
class WScan(LogicalOperator):
    """W: the edges of one label of a stream, with the validity of its window (Definition 30).

    Edges that agree in all columns are one row.

    Attributes:
        stream: the name of the stream.
        label: the label of the edges.
        window: the window; None scans a stored graph (K), whose edges are valid in ``[0, inf)``.
        predicate: the condition on the columns that scanned edges satisfy, as in W(σ_F(S)); None
            scans all edges.
        properties: the names of the edge properties that follow source and target as columns;
            ``ts``, the time of the edge, may be one of them.
        deletions: whether the stream may delete edges. The predicate then reads source and target
            alone, since a deletion need not carry properties.

    Raises:
        ValueError: if a property occurs twice, the predicate has functions that Spark SQL does not
            have, or it reads a property of a stream with
            deletions.
    """

    stream: str
    label: str
    window: Window | None
    predicate: Predicate | None = None
    properties: tuple[str, ...] = ()
    deletions: bool = field(default=False, hash=False)

    op: ClassVar[str] = "WSCAN"

    def __post_init__(self) -> None:
        if len(set(self.properties)) < len(self.properties):
            raise ValueError("a scan gives a property once")
        if self.predicate is not None and not self.predicate.in_sql:
            raise ValueError("a scan selects by predicates of Spark SQL")
        if self.predicate is not None and not self.selects_by(self.predicate):
            raise ValueError("a deletion need not have the properties that the scan selects by")

    @property
    def form(self) -> Form | None:
        stored = STORED if self.window is None else None
        return DELETING if self.deletions else stored

    def selects_by(self, predicate: Predicate) -> bool:
        """Whether the scan may select its edges by ``predicate``."""
        return predicate.in_sql and (not self.deletions or max(predicate.columns, default=0) < 2)

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The predicate in its normal form, left out if it is always true."""
        if self.predicate is None:
            return self, inputs
        normal = self.predicate.normal
        kept = None if normal == TRUE else normal
        return replace(self, predicate=kept), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return 2 + len(self.properties)

    @property
    def scans(self) -> tuple[WScan, ...]:
        """The labels that the scan reads, each under its window."""
        return (self,)

    def reads_with(self, other: WScan) -> bool:
        """Whether one scan can read both labels; a scan with deletions reads a single label."""
        return not (self.deletions or other.deletions) and (
            self.stream,
            self.window,
            self.properties,
        ) == (other.stream, other.window, other.properties)

    @property
    def unfiltered(self) -> WScan:
        """The scan of all edges of the label."""
        return self if self.predicate is None else replace(self, predicate=None)

    def arguments(self, names: InputNames) -> str:
        """``input.a  window 30d``."""
        return _scan(self.scans, names.time_unit)


@hashed_once
@dataclass(frozen=True, slots=True)
class WScanUnion(LogicalOperator):
    """W(S1 ∪ S2): several labels of one stream under one window, read in one scan.

    Raises:
        ValueError: if ``scans`` are fewer than two, of several streams or windows, give
            different columns, or have deletions.
    """

    scans: tuple[WScan, ...]

    op: ClassVar[str] = "WSCAN_UNION"

    def __post_init__(self) -> None:
        if len(self.scans) < 2 or not all(self.scans[0].reads_with(s) for s in self.scans):
            raise ValueError("a scan of several labels has one stream, window and set of columns")

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The scans in their canonical form, sorted, none twice."""
        parts: dict[tuple[str, str], WScan] = {}
        for scan in self.scans:
            normal, _ = scan.canonical(())
            assert isinstance(normal, WScan)
            parts[normal.label, str(normal.predicate or "")] = normal
        if len(parts) == 1:
            return next(iter(parts.values())), inputs
        return WScanUnion(tuple(parts[key] for key in sorted(parts))), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return self.scans[0].width(inputs)

    def arguments(self, names: InputNames) -> str:
        """``input.a ∪ input.b  window 30d``."""
        return _scan(self.scans, names.time_unit)


@hashed_once
@dataclass(frozen=True, slots=True)
class Filter(LogicalOperator):
    """σ: the rows of the one input that satisfy a predicate (Definition 31)."""

    predicate: Predicate

    op: ClassVar[str] = "FILTER"

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        normal = self.predicate.normal
        return self if normal == self.predicate else Filter(normal), inputs

    def arguments(self, names: InputNames) -> str:
        """``src = trg``."""
        return notation.condition(self.predicate.sql, names.columns[0])


@dataclass(frozen=True, slots=True)
class Union(LogicalOperator):
    """∪: the rows of either of two inputs with equal columns (Definition 32)."""

    op: ClassVar[str] = "UNION"

    @property
    def form(self) -> Form:
        return UNIONS


@dataclass(frozen=True, slots=True)
class Project(LogicalOperator):
    """π: column ``i`` of the output is column ``columns[i]`` of the input."""

    columns: tuple[int, ...]

    op: ClassVar[str] = "PROJECT"

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.columns)

    def arguments(self, names: InputNames) -> str:
        """``src,trg → trg,src``."""
        below = names.columns[0]
        return f"{','.join(below)} → {','.join(below[c] for c in self.columns)}"


@dataclass(frozen=True, slots=True)
class Rewindow(LogicalOperator):
    """W over a query: its coalesced results, each valid for its window at most.

    Cuts the validity ``[ts, exp)`` of a result to
    ``[ts, min(exp, floor(ts / slide) * slide + range))``.
    """

    window: Window

    op: ClassVar[str] = "REWINDOW"

    @property
    def form(self) -> Form:
        return VIEWS

    def arguments(self, names: InputNames) -> str:
        """``window 30d slide 1d``."""
        return notation.window(self.window.range, self.window.slide, names.time_unit)


@dataclass(frozen=True, slots=True)
class Empty(LogicalOperator):
    """∅: a relation without rows (``a{3,2}``)."""

    columns: int

    op: ClassVar[str] = "EMPTY"

    def width(self, inputs: Sequence[int]) -> int:
        """The number of columns of the empty relation."""
        return self.columns


@dataclass(frozen=True, slots=True)
class Compute(LogicalOperator):
    """χ: column ``i`` of the output is ``values[i]``, computed from the columns of the input.

    A value that cannot be computed is missing (:mod:`headrace.algebra.scalar`).
    """

    values: tuple[scalar.Value, ...]

    op: ClassVar[str] = "COMPUTE"

    @property
    def form(self) -> Form:
        return COMPUTED

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """A projection if nothing is computed."""
        columns = [v.position for v in self.values if isinstance(v, scalar.Column)]
        return (Project(tuple(columns)) if len(columns) == len(self.values) else self), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.values)

    def arguments(self, names: InputNames) -> str:
        """``src, src + 1``."""
        return notation.values([scalar.text(value) for value in self.values], names)


def _scan(scans: Sequence[WScan], time_unit: str) -> str:
    """Labels of a stream that are read in one scan."""
    first = scans[0]
    selections = [(s.label, None if s.predicate is None else s.predicate.sql) for s in scans]
    range_, slide = (w.range, w.slide) if (w := first.window) is not None else (None, None)
    length = notation.window(range_, slide, time_unit)
    return notation.scan(first.stream, selections, length, first.properties)

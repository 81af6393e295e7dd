"""A cut of a stream: a number of consecutive edges, with their vertices numbered anew."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

Value = int | float | str | bool | None
Row = tuple[str, str, str, int, Mapping[str, Value]]
"""Source and target as the publisher names them, label, ts, properties."""
Window = tuple[str, str]
"""The range and the slide of a window, such as ``("10d", "1d")``."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a cut; its vertices are numbers."""

    src: int
    trg: int
    label: str
    ts: int
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex of the stored graph beside a stream."""

    id: int
    label: str
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Cut:
    """Consecutive edges of a stream.

    Attributes:
        name: the name of the stream.
        edges: the edges by time.
        windows: the windows to try, the largest first.
        start: the position in ``windows`` to begin with.
        time_unit: the unit of ``ts``.
        vertices: the stored vertices; empty for most streams.
    """

    name: str
    edges: tuple[Edge, ...]
    windows: tuple[Window, ...]
    start: int = 1
    time_unit: str = "second"
    vertices: tuple[Vertex, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of edges, the most frequent first."""
        counts = Counter(edge.label for edge in self.edges)
        return tuple(sorted(counts, key=lambda label: (-counts[label], label)))

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties of edges."""
        return tuple(self.edges[0].properties) if self.edges else ()

    def write(self, folder: Path) -> None:
        """Writes ``edges.csv``, and ``vertices.csv`` if there are vertices."""
        names = self.properties
        _write(
            folder / "edges.csv",
            ("src", "trg", "label", "ts", *names),
            ((e.src, e.trg, e.label, e.ts, *(e.properties[n] for n in names)) for e in self.edges),
        )
        if self.vertices:
            names = tuple(self.vertices[0].properties)
            _write(
                folder / "vertices.csv",
                ("id", "label", *names),
                ((v.id, v.label, *(v.properties[n] for n in names)) for v in self.vertices),
            )


def cut(
    name: str,
    rows: Iterable[Row],
    windows: Sequence[Window],
    *,
    count: int,
    at: float = 0.5,
    time_unit: str = "second",
    vertices: Mapping[str, tuple[str, Mapping[str, Value]]] | None = None,
) -> Cut:
    """Sorts rows by time, takes ``count`` of them from the part ``at`` on, and numbers vertices.

    Args:
        name: the name of the stream.
        rows: all rows of the stream.
        windows: the windows to try, the largest first.
        count: the largest number of edges.
        at: the position of the first edge, as a part of the stream from 0 to 1.
        time_unit: the unit of ``ts``.
        vertices: label and properties of stored vertices; those without an edge are left out.
    """
    ordered = sorted(rows, key=lambda row: row[3])
    first = min(int(len(ordered) * at), max(len(ordered) - count, 0))
    numbers: dict[str, int] = {}

    def number(vertex: str) -> int:
        return numbers.setdefault(vertex, len(numbers))

    edges = tuple(
        Edge(number(src), number(trg), label, ts, properties)
        for src, trg, label, ts, properties in ordered[first : first + count]
    )
    stored = tuple(
        Vertex(numbers[vertex], label, properties)
        for vertex, (label, properties) in (vertices or {}).items()
        if vertex in numbers
    )
    return Cut(name, edges, tuple(windows), min(1, len(windows) - 1), time_unit, stored)


def first_edges(whole: Cut, count: int) -> Cut:
    """The cut with its first edges only."""
    return replace(whole, edges=whole.edges[:count])


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_text(value) for value in row] for row in rows)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)

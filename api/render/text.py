"""A plan as a tree of lines with its estimates in columns at the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len

from ...algebra.plan_parts import Estimate
from ...documents.numbers import duration, number, share
from ...documents.picture import BoxDocument, PictureDocument

_WIDEST = 96
"""The widest operator column: longer lines overlap the next columns."""


@dataclass(frozen=True, slots=True)
class _Line:
    lead: str
    box: BoxDocument
    mark: str
    again: bool = False
    notes: tuple[str, ...] = ()
    below: str = ""

    @property
    def plain(self) -> str:
        return f"{self.lead}{self.mark}{self.box.symbol} {self.box.operator}  {self.body}".rstrip()

    @property
    def body(self) -> str:
        return "(the same rows as above)" if self.again else self.box.summary


@dataclass(frozen=True, slots=True)
class Columns:
    """Further columns at the right: their heads, and the cells by box id."""

    heads: tuple[str, ...]
    cells: Mapping[int, tuple[str, ...]]


def render(
    picture: PictureDocument,
    *,
    colour: bool = False,
    notes: Mapping[int, tuple[str, ...]] | None = None,
    more: Columns | None = None,
) -> str:
    """Renders the tree, root first, with one operator per line.

    A shared box appears once with the mark ``#n``; its other readers show the mark.

    Args:
        picture: the drawing of the plan.
        colour: whether to add terminal colours.
        notes: further lines under a box, by box id.
        more: further columns.
    """
    lines = list(_lines(picture, notes or {}))
    if picture.root.estimate is None:
        return "".join(f"{line.plain}\n" for line in lines)
    return _with_estimates(picture, lines, colour, more or Columns((), {})) + _origins(picture)


def _origins(picture: PictureDocument) -> str:
    """Where the names come from that the query does not give; empty without any."""
    origins = "".join(f"  {name}  {origin}\n" for name, origin in picture.origins.items())
    return f"\nnames that the query does not give:\n{origins}" if origins else ""


def _lines(picture: PictureDocument, notes: Mapping[int, tuple[str, ...]]) -> Iterator[_Line]:
    shared = picture.shared
    seen: set[int] = set()
    pending = [(picture.root.id, "", "")]
    while pending:
        key, lead, below = pending.pop()
        box = picture.boxes[key]
        mark = f"#{key} " if key in shared else ""
        if key in seen:
            yield _Line(lead, box, mark, again=True)
            continue
        seen.add(key)
        rail = "│  " if box.inputs else "   "
        yield _Line(lead, box, mark, notes=notes.get(key, ()), below=below + rail)
        last = len(box.inputs) - 1
        pending += [
            (
                child,
                below + ("└─ " if position == last else "├─ "),
                below + ("   " if position == last else "│  "),
            )
            for position, child in reversed(list(enumerate(box.inputs)))
        ]


def _with_estimates(
    picture: PictureDocument, lines: list[_Line], colour: bool, more: Columns
) -> str:
    unit = picture.per.sign
    own = (f"rows/{unit}", "valid", "rows held", f"cost/{unit}", "share", "total")
    emitted = any(box.estimate and box.estimate.derivation_rate for box in picture.boxes)
    header = (*own, *([f"emitted/{unit}"] if emitted else []), *more.heads)
    unknown = ("",) * len(more.heads)
    table = [
        ("",) * len(header)
        if line.again or line.box.estimate is None
        else (
            *_cells(line.box.estimate, picture),
            *([picture.per(line.box.estimate.emitted_rate)] if emitted else []),
            *more.cells.get(line.box.id, unknown),
        )
        for line in lines
    ]
    widths = [max(len(row[k]) for row in (header, *table)) for k in range(len(header))]
    left = max(min(cell_len(line.plain), _WIDEST) for line in lines)

    def right(row: tuple[str, ...]) -> str:
        return "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))

    paint = _Paint(colour)
    out = [paint.dim(" " * left + "  " + right(header))]
    for line, row in zip(lines, table, strict=True):
        gap = " " * max(left - cell_len(line.plain), 0)
        out.append(f"{paint.line(line)}{gap}  {paint.heat(right(row), _heat(line, picture))}")
        out += [paint.dim(f"{line.below} {note}") for note in line.notes]
    return "".join(f"{text.rstrip()}\n" for text in out)


def _cells(estimate: Estimate, picture: PictureDocument) -> tuple[str, ...]:
    return (
        picture.per(estimate.rate),
        duration(estimate.interval, picture.time_unit),
        number(estimate.population),
        picture.per(estimate.cost),
        share(estimate.cost, picture.cost),
        picture.per(estimate.cumulative_cost),
    )


def _heat(line: _Line, picture: PictureDocument) -> float:
    if line.again or line.box.estimate is None or not picture.dearest:
        return 0.0
    return line.box.estimate.cost / picture.dearest


@dataclass(frozen=True, slots=True)
class _Paint:
    """Adds terminal colours if it is ``on``."""

    on: bool

    def _style(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text.strip() else text

    def dim(self, text: str) -> str:
        return self._style("2", text)

    def heat(self, text: str, heat: float) -> str:
        """Red for the dearest operators, yellow for costly ones, plain for the rest."""
        if heat > 2 / 3:
            return self._style("1;31", text)
        return self._style("33", text) if heat > 1 / 5 else text

    def line(self, line: _Line) -> str:
        if not self.on:
            return line.plain
        name = self._style("1", f"{line.box.symbol} {line.box.operator}")
        return f"{self.dim(line.lead)}{line.mark}{name}  {line.body}".rstrip()

"""The rows of a file before they are checked: columns as the file holds them, and their places.

Why the readers of text (`lines`, `delimited`, `json_lines`) are our own around those of Arrow: a
rejected row is reported with its line and its exact text, and no row may be lost or changed
silently. Arrow reads each block in which every line is a row; `delimited` and `json_lines` take
only the other blocks apart. No library does that part:

- ``pyarrow.csv`` numbers records instead of lines, gives the text of rows with a wrong number of
  fields only, reads ``4,"5"x,6`` as ``5x`` without a word, and fails for a whole block at one byte
  that is not UTF-8; ``pyarrow.json`` ends at the first malformed line.
- ``csv`` of the standard library splits each record here, but goes on in the middle of a record
  whose quotes do not fit.
- DuckDB stores rejects with their text, but for its own casts, not for our rules on times, labels,
  deletions and types of vertices, and not for messages; it would be one more database to install.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .lines import Block

Column = Any
"""An Arrow array of whatever type: the stubs of pyarrow.compute take only arrays whose type of
element is known to the type checker, which that of a file is not."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that could not be split into columns; ``line`` is its first line."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class RawRows:
    """Consecutive rows of a file.

    Attributes:
        columns: equally long, in the order asked for.
        lines: the line in which each row begins.
        text: the text of a row, by its position; asked for only if the row is rejected.
        malformed: rows among them that have no columns.
    """

    columns: Sequence[Column]
    lines: Sequence[int]
    text: Callable[[int], str]
    malformed: tuple[Malformed, ...] = ()

    @staticmethod
    def of_block(columns: Sequence[Column], block: Block) -> RawRows:
        """A block in which every line is a row."""
        split: list[bytes] = []

        def text(row: int) -> str:
            split[:] = split or block.lines()
            return as_text(split[row])

        first = block.first_line
        return RawRows(columns, range(first, first + len(columns[0])), text)

    @staticmethod
    def of_records(
        columns: Sequence[Column],
        lines: Sequence[int],
        texts: Sequence[bytes],
        malformed: Sequence[Malformed],
    ) -> RawRows:
        """Rows of these texts."""
        return RawRows(columns, lines, lambda row: as_text(texts[row]), tuple(malformed))

    @staticmethod
    def of_overlong(block: Block) -> RawRows:
        """The one line of a block that is too long to be a row."""
        reason = "the line is too long"
        return RawRows.of_records(
            (), (), (), [Malformed(block.first_line, reason, as_text(block.data))]
        )


def as_text(line: bytes) -> str:
    """A line as text, whatever bytes it has."""
    return line.decode(errors="backslashreplace")

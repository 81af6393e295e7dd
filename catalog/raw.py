"""The unchecked rows of a file: columns as the file holds them, and the lines of the rows.

The readers of text (`lines`, `delimited`, `json_lines`) wrap those of Arrow, because a rejected row
is reported with its line and exact text, and no row may be lost or changed silently. Arrow reads
each block in which every line is a row; `delimited` and `json_lines` split only the other blocks.
No library does the latter:

- ``pyarrow.csv`` numbers records instead of lines, gives the text of rows with a wrong number of
  fields only, silently reads ``4,"5"x,6`` as ``5x``, and fails for a whole block at one byte
  that is not UTF-8; ``pyarrow.json`` ends at the first malformed line.
- ``csv`` of the standard library splits each record here, but after misplaced quotes it continues
  in the middle of a record.
- DuckDB stores rejects with their text, but for its own casts, not for our rules on times, labels,
  deletions and types of vertices, and not for messages; it would be one more database to install.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .lines import Block

Column = Any
"""An Arrow array of any type. The stubs of pyarrow.compute require a static element type, which the
column of a file does not have."""


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
        columns: the columns in the requested order, all of one length.
        lines: the line in which each row begins.
        text: returns the text of the row at a position; called for rejected rows only.
        malformed: rows that could not be split into columns.
    """

    columns: Sequence[Column]
    lines: Sequence[int]
    text: Callable[[int], str]
    malformed: tuple[Malformed, ...] = ()

    @staticmethod
    def of_block(columns: Sequence[Column], block: Block) -> RawRows:
        """The rows of a block in which every line is a row."""
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
        """The rows of records with these texts."""
        return RawRows(columns, lines, lambda row: as_text(texts[row]), tuple(malformed))

    @staticmethod
    def of_overlong(block: Block) -> RawRows:
        """The malformed row of an overlong line."""
        reason = "the line is too long"
        return RawRows.of_records(
            (), (), (), [Malformed(block.first_line, reason, as_text(block.data))]
        )


def as_text(line: bytes) -> str:
    """A line as text, with backslash escapes for invalid bytes."""
    return line.decode(errors="backslashreplace")

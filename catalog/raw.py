"""What a file format hands over: columns as they stand in the file, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .lines import Block

Column = Any
"""An Arrow array of whatever type: the stubs of pyarrow.compute take only arrays whose type of
element is known to the type checker, which that of a file is not."""


@dataclass(frozen=True, slots=True)
class Torn:
    """A row of which no columns could be made."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class RawRows:
    """Equally long columns in the order asked for; ``line`` and ``text`` tell a row's place."""

    columns: Sequence[Column]
    rows: int
    line: Callable[[int], int]
    text: Callable[[int], str]
    torn: tuple[Torn, ...] = ()

    @staticmethod
    def of_lines(columns: Sequence[Column], block: Block) -> RawRows:
        """A block in which every line is a row."""
        lines: list[bytes] = []

        def text(row: int) -> str:
            # Only asked for where a row is rejected, so the lines are split only then.
            if not lines:
                lines.extend(block.lines())
            return shown(lines[row])

        return RawRows(columns, len(columns[0]), lambda row: block.first_line + row, text)

    @staticmethod
    def at(
        columns: Sequence[Column], numbers: Sequence[int], block: Block, torn: tuple[Torn, ...]
    ) -> RawRows:
        """Rows from the lines ``numbers`` of a block."""
        lines: list[bytes] = []

        def text(row: int) -> str:
            if not lines:
                lines.extend(block.lines())
            return shown(lines[numbers[row] - block.first_line])

        return RawRows(columns, len(numbers), lambda row: numbers[row], text, torn)

    @staticmethod
    def of_records(
        columns: Sequence[Column],
        numbers: Sequence[int],
        texts: Sequence[bytes],
        torn: tuple[Torn, ...],
    ) -> RawRows:
        """Rows whose texts begin in the lines ``numbers``."""
        return RawRows(
            columns, len(numbers), lambda row: numbers[row], lambda row: shown(texts[row]), torn
        )

    @staticmethod
    def only_torn(torn: Torn) -> RawRows:
        """No rows but a torn one."""

        def nothing(row: int) -> str:
            raise IndexError(row)

        return RawRows((), 0, lambda row: row, nothing, (torn,))


def shown(line: bytes) -> str:
    """A line as text, whatever bytes it has."""
    return line.decode(errors="backslashreplace")

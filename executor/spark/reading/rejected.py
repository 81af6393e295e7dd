"""The rows of a finite input that are not edges: their file, and their number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ....catalog.edges import EdgeBatch, Rejected, RejectedRowError
from ..host.errors import InputError
from ..host.files import written_aside


class RejectedRows:
    """A file of JSON lines; made when the first row comes, in place at the end of the block."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()
        self._file: BinaryIO | None = None

    def __enter__(self) -> RejectedRows:
        self._path.unlink(missing_ok=True)
        return self

    def write(self, rows: Iterable[Mapping[str, object]]) -> int:
        """Adds rows, and gives how many there were."""
        count = 0
        for row in rows:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._open.enter_context(written_aside(self._path))
            self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            count += 1
        return count

    def __exit__(self, *of_error: object) -> None:
        # What was rejected is worth looking at also where the spool fails, as with --strict.
        self._open.close()


@dataclass(slots=True)
class Tally:
    """The rows of a stream: the number of edges, of rejected rows, and the first of these."""

    edges: int = 0
    rejected: int = 0
    first: Rejected | None = None

    def add(self, batch: EdgeBatch) -> None:
        """Counts consecutive rows of the stream."""
        self.edges += batch.edges.num_rows
        self.rejected += len(batch.rejected)
        if self.first is None and batch.rejected:
            self.first = batch.rejected[0]

    def check(self, stream: str) -> None:
        """Raises an `InputError` if the stream has rows, and none of them is an edge."""
        if self.first is None or self.edges:
            return
        rows = "The only row" if self.rejected == 1 else f"All {self.rejected:,} rows"
        were = "was" if self.rejected == 1 else "were"
        raise InputError(
            f"{rows} of the stream {stream!r} {were} rejected. The first: {self.first}",
            "Mend the file, or say how it is laid out: its separator, the columns of its fields, "
            "the types of its vertices and properties, its time unit.",
        ) from RejectedRowError(self.first)

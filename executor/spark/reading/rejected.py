"""The file of rows of a finite input that are not edges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

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

"""Files of what is set aside in a run that never ends: they grow batch by batch.

Each batch leaves its lines in parts of a folder, in files that have its number in their names. They
are added to one file, once, also where the batch is run again after a crash.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from executor.spark.files import written_aside

_NOTE = "added.json"


class Growing:
    """The file ``path`` of JSON lines, to which parts are added from ``folder``.

    A note in the folder says how long the file was after the latest batch that added to it:
    what is beyond that is of an attempt that was killed.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._batch = -1
        self._bytes = self.lines = 0
        note = folder / _NOTE
        if note.exists():
            noted = json.loads(note.read_text())
            self._batch, self.lines = noted["batch"], noted["lines"]
            self._bytes = noted["bytes"]
        for part in folder.glob("*.jsonl"):
            part.unlink()  # of a batch that is run again, or was added already
        size = path.stat().st_size if path.exists() else 0
        if size > self._bytes:
            os.truncate(path, self._bytes)
        self._bytes = min(size, self._bytes)  # somebody may have taken the file away

    def add(self, batch: int) -> None:
        """Adds what a batch has left, unless that was done before."""
        parts = sorted(self._folder.glob(f"*-{batch:08}*.jsonl"))
        data = b"".join(part.read_bytes() for part in parts)
        if data and batch > self._batch:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                self._bytes = file.tell()
            self._batch, self.lines = batch, self.lines + data.count(b"\n")
            noted = {"batch": batch, "bytes": self._bytes, "lines": self.lines}
            with written_aside(self._folder / _NOTE) as note:
                note.write(json.dumps(noted).encode())
        for part in parts:
            part.unlink()


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The edges that came too late, and the rows that are no edges."""

    late: Growing
    rejected: Growing

    def add(self, batch: int) -> None:
        """Adds those of a batch."""
        self.late.add(batch)
        self.rejected.add(batch)

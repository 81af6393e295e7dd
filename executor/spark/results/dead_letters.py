"""Dead-letter files of a run that never ends: they grow batch by batch.

The tasks of a batch write their lines to files in a folder, with the batch's number in the names.
The driver appends these parts to one file. It does so once for each batch, also if the batch is run
again after a crash.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..host.errors import StorageError
from ..host.files import read_sealed, write_sealed
from ..host.storage import translate_storage_errors

_NOTE = "added.json"
_DIGITS = 18
"""The digits of a file's start in its name; long enough that no rotated file of a user matches."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_SEGMENTS = 8
"""About the number of files in which a bounded log is kept."""


class Growing:
    """A log of JSON lines that grows by the parts of each batch.

    A note in ``folder`` has the number of bytes of the log after the latest batch. Bytes beyond
    that number come from an attempt that was killed, and are cut off.

    Args:
        path: the first file of the log.
        folder: the folder of parts and of the note.
        most_bytes: the largest size of the log, which is then split into several files
            (:func:`segments`), of which the oldest are removed; None: one file without a limit.
    """

    @translate_storage_errors()
    def __init__(self, path: Path, folder: Path, most_bytes: int | None = None) -> None:
        self._path = path
        self._folder = folder
        self._most_bytes = most_bytes
        self._batch = -1
        self._bytes = self.lines = 0
        note = folder / _NOTE
        if note.exists():
            content = read_sealed(note)
            self._batch, self.lines = content["batch"], content["lines"]
            self._bytes = content["bytes"]
        for part in folder.glob("*.jsonl"):
            part.unlink()  # the part's batch is in the log already, or will be run again
        self._cut()

    def add(self, batch: int) -> None:
        """Appends the parts of a batch, unless the log has them already."""
        parts = sorted(self._folder.glob(f"*-{batch:08}*.jsonl"))
        data = b"".join(part.read_bytes() for part in parts)
        if data and batch > self._batch:
            start, file = self._segment(len(data))
            file.parent.mkdir(parents=True, exist_ok=True)
            _refuse_link(file)
            with os.fdopen(os.open(file, _APPEND, 0o666), "ab") as adding:
                adding.write(data)
                adding.flush()
                os.fsync(adding.fileno())
                self._bytes = start + adding.tell()
            self._batch, self.lines = batch, self.lines + data.count(b"\n")
            content = {"batch": batch, "bytes": self._bytes, "lines": self.lines}
            write_sealed(self._folder / _NOTE, content)
            self._prune()
        for part in parts:
            part.unlink()

    def _segment(self, more: int) -> tuple[int, Path]:
        """The file that takes ``more`` bytes, after its start in bytes of the whole log."""
        start, file = (segments(self._path) or [(0, self._path)])[-1]
        full = self._most_bytes is not None and (
            self._bytes - start + more > self._most_bytes // _SEGMENTS
        )
        if full and self._bytes > start:
            name = f"{self._path.name}.{self._bytes:0{_DIGITS}}"
            return self._bytes, self._path.with_name(name)
        return start, file

    def _prune(self) -> None:
        """Removes the oldest files of a log that is too large, but never the last file."""
        for start, file in segments(self._path)[:-1]:
            if self._most_bytes is None or self._bytes - start <= self._most_bytes:
                break
            file.unlink(missing_ok=True)

    def _cut(self) -> None:
        """Cuts off the bytes beyond the number in the note."""
        end = 0
        for start, file in segments(self._path):
            if start > 0 and start >= self._bytes:
                file.unlink()
                continue
            _refuse_link(file)
            if start + file.stat().st_size > self._bytes:
                os.truncate(file, self._bytes - start)
            end = start + file.stat().st_size
        self._bytes = min(end, self._bytes)  # a user may have removed files


def _refuse_link(file: Path) -> None:
    """Raises if a file is a link, which would redirect writes."""
    if file.is_symlink():
        raise StorageError(
            f"{file} is a link (to {os.readlink(file)}), and Headrace made none there.",
            "Remove it; then give the same command again: the run goes on from there.",
        )


def segments(path: Path) -> list[tuple[int, Path]]:
    """The files of a log, oldest first, each after its start in bytes of the whole log.

    The first file is ``path``, unless it was removed. The names of the others end with their start.
    """
    files = [(0, path)] if path.exists() else []
    if path.parent.exists():
        for file in path.parent.iterdir():
            start = file.name.removeprefix(f"{path.name}.")
            if start.isdecimal() and len(start) == _DIGITS:
                files.append((int(start), file))
    return sorted(files)


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The logs of late edges and of rows that are not edges."""

    late: Growing
    rejected: Growing

    def add(self, batch: int) -> None:
        """Adds the dead letters of a batch."""
        self.late.add(batch)
        self.rejected.add(batch)

"""Files of what is set aside in a run that never ends: they grow batch by batch.

Each batch leaves its lines in parts of a folder, in files that have its number in their names. They
are added to one file, once, also where the batch is run again after a crash.
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
"""Of where a file starts, in its name: that of no file that somebody has put aside."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_SEGMENTS = 8
"""How many files what may be kept is in, about."""


class Growing:
    """The file ``path`` of JSON lines, to which parts are added from ``folder``.

    With ``most_bytes`` there are more files after it, and the oldest go (:func:`segments`). A note
    in the folder says how many bytes there were in all after the latest batch that added to them:
    what is beyond that is of an attempt that was killed.
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
            noted = read_sealed(note)
            self._batch, self.lines = noted["batch"], noted["lines"]
            self._bytes = noted["bytes"]
        for part in folder.glob("*.jsonl"):
            part.unlink()  # of a batch that is run again, or was added already
        self._cut()

    def add(self, batch: int) -> None:
        """Adds what a batch has left, unless that was done before."""
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
            noted = {"batch": batch, "bytes": self._bytes, "lines": self.lines}
            write_sealed(self._folder / _NOTE, noted)
            self._prune()
        for part in parts:
            part.unlink()

    def _segment(self, more: int) -> tuple[int, Path]:
        """The file that takes ``length`` more bytes, and the byte at which it starts."""
        start, file = (segments(self._path) or [(0, self._path)])[-1]
        full = self._most_bytes is not None and (
            self._bytes - start + more > self._most_bytes // _SEGMENTS
        )
        if full and self._bytes > start:
            name = f"{self._path.name}.{self._bytes:0{_DIGITS}}"
            return self._bytes, self._path.with_name(name)
        return start, file

    def _prune(self) -> None:
        """Removes the oldest files if there is too much, but for the last one."""
        for start, file in segments(self._path)[:-1]:
            if self._most_bytes is None or self._bytes - start <= self._most_bytes:
                break
            file.unlink(missing_ok=True)

    def _cut(self) -> None:
        """Removes what is beyond the note."""
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
    """Raises if a file is a link, which would lead writing elsewhere."""
    if file.is_symlink():
        raise StorageError(
            f"{file} is a link (to {os.readlink(file)}), and Headrace made none there.",
            "Remove it; then give the same command again: it goes on from there.",
        )


def segments(path: Path) -> list[tuple[int, Path]]:
    """The files of what was written to ``path``, the oldest first, each with the byte of the whole
    at which it starts: that at ``path`` itself, if it is still there, and those whose names end
    with where they start.
    """
    found = [(0, path)] if path.exists() else []
    if path.parent.exists():
        for file in path.parent.iterdir():
            start = file.name.removeprefix(f"{path.name}.")
            if start.isdecimal() and len(start) == _DIGITS:
                found.append((int(start), file))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The edges that came too late, and the rows that are no edges."""

    late: Growing
    rejected: Growing

    def add(self, batch: int) -> None:
        """Adds those of a batch."""
        self.late.add(batch)
        self.rejected.add(batch)

"""The results of a query, by their numbers: the first one is 1.

In: the folder in which a run writes a file of JSON lines for each micro-batch and partition. Files
are complete, never change, and appear in the order of their names. Out: lines after any number. The
service deletes the oldest files beyond a bound. A note keeps the number of deleted results, so that
the remaining results keep their numbers.
"""

from __future__ import annotations

import json
import threading
import time
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from ...executor.spark.host.files import written_aside

MOST_BYTES_AT_ONCE = 65_536
_COUNTED_AT_ONCE = 1 << 20
_CLOCK_SECONDS = 0.1
"""Files written within this time may share one modification time of their folder."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Bounds on the results kept for a query."""

    bytes: int = 1_000_000_000
    files: int = 10_000


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size: int
    end: int
    """The number of its last result."""


class Results:
    """The results of one query; may be used by many threads."""

    def __init__(self, folder: Path, note: Path, kept: Kept) -> None:
        """Opens the results of a query.

        Args:
            folder: the folder of result files.
            note: the file with the number of pruned results.
            kept: the bounds on the results.
        """
        self._folder = folder
        self._note = note
        self._kept = kept
        self._lock = threading.Lock()
        self._files: list[_File] = []
        self._changed_ns = -1
        self._changed_at = 0.0
        self._settled = False
        self._pruned, self._through = self._noted()

    @property
    def count(self) -> int:
        """The number of the last result."""
        with self._lock:
            self._refresh()
            return self._end

    def after(self, number: int) -> tuple[int, Path | None, int]:
        """Finds the file with the first kept result after ``number``.

        Returns:
            The number of pruned results after ``number``; the file, or None; and the number of the
            last result before the file.
        """
        with self._lock:
            self._refresh()
            lost = max(0, self._pruned - number)
            place = bisect_right([file.end for file in self._files], number + lost)
            before = self._files[place - 1].end if place else self._pruned
            return lost, self._files[place].path if place < len(self._files) else None, before

    def prune(self) -> int:
        """Removes the oldest files beyond the bounds, except the last batch; returns the number."""
        with self._lock:
            self._refresh()
            last = _batch(self._files[-1].path) if self._files else ""
            size, number, going = sum(file.size for file in self._files), len(self._files), 0
            while size > self._kept.bytes or number > self._kept.files:
                if _batch(self._files[going].path) == last:
                    break
                size, number, going = size - self._files[going].size, number - 1, going + 1
            if not going:
                return 0
            gone, self._files = self._files[:going], self._files[going:]
            self._pruned, self._through = gone[-1].end, gone[-1].path.name
            with written_aside(self._note) as file:
                file.write(json.dumps({"results": self._pruned, "through": self._through}).encode())
            for one in gone:
                one.path.unlink(missing_ok=True)
            return going

    @property
    def _end(self) -> int:
        return self._files[-1].end if self._files else self._pruned

    def _refresh(self) -> None:
        """Looks for new files if the folder has changed."""
        try:
            changed_ns = self._folder.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if changed_ns != self._changed_ns:
            self._changed_ns, self._changed_at = changed_ns, time.monotonic()
            self._settled = False
        elif self._settled:
            return
        # Use the monotonic clock: the clock of the file system may be set.
        self._settled = time.monotonic() - self._changed_at > _CLOCK_SECONDS
        last = self._files[-1].path.name if self._files else self._through
        names = sorted(path.name for path in self._folder.glob("part-*.jsonl"))
        for name in names:
            path = self._folder / name
            if name > last:
                size, lines = _measured(path)
                self._files.append(_File(path, size, self._end + lines))
            elif name <= self._through:
                path.unlink(missing_ok=True)  # an earlier service was killed while it pruned

    def _noted(self) -> tuple[int, str]:
        try:
            note = json.loads(self._note.read_text("utf-8"))
        except FileNotFoundError:
            return 0, ""
        return note["results"], note["through"]


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive results.

    ``first`` is the number of the first line, and ``lost`` the number of pruned results before it.
    """

    lines: tuple[bytes, ...]
    first: int
    lost: int = 0


class Reader:
    """Reads the results of a query in chunks, after a number."""

    def __init__(self, results: Results, after: int = 0, tail: int | None = None) -> None:
        """Starts after the result number ``after``, or with the newest ``tail`` results."""
        self._results = results
        self.position = after
        self._tail = tail
        self._path: Path | None = None
        self._offset = 0

    def read(self) -> Lines:
        """Reads the next results; returns no lines if there are none now."""
        if self._tail is not None:
            self.position, self._tail = max(0, self._results.count - self._tail), None
            # Results pruned before the first read do not count as lost.
            self.position += self._results.after(self.position)[0]
        lost = 0
        while True:
            missed, path, before = self._results.after(self.position)
            lost += missed
            self.position += missed
            if path is None:
                return Lines((), self.position + 1, lost)
            try:
                lines = self._read(path, before)
            except FileNotFoundError:
                continue  # the file was pruned just now
            first = self.position + 1
            self.position += len(lines)
            return Lines(tuple(lines), first, lost)

    def _read(self, path: Path, before: int) -> list[bytes]:
        with path.open("rb") as file:
            if path == self._path:
                file.seek(self._offset)
            else:
                for _ in range(self.position - before):
                    file.readline()
            lines = file.readlines(MOST_BYTES_AT_ONCE)
            self._path, self._offset = path, file.tell()
        return [line.rstrip(b"\n") for line in lines]


def _batch(path: Path) -> str:
    return path.name.rpartition("-")[0]


def _measured(path: Path) -> tuple[int, int]:
    """The bytes and lines of a file."""
    size = lines = 0
    with path.open("rb") as file:
        while piece := file.read(_COUNTED_AT_ONCE):
            size += len(piece)
            lines += piece.count(b"\n")
    return size, lines

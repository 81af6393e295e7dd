"""What a run keeps on disk so that it can be taken up again, and by whom it may be.

A *work folder* holds the pin (``query.json``: plan, inputs' digest, output, parallelism),
the spooled input, Spark's own checkpoint and staged results. It is the folder given as
checkpoint; without one, a folder beside the results that goes when the run has ended. An
output folder carries a note of the work folder that it belongs to.

Everything is looked at before anything is made: what is refused is left as it was.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...algebra.plan import PhysicalPlan
from .host.errors import (
    NEW_CHECKPOINT,
    DamagedError,
    ExecutionError,
    OtherQueryError,
)
from .host.files import aside_of, read_sealed, remove_aside, write_sealed
from .host.folders import MARK, made_folder
from .host.storage import storage_told
from .results.batch_log import BatchLog
from .results.claims import (
    check_output,
    check_without_links,
    check_writable,
    claim,
    identity,
)
from .results.sinks import NOTE, Output, ToFile, ToFolder
from .state.unfinished import remove_unfinished

_PIN = "query.json"
_COUNTS = "counted.json"
_LOCK = "lock"
_VERSION = 1
_LOCK_SECONDS = 10.0

AtEnd = Literal["keep", "empty", "remove", "remove in any case"]
"""What becomes of a work folder when its run has ended well, or in any case."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What a work folder is for; a restart has to agree in all of it.

    ``sources`` are the live ones; of files the spool knows which they are.
    """

    plan: PhysicalPlan
    output: str
    parallelism: int
    sources: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """As JSON-able values."""
        live = {} if self.sources is None else {"sources": dict(self.sources)}
        return {
            **live,
            "version": _VERSION,
            "digest": self.plan.digest,
            "plan": self.plan.to_document(),
            "output": self.output,
            "parallelism": self.parallelism,
        }


def pinned_plan(folder: Path) -> PhysicalPlan | None:
    """The plan that a checkpoint was made with, if it is one: a restart need not search.

    Raises:
        OtherQueryError: if the folder is of another version of Headrace.
    """
    found = _read(folder)
    return None if found is None else PhysicalPlan.from_document(found["plan"])


class Work:
    """A work folder that this process holds until it is closed.

    ``lock`` is the open file by which it does.
    """

    def __init__(
        self,
        folder: Path,
        document: dict[str, Any],
        lock: int,
        *,
        fresh: bool,
        at_end: AtEnd,
        made: tuple[Path, ...],
    ) -> None:
        self.folder = folder
        self.fresh = fresh
        self._document = document
        self._at_end = at_end
        self._made = made
        self.lock = lock
        for name in (_PIN, _COUNTS):
            remove_aside(folder / name)
        remove_unfinished(self.spark)
        if fresh:
            self._write()

    @property
    def id(self) -> str:
        """Tells this work folder from all others."""
        return str(self._document["id"])

    @property
    def report(self) -> dict[str, Any] | None:
        """The report of the run, if it has ended."""
        report: dict[str, Any] | None = self._document.get("report")
        return report

    @property
    def input(self) -> Path:
        """Where the spooled input is."""
        return self.folder / "input"

    @property
    def spark(self) -> Path:
        """Where Spark keeps its checkpoint."""
        return self.folder / "spark"

    @property
    def batches(self) -> BatchLog:
        """What is noted of the micro-batches."""
        return BatchLog(self.spark, self.folder / _COUNTS)

    @property
    def late(self) -> Path:
        """The folder for edges that came too late, until the run ends."""
        return self.folder / "late"

    @storage_told()
    def complete(self, report: dict[str, Any]) -> None:
        """All results are out; a folder that nobody asked for is emptied or removed."""
        self._document["report"] = report
        self._write()
        self._tidy()

    def _tidy(self) -> None:
        """Removes what a complete run needs no more."""
        if self._at_end == "empty":
            for part in ("input", "spark", "staging", "late"):
                _remove(self.folder / part)
        elif self._at_end == "remove" and self.folder.is_dir():
            # The pin goes last: while it is there, a run that is killed here is taken up again.
            for path in sorted(self.folder.iterdir(), key=lambda path: path.name == _PIN):
                _remove(path)
            _remove(self.folder)

    def discard(self) -> None:
        """Removes all that was made for this run, also what it is nested in."""
        for path in (self.folder / _PIN, *self._made):
            _remove(path)

    def close(self) -> None:
        """Lets others use the folder, or removes one that nobody will find again."""
        if self.report is not None:
            self._tidy()
        os.close(self.lock)
        if self._at_end == "remove in any case":
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self) -> None:
        write_sealed(self.folder / _PIN, self._document)


def open_work(pin: Pin, output: Output, checkpoint: Path | None) -> Work:
    """The work folder of a run: a new one, or that of the same query to go on with.

    Args:
        pin: what the run is.
        output: where the results go; claimed for the query.
        checkpoint: the folder the user gave, if any.

    Raises:
        OtherQueryError: if the checkpoint or the output belongs to another query.
        OutputError: if the output holds what is not ours.
        DamagedError: if a file of the checkpoint is damaged.
        StorageError: if one of them cannot be read or written.
        ExecutionError: if another run uses the checkpoint now.
    """
    with storage_told():
        return _open_work(pin, output, checkpoint)


def _open_work(pin: Pin, output: Output, checkpoint: Path | None) -> Work:
    given = _work_folder(output, checkpoint)
    at_end = "keep" if checkpoint is not None else _at_end(output)
    while True:
        folder, found = _looked_at(given, pin, output)
        own = {"id": uuid.uuid4().hex, "folder": str(folder)}
        document = {**pin.document(), **own} if found is None else found
        places = [folder, output.path / NOTE] if isinstance(output, ToFolder) else [folder]
        made = tuple(path for place in places for path in _first_missing(place.absolute()))
        folder.mkdir(parents=True, exist_ok=True)
        name = MARK if at_end == "remove in any case" else _LOCK
        lock = _locked(folder / name)
        if _is_locked(folder / name, lock) and _read(folder) == found:
            break
        os.close(lock)  # another run has begun or ended meanwhile: look again
    try:
        work = Work(folder, document, lock, fresh=found is None, at_end=at_end, made=made)
        if isinstance(output, ToFolder):
            claim(output.path, work.id, pin.plan.digest)
    except BaseException:
        os.close(lock)
        raise
    return work


def _looked_at(given: Path, pin: Pin, output: Output) -> tuple[Path, dict[str, Any] | None]:
    """The work folder by its one name, and its pin if it has one, when all may be used."""
    folder = identity(given)
    found = _read(folder)
    if found is not None:
        if "folder" not in found:
            folder = given.absolute()  # of a version that took the name as it was given
        _same(folder, found, pin)
    check_output(output, found, folder)
    if found is None and folder.exists() and not _is_free(folder):
        raise OtherQueryError(
            f"{folder} is not empty and is no checkpoint of Headrace.",
            "Remove what is in it.",
            NEW_CHECKPOINT,
        )
    check_without_links(folder)
    check_writable(folder)
    return folder, found


def _remove(path: Path) -> None:
    """Removes a file, or a folder with all that is in it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_free(folder: Path) -> bool:
    """Whether a folder can become a work folder: it is empty, or holds only what a run leaves that
    is killed before its pin is written."""
    left = {_LOCK, MARK, *(path.name for path in aside_of(folder / _PIN))}
    return {path.name for path in folder.iterdir()} <= left


def _first_missing(folder: Path) -> list[Path]:
    """What would have to be removed to undo the making of a folder."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    return missing[-1:]


def _at_end(output: Output) -> AtEnd:
    """What becomes of a work folder that nobody asked for."""
    match output:
        case ToFolder():
            return "empty"
        case ToFile():
            return "remove"
        case _:
            return "remove in any case"


def _work_folder(output: Output, checkpoint: Path | None) -> Path:
    if checkpoint is not None:
        return checkpoint.absolute()
    match output:
        case ToFolder(path):
            return (path / NOTE).absolute()
        case ToFile(path):
            return path.with_name(path.name + ".headrace").absolute()
        case _:
            return made_folder()


def _read(folder: Path) -> dict[str, Any] | None:
    """The pin of a work folder, None where there is none."""
    try:
        document: dict[str, Any] = read_sealed(folder / _PIN)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not isinstance(document, dict) or "version" not in document:
        raise DamagedError(folder / _PIN)
    if document["version"] != _VERSION:
        raise OtherQueryError(
            f"{folder} is a checkpoint of version {document['version']!r}, "
            f"this Headrace reads version {_VERSION}.",
            "Go on with the version that made it, or start anew with another output.",
            NEW_CHECKPOINT,
        )
    if not {"id", "digest", "plan", "output", "parallelism"} <= document.keys():
        raise DamagedError(folder / _PIN)
    return document


def _same(folder: Path, found: dict[str, Any], pin: Pin) -> None:
    """Raises unless the pin is the one that was found."""
    wanted = pin.document()
    for key, what in (
        ("parallelism", "another parallelism"),
        ("digest", "another plan or query"),
        ("output", "another output"),
    ):
        if _located(found[key]) != _located(wanted[key]):
            raise OtherQueryError(
                f"{folder} belongs to {what}: {found[key]}, not {wanted[key]}.",
                "Run what it belongs to, or start anew with another output.",
                NEW_CHECKPOINT,
            )
    made_as = found.get("folder", str(folder))
    if made_as != str(folder) and "sources" not in found and "report" not in found:
        raise OtherQueryError(
            f"{folder} was made as {made_as}; it has been moved or copied, and names its files by "
            "their full paths.",
            f"Move it back to {made_as}, or start anew with another output.",
            NEW_CHECKPOINT,
        )
    before, now = found.get("sources"), wanted.get("sources")
    if before != now:
        changed = sorted(
            n for n in {**(before or {}), **(now or {})} if _of(before, n) != _of(now, n)
        )
        raise OtherQueryError(
            f"{folder} was started on other sources: {', '.join(changed)}.",
            "Give the same as before, or start anew with another output.",
            NEW_CHECKPOINT,
        )


def _located(pinned: Any) -> Any:
    """What is pinned, a path among it without links: earlier versions noted it as it was given."""
    if not isinstance(pinned, str) or not pinned.startswith("/"):
        return pinned
    path, _, file_format = pinned.rpartition(" (")
    return f"{identity(Path(path))} ({file_format}"


def _of(sources: Mapping[str, Any] | None, name: str) -> Any:
    return None if sources is None else sources.get(name)


def _locked(path: Path) -> int:
    """An open file, locked until it is closed, by this process and the JVM that inherits it.

    A driver that was killed leaves its JVM at work for a moment; it is waited for.
    """
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o644)
    patience = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() < patience:
                time.sleep(0.1)
                continue
            os.close(handle)
            raise ExecutionError(
                f"Another run uses {path.parent} now.", "Wait for its end, or stop it first."
            ) from error
        return handle


def _is_locked(path: Path, lock: int) -> bool:
    """Whether a lock is the one that others would find: a run that ends may remove its folder."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False

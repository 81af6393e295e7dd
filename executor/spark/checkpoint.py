"""What a run keeps on disk so that it can be taken up again, and by whom it may be.

A *work folder* holds the pin (``query.json``: plan, inputs' digest, output, parallelism),
the spooled input, Spark's own checkpoint and staged results. It is the folder given as
checkpoint; without one, a folder beside the results that goes when the run has ended. An
output folder carries a note of the work folder that it belongs to.

Everything is looked at before anything is made: what is refused is left as it was.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from algebra.plan import PhysicalPlan
from executor.spark.errors import ExecutionError, OtherQueryError, OutputError
from executor.spark.files import aside_of, remove_aside, written_aside
from executor.spark.folders import MARK, made_folder, temporary_parent
from executor.spark.sinks import JOINED, Output, ToFile, ToFolder
from executor.spark.unfinished import remove_unfinished

_PIN = "query.json"
_COUNTS = "counted.json"
_LOCK = "lock"
NOTE = "_headrace"
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
        self.lock = _locked(folder, MARK if at_end == "remove in any case" else _LOCK)
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
    def last_batch(self) -> int:
        """The last micro-batch that is done; -1 before the first."""
        names = (path.name for path in (self.spark / "commits").glob("[0-9]*"))
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def slices(self, batch: int) -> int:
        """How many slices of the spooled input Spark had taken with a micro-batch.

        Mostly one more than with the one before; but a Spark that was killed after it noted the
        next slice, and before the next batch, takes two at once when it goes on.
        """
        if batch < 0:
            return 0
        offsets = (self.spark / "offsets" / str(batch)).read_text().splitlines()
        return int(json.loads(offsets[-1])["logOffset"]) + 1

    @property
    def counts(self) -> Path:
        """The file for what was counted so far."""
        return self.folder / _COUNTS

    @property
    def late(self) -> Path:
        """The folder for edges that came too late, until the run ends."""
        return self.folder / "late"

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
        with written_aside(self.folder / _PIN) as file:
            file.write(json.dumps(self._document, indent=1).encode())


def open_work(pin: Pin, output: Output, checkpoint: Path | None) -> Work:
    """The work folder of a run: a new one, or that of the same query to go on with.

    Args:
        pin: what the run is.
        output: where the results go; claimed for the query.
        checkpoint: the folder the user gave, if any.

    Raises:
        OtherQueryError: if the checkpoint or the output belongs to another query.
        OutputError: if the output holds what is not ours, or lies where it would be swept away.
        ExecutionError: if another run uses the checkpoint now.
    """
    for option, place in (("--checkpoint", checkpoint), ("--output", _place(output))):
        _check_lasting(option, place)
    folder = _work_folder(output, checkpoint)
    found = _read(folder)
    if found is not None:
        _same(folder, found, pin)
    _check_output(output, found, folder)
    if found is None and folder.exists() and not _is_free(folder):
        raise OtherQueryError(
            f"{folder} is not empty and is no checkpoint of Headrace.",
            "Give an empty or a new folder as --checkpoint.",
        )
    fresh = found is None
    document = {**pin.document(), "id": uuid.uuid4().hex} if found is None else found
    places = [folder, output.path / NOTE] if isinstance(output, ToFolder) else [folder]
    made = tuple(path for place in places for path in _first_missing(place.absolute()))
    folder.mkdir(parents=True, exist_ok=True)
    at_end = "keep" if checkpoint is not None else _at_end(output)
    work = Work(folder, document, fresh=fresh, at_end=at_end, made=made)
    if isinstance(output, ToFolder):
        _claim(output.path, work.id, pin)
    return work


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


def _place(output: Output) -> Path | None:
    return output.path if isinstance(output, ToFolder | ToFile) else None


def _check_lasting(option: str, place: Path | None) -> None:
    """Raises if what a user named lies in a temporary folder of a run."""
    temporary = None if place is None else temporary_parent(place)
    if temporary is not None:
        raise OutputError(
            f"{temporary} is a temporary folder of Headrace, which is removed with its run.",
            f"Give another {option}.",
        )


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
        document: dict[str, Any] = json.loads((folder / _PIN).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ExecutionError(f"{folder / _PIN} cannot be read: {error}") from error
    if document.get("version") != _VERSION:
        raise OtherQueryError(
            f"{folder} is a checkpoint of version {document.get('version')!r}, "
            f"this Headrace reads version {_VERSION}.",
            "Start anew with another --checkpoint and --output.",
        )
    return document


def _same(folder: Path, found: dict[str, Any], pin: Pin) -> None:
    """Raises unless the pin is the one that was found."""
    wanted = pin.document()
    for key, what in (
        ("parallelism", "another parallelism"),
        ("digest", "another plan or query"),
        ("output", "another output"),
    ):
        if found[key] != wanted[key]:
            raise OtherQueryError(
                f"{folder} belongs to {what}: {found[key]}, not {wanted[key]}.",
                "Run what it belongs to, or give another --checkpoint and --output.",
            )
    before, now = found.get("sources"), wanted.get("sources")
    if before != now:
        changed = sorted(
            n for n in {**(before or {}), **(now or {})} if _of(before, n) != _of(now, n)
        )
        raise OtherQueryError(
            f"{folder} was started on other sources: {', '.join(changed)}.",
            "Give the same as before, or another --checkpoint and --output.",
        )


def _of(sources: Mapping[str, Any] | None, name: str) -> Any:
    return None if sources is None else sources.get(name)


def _check_output(output: Output, found: dict[str, Any] | None, folder: Path) -> None:
    """Raises unless the output is free, or belongs to the work folder ``found``."""
    match output:
        case ToFile(path):
            ours = found is not None and ("report" in found or (folder / JOINED).exists())
            if path.is_dir() or (path.exists() and not ours):
                raise OutputError(f"{path} exists.", "Remove it, or give another --output.")
        case ToFolder(path):
            if path.exists() and not path.is_dir():
                raise OutputError(f"{path} is not a folder.", "Give another --output.")
            owner = _owner(path)
            if owner is not None and (found is None or owner != found["id"]):
                raise OtherQueryError(
                    f"{path} holds the results of another query or of an earlier run.",
                    "Give another --output, or the --checkpoint of that run to go on with it.",
                )
            if owner is None and found is not None and (folder / "spark").exists():
                raise OutputError(
                    f"The results that this query wrote to {path} are no longer there.",
                    "Start anew with another --checkpoint.",
                )
            others = {p.name for p in path.iterdir()} - {NOTE} if path.exists() else set()
            if owner is None and others - {folder.name if folder.parent == path else ""}:
                raise OutputError(
                    f"{path} is not empty.", "Give an empty or a new folder as --output."
                )
        case _:
            pass


def _owner(path: Path) -> str | None:
    """The id of the work folder that an output folder belongs to."""
    try:
        note: dict[str, Any] = json.loads((path / NOTE / "owner.json").read_text())
    except (OSError, ValueError):
        return None
    return str(note["id"])


def _claim(path: Path, work_id: str, pin: Pin) -> None:
    note = path / NOTE
    note.mkdir(parents=True, exist_ok=True)
    if _owner(path) != work_id:
        with written_aside(note / "owner.json") as file:
            file.write(json.dumps({"id": work_id, "digest": pin.plan.digest}).encode())


def _locked(folder: Path, name: str) -> int:
    """An open file, locked until it is closed, by this process and the JVM that inherits it.

    A driver that was killed leaves its JVM at work for a moment; it is waited for.
    """
    handle = os.open(folder / name, os.O_CREAT | os.O_RDWR, 0o644)
    patience = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if time.monotonic() < patience:
                time.sleep(0.1)
                continue
            os.close(handle)
            raise ExecutionError(
                f"Another run uses {folder} now.", "Wait for its end, or stop it first."
            ) from error
        return handle

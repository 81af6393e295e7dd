"""The checkpoint directory of a run, from which the run can be resumed.

The directory holds the manifest (``query.json``: plan, output, parallelism, sources), the spooled
input, Spark's own checkpoint and staged results. If the user names no directory, it is a folder
beside the results, and the end of the run removes it. A note in an output folder names the
checkpoint directory whose results the folder has.

All checks come before the first change on disk: a run that is refused leaves everything as it was.
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
from .host.storage import translate_storage_errors
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

_MANIFEST = "query.json"
_COUNTS = "counted.json"
_LOCK = "lock"
_VERSION = 1
_LOCK_SECONDS = 10.0

AtEnd = Literal["keep", "empty", "remove", "remove in any case"]
"""What happens to a checkpoint directory at the end of its run.

``empty`` and ``remove`` wait for the success of the run; ``remove in any case`` does not.
"""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The identity of a checkpoint directory's run; a resumed run must have the same manifest.

    Attributes:
        plan: the plan of the run.
        output: the output of the results, and their format.
        parallelism: the number of partitions.
        sources: the declarations of live sources; the spool records those of files.
    """

    plan: PhysicalPlan
    output: str
    parallelism: int
    sources: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """The manifest as JSON-able values."""
        live = {} if self.sources is None else {"sources": dict(self.sources)}
        return {
            **live,
            "version": _VERSION,
            "digest": self.plan.digest,
            "plan": self.plan.to_document(),
            "output": self.output,
            "parallelism": self.parallelism,
        }


def checkpointed_plan(folder: Path) -> PhysicalPlan | None:
    """Returns the plan of a checkpoint, so that a resumed run needs no search; None without one.

    Raises:
        OtherQueryError: if another version of Headrace wrote the checkpoint.
    """
    document = _read(folder)
    return None if document is None else PhysicalPlan.from_document(document["plan"])


class CheckpointDirectory:
    """A checkpoint directory, locked by this process until it is closed.

    Attributes:
        folder: the path of the directory.
        fresh: whether the run is new; if not, it is resumed.
        lock: the descriptor of the open file that holds the lock.
    """

    def __init__(
        self,
        folder: Path,
        document: dict[str, Any],
        lock: int,
        *,
        fresh: bool,
        at_end: AtEnd,
        created: tuple[Path, ...],
    ) -> None:
        self.folder = folder
        self.fresh = fresh
        self._document = document
        self._at_end = at_end
        self._created = created
        self.lock = lock
        for name in (_MANIFEST, _COUNTS):
            remove_aside(folder / name)
        remove_unfinished(self.spark)
        if fresh:
            self._write()

    @property
    def id(self) -> str:
        """The unique id of this checkpoint directory."""
        return str(self._document["id"])

    @property
    def report(self) -> dict[str, Any] | None:
        """The report of the run, if it has ended."""
        report: dict[str, Any] | None = self._document.get("report")
        return report

    @property
    def input(self) -> Path:
        """The folder of the spooled input."""
        return self.folder / "input"

    @property
    def spark(self) -> Path:
        """The folder of Spark's checkpoint."""
        return self.folder / "spark"

    @property
    def batches(self) -> BatchLog:
        """The log of published micro-batches."""
        return BatchLog(self.spark, self.folder / _COUNTS)

    @property
    def late(self) -> Path:
        """The folder for late edges, until the run ends."""
        return self.folder / "late"

    @translate_storage_errors()
    def complete(self, report: dict[str, Any]) -> None:
        """Stores the report; empties or removes a directory that the user did not name."""
        self._document["report"] = report
        self._write()
        self._tidy()

    def _tidy(self) -> None:
        """Removes the files that are useless after a successful run."""
        if self._at_end == "empty":
            for part in ("input", "spark", "staging", "sink", "late"):
                _remove(self.folder / part)
        elif self._at_end == "remove" and self.folder.is_dir():
            # Remove the manifest last: a run that is killed here can still be resumed.
            for path in sorted(self.folder.iterdir(), key=lambda path: path.name == _MANIFEST):
                _remove(path)
            _remove(self.folder)

    def discard(self) -> None:
        """Removes the directory, and the folders above it that this run created."""
        for path in (self.folder / _MANIFEST, *self._created):
            _remove(path)

    def close(self) -> None:
        """Unlocks the directory; removes one that no other run can find."""
        if self.report is not None:
            self._tidy()
        os.close(self.lock)
        if self._at_end == "remove in any case":
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self) -> None:
        write_sealed(self.folder / _MANIFEST, self._document)


def open_checkpoint(
    manifest: Manifest, output: Output, checkpoint: Path | None
) -> CheckpointDirectory:
    """Opens the checkpoint directory of a run: a new one, or that of the same query to resume.

    Args:
        manifest: the manifest of the run.
        output: the output of the results, which is claimed for the run.
        checkpoint: the folder that the user named, if any.

    Raises:
        OtherQueryError: if the checkpoint or the output belongs to another query.
        OutputError: if the output holds files that are not of this run.
        DamagedError: if a file of the checkpoint is damaged.
        StorageError: if the checkpoint or the output cannot be read or written.
        ExecutionError: if another run uses the checkpoint now.
    """
    with translate_storage_errors():
        return _open_checkpoint(manifest, output, checkpoint)


def _open_checkpoint(
    manifest: Manifest, output: Output, checkpoint: Path | None
) -> CheckpointDirectory:
    requested = _directory_of(output, checkpoint)
    at_end = "keep" if checkpoint is not None else _at_end(output)
    while True:
        folder, existing = _checked(requested, manifest, output)
        own = {"id": uuid.uuid4().hex, "folder": str(folder)}
        document = {**manifest.document(), **own} if existing is None else existing
        needed = [folder, output.path / NOTE] if isinstance(output, ToFolder) else [folder]
        created = tuple(path for one in needed for path in _first_missing(one.absolute()))
        folder.mkdir(parents=True, exist_ok=True)
        name = MARK if at_end == "remove in any case" else _LOCK
        lock = _locked(folder / name)
        if _is_locked(folder / name, lock) and _read(folder) == existing:
            break
        os.close(lock)  # another run has begun or ended in the meantime: check again
    try:
        directory = CheckpointDirectory(
            folder, document, lock, fresh=existing is None, at_end=at_end, created=created
        )
        if isinstance(output, ToFolder):
            claim(output.path, directory.id, manifest.plan.digest)
    except BaseException:
        os.close(lock)
        raise
    return directory


def _checked(
    requested: Path, manifest: Manifest, output: Output
) -> tuple[Path, dict[str, Any] | None]:
    """Checks that a run may use a checkpoint directory and an output; changes nothing.

    Returns:
        The real path of the directory, and its manifest if there is one.

    Raises:
        ExecutionError: as :func:`open_checkpoint`.
    """
    folder = identity(requested)
    existing = _read(folder)
    if existing is not None:
        if "folder" not in existing:
            folder = requested.absolute()  # an earlier version did not resolve links
        _check_same(folder, existing, manifest)
    check_output(output, existing, folder)
    if existing is None and folder.exists() and not _is_free(folder):
        raise OtherQueryError(
            f"{folder} is not empty and is not a checkpoint of Headrace.",
            "Remove its content.",
            NEW_CHECKPOINT,
        )
    check_without_links(folder)
    check_writable(folder)
    return folder, existing


def _remove(path: Path) -> None:
    """Removes a file, or a folder with its content."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_free(folder: Path) -> bool:
    """Whether a folder has no files but those of a run killed before it wrote its manifest."""
    remains = {_LOCK, MARK, *(path.name for path in aside_of(folder / _MANIFEST))}
    return {path.name for path in folder.iterdir()} <= remains


def _first_missing(folder: Path) -> list[Path]:
    """The topmost folder that creating ``folder`` creates too; none if ``folder`` exists."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    return missing[-1:]


def _at_end(output: Output) -> AtEnd:
    """What happens to a checkpoint directory that the user did not name."""
    match output:
        case ToFolder():
            return "empty"
        case ToFile():
            return "remove"
        case _:
            return "remove in any case"


def _directory_of(output: Output, checkpoint: Path | None) -> Path:
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
    """The manifest of a checkpoint directory; None if there is none."""
    try:
        document: dict[str, Any] = read_sealed(folder / _MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not isinstance(document, dict) or "version" not in document:
        raise DamagedError(folder / _MANIFEST)
    if document["version"] != _VERSION:
        raise OtherQueryError(
            f"{folder} is a checkpoint of version {document['version']!r}, "
            f"this Headrace reads version {_VERSION}.",
            "Continue with the version that made it, or start anew with another output.",
            NEW_CHECKPOINT,
        )
    if not {"id", "digest", "plan", "output", "parallelism"} <= document.keys():
        raise DamagedError(folder / _MANIFEST)
    return document


def _check_same(folder: Path, existing: dict[str, Any], manifest: Manifest) -> None:
    """Checks that the manifest in a folder is that of this run.

    Raises:
        OtherQueryError: if it differs, or the folder was moved.
    """
    expected = manifest.document()
    for key, what in (
        ("parallelism", "another parallelism"),
        ("digest", "another plan or query"),
        ("output", "another output"),
    ):
        if _resolved(existing[key]) != _resolved(expected[key]):
            raise OtherQueryError(
                f"{folder} belongs to {what}: {existing[key]}, not {expected[key]}.",
                "Run the query that it belongs to, or start anew with another output.",
                NEW_CHECKPOINT,
            )
    original = existing.get("folder", str(folder))
    if original != str(folder) and "sources" not in existing and "report" not in existing:
        raise OtherQueryError(
            f"{folder} was made as {original}; it has been moved or copied, and names its files by "
            "their full paths.",
            f"Move it back to {original}, or start anew with another output.",
            NEW_CHECKPOINT,
        )
    before, now = existing.get("sources"), expected.get("sources")
    if before != now:
        changed = sorted(
            n for n in {**(before or {}), **(now or {})} if _of(before, n) != _of(now, n)
        )
        raise OtherQueryError(
            f"{folder} was started on other sources: {', '.join(changed)}.",
            "Give the same sources as before, or start anew with another output.",
            NEW_CHECKPOINT,
        )


def _resolved(value: Any) -> Any:
    """A value of a manifest, with the links of a path resolved: earlier versions kept links."""
    if not isinstance(value, str) or not value.startswith("/"):
        return value
    path, _, file_format = value.rpartition(" (")
    return f"{identity(Path(path))} ({file_format}"


def _of(sources: Mapping[str, Any] | None, name: str) -> Any:
    return None if sources is None else sources.get(name)


def _locked(path: Path) -> int:
    """Opens and locks a file; the lock lasts until this process and its JVM have closed the file.

    The JVM of a killed driver lives on for a moment, so this waits up to ten seconds for the lock.

    Raises:
        ExecutionError: if another run holds the lock.
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
    """Whether ``path`` is still the locked file: a run that ends may remove its folder."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False

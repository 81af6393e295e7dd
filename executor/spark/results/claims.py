"""Claims of outputs: an output is checked before a run begins, and then belongs to that run.

An output folder carries a note with the id of the checkpoint directory that its results are from.
An output file has no note: the checkpoint directory names the file that it has written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..host.errors import (
    NEW_CHECKPOINT,
    NEW_OUTPUT,
    DamagedError,
    ExecutionError,
    OtherQueryError,
    OutputError,
)
from ..host.files import read_sealed, write_sealed
from ..host.folders import temporary_parent
from ..host.storage import translate_storage_errors
from .sinks import NOTE, Output, ToFile, ToFolder, WrittenFile

_OWNER = "owner.json"
_EFFECTIVE = os.access in os.supports_effective_ids
_OURS = ("input", "spark", "staging", "late", "parts", "rejected")
"""Folders inside a checkpoint directory, whose content comes and goes."""


def identity(path: Path) -> Path:
    """The one name of a place: absolute, without links."""
    return Path(os.path.realpath(path))


def check_output(output: Output, found: Mapping[str, Any] | None, folder: Path) -> None:
    """Looks whether results can go to an output; changes nothing.

    Args:
        output: where they go.
        found: the manifest of the checkpoint directory, if it has one.
        folder: the checkpoint directory.

    Raises:
        OtherQueryError: if the output belongs to another query.
        OutputError: if it cannot be used.
        DamagedError: if the note about its owner is damaged.
    """
    if not isinstance(output, ToFile | ToFolder):
        return
    path = output.path
    if path.is_symlink() and not path.exists():
        raise OutputError(
            f"{path} is a link to {os.readlink(path)}, which is not there.",
            "Make what it points to.",
            NEW_OUTPUT,
        )
    _check_apart(path, folder)
    if isinstance(output, ToFile):
        _check_file(path, found, folder)
    else:
        _check_folder(path, found, folder)
    check_writable(path)


def check_lasting(output: Output, checkpoint: Path | None) -> None:
    """Looks whether places that a user named lie in a temporary folder of some run.

    Raises:
        OutputError: if one does: it would be removed with that run.
    """
    place = output.path if isinstance(output, ToFile | ToFolder) else None
    for path, remedy in ((checkpoint, NEW_CHECKPOINT), (place, NEW_OUTPUT)):
        temporary = None if path is None else temporary_parent(path)
        if temporary is not None:
            raise OutputError(
                f"{temporary} is a temporary folder of Headrace, which is removed with its run.",
                "",
                remedy,
            )


def check_writable(path: Path) -> None:
    """Looks whether a place can be written to, or made.

    Raises:
        OutputError: if not.
    """
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if path.is_file():
        there = path.absolute().parent
    if not there.is_dir():
        raise OutputError(f"{there} is not a folder.", "Give another place.")
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE):
        read_only = bool(os.statvfs(there).f_flag & os.ST_RDONLY)
        why = "its file system is read-only" if read_only else "permission denied"
        raise OutputError(
            f"{there} cannot be written to: {why}.",
            "Let it be written to (mount, owner, permissions), or give another place.",
        )


def check_without_links(folder: Path) -> None:
    """Looks for symbolic links inside a folder of ours: they would lead writing elsewhere.

    Raises:
        ExecutionError: if there is one.
    """
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink():
                raise ExecutionError(
                    f"{path} is a link (to {os.readlink(path)}), and Headrace made none there.",
                    "Remove it, or start anew with another output.",
                    NEW_CHECKPOINT,
                )


def claim(path: Path, work_id: str, digest: str) -> None:
    """Notes in an output folder whose it is.

    Raises:
        OtherQueryError: if another run was faster.
        OSError: if that cannot be written.
    """
    note = path / NOTE
    note.mkdir(parents=True, exist_ok=True)
    if owner(path) is None:
        with suppress(FileExistsError):
            write_sealed(note / _OWNER, {"id": work_id, "digest": digest}, replacing=False)
    if owner(path) != work_id:
        raise _owned(path)


def owner(path: Path) -> str | None:
    """The id of the checkpoint directory that an output folder belongs to.

    Raises:
        DamagedError: if the note about it is damaged.
        StorageError: if it cannot be read.
    """
    note = path / NOTE / _OWNER
    try:
        with translate_storage_errors():
            try:
                return str(read_sealed(note)["id"])
            except (FileNotFoundError, NotADirectoryError):
                return None
    except (KeyError, TypeError) as error:
        raise DamagedError(note) from error


def _check_apart(path: Path, folder: Path) -> None:
    """Raises if results would stand where a checkpoint directory is emptied."""
    place, directory = identity(path), identity(folder)
    if place.is_relative_to(directory) and place != directory:
        inside = place.relative_to(directory).parts[0]
        if inside in _OURS:
            raise OutputError(
                f"{path} is inside the folder {inside} of the checkpoint {folder}, which Headrace "
                "empties.",
                "",
                NEW_OUTPUT,
            )


def _check_file(path: Path, found: Mapping[str, Any] | None, folder: Path) -> None:
    ended = found is not None and "report" in found
    if path.is_dir() or (path.exists() and not ended and not WrittenFile(folder).is_at(path)):
        raise OutputError(f"{path} exists.", "Remove it.", NEW_OUTPUT)


def _check_folder(path: Path, found: Mapping[str, Any] | None, folder: Path) -> None:
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is not a folder.", "Remove it.", NEW_OUTPUT)
    if (path / NOTE).is_symlink():
        raise OutputError(
            f"{path / NOTE} is a link, and Headrace made none there.",
            "Remove it.",
            NEW_OUTPUT,
        )
    check_without_links(path / NOTE)
    owned_by = owner(path)
    if owned_by is not None and (found is None or owned_by != found["id"]):
        raise _owned(path)
    if owned_by is None and found is not None and (folder / "spark").exists():
        raise OutputError(
            f"The results that this query wrote to {path} are no longer there.",
            "Start anew.",
            NEW_CHECKPOINT,
        )
    others = {p.name for p in path.iterdir()} - {NOTE} if path.exists() else set()
    if owned_by is None and others - {folder.name if identity(path) == folder.parent else ""}:
        raise OutputError(f"{path} is not empty.", "Remove what is in it.", NEW_OUTPUT)


def _owned(path: Path) -> OtherQueryError:
    return OtherQueryError(
        f"{path} holds the results of another query or of an earlier run.",
        "Give the checkpoint of that run to go on with it.",
        NEW_OUTPUT,
    )

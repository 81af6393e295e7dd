"""Claims of outputs: a run checks its output before it begins, and then owns the output.

An output folder holds a note with the id of the checkpoint directory that its results come from.
An output file has no note: the checkpoint directory records which file it has written.
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
from .delivery import WrittenFile
from .sinks import NOTE, Output, ToFile, ToFolder

_OWNER = "owner.json"
_EFFECTIVE = os.access in os.supports_effective_ids
_OURS = ("input", "spark", "staging", "sink", "late", "parts", "rejected")
"""Folders inside a checkpoint directory that a run empties."""


def identity(path: Path) -> Path:
    """The canonical path of a file or folder: absolute, with links resolved."""
    return Path(os.path.realpath(path))


def check_output(output: Output, manifest: Mapping[str, Any] | None, folder: Path) -> None:
    """Checks that a run can write its results to an output; changes nothing.

    Args:
        output: the output of the run.
        manifest: the manifest in the checkpoint directory; None if there is none yet.
        folder: the checkpoint directory.

    Raises:
        OtherQueryError: if the output belongs to another query.
        OutputError: if the output cannot be used.
        DamagedError: if the note with the output's owner is damaged.
    """
    if not isinstance(output, ToFile | ToFolder):
        return
    path = output.path
    if path.is_symlink() and not path.exists():
        raise OutputError(
            f"{path} is a link to {os.readlink(path)}, which does not exist.",
            "Create the target of the link.",
            NEW_OUTPUT,
        )
    _check_apart(path, folder)
    if isinstance(output, ToFile):
        _check_file(path, manifest, folder)
    else:
        _check_folder(path, manifest, folder)
    check_writable(path)


def check_lasting(output: Output, checkpoint: Path | None) -> None:
    """Checks that neither output nor checkpoint lies in a temporary folder of a run.

    Raises:
        OutputError: if one does: the end of that run would remove it.
    """
    output_path = output.path if isinstance(output, ToFile | ToFolder) else None
    for path, remedy in ((checkpoint, NEW_CHECKPOINT), (output_path, NEW_OUTPUT)):
        temporary = None if path is None else temporary_parent(path)
        if temporary is not None:
            raise OutputError(
                f"{temporary} is a temporary folder of Headrace, removed at the end of its run.",
                "",
                remedy,
            )


def check_writable(path: Path) -> None:
    """Checks that a path can be created or written to.

    Raises:
        OutputError: if not.
    """
    existing = next(p for p in (path, *path.absolute().parents) if p.exists())
    if path.is_file():
        existing = path.absolute().parent  # a file is replaced by renaming another one
    if not existing.is_dir():
        raise OutputError(f"{existing} is not a folder.", "Give another path.")
    if not os.access(existing, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE):
        read_only = bool(os.statvfs(existing).f_flag & os.ST_RDONLY)
        why = "its file system is read-only" if read_only else "permission denied"
        raise OutputError(
            f"{existing} cannot be written to: {why}.",
            "Make it writable (mount, owner, permissions), or give another path.",
        )


def check_without_links(folder: Path) -> None:
    """Checks that a folder of Headrace has no symbolic links, which would redirect writes.

    Raises:
        ExecutionError: if there is one.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                raise ExecutionError(
                    f"{path} is a link (to {os.readlink(path)}), and Headrace made none there.",
                    "Remove the link, or start anew with another output.",
                    NEW_CHECKPOINT,
                )


def claim(path: Path, work_id: str, digest: str) -> None:
    """Writes the id of a checkpoint directory to an output folder, unless it has an owner.

    Args:
        path: the output folder.
        work_id: the id of the checkpoint directory.
        digest: the digest of the plan.

    Raises:
        OtherQueryError: if another run owns the folder.
        OSError: if the note cannot be written.
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
        DamagedError: if the note with the id is damaged.
        StorageError: if the note cannot be read.
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
    """Checks that an output is outside the folders of a checkpoint that a run empties."""
    output, directory = identity(path), identity(folder)
    if output.is_relative_to(directory) and output != directory:
        inside = output.relative_to(directory).parts[0]
        if inside in _OURS:
            raise OutputError(
                f"{path} is inside the folder {inside} of the checkpoint {folder}, which Headrace "
                "empties.",
                "",
                NEW_OUTPUT,
            )


def _check_file(path: Path, manifest: Mapping[str, Any] | None, folder: Path) -> None:
    ended = manifest is not None and "report" in manifest
    if path.is_dir() or (path.exists() and not ended and not WrittenFile(folder).is_at(path)):
        raise OutputError(f"{path} exists.", "Remove it.", NEW_OUTPUT)


def _check_folder(path: Path, manifest: Mapping[str, Any] | None, folder: Path) -> None:
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
    if owned_by is not None and (manifest is None or owned_by != manifest["id"]):
        raise _owned(path)
    if owned_by is None and manifest is not None and (folder / "spark").exists():
        raise OutputError(
            f"The results that this query wrote to {path} are missing.",
            "Start anew.",
            NEW_CHECKPOINT,
        )
    others = {p.name for p in path.iterdir()} - {NOTE} if path.exists() else set()
    # The checkpoint directory itself may be inside the output folder.
    if owned_by is None and others - {folder.name if identity(path) == folder.parent else ""}:
        raise OutputError(f"{path} is not empty.", "Remove its content.", NEW_OUTPUT)


def _owned(path: Path) -> OtherQueryError:
    return OtherQueryError(
        f"{path} holds the results of another query or of an earlier run.",
        "Give the checkpoint of that run to continue it.",
        NEW_OUTPUT,
    )

"""Folders and files that only their owner may read, since they may hold passwords."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ...planning.errors import UsageError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(path: Path, ours: Iterable[str] | None = None) -> None:
    """Creates a folder that other users may not enter, or closes an existing one to them.

    A folder with other entries than ``ours`` keeps its rights: it may belong to a project or to
    the system. ``ours`` is None to accept any entries.

    Raises:
        UsageError: if the folder cannot be created, or other users may enter it and it has to keep
            its rights.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        state = path.stat()
        if not state.st_mode & _OTHERS:
            return
        others = ours is not None and {entry.name for entry in path.iterdir()} - set(ours)
        if state.st_uid == os.geteuid() and not state.st_mode & stat.S_ISVTX and not others:
            path.chmod(stat.S_IMODE(state.st_mode) & ~_OTHERS)
            return
    except OSError as error:
        raise UsageError(f"cannot use {path}: {error.strerror}", code="E-STORE") from error
    raise UsageError(
        f"other users may enter {path}, and it has files of other programs",
        code="E-STORE",
        hint=f"name a new folder in it, such as {path / 'headrace'}; or chmod 700 {path}",
    )


def private_file(path: Path) -> None:
    """Creates an empty file that other users may not read, or closes an existing one to them.

    Raises:
        UsageError: if the file cannot be created or closed.
    """
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            mode = stat.S_IMODE(os.fstat(handle).st_mode)
            if mode & _OTHERS:
                os.fchmod(handle, mode & ~_OTHERS)
        finally:
            os.close(handle)
    except OSError as error:
        raise UsageError(f"cannot use {path}: {error.strerror}", code="E-STORE") from error

"""Temporary folders that do not outlive their runs.

A run removes its folders when it ends, also when it fails or is stopped. A run that is killed
cannot, so a later run does it. Each temporary folder carries a *mark*, a file that is made with the
folder and nowhere else: a folder without it is a user's, whatever its name. The mark is locked as
long as the process that made the folder lives, and so is its JVM, which inherits the lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .storage import translate_storage_errors

_PREFIX = "headrace-"
MARK = ".headrace-temporary"
"""The file that marks a temporary folder, and locks it."""
_SECONDS_TO_LOCK = 60.0
"""A mark that is younger may be about to be locked."""


def made_folder() -> Path:
    """A new temporary folder with a mark that is not locked yet."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (folder / MARK).touch(0o600)
    return folder


def temporary_parent(path: Path) -> Path | None:
    """The marked folder that a path is or lies in, if any: it can be removed at any moment."""
    path = path.resolve()
    return next((p for p in (path, *path.parents) if os.path.lexists(p / MARK)), None)


@contextmanager
def own_folder() -> Iterator[tuple[Path, int]]:
    """A temporary folder, and the open file that locks it; removed at the end."""
    with translate_storage_errors("the folder for temporary files"):
        remove_abandoned()
        folder = made_folder()
        lock = os.open(folder / MARK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, lock
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(now: float | None = None) -> None:
    """Removes temporary folders of runs that were killed; ``now`` is in seconds since 1970."""
    now = time.time() if now is None else now
    for mark in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{MARK}"):
        with suppress(OSError):  # somebody else's, or somebody else removes it, too
            if _is_abandoned(mark, now):
                shutil.rmtree(mark.parent, ignore_errors=True)


def _is_abandoned(mark: Path, now: float) -> bool:
    of_folder, of_mark = mark.parent.lstat(), mark.lstat()
    ours = stat.S_ISDIR(of_folder.st_mode) and of_folder.st_uid == os.getuid()
    if not ours or not stat.S_ISREG(of_mark.st_mode) or now - of_mark.st_mtime < _SECONDS_TO_LOCK:
        return False
    handle = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True

"""Temporary folders that do not outlive their runs.

A run removes its folders when it ends, also when it fails or is stopped. One that is killed
cannot; what it leaves is removed by a later run, which tells it by a lock that nobody holds: the
process that made the folder does as long as it lives, and so does its JVM, which inherits it.
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

from executor.spark.storage import storage_told

_PREFIX = "headrace-"
_LOCK = "session.lock"
_LOCKS = (f"{_PREFIX}*/{_LOCK}", f"{_PREFIX}run-*/lock")
"""Locks of sessions, and of the work of runs that nobody can take up again."""
_SECONDS_TO_LOCK = 60.0
"""A lock that is younger may be about to be taken."""


@contextmanager
def own_folder() -> Iterator[tuple[Path, int]]:
    """A temporary folder, and the open file that locks it; removed at the end."""
    with storage_told("the folder for temporary files"):
        remove_abandoned()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, lock
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(now: float | None = None) -> None:
    """Removes temporary folders of runs that were killed; ``now`` is in seconds since 1970."""
    now = time.time() if now is None else now
    for pattern in _LOCKS:
        for lock in Path(tempfile.gettempdir()).glob(pattern):
            with suppress(OSError):  # somebody else's, or somebody else removes it, too
                if _is_abandoned(lock, now):
                    shutil.rmtree(lock.parent, ignore_errors=True)


def _is_abandoned(lock: Path, now: float) -> bool:
    of_folder, of_lock = lock.parent.lstat(), lock.lstat()
    ours = stat.S_ISDIR(of_folder.st_mode) and of_folder.st_uid == os.getuid()
    if not ours or not stat.S_ISREG(of_lock.st_mode) or now - of_lock.st_mtime < _SECONDS_TO_LOCK:
        return False
    handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True

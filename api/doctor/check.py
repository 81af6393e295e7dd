"""Makes the results of checks, and describes folders and sizes for them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from ...documents.checks import CheckDocument, Status

MEGABYTE: Final = 1_000_000
GIGABYTE: Final = 1_000_000_000


def check(
    name: str,
    found: str,
    status: Status = "ok",
    advice: str | None = None,
    *,
    optional: bool = False,
) -> CheckDocument:
    """Returns a check; ``optional`` is for what usual runs do without."""
    return CheckDocument(
        name=name, status=status, necessary=not optional, found=found, advice=advice
    )


def size(count: float) -> str:
    """Returns a number of bytes for people.

    >>> size(150_400_000), size(2_500_000_000), size(1234)
    ('150 MB', '2.5 GB', '1 kB')
    """
    if count >= GIGABYTE:
        return f"{count / GIGABYTE:.1f} GB"
    return f"{count / MEGABYTE:.0f} MB" if count >= MEGABYTE else f"{count / 1000:.0f} kB"


def content(folder: Path, pattern: str = "*") -> tuple[int, int]:
    """Returns the number of files below a folder and their bytes; unreadable ones do not count."""
    sizes = []
    for file in folder.rglob(pattern):
        try:
            status = file.lstat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            sizes.append(status.st_size)
    return len(sizes), sum(sizes)


def existing(folder: Path) -> Path:
    """Returns the folder, or the nearest folder above it that exists."""
    folder = folder.absolute()
    return next((one for one in (folder, *folder.parents) if os.path.exists(one)), folder)


def refusal(folder: Path) -> str | None:
    """Returns why no file can be written to a folder, or why the folder cannot be made.

    None if it can. A folder that does not exist is tested by the nearest folder above it.
    """
    place = existing(folder)
    if not place.is_dir():
        return f"{place} is not a folder"
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        return f"{place} cannot be written: {error.strerror or error}"
    return None


def writable_by_others(folder: Path) -> bool:
    """Returns whether a folder belongs to another user, or others may write to it."""
    status = folder.lstat()
    return status.st_uid != os.getuid() or bool(status.st_mode & 0o022)

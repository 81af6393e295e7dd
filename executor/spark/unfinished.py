"""Removes what a killed JVM left of files that it was writing in Spark's checkpoint.

Spark writes each file of a checkpoint under a temporary name and renames it when it is whole;
Hadoop keeps a file of checksums beside it, with a rename of its own. A kill leaves these:

- ``.0.<uuid>.tmp``, a file that never got its name. Spark never reads it, but a query whose first
  batch has no offsets yet does not start where the folder ``offsets`` holds anything
  (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY);
- ``..0.<uuid>.tmp.crc``, the checksums of such a file, or of one that has got its name;
- a new file beside the checksums of the one that it replaced, which makes it unreadable.

None of them is part of what a restart needs: what counts is what has its name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_TEMPORARY: Final = re.compile(r"\.{1,2}.+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(\.crc)?")
"""Names by Spark's ``CheckpointFileManager``, and by Hadoop's ``ChecksumFileSystem``."""

_CHECKSUMS: Final = re.compile(r"\.(.+)\.crc")


def remove_unfinished(checkpoint: Path) -> None:
    """Removes unfinished files from a checkpoint of Spark that no JVM writes to now."""
    for path in sorted(checkpoint.rglob(".*")):
        checksums = _CHECKSUMS.fullmatch(path.name)
        if _TEMPORARY.fullmatch(path.name) or (
            checksums is not None and _is_older(path, path.with_name(checksums[1]))
        ):
            path.unlink(missing_ok=True)


def _is_older(checksums: Path, file: Path) -> bool:
    """Whether checksums are of an earlier file: those of a file itself are closed after it."""
    try:
        return checksums.stat().st_mtime_ns < file.stat().st_mtime_ns
    except FileNotFoundError:
        return False

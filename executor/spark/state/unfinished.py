"""Removes unfinished files that a killed JVM left in Spark's checkpoint.

Spark writes each file of a checkpoint under a temporary name and renames the file when it is whole;
Hadoop does the same with a file of checksums beside it. So a kill leaves ``.0.<uuid>.tmp`` and
``..0.<uuid>.tmp.crc``. A restart needs neither. But Spark refuses to start a query whose first
batch has no offsets yet if the folder ``offsets`` has any file in it
(STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_TEMPORARY: Final = re.compile(r"\.{1,2}.+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(\.crc)?")
"""Temporary names by Spark's ``CheckpointFileManager`` and Hadoop's ``ChecksumFileSystem``."""


def remove_unfinished(checkpoint: Path) -> None:
    """Removes unfinished files from a checkpoint of Spark; no JVM may be writing to it."""
    for path in list(checkpoint.rglob(".*")):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)

"""Removes what a killed JVM left of files that it was writing in Spark's checkpoint.

Spark writes each file of a checkpoint under a temporary name and renames it when it is whole;
Hadoop does the same with a file of checksums beside it. So a kill leaves ``.0.<uuid>.tmp`` and
``..0.<uuid>.tmp.crc``. A restart needs neither: what counts is what has its name. But a query whose
first batch has no offsets yet does not start where Spark's folder ``offsets`` holds anything
(STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_TEMPORARY: Final = re.compile(r"\.{1,2}.+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp(\.crc)?")
"""Names by Spark's ``CheckpointFileManager``, and by Hadoop's ``ChecksumFileSystem``."""


def remove_unfinished(checkpoint: Path) -> None:
    """Removes unfinished files from a checkpoint of Spark that no JVM writes to now."""
    for path in list(checkpoint.rglob(".*")):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)

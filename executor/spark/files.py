"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_ASIDE = ".tmp"


@contextmanager
def written_aside(path: Path) -> Iterator[BinaryIO]:
    """A file to write that gets its name ``path`` when all is written and on disk.

    After an error nothing is left of it, and what ``path`` was before still is.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}{_ASIDE}")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def aside_of(path: Path) -> list[Path]:
    """What killed processes left of ``path`` while they wrote it aside."""
    start = f".{path.name}."
    return [
        other
        for other in path.parent.glob(f".*{_ASIDE}")
        if other.name.startswith(start) and other.name[len(start) : -len(_ASIDE)].isdigit()
    ]


def remove_aside(path: Path) -> None:
    """Removes what killed processes left of ``path``; nobody may write it now."""
    for other in aside_of(path):
        other.unlink(missing_ok=True)

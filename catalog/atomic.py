"""Atomic writes of the files of a catalog."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file whole, or leaves an earlier file at ``path`` unchanged.

    Raises:
        OSError: if the file cannot be written.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_native_id()}")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise

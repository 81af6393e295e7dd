"""The folder of a service's queries, locked against other services."""

from __future__ import annotations

import fcntl
import os
import uuid
from pathlib import Path

from ...executor.spark.host.files import written_aside
from .private import private_folder


class DataDirectory:
    """A folder with an id; the database stores the id with each query of the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = ""
        self._lock: int | None = None

    def acquire(self) -> bool:
        """Creates the folder if needed and locks it; returns whether this service has the lock.

        Raises:
            UsageError: if the folder cannot be created, or other users may enter it.
        """
        if self._lock is not None:
            return True
        private_folder(self.path)
        handle = os.open(self.path / "service.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self._lock = handle
        self.id = self._read_id()
        return True

    def release(self) -> None:
        """Releases the lock of the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read_id(self) -> str:
        file = self.path / "id"
        if not file.exists():
            with written_aside(file) as writing:
                writing.write(uuid.uuid4().hex.encode())
        return file.read_text("utf-8")

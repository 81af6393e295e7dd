"""The folder in which a service has its queries, and which no other has at the same time."""

from __future__ import annotations

import fcntl
import os
import uuid
from pathlib import Path

from ...executor.spark.files import written_aside
from .private import private_folder


class Home:
    """A folder with a name of its own, by which the database knows whose queries are whose."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = ""
        self._lock: int | None = None

    def taken(self) -> bool:
        """Takes the folder, which is made if need be; whether this service has it.

        Raises:
            UsageError: if it cannot be made, or others may enter it.
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
        self.id = self._named()
        return True

    def leave(self) -> None:
        """Lets another service have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _named(self) -> str:
        file = self.path / "id"
        if not file.exists():
            with written_aside(file) as writing:
                writing.write(uuid.uuid4().hex.encode())
        return file.read_text("utf-8")

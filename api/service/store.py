"""The database: streams, plans and queries, in SQLite or PostgreSQL.

Each method is one short transaction. Writing transactions run one at a time, so that several
processes may share a database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ...planning.errors import UsageError
from .kept_plans import PlanStore, drop_misfiled
from .kept_queries import METADATA, QueryStore
from .private import private_file, private_folder
from .settings import FIGURES

T = TypeVar("T")

SCHEMA_VERSION = 3
MOST_DELETED = 10_000
"""The maximum number of deleted streams whose last version the table keeps."""
LOCK_SECONDS = 30
"""The longest wait of a transaction for another process, in seconds."""

_FILE = "headrace.db"
_ENDINGS = ("", "-wal", "-shm", "-journal")
"""The endings of the files that SQLite creates for a database."""
_WRITES = "headrace_writes"
_SILENT: Mapping[str, Any] = {"hide_parameters": True}  # the log has errors, but no parameters
_LOCK = 0x68656164  # "head": the advisory lock of writers in PostgreSQL

_SCHEMA = Table(
    "headrace_schema",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
)
_STREAMS = Table(
    "headrace_streams",
    METADATA,
    Column("name", String(100), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("time_unit", String(40), nullable=False),
    Column("document", Text),  # null: the stream was deleted; its version stays
)
_MIGRATIONS: Mapping[int, Callable[[Connection], None]] = {
    1: lambda _: None,  # version 2 added a table, which create_all creates
    2: drop_misfiled,
}
"""The migration from each version of the database to the next."""


@dataclass(frozen=True, slots=True)
class KeptStream:
    """A stored stream: its document as in a catalog with this time unit."""

    name: str
    version: int
    time_unit: str
    document: Mapping[str, Any]


class Store:
    """A database with streams, ``plans`` and ``queries``; may be used by many threads."""

    def __init__(self, url: str, most_plans: int) -> None:
        """Opens the database, and creates or migrates its tables.

        Raises:
            UsageError: if the database cannot be used.
        """
        self._engine = _engine(url)
        try:
            self._prepare()
        except SQLAlchemyError as error:
            shown = make_url(url).render_as_string(hide_password=True)
            raise UsageError(
                f"cannot use the database {shown}: {_reason(error)}", code="E-STORE"
            ) from error
        self.queries = QueryStore(self._reading, self._write)
        self.plans = PlanStore(self._reading, self._write, most_plans)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def check(self) -> None:
        """Raises SQLAlchemyError if the database does not answer."""
        with self._reading() as connection:
            connection.execute(select(_SCHEMA.c.version))

    def streams(self) -> tuple[KeptStream, ...]:
        """Returns all streams, by name."""
        with self._reading() as connection:
            rows = connection.execute(
                select(_STREAMS).where(_STREAMS.c.document.is_not(None)).order_by(_STREAMS.c.name)
            ).all()
        return tuple(
            KeptStream(row.name, row.version, row.time_unit, json.loads(row.document))
            for row in rows
        )

    def put_stream(self, name: str, time_unit: str, document: Mapping[str, Any]) -> int:
        """Stores a stream, replacing an earlier one; returns its new version."""
        values = {"time_unit": time_unit, "document": json.dumps(document)}

        def put(connection: Connection) -> int:
            by_name = _STREAMS.c.name == name
            # The update locks the row, so that no version occurs twice.
            changed = connection.execute(
                update(_STREAMS).where(by_name).values(version=_STREAMS.c.version + 1, **values)
            )
            if not changed.rowcount:
                connection.execute(insert(_STREAMS).values(name=name, version=1, **values))
            version: int = connection.execute(
                select(_STREAMS.c.version).where(by_name)
            ).scalar_one()
            return version

        return self._write(put)

    def delete_stream(self, name: str) -> bool:
        """Deletes a stream; returns whether the stream existed."""

        def remove(connection: Connection) -> bool:
            there = (_STREAMS.c.name == name) & _STREAMS.c.document.is_not(None)
            deleted_rows = connection.execute(
                update(_STREAMS).where(there).values(document=None)
            ).rowcount
            deleted = select(_STREAMS.c.name).where(_STREAMS.c.document.is_(None))
            count = connection.execute(select(func.count()).select_from(deleted.subquery()))
            if (more := count.scalar_one() - MOST_DELETED) > 0:
                least = deleted.order_by(_STREAMS.c.version, _STREAMS.c.name).limit(more)
                connection.execute(delete(_STREAMS).where(_STREAMS.c.name.in_(least)))
            return deleted_rows > 0

        return self._write(remove)

    def _prepare(self) -> None:
        def prepare(connection: Connection) -> None:
            METADATA.create_all(connection)
            version = connection.execute(select(_SCHEMA.c.version)).scalar_one_or_none()
            if version is None:
                connection.execute(insert(_SCHEMA).values(id=1, version=SCHEMA_VERSION))
                return
            if version > SCHEMA_VERSION:
                raise UsageError(
                    f"a newer version of Headrace wrote the database: its tables have version "
                    f"{version}, "
                    f"but this version reads at most {SCHEMA_VERSION}",
                    code="E-STORE",
                    hint="choose another database with --home or --database",
                )
            for from_version in range(version, SCHEMA_VERSION):
                _MIGRATIONS[from_version](connection)
                connection.execute(update(_SCHEMA).values(version=from_version + 1))

        self._write(prepare)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def _write(self, change: Callable[[Connection], T]) -> T:
        """Runs a change in a transaction that excludes other writers."""
        with self._engine.execution_options(**{_WRITES: True}).begin() as connection:
            return change(connection)


def sqlite_url(home: Path) -> str:
    """Returns the address of the database in a folder; creates the folder if needed.

    Raises:
        UsageError: if the folder cannot be created, or other users may enter it.
    """
    files = [f"{file}{ending}" for file in (_FILE, FIGURES) for ending in _ENDINGS]
    private_folder(home, (*files, "queries"))
    place = str(home.absolute() / _FILE)
    return URL.create("sqlite", database=place).render_as_string()


def disk_is_full(error: SQLAlchemyError) -> bool:
    """Returns whether a change failed because the disk is full; earlier data stays intact."""
    original = getattr(error, "orig", None)
    named = getattr(original, "sqlite_errorname", None), getattr(original, "sqlstate", None)
    return named[0] == "SQLITE_FULL" or named[1] == "53100"


def _engine(url: str) -> Engine:
    # Errors show neither the address nor their cause, since both may have a password.
    try:
        address = make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        if address.get_backend_name() == "sqlite":
            return _sqlite(address)
        if address.get_backend_name() == "postgresql":
            return _postgresql(address)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the database needs the Python package {error.name}, which is not installed",
            code="E-STORE",
            hint="pip install 'headrace[postgres]'",
        ) from error
    except (ArgumentError, ValueError):
        pass  # an unreadable address gets the same message as another kind of database
    raise UsageError(
        "unsupported database: expected sqlite:///FILE or postgresql://USER@HOST/NAME",
        code="E-STORE",
    )


def _sqlite(address: URL) -> Engine:
    if address.database and not address.database.startswith((":memory:", "file:")):
        for ending in _ENDINGS:
            file = Path(f"{address.database}{ending}")
            if (
                not ending or file.exists()
            ):  # SQLite creates the others with the rights of the database file
                private_file(file)
    engine = create_engine(address, connect_args={"timeout": LOCK_SECONDS}, **_SILENT)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # begin transactions below instead of in the driver
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # Lock at once: a write after a read fails if another process wrote in between.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(address: URL) -> Engine:
    # Notice a dead server before requests wait too long; the address may override these values.
    timeouts = {
        "connect_timeout": 5,
        "tcp_user_timeout": 1000 * LOCK_SECONDS,
        "options": f"-c lock_timeout={LOCK_SECONDS}s -c statement_timeout={2 * LOCK_SECONDS}s",
    }
    defaults = {name: value for name, value in timeouts.items() if name not in address.query}
    engine = create_engine(address, pool_pre_ping=True, connect_args=defaults, **_SILENT)

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES):
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))

    return engine


def _reason(error: SQLAlchemyError) -> str:
    original = getattr(error, "orig", None)
    return str(original or type(error).__name__).partition("\n")[0]

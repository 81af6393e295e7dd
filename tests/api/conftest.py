"""Fixtures of the tests of the command line and the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from headrace.api.service.store import sqlite_url
from tests.api.command import Commands

if TYPE_CHECKING:
    from tests.api.postgres import Postgres


@pytest.fixture
def headrace(capsys: pytest.CaptureFixture[str]) -> Commands:
    """Runs a command in this process."""
    return Commands(capsys)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """One PostgreSQL for all tests; a test that stops the server starts another one."""
    from tests.api.postgres import postgres

    with postgres() as server:
        yield server


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """The addresses of new databases, for each kind that the service supports."""
    if request.param == "sqlite":
        return lambda: sqlite_url(tmp_path_factory.mktemp("home"))
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.database


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """The address of a new database, for each kind."""
    return new_database()

"""The table of running queries.

A query belongs to the data directory with its results and its checkpoint (``home``, by its id):
several services may share a database, and each sees the queries of its own data directory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from .problems import problem_document

METADATA = MetaData()
"""All tables of the service."""

_QUERIES = Table(
    "headrace_queries",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("home", String(64), nullable=False, index=True),
    Column("asked", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("wanted", String(20), nullable=False),
    Column("state", String(20), nullable=False),
    Column("error", Text),
    Column("account", Text),
    Column("restarts", Integer, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("started_us", BigInteger),
    Column("ended_us", BigInteger),
)

Wanted = Literal["running", "paused", "stopped", "deleted"]
"""The state that a client wants; the service stores it before it acts."""

State = Literal[
    "starting", "running", "pausing", "paused", "stopping", "stopped", "finished", "failed"
]
"""The actual state."""


@dataclass(frozen=True, slots=True)
class KeptQuery:
    """A query that runs, ran or is to run. Times are microseconds since 1970.

    Attributes:
        id: the id of the query.
        home: the id of the data directory with the files of the query.
        request: the question with its text, options and catalog, and the options of the run.
        plan: the document of the plan.
        created: when the query was added.
        wanted: the state that a client wants.
        state: the actual state.
        error: the problem that the query failed with, or that delays it.
        account: the last progress of the query and of its operators.
        restarts: the number of restarts after failures.
        started: when the first run began.
        ended: when the query ended.
    """

    id: str
    home: str
    request: Mapping[str, Any]
    plan: Mapping[str, Any]
    created: int
    wanted: Wanted = "running"
    state: State = "starting"
    error: Mapping[str, Any] | None = None
    account: Mapping[str, Any] | None = None
    restarts: int = 0
    started: int | None = None
    ended: int | None = None


class QueryStore:
    """The table of queries; every method is one transaction."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Connection]],
        write: Callable[[Callable[[Connection], int]], int],
    ) -> None:
        self._reading = reading
        self._write = write

    def of_home(self, home: str) -> tuple[KeptQuery, ...]:
        """Returns the queries of a data directory, the oldest first."""
        selected = select(_QUERIES).where(_QUERIES.c.home == home)
        with self._reading() as connection:
            rows = connection.execute(selected.order_by(_QUERIES.c.created_us, _QUERIES.c.id)).all()
        return tuple(map(_kept, rows))

    def add(self, query: KeptQuery) -> None:
        """Stores a new query."""
        values = {
            "id": query.id,
            "home": query.home,
            "asked": json.dumps(query.request),
            "plan": json.dumps(query.plan),
            "created_us": query.created,
            **_changing(query),
        }
        self._write(lambda connection: connection.execute(insert(_QUERIES).values(values)).rowcount)

    def save(self, query: KeptQuery) -> None:
        """Stores the state of a query."""
        change = update(_QUERIES).where(_QUERIES.c.id == query.id).values(**_changing(query))
        self._write(lambda connection: connection.execute(change).rowcount)

    def remove(self, id_: str) -> None:
        """Deletes a query."""
        gone = delete(_QUERIES).where(_QUERIES.c.id == id_)
        self._write(lambda connection: connection.execute(gone).rowcount)


def stop_queries_of_plans(connection: Connection, plans: frozenset[str]) -> None:
    """Stops the queries that run misfiled ``plans``, which belong to other questions."""
    problem = problem_document(
        500,
        "the query ran with the plan of another request, by an error of an earlier version",
        code="E-PLAN",
        hint="DELETE the query, and POST it again",
    )
    for row in connection.execute(select(_QUERIES)).all():
        query = _kept(row)
        if query.request.get("plan_id") not in plans or query.wanted == "deleted":
            continue
        changed = replace(query, error=problem)
        if query.state != "finished":
            ended = query.ended or now_us()
            changed = replace(changed, wanted="stopped", state="stopped", ended=ended)
        values = _changing(changed)
        connection.execute(update(_QUERIES).where(_QUERIES.c.id == query.id).values(**values))


def now_us() -> int:
    """Returns the microseconds since 1970."""
    return time.time_ns() // 1000


def _changing(query: KeptQuery) -> dict[str, Any]:
    return {
        "wanted": query.wanted,
        "state": query.state,
        "error": None if query.error is None else json.dumps(query.error),
        "account": None if query.account is None else json.dumps(query.account),
        "restarts": query.restarts,
        "started_us": query.started,
        "ended_us": query.ended,
    }


def _kept(row: Row[Any]) -> KeptQuery:
    return KeptQuery(
        id=row.id,
        home=row.home,
        request=json.loads(row.asked),
        plan=json.loads(row.plan),
        created=row.created_us,
        wanted=row.wanted,
        state=row.state,
        error=None if row.error is None else json.loads(row.error),
        account=None if row.account is None else json.loads(row.account),
        restarts=row.restarts,
        started=row.started_us,
        ended=row.ended_us,
    )

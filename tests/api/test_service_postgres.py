"""Addresses of PostgreSQL, and a server that stops and starts again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from headrace.api.service import create_app, query_launches
from headrace.api.service.store import Store
from headrace.catalog import load
from headrace.planning.errors import UsageError
from tests.api.kept import kept_plan
from tests.api.postgres import Postgres, postgres
from tests.api.serving import LOOPBACK, ROWS, problem, served, settings
from tests.executor.spark.plans import csv_file, random_edges
from tests.processes import java_below
from tests.waiting import PATIENCE, until

QUERY = {"query": "Answer(x, y) <- a(x, y) WINDOW 1d"}
OTHER = {"query": "Answer(x, y) <- a(x, z), b(z, y) WINDOW 1d"}


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


def test_the_service_is_there_again_when_its_database_is(
    own_server: Postgres, tmp_path: Path
) -> None:
    made = settings(tmp_path, database=own_server.database(), searches_at_once=1)
    with served(create_app(made)) as client:
        found = client.post("/optimize", json=QUERY)
        until(lambda: client.get("/readyz").status_code == 200)
        own_server.stop()
        for answer in (
            client.post("/optimize", json=QUERY),
            client.post("/optimize", json=OTHER),
            client.get("/streams"),
            client.put("/streams/a", json={}),
            client.get("/readyz"),
        ):
            assert problem(answer, 503)["code"] == "E-STORE"
            assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/healthz").status_code == 200
        own_server.start()
        assert client.get("/readyz").status_code == 200
        assert client.post("/optimize", json=QUERY).content == found.content
        assert client.post("/optimize", json=OTHER).status_code == 200
        assert client.put("/streams/a", json={}).json()["version"] == 1


@pytest.mark.spark
@pytest.mark.long
def test_a_query_goes_on_when_the_database_is_back(
    own_server: Postgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The engine is killed while the database is away."""
    csv_file(tmp_path / "rows.csv", random_edges(100, seed=5))
    (tmp_path / "catalog.yaml").write_text(ROWS)
    monkeypatch.setattr(query_launches, "LOOK_SECONDS", 1.0)
    made = settings(
        tmp_path / "home",
        database=own_server.database(),
        catalog=load(tmp_path / "catalog.yaml"),
        hosts=LOOPBACK,
        searches_at_once=1,
    )
    with served(create_app(made)) as client:
        until(lambda: client.get("/queries").status_code == 200)
        body = {**QUERY, "largest_batch": 5, "interval": "500 milliseconds"}
        place = f"/queries/{client.post('/queries', json=body).json()['id']}"

        def shown() -> dict[str, Any]:
            found: dict[str, Any] = client.get(place).json()
            return found

        until(lambda: (shown()["progress"] or {"batch": 0})["batch"] > 2)
        own_server.stop()
        _java_of_an_engine().kill()
        until(lambda: "the streams of a query cannot be read now" in caplog.messages)
        assert shown()["state"] == "starting"
        own_server.start()
        until(lambda: shown()["state"] == "finished")
        assert shown()["restarts"] == 1
    said = [record for record in caplog.records if record.name == "headrace.service"]
    assert not [record for record in said if record.exc_info], "no traceback for what was expected"
    assert sum("could not be saved" in record.getMessage() for record in said) <= 2


def _java_of_an_engine() -> psutil.Process:
    """The service does not use the Spark session of the tests."""
    ours = psutil.Process()
    (java,) = (process for process in java_below(ours) if process.parent() != ours)
    return java


def test_no_request_has_a_fault_while_the_database_restarts(
    own_server: Postgres, tmp_path: Path
) -> None:
    over = threading.Event()
    made = settings(tmp_path, database=own_server.database(), searches_at_once=1)
    with served(create_app(made)) as client:

        def ask(n: int) -> set[int]:
            seen = set()
            with httpx.Client(base_url=client.base_url, timeout=PATIENCE, trust_env=False) as own:
                while not over.is_set():
                    seen.add(own.put(f"/streams/s{n}", json={}).status_code)
            return seen

        with ThreadPoolExecutor(4) as asking:
            asked = [asking.submit(ask, n) for n in range(4)]
            until(lambda: len(client.get("/streams").json()) == len(asked))
            try:
                for _ in range(2):
                    own_server.stop()
                    own_server.start()
            finally:
                over.set()
            for answered in asked:
                assert 200 in answered.result() <= {200, 503}
        assert client.put("/streams/s0", json={}).status_code == 200


def test_many_stores_make_the_tables_at_once(postgres_server: Postgres) -> None:
    url = postgres_server.database()
    with ThreadPoolExecutor(8) as opening:
        stores = list(opening.map(lambda _: Store(url, 5), range(8)))
    plan = kept_plan({"n": 1})
    stores[0].plans.keep(plan)
    assert stores[7].plans.find(plan.id) == plan
    for store in stores:
        store.close()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_addresses_need_not_name_the_driver(postgres_server: Postgres, scheme: str) -> None:
    url = postgres_server.database().replace("postgresql+psycopg", scheme)
    store = Store(url, 5)
    store.check()
    store.close()


def test_a_database_that_is_not_there(postgres_server: Postgres) -> None:
    url = postgres_server.url("none").replace("headrace@", "headrace:secret@")
    with pytest.raises(UsageError, match="does not exist") as raised:
        Store(url, 5)
    assert "secret" not in raised.value.display()

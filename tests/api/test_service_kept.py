"""The service keeps plans and streams over restarts and beside other processes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, create_engine, event, make_url, text

from headrace.api.service import create_app
from headrace.api.service.data_directory import DataDirectory
from headrace.api.service.kept_plans import KeptPlan, MisfiledPlanError
from headrace.api.service.kept_queries import KeptQuery, State, Wanted
from headrace.api.service.store import SCHEMA_VERSION, Store, sqlite_url
from headrace.catalog import load
from headrace.planning.errors import UsageError
from tests.api.command import CATALOG, EXAMPLES, ROOT, Commands, environment
from tests.api.kept import ASKED, kept_plan
from tests.api.serving import metric, problem, running, served, settings
from tests.waiting import PATIENCE, until

CHAINS = (EXAMPLES / "chains.rq").read_text("utf-8")
A = {"labels": {"a": {"rate": 5, "distinct_src": 9, "distinct_trg": 9, "vertices": 9}}}
QUERY = {"query": "Answer(x, y) <- a(x, y) WINDOW 1d"}


@pytest.fixture(scope="module")
def client(
    new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    made = settings(
        tmp_path_factory.mktemp("home"),
        database=new_database(),
        catalog=load(CATALOG),
        searches_at_once=1,
        most_plans=3,
    )
    with served(create_app(made)) as client:
        yield client


def test_a_plan_is_stored_with_its_documents(client: httpx.Client, headrace: Commands) -> None:
    answer = client.post("/optimize", json={"query": CHAINS})
    found = answer.json()
    place = f"/plans/{found['id']}"
    assert client.get(place).content == answer.content
    memo = client.get(f"{place}/memo").json()
    assert len(memo["groups"]) == found["memo"]["groups"]
    trace = client.get(f"{place}/trace").json()
    assert trace["plan"] == memo["plan"] == found["plan"]
    assert trace["trace"]["steps"][-1]["plan"]["cost"] == found["cost"]
    assert trace["why"].keys() == {str(node["id"]) for node in found["plan"]["nodes"]}
    listed = client.get(f"{place}/alternatives", params={"limit": 3}).json()
    for ranked in listed["plans"]:
        nodes = ranked["plan"]["nodes"]
        assert len(ranked.pop("picture")["boxes"]) == len(nodes), "as the page draws it"
    command = ("plans", EXAMPLES / "chains.rq", "--catalog", CATALOG, "-n", "3", "-f", "json")
    assert listed == json.loads(headrace(*command).out)


def test_the_id_of_a_plan_is_the_digest_of_its_question(client: httpx.Client) -> None:
    first = client.post("/optimize", json={"query": CHAINS}).json()
    assert client.post("/optimize", json={"query": CHAINS}).json() == first
    assert client.post("/optimize", json={"query": CHAINS, "options": {}}).json() == first
    other = {"query": CHAINS, "options": {"parallelism": 2}}
    assert client.post("/optimize", json=other).json()["id"] != first["id"]
    over = {"query": CHAINS.replace("a2q", "a"), "streams": {"s": A}}
    problem(client.post("/optimize", json=over), 422)


def test_answers_that_are_not_stored(client: httpx.Client) -> None:
    for rest in ("", "/memo", "/trace", "/alternatives"):
        problem(client.get(f"/plans/{'0' * 32}{rest}"), 404)
    problem(client.get("/plans/Nothing"), 422)
    problem(client.get(f"/plans/{'0' * 32}/alternatives", params={"limit": 0}), 422)


def test_the_oldest_plans_go(client: httpx.Client) -> None:
    ids = [
        client.post("/optimize", json={"query": CHAINS, "options": {"parallelism": n}}).json()["id"]
        for n in (2, 3, 4, 5)
    ]
    assert [client.get(f"/plans/{id_}").status_code for id_ in ids] == [404, 200, 200, 200]


def test_streams_are_put_changed_and_forgotten(client: httpx.Client) -> None:
    assert problem(client.post("/optimize", json=QUERY), 422)["code"] == "E-UNKNOWN"
    names = [stream["name"] for stream in client.get("/streams").json()]
    put = client.put("/streams/mine", json=A).json()
    unit = put["time_unit"]
    assert put == {
        "name": "mine",
        "version": 1,
        "time_unit": unit,
        "source": None,
        "live": False,
        "stream": A,
    }
    assert client.get("/streams/mine").json() == put
    assert [s["name"] for s in client.get("/streams").json()] == sorted([*names, "mine"])
    cheap = client.post("/optimize", json=QUERY).json()
    labels = {"a": {**A["labels"]["a"], "rate": 50}}
    assert client.put("/streams/mine", json={"labels": labels}).json()["version"] == 2
    dear = client.post("/optimize", json=QUERY).json()
    assert dear["cost"] > cheap["cost"]
    assert dear["id"] != cheap["id"]
    assert client.delete("/streams/mine").status_code == 204
    problem(client.get("/streams/mine"), 404)
    problem(client.delete("/streams/mine"), 404)
    assert client.put("/streams/mine", json=A).json()["version"] == 3
    client.delete("/streams/mine")


def test_streams_of_the_file_may_be_described_anew(client: httpx.Client) -> None:
    (name,) = [stream["name"] for stream in client.get("/streams").json()]
    shown = client.get(f"/streams/{name}").json()
    assert shown["version"] == 0
    assert "source" not in shown["stream"]
    problem(client.delete(f"/streams/{name}"), 409)
    assert client.put(f"/streams/{name}", json=shown["stream"]).json()["version"] == 1
    assert client.post("/optimize", json={"query": CHAINS}).status_code == 200
    assert client.delete(f"/streams/{name}").status_code == 204
    assert client.get(f"/streams/{name}").json() == shown


@pytest.mark.parametrize(
    ("stream", "mention"),
    [
        ({**A, "source": {"format": "csv", "path": "/etc/passwd"}}, "source"),
        ({"labels": {"a": {"rate": -1, "distinct_src": 9, "distinct_trg": 9}}}, "rate"),
        ({"speed": 3}, "speed"),
        ({"source": {"format": "java.lang.Runtime"}}, "source"),
    ],
    ids=["a source", "a rate below zero", "an unknown entry", "a class for a format"],
)
def test_invalid_streams_are_refused(
    client: httpx.Client, stream: dict[str, Any], mention: str
) -> None:
    document = problem(client.put("/streams/wrong", json=stream), 422)
    assert document["code"] == "E-CATALOG"
    assert mention in document["detail"]
    problem(client.get("/streams/wrong"), 404)


@pytest.mark.long
def test_after_a_restart_and_after_a_kill_everything_is_there(
    database: str, tmp_path: Path
) -> None:
    options = (tmp_path / "unused", "--database", database, "--searches", "1")
    with running(*options) as service, service.client() as client:
        client.put("/streams/mine", json=A)
        found = client.post("/optimize", json=QUERY)
        service.process.kill()
        service.process.wait()
    place = f"/plans/{found.json()['id']}"
    with running(*options) as service, service.client() as client:
        assert client.get("/streams/mine").json()["version"] == 1
        assert client.get(place).content == found.content
        assert client.post("/optimize", json=QUERY).content == found.content
        assert metric(client, 'headrace_searches_total{kind="optimize"}') == 0
        assert metric(client, 'headrace_cache_hits_total{kept="store"}') == 1
        memo = client.get(f"{place}/memo", headers={"X-Request-Id": "of-the-test"})
        assert memo.json()["plan"] == found.json()["plan"]
        assert memo.headers["x-request-id"] == "of-the-test"
        until(lambda: "of-the-test" in service.log.read_text("utf-8"))
    lines = [line for line in service.log.read_text("utf-8").splitlines() if line[:1] == "{"]
    told = [
        record for record in map(json.loads, lines) if record.get("request_id") == "of-the-test"
    ]
    assert [(r["route"], r["status"]) for r in told] == [("/plans/{id}/memo", 200)]
    assert "Traceback" not in service.log.read_text("utf-8")
    assert QUERY["query"] not in service.log.read_text("utf-8")


WRITER = """
import sys
from headrace.api.service.kept_plans import KeptPlan, MisfiledPlanError
from headrace.api.service.kept_queries import KeptQuery, State, Wanted
from headrace.api.service.store import Store
from tests.api.kept import kept_plan
store = Store(sys.argv[1], 1000)
for n in range(40):
    store.put_stream("shared", "second", {"by": sys.argv[2]})
    store.plans.keep(kept_plan({"by": sys.argv[2], "n": n}, "x" * 10_000))
"""


@pytest.mark.long
def test_two_processes_write_to_one_database(database: str) -> None:
    commands = [[sys.executable, "-c", WRITER, database, name] for name in ("a", "b")]
    # Both create the tables.
    writing = [subprocess.Popen(command, cwd=ROOT, env=environment()) for command in commands]
    assert [process.wait(PATIENCE) for process in writing] == [0, 0]
    store = Store(database, 1000)
    (stream,) = store.streams()
    assert stream.version == 80  # each write created a version
    plans = [kept_plan({"by": name, "n": n}, "x" * 10_000) for name in "ab" for n in range(40)]
    assert [store.plans.find(plan.id) for plan in plans] == plans
    store.close()
    if database.startswith("sqlite"):
        with sqlite3.connect(str(make_url(database).database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_threads_write_to_one_store(database: str) -> None:
    store = Store(database, 5)
    with ThreadPoolExecutor(8) as writing:
        versions = writing.map(lambda _: store.put_stream("s", "second", {}), range(40))
        assert sorted(versions) == list(range(1, 41))
        plans = [kept_plan({"n": n}) for n in range(40)]
        list(writing.map(store.plans.keep, plans))
    assert sum(store.plans.find(plan.id) is not None for plan in plans) == 5
    store.close()


def test_versions_of_deleted_streams_are_bounded(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.api.service.store.MOST_DELETED", 3)
    store = Store(database, 5)
    store.put_stream("kept", "second", {})
    for _ in range(2):
        store.put_stream("often", "second", {})
        store.delete_stream("often")
    for number in range(9):
        store.put_stream(f"once{number}", "second", {})
        assert store.delete_stream(f"once{number}")
    assert [stream.name for stream in store.streams()] == ["kept"]
    assert store.put_stream("often", "second", {}) == 3
    assert store.put_stream("once8", "second", {}) == 2
    assert store.put_stream("once0", "second", {}) == 1
    store.close()


def test_any_question_is_stored_unchanged(database: str) -> None:
    store = Store(database, 5)
    odd = {"\0 and \ud800": ["\N{GREEK SMALL LETTER ALPHA}", 2**70, None, ""]}
    store.put_stream("\N{LATIN SMALL LETTER E WITH ACUTE}" * 100, "second", odd)
    (stream,) = store.streams()
    assert stream.document == odd
    plan = kept_plan(odd, "\0\u0430\U0001f600" * 100_000)
    store.plans.keep(plan)
    assert store.plans.find(plan.id) == plan
    store.close()


def test_log_does_not_show_data_that_could_not_be_stored(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(settings(tmp_path, database=database, searches_at_once=1))
    engine = create_engine(database)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE headrace_streams"))
    engine.dispose()
    with served(app) as client:
        document = client.put("/streams/mine", json={"properties": {"secret": "string"}})
        assert problem(document, 503)["code"] == "E-STORE"
    assert "the database failed" in caplog.text
    assert "secret" not in caplog.text + document.text


def test_queries_belong_to_their_data_directory(database: str) -> None:
    store = Store(database, 5)
    asked = {"query": "a\0b \ud800", "options": {"parallelism": 2}}
    first = KeptQuery("0" * 32, "here", asked, {"nodes": []}, created=2**50)
    second = replace(first, id="1" * 32, created=first.created + 1)
    for query in (second, first, replace(first, id="2" * 32, home="there")):
        store.queries.add(query)
    assert store.queries.of_home("here") == (first, second)
    changed = replace(
        first, wanted="paused", state="pausing", restarts=3, started=2**51, ended=2**52,
        error={"detail": "\0"}, account={"progress": {"edges": 2**60}},
    )  # fmt: skip
    store.queries.save(changed)
    assert store.queries.of_home("here") == (changed, second)
    store.queries.remove(first.id)
    store.queries.remove(first.id)
    assert store.queries.of_home("here") == (second,)
    store.close()


def test_tables_of_the_release_before_are_brought_up_to_date(database: str) -> None:
    Store(database, 5).close()
    engine = create_engine(database)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE headrace_queries"))
        connection.execute(text("UPDATE headrace_schema SET version = 1"))
    with ThreadPoolExecutor(4) as opening:
        stores = list(opening.map(lambda _: Store(database, 5), range(4)))
    assert stores[0].queries.of_home("here") == ()
    with engine.begin() as connection:
        versions = connection.execute(text("SELECT version FROM headrace_schema")).scalars().all()
    assert versions == [SCHEMA_VERSION]
    for store in stores:
        store.close()
    engine.dispose()


def test_a_plan_is_kept_under_the_digest_of_its_own_question_alone(database: str) -> None:
    store = Store(database, 5)
    mine, other = kept_plan({"query": "mine"}), kept_plan({"query": "other"})
    for wrong in (other.answer, b"", b"[]", b"null", b"a drawing"):
        with pytest.raises(MisfiledPlanError):
            store.plans.keep(replace(mine, answer=wrong))
    assert store.plans.find(mine.id) is None
    store.close()


def test_plans_that_an_earlier_version_mixed_up_are_dropped(database: str) -> None:
    store = Store(database, 5)
    plans = [kept_plan({"query": name}) for name in ("mixed up", "right", "not the question")]
    for plan in plans:
        store.plans.keep(plan)
    states: list[tuple[str, State, Wanted]] = [
        ("0", "running", "running"), ("1", "finished", "running"),
        ("2", "paused", "paused"), ("3", "stopping", "deleted"),
    ]  # fmt: skip
    queries = [
        KeptQuery(f"{id_}{plan_id}", "here", {**ASKED, "plan_id": plan_id}, {}, 1, wanted, state)
        for plan_id in (plans[0].id, plans[1].id)
        for id_, state, wanted in states
    ]
    for query in queries:
        store.queries.add(query)
    store.close()
    _as_an_earlier_version_left_them(database, plans)

    store = Store(database, 5)
    assert [store.plans.find(plan.id) for plan in plans] == [None, plans[1], None]
    now = {query.id: query for query in store.queries.of_home("here")}
    untouched = queries[3:]
    assert [now[query.id] for query in untouched] == untouched
    running, finished, paused = (now[query.id] for query in queries[:3])
    for stopped in (running, paused):
        assert (stopped.state, stopped.wanted) == ("stopped", "stopped")
        assert stopped.error is not None
    assert finished.state == "finished"
    assert finished.error is not None
    assert "another request" in finished.error["detail"]
    # The ids are free for the right answers.
    store.plans.keep(plans[0])
    assert store.plans.find(plans[0].id) == plans[0]
    store.close()


def _as_an_earlier_version_left_them(database: str, plans: list[KeptPlan]) -> None:
    """Stores the second plan's answer under the first id, and another request under the last id."""
    engine = create_engine(database)
    with engine.begin() as connection:
        changes = {
            "answer": (plans[1].answer, plans[0].id),
            "asked": (json.dumps({"query": "another"}), plans[2].id),
        }
        for column, (value, id_) in changes.items():
            change = text(f"UPDATE headrace_plans SET {column} = :value WHERE id = :id")
            connection.execute(change, {"value": value, "id": id_})
        connection.execute(text("UPDATE headrace_schema SET version = 2"))
    engine.dispose()


def test_the_tables_of_a_newer_release_are_left_alone(database: str) -> None:
    Store(database, 5).close()
    engine = create_engine(database)
    with engine.begin() as connection:
        newer = {"newer": SCHEMA_VERSION + 1}
        connection.execute(text("UPDATE headrace_schema SET version = :newer"), newer)
    engine.dispose()
    with pytest.raises(UsageError, match="newer version of Headrace"):
        Store(database, 5)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    home = tmp_path / "a home?x=1#%41"
    Store(sqlite_url(home), 5).close()
    assert (home / "headrace.db").exists()


def test_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    made = settings(tmp_path, searches_at_once=1)
    app = create_app(made)
    full = False

    @event.listens_for(app.state.service.store._engine, "begin")
    def _limit(connection: Connection) -> None:
        # SQLite reports this limit as a full disk.
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        limit = pages if full else 2**30
        connection.exec_driver_sql(f"PRAGMA max_page_count={limit}")

    large = {"labels": {f"label{n:04}": A["labels"]["a"] for n in range(1_000)}}
    with served(app) as client:
        first = client.post("/optimize", json=QUERY)
        assert client.put("/streams/first", json=A).status_code == 200
        full = True
        for place, body in (("/streams/large", large), ("/streams/first", large)):
            document = problem(client.put(place, json=body), 503)
            assert (document["code"], document["detail"]) == (
                "E-STORE", "the disk of the database is full",
            )  # fmt: skip
        asked = {**QUERY, "catalog": {"streams": {"s": large}}}
        asked["query"] = "Answer(x, y) <- label0001(x, y) WINDOW 1d"
        assert problem(client.post("/optimize", json=asked), 503)["code"] == "E-STORE"
        # The stored entries are unchanged.
        assert client.get(f"/plans/{first.json()['id']}").content == first.content
        assert [stream["name"] for stream in client.get("/streams").json()] == ["first"]
        assert client.get("/readyz").status_code == 200
        full = False
        assert client.put("/streams/large", json=large).status_code == 200
        later = client.post("/optimize", json=asked)
        assert client.get(f"/plans/{later.json()['id']}").content == later.content


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_other_users_cannot_read_stored_files(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    store = Store(sqlite_url(home), 5)
    store.put_stream("s", "second", {})
    assert _mode(home) == 0o700
    assert {path.name: _mode(path) for path in home.iterdir()} == {
        "headrace.db": 0o600, "headrace.db-wal": 0o600, "headrace.db-shm": 0o600,
    }  # fmt: skip
    # Files of earlier versions and of a killed service.
    for path in home.iterdir():
        path.chmod(0o644)
    home.chmod(0o755)
    again = Store(sqlite_url(home), 5)
    assert _mode(home) == 0o700
    assert {_mode(path) for path in home.iterdir()} == {0o600}
    for one in (again, store):
        one.close()


def test_a_folder_of_other_programs_keeps_its_rights(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "query.rq").touch()
    project.chmod(0o755)
    with pytest.raises(UsageError, match="other users may enter") as raised:
        sqlite_url(project)
    assert _mode(project) == 0o755
    assert str(project / "headrace") in str(raised.value.hint)
    Store(sqlite_url(project / "headrace"), 5).close()
    assert _mode(project / "headrace") == 0o700
    # A database named by its path is private in any folder.
    Store(f"sqlite:///{project}/own.db", 5).close()
    assert _mode(project / "own.db") == 0o600


def test_the_folder_of_queries_is_private(tmp_path: Path) -> None:
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "d0").mkdir()
    queries.chmod(0o755)
    home = DataDirectory(queries)
    assert home.acquire()
    assert _mode(queries) == 0o700
    home.release()


def test_databases_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "headrace.db").write_text("no database" * 100)
    with pytest.raises(UsageError, match="not a database"):
        Store(sqlite_url(tmp_path), 5)
    for wrong in (
        "nothing://user:secret@host/db",
        "user:secret@host",
        "postgresql://u:secret@h:p/d",
    ):
        with pytest.raises(UsageError, match="unsupported database") as raised:
            Store(wrong, 5)
        assert "secret" not in raised.value.display()


def test_numbers_in_another_unit_are_not_mistaken(database: str, tmp_path: Path) -> None:
    made = settings(tmp_path, database=database, searches_at_once=1)
    app = create_app(made)
    app.state.service.store.put_stream("old", "hour", A)
    with served(app) as client:
        assert "hour" in problem(client.post("/optimize", json=QUERY), 422)["detail"]

"""Queries that do not run: their results, dead letters and limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.api.service import Settings, create_app
from headrace.api.service.bodies import DeadLetters
from headrace.api.service.query_folder import QueryFolder
from headrace.api.service.results import Kept, Reader, Results
from headrace.api.service.store import Store
from headrace.api.service.tokens import token
from headrace.catalog import load
from tests.api.command import CATALOG
from tests.api.events import Event, events, numbered
from tests.api.kept import DONE, HELD, QUERY, kept, publish
from tests.api.serving import problem, running, served, settings
from tests.strategies.amount import examples
from tests.waiting import until

READ, PLAN, RUN = ("read-" + "r" * 20, "plan-" + "p" * 20, "run-" + "u" * 20)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    made = settings(
        tmp_path_factory.mktemp("home"),
        catalog=load(CATALOG),
        searches_at_once=1,
        most_running=0,
        most_followers=3,
        tokens=(token(READ, "read"), token(PLAN, "plan"), token(RUN, "run")),
    )
    kept(made, DONE, HELD)
    for query in (DONE, HELD):
        folder = QueryFolder(made.home / "queries" / query.id)
        publish(folder.results, 3, 4, 5)
        folder.late.mkdir(parents=True)
        rows = [{"file": "in.csv", "line": n, "reason": "no ts", "text": "a,b"} for n in (2, 9)]
        folder.rejected.write_text("".join(json.dumps(row) + "\n" for row in rows))
        for batch, size in ((1, 2), (7, 3)):
            late = [{"stream": "s", "row": {"ts": n}, "reason": "late"} for n in range(size)]
            text = "".join(json.dumps(row) + "\n" for row in late)
            (folder.late / f"late-{batch:08}.jsonl").write_text(text)
    return made


@pytest.fixture(scope="module")
def client(made: Settings) -> Iterator[httpx.Client]:
    with served(create_app(made)) as client:
        client.headers["Authorization"] = f"Bearer {RUN}"
        until(lambda: client.get("/queries").status_code == 200)
        yield client


def test_queries_are_listed_and_shown(client: httpx.Client) -> None:
    done, held = client.get("/queries").json()
    assert (done["id"], done["state"], held["id"], held["state"]) == (
        "d0",
        "finished",
        "e0",
        "paused",
    )
    assert done["created"] == "1970-01-01T00:00:01.000+00:00"
    assert done["ended"] == "1970-01-01T00:00:03.500+00:00"
    assert done["started"] is done["error"] is done["progress"] is None
    assert done["query"] == QUERY["query"]
    assert client.get("/queries/d0").json() == {**done, "plan": DONE.plan, "operators": []}


def test_results_as_events_from_any_place_on(client: httpx.Client) -> None:
    everything = list(events(client, "d0"))
    assert [e.name for e in everything] == ["state", *["result"] * 12, "end"]
    assert everything[-1].data == {"state": "finished"}
    assert numbered(everything) == {n: {"n": n} for n in range(1, 13)}
    for after in range(13):
        rest = {n: {"n": n} for n in range(after + 1, 13)}
        assert numbered(list(events(client, "d0", last=after))) == rest
        assert numbered(list(events(client, "d0", after=after))) == rest
        assert numbered(list(events(client, "d0", tail=12 - after))) == rest
    assert list(events(client, "d0", last=12, after=0)) == list(events(client, "d0", after=12))
    assert len(numbered(list(events(client, "d0", tail=1000)))) == 12
    refused = client.get("/queries/d0/results", headers={"Last-Event-ID": "x"})
    problem(refused, 422)


def test_results_are_downloaded_as_a_file(client: httpx.Client) -> None:
    answer = client.get("/queries/d0/results/file")
    assert answer.headers["content-type"] == "application/jsonl"
    assert answer.headers["content-disposition"] == 'attachment; filename="results-d0.jsonl"'
    assert [json.loads(line) for line in answer.text.splitlines()] == [
        {"n": n} for n in range(1, 13)
    ]
    problem(client.get("/queries/d0/results/file?format=xml"), 422)
    problem(client.get("/queries/ff/results/file"), 404)


def test_followers_receive_changes_of_state(client: httpx.Client) -> None:
    following = events(client, "e0", last=10)
    heard = [next(following) for _ in range(3)]
    assert heard == [
        Event("state", {"state": "paused"}, None),
        Event("result", {"n": 11}, 11),
        Event("result", {"n": 12}, 12),
    ]
    others = [events(client, "e0") for _ in range(2)]
    for other in others:
        next(other)
    full = client.get("/queries/e0/results")
    assert "3 clients" in problem(full, 429)["detail"]
    for other in others:
        other.close()
    answer = client.post("/queries/e0/stop")
    assert (answer.status_code, answer.json()["state"]) == (202, "stopped")
    states = [e.data["state"] for e in following if e.name in ("state", "end")]
    assert states[-1] == "stopped"
    until(lambda: client.get("/queries/e0/results").status_code == 200)  # there is room again


def test_dead_letters_are_paged(client: httpx.Client) -> None:
    whole = client.get("/queries/d0/dead-letters").json()
    kinds = [item["kind"] for item in whole["items"]]
    assert kinds == ["rejected"] * 2 + ["late"] * 5
    assert whole["items"][0]["line"] == 2
    DeadLetters.model_validate(whole, strict=True)
    found: list[dict[str, Any]] = []
    after = "0"
    while page := client.get(
        "/queries/d0/dead-letters", params={"after": after, "limit": 3}
    ).json():
        found, after = found + page["items"], page["next"]
        if len(page["items"]) < 3:
            break
    assert found == whole["items"]
    end = client.get("/queries/d0/dead-letters", params={"after": after}).json()
    assert end == {"items": [], "next": after}
    problem(client.get("/queries/d0/dead-letters", params={"after": "../x"}), 422)


def test_unknown_queries_are_refused(client: httpx.Client) -> None:
    for method, path in (
        ("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/stop"),
        ("GET", "/results"), ("GET", "/dead-letters"),
    ):  # fmt: skip
        assert problem(client.request(method, f"/queries/ab{path}"), 404)["code"] == "E-UNKNOWN"
    problem(client.post("/queries", json={"plan": "ab"}), 404)


def test_changes_that_do_not_fit_the_state_are_refused(client: httpx.Client) -> None:
    for change in ("pause", "resume", "stop"):
        refused = problem(client.post(f"/queries/d0/{change}"), 409)
        assert "finished" in refused["detail"]
    assert "0 queries run" in problem(client.post("/queries", json=QUERY), 429)["detail"]
    planned = client.post("/optimize", json=QUERY).json()["id"]
    problem(client.post("/queries", json={"plan": planned}), 429)
    both = problem(client.post("/queries", json={**QUERY, "plan": planned}), 422)
    assert "either query or plan" in both["detail"]
    problem(client.post("/queries", json={"plan": planned, "options": {"window": "1d"}}), 422)
    wide = {**QUERY, "options": {"parallelism": 65}}
    assert "64" in problem(client.post("/queries", json=wide), 422)["detail"]
    wrong = problem(client.post("/queries", json={"query": "Answer(x y)"}), 422)
    assert wrong["code"] == "E-SYNTAX"
    problem(client.post("/queries", json={**QUERY, "interval": "soon"}), 422)
    problem(client.post("/queries", json={**QUERY, "speed": 0}), 422)


def test_only_streams_with_a_source_are_run_over(client: httpx.Client) -> None:
    labels = {"zz": {"rate": 5, "distinct_src": 9, "distinct_trg": 9}}
    assert client.put("/streams/mine", json={"labels": labels}).json()["source"] is None
    assert client.get("/streams/mathoverflow").json()["source"] == "csv"
    body = {"query": "Answer(x, y) <- zz(x, y) WINDOW 1d"}
    refused = problem(client.post("/queries", json=body), 422)
    assert "no input for mine" in refused["detail"]
    # A plan over another catalog may read only the streams of the service.
    streams = {"else": {"labels": labels, "source": {"format": "csv", "path": "/etc/passwd"}}}
    own = client.post("/optimize", json={**body, "streams": streams}).json()
    refused = problem(client.post("/queries", json={"plan": own["id"]}), 422)
    assert "no input for else" in refused["detail"]
    client.delete("/streams/mine")


def test_sources_are_put_where_that_is_allowed(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,label,ts\na,b,zz,1\n")
    made = settings(tmp_path / "home", searches_at_once=1, allow_sources=True, most_running=0)
    with served(create_app(made)) as client:
        source = {"format": "csv", "path": str(edges)}
        put = client.put("/streams/mine", json={"source": source}).json()
        assert put["source"] == "csv"
        assert str(edges) not in client.get("/streams").text
        until(lambda: client.get("/queries").status_code == 200)
        body = {"query": "Answer(x, y) <- zz(x, y) WINDOW 1d"}
        problem(client.post("/queries", json=body), 429)  # nothing else is in its way


def test_tokens_for_queries(client: httpx.Client) -> None:
    read, plan, run = ({"Authorization": f"Bearer {secret}"} for secret in (READ, PLAN, RUN))
    for path in ("/queries", "/queries/d0", "/queries/d0/results", "/queries/d0/dead-letters"):
        assert client.get(path, headers=read).status_code == 200
    for headers in (read, plan):
        for method, path in (
            ("POST", "/queries"), ("DELETE", "/queries/d0"), ("POST", "/queries/d0/stop"),
        ):  # fmt: skip
            refused = client.request(method, path, headers=headers, json=QUERY)
            assert "scope run" in problem(refused, 403)["detail"]
    assert client.post("/optimize", headers=run, json=QUERY).status_code == 200


def test_removed_results_are_reported_and_deletion_leaves_no_files(tmp_path: Path) -> None:
    made = settings(tmp_path, searches_at_once=1)
    kept(made, DONE, HELD, replace(HELD, id="f0", wanted="deleted"))
    for id_ in ("d0", "e0", "f0"):
        folder = QueryFolder(tmp_path / "queries" / id_)
        publish(folder.results, 3, 4, 5)
        assert Results(folder.results, folder.pruned, Kept(files=2)).prune() == 1
    with served(create_app(made)) as client:
        until(lambda: client.get("/queries").status_code == 200)
        late = list(events(client, "d0", last=1))
        assert late[1] == Event("gap", {"lost": 2}, 3)
        assert list(numbered(late)) == list(range(4, 13))
        # The restarted service completes an interrupted deletion.
        assert [query["id"] for query in client.get("/queries").json()] == ["d0", "e0"]
        for id_ in ("d0", "e0"):
            assert client.delete(f"/queries/{id_}").status_code == 204
            problem(client.get(f"/queries/{id_}"), 404)
        assert client.get("/queries").json() == []
    assert sorted(p.name for p in (tmp_path / "queries").iterdir()) == ["id", "service.lock"]
    store = Store(made.database, 1)
    assert store.queries.of_home((tmp_path / "queries" / "id").read_text()) == ()
    store.close()


@pytest.mark.long
def test_one_service_at_a_time_has_a_data_directory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kept(settings(home), HELD)
    first, second = (running(home, "--searches", "1") for _ in range(2))
    with first as one, one.client() as client:
        until(lambda: client.get("/queries").status_code == 200)
        with second as other, other.client() as waiting:
            until(lambda: waiting.get("/readyz").status_code == 200)
            assert problem(waiting.get("/queries"), 503)["code"] == "E-HOME"
            assert waiting.post("/optimize", json=QUERY).status_code == 200
            one.process.kill()
            until(lambda: waiting.get("/queries").status_code == 200)
            assert [query["id"] for query in waiting.get("/queries").json()] == ["e0"]


def test_the_oldest_results_go(tmp_path: Path) -> None:
    folder, note = tmp_path / "results", tmp_path / "pruned.json"
    publish(folder, 3, 4, 5)
    results = Results(folder, note, Kept(bytes=10**6, files=2))
    slow = Reader(results)
    assert (results.count, results.prune(), results.prune()) == (12, 1, 0)
    found = slow.read()
    assert (found.lost, found.first, len(found.lines)) == (3, 4, 4)
    assert Reader(results, tail=100).read().lost == 0  # the request fits the available results
    # A service killed while it prunes leaves files, and a run may write the last ones again.
    publish(folder, 3)
    again = Results(folder, note, Kept(bytes=1, files=100))
    assert again.count == 12
    assert not (folder / "part-00000000-000.jsonl").exists()
    publish(folder, 6, batch=3, first=13)
    (folder / "part-00000003-001.jsonl").write_text('{"n": 19}\n')
    assert again.prune() == 2  # the last batch is kept
    assert (again.after(0), again.count) == ((12, folder / "part-00000003-000.jsonl", 12), 19)


@given(
    sizes=st.lists(st.integers(0, 6), max_size=8),
    moments=st.lists(st.sampled_from(["come", "read", "prune", "restart"]), max_size=30),
)
@examples(25)
def test_reader_gets_each_result_once_or_learns_of_the_loss(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], moments: list[str]
) -> None:
    home = tmp_path_factory.mktemp("results")
    limit = Kept(bytes=60, files=3)
    results = Results(home / "results", home / "pruned", limit)
    reader, coming, first, batch, seen = Reader(results), list(sizes), 1, 0, 0
    for moment in [*moments, *["come", "read"] * 8, *["read"] * 8]:
        if moment == "come" and coming:
            size = coming.pop()
            publish(home / "results", size, batch=batch, first=first)
            first, batch = first + size, batch + 1
        elif moment == "prune":
            results.prune()
        elif moment == "restart":
            results = Results(home / "results", home / "pruned", limit)
            reader = Reader(results, after=seen)
        elif moment == "read":
            found = reader.read()
            assert found.first == seen + found.lost + 1
            numbers = [json.loads(line)["n"] for line in found.lines]
            assert numbers == list(range(found.first, found.first + len(numbers)))
            seen += found.lost + len(numbers)
    assert seen == sum(sizes)

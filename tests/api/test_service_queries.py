"""Queries that run: from their registration to their end, over everything that may come between.

One story is played, and the tests look at what came of it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_schema import plan_schema
from headrace.api.service.bodies import QueryDocument
from headrace.api.service.settings import FIGURES
from headrace.api.service.store import Store, sqlite_url
from headrace.catalog.feedback import read
from headrace.executor.local import Result
from tests.api.events import Event, events, numbered
from tests.api.serving import Running, metric, running
from tests.executor.spark.plans import csv_file, expected, random_edges, snapshots
from tests.processes import java_below
from tests.strategies.amount import MORE
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.long]

EDGES = random_edges(320, seed=5, vertices=24)
BODY = {"query": "Answer(x, y) <- a+(x, y) WINDOW 30s SLIDE 5s", "largest_batch": 20}
SLOWLY = {**BODY, "interval": "500 milliseconds", "name": "disturbed"}
CATALOG = """
streams:
  rows:
    source: {format: csv, path: rows.csv}
    delay: 4s
    labels:
      a: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
      b: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
  followed:
    source: {format: csv, path: inbox, follow: true}
    labels:
      c: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
"""
LIVE = {"query": "Answer(x, y) <- c(x, y) WINDOW 30s", "name": "live"}
VICTIMS = ("workers", "java", "engine") if MORE else ("workers", "java")


@dataclass
class Story:
    """The documents that the test saw on the way."""

    home: Path
    whole: list[Event] = field(default_factory=list)
    disturbed: list[Event] = field(default_factory=list)
    live: list[Event] = field(default_factory=list)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    dead_letters: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    log: str = ""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("service")
    story = Story(folder / "home")
    csv_file(folder / "rows.csv", EDGES)
    with (folder / "rows.csv").open("a") as rows:
        rows.write("1,2,a,3\n1,2,a,soon\n")  # one row is late, the other has no time
    (folder / "catalog.yaml").write_text(CATALOG)
    (folder / "inbox").mkdir()
    csv_file(folder / "inbox" / "some.csv", [("1", "2", "c", 1), ("2", "3", "c", 5)])
    options = ("--catalog", folder / "catalog.yaml", "--searches", "1")
    with running(story.home, *options) as service, service.client() as client:
        _first_life(story, service, client)
        service.process.kill()
        service.process.wait()
    with running(story.home, *options) as service, service.client() as client:
        _second_life(story, client)
    story.log = service.log.read_text("utf-8")
    return story


def _first_life(story: Story, service: Running, client: httpx.Client) -> None:
    until(lambda: client.get("/queries").status_code == 200)
    made = client.post("/queries", json=SLOWLY)
    assert made.status_code == 201, made.text
    assert made.headers["location"] == f"/queries/{made.json()['id']}"
    id_ = made.json()["id"]
    story.seen["made"] = made.json()
    story.disturbed += _results(client, id_, story, 5)
    assert client.post(f"/queries/{id_}/pause").status_code == 202
    story.seen["paused"] = _in_state(client, id_, "paused")
    whole = client.post("/queries", json=BODY).json()["id"]
    story.whole += events(client, whole)
    story.seen["whole"] = client.get(f"/queries/{whole}").json()
    story.dead_letters += client.get(f"/queries/{whole}/dead-letters").json()["items"]
    for name in ("edges", "results", "late", "rejected", "restarts"):
        told = f"headrace_query_{name}_total"
        story.metrics[name] = metric(client, f'{told}{{query="{whole}"}}')
    story.seen["still paused"] = client.get(f"/queries/{id_}").json()
    assert client.post(f"/queries/{id_}/resume").status_code == 202
    batch = story.seen["paused"]["progress"]["batch"]
    for victim in VICTIMS:
        batch = _further(client, id_, batch)
        story.disturbed += _results(client, id_, story, 5)
        if victim == "workers":
            _weaken(service, client, id_)
        else:
            _process(service, victim).kill()
        assert client.get("/readyz").status_code == 200
    _further(client, id_, batch)
    story.disturbed += _results(client, id_, story, 5)


def _second_life(story: Story, client: httpx.Client) -> None:
    until(lambda: client.get("/queries").status_code == 200)
    disturbed, whole = client.get("/queries").json()
    story.seen["listed"] = {"disturbed": disturbed, "whole": whole}
    story.disturbed += events(client, disturbed["id"], last=_last(story))
    story.seen["disturbed"] = client.get(f"/queries/{disturbed['id']}").json()
    stopped = client.post("/queries", json=SLOWLY).json()["id"]
    assert _results(client, stopped, Story(story.home), 1)
    client.post(f"/queries/{stopped}/stop")
    story.seen["stopped"] = _in_state(client, stopped, "stopped")
    assert (
        len(numbered(list(events(client, stopped))))
        == (story.seen["stopped"]["progress"]["results"])
    )
    deleted = client.post("/queries", json=SLOWLY).json()["id"]
    _in_state(client, deleted, "running")
    assert client.delete(f"/queries/{deleted}").status_code == 204
    assert client.get(f"/queries/{deleted}").status_code == 404
    assert not (story.home / "queries" / deleted).exists()
    left = client.post("/queries", json=LIVE).json()["id"]
    following = events(client, left)
    story.live += islice((event for event in following if event.name == "result"), 2)
    story.seen["left"] = _in_state(client, left, "running")
    following.close()


def _results(client: httpx.Client, id_: str, story: Story, count: int) -> list[Event]:
    """The results of a query after those of the story."""
    following = events(client, id_, last=_last(story))
    found = list(islice((event for event in following if event.name == "result"), count))
    following.close()
    return found


def _last(story: Story) -> int:
    return max((event.id for event in story.disturbed if event.id is not None), default=0)


def _in_state(client: httpx.Client, id_: str, state: str) -> dict[str, Any]:
    def shown() -> dict[str, Any] | None:
        found: dict[str, Any] = client.get(f"/queries/{id_}").json()
        assert found["state"] != "failed", found["error"]
        return found if found["state"] == state else None

    found = until(shown)
    assert found is not None
    return found


def _further(client: httpx.Client, id_: str, batch: int) -> int:
    """Waits until a query runs and has done more than a number of batches."""

    def batches() -> int:
        found = client.get(f"/queries/{id_}").json()
        done: int = (found["progress"] or {"batch": 0})["batch"]
        return done if found["state"] == "running" and done > batch else 0

    return until(batches)


def _weaken(service: Running, client: httpx.Client, id_: str) -> None:
    """Kills Spark's workers until the query has failed; returns its error."""

    def failed() -> bool:
        for process in psutil.Process(service.process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if "pyspark.daemon" in process.cmdline():
                    process.kill()
        found: dict[str, Any] = client.get(f"/queries/{id_}").json()
        return found["error"] is not None and found["state"] == "starting"

    until(failed)


def _process(service: Running, name: str) -> psutil.Process:
    """The JVM of the service, or the engine that started it."""
    (java,) = java_below(psutil.Process(service.process.pid))
    engine = java.parent()
    assert engine is not None
    return java if name == "java" else engine


def _snapshots(found: list[Event]) -> object:
    lines = numbered(found).values()
    return snapshots([Result(tuple(r["bindings"].values()), r["ts"], r["exp"]) for r in lines])


def test_results_are_those_of_the_plan(story: Story) -> None:
    plan = PhysicalPlan.from_document(story.seen["whole"]["plan"])
    assert _snapshots(story.whole) == snapshots(expected(plan, EDGES))
    assert story.whole[0].name == "state"
    assert story.whole[-1] == Event("end", {"state": "finished"}, None)


def test_each_result_arrives_exactly_once(story: Story) -> None:
    disturbed, whole = numbered(story.disturbed), numbered(story.whole)
    assert list(disturbed) == list(range(1, len(whole) + 1))
    # The order of results within a batch is not specified.
    assert Counter(map(str, disturbed.values())) == Counter(map(str, whole.values()))
    assert not [event for event in story.disturbed if event.name == "gap"]


def test_query_document_of_a_run(story: Story) -> None:
    made, whole = story.seen["made"], story.seen["whole"]
    for document in (made, whole):
        assert document.keys() == QueryDocument.model_fields.keys()
        QueryDocument.model_validate(document, strict=True)
        Draft202012Validator(plan_schema()).validate(document["plan"])
    assert (made["state"], made["name"], made["interval"]) == (
        "starting",
        "disturbed",
        SLOWLY["interval"],
    )
    assert made["progress"] is None
    assert whole["created"] <= whole["started"] <= whole["ended"]
    progress = whole["progress"]
    relevant = sum(edge[2] == "a" for edge in EDGES)
    assert (whole["state"], progress["phase"], progress["fraction"]) == ("finished", "done", 1.0)
    assert progress["results"] == len(numbered(story.whole))
    assert (progress["edges"], progress["late"], progress["rejected"]) == (relevant + 1, 1, 1)
    assert progress["edges_per_second"] > 0
    assert progress["ticks"] == EDGES[-1][3] - EDGES[0][3] + 1
    assert story.metrics == {
        "edges": relevant + 1,
        "results": progress["results"],
        "late": 1,
        "rejected": 1,
        "restarts": 0,
    }


def test_operators_have_measured_numbers_beside_estimates(story: Story) -> None:
    whole = story.seen["whole"]
    ops = {node["id"]: node["op"] for node in whole["plan"]["nodes"]}
    assert [(o["node"], o["op"]) for o in whole["operators"]] == sorted(ops.items())
    root = whole["operators"][whole["plan"]["root"]]
    assert root["rows_out"] == whole["progress"]["results"]
    for operator in whole["operators"]:
        assert operator["estimate"].keys() == operator["q_error"].keys()
        assert operator["q_error"]["population"] >= 1
    states = [operator["state_entries"] for operator in whole["operators"]]
    assert sum(states) == whole["progress"]["state_entries"] > 0


def test_queries_keep_what_they_measured(story: Story) -> None:
    plan = PhysicalPlan.from_document(story.seen["whole"]["plan"])
    kept = {identity: figures for (identity, _), figures in read(story.home / FIGURES, 0).items()}
    root = kept[plan.nodes[plan.root].identity or ""].distinct
    assert root is not None
    assert root.runs == 2  # the whole query, and the one that was disturbed
    assert root.rate > 0


def test_rows_set_aside(story: Story) -> None:
    rejected, late = story.dead_letters
    assert (rejected["kind"], rejected["line"], rejected["text"]) == (
        "rejected", len(EDGES) + 3, "1,2,a,soon"
    )  # fmt: skip
    assert (late["kind"], late["stream"], late["row"]["ts"]) == ("late", "rows", 3)


def test_a_paused_query_gives_no_results(story: Story) -> None:
    assert story.seen["still paused"] == story.seen["paused"]
    assert story.seen["paused"]["progress"]["batch"] > 0


def test_queries_are_restarted_after_an_engine_died(story: Story) -> None:
    listed, last = story.seen["listed"], story.seen["disturbed"]
    assert listed["disturbed"]["state"] in ("starting", "running")
    assert (last["state"], last["restarts"]) == ("finished", len(VICTIMS) + 1)
    assert last["error"] is None
    plan_and_operators = ("plan", "operators")
    whole = {k: v for k, v in story.seen["whole"].items() if k not in plan_and_operators}
    assert listed["whole"] == whole
    for name in ("edges", "results", "late", "rejected", "ticks", "state_entries"):
        assert last["progress"][name] == whole["progress"][name]
    measured = [
        [{k: v for k, v in o.items() if k not in ("seconds", "state_bytes")} for o in of]
        for of in (last["operators"], story.seen["whole"]["operators"])
    ]
    assert measured[0] == measured[1]


def test_next_service_resumes_the_queries_of_a_stopped_one(story: Story) -> None:
    store = Store(sqlite_url(story.home), 1)
    queries = store.queries.of_home((story.home / "queries" / "id").read_text())
    store.close()
    states = [(query.request["name"], query.wanted, query.state) for query in queries]
    assert states == [
        ("disturbed", "running", "finished"),
        (None, "running", "finished"),
        ("disturbed", "stopped", "stopped"),
        ("live", "running", "running"),
    ]


def test_a_query_over_a_live_source_has_no_end(story: Story) -> None:
    assert [(event.id, event.data["bindings"]) for event in story.live] == [
        (1, {"x": "1", "y": "2"}),
        (2, {"x": "2", "y": "3"}),
    ]
    assert story.seen["left"]["state"] == "running"
    assert story.seen["left"]["progress"]["fraction"] is None
    assert story.seen["left"]["progress"]["lag"] is None  # its time is not a time of the clock


def test_the_log_is_json_and_has_no_fault(story: Story) -> None:
    lines = [line for line in story.log.splitlines() if not line.startswith("Headrace listens")]
    assert [line for line in lines if not line.startswith("{")] == []
    assert "Traceback" not in story.log
    assert story.seen["left"]["id"] in story.log

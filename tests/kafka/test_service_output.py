"""A query of the service writes to a topic of a real broker, also after kills."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import httpx
import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Result
from tests.api.events import events, numbered
from tests.api.serving import ROWS, Running, running
from tests.executor.spark.plans import csv_file, expected, random_edges, snapshots
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.kafka.test_kafka_output import results_of
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(900)]

EDGES = random_edges(120, seed=9, vertices=9)
QUERY = "Answer(x, y) <- a+(x, y) WINDOW 30s"

NOWHERE = """
sinks:
  nowhere:
    format: kafka
    options: {kafka.bootstrap.servers: "127.0.0.1:9", topic: answers, kafka.max.block.ms: 2000}
"""


def test_a_query_of_a_killed_service_loses_no_message(kafka: Broker, tmp_path: Path) -> None:
    csv_file(tmp_path / "rows.csv", EDGES)
    (tmp_path / "catalog.yaml").write_text(ROWS + NOWHERE)
    jars = ",".join(map(str, connector_jars()))
    options = (
        *("--catalog", tmp_path / "catalog.yaml", "--allow-sources"),
        *("--conf", f"spark.jars={jars}"),
    )
    output = f"kafka://{kafka.address}/service"
    body = {"query": QUERY, "output": output, "largest_batch": 8, "interval": "1 second"}
    with running(tmp_path / "home", *options) as service, service.client() as client:
        until(lambda: client.get("/queries").status_code == 200)
        created = client.post("/queries", json=body)
        assert (created.status_code, created.json().get("output")) == (201, output), created.text
        id_ = created.json()["id"]
        until(lambda: kafka.received("service"))
        os.kill(_engine(service), signal.SIGKILL)
        before = len(kafka.received("service"))
        until(lambda: len(kafka.received("service")) > before)
        service.process.kill()
        service.process.wait()
    with running(tmp_path / "home", *options) as service, service.client() as client:
        until(lambda: client.get("/queries").status_code == 200)
        until(lambda: _state(client, id_) in ("finished", "failed"))
        shown = client.get(f"/queries/{id_}").json()
        assert (shown["state"], shown["output"]) == ("finished", output), shown["error"]
        answer = client.get(f"/plans/{shown['plan_id']}").json()
        served = numbered(list(events(client, id_)))
        lost = client.post("/queries", json={**body, "output": "sink:nowhere"}).json()["id"]
        until(lambda: client.get(f"/queries/{lost}").json()["restarts"] >= 1)
        error = client.get(f"/queries/{lost}").json()["error"]
        assert "the topic answers of the brokers 127.0.0.1:9: " in error["detail"]
        assert "not present in metadata" in error["detail"]
        until(lambda: _state(client, lost) == "running")
        assert client.get(f"/queries/{lost}").json()["error"] == error, "until a batch succeeds"
    plan = PhysicalPlan.from_document(answer["plan"])
    right = snapshots(expected(plan, EDGES))
    written = results_of(kafka.received("service"))
    assert snapshots(list(written.values())) == right
    of_events = [Result(tuple(r["bindings"].values()), r["ts"], r["exp"]) for r in served.values()]
    assert snapshots(of_events) == right


def _engine(service: Running) -> int:
    """The process of the engine, as the log of the service has it."""
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line[:1] == "{"]
    engine: int = [line["engine"] for line in lines if "engine" in line][-1]
    return engine


def _state(client: httpx.Client, id_: str) -> str:
    state: str = client.get(f"/queries/{id_}").json()["state"]
    return state

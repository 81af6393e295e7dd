"""The engine of a service starts on demand, is renewed, and stops when no query runs."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.api.service import create_app, engine_keeper, query_launches
from headrace.api.service.engine_messages import EngineOptions
from headrace.catalog import load
from headrace.executor.local import Result
from tests.api.events import events, numbered
from tests.api.serving import LOOPBACK, ROWS, metric, served, settings
from tests.executor.spark.plans import csv_file, expected, random_edges, snapshots
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.long]

EDGES = random_edges(200, seed=5, vertices=24)
SHORT = {"query": "Answer(x, y) <- a(x, y) WINDOW 30s"}
LONG = {**SHORT, "largest_batch": 5, "interval": "700 milliseconds"}
OF_KAFKA = {"query": "Answer(x, y) <- k(x, y) WINDOW 30s"}
TOPIC = """
  topic:
    source: {format: kafka, options: {kafka.bootstrap.servers: "127.0.0.1:9", subscribe: t}}
    labels:
      k: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
"""
NOWHERE = """<ivysettings><settings defaultResolver="none"/>
<resolvers><filesystem name="none"/></resolvers></ivysettings>"""


@pytest.mark.soak
def test_an_engine_comes_is_renewed_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv_file(tmp_path / "rows.csv", EDGES)
    (tmp_path / "catalog.yaml").write_text(ROWS + TOPIC)
    (tmp_path / "ivy.xml").write_text(NOWHERE)
    monkeypatch.setattr(engine_keeper, "MOST_STARTS", 2)
    monkeypatch.setattr(engine_keeper, "IDLE_SECONDS", 2.0)
    monkeypatch.setattr(query_launches, "LOOK_SECONDS", 0.2)
    options = EngineOptions(conf={"spark.jars.ivySettings": str(tmp_path / "ivy.xml")})
    catalog = load(tmp_path / "catalog.yaml")
    made = settings(tmp_path / "home", catalog=catalog, engine=options, hosts=LOOPBACK)
    with served(create_app(made)) as client:
        until(lambda: client.get("/queries").status_code == 200)
        long = _started(client, LONG)
        following = events(client, long)
        found = [*islice((event for event in following if event.name == "result"), 2)]
        following.close()
        # The package for Kafka needs a new engine, and cannot be fetched.
        kafka = _started(client, OF_KAFKA)
        assert until(partial(_in_state, client, kafka, "failed"))
        error = client.get(f"/queries/{kafka}").json()["error"]
        assert "could not be fetched" in error["detail"]
        # The other queries went on. The engine is renewed at the third start.
        for _ in range(2):
            short = _started(client, SHORT)
            assert until(partial(_in_state, client, short, "finished"))
        found += list(events(client, long, last=found[-1].id))
        shown = client.get(f"/queries/{long}").json()
        assert shown["state"] == "finished"
        assert shown["restarts"] == 0  # it had not failed
        plan = PhysicalPlan.from_document(client.get(f"/plans/{shown['plan_id']}").json()["plan"])
        assert snapshots(_results(numbered(found))) == snapshots(expected(plan, EDGES))
        assert until(lambda: metric(client, "headrace_engine_up") == 0)
        assert metric(client, "headrace_engine_starts_total") == 4
        again = _started(client, SHORT)
        assert until(partial(_in_state, client, again, "finished"))
        assert metric(client, "headrace_engine_starts_total") == 5


def _started(client: httpx.Client, body: dict[str, Any]) -> str:
    made = client.post("/queries", json=body)
    assert made.status_code == 201, made.text
    id_: str = made.json()["id"]
    return id_


def _in_state(client: httpx.Client, id_: str, state: str) -> dict[str, Any] | None:
    found: dict[str, Any] = client.get(f"/queries/{id_}").json()
    return found if found["state"] == state else None


def _results(lines: dict[int, Any]) -> list[Result]:
    return [Result(tuple(r["bindings"].values()), r["ts"], r["exp"]) for r in lines.values()]

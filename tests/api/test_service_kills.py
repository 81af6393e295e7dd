"""Clients that follow a repeatedly killed service get each result once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

import httpx
import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Result
from tests.api.events import Event, events, numbered
from tests.api.serving import ROWS, running
from tests.executor.spark.plans import csv_file, expected, random_edges, snapshots
from tests.waiting import until

pytestmark = [pytest.mark.soak, pytest.mark.spark]

EDGES = random_edges(600, seed=8, vertices=24)
BODY = {"query": "Answer(x, y) <- a+(x, y) WINDOW 30s SLIDE 5s", "largest_batch": 15}
QUERIES = ({**BODY, "interval": "400 milliseconds"}, {**BODY, "interval": "700 milliseconds"})
KILLS = 5
LONGEST_SECONDS = 20.0
"""How long a service lives at most, from when it has taken up its queries, until it is killed."""


class Following(threading.Thread):
    """A client of one query, which reconnects to the restarted service."""

    def __init__(self, query: str) -> None:
        super().__init__(daemon=True)
        self.query = query
        self.address = ""
        self.heard: list[Event] = []

    @property
    def last(self) -> int:
        return max((event.id for event in self.heard if event.id is not None), default=0)

    @property
    def over(self) -> bool:
        return bool(self.heard) and self.heard[-1].name == "end"

    def run(self) -> None:
        while not self.over:
            try:
                with httpx.Client(base_url=self.address, timeout=60, trust_env=False) as client:
                    for event in events(client, self.query, last=self.last):
                        self.heard.append(event)
            except (
                httpx.HTTPError,
                AssertionError,
            ):  # the service is away, or has not loaded its queries
                time.sleep(0.1)


def test_clients_that_come_again_have_each_result_once(tmp_path: Path) -> None:
    csv_file(tmp_path / "rows.csv", EDGES)
    (tmp_path / "catalog.yaml").write_text(ROWS)
    options = ("--catalog", tmp_path / "catalog.yaml", "--searches", "1")
    random, following = Random(13), []
    for life in range(KILLS + 1):
        with running(tmp_path / "home", *options) as service, service.client() as client:
            until(lambda: client.get("/queries").status_code == 200)
            if not life:
                for body in QUERIES:
                    made = client.post("/queries", json=body)
                    assert made.status_code == 201, made.text
                    following.append(Following(made.json()["id"]))
            for one in following:
                one.address = service.address
                if not life:
                    one.start()
            if life < KILLS:
                time.sleep(random.random() * LONGEST_SECONDS)
                service.process.kill()
                service.process.wait()
                continue
            for one in following:
                until(lambda: one.over)  # noqa: B023
                shown = client.get(f"/queries/{one.query}").json()
                assert shown["state"] == "finished", shown["error"]
                answer = client.get(f"/plans/{shown['plan_id']}").json()
                plan = PhysicalPlan.from_document(answer["plan"])
                lines = numbered(one.heard)
                assert list(lines) == list(range(1, len(lines) + 1))
                assert len(lines) == shown["progress"]["results"]
                found = [
                    Result(tuple(r["bindings"].values()), r["ts"], r["exp"]) for r in lines.values()
                ]
                assert snapshots(found) == snapshots(expected(plan, EDGES))
                again = numbered(list(events(client, one.query)))
                assert Counter(map(str, again.values())) == Counter(map(str, lines.values()))

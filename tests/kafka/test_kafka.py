"""Runs over a real Kafka topic have exact results, also after a kill and a restart."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import networkx as nx
import pytest
import yaml

from headrace.executor.local import Edge
from tests.api.command import ROOT, command_line, environment
from tests.api.events import events, numbered
from tests.api.serving import metric, running
from tests.executor.spark.plans import random_edges
from tests.executor.spark.running import read_jsonl
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.spark

LENGTH, DELAY = 20, 6
QUERY = f"Answer(x, y) <- pays+(x, y) WINDOW {LENGTH}"
CATALOG = """\
streams:
  payments:
    source: {{format: kafka, options: {{kafka.bootstrap.servers: "{address}", subscribe: {topic},
      startingOffsets: earliest, maxOffsetsPerTrigger: 50}}}}
    delay: {delay}
    columns: {{src: from, trg: to}}
    labels: {{pays: {{rate: 2, distinct_src: 10, distinct_trg: 10}}}}
"""


class Run:
    """``headrace run`` as a process; its output is a folder unless ``options`` say another."""

    def __init__(self, folder: Path, *options: str | Path) -> None:
        jars = ",".join(map(str, connector_jars()))
        self.folder = folder
        self.process = subprocess.Popen(
            command_line(
                "run", QUERY, "--catalog", folder / "catalog.yaml", "--output", folder / "out",
                *options, "--conf", f"spark.jars={jars}",
            ),
            cwd=ROOT, env=environment(PYTHONFAULTHANDLER="1"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()

    def interrupted(self) -> tuple[str, str]:
        """Its output until it ends after Ctrl-C; if it does not end, the stacks of its threads."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            raise AssertionError(self.process.communicate()[1]) from None

    def until(self, rows: int) -> None:
        """Waits until so many results are out."""

        def there() -> bool:
            assert self.process.poll() is None, self.process.communicate()
            return self.results() >= rows

        until(there, lambda: f"{self.results()} of {rows}")

    def results(self) -> int:
        """How many results are out."""
        return len(read_jsonl(self.folder / "out"))


def messages(edges: Sequence[Edge]) -> list[str]:
    return [json.dumps({"from": x, "to": y, "label": a, "ts": ts}) for x, y, a, ts, *_ in edges]


def reachable(edges: Sequence[Edge], instant: int) -> set[tuple[str, str]]:
    """The pairs that a path connects whose edges are all valid at an instant."""
    valid = [
        (x, y) for x, y, label, ts, *_ in edges if label == "pays" and 0 <= instant - ts < LENGTH
    ]
    return set(nx.transitive_closure(nx.DiGraph(valid), reflexive=False).edges)


@pytest.mark.parametrize(
    "killed", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["whole", "killed"]
)
def test_a_run_over_kafka_has_exact_results(kafka: Broker, tmp_path: Path, killed: bool) -> None:
    """A run that is killed resumes."""
    (tmp_path / "out").mkdir()
    topic = "killed" if killed else "whole"
    catalog = CATALOG.format(address=kafka.address, delay=DELAY, topic=topic)
    (tmp_path / "catalog.yaml").write_text(catalog)
    named = {"a": "pays", "b": "other"}
    edges = [(x, y, named[label], ts) for x, y, label, ts, *_ in random_edges(160, 3, 12)]
    random = Random(5)
    disorder = sorted(edges, key=lambda edge: edge[3] + random.randrange(DELAY))
    sent = messages(disorder)
    sent.insert(40, '{"from": "1", "to": ')
    sent.insert(90, '{"from": "1", "to": "2", "label": "pays", "ts": "tomorrow"}')
    kafka.send(topic, sent[:100])
    if killed:
        with Run(tmp_path) as first:
            first.until(20)
            first.process.send_signal(signal.SIGKILL)

    end = max(edge[3] for edge in edges)
    kafka.send(topic, [*sent[100:], *messages([("0", "0", "other", end + DELAY + 1)])])
    ticks = range(end + LENGTH + 1)
    expected = {t: reachable(edges, t) for t in ticks}

    def complete() -> bool:
        results = read_jsonl(tmp_path / "out")
        valid = {t: {r.bindings for r in results if r.ts <= t < r.exp} for t in ticks}
        return valid == expected or run.process.poll() is not None

    with Run(tmp_path) as run:
        until(complete, run.interrupted)
        out, log = run.interrupted()
    results = read_jsonl(tmp_path / "out")
    assert {t: {r.bindings for r in results if r.ts <= t < r.exp} for t in ticks} == expected, log
    assert len(results) == len(set(results)), "each result once"
    assert (run.process.returncode, out) == (130, "")
    assert f"reading kafka {topic} until Ctrl-C" in log
    assert "Stopped after" in log
    rejected = [json.loads(line) for line in (tmp_path / "out/_headrace/rejected.jsonl").open()]
    assert [(r["topic"], r["offset"], r["text"]) for r in rejected] == [
        (topic, 40, sent[40]),
        (topic, 90, sent[90]),
    ]
    assert "neither a whole number nor ISO-8601" in rejected[1]["reason"]
    assert not (tmp_path / "out/_headrace/late.jsonl").exists()


@pytest.mark.long
def test_a_running_service_accepts_a_new_kafka_stream(kafka: Broker, tmp_path: Path) -> None:
    catalog = yaml.safe_load(CATALOG.format(address=kafka.address, delay=DELAY, topic="pays"))
    stream = catalog["streams"]["payments"]
    stream["source"]["options"]["subscribe"] = "put"
    (tmp_path / "rows.csv").write_text("src,trg,label,ts\n1,2,a,3\n2,3,a,5\n")
    (tmp_path / "catalog.yaml").write_text(
        "streams: {rows: {source: {format: csv, path: rows.csv}, "
        "labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}}}"
    )
    jars = ",".join(map(str, connector_jars()))
    options = ("--catalog", tmp_path / "catalog.yaml", "--allow-sources", "--searches", "1")
    edges = [(x, y, "pays", ts) for x, y, _, ts, *_ in random_edges(40, 3, 12)]
    kafka.send("put", messages([*edges, ("0", "0", "other", edges[-1][3] + DELAY + 1)]))
    with (
        running(tmp_path / "home", *options, "--conf", f"spark.jars={jars}") as service,
        service.client() as client,
    ):
        until(lambda: client.get("/queries").status_code == 200)
        before = client.post("/queries", json={"query": "Answer(x, y) <- a(x, y) WINDOW 20s"})
        assert len(numbered(list(events(client, before.json()["id"])))) == 2
        assert client.put("/streams/payments", json=stream).status_code == 200
        created = client.post(
            "/queries", json={"query": f"Answer(x, y) <- pays(x, y) WINDOW {LENGTH}s"}
        )
        assert created.status_code == 201, created.text
        expected = {(x, y, ts) for x, y, _, ts in edges}
        received: set[tuple[str, str, int]] = set()
        following = events(client, created.json()["id"])
        while not expected <= received:
            event = next(following)
            assert event.name != "end", client.get(f"/queries/{created.json()['id']}").json()
            if event.name == "result":
                received.add((*event.data["bindings"].values(), event.data["ts"]))
        following.close()
        assert received == expected
        assert metric(client, "headrace_engine_starts_total") == 1, "the jars are there already"

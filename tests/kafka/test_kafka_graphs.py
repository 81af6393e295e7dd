"""Events that are graphs come from one topic as two streams: nodes and relationships."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.api.command import ROOT, command_line, environment
from tests.executor.spark.running import read_jsonl
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.strategies.graph_events import LENGTH, QUERY, answers, random_events
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark, pytest.mark.long]

CATALOG = """\
streams:
  relationships:
    source: &topic {{format: kafka, value: graph, options: {{kafka.bootstrap.servers: "{address}",
      subscribe: graphs, startingOffsets: earliest, maxOffsetsPerTrigger: 9}}}}
    properties: {{w: integer}}
    labels: {{K: {{rate: 2, distinct_src: 3, distinct_trg: 3}}}}
  nodes:
    source: *topic
    vertices: true
    properties: {{name: string}}
    labels: {{P: {{rate: 2, distinct_src: 3, distinct_trg: 3}}}}
"""


def test_a_topic_of_graphs_gives_the_answers_over_their_union(
    kafka: Broker, tmp_path: Path
) -> None:
    (tmp_path / "catalog.yaml").write_text(CATALOG.format(address=kafka.address))
    (tmp_path / "out").mkdir()
    events = random_events(40, 7)
    sent = [json.dumps(event) for event in events]
    end = {"ts": 40 + 2 * LENGTH, "nodes": [{"id": "z", "labels": ["P"]}]}
    end["edges"] = [{"from": "y", "to": "z", "labels": ["K"]}]
    last = {**end, "ts": 41 + 2 * LENGTH}
    kafka.send("graphs", [*sent[:20], "{", *sent[20:], json.dumps(end), json.dumps(last)])
    ticks = range(40 + LENGTH)
    expected = {t: answers(events, t) for t in ticks}
    jars = ",".join(map(str, connector_jars()))
    run = subprocess.Popen(
        command_line(
            "run", QUERY, "--catalog", tmp_path / "catalog.yaml", "--output", tmp_path / "out",
            "--conf", f"spark.jars={jars}",
        ),
        cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def found() -> dict[int, set[tuple[Any, ...]]]:
        results = read_jsonl(tmp_path / "out")
        return {t: {r.bindings for r in results if r.ts <= t < r.exp} for t in ticks}

    try:
        until(lambda: found() == expected or run.poll() is not None, lambda: str(found()))
    finally:
        run.send_signal(signal.SIGINT)
        log = run.communicate(timeout=PATIENCE)[1]
    assert found() == expected, log
    rejected = [json.loads(line) for line in (tmp_path / "out/_headrace/rejected.jsonl").open()]
    assert sorted((r["stream"], r["offset"], r["text"]) for r in rejected) == [
        ("nodes", 20, "{"),
        ("relationships", 20, "{"),
    ]

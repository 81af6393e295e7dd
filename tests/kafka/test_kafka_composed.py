"""A query reads the stream of graphs that another query writes to a topic, while both run."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.api.command import ROOT, command_line, environment
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.languages.cypher.test_construct import CONTACTS, SAME_LOCATION, entry
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(600)]

CATALOG = """\
streams:
  rooms:
    source: &rooms {{format: kafka, value: graph, options: {{kafka.bootstrap.servers: "{address}",
      subscribe: rooms, startingOffsets: earliest}}}}
    properties: {{id: string}}
    labels: {{IN: {{rate: 1, distinct_src: 3, distinct_trg: 2}}}}
  people:
    source: *rooms
    vertices: true
    properties: {{name: string}}
    labels:
      Person: {{rate: 1, distinct_src: 3, distinct_trg: 3}}
      Room: {{rate: 1, distinct_src: 2, distinct_trg: 2}}
  contacts:
    source: {{format: kafka, value: graph, options: {{kafka.bootstrap.servers: "{address}",
      subscribe: contacts, startingOffsets: earliest}}}}
    labels: {{IS_WITH: {{rate: 1, distinct_src: 3, distinct_trg: 3}}}}
"""
LAST = 600
"""The report after the last one that is compared."""


def test_a_query_reads_the_contacts_that_another_one_constructs(
    kafka: Broker, tmp_path: Path
) -> None:
    """Figure 8 of the Seraph paper feeds a query for people in contact with each other."""
    (tmp_path / "catalog.yaml").write_text(CATALOG.format(address=kafka.address))
    (tmp_path / "out").mkdir()
    for topic in ("rooms", "contacts"):
        kafka.make(topic, 1)
    events = [
        entry(60, "house", 1),
        entry(90, "chase", 1),
        entry(300, "chase", 2),
        entry(310, "cam", 2),
    ]
    # Two people meet later, so that the time of both topics passes the last report.
    later = [entry(at, person, 3) for at in (LAST, LAST + 300) for person in ("ann", "bob")]
    names = {("House", "Chase"), ("House", "Chase", "Cam")}
    first, both = ({(p, q) for p in of for q in of} for of in sorted(names, key=len))
    expected = {at: first if at < 360 else both for at in range(120, LAST, 60)}
    jars = ",".join(map(str, connector_jars()))

    def started(query: str, output: str | Path) -> subprocess.Popen[str]:
        command = command_line(
            "run", query, "--catalog", tmp_path / "catalog.yaml", "--output", output,
            "--checkpoint", tmp_path / Path(str(output)).name / "checkpoint",
            "--conf", f"spark.jars={jars}",
        )  # fmt: skip
        return subprocess.Popen(
            command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True
        )

    def found() -> dict[int, set[tuple[str, str]]]:
        reports: dict[int, set[tuple[str, str]]] = {}
        for part in sorted((tmp_path / "out").glob("part-*")):
            for row in map(json.loads, part.open()):
                if row["at"] < LAST:
                    reports.setdefault(row["at"], set()).add(tuple(row["bindings"].values()))
        return reports

    kafka.send("rooms", [json.dumps(event) for event in events[:2]])
    runs = [
        started(SAME_LOCATION, f"kafka://{kafka.address}/contacts"),
        started(CONTACTS, tmp_path / "out"),
    ]
    logs: list[str] = []
    try:
        kafka.send("rooms", [json.dumps(event) for event in [*events[2:], *later]])
        until(
            lambda: found() == expected or any(run.poll() is not None for run in runs),
            lambda: f"{found()}\n{kafka.received('contacts')}",
        )
    finally:
        for run in runs:
            run.send_signal(signal.SIGINT)
        logs = [run.communicate(timeout=PATIENCE)[1] for run in runs]
    assert found() == expected, logs
    made = [json.loads(value) for _, value in kafka.received("contacts")]
    assert {(e["timestamp"], one["from"], one["to"]) for e in made for one in e["edges"]} >= {
        (120, "house", "chase"),
        (360, "cam", "chase"),
    }

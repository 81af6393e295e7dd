"""Queries of the paper of Seraph on the command line, over data in the shapes of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from headrace.api.service import create_app
from tests.api.command import Commands
from tests.api.serving import LOOPBACK, served, settings

TESTING = """
REGISTER QUERY people_to_be_tested {
  FROM STREAM kafka://events STARTING FROM Earliest WITH WINDOW RANGE PT4H
  MATCH (i:Patient)-[:TESTED_FOR {positive: true}]->(v:Virus),
        (p:Person)-[:ADMINISTERS|IS_WITH*1..3]-(i)
  RETURN DISTINCT p.name, v.name
  EMIT ON ENTERING EVERY PT1M
}
"""
COUNT = """
REGISTER QUERY observation_count {
  FROM STREAM events STARTING FROM Earliest WITH WINDOW RANGE PT10M
  MATCH (s)-[:IS_WITH|ADMINISTERS]->(o) RETURN COUNT(o) AS observation_count
  EMIT SNAPSHOT EVERY PT5M
}
"""
ROUTES = """
REGISTER QUERY watch_for_anomalous_routes {
  FROM STREAM network STARTING FROM Earliest WITH WINDOW RANGE PT10M
  MATCH path = allShortestPaths((rack:Rack)-[:HOLDS|ROUTES|CONNECTS*]-(router:Router:Egress))
  WITH rack, avg(length(path)) AS `10minAvg`
  WHERE (`10minAvg` - 3) / 0.5 >= 1
  RETURN rack, `10minAvg`
  EMIT SNAPSHOT EVERY PT1M
}
"""
NAMES = {
    "Person": {"1": "Chase", "2": "House", "3": "Allison"},
    "Patient": {"4": "Aaron", "5": "Rose"},
    "Virus": {"6": "Norovirus", "7": "Influenza"},
}
EVENTS = (
    # minute of the day, source, type, target, positive: Chase gives Aaron a medicine at 9:12, Aaron
    # is tested at 9:28, and at 9:36 there is a meeting
    (552, "1", "ADMINISTERS", "4", ""),
    (556, "2", "ADMINISTERS", "5", ""),
    (560, "5", "TESTED_FOR", "7", "false"),
    (568, "4", "TESTED_FOR", "6", "true"),
    (576, "3", "IS_WITH", "1", ""),
    (576, "1", "IS_WITH", "2", ""),
)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog of the events of the hospital, and of the people in it."""
    types = ("ADMINISTERS", "IS_WITH", "TESTED_FOR")
    lines = ["src,trg,label,ts,positive"]
    lines += [f"{s},{t},{label},{ts},{positive}" for ts, s, label, t, positive in EVENTS]
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    streams: dict[str, object] = {
        "events": _stream("events.csv", types, {"positive": "boolean"}, rate=60)
    }
    for label, names in NAMES.items():
        rows = "".join(f"{id_},{name}\n" for id_, name in names.items())
        (tmp_path / f"{label}.csv").write_text(f"id,name\n{rows}")
        stored = {"vertices": True, "stored": True, "label": label}
        own = _stream(f"{label}.csv", (label,), {"name": "string"}, population=3)
        streams[label.lower()] = {**own, **stored}
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps({"time_unit": "minute", "streams": streams}))
    return file


def _stream(
    path: str, labels: Sequence[str], properties: Mapping[str, str], **figures: int
) -> dict[str, object]:
    known = {**figures, "distinct_src": 5, "distinct_trg": 5}
    return {
        "source": {"format": "csv", "path": path},
        "labels": dict.fromkeys(labels, known),
        "properties": dict(properties),
    }


def reported(headrace: Commands, query: str, catalog: Path) -> dict[int, list[tuple[object, ...]]]:
    """The rows of each report, by its minute."""
    text = catalog.with_name("query.cypher")
    text.write_text(query)
    out = catalog.with_name("out.jsonl")
    done = headrace(
        "run", text, "--catalog", catalog, "--engine", "local", "--output", out, "--no-progress"
    )
    assert done.code == 0, done.error
    found: dict[int, list[tuple[object, ...]]] = {}
    for line in out.read_text("utf-8").splitlines():
        report = json.loads(line)
        found.setdefault(report["at"], []).append(tuple(report["bindings"].values()))
    return {at: sorted(rows) for at, rows in found.items()}


def test_people_are_to_be_tested_as_in_the_paper(headrace: Commands, catalog: Path) -> None:
    """Tables 2 and 3 of the paper: Chase at 9:28, Allison and House at 9:36."""
    assert reported(headrace, TESTING, catalog) == {
        568: [("Chase", "Norovirus")],
        576: [("Allison", "Norovirus"), ("House", "Norovirus")],
    }


def test_observations_are_counted_every_five_minutes(headrace: Commands, catalog: Path) -> None:
    """An event at t is in the reports of [t, t + 10)."""
    found = reported(headrace, COUNT, catalog)
    assert found == {555: [(1,)], 560: [(2,)], 565: [(1,)], 580: [(2,)], 585: [(2,)]}


def test_routes_that_become_longer_are_reported_as_in_the_paper(
    headrace: Commands, tmp_path: Path
) -> None:
    """Both racks reach the egress router in three hops, until a cable of the second is lost."""
    cables = (
        # minute, source, type, target: the cable from 22 to 9 is seen at 0 and not again
        *((0, "1", "HOLDS", "11"), (0, "2", "HOLDS", "21"), (0, "11", "ROUTES", "12")),
        *((0, "12", "CONNECTS", "9"), (0, "21", "ROUTES", "22"), (0, "22", "CONNECTS", "9")),
        *((8, "1", "HOLDS", "11"), (8, "2", "HOLDS", "21"), (8, "11", "ROUTES", "12")),
        *((8, "12", "CONNECTS", "9"), (8, "21", "ROUTES", "22"), (8, "22", "CONNECTS", "12")),
    )
    lines = ["src,trg,label,ts", *(f"{s},{t},{label},{ts}" for ts, s, label, t in cables)]
    (tmp_path / "network.csv").write_text("\n".join(lines) + "\n")
    types = ("HOLDS", "ROUTES", "CONNECTS")
    streams: dict[str, object] = {"network": _stream("network.csv", types, {}, rate=60)}
    for label, ids in (("Rack", "1\n2\n"), ("Router", "9\n12\n"), ("Egress", "9\n")):
        (tmp_path / f"{label}.csv").write_text(f"id\n{ids}")
        own = _stream(f"{label}.csv", (label,), {}, population=2)
        streams[label.lower()] = {**own, "vertices": True, "stored": True, "label": label}
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps({"time_unit": "minute", "streams": streams}))
    found = reported(headrace, ROUTES, catalog)
    assert found == {at: [("2", 4.0)] for at in range(10, 18)}


def test_the_rules_of_a_query_are_shown(headrace: Commands, catalog: Path) -> None:
    query = "MATCH (p:Person)-[:IS_WITH]->(q) RETURN p, count(*) AS n"
    done = headrace("explain", query, "--catalog", catalog, "--window", "1h", "--stage", "query")
    assert done.code == 0
    assert "Answer(p, count(*) as n) <- Person(p), IS_WITH(p, q)." in done.out
    done = headrace("explain", "--language", "cypher", "MATCH (p)", "--catalog", catalog)
    assert done.code == 2
    assert "E-SYNTAX 1:10: the query ends too early; expected" in done.error


def test_a_view_has_the_name_of_the_query_as_its_label(headrace: Commands, catalog: Path) -> None:
    document = json.loads(catalog.read_text())
    meeting = (
        "REGISTER QUERY meets { FROM STREAM events WITH WINDOW RANGE PT1H "
        "MATCH (a:Person)-[:IS_WITH*1..2]-(b:Person) WHERE a <> b RETURN a, b }"
    )
    document["views"] = {"meetings": {"query": meeting}}
    catalog.write_text(json.dumps(document))
    query = (
        "MATCH (a)-[:meets]->(b:Person) RETURN b.name AS name, count(*) AS n EMIT SNAPSHOT EVERY 1m"
    )
    found = reported(headrace, query, catalog)
    assert found[576] == [("Allison", 2), ("Chase", 2), ("House", 2)]


def test_the_service_plans_cypher(tmp_path: Path) -> None:
    query = "MATCH (a)-[:likes]->(b) WHERE NOT (b)-[:likes]->(a) RETURN a, b"
    likes = {"labels": {"likes": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}}}
    body = {"query": query, "streams": {"s": likes}, "options": {"window": "1h"}}
    with served(create_app(settings(tmp_path, hosts=LOOPBACK))) as client:
        by_text = client.post("/optimize", json=body)
        by_name = client.post("/optimize", json={**body, "language": "cypher"})
        refused = client.post("/optimize", json={**body, "query": "MATCH (a) DELETE a"})
    assert by_text.status_code == 200, by_text.text
    assert by_text.json()["plan"] == by_name.json()["plan"]
    assert refused.status_code == 422
    assert "E-UPDATE 1:11: DELETE" in refused.text

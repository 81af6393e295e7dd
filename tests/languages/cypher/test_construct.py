"""A query that constructs relationships writes events that are graphs, which other queries read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headrace import (
    PlanningOptions,
    PlanRequest,
    RunOptions,
    ToFolder,
    inputs_of_plan,
    load_catalog,
    optimize,
    results,
    run_plan,
)
from headrace.catalog.edges import EdgeFile
from headrace.catalog.live import edges_of_messages
from headrace.executor.spark.results.formats import Messages, ResultShape

SAME_LOCATION = """\
REGISTER QUERY people_in_the_same_location {
  FROM STREAM kafka://rooms
  STARTING FROM Latest
  WITH WINDOW RANGE PT2M
  MATCH
    (p1:Person)-[:IN]->(room:Room),
    (p2:Person)-[:IN]->(room)
  CONSTRUCT CREATE
    (p1)-[:IS_WITH]->(p2)
  RETURN GRAPH
  EMIT ON ENTERING EVERY PT1M
  INTO kafka://event-topic
}"""
"""The query of Figure 8 of the Seraph paper; the stream has the name of the catalog."""

CONTACTS = """\
REGISTER QUERY contacts {
  FROM STREAM contacts WITH WINDOW RANGE PT4H
  MATCH (p:Person)-[:IS_WITH*1..2]->(q:Person)
  RETURN DISTINCT p.name AS p, q.name AS q
  EMIT SNAPSHOT EVERY PT1M
}"""

CATALOG = """\
streams:
  rooms:
    source: {format: graph, path: rooms.jsonl}
    properties: {id: string}
  people:
    source: {format: graph, path: rooms.jsonl}
    vertices: true
    properties: {name: string}
"""
WITH_CONTACTS = f"{CATALOG}  contacts: {{source: {{format: graph, path: contacts/}}}}\n"


def entry(at: int, person: str, room: int) -> dict[str, Any]:
    """A person is in a room."""
    nodes = [
        {"id": person, "labels": ["Person"], "properties": {"name": person.title()}},
        {"id": room, "labels": ["Room"], "properties": {}},
    ]
    place = {"id": f"{person}@{at}", "type": "IN", "start": person, "end": room}
    return {"timestamp": at, "nodes": nodes, "relationships": [place]}


EVENTS = [
    entry(60, "house", 1),
    entry(90, "chase", 1),
    entry(300, "chase", 2),
    entry(310, "cam", 2),
]


def plan_of(query: str) -> Any:
    return optimize(PlanRequest(query, catalog=load_catalog("catalog.yaml"))).plan


def test_the_results_of_one_query_are_the_input_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rooms.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    Path("catalog.yaml").write_text(CATALOG)
    plan = plan_of(SAME_LOCATION)
    inputs = inputs_of_plan(plan, load_catalog("catalog.yaml"), [])
    run_plan(plan, inputs, ToFolder(Path("contacts")), RunOptions(), engine="local")
    lines = [line for part in sorted(Path("contacts").glob("part-*")) for line in part.open()]
    events = [json.loads(line) for line in lines]
    made = {(e["timestamp"], one["from"], one["to"]) for e in events for one in e["edges"]}
    # House and Chase were together from 90 to 180, when House's event has left the window.
    assert made == {
        (at, one, other)
        for at, pair in ((120, ("house", "chase")), (360, ("chase", "cam")))
        for one, other in (pair, pair[::-1])
    }
    assert {label for e in events for one in e["edges"] for label in one["labels"]} == {"IS_WITH"}
    assert all(len(e["nodes"]) == 2 for e in events)

    Path("catalog.yaml").write_text(WITH_CONTACTS)
    plan = plan_of(CONTACTS)
    found: dict[int, set[Any]] = {}
    for row in results(plan, inputs_of_plan(plan, load_catalog("catalog.yaml"), [])):
        found.setdefault(row.ts, set()).add(row.bindings)
    assert found[120] == {("House", "Chase"), ("Chase", "House"), ("House", "House")} | {
        ("Chase", "Chase")
    }
    assert found[360] == {
        (p, q) for p in ("House", "Chase", "Cam") for q in ("House", "Chase", "Cam")
    }


def test_a_message_of_a_relationship_is_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rooms.jsonl").write_text(json.dumps(EVENTS[0]) + "\n")
    Path("catalog.yaml").write_text(CATALOG)
    shape = ResultShape.of(plan_of(SAME_LOCATION))
    rows = pa.RecordBatch.from_pydict(
        {"a": ['ho"use'], "b": ["IS_WITH"], "c": ["chase"], "ts": [120], "exp": [None]}
    )
    messages = Messages(shape).of(rows)
    (value,) = messages["value"].to_pylist()
    document = json.loads(str(value))
    assert len(document.pop("id")) == 32
    assert document == {
        "bindings": {"(start)": 'ho"use', "[type]": "IS_WITH", "(end)": "chase"},
        "at": 120,
        "event": "entering",
        "timestamp": 120,
        "nodes": [{"id": 'ho"use'}, {"id": "chase"}],
        "edges": [{"from": 'ho"use', "to": "chase", "labels": ["IS_WITH"]}],
    }
    read = edges_of_messages(EdgeFile("topic", "graph"), [str(value).encode()])
    assert read.edges.to_pylist() == [
        {"src": 'ho"use', "trg": "chase", "label": "IS_WITH", "ts": 120}
    ]


def test_without_reports_the_relationships_are_rows_with_their_validity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rooms.jsonl").write_text(json.dumps(EVENTS[0]) + "\n")
    Path("catalog.yaml").write_text(CATALOG)
    query = "MATCH (p:Person)-[:IN]->(r) CONSTRUCT CREATE (p)-[:WAS_IN]->(r) RETURN GRAPH"
    plan = optimize(
        PlanRequest(
            f"REGISTER QUERY q {{ FROM STREAM rooms WITH WINDOW RANGE PT2M {query} }}",
            catalog=load_catalog("catalog.yaml"),
        )
    ).plan
    assert plan.columns == ("(start)", "[type]", "(end)")
    (row,) = results(plan, inputs_of_plan(plan, load_catalog("catalog.yaml"), []))
    assert (row.bindings, row.ts, row.exp) == (("house", "WAS_IN", "1"), 60, 180)


def test_a_view_that_constructs_relationships_has_their_types_as_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rooms.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    created = "CONSTRUCT CREATE (p)-[:IS_WITH]->(q), (p)-[:WAS_IN]->(r) RETURN GRAPH"
    view = f"MATCH (p:Person)-[:IN]->(r)<-[:IN]-(q) {created}"
    Path("catalog.yaml").write_text(
        f"{CATALOG}views: {{together: {{query: '{view}', language: cypher}}}}\n"
    )
    catalog = load_catalog("catalog.yaml")
    answers = {}
    for label in ("IS_WITH", "WAS_IN"):
        query = f"Answer(x, y) <- {label}(x, y)."
        options = PlanningOptions(window="2m")
        plan = optimize(PlanRequest(query, catalog=catalog, options=options)).plan
        rows = results(plan, inputs_of_plan(plan, catalog, []))
        answers[label] = {(*row.bindings, row.ts, row.exp) for row in rows}
    pairs = ((90, 180, ("house", "chase")), (310, 420, ("chase", "cam")))
    assert answers["IS_WITH"] == {
        (one, other, ts, exp) for ts, exp, pair in pairs for one, other in (pair, pair[::-1])
    }
    assert answers["WAS_IN"] == {
        (person, room, ts, exp)
        for (ts, exp, pair), room in zip(pairs, ("1", "2"), strict=True)
        for person in pair
    }

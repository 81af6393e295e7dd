"""Files of events that are graphs are replayed as one stream of nodes and one of relationships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headrace import PlanRequest, inputs_of_plan, load_catalog, optimize, results
from tests.strategies.graph_events import (
    LENGTH,
    MERGED,
    NAMED,
    QUERY,
    answers,
    changes,
    random_events,
)

CATALOG = """\
streams:
  relationships:
    source: {format: graph, path: events.jsonl}
    properties: {w: integer}
  nodes:
    source: {format: graph, path: events.jsonl}
    vertices: true
    properties: {name: string}
"""


@pytest.mark.parametrize(("seed", "query"), [(0, QUERY), (1, QUERY), (2, MERGED), (3, MERGED)])
def test_elements_that_come_again_have_their_newest_properties(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, query: str
) -> None:
    events = random_events(40, seed)
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "events.jsonl").write_text(lines)
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    catalog = load_catalog("catalog.yaml")
    plan = optimize(PlanRequest(query, catalog=catalog)).plan
    rows = list(results(plan, inputs_of_plan(plan, catalog, [])))
    for instant in range(40 + LENGTH):
        valid = {row.bindings for row in rows if row.ts <= instant < row.exp}
        assert valid == answers(events, instant), instant


CHANGES = """\
streams:
  relationships:
    source: {format: graph, layout: neo4j-cdc, path: changes.jsonl}
    deletions: true
    properties: {id: string, w: integer}
    labels: {K: {rate: 1, distinct_src: 4, distinct_trg: 4}}
  nodes:
    source: {format: graph, layout: neo4j-cdc, path: changes.jsonl}
    deletions: true
    vertices: true
    properties: {name: string}
    labels:
      P: {rate: 1, distinct_src: 4, distinct_trg: 4}
      Q: {rate: 1, distinct_src: 4, distinct_trg: 4}
"""


@pytest.mark.parametrize("seed", range(4))
def test_captured_changes_give_the_answers_over_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    records, expected = changes(120, seed)
    (tmp_path / "changes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (tmp_path / "catalog.yaml").write_text(CHANGES)
    monkeypatch.chdir(tmp_path)
    catalog = load_catalog("catalog.yaml")
    plan = optimize(PlanRequest(NAMED, catalog=catalog)).plan
    rows = list(results(plan, inputs_of_plan(plan, catalog, [])))
    assert sum(map(len, expected)) > 100
    for instant, answer in enumerate(expected):
        assert {r.bindings for r in rows if r.ts <= instant < r.exp} == answer, instant

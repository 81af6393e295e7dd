"""Queries of the paper of Seraph on the command line, over data in the shapes of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from headrace import InvalidQueryError, optimize
from headrace.api.service import create_app
from tests.api.command import Commands
from tests.api.serving import LOOPBACK, served, settings

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


def test_the_rules_of_a_query_are_shown(headrace: Commands, catalog: Path) -> None:
    query = "MATCH (p:Person)-[:IS_WITH]->(q) RETURN p, count(*) AS n"
    done = headrace("explain", query, "--catalog", catalog, "--window", "1h", "--stage", "query")
    assert done.code == 0
    assert "Answer(p, count(*) as n) <- Person(p), IS_WITH(p, q)." in done.out
    done = headrace("explain", "--language", "cypher", "MATCH (p)", "--catalog", catalog)
    assert done.code == 2
    assert "E-SYNTAX 1:10: the query ends too early; expected" in done.error


MEETINGS = "MATCH (p:Person)-[:IS_WITH]->(q) WHERE p.name = $name RETURN p.name AS name, $k AS k"


def test_parameters_have_values_on_the_command_line(headrace: Commands, catalog: Path) -> None:
    """Each command that plans takes them, JSON or text."""
    given = ("--catalog", catalog, "--window", "1h", "--param", "name=Chase", "--param", "$k=[1")
    shown = headrace("explain", MEETINGS, *given, "--stage", "query")
    assert 'Answer(p.name as name, "[1" as k) <- ' in shown.out
    for command in ("optimize", "plans"):
        done = headrace(command, MEETINGS, *given)
        assert done.code == 0, done.error
    local = ("--engine", "local", "--no-progress")
    done = headrace("run", MEETINGS, *given[:-1], "k=true", *local)
    assert done.code == 0, done.error
    assert '"name": "Chase", "k": true' in done.out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "E-PARAM 1:49: $name: the parameter has no value; give its value"),
        (("name=Ann", "k=1", "m=2"), "E-PARAM: m: the query has no parameter of this name"),
        (("name",), "--param name: expected NAME=VALUE"),
        (("name=1", "name=2"), "--param name: the parameter has a value already"),
        (("name=Ann", 'k={"a": 1}'), "E-PARAM: k: its value is not one of a query"),
    ],
)
def test_parameters_without_a_value_or_a_place_are_refused(
    headrace: Commands, catalog: Path, given: Sequence[str], message: str
) -> None:
    options = [word for text in given for word in ("--param", text)]
    done = headrace("explain", MEETINGS, "--catalog", catalog, "--window", "1h", *options)
    assert done.code == 2
    assert message in done.error


def test_a_stored_plan_has_no_parameters(headrace: Commands, catalog: Path) -> None:
    given = ("--param", "name=Chase", "--param", "k=1")
    plan = catalog.with_name("plan.json")
    done = headrace(
        "optimize", MEETINGS, "--catalog", catalog, "--window", "1h", *given, "-o", plan
    )
    assert done.code == 0, done.error
    done = headrace("run", plan, "--catalog", catalog, "--engine", "local", *given)
    assert done.code == 2
    assert "--param" in done.error


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


def test_the_service_takes_parameters(tmp_path: Path) -> None:
    query = "MATCH (a)-[r:likes]->(b) WHERE r.w IN $ws RETURN a, $flag AS flag"
    likes = {
        "labels": {"likes": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}},
        "properties": {"w": "integer"},
    }
    options: dict[str, object] = {"window": "1h"}
    body = {"query": query, "streams": {"s": likes}, "options": options}
    values = {"ws": [3, 4], "flag": True}
    with served(create_app(settings(tmp_path, hosts=LOOPBACK))) as client:
        planned = client.post(
            "/optimize", json={**body, "options": {**options, "parameters": values}}
        )
        shown = client.post(
            "/explain",
            json={**body, "stage": "query", "options": {**options, "parameters": values},
                  "format": "text"},
        )  # fmt: skip
        other = client.post(
            "/optimize", json={**body, "options": {**options, "parameters": {"ws": 1, "flag": 1}}}
        )
        missing = client.post("/optimize", json=body)
        nested = client.post("/optimize", json={**body, "options": {"parameters": {"ws": [[1]]}}})
    assert planned.status_code == 200, planned.text
    assert "r.w = 3 OR r.w = 4" in shown.text
    assert "true as flag" in shown.text
    assert other.status_code == 422
    assert "it is not a list" in other.text
    assert missing.status_code == 422
    assert "E-PARAM 1:39: $ws" in missing.text
    assert nested.status_code == 422


def test_python_takes_parameters(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,label,ts,w\na,b,likes,1,3\nb,c,likes,2,5\n")
    planned = optimize(
        "MATCH (a)-[r:likes]->(b) WHERE r.w IN $ws RETURN a, $text AS t",
        inputs=edges,
        window="10",
        parameters={"ws": [5, 6], "text": "x"},
    )
    assert [(row["a"], row["t"]) for row in planned.run("local")] == [("b", "x")]
    with pytest.raises(InvalidQueryError, match="E-PARAM"):
        optimize("MATCH (a)-[:likes]->(b) RETURN $n AS n", inputs=edges, window="10")

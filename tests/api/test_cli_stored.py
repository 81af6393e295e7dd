"""``--stored``: graphs without times beside a stream, and mistakes in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan_schema import plan_schema
from headrace.api.service import create_app
from headrace.catalog import load
from tests.api.command import Commands
from tests.api.serving import LOOPBACK, served, settings

SCHEMA = Draft202012Validator(plan_schema())
QUERY = "Answer(x, m, f, e.since) <- likes(x, m), member(x, f) as e. WINDOW 1h"
UNIX = 1_700_000_000


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[str | Path, ...]:
    """Four likes over an hour, and three memberships of two people who like."""
    likes, member = tmp_path / "likes.csv", tmp_path / "member.csv"
    rows = ["1,m1,0", "2,m1,600", "1,m2,3000", "4,m2,3599"]
    lines = [f"{src},{trg},{UNIX + int(ts)}\n" for src, trg, ts in (r.split(",") for r in rows)]
    likes.write_text("src,trg,ts\n" + "".join(lines))
    member.write_text("src,trg,since\n1,f1,2001\n1,f2,2002\n2,f1,2003\n")
    return "--input", f"likes={likes}", "--stored", f"member={member}"


def test_a_plan_over_a_stored_graph(headrace: Commands, inputs: tuple[str | Path, ...]) -> None:
    done = headrace("explain", QUERY, *inputs)
    assert "W WSCAN  stored.member(since)  stored" in done.out
    assert "W WSCAN  input.likes  window 1h" in done.out
    assert "∞" in done.out
    assert done.err == ""
    document = json.loads(headrace("explain", QUERY, *inputs, "-f", "json", "--costs").out)
    plan = document["plan"]
    SCHEMA.validate(plan)
    assert document["statistics"] == "measured"
    assert [window["stream"] for window in plan["windows"]] == ["input"]
    assert [stream["name"] for stream in plan["streams"]] == ["input", "stored"]
    (scan,) = [n for n in plan["nodes"] if n["op"] == "WSCAN" and n["args"]["label"] == "member"]
    assert (scan["args"]["range"], scan["args"]["slide"]) == (None, None)
    assert (scan["estimate"]["rate"], scan["estimate"]["interval"]) == (0.0, None)
    assert scan["estimate"]["population"] == 3
    assert 0 < scan["estimate"]["cost"] < 1e-5
    logical = json.loads(
        headrace("explain", QUERY, *inputs, "--stage", "logical", "-f", "json").out
    )
    assert "W[1h](input.likes)" in logical["canonical"]
    assert "K(stored.member(since))" in logical["canonical"]
    for form in ("dot", "mermaid", "html"):
        assert "stored" in headrace("explain", QUERY, *inputs, "-f", form).out
    assert headrace("plans", QUERY, *inputs, "-n", "0").out.endswith("plans\n")


def test_measured_beside_estimated(headrace: Commands, inputs: tuple[str | Path, ...]) -> None:
    """Times are counted from the first edge of the stream, not from 0."""
    done = headrace("explain", QUERY, *inputs, "--analyze", "-f", "json")
    measured = json.loads(done.out)["measured"]
    assert (measured["edges"], measured["results"], measured["ticks"]) == (7, 5, 3600)
    rates = {node["rate"] for node in measured["nodes"].values()}
    assert rates == {0.0, 4 / 3600, 5 / 3600}


def test_a_stored_graph_is_measured(
    headrace: Commands, inputs: tuple[str | Path, ...], tmp_path: Path
) -> None:
    file = tmp_path / "catalog.yaml"
    done = headrace("stats", *inputs, "--out", file)
    assert "member  3 stored" in done.out
    assert "measured on 7 edges, all of the input" in done.out
    graph = load(file).streams["stored"]
    assert graph.stored
    assert graph.labels["member"].population == 3
    assert dict(graph.properties) == {"since": "integer"}
    again = headrace("explain", QUERY, "--catalog", file, "--analyze")
    assert "5 results" in again.out
    alone = headrace("stats", *inputs[2:], "--format", "yaml")
    assert "stored: true" in alone.out
    assert "rate" not in alone.out


def test_a_stream_without_files_is_assumed(
    headrace: Commands, inputs: tuple[str | Path, ...]
) -> None:
    done = headrace("explain", QUERY, *inputs[2:])
    assert "W WSCAN  input.likes  window 1h" in done.out
    analyzed = headrace("explain", QUERY, *inputs[2:], "--analyze")
    assert analyzed.code == 2
    assert "there is no input for input" in analyzed.error


def test_labels_with_a_dot(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "member.csv"
    file.write_text("src,trg\n1,f1\n")
    query = "A(x, f) <- `is.in`(x, f), `stored.is.in`(y, f), likes(x, y), Person(x) WINDOW 1h"
    done = headrace("explain", query, "--stored", f"is.in={file}", "--stage", "logical")
    assert done.code == 0, done.err
    assert "stored.is.in  stored" in done.out
    assert "the same rows as above" in done.out
    assert "input.likes  window 1h" in done.out


def test_warning_if_a_stored_graph_has_a_column_of_times(
    headrace: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "member.csv"
    file.write_text("src,trg,ts\n1,f1,soon\n")
    done = headrace("explain", "A(x, f) <- member(x, f)", "--stored", f"member={file}")
    assert done.code == 0
    assert f"warning: {file}: the column ts is not read" in done.err
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        f"streams:\n  g:\n    stored: true\n    label: member\n    columns: {{ts: since}}\n"
        f"    source: {{format: csv, path: {file.name}}}\n"
    )
    done = headrace("explain", "A(x, f) <- member(x, f)", "--catalog", catalog)
    assert done.code == 2
    assert f"{catalog}:5: streams.g.columns.ts: a stored graph has no times" in done.error


@pytest.mark.parametrize(
    ("query", "more", "said"),
    [
        (QUERY, ("--stored", "member=none.csv"), "none.csv: the file does not exist"),
        (f"{QUERY} ON stored WINDOW 2h", (), "E-STORED 1:74: stored: stored is a stored graph"),
        (QUERY.replace("e.since", "e.ts"), (), "E-STORED 1:17: e.ts: stored is a stored graph"),
        (QUERY.replace("WINDOW 1h", ""), (), "E-NOWIN 1:29: likes"),
        ("A(x, y) <- followed(x, y)", (), "E-UNKNOWN 1:12"),
    ],
)
def test_mistakes(
    headrace: Commands,
    inputs: tuple[str | Path, ...],
    query: str,
    more: tuple[str, ...],
    said: str,
) -> None:
    done = headrace("explain", query, *inputs, *more)
    assert done.code == 2
    assert said in done.error


def test_a_label_of_both_a_stream_and_a_stored_graph_is_ambiguous(
    headrace: Commands, inputs: tuple[str | Path, ...]
) -> None:
    both = [str(i).replace("member=", "likes=") for i in inputs]
    query = "A(x, y) <- likes(x, y) WINDOW 1h"
    done = headrace("explain", query, *both)
    assert done.code == 2
    assert "E-AMBIGUOUS 1:12: likes: the label is in the streams input, stored" in done.error
    assert "a clause ON input (likes) WINDOW" in done.error
    named = headrace("explain", query.replace("likes", "`stored.likes`"), *both)
    assert "stored.likes  stored" in named.out
    clause = headrace("explain", query.replace("WINDOW", "ON input (likes) WINDOW"), *both)
    assert "input.likes  window 1h" in clause.out


def test_streams_of_a_request_may_be_stored(tmp_path: Path) -> None:
    statistics = {"distinct_src": 5, "distinct_trg": 5}
    streams: dict[str, dict[str, Any]] = {
        "s": {"labels": {"likes": {"rate": 1, **statistics}}},
        "g": {"stored": True, "labels": {"member": {"population": 9, **statistics}}},
    }
    body = {"query": QUERY.replace(", e.since", "").replace(" as e", ""), "streams": streams}
    with served(create_app(settings(tmp_path, hosts=LOOPBACK))) as client:
        answer: httpx.Response = client.post("/optimize", json=body)
        assert answer.status_code == 200, answer.text
        plan = answer.json()["plan"]
        SCHEMA.validate(plan)
        assert {n["args"]["range"] for n in plan["nodes"] if n["op"] == "WSCAN"} == {None, 3600}
        streams["g"]["labels"] = {"member": statistics}
        refused = client.post("/optimize", json=body)
        assert refused.status_code == 422
        assert "expected population, since the graph is stored" in refused.json()["detail"]

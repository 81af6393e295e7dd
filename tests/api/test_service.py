"""The service over HTTP gives the documents of the command line, problem details and limits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan_schema import plan_schema
from headrace.api.service import create_app
from headrace.api.service.bodies import LONGEST_QUERY
from headrace.catalog import dump, files_of_inputs, from_document, load, measured_catalog
from tests.api.command import CATALOG, EXAMPLES, QUERY, Commands
from tests.api.serving import LOOPBACK, problem, running, served, settings

LARGEST_BODY = 1_000_000
CHAINS = (EXAMPLES / "chains.rq").read_text("utf-8")
NOTIFIED = (EXAMPLES / "q7.rq").read_text("utf-8")
SCHEMA = Draft202012Validator(plan_schema())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    made = settings(tmp_path_factory.mktemp("home"), catalog=load(CATALOG), hosts=LOOPBACK)
    with served(create_app(made)) as client:
        yield client


def test_health(client: httpx.Client) -> None:
    assert client.get("/healthz").json()["status"] == "ok"


def test_explain_says_how_and_why(client: httpx.Client) -> None:
    body = {"query": NOTIFIED, "trace": True, "why": True}
    document = client.post("/explain", json=body).json()
    assert document["trace"]["steps"][-1]["plan"]["cost"] == document["cost"]
    assert document["why"].keys() == {str(n["id"]) for n in document["plan"]["nodes"]}
    text = client.post("/explain", json={**body, "format": "text"}).text
    assert "by JoinIntoPath" in text
    assert "query: G0 = WSCAN" in text
    plain = client.post("/explain", json={"query": CHAINS}).json()
    assert plain.keys().isdisjoint({"trace", "why"})


def test_options_select_simple_paths(client: httpx.Client) -> None:
    options = {"path_semantics": "simple", "simple_budget": 5}
    query = "Answer(x, y) <- x (a2q/c2a)+ y WINDOW 3d"
    plan = client.post("/optimize", json={"query": query, "options": options}).json()["plan"]
    assert plan["path_semantics"] == "simple"
    (path,) = (node for node in plan["nodes"] if node["op"] == "SIMPLE_PATH")
    assert path["args"]["budget"] == 5
    wrong = {"query": query, "options": {"path_semantics": "acyclic"}}
    problem(client.post("/optimize", json=wrong), 422)


def test_options_select_evaluation_per_slide(client: httpx.Client) -> None:
    query = "Answer(x, y) <- a2q+(x, y) WINDOW 3d SLIDE 1d"
    body = {"query": query, "options": {"evaluate": "slide"}}
    plan = client.post("/optimize", json=body).json()["plan"]
    assert plan["evaluate_every"] == 86400
    SCHEMA.validate(plan)
    wrong = {"query": query, "options": {"evaluate": "sometimes"}}
    problem(client.post("/optimize", json=wrong), 422)


@pytest.mark.parametrize("detail", ["costs", "trace", "why"])
def test_details_belong_to_the_plan(client: httpx.Client, detail: str) -> None:
    for place in ({"stage": "memo"}, {"format": "html"}):
        answer = client.post("/explain", json={"query": CHAINS, detail: True, **place})
        found = problem(answer, 422)
        assert found["detail"] == (f"{detail} needs the stage physical and the format text or json")


def test_optimize_gives_the_plan_of_the_command_line(
    client: httpx.Client, headrace: Commands
) -> None:
    document = client.post("/optimize", json={"query": NOTIFIED}).json()
    SCHEMA.validate(document["plan"])
    by_command = headrace("optimize", EXAMPLES / "q7.rq", "--catalog", CATALOG).out
    assert document["plan"] == json.loads(by_command)
    assert document["id"] != document["plan"]["digest"]  # the size of the result
    assert document["minimised"] == "shared_cost"
    assert 0 < document["shared_cost"] < document["canonical_shared_cost"]
    assert document["stop_reason"] == "complete"
    assert document["memo"]["groups"] > 0
    assert document["optimize_ms"] > 0


def test_requests_may_name_the_language(client: httpx.Client) -> None:
    query = "SELECT x, y MATCH (x)-[:a2q]->()-[:c2a]->(y)"
    body = {"query": query, "options": {"window": "1d"}}
    told = client.post("/explain", json={**body, "language": "gcore"}).json()
    assert told["language"] == client.post("/explain", json=body).json()["language"] == "gcore"
    refused = problem(client.post("/optimize", json={**body, "language": "rq"}), 422)
    assert refused["code"] == "E-SYNTAX"
    missing = {"query": query.removesuffix("y)"), "language": "gcore"}
    document = problem(client.post("/optimize", json=missing), 422)
    assert document["position"] == {"line": 1, "column": len(query) - 1}


@pytest.mark.parametrize("stage", ["query", "logical", "memo", "physical", "plan"])
def test_explain_gives_the_documents_of_the_command_line(
    client: httpx.Client, headrace: Commands, stage: str
) -> None:
    document = client.post("/explain", json={"query": CHAINS, "stage": stage}).json()
    by_command = json.loads(
        headrace(
            "explain", EXAMPLES / "chains.rq", "--catalog", CATALOG, "--stage", stage, "-f", "json"
        ).out
    )
    for one in (document, by_command):  # the time differs in each answer
        one.pop("optimize_ms", None)
        for rule in one.get("memo", {}).get("rules", {}).values():
            rule.pop("ms")
    assert document == by_command


@pytest.mark.parametrize(
    ("form", "kind", "start"),
    [
        ("text", "text/plain", " "),
        ("html", "text/html", "<!doctype html>"),
        ("dot", "text/plain", "digraph"),
        ("mermaid", "text/plain", "flowchart"),
    ],
)
def test_explain_in_other_forms(client: httpx.Client, form: str, kind: str, start: str) -> None:
    answer = client.post("/explain", json={"query": CHAINS, "format": form})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    assert answer.text.startswith(start)
    if form == "html":
        assert "script" not in answer.headers["content-security-policy"]


def test_the_api_describes_itself(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {path: set(of) for path, of in paths.items()} == {
        "/optimize": {"post"},
        "/explain": {"post"},
        "/examples": {"get"},
        "/languages": {"get"},
        "/plans/{id}": {"get"},
        "/plans/{id}/explanation": {"get"},
        "/plans/{id}/memo": {"get"},
        "/plans/{id}/trace": {"get"},
        "/plans/{id}/alternatives": {"get"},
        "/searches/{request_id}": {"get", "delete"},
        "/queries": {"get", "post"},
        "/queries/{id}": {"get", "delete"},
        "/queries/{id}/pause": {"post"},
        "/queries/{id}/resume": {"post"},
        "/queries/{id}/stop": {"post"},
        "/queries/{id}/picture": {"get"},
        "/queries/{id}/results": {"get"},
        "/queries/{id}/results/file": {"get"},
        "/queries/{id}/dead-letters": {"get"},
        "/streams": {"get"},
        "/streams/{name}": {"get", "put", "delete"},
        "/healthz": {"get"},
        "/readyz": {"get"},
        "/metrics": {"get"},
    }
    assert client.get("/docs").status_code == 200


def test_an_invalid_query_has_its_place(client: httpx.Client) -> None:
    for path in ("/optimize", "/explain"):
        document = problem(client.post(path, json={"query": "Answer(x, y) <-\n a(x y)"}), 422)
        assert document["code"] == "E-SYNTAX"
        assert document["position"] == {"line": 2, "column": 6}
        assert document["text"] == "y"
        assert document["expected"]
        assert "^" in document["display"]


STREAMS = {"s": {"labels": {"a": {"rate": 5, "distinct_src": 9, "distinct_trg": 9}}}}


def test_streams_come_with_the_request(client: httpx.Client) -> None:
    body = {"query": "Answer(x, y) <- a(x, y) WINDOW 1d", "streams": STREAMS}
    document = client.post("/optimize", json=body).json()
    (stream,) = document["plan"]["streams"]
    assert (stream["name"], stream["labels"], stream["vertex_type"]) == ("s", ["a"], "string")
    whole = {**body, "catalog": {"time_unit": "hour", "streams": STREAMS}}
    del whole["streams"]
    assert client.post("/optimize", json=whole).json()["plan"]["time_unit"] == "hour"


def test_no_file_is_read_that_a_client_names(client: httpx.Client) -> None:
    source = {"format": "csv", "path": str(EXAMPLES / "a2q.csv.gz")}
    body = {
        "query": "Answer(x, y) <- a(x, y) WINDOW 1d",
        "streams": {"s": {"source": source, "label": "a"}},
    }
    assert problem(client.post("/optimize", json=body), 422)["code"] == "E-UNKNOWN"


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no query": ({}, "E-USAGE", "query"),
    "a query of another kind": ({"query": 3}, "E-USAGE", "query"),
    "an unknown field": ({"query": QUERY, "quick": True}, "E-USAGE", "quick"),
    "an unknown option": ({"query": QUERY, "options": {"speed": 1}}, "E-USAGE", "options.speed"),
    "an unknown label": ({"query": "Answer(x, y) <- zz(x, y) WINDOW 1d"}, "E-UNKNOWN", "zz"),
    "no such rule": (
        {"query": CHAINS, "options": {"disabled_rules": ["Magic"]}}, "E-RULE", "Magic"
    ),
    "slide over range": (
        {"query": "Answer(x, y) <- a2q(x, y)", "options": {"window": "1d", "slide": "2d"}},
        "E-WINDOW", "slide",
    ),
    "an endless query": ({"query": "a" * (LONGEST_QUERY + 1)}, "E-USAGE", "query"),
    "two catalogs": (
        {"query": CHAINS, "streams": STREAMS, "catalog": {"streams": STREAMS}},
        "E-CATALOG",
        "either",
    ),
    "a bad catalog": (
        {"query": CHAINS, "catalog": {"streams": {"s": 1}}}, "E-CATALOG", "streams.s"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_invalid_requests_are_refused_with_their_place(client: httpx.Client, what: str) -> None:
    body, code, mention = WRONG[what]
    document = problem(client.post("/optimize", json=body), 422)
    assert document["code"] == code
    assert mention in document["detail"] + document.get("text", "")


def test_a_stage_without_a_picture(client: httpx.Client) -> None:
    body = {"query": CHAINS, "stage": "memo", "format": "dot"}
    assert "no dot form" in problem(client.post("/explain", json=body), 422)["detail"]


def test_a_body_that_is_not_json_is_refused(client: httpx.Client) -> None:
    answer = client.post(
        "/optimize", content=b'{"query"', headers={"content-type": "application/json"}
    )
    assert "not JSON" in problem(answer, 400)["detail"]


def test_unknown_paths_are_not_found(client: httpx.Client) -> None:
    problem(client.get("/nowhere"), 404)
    problem(client.get("/optimize"), 405)


def test_bodies_are_bounded_whether_they_say_their_size_or_not(client: httpx.Client) -> None:
    large = json.dumps({"query": CHAINS, "language": " " * LARGEST_BODY}).encode()
    headers = {"content-type": "application/json"}
    declared = client.post("/optimize", content=large, headers=headers)
    assert "1,000,000 bytes" in problem(declared, 413)["detail"]

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(large), 65_536):
            yield large[start : start + 65_536]

    problem(client.post("/optimize", content=pieces(), headers=headers), 413)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]", 200),
        ("[::1]:8080", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example:8080", 400),
        ("www.localhost", 400),
        ("localhost:8080@evil.example", 400),
        ("[::1", 400),
        ("[::2]:8080", 400),
        ("", 400),
    ],
)
def test_requests_under_another_host_name_are_refused(
    client: httpx.Client, host: str, status: int
) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == status


def test_searches_are_bounded_in_time(tmp_path: Path) -> None:
    bounded = settings(tmp_path, catalog=load(CATALOG), longest_search_ms=1e-6)
    with served(create_app(bounded)) as client:
        body = {"query": CHAINS, "options": {"budget_ms": 1_000_000}}
        document = client.post("/optimize", json=body).json()
    assert document["stop_reason"] == "budget_ms"
    SCHEMA.validate(document["plan"])


def test_an_unreadable_stream_concerns_only_what_reads_it(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("src,trg,ts\n1,2,5\n")
    os.mkfifo(tmp_path / "pipe.csv")
    held = os.open(tmp_path / "pipe.csv", os.O_RDWR)  # a reader would wait forever
    document = {
        "streams": {
            name: {
                "source": {"format": "csv", "path": str(tmp_path / f"{name}.csv")},
                "label": name,
            }
            for name in ("good", "pipe", "missing")
        }
    }
    made = settings(tmp_path / "home", catalog=from_document(document), hosts=LOOPBACK)
    try:
        with served(create_app(made)) as client:
            assert [s["name"] for s in client.get("/streams").json()] == ["good", "missing", "pipe"]
            for name, said in (("pipe", "it is a pipe"), ("missing", "the file does not exist")):
                body = {"query": f"Answer(x, y) <- {name}(x, y) WINDOW 9"}
                found = problem(client.post("/optimize", json=body), 422)
                assert found["code"] == "E-FILE"
                assert found["detail"].startswith(f"stream {name}: ")
                assert said in found["detail"]
            answer = client.post("/optimize", json={"query": "Answer(x, y) <- good(x, y) WINDOW 9"})
            assert answer.status_code == 200
            assert answer.json()["warnings"] == []
    finally:
        os.close(held)


def test_doubts_about_the_input_are_in_the_documents(tmp_path: Path) -> None:
    rows = "".join(f"1,{k},{1_700_000_000_000 + k}\n" for k in range(12))
    (tmp_path / "a.csv").write_text("src,trg,ts\n" + rows)
    source = {"format": "csv", "path": str(tmp_path / "a.csv")}
    catalog = from_document({"streams": {"a": {"source": source, "label": "a"}}})
    made = settings(tmp_path / "home", catalog=catalog, hosts=LOOPBACK)
    with served(create_app(made)) as client:
        body = {"query": "Answer(x, y) <- a(x, y), x < y WINDOW 1h"}
        for path in ("/optimize", "/explain"):
            warnings = client.post(path, json=body).json()["warnings"]
            assert "if they are milliseconds, say time_unit: millisecond" in warnings[0]
            assert "the query orders vertices" in warnings[1]
        body = {"query": "Answer(x, y) <- a(x, y), y > 3 WINDOW 1h"}
        found = problem(client.post("/optimize", json=body), 422)
        assert found["code"] == "E-TYPE"
        assert "vertex_type: integer in the catalog" in found["hint"]
        assert "if they are milliseconds" in found["warnings"][0]


def test_the_service_reads_the_sample_of_its_catalog(tmp_path: Path) -> None:
    rows = "".join(f"{k % 7},{k % 5},{k}\n" for k in range(200))
    (tmp_path / "a.csv").write_text("src,trg,ts\n" + rows)
    dump(measured_catalog(files_of_inputs([f"a={tmp_path}/a.csv"]))[0], tmp_path / "c.yaml")
    made = settings(tmp_path / "home", catalog=load(tmp_path / "c.yaml"), hosts=LOOPBACK)
    body: dict[str, object] = {"query": "Answer(x, y) <- a+(x, y) WINDOW 20"}
    with served(create_app(made)) as client:
        assert client.post("/explain", json=body).json()["sampling"]["estimates"] == 1
        without = client.post("/explain", json={**body, "options": {"sample": False}})
        assert without.json().get("sampling") is None
        (stream,) = load(tmp_path / "c.yaml").streams
        other = {"labels": {"b": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}}}
        assert client.put("/streams/other", json=other).is_success
        assert client.post("/explain", json=body).json()["sampling"]["estimates"] == 1
        labels = {"a": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}}
        assert client.put(f"/streams/{stream}", json={"labels": labels}).is_success
        assert client.post("/explain", json=body).json().get("sampling") is None
    options = ("--catalog", tmp_path / "c.yaml", "--no-sample")
    with running(tmp_path / "unsampled", *options) as service, service.client() as client:
        asked = {**body, "options": {"sample": True}}
        assert client.post("/explain", json=asked).json().get("sampling") is None

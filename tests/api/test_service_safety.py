"""The safety of the service: tokens, limits, headers, faults."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok

from headrace.api.service import create_app
from headrace.api.service.problems import problem_document
from headrace.api.service.query_folder import QueryFolder
from headrace.api.service.query_size import Limits
from headrace.api.service.tokens import read_tokens, token
from headrace.planning.errors import UsageError
from tests.api import serving
from tests.api.command import QUERY, process
from tests.api.kept import DONE, kept, publish
from tests.api.serving import problem, served
from tests.strategies.amount import examples
from tests.waiting import until

READ, PLAN, RUN = "read-" + "r" * 20, "plan-" + "p" * 20, "run-" + "u" * 20
HIM = {"Authorization": f"Bearer {READ}"}
HER = {"Authorization": f"Bearer {PLAN}"}
WHO_RUNS = {"Authorization": f"Bearer {RUN}"}
ORIGIN = "https://pages.example"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    made = serving.settings(
        tmp_path_factory.mktemp("home"),
        tokens=(token(READ, "read"), token(PLAN, "plan"), token(RUN, "run")),
        origins=(ORIGIN,),
        searches_at_once=1,
        longest_search_ms=500.0,
        limits=Limits(atoms=3, states=4, answer=15_000),
        most_streams=2,
        most_running=0,
    )
    kept(
        made,
        DONE,
        replace(DONE, id="f0", state="failed", error=problem_document(500, "it was too much")),
    )
    publish(QueryFolder(made.home / "queries" / DONE.id).results, 2, 3)
    return create_app(made)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[httpx.Client]:
    with served(app) as client:
        yield client


def test_without_a_token_only_the_state_is_shown(client: httpx.Client) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/openapi.json").status_code == 200
    for path in ("/streams", "/metrics", "/plans/00", "/nowhere"):
        answer = client.get(path)
        problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
    for wrong in (f"Bearer {READ}x", f"Basic {READ}", READ, "Bearer", "Bearer \xff"):
        headers = httpx.Headers({b"Authorization": wrong.encode("latin-1")})
        problem(client.get("/streams", headers=headers), 401)


def test_token_allows_its_scopes_only(client: httpx.Client) -> None:
    assert client.get("/streams", headers=HIM).status_code == 200
    for method, path in (("POST", "/optimize"), ("POST", "/explain"), ("PUT", "/streams/a")):
        answer = client.request(method, path, headers=HIM, json={"query": QUERY})
        assert "plan" in problem(answer, 403)["detail"]
    problem(client.delete("/streams/a", headers=HIM), 403)
    assert client.get("/streams", headers=HER).status_code == 200
    assert client.post("/optimize", headers=HER, json={"query": QUERY}).status_code == 200


def test_putting_sources_needs_the_scope_run(tmp_path: Path) -> None:
    tokens = (token(PLAN, "plan"), token(RUN, "run"))
    made = serving.settings(tmp_path, tokens=tokens, allow_sources=True, searches_at_once=1)
    known = {"rate": 1.0, "distinct_src": 2, "distinct_trg": 2}
    source = {"format": "csv", "path": str(tmp_path / "a.csv")}
    stream = {"source": source, "labels": {"a": known}}
    with served(create_app(made)) as client:
        refused = client.put("/streams/a", headers=HER, json=stream)
        assert "run" in problem(refused, 403)["detail"]
        problem(client.delete("/streams/a", headers=HER), 403)
        assert client.get("/streams", headers=HER).status_code == 200
        assert client.put("/streams/a", headers=WHO_RUNS, json=stream).status_code == 200


def test_tokens_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# who may\nread {READ}\n\nread,plan {PLAN}\n")
    his, hers = read_tokens(file)
    assert (his, hers) == (token(READ, "read"), token(PLAN, "plan"))
    assert READ not in repr(his)
    for wrong in ("", "read short", f"write {READ}", READ):
        file.write_text(wrong)
        with pytest.raises(UsageError) as raised:
            read_tokens(file)
        assert READ not in raised.value.display()
    with pytest.raises(UsageError):
        read_tokens(tmp_path / "none")


def test_serve_refuses_wrong_tokens(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("read short")
    done = process("serve", "--tokens", tmp_path / "tokens", "--home", tmp_path)
    assert done.code == 2
    assert "fewer than 16 characters" in done.error


def test_pages_of_other_origins_get_nothing(client: httpx.Client) -> None:
    ours = client.get("/streams", headers={**HIM, "Origin": ORIGIN})
    assert ours.headers["access-control-allow-origin"] == ORIGIN
    theirs = client.get("/streams", headers={**HIM, "Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in theirs.headers
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    assert client.options("/optimize", headers=asks).status_code == 200


def test_without_origins_no_page_may(tmp_path: Path) -> None:
    with served(create_app(serving.settings(tmp_path, searches_at_once=1))) as client:
        answer = client.get("/streams", headers={"Origin": ORIGIN})
    assert answer.status_code == 200
    assert [name for name in answer.headers if name.startswith("access-control")] == []


def test_simple_requests_of_other_pages_are_refused(client: httpx.Client) -> None:
    # A browser sends this to any host without a preflight request, as a form does.
    headers = {**HER, "Origin": "https://evil.example", "Content-Type": "text/plain"}
    content = json.dumps({"query": QUERY})
    for path in ("/optimize", "/explain"):
        problem(client.post(path, headers=headers, content=content), 403)
        unsaid = {name: value for name, value in headers.items() if name != "Origin"}
        problem(client.post(path, headers=unsaid, content=content), 422)


PLACES = [
    ("POST", "/optimize"), ("POST", "/explain"), ("PUT", "/streams/a"), ("DELETE", "/streams/a"),
    ("POST", "/queries"), ("DELETE", f"/queries/{DONE.id}"), ("POST", f"/queries/{DONE.id}/pause"),
    ("POST", f"/queries/{DONE.id}/resume"), ("POST", f"/queries/{DONE.id}/stop"),
    ("DELETE", "/searches/mine"),
]  # fmt: skip
"""All that may change something; the test of the description sees to it that none is missing."""


def test_every_changing_route_is_in_the_list(app: FastAPI) -> None:
    described = {
        (
            method.upper(),
            path.replace("{id}", DONE.id).replace("{name}", "a").replace("{request_id}", "mine"),
        )
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if method != "get"
    }
    assert described == set(PLACES)


@pytest.mark.parametrize(
    "told",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    ],
    ids=lambda told: " ".join(told.values()),
)
def test_pages_of_other_origins_change_nothing(client: httpx.Client, told: dict[str, str]) -> None:
    for method, path in PLACES:
        answer = client.request(method, path, headers={**WHO_RUNS, **told})
        assert "other origins" in problem(answer, 403)["detail"]
    assert client.get(f"/queries/{DONE.id}", headers=HIM).json()["state"] == "finished"


def test_pages_that_may_change_something(client: httpx.Client) -> None:
    own = str(client.base_url).rstrip("/")
    for told in (
        {},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": own},
        {"Origin": own, "Sec-Fetch-Site": "same-origin"},
        # The page behind a proxy under another host name.
        {"Origin": "https://headrace.example", "Sec-Fetch-Site": "same-origin"},
    ):
        answer = client.post("/optimize", headers={**HER, **told}, json={"query": QUERY})
        assert answer.status_code == 200


def test_request_with_two_framings_is_refused_and_disconnected(client: httpx.Client) -> None:
    body = b"0\r\n\r\n"
    hidden = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head = (
        b"POST /optimize HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % len(body + hidden)
    )
    with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as raw:
        raw.settimeout(60)
        raw.sendall(head + body + hidden)
        answers = b"".join(iter(lambda: raw.recv(65_536), b""))  # until the client disconnects
    assert answers.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in answers.lower()
    assert answers.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5_000 + ".js", "%00.js", "..%2findex.html"])
def test_assets_that_cannot_be_there_are_not_found(client: httpx.Client, name: str) -> None:
    problem(client.get(f"/assets/{name}"), 404)
    problem(client.get(f"/docs/{name}"), 404)


def test_every_answer_has_a_policy_without_scripts_from_elsewhere(client: httpx.Client) -> None:
    for path in ("/", "/docs", "/docs/start.js", "/healthz", "/nowhere", "/metrics", "/streams"):
        policy = client.get(path, headers=HIM).headers["content-security-policy"]
        directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert directives["default-src"] == "'none'"
        assert directives.get("script-src", "'self'") == "'self'"
        assert directives["frame-ancestors"] == "'none'"


def test_the_description_of_the_api_is_served_from_here(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(files) == 4
    for file in files:
        assert "//" not in file
        assert client.get(f"/{file}").status_code == 200


def test_answers_fit_the_described_types(app: FastAPI, client: httpx.Client) -> None:
    paths = app.openapi()["paths"]
    until(lambda: client.get("/readyz").status_code == 200)
    for path in (
        "/metrics",
        "/streams",
        "/examples",
        "/languages",
        "/healthz",
        "/readyz",
        "/queries",
    ):
        said = paths[path]["get"]["responses"]["200"]["content"]
        kind = client.get(path, headers=HIM).headers["content-type"].partition(";")[0]
        assert list(said) == [kind], path
    for form, kind in (("json", "application/json"), ("text", "text/plain"), ("html", "text/html")):
        asked = {"query": QUERY, "format": form, "stage": "query" if form == "text" else "physical"}
        answer = client.post("/explain", headers=HER, json=asked)
        said = paths["/explain"]["post"]["responses"]["200"]["content"]
        assert answer.headers["content-type"].partition(";")[0] == kind, answer.text
        assert kind in said
    assert list(paths["/queries/{id}/results"]["get"]["responses"]["200"]["content"]) == [
        "text/event-stream"
    ]


def test_answers_have_security_headers(client: httpx.Client) -> None:
    for path in ("/healthz", "/nowhere", "/docs"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["content-security-policy"].startswith("default-src 'none'")


def test_request_ids_are_accepted_or_generated(client: httpx.Client) -> None:
    given_ = client.get("/healthz", headers={"X-Request-Id": "abc.1-2"})
    assert given_.headers["x-request-id"] == "abc.1-2"
    for wrong in ("a b", "x" * 101, ""):
        made = client.get("/healthz", headers={"X-Request-Id": wrong}).headers["x-request-id"]
        assert made not in ("", wrong)


def test_clients_cannot_create_metrics(client: httpx.Client) -> None:
    problem(client.request("BREW", "/healthz"), 405)
    problem(client.request("BREW", "/nowhere", headers=HER), 404)
    counted = client.get("/metrics", headers=HIM).text
    assert 'method="other",route="/healthz"' in counted
    assert "BREW" not in counted
    assert "nowhere" not in counted


LARGE = {
    "atoms": ("Answer(x, y) <- a(x, y), b(x, y),\n c(x, y), d(x, y) WINDOW 1d", (2, 11)),
    "states": ("Answer(x, y) <- x (a/b/c/d)+ y WINDOW 1d", (1, 17)),
}


@pytest.mark.parametrize("what", LARGE)
def test_queries_are_bounded(client: httpx.Client, what: str) -> None:
    query, (line, column) = LARGE[what]
    document = problem(client.post("/optimize", headers=HER, json={"query": query}), 422)
    assert document["code"] == "E-SIZE"
    assert what in document["detail"]
    assert document["position"] == {"line": line, "column": column}


def test_answers_are_bounded(client: httpx.Client) -> None:
    query = "Answer(x, y) <- x (a/b/c)+ y WINDOW 1d"
    body = {"query": query, "trace": True, "why": True, "costs": True}
    document = problem(client.post("/explain", headers=HER, json=body), 422)
    assert "15,000 bytes" in document["detail"]


def test_the_number_of_streams_is_bounded(client: httpx.Client) -> None:
    answers = [client.put(f"/streams/s{n}", headers=HER, json={}) for n in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert client.put("/streams/s1", headers=HER, json={}).json()["version"] == 2
    for n in range(2):
        client.delete(f"/streams/s{n}", headers=HER)


def test_a_fault_has_an_id_that_the_log_has(
    app: FastAPI,
    client: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(app.state.service.store.plans, "find", broken)
    with caplog.at_level(logging.INFO, "headrace.service"):
        document = problem(client.get("/plans/00", headers={**HIM, "X-Request-Id": "it"}), 500)
    assert document["request_id"] == "it"
    assert "secret" not in json.dumps(document)
    assert "secret" in caplog.text
    assert READ not in caplog.text


def test_settings_do_not_show_their_secrets(tmp_path: Path) -> None:
    made = replace(serving.settings(tmp_path), database="postgresql://user:secret@host/db")
    assert "secret" not in repr(made)


def deep(opening: str, closing: str, times: int) -> str:
    return opening * times + "1" + closing * times


def statistics(text: str) -> str:
    labels = f'{{"a": {{"rate": {text}, "distinct_src": 9, "distinct_trg": 9}}}}'
    return f'{{"query": "{QUERY}", "streams": {{"s": {{"labels": {labels}}}}}}}'


def asking(query: str, language: str = "rq") -> str:
    return json.dumps({"query": query, "language": language})


HOSTILE = {
    "a list without end": f'{{"query": {deep("[", "]", 100_000)}}}',
    "objects at the limit of what is read": f'{{"query": "", "x": {deep("[", "]", 990)}}}',
    "a catalog of them": f'{{"query": "", "catalog": {deep("""{"a": """, "}", 950)}}}',
    "no number": statistics("NaN"),
    "infinity": statistics("1e999"),
    "a long number": statistics("9" * 4_000),
    "a longer number": statistics("9" * 5_000),
    "a long wait": '{"query": "", "streams": {"s": {"delay": %s}}}' % ("9" * 4_000),
    "open ones": asking("(" * 90_000),
    "closures of closures": asking(f"A(x, y) <- x {'(' * 900}a{')+' * 900} y WINDOW 1d"),
    "many repeats": asking("A(x, y) <- x a{1,999999999} y WINDOW 1d"),
    "no end of minus": asking(f"A(x, y) <- a(x, y) as e, {'- ' * 20_000}e.p > 1 WINDOW 1d"),
    "a long window": asking(f"A(x, y) <- a(x, y) WINDOW {'9' * 5_000}d"),
    "half a sign": '{"query": "\\ud800", "language": "\\udfff"}',
    "many rules": asking(" ".join(f"R{n}(x, y) <- R{n + 1}(x, y)." for n in range(3_000))),
    "NOT": asking(f"SELECT x MATCH (x)-[:a]->(y) WHERE {'NOT ' * 20_000}x.a = 1", "gcore"),
    "an unclosed text": asking("SELECT x MATCH (x) WHERE x.a = '" + "\\" * 50_000, "gcore"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_requests_are_refused(client: httpx.Client, what: str) -> None:
    headers = {**HER, "Content-Type": "application/json"}
    answer = client.post("/optimize", headers=headers, content=HOSTILE[what])
    assert answer.status_code in (400, 422)
    problem(answer, answer.status_code)


QUERIES = st.sampled_from(
    [QUERY, "Answer(x, y) <- a(x, y) WINDOW 1d", "CONSTRUCT", "", "\ud800", "a\0b"]
)


def test_no_described_request_causes_an_internal_error(app: FastAPI, client: httpx.Client) -> None:
    schema = schemathesis.openapi.from_dict(app.openapi())
    amount = settings(examples(8), deadline=None, suppress_health_check=list(HealthCheck))
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) == 29
    for operation in operations:

        @amount
        @given(case=operation.as_strategy(), query=QUERIES, id_=st.sampled_from(["d0", "f0", "0f"]))
        def ask(case: schemathesis.Case[Any], query: str, id_: str) -> None:
            if isinstance(case.body, dict) and "query" in case.body:
                case.body["query"] = query
            if case.path.startswith("/queries/{id}"):
                case.path_parameters["id"] = id_
            answer = case.call(base_url=str(client.base_url), headers=WHO_RUNS)
            case.validate_response(answer, checks=[not_a_server_error])

        ask()

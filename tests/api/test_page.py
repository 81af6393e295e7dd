"""The service serves the page's files, its types and the documents that the page shows."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from headrace.api.service import create_app, page
from headrace.api.service.bodies import ConstantName
from headrace.catalog import load
from headrace.costmodel.constants import Constants
from headrace.languages import detect
from headrace.languages.registry import LANGUAGES
from tests.api.command import CATALOG, EXAMPLES, ROOT
from tests.api.serving import LOOPBACK, metric, served, settings

CHAINS = (EXAMPLES / "chains.rq").read_text("utf-8")
WEB = ROOT / "web"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    made = settings(tmp_path_factory.mktemp("home"), catalog=load(CATALOG), hosts=LOOPBACK)
    with served(create_app(made)) as client:
        yield client


@pytest.fixture(scope="module")
def explained(client: httpx.Client) -> dict[str, Any]:
    options = {"parallelism": 4, "constants": {"network": 5.0}}
    found = client.post("/optimize", json={"query": CHAINS, "options": options}).json()
    document: dict[str, Any] = client.get(f"/plans/{found['id']}/explanation").json()
    assert document["id"] == found["id"]
    assert document["plan"] == found["plan"]
    return document


def test_the_stored_openapi_description_is_current(
    tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    description = create_app(settings(tmp_path)).openapi()
    description["info"].pop("version")
    text = json.dumps(description, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    golden(WEB / "openapi.json", text)


def test_an_explanation_has_all_that_is_drawn_of_a_plan(explained: dict[str, Any]) -> None:
    nodes = explained["plan"]["nodes"]
    keys = [str(node["id"]) for node in nodes]
    assert list(explained["costs"]) == list(explained["why"]) == keys
    for plan, picture in (("plan", "picture"), ("canonical_plan", "canonical_picture")):
        drawn = [(box["id"], box["operator"]) for box in explained[picture]["boxes"]]
        assert drawn == [(node["id"], node["op"]) for node in explained[plan]["nodes"]]
    assert explained["picture"]["boxes"][-1]["symbol"] == "P"
    assert explained["picture"]["per"]["sign"] == "h"


def test_an_explanation_can_be_kept_at_hand(client: httpx.Client) -> None:
    body = {"query": CHAINS, "options": {"parallelism": 3}, "explain": True}
    found = client.post("/optimize", json=body).json()
    before = metric(client, 'headrace_searches_total{kind="explanation"}')
    document = client.get(f"/plans/{found['id']}/explanation").json()
    assert document["plan"] == found["plan"]
    assert metric(client, 'headrace_searches_total{kind="explanation"}') == before


def test_documents_are_compressed_for_clients_that_take_gzip(client: httpx.Client) -> None:
    body = {"query": CHAINS, "options": {"parallelism": 3}}
    found = client.post("/optimize", json=body)
    path = f"/plans/{found.json()['id']}/explanation"
    for answer in (found, client.post("/optimize", json=body), client.get(path)):
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json()["plan"] == found.json()["plan"]


def test_equal_parts_of_two_plans_have_equal_digests(explained: dict[str, Any]) -> None:
    chosen, written = (
        {(box["operator"], box["alike"]) for box in explained[picture]["boxes"]}
        for picture in ("picture", "canonical_picture")
    )
    both = [operator for operator, _ in chosen & written]
    assert both.count("WSCAN") == 2
    assert "S_PATH" not in both


def test_an_explanation_has_the_request_for_its_plan(
    client: httpx.Client, explained: dict[str, Any]
) -> None:
    again = client.post("/optimize", json=explained["asked"]).json()
    assert again["id"] == explained["id"]


def test_constants_are_those_of_the_cost_model(explained: dict[str, Any]) -> None:
    assert set(get_args(ConstantName)) == {field.name for field in fields(Constants)}
    assert explained["constants"]["network"] == 5.0
    moved = [n["id"] for n in explained["plan"]["nodes"] if n["op"] == "EXCHANGE"]
    assert moved
    for node in moved:
        assert explained["costs"][str(node)]["symbols"]["net"]["value"] == 5.0


def test_an_explanation_names_no_file(client: httpx.Client, explained: dict[str, Any]) -> None:
    for catalog in (explained["catalog"], explained["asked"]["catalog"]):
        assert all("source" not in stream for stream in catalog["streams"].values())


def test_alternatives_can_be_drawn(client: httpx.Client, explained: dict[str, Any]) -> None:
    found = client.get(f"/plans/{explained['id']}/alternatives?limit=2").json()["plans"]
    assert [len(one["picture"]["boxes"]) for one in found] == [
        len(one["plan"]["nodes"]) for one in found
    ]
    assert found[0]["picture"] == explained["picture"]


def test_every_example_is_there(client: httpx.Client) -> None:
    answer = client.get("/examples")
    assert answer.headers["content-encoding"] == "gzip"
    plain = client.get("/examples", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    found = answer.json()
    assert plain.json() == found
    endings = (".rq", ".gcore", ".cypher", ".seraph")
    files = [path for path in EXAMPLES.parent.glob("*/*") if path.suffix in endings]
    assert {one["name"] for one in found} == {f"{path.parent.name}/{path.name}" for path in files}
    for one in found:
        assert one["title"]
        assert all("source" not in stream for stream in one["catalog"]["streams"].values())
        assert detect(one["query"], "query") == one["language"]


def test_languages_are_those_of_the_registry(client: httpx.Client) -> None:
    assert client.get("/languages").json() == [
        {
            "name": language.name,
            "title": language.title,
            "endings": list(language.endings),
            "comment": language.comment,
        }
        for language in LANGUAGES
    ]


def test_the_page_is_served_with_its_files_and_runs_nothing_else(client: httpx.Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200, "python web/build_page.py builds it"
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert "http" not in policy
    assets = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', answer.text)
    assert len(assets) >= 2
    for asset in assets:
        file = client.get(f"/{asset}")
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        assert file.headers["content-encoding"] == "gzip"
        plain = client.get(f"/{asset}", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == file.content


@pytest.mark.parametrize(
    "name",
    ["none.js", "..%2findex.html", "..%2f..%2fservice%2fpage.py", "%2e%2e", "..%2fbuilt.json"],
)
def test_only_the_files_of_the_page_are_served(client: httpx.Client, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_a_page_that_is_not_built_says_how(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    answer = client.get("/")
    assert answer.status_code == 503
    assert "build_page.py" in answer.text


def test_the_page_draws_a_plan_without_the_code_of_the_editor_and_of_other_views() -> None:
    """A slow connection gets what it needs first."""
    first = re.findall(
        r'(?:src|href)="\./(assets/[^"]+)"', (page.FOLDER / "index.html").read_text()
    )
    files = [page.FOLDER / name for name in first]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 120_000
    names = "".join(path.name for path in (page.FOLDER / "assets").iterdir())
    for part in ("Editor", "MemoView", "SearchView", "LiveView"):
        assert part in names
        assert part not in "".join(first)


def test_the_page_is_small_and_asks_no_other_host() -> None:
    files = [path for path in page.FOLDER.rglob("*") if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 1_000_000
    for path in files:
        text = path.read_text("utf-8")
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        assert hosts <= {"www.w3.org", "svelte.dev"}, path  # names of XML, of errors


def test_no_registry_is_named_where_packages_are_locked() -> None:
    lock = (WEB / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in lock
    assert "registry" not in lock

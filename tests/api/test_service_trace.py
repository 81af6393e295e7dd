"""The trace of a search over HTTP has the requested length, up to a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from headrace.api.service import create_app
from headrace.api.service.query_size import Limits
from headrace.catalog import load
from tests.api.command import CATALOG, EXAMPLES
from tests.api.serving import LOOPBACK, problem, served, settings

QUERY = (EXAMPLES / "q7.rq").read_text("utf-8")
ROOM = 40_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    made = settings(
        tmp_path_factory.mktemp("home"),
        catalog=load(CATALOG),
        hosts=LOOPBACK,
        limits=Limits(answer=ROOM),
    )
    with served(create_app(made)) as client:
        yield client


@pytest.fixture(scope="module")
def place(client: httpx.Client) -> str:
    found = client.post("/optimize", json={"query": QUERY}).json()
    return f"/plans/{found['id']}/trace"


def trace(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    assert len(answer.content) <= ROOM
    found: dict[str, Any] = answer.json()["trace"]
    return found


def kinds(found: dict[str, Any]) -> Counter[str]:
    return Counter(step["kind"] for step in found["steps"])


def test_trace_shows_tried_rules_on_request(client: httpx.Client, place: str) -> None:
    plain = trace(client.get(place, params={"steps": 6}))
    whole = trace(client.get(place, params={"steps": 6, "tried": True}))
    assert kinds(plain) == Counter(query=6, plan=6)
    assert kinds(whole) - kinds(plain) == Counter(known=5, left=6)
    in_vain = ("known", "left")
    assert [step for step in whole["steps"] if step["kind"] not in in_vain] == plain["steps"]
    assert whole["left"] == plain["left"] > 6
    assert whole["more"] == plain["more"] > 0
    problem(client.get(place, params={"steps": 0}), 422)


def test_a_trace_that_is_too_long_is_cut(client: httpx.Client, place: str) -> None:
    found = trace(client.get(place, params={"steps": 100_000, "tried": True}))
    told = kinds(found)
    assert told["query"] + told["rule"] > 5
    assert found["more"] > 0
    rules = [step["step"] for step in found["steps"] if step["kind"] in ("query", "rule")]
    assert rules == list(range(1, len(rules) + 1))

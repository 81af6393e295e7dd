"""Routes of queries in an application with stored queries and without an engine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from headrace.api.service import create_app
from headrace.api.service.problems import document_of
from headrace.planning.errors import RunError
from tests.api.kept import DONE, HELD, kept
from tests.api.serving import settings

PROGRESS: dict[str, Any] = {
    "phase": "running", "fraction": None, "batch": 3, "edges": 10, "results": 4, "late": 0,
    "rejected": 1, "now": 99, "lag": 0.5, "ticks": 90, "seconds": 1.5, "edges_per_second": 6.0,
    "results_per_second": 2.0, "state_entries": 7, "state_bytes": 800,
}  # fmt: skip
NUMBERS = {"rate": 1.0, "validity": None, "population": 2.0}
OPERATOR: dict[str, Any] = {
    "node": 0, "op": "WSCAN", "rows_in": 0, "rows": 5, "rows_out": 5, "dropped": 0, "endless": 0,
    "rate": 1.0, "validity": 3.0, "population": 2.0, "seconds": 0.0, "state_entries": 0,
    "state_bytes": 0, "estimate": NUMBERS, "q_error": NUMBERS,
}  # fmt: skip
FAILURE = document_of(RunError("Spark has gone", hint="start it again"))
FAILED = replace(
    DONE,
    id="f0",
    state="failed",
    error=FAILURE,
    account={"progress": PROGRESS, "operators": [OPERATOR]},
)
OLD = replace(DONE, id="a0", account={"progress": {"phase": "done"}, "operators": [{"node": 0}]})


def answers(folder: Path, *paths: str) -> list[httpx.Response]:
    made = settings(folder, most_running=0)
    kept(made, FAILED, HELD, OLD)
    app = create_app(made)

    async def asked() -> list[httpx.Response]:
        queries = app.state.service.queries
        before = await ask()
        assert await queries._keeper.acquire(logged=False)
        queries.ready = True
        return before + await ask()

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [await client.get(path) for path in paths]

    return asyncio.run(asked())


def test_no_query_is_shown_before_the_data_directory_is_locked(tmp_path: Path) -> None:
    before, after = answers(tmp_path, "/queries/f0")
    assert (before.status_code, before.json()["code"]) == (503, "E-HOME")
    assert before.headers["Retry-After"] == "1"
    assert after.status_code == 200


def test_a_query_is_shown_from_its_stored_state(tmp_path: Path) -> None:
    *_, listed, shown = answers(tmp_path, "/queries", "/queries/f0")
    document = shown.json()
    assert document["progress"] == PROGRESS
    assert document["error"] == FAILURE
    assert document["operators"] == [OPERATOR]
    assert document["plan"] == DONE.plan
    assert document["output"] is None  # an earlier version stored none
    line = next(query for query in listed.json() if query["id"] == "f0")
    assert line == {k: v for k, v in document.items() if k not in ("plan", "operators")}


def test_an_account_of_an_earlier_release_is_left_out(tmp_path: Path) -> None:
    *_, shown = answers(tmp_path, "/queries/a0")
    assert shown.json()["progress"] is None
    assert shown.json()["operators"] == []


def test_an_unknown_query_is_refused(tmp_path: Path) -> None:
    *_, unknown, wrong = answers(tmp_path, "/queries/ab", "/queries/XY")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "E-UNKNOWN")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "E-USAGE")

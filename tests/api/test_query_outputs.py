"""The second output of a query of the service: who may name one, and what is shown of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace import PlanRequest, optimize
from headrace.api.service import create_app
from headrace.api.service.catalogs import document_of
from headrace.catalog import dumps, loads
from tests.api.kept import QUERY
from tests.api.serving import problem, settings

CATALOG = """
streams: {s: {labels: {a: {rate: 2, distinct_src: 5, distinct_trg: 7}}}}
sinks:
  answers: {format: kafka, options: {kafka.bootstrap.servers: "a:1", topic: t, kafka.pass: hush}}
"""
TOPIC = "kafka://127.0.0.1:9/answers"


def refusal(folder: Path, output: str, **others: Any) -> dict[str, Any]:
    """The problem of a query with an output; the service itself can run no query."""
    app = create_app(settings(folder, most_running=0, **others))
    app.state.service.queries.ready = True

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/queries", json={**QUERY, "output": output})

    return problem(asyncio.run(asked()), 422)


def test_a_request_names_a_topic_only_if_the_service_allows_it(tmp_path: Path) -> None:
    refused = refusal(tmp_path, TOPIC)
    assert refused["code"] == "E-OUTPUT"
    assert "--allow-sources" in refused["hint"]


@pytest.mark.parametrize("output", ["kafka://", "kafka://a:9092", "kafka://a:9092/a/b"])
def test_an_output_that_is_no_topic_is_refused(tmp_path: Path, output: str) -> None:
    refused = refusal(tmp_path, output, allow_sources=True)
    assert refused["code"] == "E-OUTPUT"
    assert "kafka://HOST:PORT/TOPIC" in refused["hint"]


def test_an_output_is_not_a_file(tmp_path: Path) -> None:
    refused = refusal(tmp_path, "/tmp/answers", allow_sources=True)
    assert [one["at"] for one in refused["problems"]] == ["output"]


def test_a_sink_that_the_catalog_does_not_have_is_refused(tmp_path: Path) -> None:
    refused = refusal(tmp_path, "sink:lost", catalog=loads(CATALOG))
    assert refused["code"] == "E-OUTPUT"
    assert "no sink 'lost'" in refused["detail"]
    assert "answers" in refused["hint"]


def test_neither_plans_nor_explanations_have_sinks() -> None:
    catalog = loads(CATALOG)
    assert "hush" in dumps(catalog)
    document = document_of(catalog)
    assert document is not None
    assert "sinks" not in document
    planned = optimize(PlanRequest("Answer(x, y) <- a(x, y) WINDOW 1d", catalog=catalog))
    for stage in ("physical", "plan"):
        assert "hush" not in planned.explain(stage=stage, format="json")

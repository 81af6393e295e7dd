"""Queries of an earlier run of the service, as it left them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace.api.service import Settings
from headrace.api.service.data_directory import DataDirectory
from headrace.api.service.jobs import digest
from headrace.api.service.kept_plans import KeptPlan
from headrace.api.service.kept_queries import KeptQuery
from headrace.api.service.store import Store
from tests.executor.spark.plans import edges_of_a

QUERY = {"query": "Answer(x, y) <- a2q(x, y) WINDOW 1d"}
ASKED: dict[str, Any] = {
    "name": None, "query": QUERY["query"], "language": None, "options": {}, "plan_id": "0f",
    "speed": None, "interval": None, "largest_batch": None, "strict": False,
}  # fmt: skip
PLAN = edges_of_a().to_document()
DONE = KeptQuery("d0", "", ASKED, PLAN, 1_000_000, state="finished", ended=3_500_000)
HELD = KeptQuery("e0", "", ASKED, PLAN, 2_000_000, wanted="paused", state="paused")


def kept(made: Settings, *queries: KeptQuery) -> None:
    """Queries of an earlier run of the service."""
    home = DataDirectory(made.home / "queries")
    assert home.acquire()
    store = Store(made.database, 1)
    for query in queries:
        store.queries.add(replace(query, home=home.id))
    store.close()
    home.release()


def kept_plan(question: dict[str, Any], filling: str = "") -> KeptPlan:
    """A stored plan of any request and any size."""
    answer = {"id": digest(question), "filling": filling}
    return KeptPlan(question, json.dumps(answer).encode(), "complete")


def publish(folder: Path, *parts: int, batch: int = 0, first: int = 1) -> None:
    """Files of result parts, one for each batch, as a run writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in parts:
        lines = [json.dumps({"n": n}) + "\n" for n in range(first, first + size)]
        (folder / f"part-{batch:08}-000.jsonl").write_text("".join(lines))
        batch, first = batch + 1, first + size

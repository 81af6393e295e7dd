"""The samples for the tests of the page are current answers of the service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from headrace import PlanRequest, optimize
from headrace.documents.explained import explain_document
from headrace.documents.memo import memo_document
from headrace.optimizer.trace import Tracing
from tests.test_golden_search import CATALOG, QUERIES

SAMPLES = Path(__file__).parent.parent.parent / "web" / "src" / "samples"


def test_the_samples_of_the_page_are_current(golden: Callable[[Path, str], None]) -> None:
    request = PlanRequest(QUERIES["triangle"], catalog=CATALOG)
    planned = optimize(request, trace=Tracing(tried=True))
    memo, traced = memo_document(planned).to_json(), explain_document(planned)
    for document in (memo, traced):
        document["optimize_ms"] = 0
        for rule in document["memo"]["rules"].values():
            rule["ms"] = 0
    for name, document in (("memo", memo), ("traced", traced)):
        golden(SAMPLES / f"{name}.json", json.dumps(document, ensure_ascii=False) + "\n")

"""The output of explain for searches, line by line: memo, trace, reasons, rule statistics."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace import PlanRequest, explain_document, optimize
from headrace.api.explanation import plan_text
from headrace.api.render import memo, search
from headrace.catalog.document import from_document
from headrace.documents.explained import physical_document
from headrace.documents.memo import memo_document

GOLDEN = Path(__file__).parent / "golden" / "search"

CATALOG = from_document(
    {
        "time_unit": "second",
        "streams": {
            "s": {
                "labels": {
                    "a": {"rate": 2, "distinct_src": 900, "distinct_trg": 700, "vertices": 2000},
                    "b": {"rate": 5, "distinct_src": 800, "distinct_trg": 1500, "vertices": 2000},
                    "c": {"rate": 3, "distinct_src": 1200, "distinct_trg": 600, "vertices": 2000},
                }
            }
        },
    }
)

QUERIES = {
    "path": "Answer(x, y) <- x (a/b)+ y. WINDOW 1h SLIDE 1m",
    "triangle": "Answer(x, y, z) <- a(x, y), b(y, z), c(z, x). WINDOW 1h SLIDE 1m",
    "constants": 'Answer(y, z) <- a("u", y), b(y, z), c(z, "v"). WINDOW 1h SLIDE 1m',
    "union": "D(x, y) <- a(x, y). D(x, y) <- b(x, y). Answer(x, y) <- D+(x, y) as P."
    " WINDOW 1h SLIDE 1m",
}


@pytest.mark.parametrize("name", QUERIES)
def test_searches_match_their_golden_files(name: str, golden: Callable[[Path, str], None]) -> None:
    planned = optimize(PlanRequest(QUERIES[name], catalog=CATALOG), trace=True)
    document = physical_document(planned, why=True)
    assert document.trace is not None
    *why, _, _ = plan_text(document).partition("\ncost ")
    parts = {
        "query": QUERIES[name] + "\n",
        "memo": memo.render(memo_document(planned)),
        "trace": search.steps(document.trace, document.picture.per),
        "why": why[0],
        "rules": search.rules(document.memo, times=False),
    }
    golden(GOLDEN / f"{name}.txt", "\n".join(f"---- {part}\n{parts[part]}" for part in parts))


def test_search_documents_match_their_golden_files(golden: Callable[[Path, str], None]) -> None:
    planned = optimize(PlanRequest(QUERIES["path"], catalog=CATALOG), trace=True)
    document = explain_document(planned, why=True)
    kept = {name: document[name] for name in ("trace", "why")}
    golden(GOLDEN / "path.json", json.dumps(kept, indent=2, ensure_ascii=False) + "\n")

"""Plans of the bundled queries, line by line: a change of plan is seen in a diff."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headrace import PlanRequest, catalog, optimize
from headrace.api.render import text
from headrace.documents.picture import picture_of_plan, picture_of_query
from headrace.documents.query import logical_document

EXAMPLES = Path(__file__).parent.parent / "examples" / "mathoverflow"
GOLDEN = Path(__file__).parent / "golden"


QUERIES = {path.stem: path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.rq"))} | {
    "returned_path": "Answer(x, p as way, m) <- x (a2q/^c2q)+ y as p, c2a(m, y).\n"
    "WINDOW 14d SLIDE 1d\n"
}


@pytest.mark.parametrize("name", QUERIES)
def test_plans_match_their_golden_files(name: str, golden: Callable[[Path, str], None]) -> None:
    declared = catalog.load(EXAMPLES / "catalog.yaml")
    query = QUERIES[name]
    planned = optimize(PlanRequest(query, f"{name}.rq", catalog=declared))
    found = planned.optimization
    parts = {
        "query": query,
        "logical": text.render(picture_of_query(logical_document(planned))),
        "as written": text.render(picture_of_plan(found.canonical_plan)),
        "chosen": text.render(picture_of_plan(found.plan)),
        "search": f"{found.plans.count:,} plans, {found.stop_reason}\n",
    }
    document = "\n".join(f"---- {name}\n{part}" for name, part in parts.items())
    golden(GOLDEN / f"{name}.txt", document)

"""Plans of the bundled queries, line by line: a change of plan is seen in a diff."""

from collections.abc import Callable
from pathlib import Path

import pytest

import catalog
from api.render import text
from api.render.diagram import of_logical, of_plan
from headrace import PlanRequest, optimize

EXAMPLES = Path(__file__).parent.parent / "examples" / "mathoverflow"
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.rq")), ids=lambda path: path.stem)
def test_plans_are_as_they_were(path: Path, golden: Callable[[Path, str], None]) -> None:
    declared = catalog.load(EXAMPLES / "catalog.yaml")
    query = path.read_text("utf-8")
    planned = optimize(PlanRequest(query, path.name, catalog=declared))
    found = planned.optimization
    parts = {
        "query": query,
        "logical": text.render(of_logical(planned.logical, declared.time_unit)),
        "as written": text.render(of_plan(found.canonical_plan)),
        "chosen": text.render(of_plan(found.plan)),
        "search": f"{found.plans.count:,} plans, {found.stop_reason}\n",
    }
    document = "\n".join(f"---- {name}\n{part}" for name, part in parts.items())
    golden(GOLDEN / f"{path.stem}.txt", document)

"""``headrace optimize``: the physical plan as a document that ``run`` takes."""

from __future__ import annotations

from .. import options as opt
from ..console import say, write


def optimize(
    query: opt.Query,
    *,
    out: opt.Out = None,
    options: opt.QueryOptions,
    debug: opt.Debug = False,
) -> None:
    """Find the cheapest plan of a query and write it as JSON, for headrace run."""
    from ...documents.explained import physical_document
    from ...planning.planner import optimize as find_plan
    from ..explanation import summary
    from ..request import plan_request, read_query, warn

    planned = find_plan(plan_request(read_query(query), options))
    warn(planned)
    write(planned.plan.to_json(), out)
    if out is not None:
        say(f"plan {planned.plan.digest} written to {out}\n{summary(physical_document(planned))}")

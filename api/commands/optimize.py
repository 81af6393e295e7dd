"""``headrace optimize``: the physical plan as a document that ``run`` takes."""

from __future__ import annotations

from ...algebra.physical import DEFAULT_STEPS
from .. import options as opt
from ..console import say, write


def optimize(
    query: opt.Query,
    *,
    out: opt.Out = None,
    language: opt.Language = None,
    input_: opt.Inputs,
    stored: opt.Stored,
    vertices: opt.Vertices,
    columns: opt.Columns = None,
    sep: opt.Separator = None,
    time_unit: opt.TimeUnit = None,
    vertex_type: opt.VertexTypeOf = None,
    catalog: opt.CatalogFile = None,
    window: opt.WindowRange = None,
    slide: opt.WindowSlide = None,
    cost_model: opt.CostModel = "saturating",
    disable_rule: opt.DisabledRules,
    budget_ms: opt.BudgetMs = None,
    budget_expressions: opt.BudgetExpressions = None,
    parallelism: opt.Parallelism = 1,
    path_semantics: opt.PathSemantics = "arbitrary",
    simple_budget: opt.SimpleBudget = None,
    evaluate: opt.Evaluate = "eager",
    debug: opt.Debug = False,
) -> None:
    """Find the cheapest plan of a query and write it as JSON, for headrace run."""
    from ...planning.planner import optimize as find_plan
    from ...planning.requests import PlanningOptions
    from ..explanation import summary
    from ..request import plan_request, read_query, warn

    planned = find_plan(
        plan_request(
            read_query(query),
            language=language,
            catalog=catalog,
            inputs=input_,
            stored=stored,
            vertices=vertices,
            columns=columns,
            separator=sep,
            time_unit=time_unit,
            vertex_type=vertex_type,
            options=PlanningOptions(
                window,
                slide,
                cost_model,
                tuple(disable_rule),
                budget_ms,
                budget_expressions,
                parallelism,
                path_semantics,
                simple_budget or DEFAULT_STEPS,
                evaluate,
            ),
        )
    )
    warn(planned)
    write(planned.plan.to_json(), out)
    if out is not None:
        say(f"plan {planned.plan.digest} written to {out}\n{summary(planned)}")

"""Properties of edges in process: from columns of edges through operators to results."""

from __future__ import annotations

import pytest

from headrace.algebra.physical import Coalesce, FilterRows, ProjectColumns, ToKernel
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.executor.local import Edge, Result, run_plan
from headrace.executor.scans import ScanInput, scan_inputs
from tests.executor.property_plans import (
    FILTERED,
    PLANS,
    TYPES,
    UNITED,
    Meaning,
    meant,
    plan_of,
    random_edges,
    scan,
    typed,
)
from tests.executor.spark.chain import Chain


def agree(results: list[Result], meaning: Meaning, edges: list[Edge]) -> None:
    """The results say what is meant at all instants at which anything changes."""
    instants = sorted({edge[3] for edge in edges} | {r.exp for r in results})
    assert any(meant(meaning, edges, t) for t in instants)
    for t in instants:
        found = {typed(r.bindings) for r in results if r.ts <= t < r.exp}
        assert found == meant(meaning, edges, t), t


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_plans_over_properties_have_the_right_results(name: str, batch_rows: int) -> None:
    plan, meaning = PLANS[name]
    edges = random_edges(90, seed=batch_rows)
    agree(list(run_plan(plan, edges, batch_rows)), meaning, edges)


@pytest.mark.parametrize("name", PLANS)
def test_plans_over_properties_have_the_right_results_in_stages(name: str) -> None:
    """The same through messages and logs, by a worker that begins anew now and then."""
    plan, meaning = PLANS[name]
    edges = random_edges(90)
    chain = Chain(plan)
    for start in range(0, len(edges), 12):
        if start % 24 == 0:
            chain.another_worker()
        chain.batch(edges[start : start + 12])
    agree(chain.results, meaning, edges)


def test_projections_and_filters_belong_to_scan_inputs() -> None:
    """What only a filter looks at is not carried further."""
    (scan_input,) = scan_inputs(FILTERED)
    assert scan_input == ScanInput(
        3,
        scan("weight", "name"),
        ("c2 > 1 AND c3 <> 'x'",),
        "string",
        ("number", "string"),
        (3, 1),
    )
    assert scan_input.returned == ((".name", "string"), ("trg", "string"))
    first, second = scan_inputs(UNITED)
    assert first.predicates == ("c2 = TRUE OR c3 IS NULL",), "in the scan's columns"
    assert (first.columns, second.columns) == ((3, 2), (2, 3))


def test_operators_above_to_kernel_are_no_part_of_a_scan_input() -> None:
    plan = plan_of(
        (scan("weight"), ()),
        (ToKernel(), (0,)),
        (ProjectColumns((2,)), (1,)),
        (FilterRows("c0 > 1"), (2,)),
        columns=("weight",),
    )
    assert [(scan_input.node, scan_input.columns) for scan_input in scan_inputs(plan)] == [
        (1, (0, 1, 2))
    ]
    edges: list[Edge] = [
        ("x", "y", "a", i, "s", {"weight": weight}) for i, weight in enumerate([0.5, 1.5, None])
    ]
    assert [r.bindings for r in run_plan(plan, edges)] == [(1.5,)]


def test_a_scan_input_may_have_no_columns() -> None:
    plan = plan_of(
        (scan("weight", predicate="c2 > 1"), ()),
        (ProjectColumns(()), (0,)),
        (Coalesce(), (1,)),
        columns=(),
    )
    edges: list[Edge] = [("x", "y", "a", i, "s", {"weight": float(i)}) for i in range(4)]
    assert [r[:2] for r in run_plan(plan, edges)] == [((), 2), ((), 3)]


def test_an_edge_without_the_column_lacks_the_property() -> None:
    plan = plan_of((scan("weight", "count"), ()), columns=("x", "y", "weight", "count"))
    edges: list[Edge] = [("x", "y", "a", 0), ("x", "y", "a", 1, "s", {"count": 1})]
    assert [r.bindings for r in run_plan(plan, edges)] == [
        ("x", "y", None, None),
        ("x", "y", None, 1),
    ]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (plan_of((scan("size"), ()), columns=("x", "y", "size")), "property size of s has no type"),
        (
            plan_of((scan("weight"), ()), (ProjectColumns((3,)), (0,)), columns=("x",)),
            "its input has no such column",
        ),
        (
            plan_of((scan("weight"), ()), (FilterRows("c3 = 1"), (0,)), columns=("x", "y", "w")),
            "c3",
        ),
    ],
)
def test_plans_with_wrong_columns_or_types_are_refused(plan: PhysicalPlan, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        scan_inputs(plan)


def test_values_of_another_type_are_refused() -> None:
    plan = plan_of((scan("count"), ()), columns=("x", "y", "count"))
    edges: list[Edge] = [("x", "y", "a", 0, "s", {"count": "1"})]
    with pytest.raises(
        ValueError, match=r"has values of integer in \.count, but its rows hold string"
    ):
        list(run_plan(plan, edges))
    assert TYPES["count"] == "integer"

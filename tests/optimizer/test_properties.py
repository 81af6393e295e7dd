"""Properties of edges in plans: filters reach the scans, residual conditions the lowest join."""

from __future__ import annotations

from algebra.physical import FilterRows, HashJoin, WindowScan
from algebra.plan import PhysicalPlan, PlanNode
from algebra.predicate import Predicate
from algebra.window import Window
from catalog.model import Catalog, LabelStatistics, Stream
from costmodel import CostModel
from languages import parse
from languages.canonical import translate
from optimizer import Optimizer, Options

ALIKE = LabelStatistics(rate=10.0, distinct_src=500.0, distinct_trg=500.0, vertices=800.0)
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            dict.fromkeys("abc", ALIKE),
            properties={"amount": "integer", "rate": "number", "note": "string"},
        )
    }
)


def best(text: str) -> PhysicalPlan:
    query = translate(parse(text, "rq"), CATALOG, Window(100))
    outcome = Optimizer(CostModel(catalog=CATALOG), Options(check=True)).optimize(query)
    assert outcome.stop_reason == "complete"
    return outcome.plan


def scans(plan: PhysicalPlan) -> dict[str, tuple[tuple[str, ...], str | None]]:
    """The properties and the predicate of the scan of each label."""
    leaves = [node.operator for node in plan.nodes if isinstance(node.operator, WindowScan)]
    return {leaf.label: (leaf.properties, leaf.predicate) for leaf in leaves}


def labels_below(plan: PhysicalPlan, node: PlanNode) -> set[str]:
    if isinstance(node.operator, WindowScan):
        return {node.operator.label}
    return {label for i in node.inputs for label in labels_below(plan, plan.nodes[i])}


def residuals(plan: PhysicalPlan) -> dict[str, set[str]]:
    """The labels that each filter above a join stands over."""
    return {
        node.operator.predicate: labels_below(plan, node)
        for node in plan.nodes
        if isinstance(node.operator, FilterRows)
    }


def test_conditions_over_one_edge_are_checked_by_its_scan() -> None:
    plan = best("A(x, z) <- a(x, y) as e, b(y, z) as f, e.amount > 5, f.note = 'u', f.rate < 2")
    assert scans(plan) == {
        "a": (("amount",), "c2 > 5"),
        "b": (("note", "rate"), "c2 = 'u' AND c3 < 2"),
    }
    assert residuals(plan) == {}


def test_so_is_one_over_vertices_by_every_scan_that_has_them() -> None:
    plan = best("A(x, z) <- a(x, y), b(y, z), y > 'm'")
    assert scans(plan) == {"a": ((), "c1 > 'm'"), "b": ((), "c0 > 'm'")}


def test_a_residual_condition_sinks_to_the_lowest_join_with_its_columns() -> None:
    plan = best(
        "A(x, w) <- a(x, y) as e, b(y, z) as f, c(z, w) as g, "
        "abs(e.ts - f.ts) <= 3, f.rate < g.rate, x <> w"
    )
    joins = [labels_below(plan, n) for n in plan.nodes if isinstance(n.operator, HashJoin)]
    for predicate, below in residuals(plan).items():
        for part in Predicate(predicate).conjuncts:
            needed = {"ABS": {"a", "b"}, "c0 ": {"a", "c"}}.get(part.sql[:3], {"b", "c"})
            assert needed <= below, part
            assert all(not needed <= join or below <= join for join in joins), part
    assert len(residuals(plan)) == 2
    assert {label: properties for label, (properties, _) in scans(plan).items()} == {
        "a": ("ts",),
        "b": ("rate", "ts"),
        "c": ("rate",),
    }


def test_the_answer_has_the_columns_of_properties() -> None:
    plan = best("A(x, e.amount as much, e.ts) <- a(x, y) as e, b(y, z), z <> x")
    assert plan.columns == ("x", "much", "ts")


def test_a_condition_that_never_holds_leaves_nothing_to_read() -> None:
    assert scans(best("A(x) <- a(x, y) as e, e.amount < e.amount")) == {}

"""Properties of edges in plans: filters reach the scans, residual conditions the lowest join."""

from __future__ import annotations

from headrace.algebra.physical import FilterRows, HashJoin, WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanNode
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

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


def best(text: str, *without: str) -> PhysicalPlan:
    """The best plan, without some rules."""
    query = translate(parse(text, "rq"), CATALOG, Window(100))
    options = Options(check=True, disabled_rules=frozenset(without))
    outcome = Optimizer(CostModel(catalog=CATALOG), options).optimize(query)
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
    """The labels below each residual of a join, and below each filter."""
    found = {}
    for node in plan.nodes:
        if isinstance(node.operator, FilterRows):
            found[node.operator.predicate] = labels_below(plan, node)
        elif isinstance(node.operator, HashJoin) and node.operator.residual is not None:
            found[node.operator.residual] = labels_below(plan, node)
    return found


def test_conditions_over_one_edge_are_checked_by_its_scan() -> None:
    plan = best("A(x, z) <- a(x, y) as e, b(y, z) as f, e.amount > 5, f.note = 'u', f.rate < 2")
    assert scans(plan) == {
        "a": (("amount",), "c2 > 5"),
        "b": (("note", "rate"), "c2 = 'u' AND c3 < 2"),
    }
    assert residuals(plan) == {}


def test_a_condition_over_vertices_is_checked_by_every_scan_of_them() -> None:
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
            ends = {"a", "c"} if "<>" in part.sql else {"b", "c"}
            needed = {"a", "b"} if "ABS" in part.sql else ends
            assert needed <= below, part
            assert all(not needed <= join or below <= join for join in joins), part
    assert len(residuals(plan)) == 2
    assert not any(isinstance(node.operator, FilterRows) for node in plan.nodes)
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


def test_equal_properties_are_a_key_of_the_join() -> None:
    plan = best("A(x, z) <- a(x, y) as e, b(z, w) as f, e.note = f.note")
    (join,) = [n.operator for n in plan.nodes if isinstance(n.operator, HashJoin)]
    assert set(join.bindings[0]) & set(join.bindings[1])
    assert join.residual is None
    assert {predicate for _, predicate in scans(plan).values()} == {"c2 IS NOT NULL"}


def horizons(text: str) -> set[tuple[str, int]]:
    """The horizons in the best plan of binary joins: a column's name, and the bound."""
    found = set()
    plan = best(text, "PatternToMultiway", "ForestToMultiway")
    for node in plan.nodes:
        if isinstance(node.operator, HashJoin) and node.operator.horizon is not None:
            for below, horizon in zip(node.inputs, node.operator.horizon, strict=True):
                if horizon is not None:
                    found.add((plan.nodes[below].columns[horizon[0]], horizon[1]))
    return found


def test_times_bound_how_long_rows_are_held() -> None:
    two = "A(x) <- a(x, y) as e, b(y, z) as f, "
    assert horizons(two + "abs(e.ts - f.ts) <= 3") == {("e.ts", 3), ("f.ts", 3)}
    assert horizons(two + "e.ts < f.ts") == {("f.ts", -1)}
    assert horizons(two + "e.ts < f.ts, f.ts <= e.ts + 7") == {("f.ts", -1), ("e.ts", 7)}
    assert horizons(two + "e.ts = f.ts") == {("e.ts", 0)}
    assert horizons(two + "e.ts + 1 > f.ts * 2") == set()
    assert horizons(two + "e.amount < f.amount") == set()


def test_a_side_bounds_the_other_only_by_all_of_its_edges() -> None:
    three = "A(x) <- a(x, y) as e, b(y, z) as f, c(z, w) as g, "
    by_way_of_f = horizons(three + "abs(e.ts - f.ts) <= 3, abs(f.ts - g.ts) <= 4")
    # The last join has two edges on one side: the third is held for both bounds.
    assert by_way_of_f & {("e.ts", 7), ("g.ts", 7)}
    # No condition bounds c, so rows that join with c are held until they expire.
    assert len(horizons(three + "abs(e.ts - f.ts) <= 3")) == 2
    path = "A(x) <- a(x, y) as e, b+(y, z), c(z, w) as g, abs(e.ts - g.ts) <= 3"
    assert len(horizons(path)) == 1


def test_a_bound_makes_a_join_cheaper() -> None:
    def joining(bound: int) -> float:
        plan = best(f"A(x) <- a(x, y) as e, b(y, z) as f, abs(e.ts - f.ts) <= {bound}")
        return sum(n.estimate.cost for n in plan.nodes if isinstance(n.operator, HashJoin))

    assert joining(2) < joining(20) < joining(1000)

"""A stored graph is joined with the stream, unless a join of stored graphs alone is small."""

from __future__ import annotations

from headrace.algebra.logical import LogicalExpression, LogicalQuery, Pattern, WScan
from headrace.algebra.physical import HashJoin, ToKernel, WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.optimizer import Optimizer


def chosen(population: float, distinct: float) -> PhysicalPlan:
    """``s(x, y), k(y, z), l(z, w)``, where k and l meet in so many different values."""
    ends = (1e5, distinct)
    live = LabelStatistics(1.0, 1e5, 1e5, 1e5)
    graph = {
        label: LabelStatistics(0.0, src, trg, 1e5, population=population)
        for label, (src, trg) in (("k", ends), ("l", ends[::-1]))
    }
    catalog = Catalog({"g": Stream("g", graph, stored=True), "s": Stream("s", {"s": live})})
    scans = [WScan("s", "s", Window(3600)), *(WScan("g", label, None) for label in "kl")]
    pattern = Pattern(((0, 1), (1, 2), (2, 3)), (0, 3))
    expression = LogicalExpression(pattern, tuple(map(LogicalExpression, scans)))
    model = CostModel(catalog=catalog)
    return Optimizer(model).optimize(LogicalQuery(expression, ("x", "w"))).plan


def streams_below(plan: PhysicalPlan, node: int) -> set[str]:
    operator = plan.nodes[node].operator
    if isinstance(operator, WindowScan):
        return {operator.stream}
    return {name for i in plan.nodes[node].inputs for name in streams_below(plan, i)}


def joined_apart(plan: PhysicalPlan) -> bool:
    """Whether some join is of stored graphs alone."""
    return any(
        isinstance(node.operator, HashJoin) and streams_below(plan, node.id) == {"g"}
        for node in plan.nodes
    )


def test_a_large_join_of_stored_graphs_is_not_made() -> None:
    """A hundred million rows would be held, to save a probe for each row of the stream."""
    assert not joined_apart(chosen(population=1e5, distinct=100.0))


def test_a_small_join_of_stored_graphs_is_made_once() -> None:
    plan = chosen(population=1e3, distinct=1e3)
    assert joined_apart(plan)
    assert [n.op for n in plan.nodes if isinstance(n.operator, ToKernel)] == ["TO_KERNEL"] * 3

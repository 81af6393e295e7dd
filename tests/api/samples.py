"""A plan with every operator, a shared input and hostile names, for the renderers."""

from __future__ import annotations

from headrace.algebra.physical import (
    AggregateRows,
    AntiJoin,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    EventReportRows,
    Exchange,
    FilterRows,
    HashJoin,
    LeftJoin,
    MergeUnion,
    MultiwayJoin,
    PairPath,
    PhysicalOperator,
    ProjectColumns,
    ReportRows,
    Retract,
    Rewindow,
    SemiJoin,
    ShortestPath,
    SimplePath,
    SlidePath,
    SPath,
    ToKernel,
    TopRows,
    TrailPath,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import Estimate, NodeProperties, PlanNode, PlanStream, PlanWindow

DAY = 86400
KERNEL = NodeProperties(
    distribution="single", coalesced=False, update_pattern="append_only", convention="kernel"
)
HOSTILE = '<script>alert("x")</script>\\n"];\x1b[31m #quot;'


def sample_plan(label: str = "a2q") -> PhysicalPlan:
    """π(σ(a ⋈ (P[(a·b)+] ∪ ∅ ∪ W(b ∪ c)))) with ``a`` read by two operators."""
    nodes: list[PlanNode] = []
    total = 0.0

    def node(operator: PhysicalOperator, inputs: tuple[int, ...], columns: str, cost: float) -> int:
        nonlocal total
        total += cost
        estimate = Estimate(
            rate=cost / 10, interval=30 * DAY, population=cost * 50, cost=cost,
            cumulative_cost=total,
        )  # fmt: skip
        nodes.append(
            PlanNode(
                id=len(nodes),
                operator=operator,
                inputs=inputs,
                columns=tuple(columns),
                properties=KERNEL,
                estimate=estimate,
            )
        )
        return len(nodes) - 1

    a = node(WindowScan("e", label, 30 * DAY, DAY), (), "xy", 0.5)
    scanned = node(WindowScan("e", "b", 30 * DAY, DAY), (), "yz", 0.25)
    b = node(ToKernel(), (scanned,), "yz", 0.125)
    path = node(
        SPath(4, ((0, 0, False, 1), (1, 1, True, 2), (2, 0, False, 1)), (2,), f"({label}·^b)+"),
        (a, b), "yz", 1234.5,
    )  # fmt: skip
    simple = node(
        SimplePath(3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), "a·^a", budget=9), (a,), "yz", 2
    )
    trail = node(
        TrailPath(
            3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), "a·^a", relations=(0,), budget=9
        ),
        (a,), "yz", 2,
    )  # fmt: skip
    sliding = node(
        SlidePath(3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), "a·^a", period=DAY), (a,), "yz", 2
    )
    empty = node(EmptyRelation(2), (), "yz", 0)
    several = node(
        WindowScanUnion("e", (("b", "c0 <> c1"), ("c", None)), 30 * DAY, DAY), (), "yz", 0.75
    )
    cycle = node(
        MultiwayJoin(
            (0, 0, 1), ((0, 1), (1, 2), (2, 0)), (1, 2), ((2,), (0,), (1,)), ("w", "y", "z")
        ),
        (a, b), "yz", 5,
    )  # fmt: skip
    of_pairs = node(PairPath(3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), "a·^a"), (a, b), "yz", 6)
    semi = node(SemiJoin(((0, 1), (1, 2)), (0, 1), ("y", "z", "w")), (a, b), "yz", 7)
    left = node(ProjectColumns((0,)), (a,), "y", 4)
    anti = node(AntiJoin(((0, 1), (0,)), ("y", "z")), (b, left), "yz", 8)
    nearest = node(
        ShortestPath(
            3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), "a·^a", every=DAY,
            values=("length", "path"), labels=("a",), all_paths=True, budget=9,
        ),
        (a,), "yznp", 2,
    )  # fmt: skip
    outer = node(LeftJoin(((0, 1), (0,)), ("y", "z")), (b, left), "yz", 9)
    first = node(TopRows(((1, "desc"),), 10), (anti,), "yz", 9)
    near = node(ProjectColumns((0, 1)), (nearest,), "yz", 2)
    paths = (path, near, simple, trail, sliding, of_pairs)
    joins = (cycle, semi, outer)
    both = node(MergeUnion(), (*paths, empty, several, *joins, first), "yz", 3)
    moved = node(Exchange("hash", (0,)), (both,), "yz", 1.5)
    once = node(Coalesce(), (moved,), "yz", 40)
    again = node(Rewindow(DAY, 3600), (once,), "yz", 40)
    join = node(HashJoin(((0, 1), (1, 2)), (0, 1, 2), ("x", "y", "z")), (a, again), "xyz", 567)
    some = node(FilterRows("c0 <> c2 AND c2 <> 'c1'"), (join,), "xyz", 2)
    ended = node(Retract(), (some,), "xyz", 0.0625)
    kept = node(ProjectColumns((0, 2)), (ended,), "xz", 0.001)
    witness = node(
        WitnessPaths(
            (0, 1), (0, 1, 2), 0, 1, 3, ((0, 0, False, 1), (1, 0, True, 2)), (2,), ("a",),
            regex="0·^0",
        ),
        (kept, a), "xzp", 0.25,
    )  # fmt: skip
    computed = node(ComputeColumns(("c0", "c1", "c1 + 1")), (witness,), "xzm", 0.002)
    aggregate = AggregateRows((0,), (("count", None), ("sum", 2)), (0, 1, 2), DAY)
    counted = node(aggregate, (computed,), "xns", 0.004)
    reported = node(ReportRows("entering", DAY), (counted,), "xns", 0.008)
    node(EventReportRows("exit", 3, start=DAY), (reported, a), "xns", 0.002)
    return PhysicalPlan(
        nodes=tuple(nodes), root=len(nodes) - 1,
        streams=(PlanStream(name="e", labels=(label, "b", "c")),),
        windows=(
            PlanWindow(stream="e", label=label, range=30 * DAY, slide=DAY),
            PlanWindow(stream="e", label="b", range=30 * DAY, slide=DAY),
            PlanWindow(stream="e", label="c", range=30 * DAY, slide=DAY),
        ),
    )  # fmt: skip

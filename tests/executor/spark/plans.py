"""Small plans written by hand, and edges for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from headrace.algebra.physical import FilterRows, PhysicalOperator, SPath, WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import Estimate, NodeProperties, PlanNode, PlanStream, PlanWindow
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import VertexType
from headrace.executor.local import Edge, Result, run_plan

PROPERTIES = NodeProperties(
    distribution="single", coalesced=False, update_pattern="append_only", convention="kernel"
)
ESTIMATE = Estimate(rate=1, interval=1, population=1, cost=1, cumulative_cost=1)


def plan_of(
    *operators: tuple[PhysicalOperator, tuple[int, ...]],
    columns: Sequence[str] = ("x", "y"),
    vertex_types: Sequence[tuple[str, VertexType]] = (("input", "string"),),
) -> PhysicalPlan:
    """A plan of operators in topological order, each with its inputs."""
    nodes = tuple(
        PlanNode(
            id=i,
            operator=operator,
            inputs=inputs,
            columns=tuple(columns) if i == len(operators) - 1 else ("x", "y"),
            properties=PROPERTIES,
            estimate=ESTIMATE,
        )
        for i, (operator, inputs) in enumerate(operators)
    )
    scans = [op for op, _ in operators if isinstance(op, WindowScan)]
    return PhysicalPlan(
        nodes=nodes,
        root=len(nodes) - 1,
        streams=tuple(
            PlanStream(
                name=name,
                labels=tuple(sorted({s.label for s in scans if s.stream == name})),
                vertex_type=kind,
            )
            for name, kind in vertex_types
        ),
        windows=tuple(
            PlanWindow(stream=s.stream, label=s.label, range=s.range, slide=s.slide)
            for s in scans
            if s.range is not None and s.slide is not None
        ),
    )


def scan(label: str = "a", length: int = 20, slide: int = 1, stream: str = "input") -> WindowScan:
    return WindowScan(stream, label, length, slide)


PLUS = SPath(2, ((0, 0, False, 1), (1, 0, False, 1)), (1,), "a+")


def reach(length: int = 20, slide: int = 1) -> PhysicalPlan:
    """``a+``."""
    return plan_of((scan("a", length, slide), ()), (PLUS, (0,)))


def edges_of_a(length: int = 20) -> PhysicalPlan:
    """The edges of ``a`` that are not loops."""
    return plan_of((scan("a", length), ()), (FilterRows("NOT c0 = c1"), (0,)))


def random_edges(
    count: int, seed: int = 0, vertices: int = 8, labels: str = "ab", step: int = 2
) -> list[Edge]:
    """Edges sorted by ts, the first at 0, many at equal times."""
    random = Random(seed)
    edges: list[Edge] = []
    ts = 0
    for _ in range(count):
        ends = (str(random.randrange(vertices)), str(random.randrange(vertices)))
        edges.append((*ends, random.choice(labels), ts))
        ts += random.randrange(step)
    return edges


def csv_file(path: Path, edges: Sequence[Edge]) -> EdgeFile:
    """The edges as a CSV file with a header."""
    lines = ["src,trg,label,ts", *(",".join(map(str, edge[:4])) for edge in edges)]
    path.write_text("\n".join(lines) + "\n")
    return EdgeFile(str(path))


def expected(plan: PhysicalPlan, edges: Sequence[Edge]) -> list[Result]:
    """The results of the in-process pipeline."""
    return list(run_plan(plan, edges))


def snapshots(results: Sequence[Result]) -> dict[int, set[tuple[str | int, ...]]]:
    """The valid bindings at each instant at which they change."""
    instants = {t for r in results for t in (r.ts, r.exp)}
    return {t: {r.bindings for r in results if r.ts <= t < r.exp} for t in sorted(instants)}

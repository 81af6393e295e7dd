"""Plans that read properties of edges, each with its meaning in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    PhysicalOperator,
    ProjectColumns,
    ToKernel,
    WindowScan,
    WindowScanUnion,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import Estimate, NodeProperties, PlanNode, PlanStream
from headrace.algebra.values import PropertyType
from headrace.executor.local import Edge, Value

KERNEL = NodeProperties(
    distribution="single", coalesced=False, update_pattern="append_only", convention="kernel"
)
UNKNOWN = Estimate(rate=0, interval=0, population=0, cost=0, cumulative_cost=0)
TYPES: dict[str, PropertyType] = {
    "name": "string",
    "count": "integer",
    "weight": "number",
    "new": "boolean",
}
WINDOW = 12

Row = tuple[Any, ...]
Held = Mapping[str, Value]
Meaning = Callable[[Sequence[tuple[str, str, str, int, Held]]], Iterator[Row]]
"""From the edges that are valid (source, target, label, ts, properties) to rows."""


def plan_of(
    *operators: tuple[PhysicalOperator, tuple[int, ...]],
    columns: Sequence[str],
    parallelism: int = 1,
) -> PhysicalPlan:
    """A plan over the stream ``s`` with all :data:`TYPES`."""
    return PhysicalPlan(
        parallelism=parallelism,
        nodes=tuple(
            PlanNode(
                id=i,
                operator=operator,
                inputs=inputs,
                columns=tuple(columns) if i == len(operators) - 1 else (),
                properties=KERNEL,
                estimate=UNKNOWN,
            )
            for i, (operator, inputs) in enumerate(operators)
        ),
        root=len(operators) - 1,
        streams=(PlanStream(name="s", labels=("a", "b"), properties=TYPES),),
        windows=(),
    )


def scan(*properties: str, label: str = "a", predicate: str | None = None) -> WindowScan:
    return WindowScan("s", label, WINDOW, 1, predicate, properties)


FILTERED = plan_of(
    (scan("weight", "name"), ()),
    (FilterRows("c2 > 1 AND c3 <> 'x'"), (0,)),
    (ProjectColumns((3, 1)), (1,)),
    (ToKernel(), (2,)),
    (Coalesce(), (3,)),
    columns=("name", "y"),
)
"""A filter by a column that nobody else reads."""

JOINED = plan_of(
    (scan("weight", "ts"), ()),
    (ToKernel(), (0,)),
    (scan("count", label="b"), ()),
    (ToKernel(), (2,)),
    (HashJoin(((0, 1, 3, 4), (1, 2, 5)), (0, 2, 3, 4, 5)), (1, 3)),
    (FilterRows("c2 < c4 AND c3 >= 5"), (4,)),
    (ProjectColumns((0, 1, 2, 4)), (5,)),
    columns=("x", "z", "weight", "count"),
)
"""A condition on properties of two edges, above the join."""

UNITED = plan_of(
    (
        WindowScanUnion(
            "s", (("a", "c2 = TRUE"), ("b", "c3 IS NULL")), WINDOW, 1, ("new", "count")
        ),
        (),
    ),
    (ProjectColumns((3, 2)), (0,)),
    (FilterRows("c1 = TRUE OR c0 IS NULL"), (1,)),
    (ToKernel(), (2,)),
    (scan("weight", "new"), ()),
    (ProjectColumns((2, 3)), (4,)),
    (ToKernel(), (5,)),
    (MergeUnion(), (3, 6)),
    (Coalesce(), (7,)),
    columns=("number", "new"),
)
"""Values of two types in one column; what is missing is a value of its own."""

ON_TWO = plan_of(
    (scan("weight"), ()),
    (ToKernel(), (0,)),
    (Exchange("hash", (1,)), (1,)),
    (scan("count", "name", label="b"), ()),
    (FilterRows("c2 > 0"), (3,)),
    (ProjectColumns((0, 1, 3)), (4,)),
    (ToKernel(), (5,)),
    (Exchange("hash", (0,)), (6,)),
    (HashJoin(((0, 1, 3), (1, 2, 4)), (3, 4)), (2, 7)),
    (Exchange("hash", (0,)), (8,)),
    (Coalesce(), (9,)),
    (FilterRows("c1 <> 'x' OR c1 IS NULL"), (10,)),
    columns=("weight", "name"),
    parallelism=2,
)
"""Properties move between partitions, and decide where to."""


def above(value: Value, least: float) -> bool:
    return value is not None and float(value) > least


def filtered(edges: Sequence[tuple[str, str, str, int, Held]]) -> Iterator[Row]:
    for _, trg, label, _, held in edges:
        weight, name = held["weight"], held["name"]
        if label == "a" and above(weight, 1) and name not in ("x", None):
            yield name, trg


def joined(edges: Sequence[tuple[str, str, str, int, Held]]) -> Iterator[Row]:
    for src, mid, label, ts, first in edges:
        for other, trg, following, _, second in edges:
            weight, count = first["weight"], second["count"]
            met = (label, following, mid) == ("a", "b", other)
            if met and weight is not None and above(count, float(weight)) and ts >= 5:
                yield src, trg, weight, count


def united(edges: Sequence[tuple[str, str, str, int, Held]]) -> Iterator[Row]:
    for _, _, label, _, held in edges:
        if (label == "a" and held["new"]) or (label == "b" and held["count"] is None):
            yield held["count"], held["new"]
        if label == "a":
            yield held["weight"], held["new"]


def on_two(edges: Sequence[tuple[str, str, str, int, Held]]) -> Iterator[Row]:
    for _, mid, label, _, first in edges:
        for other, _, following, _, second in edges:
            met = (label, following, mid) == ("a", "b", other)
            if met and above(second["count"], 0) and second["name"] != "x":
                yield first["weight"], second["name"]


PLANS: dict[str, tuple[PhysicalPlan, Meaning]] = {
    "filtered": (FILTERED, filtered),
    "joined": (JOINED, joined),
    "united": (UNITED, united),
    "on two partitions": (ON_TWO, on_two),
}


def random_edges(count: int, seed: int = 0) -> list[Edge]:
    """Edges sorted by ts, any of whose properties may be missing."""
    random = Random(seed)
    ts = 0
    edges: list[Edge] = []
    for _ in range(count):
        held: dict[str, Value] = {
            "name": random.choice(["x", "y", 'né "q", \\', None]),
            "count": random.choice([0, 1, 2, 2**60, None]),
            "weight": random.choice([0.0, 0.5, 1.0, 1.5, -1e300, None]),
            "new": random.choice([True, False, None]),
        }
        ends = random.choice("pqr"), random.choice("pqr")
        edges.append((*ends, random.choice("ab"), ts, "s", held))
        ts += random.randrange(4)
    return edges


def meant(meaning: Meaning, edges: Sequence[Edge], instant: int) -> set[object]:
    """What holds at an instant."""
    valid = []
    for edge in edges:
        assert len(edge) == 6
        src, trg, label, ts, _, held = edge
        if ts <= instant < ts + WINDOW:
            valid.append((str(src), str(trg), label, ts, held))
    return {typed(row) for row in meaning(valid)}


def typed(row: Row) -> object:
    """A row in which 1, 1.0 and True are different."""
    return tuple((type(value), value) for value in row)

"""Plans by hand and at random, and their meaning on a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.physical import (
    Coalesce,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    MultiwayJoin,
    PhysicalOperator,
    ProjectColumns,
    SPath,
    ToKernel,
    WindowScan,
    WitnessPaths,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import Estimate, NodeProperties, PlanNode, PlanStream, PlanWindow
from headrace.algebra.regex import Regex
from headrace.catalog.model import VertexType
from headrace.executor.local import Edge
from tests.executor.model import joined, joined_at_once, walked

Row = tuple[str | int, ...]
Node = tuple[PhysicalOperator, tuple[int, ...]]

UNKNOWN = Estimate(rate=0, interval=0, population=0, cost=0, cumulative_cost=0)
KERNEL = NodeProperties(
    distribution="single", coalesced=False, update_pattern="append_only", convention="kernel"
)


def plan_of(nodes: Sequence[Node], types: dict[str, VertexType] | None = None) -> PhysicalPlan:
    """A plan of operators with their inputs; ``types`` are the vertex types of streams."""
    widths: list[int] = []
    for operator, inputs in nodes:
        widths.append(width_of(operator, [widths[i] for i in inputs]))
    scans = [operator for operator, _ in nodes if isinstance(operator, WindowScan)]
    streams = sorted({scan.stream for scan in scans})
    return PhysicalPlan(
        nodes=tuple(
            PlanNode(
                id=i,
                operator=operator,
                inputs=inputs,
                columns=tuple(f"x{j}" for j in range(widths[i])),
                properties=KERNEL,
                estimate=UNKNOWN,
            )
            for i, (operator, inputs) in enumerate(nodes)
        ),
        root=len(nodes) - 1,
        streams=tuple(
            PlanStream(
                name=name,
                labels=tuple(sorted({s.label for s in scans if s.stream == name})),
                vertex_type=(types or {}).get(name, "string"),
            )
            for name in streams
        ),
        windows=tuple(
            PlanWindow(stream=s.stream, label=s.label, range=s.range, slide=s.slide)
            for s in scans
            if s.range is not None and s.slide is not None
        ),
    )


def width_of(operator: PhysicalOperator, inputs: Sequence[int]) -> int:
    match operator:
        case WindowScan() | SPath():
            return 2
        case HashJoin(output=kept) | MultiwayJoin(output=kept) | ProjectColumns(columns=kept):
            return len(kept)
        case WitnessPaths(output=kept):
            return len(kept)
        case EmptyRelation(width=width):
            return width
        case _:
            return inputs[0]


def path_over(pattern: Regex) -> SPath:
    automaton = minimal_dfa(pattern).with_fresh_start()
    return SPath(automaton.states, automaton.transitions, automaton.accepting)


def answer(plan: PhysicalPlan, edges: Sequence[Edge], t: int) -> set[Row]:
    """What a plan means at an instant, by definition."""
    known: list[set[Row]] = []
    for node in plan.nodes:
        inputs = [known[i] for i in node.inputs]
        match node.operator:
            case WindowScan(stream=stream, label=label, range=length, slide=slide):
                rows: set[Row] = {
                    (src, trg)
                    for src, trg, name, ts, of in (
                        edge if len(edge) == 5 else (*edge, stream) for edge in edges
                    )
                    if (name, of) == (label, stream) and ts <= t < ts // slide * slide + length
                }
            case FilterRows(predicate=sql):
                rows = {row for row in inputs[0] if MEANINGS[sql](row)}
            case MergeUnion():
                rows = set().union(*inputs)
            case ProjectColumns(columns=columns):
                rows = {tuple(row[c] for c in columns) for row in inputs[0]}
            case HashJoin() as join:
                rows = joined(join, inputs)
            case MultiwayJoin() as multiway:
                rows = joined_at_once(multiway, inputs)
            case SPath() as path:
                rows = walked(path, inputs)
            case Coalesce() | Exchange() | ToKernel():
                rows = inputs[0]
            case EmptyRelation():
                rows = set()
        known.append(rows)
    return known[plan.root]


MEANINGS: dict[str, Callable[[Any], bool]] = {
    "c0 = c1": lambda row: row[0] == row[1],
    "c0 <> c1": lambda row: row[0] != row[1],
    "c0 = 'a'": lambda row: row[0] == "a",
    "NOT (c1 = 'b' OR c0 = 'c')": lambda row: not (row[1] == "b" or row[0] == "c"),
    "c1 >= 'b'": lambda row: row[1] >= "b",
}
"""Predicates over at least two columns, and what they say."""


@st.composite
def plans(draw: st.DrawFn, patterns: st.SearchStrategy[Regex]) -> PhysicalPlan:
    """A random DAG over three labels; nodes may be read by several others, or twice by one."""
    windows = st.sampled_from([(6, 1), (6, 4), (10, 3), (3, 3)])
    nodes: list[Node] = [(WindowScan("s", label, *draw(windows)), ()) for label in ("a", "b", "c")]
    widths = [2, 2, 2]
    for _ in range(draw(st.integers(1, 6))):
        below = st.integers(0, len(nodes) - 1)
        pairs = st.sampled_from([i for i, width in enumerate(widths) if width == 2])
        wide = st.sampled_from([i for i, width in enumerate(widths) if width >= 2])
        kind = draw(st.sampled_from(["join", "join", "path", "union", "filter", "rest"]))
        node: Node
        if kind == "join":
            left, right = draw(below), draw(below)
            node = draw(_joins(widths[left], widths[right])), (left, right)
        elif kind == "path":
            node = path_over(draw(patterns)), (draw(pairs), draw(pairs))
        elif kind == "union":
            left = draw(below)
            equal = [i for i, width in enumerate(widths) if width == widths[left]]
            node = MergeUnion(), (left, draw(st.sampled_from(equal)))
        elif kind == "filter":
            node = FilterRows(draw(st.sampled_from(sorted(MEANINGS)))), (draw(wide),)
        else:
            one = draw(below)
            columns = st.lists(st.integers(0, widths[one] - 1), min_size=1, max_size=3)
            node = draw(
                st.one_of(
                    st.just((Coalesce(), (one,))),
                    st.builds(lambda c, one=one: (ProjectColumns(tuple(c)), (one,)), columns),
                    st.just((EmptyRelation(2), ())),
                )
            )
        nodes.append(node)
        widths.append(width_of(node[0], [widths[i] for i in node[1]]))
    return plan_of(nodes)


@st.composite
def _joins(draw: st.DrawFn, left: int, right: int) -> HashJoin:
    """A join on any number of shared variables."""
    first = tuple(range(left))
    second = draw(
        st.lists(st.integers(0, left + right - 1), min_size=right, max_size=right, unique=True)
    )
    known = sorted({*first, *second})
    output = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
    return HashJoin((first, tuple(second)), tuple(output))

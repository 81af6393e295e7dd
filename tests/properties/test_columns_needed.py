"""No operator of a chosen plan gives a column that nothing above it needs."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import assume, given, note

from headrace.algebra.physical import (
    AntiJoin,
    Exchange,
    FilterRows,
    HashJoin,
    LeftJoin,
    ProjectColumns,
    SemiJoin,
    SPath,
    WindowScan,
    WindowScanUnion,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanNode
from headrace.algebra.predicate import Predicate
from headrace.optimizer import Options
from tests.oracles.query import text
from tests.properties.plans import optimized
from tests.properties.running import shown
from tests.strategies.amount import examples
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case


def _looked_at(sql: str | None) -> frozenset[int]:
    return frozenset() if sql is None else Predicate(sql).columns


def _inputs_needed(node: PlanNode, needed: set[int]) -> list[set[int]]:
    """The columns of each input that a node needs to give the needed output columns."""
    match node.operator:
        case HashJoin(bindings, output) | SemiJoin(bindings, output) as join:
            left, right = bindings
            used = {output[c] for c in needed} | (set(left) & set(right))
            used |= _looked_at(join.residual if isinstance(join, HashJoin) else None)
            return [{c for c, v in enumerate(binding) if v in used} for binding in bindings]
        case AntiJoin() as join:
            return [needed | set(join.keys), set(range(len(join.keys)))]
        case LeftJoin() as join:
            used = {join.output[c] for c in needed} | set(join.shared)
            return [{c for c, v in enumerate(binding) if v in used} for binding in join.bindings]
        case ProjectColumns(columns):
            return [{columns[c] for c in needed}]
        case FilterRows(predicate):
            return [needed | _looked_at(predicate)]
        case Exchange(columns=columns):
            return [needed | set(columns)]
        case SPath():
            return [{0, 1} for _ in node.inputs]
        case _:
            return [needed for _ in node.inputs]


def _unneeded(plan: PhysicalPlan) -> list[str]:
    """The columns that some node gives and no node above reads.

    Edges, paths, and relations of two columns derived from them always have both ends. A filter
    passes all columns on, so its input is checked instead. The columns of a scan are checked above
    the projection on it.
    """
    needed: dict[int, set[int]] = defaultdict(set)
    needed[plan.root] = set(range(len(plan.columns)))
    unneeded: list[str] = []
    dropped = {n.inputs[0] for n in plan.nodes if isinstance(n.operator, ProjectColumns)}
    for node in reversed(plan.nodes):
        read = needed[node.id]
        for below, columns in zip(node.inputs, _inputs_needed(node, read), strict=True):
            needed[below] |= columns
        match node.operator:
            case HashJoin(output=output) | SemiJoin(output=output) if len(output) > 2:
                columns_given = set(range(len(output)))
            case ProjectColumns(kept):
                of = plan.nodes[node.inputs[0]]
                if of.op == "TO_KERNEL":
                    of = plan.nodes[of.inputs[0]]
                ends = of.op in {"WSCAN", "WSCAN_UNION", "FILTER", "S_PATH"}
                columns_given = {k for k, c in enumerate(kept) if not (ends and c < 2)}
            case WindowScan() | WindowScanUnion() if node.id not in dropped:
                columns_given = set(range(2, 2 + len(node.operator.properties)))
                for scan in node.operator.scans:
                    read = read | _looked_at(scan.predicate)
            case _:
                continue
        unneeded += [f"node {node.id}: column {column}" for column in sorted(columns_given - read)]
    return unneeded


def _is_free(plan: PhysicalPlan, node: PlanNode) -> bool:
    """Whether an operator that a join could replace costs less than the rounding error."""
    if node.op not in ("FILTER", "PROJECT"):
        return False
    return node.estimate.cost < 1e-12 * plan.nodes[plan.root].estimate.cumulative_cost


@given(case=property_cases(derived=False))
@examples(150)
def test_plans_carry_no_column_that_nothing_above_reads(case: Case) -> None:
    note(text(case.query))  # values of heads are computed whether or not a rule reads them
    plan = optimized(case, Options()).plan
    # The place of a free filter or projection, inside or above a join, is arbitrary.
    assume(not any(_is_free(plan, node) for node in plan.nodes))
    assert _unneeded(plan) == [], f"{text(case.query)}\n{shown(plan)}"

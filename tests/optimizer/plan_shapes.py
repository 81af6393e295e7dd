"""Logical plans as nested tuples, joins without the order of their inputs."""

from __future__ import annotations

from bench.figures.shapes import Shape, along, has_joins_and_paths, join
from bench.figures.shapes import shape as any_plan_shape
from headrace.algebra import regex
from headrace.algebra.logical import Path, Pattern, WScan
from headrace.algebra.plan import PhysicalPlan
from headrace.memo import GroupExpression, PlanTree
from headrace.optimizer import SearchResult

__all__ = ["Shape", "along", "join", "plan_shape", "shape", "shapes"]


def shape(tree: PlanTree[int, GroupExpression]) -> Shape:
    """The shape of a logical plan of joins, paths and scans."""
    inputs = [shape(below) for below in tree.inputs]
    match tree.choice.operator:
        case WScan(label=label):
            return label
        case Pattern():
            return join(*inputs)
        case Path(r):
            return along(regex.text(r), *inputs)
    raise AssertionError(f"unexpected in such a plan: {tree.choice}")


def shapes(outcome: SearchResult) -> set[Shape]:
    """All different logical plans, modulo the order of join inputs."""
    space, root = outcome.plans.logical, outcome.root
    return {shape(space.unrank(root, k)) for k in range(space.count(root))}


def plan_shape(plan: PhysicalPlan) -> Shape:
    """The shape of a plan, read from its document."""
    found = any_plan_shape(plan)
    assert has_joins_and_paths(found), f"unexpected in such a plan: {found}"
    return found

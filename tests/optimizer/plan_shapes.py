"""Logical plans as nested tuples, joins without the order of their inputs."""

from __future__ import annotations

from headrace.algebra import physical, regex
from headrace.algebra.logical import Path, Pattern, WScan
from headrace.algebra.plan import PhysicalPlan
from headrace.memo import GroupExpression, PlanTree
from headrace.optimizer import SearchResult

Shape = str | tuple[object, ...]


def join(*parts: Shape) -> Shape:
    """A join of two plans, in either order."""
    return ("join", frozenset(parts))


def along(r: str, *inputs: Shape) -> Shape:
    """A PATH; the regex is written over the numbers of its inputs."""
    return ("path", r, *inputs)


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
    known: list[Shape] = []
    for node in plan.nodes:
        inputs = [known[i] for i in node.inputs]
        match node.operator:
            case physical.WindowScan(label=label):
                known.append(label)
            case physical.HashJoin():
                known.append(join(*inputs))
            case physical.SPath(regex=r):
                known.append(along(r, *inputs))
            case physical.Coalesce() | physical.ToKernel():
                known.append(inputs[0])
            case other:
                raise AssertionError(f"unexpected in such a plan: {other}")
    return known[-1]

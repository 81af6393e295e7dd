"""The shapes of plans: trees of joins and paths, without the order of joins' inputs.

COALESCE and other enforcers have no part in a shape. The names are those of thesis 6.5.3.
"""

from __future__ import annotations

import re

from headrace.algebra import physical
from headrace.algebra.plan import PhysicalPlan

Shape = str | tuple[object, ...]
"""A label, ``("join", frozenset of two shapes)``, or ``("path", regex, shapes...)``."""


def join(one: Shape, other: Shape) -> Shape:
    """A join, in either order."""
    return ("join", frozenset((one, other)))


def along(regex: str, *inputs: Shape) -> Shape:
    """A PATH over numbered inputs."""
    return ("path", regex, *inputs)


AB, BC = join("a", "b"), join("b", "c")
STAR_PLANS = {
    "Q1s": join("a", join("c", join("b", "d"))),
    "Q2s": join("a", join("b", join("c", "d"))),
    "Q3s": join(join("c", join("b", "a")), "d"),
    "Q4s": join(join("b", join("c", "a")), "d"),
}
PATH_PLANS = {
    "Q1p": along("(0·1·2)+", "a", "b", "c"),
    "Q2p": along("0+", join(AB, "c")),
    "Q3p": along("0+", join("a", BC)),
    "Q4p": along("(0·1)+", AB, "c"),
    "Q5p": along("(0·1)+", "a", BC),
    "Q6p": along("0+", join(along("0·1", "a", "b"), "c")),
    "Q7p": along("0+", join("a", along("0·1", "b", "c"))),
}
NAMES: dict[Shape, str] = {s: name for name, s in (STAR_PLANS | PATH_PLANS).items()}


def shape(plan: PhysicalPlan) -> Shape:
    """The shape of a plan."""
    return shapes(plan)[plan.root]


def shapes(plan: PhysicalPlan) -> tuple[Shape, ...]:
    """The shape of the sub-plan below and with each node, by node id."""
    below: list[Shape] = []
    for node in plan.nodes:
        inputs = [below[i] for i in node.inputs]
        match node.operator:
            case physical.WindowScan(label=label):
                below.append(label)
            case physical.HashJoin() | physical.SemiJoin():
                below.append(join(*inputs))
            case physical.SPath(regex=regex):
                below.append(along(regex, *inputs))
            case physical.Coalesce() | physical.ToKernel() | physical.Retract():
                below.append(inputs[0])
            case _:
                below.append((node.operator.op, *inputs))
    return tuple(below)


def is_join_tree(of: Shape) -> bool:
    """Whether a shape has joins and scans alone."""
    return _has_only(of, ("join",))


def has_joins_and_paths(of: Shape) -> bool:
    """Whether a shape has joins, paths and scans alone, as the plans of the thesis."""
    return _has_only(of, ("join", "path"))


def _has_only(of: object, kinds: tuple[str, ...]) -> bool:
    if isinstance(of, str):
        return True
    assert isinstance(of, tuple)
    kind, *parts = of
    inputs = parts[0] if kind == "join" else parts[1:]
    return kind in kinds and all(_has_only(each, kinds) for each in inputs)


def text(of: object) -> str:
    """A shape as text, such as ``((a b) c)`` or ``P[0+](a (b c))``."""
    if isinstance(of, str):
        return of
    assert isinstance(of, tuple)
    kind, *parts = of
    if kind == "join":
        return f"({' '.join(sorted(map(text, parts[0]), key=lambda t: (-len(t), t)))})"
    if kind == "path":
        regex, *inputs = parts
        names = [text(each) for each in inputs]
        return f"P[{_with_inputs(str(regex), names)}]"
    return f"{kind}({', '.join(map(text, parts))})"


def _with_inputs(regex: str, names: list[str]) -> str:
    """A regex with the names of inputs in place of their numbers."""
    return re.sub(r"\d+", lambda match: names[int(match[0])], regex)

"""The kinds of operators by which q-errors are summarized."""

from __future__ import annotations

from headrace.algebra.physical import HashJoin
from headrace.algebra.plan import PhysicalPlan


def kind_of(plan: PhysicalPlan, number: int) -> str:
    """The kind of a node: its operator, of a join with the shared variables, of a path whether it
    is a closure."""
    node = plan.nodes[number]
    operator = node.operator
    if isinstance(operator, HashJoin):
        left, right = operator.bindings
        shared = len(set(left) & set(right))
        name = (
            ("cross product", "join on one variable")[shared]
            if shared < 2
            else ("join that closes a cycle")
        )
        return f"{name}, residual" if operator.residual is not None else name
    regex = getattr(operator, "regex", None)
    if regex is not None:
        closed = "+" in str(regex) or "*" in str(regex)
        return f"{node.op}, {'closure' if closed else 'no closure'}"
    return node.op

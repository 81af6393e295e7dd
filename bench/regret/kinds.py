"""The kinds of operators by which q-errors are summarized."""

from __future__ import annotations

from headrace.algebra.physical import AntiJoin, HashJoin, LeftJoin, SemiJoin
from headrace.algebra.plan import PhysicalPlan


def kind_of(plan: PhysicalPlan, number: int) -> str:
    """The kind of a node: its operator, of a join or semi-join with the shared variables, of an
    anti-join or left join with the columns of its key, of a path whether it is a closure."""
    node = plan.nodes[number]
    operator = node.operator
    if isinstance(operator, HashJoin | SemiJoin):
        left, right = operator.bindings
        shared = len(set(left) & set(right))
        name = (
            ("cross product", "join on one variable")[shared]
            if shared < 2
            else ("join that closes a cycle")
        )
        return f"{name}, residual" if getattr(operator, "residual", None) is not None else name
    if isinstance(operator, AntiJoin | LeftJoin):
        return f"{node.op} on {len(operator.shared)}"
    regex = getattr(operator, "regex", None)
    if regex is not None:
        closed = "+" in str(regex) or "*" in str(regex)
        return f"{node.op}, {'closure' if closed else 'no closure'}"
    return node.op

"""The canonical form of a plan, in which mirror images are one plan.

A join whose inputs are exchanged, with its bindings, computes the same rows from the same rows at
the same cost, and so does a union. The form of such a node has its inputs in a fixed order, and
numbers the variables of a join by their first occurrence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from typing import Any

from sqlglot import exp

from headrace.algebra import predicate_syntax
from headrace.algebra.physical import HashJoin, MergeUnion, PhysicalOperator
from headrace.algebra.plan import PhysicalPlan

_MIRRORED: Mapping[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}
"""The comparisons with their sides exchanged."""
_COLUMN = re.compile(r"\bc(\d+)\b")


def forms(plan: PhysicalPlan) -> tuple[str, ...]:
    """The canonical form of the sub-plan below and with each node, by node id, as a short hash."""
    done: list[str] = []
    for node in plan.nodes:
        inputs = [done[i] for i in node.inputs]
        place = node.properties.distribution
        done.append(_short([_form(node.operator, inputs), place]))
    return tuple(done)


def form(plan: PhysicalPlan) -> str:
    """The canonical form of a plan."""
    return forms(plan)[plan.root]


def mirrors(plan: PhysicalPlan) -> int:
    """The number of plans with the form of a plan: two for each join or union of two inputs."""
    own, count = forms(plan), 1
    for node in plan.nodes:
        if isinstance(node.operator, HashJoin | MergeUnion):
            count *= len({own[i] for i in node.inputs})
    return count


def picture(plan: PhysicalPlan) -> str:
    """The operators of a plan in one line, such as ``COALESCE(HASH_JOIN(a, S_PATH[0+](b)))``."""
    return pictures(plan)[plan.root]


def pictures(plan: PhysicalPlan) -> tuple[str, ...]:
    """The operators below and with each node in one line, by node id."""
    done: list[str] = []
    for node in plan.nodes:
        arguments = [done[i] for i in node.inputs]
        operator = node.operator
        if label := getattr(operator, "label", None):
            done.append(str(label))
            continue
        regex = getattr(operator, "regex", None)
        name = node.op if regex is None else f"{node.op}[{regex}]"
        done.append(f"{name}({', '.join(arguments)})")
    return tuple(done)


def _form(operator: PhysicalOperator, inputs: list[str]) -> object:
    if isinstance(operator, HashJoin):
        return min(_join(operator, inputs, (0, 1)), _join(operator, inputs, (1, 0)))
    if isinstance(operator, MergeUnion):
        return [operator.op, _arguments(operator), sorted(inputs)]
    return [operator.op, _arguments(operator), inputs]


def _join(join: HashJoin, inputs: list[str], order: tuple[int, int]) -> list[str]:
    """A join with its inputs in an order; text, so that two of them have a smaller one."""
    bindings = [join.bindings[i] for i in order]
    numbers: dict[int, int] = {}
    for variable in (v for binding in bindings for v in binding):
        numbers.setdefault(variable, len(numbers))
    residual = join.residual
    if residual is not None:
        residual = _COLUMN.sub(lambda match: f"c{numbers[int(match[1])]}", residual)
        residual = _turned(predicate_syntax.checked(residual))
    horizon = None if join.horizon is None else [join.horizon[i] for i in order]
    essence = [
        [[numbers[v] for v in binding] for binding in bindings],
        [numbers[v] for v in join.output],
        residual,
        horizon,
        join.update_pattern,
    ]
    return [join.op, json.dumps(essence, default=str), *(inputs[i] for i in order)]


def _turned(condition: Any) -> str:
    """A condition with its conjuncts and the sides of its comparisons in a fixed order."""
    if isinstance(condition, exp.Paren):
        return _turned(condition.this)
    if isinstance(condition, exp.And):
        return " AND ".join(sorted((_turned(condition.left), _turned(condition.right))))
    if type(condition) in _MIRRORED:
        sides = _sql(condition.left), _sql(condition.right)
        signs = condition.key, _MIRRORED[type(condition)].key
        return min(
            f"{a} {sign} {b}" for (a, b), sign in zip((sides, sides[::-1]), signs, strict=True)
        )
    return _sql(condition)


def _sql(condition: exp.Expression) -> str:
    return str(condition.sql(normalize=True))


def _arguments(operator: Any) -> Mapping[str, Any]:
    """The fields that make operators different, without names for people."""
    return {
        f.name: str(getattr(operator, f.name))
        for f in fields(operator)
        if f.compare and f.name != "variables"
    }


def _short(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]

"""How a plan came to be, and why it is this one, as JSON documents."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import getdoc
from math import isclose, isinf
from typing import Any

from ..memo import GroupExpression, GroupId, Memo
from ..notation import operators as notation
from ..notation.names import Names
from ..optimizer.events import AlternativePruned
from ..optimizer.goals import Choice
from ..optimizer.trace import Delta, Member, PlanFound, Trace
from ..optimizer.why import Reason, RunnerUp
from ..planning.planner import Planned
from ..rules.registry import transformation_rules
from ..rules.rule import TransformationRule


def trace_document(planned: Planned, trace: Trace) -> dict[str, Any]:
    """The steps of the search, each a delta; ``more`` were not kept, ``known`` times a rule
    found only what was there, and ``left`` ways to goals were not followed to the end."""
    names = Names(planned.catalog.time_unit)
    steps = [_delta(delta, names) for delta in trace.deltas]
    did = planned.optimization.rules
    return {
        "steps": steps,
        "more": trace.more,
        "known": trace.known,
        "left": trace.pruned,
        "rules": {
            rule.name: {"number": rule.number, "algebra": algebra_of(rule)}
            for rule in transformation_rules()
            if rule.name in did and did[rule.name].bindings
        },
        "symbols": dict(notation.SYMBOLS),
    }


def algebra_of(rule: TransformationRule) -> str:
    """What a rule rewrites into what: the first line of its docstring."""
    first = (getdoc(type(rule)) or "").partition("\n")[0]
    return " ".join(first.split())


def why_document(planned: Planned) -> dict[str, Any]:
    """The reason of every node of the plan, by its id; none where the time was up before
    anything was costed, so that the query runs as it was written."""
    found = planned.optimization
    names = Names(planned.catalog.time_unit)
    return {
        str(node): _reason(reason, names, found.memo) for node, reason in found.reasons().items()
    }


def _delta(delta: Delta, names: Names) -> dict[str, Any]:
    if delta.plan is not None:
        return {"step": delta.step, "kind": "plan", "plan": _plan(delta.plan, names)}
    if delta.pruned is not None:
        return {"step": delta.step, "kind": "left", "left": _left(delta.pruned, names)}
    if delta.forgets:
        return {"step": delta.step, "kind": "forget"}
    if not (delta.added or delta.merged):
        return {
            "step": delta.step,
            "kind": "known",
            "rule": delta.rule,
            "group": delta.matched[0].group,
            "matched": [member.id for member in delta.matched],
            "known": list(delta.known),
        }
    return {
        "step": delta.step,
        "rule": delta.rule or None,
        "matched": [_member(member, names) for member in delta.matched],
        "kind": "rule" if delta.rule else "query",
        "added": [_member(member, names) for member in delta.added],
        "groups": list(delta.groups),
        "merged": [{"into": into, "group": group} for into, group in delta.merged],
        "changed": [_member(member, names) for member in delta.changed],
        "removed": list(delta.removed),
        "known": list(delta.known),
    }


def _member(member: Member, names: Names) -> dict[str, Any]:
    return {
        "id": member.id,
        "group": member.group,
        "text": names.over(member.operator, member.inputs),
        "inputs": list(member.inputs),
    }


def _plan(plan: PlanFound, names: Names) -> dict[str, Any]:
    winner = plan.winner
    assert isinstance(winner.choice, Choice)
    return {
        "group": plan.group,
        "required": names.required(plan.required),
        **choice_document(winner.choice, [group for group, _ in winner.inputs], names),
        "cost": winner.cost,
        "local": winner.local,
        "inputs": [
            {"group": group, "required": names.required(required), "cost": cost}
            for (group, required), cost in zip(winner.inputs, plan.inputs, strict=True)
        ],
        "before": plan.before,
        "again": plan.again,
    }


def _left(left: AlternativePruned, names: Names) -> dict[str, Any]:
    return {
        "group": left.group,
        "required": names.required(left.required),
        **choice_document(left.choice, left.choice.inputs, names),
        "cost": left.cost,
        "exact": left.exact,
        "bound": left.bound,
    }


def choice_document(choice: Choice, inputs: Sequence[GroupId], names: Names) -> dict[str, Any]:
    """What runs, by which rule, for which expression: null for an enforcer."""
    return {
        "text": names.over(choice, inputs),
        "rule": choice.rule,
        "source": choice.source if choice.source >= 0 else None,
    }


def _reason(reason: Reason, names: Names, memo: Memo) -> dict[str, Any]:
    choice, other = reason.choice, reason.runner_up
    return {
        "group": reason.group,
        "required": names.required(reason.required),
        "text": names.over(choice, [group for group, _ in reason.winner.inputs]),
        "rule": choice.rule,
        "cost": reason.winner.cost,
        "local": reason.winner.local,
        "lineage": [_ancestor(e, names, memo) for e in reason.lineage],
        "ways": reason.alternatives,
        "mirrored": reason.mirrored,
        "runner_up": None if other is None else _runner_up(other, names),
        "decided": _decided(reason),
    }


def _ancestor(expression: GroupExpression, names: Names, memo: Memo) -> dict[str, Any]:
    # It may be gone since, and so may its groups: they are named as they are known now.
    return {
        "rule": expression.rule or None,
        "id": expression.id,
        "group": memo.find(expression.group),
        "text": names.over(expression.operator, [memo.find(i) for i in expression.inputs]),
    }


def _runner_up(other: RunnerUp, names: Names) -> dict[str, Any]:
    return {
        "text": names.show(
            other.choice,
            tuple(map(names.goal, other.choice.inputs, other.required)),
        ),
        "rule": other.choice.rule,
        "enforcers": [enforcer.operator.op for enforcer in other.enforcers],
        "cost": _finite(other.cost),
        "exact": other.exact,
        "at_least": other.at_least,
        "difference": _finite(other.difference),
        "own": other.own,
        "inputs": _finite(other.inputs),
    }


def _finite(value: float) -> float | None:
    return None if isinf(value) else value


def _decided(reason: Reason) -> str:
    """``only way``, ``order`` (equal costs), ``own cost`` or ``inputs``; ``bound`` where the
    other way is only known to cost more, ``budget`` where the search ended before it costed it."""
    other = reason.runner_up
    if other is None:
        return "only way"
    if isinf(other.cost):
        return "bound"
    if isclose(other.cost, reason.winner.cost, rel_tol=1e-9):
        return "order"
    if other.difference < 0:
        return "budget"
    return "own cost" if other.own >= other.inputs else "inputs"

"""How a plan came to be, and why it is this one, as JSON documents."""

from __future__ import annotations

from math import isclose, isinf
from typing import Any

from headrace.names import Names
from headrace.planning import Planned
from memo import GroupExpression, Memo
from optimizer.trace import Delta, Member, PlanFound, Trace
from optimizer.why import Reason, RunnerUp, reasons


def trace_document(planned: Planned, trace: Trace) -> dict[str, Any]:
    """The steps of the search, each a delta; ``more`` were not kept, and ``known`` times a
    rule found only what was there."""
    names = Names(planned.catalog.time_unit)
    steps = [_delta(delta, names) for delta in trace.deltas]
    return {"steps": steps, "more": trace.more, "known": trace.known}


def why_document(planned: Planned) -> dict[str, Any]:
    """The reason of every node of the plan, by its id; none where the time was up before
    anything was costed, so that the query runs as it was written."""
    found = planned.optimization
    if found.required is None:
        return {}
    names = Names(planned.catalog.time_unit)
    return {
        str(node): _reason(reason, names, found.memo)
        for node, reason in reasons(found.search, found.best, found.required).items()
    }


def _delta(delta: Delta, names: Names) -> dict[str, Any]:
    if delta.plan is not None:
        return {"step": delta.step, "kind": "plan", "plan": _plan(delta.plan, names)}
    return {
        "step": delta.step,
        "kind": "rule" if delta.rule else "query",
        "rule": delta.rule or None,
        "matched": [_member(member, names) for member in delta.matched],
        "added": [_member(member, names) for member in delta.added],
        "groups": list(delta.groups),
        "merged": [{"into": into, "group": group} for into, group in delta.merged],
    }


def _member(member: Member, names: Names) -> dict[str, Any]:
    return {
        "id": member.id,
        "group": member.group,
        "text": names.over(member.operator, member.inputs),
    }


def _plan(plan: PlanFound, names: Names) -> dict[str, Any]:
    winner = plan.winner
    return {
        "group": plan.group,
        "required": names.required(plan.required),
        "text": names.over(winner.choice, [group for group, _ in winner.inputs]),
        "cost": winner.cost,
        "local": winner.local,
        "inputs": [
            {"group": group, "required": names.required(required), "cost": cost}
            for (group, required), cost in zip(winner.inputs, plan.inputs, strict=True)
        ],
        "before": plan.before,
        "again": plan.again,
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
        "ways": reason.ways,
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

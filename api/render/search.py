"""A search as text: its steps, the reasons for its plan, and the counters of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...documents.explained import MemoStatistics
from ...documents.numbers import Unit, number
from ...documents.trace import PlanFound, PlanInput, PlanStep, RuleStep, SeenMember, Steps
from ...documents.why import Ancestor, Reason, RunnerUp

_LEGEND = """\
How the plan came to be. A group (G0, G1, ...) holds expressions that give the same rows: the
query enters, inputs first; rules add equal expressions; each group keeps its cheapest plan.
A join over G0(v0,v1) calls the columns of G0 so, and is on those that both inputs have.
"""


def steps(trace: Steps, per: Unit) -> str:
    """Renders a trace, a few lines for each step; costs are in the unit ``per``."""
    lines = [_LEGEND]
    explained: set[str] = set()
    total = len(trace.steps) + trace.more
    width = len(str(total))
    before = 0
    for step in trace.steps:
        if not isinstance(step, PlanStep | RuleStep):
            continue  # only the page shows steps without a change
        lines += _gap(step.step - before - 1, width)
        before = step.step
        head, *rest = _step(step, trace, per, explained)
        lines.append(f"{before:>{width}}  {head}")
        lines += [f"{'':{width}}  {line}" for line in rest]
    lines += _gap(total - before, width)
    if trace.known:
        times = "once" if trace.known == 1 else f"{trace.known:,} times"
        lines.append(f"\nA rule found only what was there already: {times}.")
    return "\n".join(lines) + "\n"


def reasons(why: Mapping[str, Reason], per: Unit, *, complete: bool) -> dict[int, tuple[str, ...]]:
    """Renders the reason for each node: its derivation and the runner-up.

    A search that is not ``complete`` may have missed an alternative.
    """
    none = "no other way" if complete else "no other way found in time"
    return {int(node): tuple(_reason(reason, per, none)) for node, reason in why.items()}


RULE_COLUMNS = ("rule", "bindings", "results", "known", "ms")


def rule_rows(statistics: MemoStatistics) -> tuple[tuple[str, ...], ...]:
    """Returns the counters of each matched rule, as cells of `RULE_COLUMNS`."""
    return tuple(
        (rule, str(did.bindings), str(did.fired), str(did.duplicates), f"{did.ms:.2f}")
        for rule, did in statistics.rules.items()
        if did.bindings
    )


def rules(statistics: MemoStatistics, *, times: bool = True) -> str:
    """Renders the counters of each matched rule; ``times`` adds the milliseconds."""
    rows = (RULE_COLUMNS, *rule_rows(statistics))
    table = rows if times else [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        + "\n"
        for row in table
    )


def _gap(count: int, width: int) -> list[str]:
    return [f"{'':{width}}  ... {count:,} more steps"] if count else []


def _step(step: PlanStep | RuleStep, trace: Steps, per: Unit, explained: set[str]) -> Iterator[str]:
    """Yields the lines of a step; the first step of a rule explains the rule."""
    if isinstance(step, PlanStep):
        yield _plan(step.plan, per)
        return
    if step.rule is None:
        yield "query: " + "; ".join(map(_equation, step.added))
    else:
        rule = step.rule
        yield rule if rule in explained else f"{rule}: {trace.rules[rule].algebra}"
        explained.add(rule)
        yield from (f"  on    {_equation(member)}" for member in step.matched)
        yield from (
            f"  adds  {_equation(member)}"
            + ("  (a new group)" if member.group in step.groups else "")
            for member in step.added
        )
    for pair in step.merged:
        yield f"  so    G{pair.group} = G{pair.into}: from now on both are G{pair.into}"


def _plan(plan: PlanFound, per: Unit) -> str:
    goal = _goal(plan.group, plan.required)
    unit = per.sign
    line = f"plan of {goal}: {plan.text} at {per(plan.cost)}/{unit}"
    if plan.inputs:
        own = [per(plan.local), *(_part(below, per) for below in plan.inputs)]
        line += f" ({' + '.join(own)})"
    if plan.before is not None:
        line += f", {per(plan.before)}/{unit} before"
    return line + (", costed anew, as groups became one" if plan.again else "")


def _part(below: PlanInput, per: Unit) -> str:
    return f"{per(below.cost)} for {_goal(below.group, below.required)}"


def _goal(group: int, required: str) -> str:
    return f"G{group} [{required}]" if required else f"G{group}"


def _equation(member: Ancestor | SeenMember) -> str:
    return f"G{member.group} = {member.text}"


def _reason(reason: Reason, per: Unit, none: str) -> Iterator[str]:
    for ancestor in reason.lineage:
        derived = f"by {ancestor.rule}" if ancestor.rule else "as written"
        yield f"{_equation(ancestor)}, {derived}"
    goal = _goal(reason.group, reason.required)
    if reason.lineage:
        run = f"run by {reason.rule}" + (f" for {goal}" if reason.required else "")
    else:
        run = f"{reason.rule} for {goal}"
    other = reason.runner_up
    if other is None:
        yield f"{run}, {none if reason.ways == 1 else 'or with its inputs swapped'}"
        return
    yield run
    line = f"next best {' of '.join([*other.enforcers, other.text])} at "
    if other.cost is None:
        yield f"{line}least {per(other.at_least)}/{per.sign}, and not searched further"
        return
    line += f"{'' if other.exact else 'most '}{per(other.cost)}/{per.sign}"
    match reason.decided:
        case "order":
            yield f"{line}, as much: the first one found is kept"
        case "budget":
            yield f"{line}, less: the search was cut before it knew"
        case "margin":
            yield f"{line}, less: the plan as written is kept"
        case "sharing":
            yield f"{line}, less as a tree: the plan shares more of its parts"
        case _:
            yield f"{line}, {_more(other.cost, reason.cost, per)}: {_parts(other, per)}"
    if not other.exact:
        yield f"  (not searched further once sure to cost {per(other.at_least)}/{per.sign})"


def _parts(other: RunnerUp, per: Unit) -> str:
    """``1.87M more for itself, 11.2 less for its inputs``."""
    differences = (("itself", other.own), ("its inputs", other.inputs))
    return ", ".join(
        f"{per(abs(value))} {'more' if value > 0 else 'less'} for {what}"
        for what, value in differences
        if value
    )


def _more(cost: float, best: float, per: Unit) -> str:
    """``3.74 times as much``, or ``12.5 more`` where that is little."""
    if best <= 0 or cost < 1.005 * best:
        return f"{per(cost - best)} more"
    ratio = cost / best
    return f"{f'{ratio:.2f}' if ratio < 10 else number(ratio)} times as much"

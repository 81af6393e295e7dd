"""How a search went, as text: its steps, the reasons for its plan, and what its rules did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...documents.numbers import Per, number
from ...documents.trace import algebra_of
from ...rules.registry import transformation_rules

Document = Mapping[str, Any]

_LEGEND = """\
How the plan came to be. A group (G0, G1, ...) holds expressions that give the same rows: the
query enters, inputs first; rules add equal expressions; each group keeps its cheapest plan.
A join over G0(v0,v1) calls the columns of G0 so, and is on those that both inputs have.
"""


def steps(trace: Document, per: Per) -> str:
    """A trace, a few lines for each step; costs in the unit ``per``."""
    lines = [_LEGEND]
    said: set[str] = set()
    total = len(trace["steps"]) + trace["more"]
    width = len(str(total))
    before = 0
    for step in trace["steps"]:
        lines += _gap(step["step"] - before - 1, width)
        before = step["step"]
        head, *rest = _step(step, per, said)
        lines.append(f"{before:>{width}}  {head}")
        lines += [f"{'':{width}}  {line}" for line in rest]
    lines += _gap(total - before, width)
    if trace["known"]:
        times = "once" if trace["known"] == 1 else f"{trace['known']:,} times"
        lines.append(f"\nA rule found only what was there already: {times}.")
    return "\n".join(lines) + "\n"


def reasons(why: Document, per: Per, *, complete: bool) -> dict[int, tuple[str, ...]]:
    """Lines for each node of a plan: where it came from, and what it was chosen over.

    Where the search was not ``complete`` there may be ways that it did not find.
    """
    none = "no other way" if complete else "no other way found in time"
    return {int(node): tuple(_reason(reason, per, none)) for node, reason in why.items()}


def rules(statistics: Document, *, times: bool = True) -> str:
    """What each rule that was tried did, a line each; with the ``times`` that it took."""
    heads = ["rule", "bindings", "results", "known", "ms"]
    rows = [
        [rule, *(str(did[k]) for k in ("bindings", "fired", "duplicates")), f"{did['ms']:.2f}"]
        for rule, did in statistics["rules"].items()
        if did["bindings"]
    ]
    table = [row if times else row[:-1] for row in (heads, *rows)]
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


def _step(step: Document, per: Per, said: set[str]) -> Iterator[str]:
    """The head line, then further ones; a rule is explained when it is first applied."""
    match step["kind"]:
        case "plan":
            yield _plan(step["plan"], per)
            return
        case "query":
            yield "query: " + "; ".join(map(_equation, step["added"]))
        case _:
            rule = step["rule"]
            yield rule if rule in said else f"{rule}: {_algebra(rule)}"
            said.add(rule)
            yield from (f"  on    {_equation(member)}" for member in step["matched"])
            yield from (
                f"  adds  {_equation(member)}"
                + ("  (a new group)" if member["group"] in step["groups"] else "")
                for member in step["added"]
            )
    for pair in step["merged"]:
        yield f"  so    G{pair['group']} = G{pair['into']}: from now on both are G{pair['into']}"


def _plan(plan: Document, per: Per) -> str:
    goal = _goal(plan["group"], plan["required"])
    unit = per.sign
    line = f"plan of {goal}: {plan['text']} at {per(plan['cost'])}/{unit}"
    if plan["inputs"]:
        own = [per(plan["local"]), *(_part(below, per) for below in plan["inputs"])]
        line += f" ({' + '.join(own)})"
    if plan["before"] is not None:
        line += f", {per(plan['before'])}/{unit} before"
    return line + (", costed anew, as groups became one" if plan["again"] else "")


def _part(below: Document, per: Per) -> str:
    return f"{per(below['cost'])} for {_goal(below['group'], below['required'])}"


def _goal(group: int, required: str) -> str:
    return f"G{group} [{required}]" if required else f"G{group}"


def _equation(member: Document) -> str:
    return f"G{member['group']} = {member['text']}"


def _reason(reason: Document, per: Per, none: str) -> Iterator[str]:
    for ancestor in reason["lineage"]:
        made = f"by {ancestor['rule']}" if ancestor["rule"] else "as written"
        yield f"{_equation(ancestor)}, {made}"
    goal = _goal(reason["group"], reason["required"])
    if reason["lineage"]:
        run = f"run by {reason['rule']}" + (f" for {goal}" if reason["required"] else "")
    else:
        run = f"{reason['rule']} for {goal}"
    other = reason["runner_up"]
    if other is None:
        yield f"{run}, {none if reason['ways'] == 1 else 'or with its inputs swapped'}"
        return
    yield run
    line = f"next best {' of '.join([*other['enforcers'], other['text']])} at "
    if other["cost"] is None:
        yield f"{line}least {per(other['at_least'])}/{per.sign}, and not searched further"
        return
    line += f"{'' if other['exact'] else 'most '}{per(other['cost'])}/{per.sign}"
    match reason["decided"]:
        case "order":
            yield f"{line}, as much: the first one found is kept"
        case "budget":
            yield f"{line}, less: the search was cut before it knew"
        case _:
            parts = _parts((("itself", other["own"]), ("its inputs", other["inputs"])), per)
            yield f"{line}, {_more(other, reason['cost'], per)}: {parts}"
    if not other["exact"]:
        yield f"  (not searched further once sure to cost {per(other['at_least'])}/{per.sign})"


def _parts(parts: Sequence[tuple[str, float]], per: Per) -> str:
    """``1.87M more for itself, 11.2 less for its inputs``."""
    said = [
        f"{per(abs(value))} {'more' if value > 0 else 'less'} for {what}"
        for what, value in parts
        if value
    ]
    return ", ".join(said)


def _more(other: Document, best: float, per: Per) -> str:
    """``3.74 times as much``, or ``12.5 more`` where that is little."""
    if best <= 0 or other["cost"] < 1.005 * best:
        return f"{per(other['difference'])} more"
    ratio = other["cost"] / best
    return f"{f'{ratio:.2f}' if ratio < 10 else number(ratio)} times as much"


def _algebra(name: str) -> str:
    """What a rule rewrites into what."""
    rules = [rule for rule in transformation_rules() if rule.name == name]
    return algebra_of(rules[0]) if rules else ""

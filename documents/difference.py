"""How a plan differs from the chosen one, in a line: its joins, paths, operators or enforcers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..algebra.notation import InputNames
from ..algebra.physical import AutomatonPath, Scan
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanNode
from ..notation import operators as notation
from .model import Document
from .numbers import printable

DifferenceKind = Literal["join_order", "path", "operator", "enforcer", "arguments"]

_ENFORCERS = frozenset({"COALESCE", "EXCHANGE", "RETRACT"})
_PASSED_ON = frozenset({"TO_KERNEL", "PROJECT"})
_MOST_NAMED = 2
_LONGEST = 48
_MANY = 3
"""From so many labels on, the inputs of a join with a long name are written by their ends."""


class Difference(Document):
    """What sets a plan apart from the chosen one, or from an earlier plan of a list.

    Attributes:
        kind: ``join_order``: other results are joined first; ``path``: a path is cut elsewhere, or
            computed by joins; ``operator``: other operators; ``enforcer``: rows are coalesced or
            moved elsewhere; ``arguments``: other arguments of the same operators.
        text: the difference in a line.
    """

    kind: DifferenceKind
    text: str


@dataclass(frozen=True, slots=True)
class _Part:
    """An operator of a plan by what it reads: its name, and the labels of the scans below."""

    op: str
    labels: tuple[str, ...]
    detail: str = ""


def difference(plan: PhysicalPlan, chosen: PhysicalPlan) -> Difference:
    """Returns how a plan differs from the chosen plan of the same query."""
    by_labels = _difference(_parts(plan), _parts(chosen))
    if by_labels is not None:
        return by_labels
    # Where labels repeat, variables may say more.
    by_variables = _difference(_parts(plan, variables=True), _parts(chosen, variables=True))
    text = "other arguments of the same operators"
    return Difference(kind="arguments", text=by_variables.text if by_variables else text)


def _difference(here: Mapping[_Part, str], there: Mapping[_Part, str]) -> Difference | None:
    only_here, only_there = _beyond(here, there), _beyond(there, here)
    working = [[p for p in parts if p.op not in _ENFORCERS] for parts in (only_here, only_there)]
    if any(working):
        only_here, only_there = working
    if not (only_here or only_there):
        return None
    texts = [here[part] for part in only_here]
    others = [there[part] for part in only_there]
    # Parts over other inputs may have one text; the difference is then below them.
    text = _text(
        _named([one for one in texts if one not in others] or texts),
        _named([one for one in others if one not in texts]),
    )
    return Difference(kind=_kind(only_here, only_there), text=printable(text))


def _kind(here: Sequence[_Part], there: Sequence[_Part]) -> DifferenceKind:
    parts = [*here, *there]
    if all(part.op in _ENFORCERS for part in parts):
        return "enforcer"
    if any(notation.SYMBOLS.get(part.op) == "P" for part in parts):
        return "path"
    joins = all(notation.SYMBOLS.get(part.op) == "⋈" for part in parts)
    same = Counter(p.op for p in here) == Counter(p.op for p in there)
    return "join_order" if joins and same else "operator"


def _text(here: str, there: str) -> str:
    if not there:
        return f"also {here}"
    return f"{here} instead of {there}" if here else f"without {there}"


def _named(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMED
    named = [*texts[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return " and ".join([", ".join(named[:-1]), *named[-1:]] if len(named) > 1 else named)


def _beyond(parts: Mapping[_Part, str], others: Mapping[_Part, str]) -> list[_Part]:
    """The parts that the other plan lacks, those over the fewest scans first."""
    return sorted(parts.keys() - others.keys(), key=lambda p: (len(p.labels), p.op, p.labels))


def _parts(plan: PhysicalPlan, *, variables: bool = False) -> dict[_Part, str]:
    """The operators of a plan that may differ from those of another one, with a text of each.

    With ``variables`` operators with other arguments are others.
    """
    labels: list[tuple[str, ...]] = []
    names: list[str] = []
    parts: dict[_Part, str] = {}
    for node in plan.nodes:
        below = sorted(label for i in node.inputs for label in labels[i])
        if isinstance(node.operator, Scan):
            below = sorted({scan.label for scan in node.operator.scans})
        labels.append(tuple(below))
        names.append(_name(node, [names[i] for i in node.inputs]))
        if node.op in _PASSED_ON or isinstance(node.operator, Scan):
            continue
        detail, text = "", _described(node, plan, names, labels)
        if variables:
            detail = _arguments(node, plan, names)
            text = f"{node.op} {_short(detail)}"
        elif isinstance(node.operator, AutomatonPath):
            # Not by name: what computes an input of the path is a difference of its own.
            detail = _arguments(node, plan, ["·".join(one) for one in labels])
        elif node.op == "EXCHANGE":
            detail = str(node.properties.distribution)
        parts[_Part(node.op, tuple(below), detail)] = text
    return parts


def _described(
    node: PlanNode, plan: PhysicalPlan, names: Sequence[str], labels: Sequence[tuple[str, ...]]
) -> str:
    if isinstance(node.operator, AutomatonPath):
        return f"{node.op} {_short(_arguments(node, plan, names))}"
    below = [names[i] for i in node.inputs]
    if notation.SYMBOLS.get(node.op) == "⋈":
        joined = "⋈".join(below)
        if len(joined) > _LONGEST:
            joined = "⋈".join(_span(below[k], labels[i]) for k, i in enumerate(node.inputs))
        return joined if node.op == "HASH_JOIN" else f"{node.op} {joined}"
    over = f" over {_short(', '.join(below))}" if below else ""
    to = f" to {node.properties.distribution}" if node.op == "EXCHANGE" else ""
    return f"{node.op}{over}{to}"


def _span(name: str, labels: Sequence[str]) -> str:
    """The name of an input, or the first and the last label of many, and their number."""
    return (
        name if len(labels) < _MANY else f"{_short(f'{labels[0]}·…·{labels[-1]}')} ({len(labels)})"
    )


def _arguments(node: PlanNode, plan: PhysicalPlan, names: Sequence[str]) -> str:
    below = [plan.nodes[i].columns for i in node.inputs]
    inputs = [names[i] for i in node.inputs]
    return " ".join(node.operator.arguments(InputNames(inputs, below, plan.time_unit)).split())


def _name(node: PlanNode, below: Sequence[str]) -> str:
    """The rows of a node in a word: labels and signs."""
    name = node.operator.relation(below)
    if name is None:
        sign = notation.SYMBOLS.get(node.op, "·")
        name = below[0] if node.op in _PASSED_ON else f"{sign}({', '.join(below)})"
    return _short(name)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

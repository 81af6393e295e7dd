"""The one picture that all renderers draw: boxes with inputs, and their estimates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...algebra import logical
from ...algebra.notation import InputNames, ends
from ...algebra.physical import (
    AutomatonPath,
    FilterRows,
    PhysicalOperator,
    WindowScan,
    WindowScanUnion,
)
from ...algebra.plan import Estimate, PhysicalPlan, PlanNode
from ...notation import operators as notation
from .numbers import Per, per_unit, printable

Called = Sequence[str | None]
"""What the rows of each node of a plan may be called."""


@dataclass(frozen=True, slots=True)
class Box:
    """One operator as people see it.

    ``summary`` is its arguments in one line; ``facts`` are the further ones, by name.
    """

    key: int
    operator: str
    summary: str
    inputs: tuple[int, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    estimate: Estimate | None = None

    @property
    def symbol(self) -> str:
        """The thesis's sign of the operator."""
        return notation.SYMBOLS.get(self.operator, "·")


@dataclass(frozen=True)
class Diagram:
    """Boxes in topological order, the root last; a box may be the input of several."""

    boxes: tuple[Box, ...]
    time_unit: str

    @property
    def root(self) -> Box:
        """The box that gives the answer."""
        return self.boxes[-1]

    @cached_property
    def cost(self) -> float:
        """The cost of the whole tree; 0 where nothing is estimated."""
        return self.root.estimate.cumulative_cost if self.root.estimate else 0.0

    @cached_property
    def dearest(self) -> float:
        """The cost of the dearest operator: the end of the colour scale."""
        return max((b.estimate.cost for b in self.boxes if b.estimate), default=0.0)

    @cached_property
    def per(self) -> Per:
        """The unit to show rates and costs in: that of the busiest input."""
        rates = [b.estimate.rate for b in self.boxes if b.estimate and not b.inputs]
        return per_unit(self.time_unit, max(rates, default=0.0))

    @cached_property
    def shared(self) -> frozenset[int]:
        """The keys of the boxes that are the input of more than one."""
        uses = Counter(key for box in self.boxes for key in box.inputs)
        return frozenset(key for key, count in uses.items() if count > 1)


def of_plan(plan: PhysicalPlan) -> Diagram:
    """The picture of a physical plan."""
    called = _called(plan)
    boxes = tuple(
        Box(
            key=node.id,
            operator=node.op,
            summary=printable(_physical_summary(node, plan, called)),
            inputs=node.inputs,
            facts=_facts(node, plan, called),
            estimate=node.estimate,
        )
        for node in plan.nodes
    )
    return Diagram(boxes, plan.time_unit)


def of_logical(query: logical.LogicalQuery, time_unit: str) -> Diagram:
    """The picture of a logical query; equal sub-queries are one box."""
    boxes: list[Box] = []
    number: dict[logical.LogicalExpression, int] = {}

    def draw(expression: logical.LogicalExpression) -> int:
        if expression not in number:
            inputs = tuple(draw(e) for e in expression.inputs)
            number[expression] = len(boxes)
            name, summary = _logical_summary(expression, time_unit)
            if expression.name:
                summary = f"{summary}   as {expression.name}".strip()
            boxes.append(Box(len(boxes), name, printable(summary), inputs))
        return number[expression]

    draw(query.expression)
    root = boxes.pop()
    answer = f"answer: {', '.join(query.columns)}"
    summary = f"{root.summary}   {answer}" if root.summary else answer
    boxes.append(Box(root.key, root.operator, printable(summary), root.inputs))
    return Diagram(tuple(boxes), time_unit)


def _physical_summary(node: PlanNode, plan: PhysicalPlan, called: Called) -> str:
    own = ",".join(node.columns)
    columns = [plan.nodes[key].columns for key in node.inputs]
    names = InputNames(_step_names(node, called), columns, plan.time_unit)
    arguments = node.operator.arguments(names)
    match node.operator:
        case AutomatonPath():
            return f"{arguments} → {own}"
        case _:
            return arguments or own


def _facts(node: PlanNode, plan: PhysicalPlan, called: Called) -> tuple[tuple[str, str], ...]:
    properties = node.properties
    facts = [
        ("columns", ", ".join(node.columns)),
        ("distribution", properties.distribution),
        ("coalesced", "yes" if properties.coalesced else "no"),
        ("update pattern", properties.update_pattern.replace("_", " ")),
        ("computed by", properties.convention.replace("_", " ")),
        *_argument_facts(node.operator, node, called),
    ]
    return tuple((name, printable(value)) for name, value in facts)


def _argument_facts(
    operator: PhysicalOperator, node: PlanNode, called: Called
) -> list[tuple[str, str]]:
    match operator:
        case WindowScan() | WindowScanUnion():
            facts = [("stream", operator.stream)]
            for scan in operator.scans:
                facts.append(("label", scan.label))
                facts += [("predicate", scan.predicate)] if scan.predicate else []
            return facts
        case AutomatonPath(states, transitions, accepting):
            names = _step_names(node, called)
            steps = ", ".join(
                f"{source} –{'^' if inverse else ''}{names[k]}→ {target}"
                for source, k, inverse, target in transitions
            )
            return [
                ("states", str(states)),
                ("accepting", ", ".join(map(str, accepting))),
                ("transitions", steps),
            ]
        case FilterRows(predicate):
            return [("predicate", predicate)]
        case _:
            return []


def _called(plan: PhysicalPlan) -> Called:
    """What each node's rows may be called in short."""
    names: list[str | None] = []
    for node in plan.nodes:
        names.append(notation.relation(node.operator, [names[key] for key in node.inputs]))
    return names


def _step_names(node: PlanNode, called: Called) -> list[str]:
    """What a path calls its inputs."""
    return [notation.step_name(called[key], position) for position, key in enumerate(node.inputs)]


def _logical_summary(expression: logical.LogicalExpression, time_unit: str) -> tuple[str, str]:
    names = [
        notation.step_name(
            e.operator.label if isinstance(e.operator, logical.WScan) else e.name, position
        )
        for position, e in enumerate(expression.inputs)
    ]
    columns = [ends(e.width) for e in expression.inputs]
    operator = expression.operator
    return operator.op, operator.arguments(InputNames(names, columns, time_unit))

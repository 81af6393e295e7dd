"""The drawing of a plan: boxes with inputs. All renderings and the page draw this document."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import Field

from ..algebra.notation import InputNames, origin
from ..algebra.physical import (
    AutomatonPath,
    FilterRows,
    PhysicalOperator,
    WindowScan,
    WindowScanUnion,
)
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import Estimate, PlanNode
from ..notation import operators as notation
from .model import Document
from .numbers import Unit, per_unit, printable, seconds_in
from .plan import PlanNodeDocument, plan_document
from .query import LogicalDocument

_NAME = "name "
"""The beginning of the name of a fact that says where a name comes from."""


class Fact(Document):
    """A property of an operator that a drawing shows on demand."""

    name: str
    value: str


class BoxDocument(Document):
    """The box of an operator in a drawing.

    Attributes:
        id: the id of the plan's node.
        operator: the name of the operator.
        symbol: the sign of the operator in the thesis.
        summary: the arguments of the operator in one line.
        inputs: the ids of the input boxes.
        facts: further properties.
        alike: a digest of the tree below: equal digests in two plans mean equal computations.
        estimate: the estimates of the node, for renderings.
    """

    id: int
    operator: str
    symbol: str
    summary: str
    inputs: tuple[int, ...]
    facts: tuple[Fact, ...]
    alike: str
    estimate: Estimate | None = Field(default=None, exclude=True)


class PictureDocument(Document):
    """The drawing of a plan; the boxes have the ids of the plan's nodes.

    ``time_unit`` is the time unit of the catalog and ``seconds`` its length, null if unknown.
    Rates and costs are shown in the unit ``per``.
    """

    boxes: tuple[BoxDocument, ...]
    time_unit: str
    seconds: float | None
    per: Unit

    @property
    def root(self) -> BoxDocument:
        """The box of the answer."""
        return self.boxes[-1]

    @cached_property
    def origins(self) -> Mapping[str, str]:
        """Where the names come from that the query does not give, by name."""
        facts = sorted((f.name, f.value) for box in self.boxes for f in box.facts)
        prefix = len(_NAME)
        return {name[prefix:]: value for name, value in facts if name.startswith(_NAME)}

    @cached_property
    def cost(self) -> float:
        """The cost of the whole tree; 0 without estimates."""
        return self.root.estimate.cumulative_cost if self.root.estimate else 0.0

    @cached_property
    def dearest(self) -> float:
        """The cost of the dearest operator: the end of the colour scale."""
        return max((b.estimate.cost for b in self.boxes if b.estimate), default=0.0)

    @cached_property
    def shared(self) -> frozenset[int]:
        """The ids of the boxes that several boxes read."""
        uses = Counter(id_ for box in self.boxes for id_ in box.inputs)
        return frozenset(id_ for id_, count in uses.items() if count > 1)


def picture_of_plan(
    plan: PhysicalPlan, measured: Mapping[int, str] | None = None
) -> PictureDocument:
    """Draws a physical plan, in the display unit of its busiest input.

    Args:
        plan: the plan.
        measured: when the estimates of a node were measured, by its id.
    """
    relations = _relations(plan)
    measured = measured or {}
    boxes: list[BoxDocument] = []
    for node, document in zip(plan.nodes, plan_document(plan)["nodes"], strict=True):
        inputs = [notation.step_name(relations[i], k) for k, i in enumerate(node.inputs)]
        boxes.append(
            BoxDocument(
                id=node.id,
                operator=node.op,
                symbol=_symbol(node.op),
                summary=printable(_summary(node, inputs, plan)),
                inputs=node.inputs,
                facts=_facts(node, inputs, measured.get(node.id)),
                alike=_digest(document, [boxes[i].alike for i in node.inputs]),
                estimate=node.estimate,
            )
        )
    return _picture(boxes, plan.time_unit)


def picture_of_query(query: LogicalDocument) -> PictureDocument:
    """Draws a canonical expression, without estimates."""
    boxes = []
    for node in query.nodes:
        summary = f"{node.text}   as {node.name}".strip() if node.name else node.text
        if node is query.nodes[-1]:
            summary = f"{summary}   answer: {', '.join(query.columns)}".lstrip()
        boxes.append(
            BoxDocument(
                id=node.id,
                operator=node.op,
                symbol=_symbol(node.op),
                summary=printable(summary),
                inputs=node.inputs,
                facts=(),
                alike="",
            )
        )
    return _picture(boxes, query.time_unit)


def _picture(boxes: Sequence[BoxDocument], time_unit: str) -> PictureDocument:
    rates = [box.estimate.rate for box in boxes if box.estimate and not box.inputs]
    return PictureDocument(
        boxes=tuple(boxes),
        time_unit=time_unit,
        seconds=seconds_in(time_unit),
        per=per_unit(time_unit, max(rates, default=0.0)),
    )


def _symbol(operator: str) -> str:
    """Returns the sign of an operator in the thesis."""
    return notation.SYMBOLS.get(operator, "·")


def _relations(plan: PhysicalPlan) -> list[str | None]:
    """Returns a short name for the rows of each node."""
    names: list[str | None] = []
    for node in plan.nodes:
        names.append(notation.relation(node.operator, [names[i] for i in node.inputs]))
    return names


def _summary(node: PlanNode, inputs: Sequence[str], plan: PhysicalPlan) -> str:
    columns = ",".join(node.columns)
    below = [plan.nodes[i].columns for i in node.inputs]
    arguments = node.operator.arguments(InputNames(inputs, below, plan.time_unit, node.columns))
    if isinstance(node.operator, AutomatonPath):
        return f"{arguments} → {columns}"
    return arguments or columns


def _facts(node: PlanNode, inputs: Sequence[str], measured: str | None = None) -> tuple[Fact, ...]:
    properties = node.properties
    facts = [
        *([] if measured is None else [("measured", measured)]),
        ("columns", ", ".join(node.columns)),
        ("distribution", properties.distribution),
        ("coalesced", "yes" if properties.coalesced else "no"),
        ("update pattern", properties.update_pattern.replace("_", " ")),
        ("computed by", properties.convention.replace("_", " ")),
        *_argument_facts(node.operator, inputs),
        *_origins(node),
    ]
    return tuple(Fact(name=name, value=printable(value)) for name, value in facts)


def _origins(node: PlanNode) -> list[tuple[str, str]]:
    """Where the names come from that the query does not give."""
    variables: Sequence[str] = getattr(node.operator, "variables", ())
    generated = {name: origin(name) for name in (*node.columns, *variables)}
    return [(f"{_NAME}{name}", of) for name, of in generated.items() if of is not None]


def _argument_facts(operator: PhysicalOperator, inputs: Sequence[str]) -> list[tuple[str, str]]:
    match operator:
        case WindowScan() | WindowScanUnion():
            facts = [("stream", operator.stream)]
            for scan in operator.scans:
                facts.append(("label", scan.label))
                facts += [("predicate", scan.predicate)] if scan.predicate else []
            return facts
        case AutomatonPath(states, transitions, accepting):
            steps = ", ".join(
                f"{source} –{'^' if inverse else ''}{inputs[k]}→ {target}"
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


def _digest(node: PlanNodeDocument, below: list[str]) -> str:
    """Returns a digest of the tree of a node: operators and arguments, without variable names."""
    arguments = {k: v for k, v in node["args"].items() if k != "variables"}
    essence: list[Any] = [node["op"], arguments, below]
    return hashlib.sha256(json.dumps(essence, sort_keys=True).encode()).hexdigest()[:16]

"""Complete physical plans as trees of steps, and their document.

A step is a physical operator over steps, with the estimates of its result. Equal steps
are one node of the document, so a shared sub-plan runs once. The search ranks plans by the cost of
the tree, which counts a shared sub-plan once per use. :func:`shared_cost` counts it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from ..algebra.logical import PathSemantics
from ..algebra.physical import PhysicalOperator, Scan, shared_sides_of_plan
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import Estimate, NodeProperties, PlanNode, PlanStream, PlanWindow
from ..algebra.properties import DeliveredProperties
from ..costmodel.characteristics import Characteristics
from .column_names import named
from .emission import LEAST_REPEATS
from .goals import Costed
from .query_atoms import QueryAtoms


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One operator of a plan with its inputs.

    Attributes:
        operator: the physical operator.
        inputs: the steps that it reads.
        estimate: the characteristics of its result.
        local: its own cost per time unit.
        cost: the cost of the tree of this step.
        delivers: the physical properties of its rows.
        emits: the rows that it emits per time unit, with those that repeat others.
        costed: the rows that it and its inputs emit on the busiest partition, from which its own
            cost was computed.
        group: the memo's group; None outside the memo.
        source: the id of the memo's expression, -1 for an enforcer; None outside the memo.
        rule: the implementation rule or enforcer; empty outside the memo.
        saved: for each input what it costs less if another operator holds its index; empty for an
            operator that shares none.
    """

    operator: PhysicalOperator
    inputs: tuple[Step, ...]
    estimate: Characteristics
    local: float
    cost: float
    delivers: DeliveredProperties
    emits: float
    costed: Costed
    group: int | None = None
    source: int | None = None
    rule: str = ""
    saved: tuple[float, ...] = ()


Key = tuple[PhysicalOperator, tuple[int, ...]]


def in_order(root: Step) -> tuple[tuple[Step, tuple[int, ...]], ...]:
    """The different steps, each after its inputs, with the positions of its inputs.

    Two steps are equal if their operators are equal and they read equal steps.
    """
    number: dict[int, int] = {}
    by_value: dict[Key, int] = {}
    ordered: list[tuple[Step, tuple[int, ...]]] = []
    pending = [root]
    while pending:
        step = pending[-1]
        if id(step) in number:
            pending.pop()
            continue
        missing = [below for below in step.inputs if id(below) not in number]
        if missing:
            pending.extend(reversed(missing))
            continue
        inputs = tuple(number[id(below)] for below in step.inputs)
        key = (step.operator, inputs)
        if key not in by_value:
            by_value[key] = len(ordered)
            ordered.append((step, inputs))
        number[id(step)] = by_value[key]
        pending.pop()
    return tuple(ordered)


def shared_cost(root: Step) -> float:
    """The cost with every shared sub-plan, and every shared index of an input, counted once."""
    ordered = in_order(root)
    return sum(step.local for step, _ in ordered) - sum(saved_by_sharing(_with_saved(ordered)))


def saved_by_sharing(
    nodes: Sequence[tuple[PhysicalOperator, Sequence[int], Sequence[float]]],
) -> list[float]:
    """What each node of a plan costs less, since another one holds an index that it reads.

    Of the sides that share an index, the dearest pays, and the others save their parts.

    Args:
        nodes: operators with the positions of their inputs, and what is saved for each input if
            its index is shared; each node after its inputs.
    """
    saved = [0.0] * len(nodes)
    for _, sides in shared_sides_of_plan([(operator, inputs) for operator, inputs, _ in nodes]):
        parts = [nodes[node][2][place] if nodes[node][2] else 0.0 for node, place in sides]
        paid = parts.index(max(parts))
        for k, (node, _) in enumerate(sides):
            if k != paid:
                saved[node] += parts[k]
    return saved


def _with_saved(
    ordered: Sequence[tuple[Step, tuple[int, ...]]],
) -> list[tuple[PhysicalOperator, tuple[int, ...], tuple[float, ...]]]:
    return [(step.operator, inputs, step.saved) for step, inputs in ordered]


def plan_of(
    root: Step,
    columns: tuple[str, ...],
    streams: tuple[PlanStream, ...],
    time_unit: str,
    parallelism: int = 1,
    *,
    semantics: PathSemantics = PathSemantics.ARBITRARY,
    evaluate_every: int | None = None,
    query: QueryAtoms,
) -> PhysicalPlan:
    """The document of a plan.

    ``columns`` are the query's names of the answer's columns; ``query`` has those of its atoms.
    """
    ordered = in_order(root)
    called = named(
        [(step.operator, inputs, len(step.estimate.distinct)) for step, inputs in ordered],
        columns,
        query,
    )
    saved = saved_by_sharing(_with_saved(ordered))
    nodes = [
        PlanNode(
            id=position,
            operator=called[position][0],
            inputs=inputs,
            columns=called[position][1],
            properties=_properties(step.delivers),
            estimate=_estimate(step, saved[position]),
            identity=None if step.estimate.relation is None else step.estimate.relation.identity,
        )
        for position, (step, inputs) in enumerate(ordered)
    ]
    scans = {
        PlanWindow(stream=scan.stream, label=scan.label, range=scan.range, slide=scan.slide)
        for step, _ in ordered
        if isinstance(step.operator, Scan)
        for scan in step.operator.scans
        if scan.range is not None and scan.slide is not None
    }
    return PhysicalPlan(
        time_unit=time_unit,
        parallelism=parallelism,
        nodes=tuple(nodes),
        root=len(nodes) - 1,
        streams=streams,
        path_semantics=semantics,
        evaluate_every=evaluate_every,
        windows=tuple(sorted(scans, key=lambda w: (w.stream, w.label, w.range, w.slide))),
    )


def _properties(delivers: DeliveredProperties) -> NodeProperties:
    return NodeProperties(
        distribution=str(delivers.distribution),
        coalesced=delivers.coalesced,
        update_pattern=delivers.update_pattern,
        convention=delivers.convention,
    )


def _estimate(step: Step, saved: float) -> Estimate:
    validity = step.estimate.validity
    rate, emits = step.estimate.arrival_rate, step.emits
    return Estimate(
        rate=rate,
        interval=None if isinf(validity) else validity,
        population=step.estimate.population,
        cost=step.local,
        cumulative_cost=step.cost,
        derivation_rate=emits if emits > rate * LEAST_REPEATS else None,
        saved=saved or None,
    )

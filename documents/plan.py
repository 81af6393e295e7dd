"""A physical plan as a document: the types of what `PhysicalPlan.to_document` gives."""

from __future__ import annotations

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from ..algebra.plan import Estimate, NodeProperties, PhysicalPlan, PlanWindow


class PlanNodeDocument(TypedDict):
    """One operator of a plan; ``inputs`` are ids of earlier nodes."""

    id: int
    op: str
    args: dict[str, Any]
    inputs: list[int]
    columns: list[str]
    properties: NodeProperties
    estimate: Estimate


class PlanStreamDocument(TypedDict):
    """What a plan reads of a stream."""

    name: str
    labels: list[str]
    vertex_type: str
    properties: dict[str, str]
    delay: NotRequired[int]
    idle_ms: NotRequired[int]


class PlanDocument(TypedDict):
    """A physical plan, as ``algebra/plan.schema.json`` publishes it."""

    version: int
    digest: str
    time_unit: str
    parallelism: int
    path_semantics: NotRequired[str]
    evaluate_every: NotRequired[int]
    nodes: list[PlanNodeDocument]
    root: int
    streams: list[PlanStreamDocument]
    windows: list[PlanWindow]


def plan_document(plan: PhysicalPlan) -> PlanDocument:
    """The document of a plan; pydantic checks it where another document takes it up."""
    return cast(PlanDocument, plan.to_document())

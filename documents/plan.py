"""A physical plan as a document: the types of the values of `PhysicalPlan.to_document`."""

from __future__ import annotations

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import Estimate, NodeProperties, PlanWindow


class PlanNodeDocument(TypedDict):
    """A node of a plan.

    Attributes:
        id: the id of the node.
        op: the name of the operator.
        args: the arguments of the operator.
        inputs: the ids of the input nodes, which come earlier.
        columns: the names of the columns.
        properties: the delivered properties.
        estimate: the estimates of the node.
        identity: names the rows of the node in figures that runs measure, if it is known.
    """

    id: int
    op: str
    args: dict[str, Any]
    inputs: list[int]
    columns: list[str]
    properties: NodeProperties
    estimate: Estimate
    identity: NotRequired[str]


class PlanStreamDocument(TypedDict):
    """The part of a stream that a plan reads.

    Attributes:
        name: the name of the stream.
        labels: the labels that the plan reads.
        vertex_type: the type of vertices.
        properties: the type of each property that the plan reads.
        delay: the delay of the stream, in time units.
        idle_ms: the time without rows after which the stream counts as idle, in milliseconds.
    """

    name: str
    labels: list[str]
    vertex_type: str
    properties: dict[str, str]
    delay: NotRequired[int]
    idle_ms: NotRequired[int]


class PlanDocument(TypedDict):
    """A physical plan, as ``algebra/plan.schema.json`` publishes it.

    Attributes:
        version: the version of the schema.
        digest: the digest of the plan.
        time_unit: the time unit of the catalog.
        parallelism: the number of partitions.
        path_semantics: the path semantics, if not arbitrary.
        evaluate_every: the period of evaluation in time units, if not at every instant.
        nodes: the operators, inputs first.
        root: the id of the node of the answer.
        streams: the streams that the plan reads.
        windows: the windows of the plan.
    """

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
    """Returns the document of a plan; pydantic validates it as a part of another document."""
    return cast(PlanDocument, plan.to_document())

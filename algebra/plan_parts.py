"""The parts of a physical plan: its nodes with their properties and estimates, streams, windows.

:mod:`headrace.algebra.plan` puts them together, and reads and writes the document.
"""

from __future__ import annotations

from typing import Annotated, Any, Union

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from .physical import OPERATORS, PhysicalOperator
from .values import PropertyType, StreamTypes, VertexType


class PlanError(ValueError):
    """A plan document that cannot be read; the message says where and why."""


class PlanModel(BaseModel):
    """A part of a plan: immutable, without fields of unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(PlanModel):
    """The cost model's estimates of a node, per unit of application time."""

    rate: float = Field(ge=0, description="results per time unit")
    interval: float | None = Field(
        ge=0, description="mean validity in time units; null: without end"
    )
    population: float = Field(ge=0, description="results valid at an instant")
    cost: float = Field(ge=0, description="of this operator alone, per time unit")
    cumulative_cost: float = Field(ge=0, description="of the tree below and with it")
    derivation_rate: float | None = Field(
        default=None,
        ge=0,
        exclude_if=lambda rate: rate is None,
        description="rows emitted per time unit, where some repeat others; absent: as rate",
    )

    saved: float | None = Field(
        default=None,
        ge=0,
        exclude_if=lambda cost: cost is None,
        description="the part of cost that is not paid, since another node holds the same index "
        "of an input; absent: none",
    )

    @property
    def emitted_rate(self) -> float:
        """Rows that the operator emits per time unit, with those that repeat others."""
        return self.rate if self.derivation_rate is None else self.derivation_rate

    @property
    def emitted_population(self) -> float:
        """Emitted rows that are valid at an instant, with those that repeat others."""
        return self.population * (self.emitted_rate / self.rate if self.rate else 1.0)


class NodeProperties(PlanModel):
    """The delivered physical properties of a node."""

    distribution: str
    coalesced: bool
    update_pattern: str
    convention: str


class _OneOfAll:
    """Lets pydantic read an operator as the one of :data:`OPERATORS` that its ``op`` names."""

    @staticmethod
    def __get_pydantic_core_schema__(_: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        union: Any = Union[tuple(OPERATORS.values())]  # noqa: UP007 - made from a table
        return handler.generate_schema(Annotated[union, Field(discriminator="op")])


class PlanNode(PlanModel):
    """One operator of a plan.

    Attributes:
        id: the position of the node in the plan.
        operator: the physical operator with its arguments.
        inputs: the ids of the earlier nodes that the operator reads.
        columns: the names of the output columns, for people.
        properties: the delivered physical properties.
        estimate: the cost model's estimates.
        identity: the identity of its rows (:mod:`headrace.algebra.identity`), by which runs keep
            measured figures; the document leaves it out if it is unknown."""

    id: int = Field(ge=0)
    operator: Annotated[PhysicalOperator, _OneOfAll]
    inputs: tuple[int, ...]
    columns: tuple[str, ...]
    properties: NodeProperties
    estimate: Estimate
    identity: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{32}$",
        exclude_if=lambda identity: identity is None,
        description="names the rows in figures that runs measure; absent: unknown",
    )

    @property
    def op(self) -> str:
        """The operator's stable name."""
        return self.operator.op


class PlanStream(PlanModel):
    """The part of a stream that the plan reads.

    Attributes:
        name: the name of the stream.
        labels: the labels that the plan reads.
        vertex_type: the type of the stream's vertices.
        properties: the types of the edge properties that the plan reads, by name.
        delay: the time units by which edges may come out of order.
        idle_ms: the milliseconds of silence after which other streams no longer wait for this one;
            null waits without end.
    """

    name: str
    labels: tuple[str, ...]
    vertex_type: VertexType = "string"
    properties: dict[str, PropertyType] = Field(default_factory=dict)
    delay: int = Field(default=0, ge=0)
    idle_ms: int | None = Field(default=None, gt=0)

    @property
    def types(self) -> StreamTypes:
        """The types of its vertices and properties."""
        return StreamTypes(self.vertex_type, self.properties)

    def to_document(self) -> dict[str, Any]:
        """The stream as JSON-able values, without the fields about disorder that are not set."""
        document = self.model_dump(mode="json")
        return {k: v for k, v in document.items() if v or k not in _OF_DISORDER}


_OF_DISORDER = ("delay", "idle_ms")


class PlanWindow(PlanModel):
    """The window of a label of a stream, in time units of the catalog.

    A label of a stored graph has no window."""

    stream: str
    label: str
    range: int = Field(gt=0)
    slide: int = Field(gt=0)

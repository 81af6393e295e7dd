"""What is asked of Headrace, whichever face asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..algebra.physical import DEFAULT_STEPS
from ..catalog.model import Catalog, VertexType

if TYPE_CHECKING:
    from ..catalog.edges import EdgeFile
    from ..costmodel.constants import Constants

Stage = Literal["query", "logical", "memo", "physical", "plan"]
Format = Literal["text", "json", "dot", "mermaid", "html"]
CostModelKind = Literal["saturating", "thesis"]
PathSemanticsKind = Literal["arbitrary", "simple"]
Evaluation = Literal["eager", "slide"]
STAGES: tuple[Stage, ...] = ("query", "logical", "memo", "physical", "plan")


@dataclass(frozen=True, slots=True)
class PlanningOptions:
    """How to plan.

    ``window`` and ``slide`` are written lengths of time for queries that have no window;
    budgets that are None are the optimizer's own; ``parallelism`` is how many partitions the
    plan is for; ``path_semantics`` says whether any paths count or only simple ones, which repeat
    no vertex, and ``simple_budget`` how many steps the search for these may take for an edge;
    ``evaluate`` whether results are right at every instant or once per slide; ``constants`` are
    those of the cost model, None its own.
    """

    window: str | None = None
    slide: str | None = None
    cost_model: CostModelKind = "saturating"
    disabled_rules: tuple[str, ...] = ()
    budget_ms: float | None = None
    budget_expressions: int | None = None
    parallelism: int = 1
    path_semantics: PathSemanticsKind = "arbitrary"
    simple_budget: int = DEFAULT_STEPS
    evaluate: Evaluation = "eager"
    constants: Constants | None = None


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A query to plan, and what is known of its streams.

    ``name`` is the place the query came from. Without a ``catalog`` the streams are those
    of ``inputs`` and the stored graph of ``stored``, of which a sample is measured; without
    ``catalog`` and ``inputs`` a stream is assumed that has the other labels of the query and of
    which nothing is known. ``time_unit`` and ``vertex_type`` are those of that stream.
    """

    query: str
    name: str = "query"
    language: str | None = None
    catalog: Catalog | None = None
    inputs: tuple[EdgeFile, ...] = ()
    options: PlanningOptions = field(default_factory=PlanningOptions)
    stored: tuple[EdgeFile, ...] = ()
    time_unit: str = "second"
    vertex_type: VertexType = "string"

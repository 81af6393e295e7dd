"""The request to plan a query, the same for the command line, REST and Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..algebra.limits import DEFAULT_STEPS
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

    Attributes:
        window: the range of the window of queries that have none, as ``30d``.
        slide: the slide of that window, as ``1d``.
        cost_model: the formulas of costs.
        disabled_rules: names of rules that the search must not use.
        budget_ms: the most milliseconds from the text to the plan; None for no bound.
        budget_expressions: the most expressions in the memo; None for the optimizer's default.
        parallelism: the number of partitions that the plan is for.
        path_semantics: whether any paths count, or only simple ones, which repeat no vertex.
        simple_budget: the most steps that the search for simple paths may take for an edge.
        evaluate: whether results are right at every instant, or once per slide.
        constants: those of the cost model, in microseconds; None for its defaults.
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
    """A query to plan, and its streams.

    Without a ``catalog``, samples of ``inputs`` and ``stored`` are measured. Without a ``catalog``
    and ``inputs``, a stream with default statistics is assumed for the other labels of the query.

    Attributes:
        query: the text.
        name: where the text came from, such as the name of its file.
        language: ``rq`` or ``gcore``; None to detect it.
        catalog: the streams and their statistics.
        inputs: the files of the stream.
        options: how to plan.
        stored: the files of the stored graph.
        time_unit: the unit of time of the assumed stream.
        vertex_type: the type of vertices of the assumed stream.
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

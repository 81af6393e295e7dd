"""Requests to plan a query, shared by the command line, REST and Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..algebra.limits import DEFAULT_STEPS
from ..catalog.model import Catalog, VertexType

if TYPE_CHECKING:
    from ..catalog.edges import EdgeFile
    from ..costmodel.constants import Constants
    from ..languages.parsing.parameters import Parameters

Stage = Literal["query", "logical", "memo", "physical", "plan"]
Format = Literal["text", "json", "dot", "mermaid", "html"]
CostModelKind = Literal["saturating", "thesis"]
PathSemanticsKind = Literal["arbitrary", "simple", "trail"]
Evaluation = Literal["eager", "slide"]
STAGES: tuple[Stage, ...] = ("query", "logical", "memo", "physical", "plan")


@dataclass(frozen=True, slots=True)
class PlanningOptions:
    """The options of planning.

    Attributes:
        window: the range of the window for queries without one, such as ``30d``.
        slide: the slide of the default window, such as ``1d``.
        cost_model: the name of the cost model.
        disabled_rules: the names of rules that the search does not apply.
        budget_ms: the time limit from the text to the plan, in milliseconds; None for no limit.
        budget_expressions: the maximum number of expressions in the memo; None for the default.
        parallelism: the number of partitions of the plan.
        path_semantics: ``arbitrary`` for any path, ``simple`` for paths that repeat no vertex, or
            ``trail`` for paths that repeat no edge.
        simple_budget: the maximum number of steps of the search for simple paths or trails, for
            each edge.
        evaluate: ``eager`` for results at every instant, or ``slide`` for results once per slide.
        constants: the constants of the cost model, in microseconds; None for the defaults.
        feedback: whether figures that earlier runs measured replace estimates.
        constants_origin: where and when the constants were measured, for people; None if unknown.
        sample: whether samples of streams estimate paths and joins.
        parameters: the values of the query's parameters, by their names without ``$``.
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
    constants_origin: str | None = None
    feedback: bool = True
    sample: bool = True
    parameters: Parameters = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A query to plan, and its streams.

    Without a ``catalog``, planning measures samples of ``inputs`` and ``stored``. Without a
    ``catalog`` and ``inputs``, planning assumes a stream with default statistics for the other
    labels of the query.

    Attributes:
        query: the text of the query.
        name: the origin of the text, such as a file name.
        language: ``rq``, ``gcore`` or ``cypher``; None to detect it.
        catalog: the streams and their statistics.
        inputs: the files of the stream.
        options: the options of planning.
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

"""The bodies of requests, and answers that only REST has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...algebra.limits import DEFAULT_STEPS
from ...documents.matches import Match
from ...documents.model import Document
from ...documents.picture import PictureDocument
from ...documents.plan import PlanDocument
from ...documents.runs import OperatorDocument, ProgressDocument
from ...planning.requests import CostModelKind, Evaluation, Format, PathSemanticsKind, Stage
from .kept_queries import State
from .problems import Problem

LONGEST_QUERY = 100_000
MOST_EXPRESSIONS = 200_000
MOST_ALTERNATIVES = 1_000
MOST_TRACED = 100_000

ConstantName = Literal[
    "push",
    "evaluate",
    "hash_update",
    "hash_probe",
    "queue_update",
    "queue_probe",
    "network",
    "convert",
]
_Microseconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
_Length = Annotated[str, Field(max_length=40)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OptionsBody(_Body):
    """How to plan; the names are those of the command line."""

    window: _Length | None = Field(default=None, description="where the query has none: 30d")
    slide: _Length | None = None
    cost_model: CostModelKind = "saturating"
    disabled_rules: tuple[Annotated[str, Field(max_length=100)], ...] = Field(
        default=(), max_length=100
    )
    budget_ms: float | None = Field(default=None, gt=0)
    budget_expressions: int | None = Field(default=None, ge=1, le=MOST_EXPRESSIONS)
    parallelism: int = Field(default=1, ge=1, le=1024, description="partitions to plan for")
    path_semantics: PathSemanticsKind = Field(
        default="arbitrary", description="simple: a path may not repeat a vertex"
    )
    simple_budget: int = Field(
        default=DEFAULT_STEPS,
        ge=1,
        le=2**31 - 1,
        description="steps that simple paths may take for an edge",
    )
    evaluate: Evaluation = Field(
        default="eager", description="slide: results are right once per slide, at its end"
    )
    constants: dict[ConstantName, _Microseconds] | None = Field(
        default=None, description="of the cost model, in microseconds; others as they are"
    )


class OptimizeBody(_Body):
    """A query, and its streams."""

    query: str = Field(max_length=LONGEST_QUERY)
    language: str | None = Field(default=None, max_length=40)
    catalog: dict[str, Any] | None = Field(default=None, description="a whole catalog, as in YAML")
    streams: dict[str, Any] | None = Field(default=None, description="only the catalog's streams")
    options: OptionsBody = OptionsBody()
    explain: bool = Field(
        default=False, description="its explanation will be asked for: keep it at hand"
    )


class ExplainBody(OptimizeBody):
    """A query, which stage of it to show, and how."""

    stage: Stage = "physical"
    format: Format = "json"
    costs: bool = Field(default=False, description="with the cost formula of each operator")
    trace: bool = Field(default=False, description="with each step of the search")
    why: bool = Field(default=False, description="with what decided for each operator")


class QueryBody(_Body):
    """A query or a stored plan to run, over the streams of the service."""

    query: str | None = Field(default=None, max_length=LONGEST_QUERY)
    plan: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]+$")] | None = Field(
        default=None, description="in place of a query: the id of a plan of /optimize"
    )
    language: str | None = Field(default=None, max_length=40)
    options: OptionsBody | None = Field(default=None, description="how to plan the query")
    name: str | None = Field(default=None, max_length=100)
    speed: float | None = Field(
        default=None, gt=0, allow_inf_nan=False,
        description="replay files at so many time units of the stream per second",
    )  # fmt: skip
    interval: str | None = Field(
        default=None,
        pattern=r"^[1-9]\d{0,5} (millisecond|second|minute|hour)s?$",
        description='at most one micro-batch in so much time: "10 seconds"',
    )
    largest_batch: int | None = Field(
        default=None, ge=1, le=10_000_000, description="at most so many edges per micro-batch"
    )
    strict: bool = Field(default=False, description="stop at the first row that is no edge")


class QueryLine(Document):
    """A query that runs, ran or is to run; ``error`` is the problem that it failed with."""

    id: str
    name: str | None
    query: str
    language: str | None
    options: dict[str, Any]
    speed: float | None
    interval: str | None
    largest_batch: int | None
    strict: bool
    state: State
    created: str
    started: str | None
    ended: str | None
    restarts: int
    error: Problem | None
    plan_id: str
    progress: ProgressDocument | None


class QueryDocument(QueryLine):
    """A query with its plan, and the measured numbers of its operators beside the estimates."""

    plan: PlanDocument
    operators: list[OperatorDocument]


class DeadLetter(Document):
    """A row that was set aside: the place of a rejected row, or a late edge.

    Further members give the place of a row of a live source, such as its topic and offset.
    """

    model_config = ConfigDict(extra="allow")

    kind: Literal["rejected", "late"]
    reason: str
    file: str | None = None
    line: int | None = None
    text: str | None = None
    stream: str | None = None
    row: dict[str, Any] | None = None


class DeadLetters(Document):
    """Rows that were set aside; ``next`` is the ``after`` of the page that follows."""

    items: list[DeadLetter]
    next: str


class StreamDocument(Document):
    """A stream as the catalog describes it; ``version`` counts how often it was put here.

    ``version`` is 0 for a stream of the catalog's file.
    """

    name: str
    version: int
    time_unit: str
    source: str | None = Field(description="the format of its source; none: it cannot be run over")
    live: bool = Field(description="whether that never ends")
    stream: dict[str, Any]


class RunningPicture(Document):
    """How a running query is drawn: its plan, and its results."""

    picture: PictureDocument
    match: Match


class ExampleDocument(Document):
    """A query that comes with Headrace, and a catalog of its streams."""

    name: str
    title: str
    language: str
    query: str
    catalog: dict[str, Any]


class LanguageDocument(Document):
    """A query language.

    Attributes:
        name: the value of the field `language` in requests.
        title: the name to show.
        endings: the endings of its files, each with its dot.
        comment: the sign that begins a comment up to the end of the line.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    comment: str

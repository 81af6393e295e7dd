"""The bodies of requests, and the documents that only REST has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt

from ...algebra.limits import DEFAULT_STEPS
from ...documents.matches import Match
from ...documents.model import Document
from ...documents.picture import PictureDocument
from ...documents.plan import PlanDocument
from ...documents.runs import OperatorDocument, ProgressDocument
from ...planning.requests import CostModelKind, Evaluation, Format, PathSemanticsKind, Stage
from .jobs import Kind
from .kept_queries import State
from .problems import Problem
from .search_progress import Step

LONGEST_QUERY = 100_000
MOST_EXPRESSIONS = 200_000
MOST_ALTERNATIVES = 1_000
MOST_TRACED = 100_000
MOST_ITEMS = 1_000

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


_Name = Annotated[str, Field(max_length=100)]
_Item = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
    | Annotated[StrictFloat, Field(allow_inf_nan=False)]
    | Annotated[str, Field(max_length=10_000)]
    | None
)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OptionsBody(_Body):
    """The options of planning, named as on the command line."""

    window: _Length | None = Field(
        default=None, description="the window for a query without one: 30d"
    )
    slide: _Length | None = None
    cost_model: CostModelKind = "saturating"
    disabled_rules: tuple[Annotated[str, Field(max_length=100)], ...] = Field(
        default=(), max_length=100
    )
    budget_ms: float | None = Field(default=None, gt=0)
    budget_expressions: int | None = Field(default=None, ge=1, le=MOST_EXPRESSIONS)
    parallelism: int = Field(
        default=1, ge=1, le=1024, description="the number of partitions to plan for"
    )
    path_semantics: PathSemanticsKind = Field(
        default="arbitrary",
        description="simple: only paths that repeat no vertex; trail: only paths that repeat no "
        "edge",
    )
    simple_budget: int = Field(
        default=DEFAULT_STEPS,
        ge=1,
        le=2**31 - 1,
        description="the maximum number of steps of the search for simple paths or trails, for "
        "each edge",
    )
    evaluate: Evaluation = Field(
        default="eager",
        description="eager: results at every instant; slide: results at the end of each slide",
    )
    feedback: bool = Field(
        default=True,
        description="whether figures that queries of the service measured replace estimates, and "
        "the query keeps its own",
    )
    constants: dict[ConstantName, _Microseconds] | None = Field(
        default=None, description="constants of the cost model to change, in microseconds"
    )
    sample: bool = Field(
        default=True, description="estimate paths and joins from the samples of streams"
    )
    parameters: dict[_Name, _Item | Annotated[list[_Item], Field(max_length=MOST_ITEMS)]] = Field(
        default={},
        max_length=100,
        description="the values of the parameters of a query in Cypher, by their names without $",
    )


class OptimizeBody(_Body):
    """A query to plan, with its streams and options."""

    query: str = Field(max_length=LONGEST_QUERY)
    language: str | None = Field(default=None, max_length=40)
    catalog: dict[str, Any] | None = Field(default=None, description="a whole catalog, as in YAML")
    streams: dict[str, Any] | None = Field(
        default=None, description="the streams of a catalog alone"
    )
    options: OptionsBody = OptionsBody()
    explain: bool = Field(
        default=False, description="also prepare the explanation of the plan, for a later request"
    )


class ExplainBody(OptimizeBody):
    """A query to explain: the stage to show, its form, and details."""

    stage: Stage = "physical"
    format: Format = "json"
    costs: bool = Field(default=False, description="with the cost formula of each operator")
    trace: bool = Field(default=False, description="with each step of the search")
    why: bool = Field(default=False, description="with the reason for each operator")


class QueryBody(_Body):
    """A query or a stored plan to run, over the streams of the service."""

    query: str | None = Field(default=None, max_length=LONGEST_QUERY)
    plan: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]+$")] | None = Field(
        default=None, description="the id of a plan of /optimize, instead of a query"
    )
    language: str | None = Field(default=None, max_length=40)
    options: OptionsBody | None = Field(default=None, description="how to plan the query")
    name: str | None = Field(default=None, max_length=100)
    speed: float | None = Field(
        default=None, gt=0, allow_inf_nan=False,
        description="the replay rate of files, in time units of the stream per second",
    )  # fmt: skip
    interval: str | None = Field(
        default=None,
        pattern=r"^[1-9]\d{0,5} (millisecond|second|minute|hour)s?$",
        description='the least time between two micro-batches: "10 seconds"',
    )
    largest_batch: int | None = Field(
        default=None,
        ge=1,
        le=10_000_000,
        description="the maximum number of edges in a micro-batch",
    )
    strict: bool = Field(default=False, description="stop at the first row that is not an edge")
    output: str | None = Field(
        default=None,
        max_length=1_000,
        pattern="^(kafka://|sink:)",
        description="a sink of the service's catalog that gets each result too, sink:NAME; or a "
        "topic, kafka://HOST:PORT/TOPIC, if the service allows any with --allow-sources",
    )


class SearchDocument(Document):
    """A request that waits for a search.

    Attributes:
        kind: the document that the request waits for.
        plan_id: the id of the plan.
        state: ``waiting`` for a process, or ``running``.
        seconds: the time since the search was requested.
        limit_seconds: the time limit of the work once it runs.
        doing: the current step; null until the work begins.
        groups: the groups of the memo so far; 0 unless the search records its steps.
        expressions: the expressions of the memo so far, counted as the groups are.
        plans: the plans ranked so far.
        cost_bound: the cost of the last ranked plan, which no later one undercuts, in microseconds
            per time unit.
    """

    kind: Kind
    plan_id: str
    state: Literal["waiting", "running"]
    seconds: float
    limit_seconds: float
    doing: Step | None
    groups: int
    expressions: int
    plans: int
    cost_bound: float | None


class QueryLine(Document):
    """A query that runs, ran or is to run.

    Attributes:
        id: the id of the query.
        name: the name that the client gave it.
        query: the text of the query.
        language: the language of the query; null if it was detected.
        options: the options of planning.
        speed: the replay rate of files, in time units per second.
        interval: the least time between two micro-batches.
        largest_batch: the maximum number of edges in a micro-batch.
        strict: whether the query stops at the first row that is not an edge.
        output: the topic or sink that gets each result too; null without one.
        state: the state of the query.
        created: when the query was added, as ISO 8601.
        started: when its first run began.
        ended: when the query ended.
        restarts: the number of restarts after failures.
        error: the problem that the query failed with, or that delays it.
        plan_id: the id of its plan.
        progress: its last progress.
    """

    id: str
    name: str | None
    query: str
    language: str | None
    options: dict[str, Any]
    speed: float | None
    interval: str | None
    largest_batch: int | None
    strict: bool
    output: str | None
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
    """A dead letter: the place of a rejected row, or a late edge.

    Further members give the place in a live source, such as topic and offset.

    Attributes:
        kind: ``rejected`` or ``late``.
        reason: why the row was set aside.
        file: the file of a rejected row.
        line: the line in the file, from 1.
        text: the text of a rejected row.
        stream: the stream of a late edge.
        row: the columns of a late edge.
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
    """A page of dead letters; ``next`` is the ``after`` of the next page."""

    items: list[DeadLetter]
    next: str


class StreamDocument(Document):
    """A stream of the service.

    Attributes:
        name: the name of the stream.
        version: the number of times that clients put the stream; 0 for a stream of the file.
        time_unit: the time unit of bare numbers.
        source: the format of its source; null without a source.
        live: whether the source is unbounded.
        stream: the stream as in a catalog, without its source.
    """

    name: str
    version: int
    time_unit: str
    source: str | None = Field(
        description="the format of its source; null: queries cannot run over it"
    )
    live: bool = Field(description="whether the source is unbounded")
    stream: dict[str, Any]


class RunningPicture(Document):
    """The drawing of a running query: its plan, and its results as graphs."""

    picture: PictureDocument
    match: Match


class ExampleDocument(Document):
    """An example query of Headrace.

    Attributes:
        name: the folder and file of the query.
        title: the first sentence of its comment.
        language: the language of the query.
        query: the text without the comment.
        catalog: a catalog of its streams, without sources.
    """

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

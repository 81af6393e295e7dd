"""The documents that the service answers with, as types: what OpenAPI describes, and what the
page is compiled against. They are made in `headrace.documents` and `headrace.search_documents`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ...algebra.plan import Estimate, NodeProperties, PlanWindow


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


class Fact(TypedDict):
    """A further property of an operator, for people."""

    name: str
    value: str


class BoxDocument(TypedDict):
    """An operator as people see it.

    ``alike`` is equal in two plans where the same rows are made in the same way.
    """

    id: int
    operator: str
    symbol: str
    summary: str
    inputs: list[int]
    facts: list[Fact]
    alike: str


class Unit(TypedDict):
    """The unit that rates and costs are shown in: ``factor`` of the catalog's, and its sign."""

    factor: float
    sign: str


class PictureDocument(TypedDict):
    """A plan as it is drawn; the boxes have the ids of the plan's nodes."""

    boxes: list[BoxDocument]
    time_unit: str
    seconds: float | None
    per: Unit


class RuleStatistics(TypedDict):
    """What a rule did in the search."""

    bindings: int
    fired: int
    duplicates: int
    ms: float


class MemoStatistics(TypedDict):
    """How large the memo is, and what each rule did."""

    groups: int
    expressions: int
    physical_expressions: int
    merges: int
    rules: dict[str, RuleStatistics]


class Symbol(TypedDict):
    """A symbol of a formula, its value and what it means."""

    value: float
    meaning: str


class FormulaLine(TypedDict):
    """``symbol = equation = numbers = value``."""

    symbol: str
    equation: str
    numbers: str
    value: float


class Formula(TypedDict):
    """What an operator costs; ``formula`` is its number in the thesis, null for our own."""

    formula: int | None
    name: str
    symbols: dict[str, Symbol]
    lines: list[FormulaLine]
    cost: float


class Member(TypedDict):
    """An expression of the memo."""

    id: int
    group: int
    text: str


class Ancestor(Member):
    """An expression, and the rule that made it."""

    rule: str | None


class RunnerUp(TypedDict):
    """The next best way to the same rows."""

    text: str
    rule: str
    enforcers: list[str]
    cost: float | None
    exact: bool
    at_least: float
    difference: float | None
    own: float
    inputs: float | None


class Reason(TypedDict):
    """Why an operator is what it is."""

    group: int
    required: str
    text: str
    rule: str
    cost: float
    local: float
    lineage: list[Ancestor]
    ways: int
    mirrored: int
    runner_up: RunnerUp | None
    decided: Literal["own cost", "inputs", "order", "only way", "bound", "budget"]


class Explained(TypedDict):
    """A plan of a query, and how it was found."""

    version: int
    query: str
    language: str
    warnings: list[str]
    canonical: str
    stop_reason: str
    optimize_ms: float
    memo: MemoStatistics
    statistics: Literal["catalog", "measured", "assumed"]
    cost_model: str
    cost: float
    shared_cost: float
    canonical_cost: float
    plan: PlanDocument
    costs: NotRequired[dict[str, Formula]]
    why: NotRequired[dict[str, Reason]]


class AskedDocument(TypedDict):
    """What was asked: ``catalog`` is null where streams were assumed."""

    query: str
    language: str | None
    catalog: dict[str, Any] | None
    options: dict[str, Any]


class Explanation(Explained):
    """All that is shown of a plan beside the one of the query as written.

    ``catalog`` is what the plan was made with, assumptions included, and ``constants`` those of the
    cost model in microseconds.
    """

    id: str
    asked: AskedDocument
    catalog: dict[str, Any]
    constants: dict[str, float]
    picture: PictureDocument
    canonical_plan: PlanDocument
    canonical_picture: PictureDocument


class MemoExpression(TypedDict):
    """An expression of a group; ``source`` is the id of the one that ``rule`` made it of."""

    id: int
    text: str
    inputs: list[int]
    rule: str | None
    source: int | None


class Goal(TypedDict):
    """A group, and what is required of its rows."""

    group: int
    required: str


class Choice(TypedDict):
    """A physical operator over groups, what proposed it, and the id of the expression that it
    computes; null for an enforcer."""

    text: str
    rule: str
    source: int | None


class Winner(Choice):
    """The cheapest plan of a group for what is required of it."""

    required: str
    cost: float
    local: float
    inputs: list[Goal]
    delivers: NodeProperties | None


class Way(Choice):
    """A way to a goal: its own cost, and what it costs at least with its inputs (null: without
    end), or just that if it is exact."""

    inputs: list[Goal]
    local: float
    at_least: float | None
    exact: bool


class Asked(TypedDict):
    """What was asked of a group, and all ways to it; ``at_least`` is what the cheapest costs if
    it is done, else what the search is sure that it costs more than."""

    required: str
    done: bool
    at_least: float | None
    ways: list[Way]


class GroupEstimate(TypedDict):
    """What is estimated of a group; ``interval`` is null where rows stay valid, ``distinct`` are
    the different values of each column."""

    rate: float
    interval: float | None
    population: float
    distinct: list[float]


class Group(TypedDict):
    """Expressions that give the same rows; ``reads`` are the labels that they are made of."""

    id: int
    columns: int
    reads: list[str]
    estimate: GroupEstimate
    expressions: list[MemoExpression]
    winners: list[Winner]
    goals: list[Asked]


class ChosenNode(TypedDict):
    """Where a node of the plan stands in the memo; its ``expression`` is null for an enforcer,
    ``required`` where the time was up before anything was costed."""

    node: int
    group: int
    required: str | None
    expression: int | None


class Memo(Explained):
    """All that a search found."""

    root: int
    groups: list[Group]
    chosen: list[ChosenNode]
    symbols: dict[str, str]


class Merged(TypedDict):
    """A group that was found to be equal to another, and went into it."""

    into: int
    group: int


class PlanInput(TypedDict):
    """What a plan found takes from a group."""

    group: int
    required: str
    cost: float


class PlanFound(Choice):
    """A cheaper plan of a group; ``before`` is what the one that it replaces cost."""

    group: int
    required: str
    cost: float
    local: float
    inputs: list[PlanInput]
    before: float | None
    again: bool


class WayLeft(Choice):
    """A way that was not followed: it costs ``cost``, or at least that, and only less than
    ``bound`` is of use."""

    group: int
    required: str
    cost: float
    exact: bool
    bound: float


class SeenMember(Member):
    """An expression as it was at a step, and the groups that it reads."""

    inputs: list[int]


class RuleStep(TypedDict):
    """The query enters, or a rule adds expressions that are equal to others.

    ``changed`` are expressions over other groups since some were ``merged``, ``removed`` those
    that came to be others, ``known`` those that the rule found although they were there.
    """

    step: int
    kind: Literal["query", "rule"]
    rule: str | None
    matched: list[SeenMember]
    added: list[SeenMember]
    groups: list[int]
    merged: list[Merged]
    changed: list[SeenMember]
    removed: list[int]
    known: list[int]


class KnownStep(TypedDict):
    """A rule found only what was there, in a group; expressions are told by their ids."""

    step: int
    kind: Literal["known"]
    rule: str
    group: int
    matched: list[int]
    known: list[int]


class PlanStep(TypedDict):
    """A group has a cheaper plan."""

    step: int
    kind: Literal["plan"]
    plan: PlanFound


class LeftStep(TypedDict):
    """A way to a plan is not followed any further."""

    step: int
    kind: Literal["left"]
    left: WayLeft


class ForgetStep(TypedDict):
    """Groups became one after they were costed: all plans are forgotten."""

    step: int
    kind: Literal["forget"]


class RuleMeaning(TypedDict):
    """What a rule rewrites into what; ``number`` is that of the thesis, null for our own."""

    number: int | None
    algebra: str


class Steps(TypedDict):
    """The steps of a search; ``more`` were not kept, ``known`` times a rule found nothing new,
    and ``left`` ways were not followed."""

    steps: list[RuleStep | KnownStep | PlanStep | LeftStep | ForgetStep]
    more: int
    known: int
    left: int
    rules: dict[str, RuleMeaning]
    symbols: dict[str, str]


class Traced(Explained):
    """A plan, and each step that led to it."""

    trace: Steps


class Alternative(TypedDict):
    """One of the cheapest plans of a query; ``rank`` counts from 1."""

    rank: int
    cost: float
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument


class Alternatives(TypedDict):
    """The cheapest plans of a query, of ``total`` that there are."""

    total: int
    plans: list[Alternative]


class MatchEnd(TypedDict):
    """An end of an edge of a result: a variable of the query, or a vertex written out."""

    variable: NotRequired[str]
    constant: NotRequired[str]


class MatchEdge(TypedDict):
    """An edge of a result; ``path`` is the name of the path that it stands for, if it has one."""

    source: MatchEnd
    target: MatchEnd
    text: str
    path: str | None


class Match(TypedDict):
    """What a result looks like as a graph; ``vertices`` are the columns that are vertices."""

    edges: list[MatchEdge]
    vertices: list[str]


class RunningPicture(TypedDict):
    """How a running query is drawn: its plan, and its results."""

    picture: PictureDocument
    match: Match


class ProgressDocument(TypedDict):
    """How far a run is; ``fraction`` is null where the input has no end."""

    phase: str
    fraction: float | None
    batch: int
    edges: int
    results: int
    late: int
    rejected: int
    now: int | None
    lag: float | None
    ticks: int
    seconds: float
    edges_per_second: float
    results_per_second: float
    state_entries: int
    state_bytes: int


class OperatorNumbers(TypedDict):
    """Of an operator, each null where it cannot be told."""

    rate: float | None
    validity: float | None
    population: float | None


class OperatorDocument(TypedDict):
    """What an operator did, beside what was expected of it."""

    node: int
    op: str
    rows_in: int
    rows: int
    rows_out: int
    dropped: int
    endless: int
    rate: float
    validity: float | None
    population: float
    seconds: float
    state_entries: int
    state_bytes: int
    estimate: OperatorNumbers
    q_error: OperatorNumbers


class ExampleDocument(TypedDict):
    """A query that comes with Headrace, and a catalog of its streams."""

    name: str
    title: str
    language: str
    query: str
    catalog: dict[str, Any]

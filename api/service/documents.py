"""The documents that the service answers with, as types: what OpenAPI describes, and what the
page is compiled against. They are made in `headrace.documents` and `headrace.search_documents`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from algebra.plan import Estimate, NodeProperties, PlanWindow


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


class Winner(TypedDict):
    """The cheapest plan of a group for what is required of it."""

    required: str
    text: str
    cost: float
    local: float


class Group(TypedDict):
    """Expressions that give the same rows."""

    id: int
    expressions: list[MemoExpression]
    winners: list[Winner]


class Memo(Explained):
    """All that a search found."""

    root: int
    groups: list[Group]


class Merged(TypedDict):
    """A group that was found to be equal to another, and went into it."""

    into: int
    group: int


class PlanInput(TypedDict):
    """What a plan found takes from a group."""

    group: int
    required: str
    cost: float


class PlanFound(TypedDict):
    """A cheaper plan of a group; ``before`` is what the one that it replaces cost."""

    group: int
    required: str
    text: str
    cost: float
    local: float
    inputs: list[PlanInput]
    before: float | None
    again: bool


class RuleStep(TypedDict):
    """The query enters, or a rule adds expressions that are equal to others."""

    step: int
    kind: Literal["query", "rule"]
    rule: str | None
    matched: list[Member]
    added: list[Member]
    groups: list[int]
    merged: list[Merged]


class PlanStep(TypedDict):
    """A group has a cheaper plan."""

    step: int
    kind: Literal["plan"]
    plan: PlanFound


class Steps(TypedDict):
    """The steps of a search; ``more`` were not kept, ``known`` times a rule found nothing new."""

    steps: list[RuleStep | PlanStep]
    more: int
    known: int


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


class ExampleDocument(TypedDict):
    """A query that comes with Headrace, and a catalog of its streams."""

    name: str
    title: str
    language: str
    query: str
    catalog: dict[str, Any]

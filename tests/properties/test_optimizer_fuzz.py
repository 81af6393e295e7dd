"""Random algebra through the whole optimizer: no statistics, costs or rules change an answer.

Queries in text reach filters by constants alone; here filters with conjunctions, disjunctions
and comparisons stand anywhere between unions, joins and paths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from hypothesis import assume, event, given
from hypothesis import strategies as st

from headrace.algebra.logical import (
    Filter,
    LogicalExpression,
    LogicalOperator,
    LogicalQuery,
    Path,
    Pattern,
    Project,
    Union,
    WScan,
)
from headrace.algebra.physical import PhysicalOperator
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Regex, Symbol, alternation, concat, optional, plus, star
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.executor.local import Edge, run_plan
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.rules.registry import transformation_rules
from tests.optimizer.test_meaning import relations
from tests.oracles.snapshot import Row, Snapshot
from tests.properties.algebra import rows_of
from tests.properties.running import shown
from tests.strategies.amount import examples

LABELS = "abc"
VERTICES = ("u", "v", "w")
WINDOWS = (Window(6, 2), Window(4, 1))
NAMES = sorted(rule.name for rule in transformation_rules())
BUDGET = 400


def scans() -> st.SearchStrategy[LogicalExpression]:
    """Labels of one stream, mostly under one window so that unions of them can be one scan."""
    window = st.sampled_from([WINDOWS[0]] * 3 + [WINDOWS[1]])
    return st.builds(
        lambda label, w: LogicalExpression(WScan("s", label, w)), st.sampled_from(LABELS), window
    )


def conditions(width: int) -> st.SearchStrategy[str]:
    """Predicates over ``width`` columns."""
    column = st.integers(0, width - 1).map(lambda c: f"c{c}")
    vertex = st.sampled_from(VERTICES).map(lambda v: f"'{v}'")
    sign = st.sampled_from(["=", "=", "<>", "<", ">="])
    simple = st.tuples(column, sign, column | vertex).map(" ".join)
    both = st.sampled_from([" AND ", " OR "])
    return simple | st.tuples(simple, both, simple).map("".join)


@st.composite
def filters(draw: st.DrawFn, below: st.SearchStrategy[LogicalExpression]) -> LogicalExpression:
    part = draw(below)
    return LogicalExpression(Filter(Predicate(draw(conditions(part.width)))), (part,))


@st.composite
def unions(draw: st.DrawFn, below: st.SearchStrategy[LogicalExpression]) -> LogicalExpression:
    """Unions of two inputs; a wider input is projected to the columns of the other."""
    left, right = draw(below), draw(below)
    width = min(left.width, right.width)
    return LogicalExpression(Union(), (narrowed(left, width), narrowed(right, width)))


@st.composite
def patterns(draw: st.DrawFn, below: st.SearchStrategy[LogicalExpression]) -> LogicalExpression:
    """Joins of two or three inputs, each of which shares a variable with an earlier one."""
    parts = draw(st.lists(below, min_size=2, max_size=3))
    bindings: list[tuple[int, ...]] = []
    count = 0
    for part in parts:
        fresh = list(range(count, count + part.width))
        if count:
            fresh[draw(st.integers(0, part.width - 1))] = draw(st.integers(0, count - 1))
        bindings.append(tuple(fresh))
        count += part.width
    used = list(dict.fromkeys(v for binding in bindings for v in binding))
    output = draw(st.lists(st.sampled_from(used), min_size=1, max_size=3, unique=True))
    operator, _ = Pattern(tuple(bindings), tuple(output)).canonical(tuple(range(len(parts))))
    return LogicalExpression(operator, tuple(parts))


REGEXES: tuple[Regex, ...] = (
    plus(Symbol(0)),
    Symbol(0, inverse=True),
    concat([Symbol(0), Symbol(1)]),
    concat([Symbol(0), star(Symbol(1))]),
    concat([optional(Symbol(0)), Symbol(1, inverse=True)]),
    plus(concat([Symbol(0), Symbol(1)])),
    plus(alternation([Symbol(0), Symbol(1)])),
    alternation([Symbol(0), concat([Symbol(1), Symbol(0)])]),
)


@st.composite
def paths(draw: st.DrawFn, below: st.SearchStrategy[LogicalExpression]) -> LogicalExpression:
    """Over relations of two columns."""
    inputs = tuple(draw(below.filter(lambda e: e.width == 2)) for _ in range(2))
    form, used = Path(draw(st.sampled_from(REGEXES))).canonical((0, 1))
    return LogicalExpression(form, tuple(inputs[k] for k in used))


def narrowed(expression: LogicalExpression, width: int) -> LogicalExpression:
    if expression.width == width:
        return expression
    return LogicalExpression(Project(tuple(range(width))), (expression,))


EXPRESSIONS = st.recursive(
    scans(),
    lambda below: st.one_of(filters(below), unions(below), patterns(below), paths(below)),
    max_leaves=4,
).filter(lambda e: isinstance(e.operator, Filter | Union | Pattern | Path))


@st.composite
def streams(draw: st.DrawFn) -> list[Edge]:
    vertex = st.sampled_from(VERTICES)
    gap = st.sampled_from([0, 0, 1, 1, 2, 9])
    now, edges = 0, []
    for label in draw(st.lists(st.sampled_from(LABELS), min_size=2, max_size=12)):
        now += draw(gap)
        edge: Edge = (draw(vertex), draw(vertex), label, now)
        edges.append(edge)
    return edges


@dataclass(frozen=True)
class Perturbed:
    """A cost model whose costs are each multiplied by a number of its own, 1/100 to 100."""

    model: CostModel
    seed: int

    def for_search(self) -> Perturbed:
        return replace(self, model=self.model.for_search())

    def characteristics(
        self, operator: LogicalOperator, inputs: tuple[Characteristics, ...]
    ) -> Characteristics:
        return self.model.characteristics(operator, inputs)

    def cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> float:
        return self._factor(operator) * self.model.cost(operator, output, inputs)

    def saved(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> tuple[float, ...]:
        factor = self._factor(operator)
        return tuple([factor * each for each in self.model.saved(operator, output, inputs)])

    def _factor(self, operator: PhysicalOperator) -> float:
        factor: float = 100 ** Random(f"{self.seed} {operator!r}").uniform(-1, 1)
        return factor

    def least_cost(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> float:
        return self.cost(operator, output, inputs)

    def arranged(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: tuple[Characteristics, ...],
    ) -> PhysicalOperator:
        return self.model.arranged(operator, output, inputs)


def searched(expression: LogicalExpression, seed: int, **options: object) -> SearchResult:
    """The outcome under statistics and costs of a seed."""
    random = Random(seed)
    labels = {
        label: LabelStatistics(
            rate=10 ** random.uniform(-2, 3),
            distinct_src=10 ** random.uniform(0, 4),
            distinct_trg=10 ** random.uniform(0, 4),
            vertices=10 ** random.uniform(1, 5),
        )
        for label in LABELS
    }
    model = CostModel(random.choice(["saturating", "thesis"]), Catalog({"s": Stream("s", labels)}))
    columns = tuple(f"x{k}" for k in range(expression.width))
    chosen = Options(**{"check": True, "budget_expressions": BUDGET, **options})  # type: ignore[arg-type]
    return Optimizer(Perturbed(model, seed), chosen).optimize(LogicalQuery(expression, columns))


def rows_at(expression: LogicalExpression, edges: list[Edge], t: int) -> set[Row]:
    """The rows of an expression at an instant; each window has its own valid edges."""
    snapshot: dict[str, frozenset[tuple[str, str]]] = {}
    for k, window in enumerate(WINDOWS):
        for label in LABELS:
            snapshot[f"{label}{k}"] = frozenset(
                (str(e[0]), str(e[1]))
                for e in edges
                if e[2] == label and e[3] <= t < e[3] // window.slide * window.slide + window.range
            )
    return rows_of(windowed(expression), snapshot)


def windowed(expression: LogicalExpression) -> LogicalExpression:
    """The expression with the window in the name of each label."""
    operator = expression.operator
    if isinstance(operator, WScan):
        name = f"{operator.label}{WINDOWS.index(operator.window)}"
        operator = WScan("s", name, operator.window, operator.predicate)
    return LogicalExpression(operator, tuple(windowed(part) for part in expression.inputs))


def judge(plan: PhysicalPlan, expression: LogicalExpression, edges: list[Edge]) -> None:
    """Checks that a plan gives the expression's rows at every instant."""
    results = list(run_plan(plan, edges, 3))
    for t in sorted({e[3] + later for e in edges for later in (0, 1, 3, 5)}):
        said = {r.bindings for r in results if r.ts <= t < r.exp}
        assert said == rows_at(expression, edges, t), f"at {t}:\n{shown(plan)}"


@examples(80)
@given(
    expression=EXPRESSIONS,
    edges=streams(),
    seed=st.integers(0, 10**6),
    disabled=st.frozensets(st.sampled_from(NAMES), max_size=12),
)
def test_the_chosen_plan_of_a_random_query_gives_the_results_of_the_oracle(
    expression: LogicalExpression, edges: list[Edge], seed: int, disabled: frozenset[str]
) -> None:
    event(type(expression.operator).__name__)
    outcome = searched(expression, seed, disabled_rules=disabled)
    for plan in (outcome.plan, outcome.canonical_plan):
        judge(plan, expression, edges)


@examples(60)
@given(expression=EXPRESSIONS, edges=streams(), seed=st.integers(0, 10**6))
def test_sampled_plans_of_a_random_query_give_the_results_of_the_oracle(
    expression: LogicalExpression, edges: list[Edge], seed: int
) -> None:
    outcome = searched(expression, seed, prune=False)
    for plan in outcome.plans.sample(3, seed):
        judge(plan, expression, edges)


@examples(60)
@given(expression=EXPRESSIONS, edges=streams())
def test_all_members_of_a_random_group_are_equivalent(
    expression: LogicalExpression, edges: list[Edge]
) -> None:
    """Scans are of one window here, as a snapshot knows labels alone."""
    assume(
        len({e.operator.window for e in leaves(expression) if isinstance(e.operator, WScan)}) == 1
    )
    outcome = searched(expression, 0, prune=False)
    snapshot: Snapshot = {
        label: frozenset((e[0], e[1]) for e in edges if e[2] == label) for label in LABELS
    }
    rows = relations(outcome.memo, snapshot)
    assert rows[outcome.root] == rows_of(expression, snapshot)


@examples(60)
@given(expression=EXPRESSIONS, seed=st.integers(0, 10**6))
def test_pruning_loses_no_plan(expression: LogicalExpression, seed: int) -> None:
    pruned, whole = (searched(expression, seed, prune=p) for p in (True, False))
    if pruned.stop_reason == whole.stop_reason == "complete":
        assert pruned.cost == whole.cost
        cheapest = next(islice(whole.plans.ranked(), 1))
        assert cheapest.nodes[-1].estimate.cumulative_cost == whole.cost


def test_a_scan_dearer_than_the_limit_is_no_winner() -> None:
    """The choice of a scan has no inputs, so its cost was not compared with the limit.

    The goal then counted as done, with a scan of both labels where a filter over a scan was
    cheaper. The check of the memo detects this fault.
    """
    both = tuple(LogicalExpression(WScan("s", label, WINDOWS[1])) for label in "ab")
    union = LogicalExpression(Union(), both)
    expression = LogicalExpression(Filter(Predicate("c0 = 'u'")), (union,))
    pruned, whole = (searched(expression, 0, prune=p) for p in (True, False))
    assert pruned.cost == whole.cost


def leaves(expression: LogicalExpression) -> list[LogicalExpression]:
    """The scans of an expression, with repeats."""
    if not expression.inputs:
        return [expression]
    return [leaf for part in expression.inputs for leaf in leaves(part)]


def test_random_queries_have_filters_over_every_operator() -> None:
    """The strategy makes filters over every operator."""
    met: set[tuple[str, str]] = set()

    @examples(300)
    @given(expression=EXPRESSIONS)
    def look(expression: LogicalExpression) -> None:
        pending = [expression]
        for e in pending:
            pending += e.inputs
            met.update((type(e.operator).__name__, type(i.operator).__name__) for i in e.inputs)

    look()
    operators = {"Filter", "Union", "Pattern", "Path"}
    assert {("Filter", o) for o in operators} | {(o, "Filter") for o in operators} <= met

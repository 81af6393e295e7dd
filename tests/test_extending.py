"""An operator that Headrace does not have, added through the registrations of docs/extending.md.

MIRROR gives each pair of its input, and the pair the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Literal

import pytest

from headrace.algebra.logical import LogicalExpression, LogicalOperator, LogicalQuery
from headrace.algebra.notation import SYMBOLS
from headrace.algebra.physical import (
    OPERATORS,
    Exchange,
    HashJoin,
    PhysicalOperator,
    ToKernel,
    WindowScan,
    WindowScanUnion,
    registered,
)
from headrace.algebra.plan import PhysicalPlan, accept_operators
from headrace.algebra.plan_parts import PlanError, PlanStream
from headrace.algebra.properties import ANY, BROADCAST, SINGLE, Distribution
from headrace.algebra.text import text
from headrace.algebra.values import StreamTypes, Types
from headrace.costmodel import COSTS, ESTIMATES, Characteristics, Constants, CostModel, Formula
from headrace.executor.batch import Batch, merged
from headrace.executor.checking import check
from headrace.executor.dictionary import Dictionary
from headrace.executor.local import Edge, run_plan
from headrace.executor.operators.base import Stateless
from headrace.executor.operators.build import BUILDERS, Site, build
from headrace.executor.partitions import Partition
from headrace.notation.names import Names
from headrace.optimizer import Optimizer, Options
from headrace.rules.implementation import IMPLEMENTATIONS, implementation
from headrace.rules.rule import ImplementationRule
from tests.costmodel.test_costs import EACH
from tests.executor.plans import plan_of
from tests.optimizer.shapes import catalog, chain, pattern, scan

WINDOW = 7


# -- algebra/ ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mirror(LogicalOperator):
    """⇋: the pairs of the input, and each the other way round."""

    op: ClassVar[str] = "MIRROR"


@dataclass(frozen=True, slots=True)
class MirrorRows(PhysicalOperator):
    """Gives each pair of the input, and the pair the other way round; does not coalesce."""

    op: Literal["MIRROR"] = "MIRROR"

    holds_state: ClassVar[bool] = False

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """Those of either column."""
        return (inputs[0][0] | inputs[0][1],) * 2

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """A pair the other way round lies where the pair does, by no column of its own."""
        return inputs[0] if inputs[0] in (SINGLE, BROADCAST) else ANY

    def relation(self, below: Sequence[str]) -> str | None:
        """``a⇋``."""
        return f"{below[0]}⇋"


# -- costmodel/, rules/, executor/ ------------------------------------------------------------

FORMULA = Formula(None, "rO CO", "cost = rO · CO")


class MirrorByRows(ImplementationRule[Mirror]):
    """⇋(S)  ⇒  MIRROR"""

    operator = Mirror

    def implement(self, operator: Mirror) -> Iterator[PhysicalOperator]:
        yield MirrorRows()


class MirrorOperator(Stateless):
    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        return merged([inputs[0], inputs[0].project((1, 0))])


@pytest.fixture
def mirror() -> Iterator[None]:
    """The operator is there for as long as a test runs."""
    registered(MirrorRows)
    SYMBOLS["MIRROR"] = "⇋"

    @ESTIMATES.add(Mirror)
    def _(_model: CostModel, _: Mirror, inputs: tuple[Characteristics, ...]) -> Characteristics:
        rows = inputs[0]
        rate, population = 2 * rows.arrival_rate, 2 * rows.population
        return replace(rows, arrival_rate=rate, population=population)

    COSTS[MirrorRows] = lambda _model, _operator, output, _inputs: (
        FORMULA,
        (output.arrival_rate,),
    )
    implementation(MirrorByRows)
    BUILDERS[MirrorRows] = lambda _operator, _site: MirrorOperator()
    accept_operators()
    yield
    del OPERATORS["MIRROR"], SYMBOLS["MIRROR"], ESTIMATES[Mirror], COSTS[MirrorRows]
    del IMPLEMENTATIONS["MirrorByRows"], BUILDERS[MirrorRows]
    accept_operators()


# -- what follows from these ------------------------------------------------------------------

MIRRORED = LogicalExpression(Mirror(), (scan("l0", WINDOW),))
QUERY = replace(pattern(chain(2), output=(0, 2)), inputs=(MIRRORED, scan("l1", WINDOW)))


def planned(parallelism: int = 1) -> PhysicalPlan:
    model = CostModel(catalog=catalog(), parallelism=parallelism)
    streams = (PlanStream(name="s", labels=("l0", "l1")),)
    options = Options(parallelism=parallelism, check=True)
    return Optimizer(model, options).optimize(LogicalQuery(QUERY, ("x", "z")), streams).plan


def answer(edges: Sequence[Edge], t: int) -> set[tuple[object, ...]]:
    """What the query means at an instant, by definition."""
    valid = [edge for edge in edges if edge[3] <= t < edge[3] + WINDOW]
    first = {(e[0], e[1]) for e in valid if e[2] == "l0"}
    second = {(e[0], e[1]) for e in valid if e[2] == "l1"}
    pairs = first | {(target, source) for source, target in first}
    return {(x, z) for x, y in pairs for other, z in second if y == other}


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_registered_operator_is_planned_and_run(parallelism: int) -> None:
    plan = PhysicalPlan.from_json(planned(parallelism).to_json())
    assert "MIRROR" in {node.op for node in plan.nodes}
    random = Random(parallelism)
    edges: list[Edge] = [
        (f"v{random.randrange(6)}", f"v{random.randrange(6)}", random.choice(["l0", "l1"]), ts)
        for ts in range(60)
    ]
    results = list(run_plan(plan, edges))
    for t in range(60 + WINDOW):
        valid = {tuple(r.bindings) for r in results if r.ts <= t < r.exp}
        assert valid == answer(edges, t)


@pytest.mark.usefixtures("mirror")
def test_a_registered_operator_is_explained() -> None:
    node = next(node for node in planned().nodes if node.op == "MIRROR")
    rows = Characteristics(4.0, 7.0, 28.0, (5.0, 5.0))
    model = CostModel(constants=Constants(push=0.5))
    explanation = model.explain(node.operator, rows, (rows,))
    assert str(explanation.lines[-1]) == "cost = rO · CO = 4 · 0.5 = 2"
    assert explanation.name == "MIRROR"
    assert Names("second").over(Mirror(), (3,)) == "MIRROR(G3)"
    assert text(MIRRORED).startswith("MIRROR")


@pytest.mark.usefixtures("mirror")
def test_the_executor_checks_a_plan_by_the_law_of_a_registered_operator() -> None:
    by_first = Exchange("hash", (0,))
    plan = plan_of(
        [
            (WindowScan("s", "l0", WINDOW, 1), ()),
            (ToKernel(), (0,)),
            (by_first, (1,)),
            (MirrorRows(), (2,)),
            (HashJoin(((0, 1), (0, 2)), (1, 2)), (3, 2)),
        ]
    )
    with pytest.raises(PlanError, match=r"node 4 \(HASH_JOIN\): its inputs lie any and hash\(0\)"):
        check(plan.model_copy(update={"parallelism": 2}))


def test_an_operator_that_is_not_registered_is_refused() -> None:
    document = plan_of([(WindowScan("s", "l0", WINDOW, 1), ()), (ToKernel(), (0,))]).to_document()
    del document["digest"]
    document["nodes"][1]["op"] = "MIRROR"
    with pytest.raises(PlanError, match="MIRROR"):
        PhysicalPlan.from_document(document)


def test_every_operator_has_an_entry_in_each_layer() -> None:
    operators = set(OPERATORS.values())
    implemented = {rule.operator for rule in IMPLEMENTATIONS.values()}
    assert set(COSTS) == operators
    assert set(BUILDERS) == operators - {WindowScan, WindowScanUnion, ToKernel, Exchange}
    assert set(ESTIMATES) == implemented
    assert set(SYMBOLS) == set(OPERATORS) | {operator.op for operator in implemented}


@pytest.mark.parametrize("operator", EACH, ids=lambda operator: operator.op)
def test_operators_of_the_executor_hold_rows_where_the_algebra_says_so(
    operator: PhysicalOperator,
) -> None:
    if type(operator) in BUILDERS:
        running = build(operator, Site(2, (2, 2), Dictionary(), Partition()))
        assert isinstance(running, Stateless) is not operator.holds_state

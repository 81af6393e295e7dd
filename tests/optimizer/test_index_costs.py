"""The costs of indexes that joins share: what the search gains, and what the executor shares."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, note

from headrace.algebra.physical import HashJoin, shared_sides_of_plan
from headrace.algebra.physical.indexes import Side
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.costmodel.constants import Constants
from headrace.executor.operators.shared_index import Sharing
from headrace.executor.stages import stages_of
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult
from tests.oracles.query import text
from tests.properties.plans import optimized
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

EDGES = LabelStatistics(rate=10.0, distinct_src=1e4, distinct_trg=1e4, vertices=1e4)
CATALOG = Catalog({"s": Stream("s", {"a": EDGES, "b": EDGES}, vertex_type="integer")})
LEFT = HashJoin(((0, 1), (1, 2)), (0, 1, 2))


@dataclass(frozen=True, slots=True)
class Unshared(CostModel):
    """A model that charges each join for its own indexes."""

    def saved(self, *_: object) -> tuple[float, ...]:
        return ()


DEAR_QUEUES = Constants(hash_update=0.0, hash_probe=0.01, queue_update=0.0136)


def chosen(
    rule: str,
    model: type[CostModel] = CostModel,
    parallelism: int = 1,
    constants: Constants | None = None,
) -> SearchResult:
    query = translate(parse(f"{rule}\nWINDOW 100s SLIDE 1s\n", "rq"), CATALOG)
    options = Options(shared_costs=True, margin=0.0, parallelism=parallelism)
    constants = constants or Constants()
    costs = model("saturating", CATALOG, constants=constants, parallelism=parallelism)
    return Optimizer(costs, options).optimize(query)


def joins(plan: PhysicalPlan) -> list[str]:
    return [node.op for node in plan.nodes if node.op.endswith("_JOIN")]


def saved(plan: PhysicalPlan) -> list[float]:
    return [node.estimate.saved for node in plan.nodes if node.estimate.saved]


def test_a_join_saves_its_part_for_an_index_less_the_changes_that_it_makes_again() -> None:
    rows = Characteristics(8.0, 128.0, 1024.0, (100.0, 100.0))
    few = Characteristics(2.0, 128.0, 256.0, (100.0, 100.0))
    model = CostModel()
    per_row = 2 * model.constants.hash_update + 2 * model.constants.queue_update * 10
    first = 8 * per_row + 2 * per_row - 8 * model.constants.hash_probe
    assert model.saved(LEFT, rows, (rows, few))[0] == pytest.approx(first)
    assert CostModel("thesis").saved(LEFT, rows, (rows, few)) == ()


def test_edges_that_meet_at_a_vertex_are_joined_by_one_index() -> None:
    """The semi-join is cheaper than the hash join with two indexes, and dearer than with one."""
    rule = "Answer(x, z) <- b(y, x), b(z, x)."
    shared, alone = (chosen(rule, model, constants=DEAR_QUEUES) for model in (CostModel, Unshared))
    assert (joins(shared.plan), joins(alone.plan)) == (["HASH_JOIN"], ["SEMI_JOIN"])
    (part,) = saved(shared.plan)
    nodes = sum(node.estimate.cost for node in shared.plan.nodes)
    assert shared.shared_cost == pytest.approx(nodes - part)
    assert shared.shared_cost == pytest.approx(shared.plan.shared_cost)
    assert shared.shared_cost < alone.shared_cost < shared.cost


def test_edges_in_both_directions_are_joined_by_one_index() -> None:
    """The variables of the key are columns 0 and 1 of one side, and 1 and 0 of the other."""
    plan = chosen("Answer(x, y) <- a(x, y), a(y, x).").plan
    assert joins(plan) == ["HASH_JOIN"]
    (sides,) = priced(plan)
    assert {place for _, place in sides} == {0, 1}
    (part,) = saved(plan)
    nodes = sum(node.estimate.cost for node in plan.nodes)
    assert plan.shared_cost == pytest.approx(nodes - part)


def test_joins_by_other_keys_share_no_index() -> None:
    assert not saved(chosen("Answer(x, y, z) <- a(x, y), a(y, z).").plan)


def test_three_sides_over_one_input_pay_for_its_index_once() -> None:
    plan = chosen("Answer(x, y, z, w) <- a(x, y), a(x, z), a(x, w).").plan
    ((_, sides),) = shared_sides_of_plan([(node.operator, node.inputs) for node in plan.nodes])
    assert len(sides) == 3
    first, second = saved(plan)
    assert plan.shared_cost == pytest.approx(
        sum(node.estimate.cost for node in plan.nodes) - first - second
    )


def priced(plan: PhysicalPlan) -> set[frozenset[Side]]:
    """The sides of a plan that the cost model prices as sharing an index."""
    nodes = [(node.operator, node.inputs) for node in plan.nodes]
    return {frozenset(sides) for _, sides in shared_sides_of_plan(nodes)}


def run(plan: PhysicalPlan) -> set[frozenset[Side]]:
    """The sides of a plan for which the executor makes one index, in each of its stages."""
    found: set[frozenset[Side]] = set()
    for stage in stages_of(plan):
        nodes = [plan.nodes[number] for number in stage.nodes]
        sharing = Sharing((node.id, node.operator, node.inputs) for node in nodes)
        sides: dict[int, set[Side]] = {}
        for node in nodes:
            for place, index in enumerate(sharing.of(node.id, len(node.inputs))):
                if index is not None:
                    sides.setdefault(id(index), set()).add((node.id, place))
        found |= set(map(frozenset, sides.values()))
    return found


@given(case=cases())
@examples(15)
def test_the_executor_shares_the_indexes_that_are_priced_as_shared(case: Case) -> None:
    note(text(case.query))
    for parallelism in (1, 3):
        options = Options(shared_costs=True, parallelism=parallelism, budget_expressions=300)
        found = optimized(case, options)
        for plan in (found.plan, found.canonical_plan):
            assert priced(plan) == run(plan)


@pytest.mark.parametrize("parallelism", [1, 2, 4])
@pytest.mark.parametrize(
    "rule",
    [
        "Answer(x, y, z, w) <- a(x, y), a(x, z), a(x, w).",
        "Answer(x, w) <- a(x, y), a(z, y), b(z, w), b(w, v), a(v, y).",
        "Q(x, y) <- a(x, z), b(z, y). Q(x, y) <- a(x, z), a(y, z). Answer(x, y) <- Q(x, y).",
        "Q(x, y) <- a(x, y), b(x, y). Q(x, y) <- b(x, y), a(y, x). Answer(x, y) <- Q(x, y).",
    ],
)
def test_every_plan_shares_the_indexes_that_are_priced(rule: str, parallelism: int) -> None:
    """Also between two stages: what only reads the same rows in another stage shares nothing."""
    found = chosen(rule, parallelism=parallelism)
    seen = set()
    for plan in found.plans.sample(60, seed=1):
        assert priced(plan) == run(plan)
        seen.add(bool(priced(plan)))
    assert True in seen

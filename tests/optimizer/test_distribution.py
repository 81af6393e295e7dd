"""Plans over several partitions: exchanges where they are needed, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.aggregates import AggregateCall
from headrace.algebra.logical import Aggregate, LogicalExpression, Pattern, Project, Top, Union
from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    MultiwayJoin,
    PhysicalOperator,
    ProjectColumns,
    SPath,
    ToKernel,
    TopRows,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.properties import (
    ANY,
    BROADCAST,
    SINGLE,
    Convention,
    DeliveredProperties,
    Distribution,
    RequiredProperties,
    Spread,
    UpdatePattern,
)
from headrace.catalog import Catalog, Stream
from headrace.catalog.model import LabelStatistics
from headrace.costmodel import CostModel
from headrace.costmodel.constants import Constants
from headrace.executor.checking import check
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.physical_properties import child_requirements, delivered
from headrace.optimizer.placements import distributions, hashed, placements
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    TERNARY_PLUS,
    SetCosts,
    catalog,
    chain,
    cycle,
    path,
    pattern,
    query,
    scan,
    star,
)
from tests.strategies.amount import examples

A = regex.Symbol(0)
PLUS = SPath(2, ((0, 0, False, 1), (1, 0, False, 1)), (1,), "0+")
CHAIN = HashJoin(((0, 1), (1, 2)), (0, 1, 2))
ENDS = HashJoin(((0, 1), (1, 2)), (0, 2))
SCAN = WindowScan("s", "a", 5, 1)
HERE = DeliveredProperties(ANY)

QUERIES: dict[str, LogicalExpression] = {
    **TABLE_4_2,
    "Qs": QS,
    "Qp": CONCAT_PLUS,
    "ternary": TERNARY_PLUS,
    "chain": pattern(chain(4)),
    "ends of a chain": pattern(chain(3), output=(0, 3)),
    "cycle": pattern(cycle(4)),
    "star": pattern(star(4)),
    "nothing but whether": LogicalExpression(Project(()), (pattern(chain(2)),)),
}


FIRST = Top(((1, "desc"),), 2)
FIRST_ROWS: dict[str, LogicalExpression] = {
    "first rows": LogicalExpression(FIRST, (scan("a"),)),
    "a join with first rows": LogicalExpression(
        Pattern(((0, 1), (1, 2)), (0, 1, 2)),
        (LogicalExpression(FIRST, (scan("a"),)), scan("b")),
    ),
    "a join with an aggregate of all rows": LogicalExpression(
        Pattern(((0,), (1, 2)), (0, 1, 2)),
        (
            LogicalExpression(
                Aggregate((), (AggregateCall("count"),), (0,), retracts=True), (scan("a"),)
            ),
            scan("b"),
        ),
    ),
    "a union with first rows": LogicalExpression(
        Union(), (LogicalExpression(FIRST, (scan("a"),)), scan("b"))
    ),
}


def over(
    n: int, expression: LogicalExpression, model: object = None, **more: object
) -> SearchResult:
    costs = model or CostModel("saturating", catalog(), parallelism=n)
    options = Options(check=True, parallelism=n, **more)  # type: ignore[arg-type]
    return Optimizer(costs, options).optimize(query(expression))  # type: ignore[arg-type]


def ops(plan: PhysicalPlan) -> list[str]:
    return [node.op for node in plan.nodes]


def exchanges(plan: PhysicalPlan) -> list[tuple[str, str]]:
    """The target distribution of each exchange, and the operator below it."""
    return [
        (node.properties.distribution, plan.nodes[node.inputs[0]].op)
        for node in plan.nodes
        if isinstance(node.operator, Exchange)
    ]


def test_one_partition_needs_no_exchange() -> None:
    for expression in QUERIES.values():
        assert "EXCHANGE" not in ops(over(1, expression).plan)


def test_a_path_is_divided_by_root_over_broadcast_input() -> None:
    plan = over(8, path(regex.plus(A), scan("a"))).plan
    assert ops(plan) == ["WSCAN", "TO_KERNEL", "EXCHANGE", "S_PATH"]
    assert exchanges(plan) == [("broadcast", "TO_KERNEL")]
    assert plan.nodes[-1].operator == SPath(2, PLUS.transitions, (1,), roots="own")
    assert plan.nodes[-1].properties.distribution == "hash(0)"
    assert plan.nodes[-1].properties.coalesced, "each pair is found by the partition of its root"


def test_a_star_is_hashed_on_its_centre_once_and_joined_where_it_lies() -> None:
    model = CostModel("saturating", catalog(), Constants(network=0.004), parallelism=8)
    plan = over(8, pattern(star(4)), model).plan
    assert exchanges(plan) == [("hash(0)", "TO_KERNEL")] * 4
    assert {n.properties.distribution for n in plan.nodes if n.op == "HASH_JOIN"} == {"hash(0)"}
    assert plan.nodes[-1].op == "COALESCE"


def test_a_chain_repartitions_what_it_joined_on_another_column() -> None:
    plan = over(8, pattern(chain(3))).plan
    assert sorted(exchanges(plan))[:1] == [("hash(0)", "TO_KERNEL")]
    assert sum(below == "HASH_JOIN" for _, below in exchanges(plan)) == 1


def test_a_small_input_is_broadcast_to_where_a_large_one_lies() -> None:
    few = {"l0": 1.0, "l1": 1e6}
    model = CostModel("saturating", catalog(), parallelism=4)
    streams = model.catalog.streams
    labels = dict(streams["s"].labels)
    for label, rate in few.items():
        labels[label] = replace(labels[label], rate=rate)
    known = replace(model.catalog, streams={"s": replace(streams["s"], labels=labels)})
    plan = over(4, pattern(chain(2)), replace(model, catalog=known)).plan
    assert ("broadcast", "TO_KERNEL") in exchanges(plan)
    joined = next(n for n in plan.nodes if n.op == "HASH_JOIN")
    assert "any" in {plan.nodes[i].properties.distribution for i in joined.inputs}


def sparse(partitions: int, rates: dict[str, float] | None = None) -> CostModel:
    """A model of labels whose edges hardly form paths."""
    labels = {
        label: LabelStatistics(rate=rate, distinct_src=1e4, distinct_trg=1e4, vertices=1e4)
        for label, rate in (rates or dict.fromkeys(("l0", "l1", "l2"), 1000.0)).items()
    }
    known = Catalog({"s": Stream("s", labels)})
    return CostModel("saturating", known, parallelism=partitions)


def test_a_triangle_is_divided_into_the_cells_of_a_hypercube() -> None:
    plan = over(8, pattern(cycle(3)), sparse(8)).plan
    assert sorted(exchanges(plan)) == [
        ("hash(2)", "MULTIWAY_JOIN"),
        ("hypercube(2x2x2: *,0,1)", "TO_KERNEL"),
        ("hypercube(2x2x2: 0,1,*)", "TO_KERNEL"),
        ("hypercube(2x2x2: 1,*,0)", "TO_KERNEL"),
    ]
    joins = [node.operator for node in plan.nodes if isinstance(node.operator, MultiwayJoin)]
    assert [join.shares for join in joins] == [((0, 2), (1, 2), (2, 2))]
    check(plan)


def test_fewer_than_four_partitions_are_no_hypercube() -> None:
    for n in (2, 3):
        lie = {to for to, _ in exchanges(over(n, pattern(cycle(3)), sparse(n)).plan)}
        assert not any(to.startswith("hypercube") for to in lie)


def test_every_plan_with_cells_passes_the_checks_of_a_run() -> None:
    found = over(4, pattern(cycle(3)), sparse(4), prune=False)
    cells = 0
    for plan in islice(found.plans.ranked(), 60):
        check(plan)
        cells += any(to.startswith("hypercube") for to, _ in exchanges(plan))
    assert cells > 0


def test_first_rows_of_each_partition_go_to_one_partition() -> None:
    plan = over(8, FIRST_ROWS["first rows"]).plan
    assert [op for op in ops(plan) if op not in ("EXCHANGE", "COALESCE")] == [
        "WSCAN", "TO_KERNEL", "TOP_K", "TOP_K",
    ]  # fmt: skip
    each = plan.nodes[2].operator
    assert each == TopRows(FIRST.order, FIRST.limit, partial=True)
    assert exchanges(plan)[0][1] == "TOP_K", "no row is moved before"
    assert plan.nodes[plan.root].properties.distribution == "single"


def test_first_rows_of_aggregates_need_no_coalesce() -> None:
    counted = Aggregate((0,), (AggregateCall("count"),), (0, 1), retracts=True)
    first = LogicalExpression(FIRST, (LogicalExpression(counted, (scan("a"),)),))
    plan = over(8, first).plan
    assert ops(plan) == [
        "WSCAN", "TO_KERNEL", "EXCHANGE", "AGGREGATE", "TOP_K", "EXCHANGE", "TOP_K",
    ]  # fmt: skip
    assert [to for to, _ in exchanges(plan)] == ["hash(0)", "single"]


def test_all_rows_go_to_one_partition_if_most_are_first() -> None:
    many = LogicalExpression(replace(FIRST, limit=10**6), (scan("a"),))
    assert ops(over(8, many).plan) == ["WSCAN", "TO_KERNEL", "EXCHANGE", "TOP_K"]
    assert ops(over(1, FIRST_ROWS["first rows"]).plan) == ["WSCAN", "TO_KERNEL", "TOP_K"]


def test_first_rows_are_moved_to_where_they_are_joined() -> None:
    plan = over(8, FIRST_ROWS["a join with first rows"]).plan
    (join,) = [node for node in plan.nodes if node.op == "HASH_JOIN"]
    assert plan.nodes[join.inputs[0]].op == "EXCHANGE"
    moved = [to for to, below in exchanges(plan) if below == "TOP_K"]
    assert moved[-1] in ("hash(1)", "broadcast")
    check(plan)


def test_an_answer_without_columns_is_on_one_partition() -> None:
    plan = over(8, QUERIES["nothing but whether"]).plan
    assert plan.nodes[-1].op == "COALESCE"
    assert plan.nodes[-1].properties.distribution == "single"


def test_the_plan_as_written_runs_on_one_partition() -> None:
    outcome = over(8, CONCAT_PLUS)
    assert exchanges(outcome.canonical_plan) == [("single", "TO_KERNEL")] * 3
    assert outcome.cost < outcome.canonical_cost


def test_more_partitions_never_cost_more() -> None:
    for name, expression in QUERIES.items():
        costs = [over(n, expression).cost for n in (2, 8, 64)]
        assert costs == sorted(costs, reverse=True), name


def rechecked(plan: PhysicalPlan) -> None:
    """Each node declares the properties that follow from its inputs; each exchange moves rows."""
    known: list[DeliveredProperties] = []
    for node in plan.nodes:
        widths = tuple(len(plan.nodes[i].columns) for i in node.inputs)
        below = tuple(known[i] for i in node.inputs)
        delivers = delivered(node.operator, widths, below, plan.parallelism)
        said = node.properties
        assert (said.distribution, said.coalesced) == (
            str(delivers.distribution),
            delivers.coalesced,
        )
        assert said.convention == delivers.convention
        if isinstance(node.operator, Exchange):
            assert delivers.distribution != below[0].distribution
        known.append(delivers)
    assert known[-1].coalesced
    assert known[-1].distribution != BROADCAST


@pytest.mark.parametrize("n", [2, 8])
@pytest.mark.parametrize("name", [*QUERIES, *FIRST_ROWS])
def test_the_search_finds_the_cheapest_of_all_plans(name: str, n: int) -> None:
    without = frozenset({"ForestToMultiway"})  # without pruning it applies everywhere
    expression = {**QUERIES, **FIRST_ROWS}[name]
    for model in (None, SetCosts(), SetCosts(1), SetCosts(2)):
        outcome = over(n, expression, model, disabled_rules=without)
        ranked = list(islice(outcome.plans.ranked(), 20))
        assert ranked[0].nodes[-1].estimate.cumulative_cost == outcome.cost
        whole = over(n, expression, model, prune=False, disabled_rules=without)
        assert outcome.cost == whole.cost
        for plan in ranked:
            rechecked(plan)
        assert len({plan.digest for plan in ranked}) == len(ranked), "no plan is counted twice"


@given(seed=st.integers(0, 999))
@examples(20)
def test_random_plans_deliver_their_declared_properties(seed: int) -> None:
    outcome = over(3, CONCAT_PLUS, SetCosts(seed))
    for plan in outcome.plans.sample(5, seed):
        rechecked(plan)


def test_every_placement_is_one_of_the_known_distributions() -> None:
    for operator, widths in (
        (CHAIN, (2, 2)),
        (ENDS, (2, 2)),
        (PLUS, (2,)),
        (MergeUnion(), (2, 2)),
        (ProjectColumns((1, 1)), (2,)),
        (FilterRows("c0 = 1"), (2,)),
        (Coalesce(), (2,)),
    ):
        found = placements(operator, widths, 4)
        assert len({p.inputs for p in found}) == len(found)
        for placement in found:
            for place, width in zip(placement.inputs, widths, strict=True):
                assert place.distribution in distributions(width, 4)


@pytest.mark.parametrize(
    ("operator", "inputs", "output"),
    [
        (CHAIN, (hashed(1), hashed(0)), hashed(1)),
        (ENDS, (hashed(1), hashed(0)), ANY),
        (CHAIN, (BROADCAST, ANY), ANY),
        (CHAIN, (hashed(0), BROADCAST), hashed(0)),
        (CHAIN, (BROADCAST, hashed(1)), hashed(2)),
        (CHAIN, (BROADCAST, BROADCAST), BROADCAST),
        (CHAIN, (SINGLE, SINGLE), SINGLE),
        (PLUS, (SINGLE,), SINGLE),
        (PLUS, (BROADCAST,), BROADCAST),
        (MergeUnion(), (hashed(0), hashed(0)), hashed(0)),
        (MergeUnion(), (hashed(0), hashed(1)), ANY),
        (ProjectColumns((1, 0)), (hashed(0),), hashed(1)),
        (ProjectColumns((1,)), (hashed(0),), ANY),
        (Coalesce(), (hashed(1),), hashed(1)),
        (Exchange("single"), (hashed(1),), SINGLE),
    ],
)
def test_operators_deliver_their_distribution(
    operator: PhysicalOperator, inputs: tuple[Distribution, ...], output: Distribution
) -> None:
    widths = (2,) * len(inputs)
    below = tuple(DeliveredProperties(d) for d in inputs)
    assert delivered(operator, widths, below, 4).distribution == output


@pytest.mark.parametrize(
    ("operator", "inputs"),
    [
        (CHAIN, (hashed(0), hashed(0))),
        (CHAIN, (ANY, ANY)),
        (CHAIN, (ANY, hashed(0))),
        (CHAIN, (SINGLE, hashed(0))),
        (PLUS, (ANY,)),
        (PLUS, (hashed(0),)),
        (MergeUnion(), (BROADCAST, ANY)),
        (Coalesce(), (ANY,)),
        (Exchange("hash", (0,)), (BROADCAST,)),
    ],
)
def test_the_law_refuses_distributions_with_wrong_results(
    operator: PhysicalOperator, inputs: tuple[Distribution, ...]
) -> None:
    below = tuple(DeliveredProperties(d) for d in inputs)
    with pytest.raises(ValueError, match=f"{operator.op} cannot run over "):
        delivered(operator, (2,) * len(inputs), below, 4)


def test_spark_computes_scans_and_the_filters_on_them() -> None:
    scanned = delivered(SCAN, (), (), 4)
    assert (scanned.distribution, scanned.convention) == (ANY, Convention.SPARK_SQL)
    filtered = delivered(FilterRows("c0 = 1"), (2,), (scanned,), 4)
    assert filtered.convention is Convention.SPARK_SQL
    handed = delivered(ToKernel(), (2,), (filtered,), 4)
    assert handed == HERE
    with pytest.raises(ValueError, match="rows of spark_sql"):
        delivered(CHAIN, (2, 2), (scanned, handed), 4)


def test_deletions_pass_through_every_operator() -> None:
    pattern_of = UpdatePattern.WITH_DELETIONS
    below = DeliveredProperties(BROADCAST, update_pattern=pattern_of)
    over = CHAIN.over_deletions()
    assert delivered(over, (2, 2), (below, HERE), 4).update_pattern is pattern_of
    assert delivered(CHAIN, (2, 2), (DeliveredProperties(BROADCAST), HERE), 4) == HERE


def test_a_join_requires_distributions_of_its_inputs() -> None:
    ways = child_requirements(CHAIN, (2, 2), RequiredProperties(), 4)
    assert {tuple(i.distribution for i in way.required) for way in ways} == {
        (hashed(1), hashed(0)),
        (BROADCAST, ANY),
        (ANY, BROADCAST),
    }
    assert {way.divided for way in ways} == {(4, 4), (1, 4), (4, 1)}


def test_required_properties_know_what_satisfies_them() -> None:
    anyhow = RequiredProperties()
    assert anyhow.satisfied_by(DeliveredProperties(hashed(0)))
    assert not anyhow.satisfied_by(DeliveredProperties(BROADCAST))
    assert not anyhow.satisfied_by(DeliveredProperties(ANY, convention=Convention.SPARK_SQL))
    here = RequiredProperties(Distribution(Spread.HASH, (0,)), coalesced=True)
    assert not here.satisfied_by(DeliveredProperties(hashed(0)))
    assert here.satisfied_by(DeliveredProperties(hashed(0), coalesced=True))


@pytest.mark.parametrize("atoms", [12, 13, 60])
def test_a_multiway_join_of_many_atoms_is_tried_over_few_distributions(atoms: int) -> None:
    """A chain of 60 had 241; each is priced by the work after the rows of each atom."""
    edges = chain(atoms)
    shared = range(1, atoms)
    orders = tuple([(*range(k - 1, 0, -1), *range(k + 2, atoms)) for k in range(atoms)])
    join = MultiwayJoin(tuple(range(atoms)), edges, (0, atoms), orders)
    widths = (2,) * atoms
    assert join.output_width(widths) == 2
    found = placements(join, widths, 4)
    hashed_on = [p for p in found if any(i.distribution.spread is Spread.HASH for i in p.inputs)]
    if atoms > 12:
        assert len(hashed_on) == 8
        assert len(found) == 10
    else:
        assert len(found) == len(shared) + 3 * atoms + 2

"""Distinct and derivation rates in plans, and COALESCE below operators as a choice with a price."""

from __future__ import annotations

from itertools import islice

import pyarrow as pa
import pytest

from headrace.algebra.logical import LogicalQuery
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanNode, PlanStream
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.costmodel.model import Kind
from headrace.executor.local import LocalRun
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.rules.implementation import IMPLEMENTATIONS

FAN = """
P(x, z) <- a(x, y), b(y, z), e(y, v).
Answer(x, z, u, w) <- P(x, z), c(z, u), d(z, w).
WINDOW 600s SLIDE 1s
"""
"""Pairs of several derivations each, which two further joins multiply."""


def searched(text: str, kind: Kind = "saturating", vertices: float = 20.0) -> SearchResult:
    statistics = LabelStatistics(1.0, vertices, vertices, vertices)
    catalog = Catalog({"input": Stream("input", dict.fromkeys("abcde", statistics))})
    query: LogicalQuery = translate(parse(text), catalog)
    streams = tuple(
        PlanStream(name=s.name, labels=tuple(s.labels)) for s in catalog.streams.values()
    )
    return Optimizer(CostModel(kind, catalog), Options(check=True)).optimize(query, streams)


STATEFUL = ("HASH_JOIN", "S_PATH")


def below_state(plan: PhysicalPlan) -> list[PlanNode]:
    """The COALESCE operators that a join or a path reads."""
    read = {i for node in plan.nodes if node.operator.op in STATEFUL for i in node.inputs}
    return [plan.nodes[i] for i in sorted(read) if plan.nodes[i].operator.op == "COALESCE"]


def test_coalesce_stands_below_a_path_that_would_read_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If there were no semi-join, which drops the repeats itself."""
    assert below_state(searched(FAN).plan) == []
    monkeypatch.delitem(IMPLEMENTATIONS, "PatternBySemiJoin")
    found = searched(FAN)
    (coalesce,) = below_state(found.plan)
    (derived,) = (found.plan.nodes[i].estimate for i in coalesce.inputs)
    assert derived.rate == coalesce.estimate.rate
    assert derived.emitted_rate > 5 * derived.rate
    assert coalesce.estimate.derivation_rate is None


def test_coalesce_below_operators_does_not_pay_where_rows_do_not_repeat() -> None:
    found = searched(FAN, vertices=1e4)
    assert below_state(found.plan) == []
    assert all(node.estimate.derivation_rate is None for node in found.plan.nodes)


def test_thesis_has_one_rate_and_no_coalesce_below_operators() -> None:
    found = searched(FAN, "thesis")
    plans = [found.plan, found.canonical_plan, *found.plans.sample(20, seed=1)]
    assert not any(below_state(plan) for plan in plans)
    assert all(n.estimate.derivation_rate is None for plan in plans for n in plan.nodes)


def test_joins_derive_their_rows_anew_from_the_different_rows_of_their_inputs() -> None:
    """As written no COALESCE stands between the joins, and each drops the repeats it reads."""
    plan = searched(FAN).canonical_plan
    joins = [n for n in plan.nodes if n.operator.op == "HASH_JOIN"]
    factors = [join.estimate.emitted_rate / join.estimate.rate for join in joins]
    # The first join keeps all its columns. The second drops two, and later ones read its rows.
    assert factors == pytest.approx([1, factors[1], 1, 1])
    assert factors[1] > 5
    assert plan.nodes[plan.root].estimate.derivation_rate is None


def test_a_join_emits_nothing_for_a_row_that_repeats_one_it_holds() -> None:
    chain = "Answer(x, w) <- a(x, y), b(y, z), c(z, w).\nWINDOW 20s SLIDE 20s\n"
    edges = [("x", f"y{k}", "a", 1) for k in range(9)]
    edges += [(f"y{k}", "z", "b", 2) for k in range(9)]
    edges += [("z", "w", "c", 3)]
    names = ("src", "trg", "label", "ts")
    columns = dict(zip(names, map(list, zip(*edges, strict=True)), strict=True))
    plan = searched(chain).canonical_plan
    run = LocalRun(plan)
    run.push([pa.record_batch({**columns, "stream": ["input"] * len(edges)})])
    emitted = [
        run.counters[node.id].rows_out for node in plan.nodes if node.operator.op == "HASH_JOIN"
    ]
    assert emitted == [9, 1]


@pytest.mark.parametrize("text", [FAN, "Answer(x, w) <- x a/b/c/d w.\nWINDOW 200s SLIDE 1s\n"])
def test_the_cheapest_plan_of_the_plan_space_is_the_chosen_one(text: str) -> None:
    found = searched(text)
    ranked = list(islice(found.plans.ranked(), 40))
    costs = [plan.nodes[plan.root].estimate.cumulative_cost for plan in ranked]
    assert costs == sorted(costs)
    assert costs[0] == pytest.approx(found.cost, rel=1e-12)
    assert found.cost <= found.canonical_cost
    assert len({plan.digest for plan in ranked}) == len(ranked)


def test_a_group_has_at_most_two_goals_on_one_partition() -> None:
    found = searched(FAN)
    for group in found.space.groups():
        kernel = [goal for goal in group.goals if goal.required.convention == "kernel"]
        assert len(kernel) <= 2


def test_a_plan_document_without_derivation_rates_is_read() -> None:
    document = searched(FAN).plan.to_document()
    for node in document["nodes"]:
        node["estimate"].pop("derivation_rate", None)
    read = PhysicalPlan.from_document(document)
    assert all(node.estimate.derivation_rate is None for node in read.nodes)
    assert read.digest == document["digest"]

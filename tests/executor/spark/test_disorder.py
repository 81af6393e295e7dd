"""Stages over partitions hold disordered rows back, also over restarts; Spark does the same."""

from __future__ import annotations

import json

from hypothesis import given, note
from hypothesis import strategies as st

from algebra.plan import PhysicalPlan
from executor.local import Edge
from tests.executor.disorder import Disorder, disorders, in_order
from tests.executor.plans import answer, plans
from tests.executor.spark.chain import Chain
from tests.executor.spreading import spread
from tests.executor.test_partitioned import TWO_LEVELS, WRITTEN
from tests.executor.test_pipeline import PATTERNS, snapshot, streams
from tests.strategies.amount import examples


def fed(plan: PhysicalPlan, disorder: Disorder, seed: int, hops: int) -> Chain:
    """All batches, and the end; every so many of them in another worker."""
    chain = Chain(plan, seed, disorder=True)
    chain.another_worker(gone=True)
    for number, (batch, clock) in enumerate(zip(disorder.batches, disorder.clocks, strict=True)):
        if hops and number % hops == 0:
            chain.another_worker(gone=number % (2 * hops) == 0)
        chain.batch(batch, clock if disorder.idle_ms else None)
    if hops:
        chain.another_worker(gone=True)
    chain.end()
    return chain


def check(plan: PhysicalPlan, disorder: Disorder, chain: Chain) -> None:
    """Late edges are those that are late by definition, results are right without them."""
    late = disorder.late(plan)
    told = [(*each["row"].values(), each["stream"]) for each in chain.late]
    assert sorted(told) == sorted(late)
    counted = [sum(json.loads(report)["late"].values()) for report in chain.reports]
    assert sum(counted) == len(late)
    edges = in_order(disorder.edges, late)
    for t in range(max((edge[3] for edge in edges), default=-1) + 12):
        assert snapshot(chain.results, t) == answer(plan, edges, t), f"at {t}"


SEEDS = st.integers(0, 99)
HOPS = st.integers(0, 3)


@given(
    name=st.sampled_from(sorted(set(WRITTEN) - {"filtered"})),
    disorder=disorders(streams(longest=40), beyond=True, idle=True),
    seed=SEEDS,
    hops=HOPS,
)
@examples(30)
def test_plans_by_hand(name: str, disorder: Disorder, seed: int, hops: int) -> None:
    plan = disorder.plan(WRITTEN[name])
    note(plan.to_json())
    check(plan, disorder, fed(plan, disorder, seed, hops))


@given(
    plan=plans(PATTERNS),
    disorder=disorders(streams()),
    partitions=st.integers(1, 3),
    seed=SEEDS,
    hops=HOPS,
)
@examples(30)
def test_random_plans(
    plan: PhysicalPlan, disorder: Disorder, partitions: int, seed: int, hops: int
) -> None:
    own = disorder.plan(spread(plan, partitions, seed) if partitions > 1 else plan)
    note(own.to_json())
    chain = fed(own, disorder, seed, hops)
    assert not chain.late
    check(own, disorder, chain)


def test_what_waits_and_only_travels_through_is_kept_until_then() -> None:
    delays = {"s": 10, "t": 0, "u": 0}
    plan = Disorder((), (), delays, {}).plan(TWO_LEVELS)
    chain = Chain(plan, disorder=True)
    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "b", i % 10, "t") for i in range(60)]
    chain.another_worker(gone=True)
    chain.batch([*edges, ("v1", "v2", "a", 10, "s")])
    assert chain.ports_kept(0) == {0, 1}
    chain.another_worker(gone=True)
    chain.batch([("v1", "v2", "a", 19, "s")])
    assert chain.ports_kept(0) == {0}
    assert {report["now"] for report in map(json.loads, chain.reports)} == {9}

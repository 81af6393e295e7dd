"""Chains of stages equal the oracle, whichever workers keep their state."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.executor.local import Edge, LocalRun
from headrace.executor.spark.batches import BatchMetrics
from headrace.optimizer import Options
from tests.executor.plans import answer
from tests.executor.spark.chain import Chain
from tests.executor.spreading import spread
from tests.executor.test_partitioned import LATE_COPIES, OWN_ROOTS, TWO_LEVELS, WRITTEN
from tests.executor.test_pipeline import record_batch, snapshot, streams
from tests.oracles.judgement import Line
from tests.oracles.query import Query, Source, text
from tests.oracles.snapshot import Truth
from tests.oracles.windows import truth_of
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge, rows_of_edges
from tests.properties.test_views import NAMED
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.strategies.streams import long_stream


def fed(chain: Chain, edges: list[Edge], size: int, hops: int = 0, *, gone: bool = True) -> Chain:
    """All edges in batches; every so many of them in another worker.

    The one before is gone then, or each second time.
    """
    chain.another_worker(gone=True)
    for number, start in enumerate(range(0, len(edges), size)):
        if hops and number % hops == 0:
            chain.another_worker(gone=gone or number % (2 * hops) == 0)
        chain.batch(edges[start : start + size])
    return chain


HOPS = st.integers(0, 3)


@pytest.mark.parametrize("name", WRITTEN)
def test_hand_written_plans_over_stages_equal_the_oracle(name: str) -> None:
    @given(edges=streams(longest=60), size=st.integers(1, 20), hops=HOPS, seed=st.integers(0, 99))
    @examples(10)
    def holds(edges: list[Edge], size: int, hops: int, seed: int) -> None:
        chain = fed(Chain(WRITTEN[name], seed), edges, size, hops, gone=False)
        for t in range(edges[-1][3] + 12 if edges else 0):
            assert snapshot(chain.results, t) == answer(WRITTEN[name], edges, t), f"at {t}"

    holds()


@pytest.mark.long
@given(case=cases(), partitions=st.integers(1, 3), seed=st.integers(0, 9_999), hops=HOPS)
@examples(25)
def test_random_queries_over_stages_equal_the_oracle(
    case: Case, partitions: int, seed: int, hops: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=2, seed=seed):
        several = spread(plan, partitions, seed) if partitions > 1 else plan
        edges = rows_of_edges(case.query, case.edges)
        chain = fed(Chain(several, seed), edges, 1 + seed % 7, hops, gone=False)
        judge(truth, several, [Line(*result) for result in chain.results])


def test_all_partitions_agree_on_what_is_late() -> None:
    """The late edge is on a partition that has seen no later edge itself."""
    chain = Chain(OWN_ROOTS, disorder=True)
    chain.another_worker(gone=True)
    chain.batch([(f"v{i}", f"v{i + 1}", "a", 5, "s") for i in range(4)])
    chain.batch([(f"v{i}", f"v{i + 1}", "a", 4, "s") for i in range(50, 90)])
    reports = [json.loads(report) for report in chain.reports]
    assert sum(report["late"].get("s", 0) for report in reports) == 40
    assert sorted(late["row"]["src"] for late in chain.late) == [f"v{i}" for i in range(50, 90)]
    assert {late["reason"] for late in chain.late} == {"late: the watermark was 5"}
    assert {report["now"] for report in reports} == {5}
    assert {r.ts for r in chain.results} == {5}


def test_the_driver_gets_the_reports_of_all_stages() -> None:
    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "ab"[i % 2], i // 3) for i in range(60)]
    chain = fed(Chain(TWO_LEVELS), edges, 20, hops=2)
    reports = [json.loads(report) for report in chain.reports]
    assert {(r["stage"], r["partition"]) for r in reports} == {
        (stage, partition) for stage in range(3) for partition in range(3)
    }
    assert sum(report["edges"] for report in reports) == 60
    assert sum(report["results"] for report in reports) == len(chain.results) > 0
    assert all(report["rebuilt"] == 1 for report in reports)
    metrics = BatchMetrics.of(reports)
    assert metrics.ticks == 20
    # scan inputs, exchanges and operators, as one process counts them that was never rebuilt
    run = LocalRun(TWO_LEVELS)
    run.push([record_batch(edges)])
    expected = run.counters
    assert metrics.operators.keys() == expected.keys() - {0, 5}
    for node, done in metrics.operators.items():
        known = expected[node]
        assert (done.rows_out, done.validity) == (known.rows_out, known.validity), node
    assert metrics.operators[11].dropped == expected[11].dropped > 0


def test_rows_for_later_stages_alone_are_not_kept() -> None:
    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "a", 0) for i in range(60)]
    chain = fed(Chain(LATE_COPIES), edges, 60)
    assert [flow.spread for flow in chain.stages[1].inputs] == ["stay", "hash"]
    assert [chain.ports_kept(stage) for stage in range(3)] == [{0}, {1}, {0, 1}]
    for ts in (30, 60):
        chain.batch([("x", "y", "b", ts), ("x", "y", "a", ts)])
    assert all(report["blobs"] <= 2 for report in map(json.loads, chain.reports))


@pytest.mark.parametrize("name", NAMED)
def test_windows_over_results_survive_a_loss_of_the_index(name: str) -> None:
    """The start of a run does not follow from the valid rows; a log of its own keeps it."""
    query = Query(NAMED[name], tuple((label, Source("s", 12, 2)) for label in "abc"))
    case = Case(query, long_stream(5, "abc", ["u", "v", "w", "x"], 120, pace=1.2))
    truth = truth_of(query, case.edges)
    for partitions in (1, 2):
        plan = optimized(case, Options(parallelism=partitions)).plan
        edges = rows_of_edges(query, case.edges)
        chain = fed(Chain(plan, partitions), edges, 6, hops=2)
        judge(truth, plan, [Line(r.bindings, r.ts, r.exp) for r in chain.results])

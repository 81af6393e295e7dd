"""Counters of operators: rows, dropped rows, and validities that sum to populations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    ToKernel,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.counters import Counters, counters_of
from headrace.executor.encoding import encode
from headrace.executor.local import Edge, LocalRun, Result
from tests.executor.plans import path_over, plan_of
from tests.executor.spreading import spread
from tests.executor.test_pipeline import random_edges, record_batch
from tests.strategies.amount import examples

A, B = regex.Symbol(0), regex.Symbol(1)
SCAN = WindowScan("s", "a", 9, 3)
PLANS = {
    "closure": plan_of([(SCAN, ()), (path_over(regex.plus(A)), (0,))]),
    "several accepting states": plan_of(
        [
            (SCAN, ()),
            (WindowScan("s", "b", 4, 1), ()),
            (path_over(regex.concat((A, regex.optional(B)))), (0, 1)),
        ]
    ),
    "coalesced": plan_of(
        [
            (SCAN, ()),
            (WindowScan("s", "b", 4, 1), ()),
            (MergeUnion(), (0, 1)),
            (ProjectColumns((1,)), (2,)),
            (Coalesce(), (3,)),
        ]
    ),
}


def ran(plan: PhysicalPlan, edges: list[Edge], rows: int) -> tuple[LocalRun, list[Result]]:
    run = LocalRun(plan)
    found: list[Result] = []
    for start in range(0, len(edges), rows):
        found += run.results(run.push([record_batch(edges[start : start + rows])]))
    return run, found


@pytest.mark.parametrize("name", PLANS)
def test_validities_of_a_coalesced_result_sum_to_its_population(name: str) -> None:
    """Whatever the batches and the partitions are."""

    @given(
        seed=st.integers(0, 9_999),
        rows=st.sampled_from([1, 7, 1000]),
        partitions=st.integers(1, 3),
    )
    @examples(15)
    def check(seed: int, rows: int, partitions: int) -> None:
        plan = PLANS[name]
        if partitions > 1:
            plan = spread(plan, partitions, seed)
        run, found = ran(plan, random_edges(seed, 60, 5, 3), rows)
        done = run.counters[plan.root]
        note(str(done))
        valid = {(r.bindings, t) for r in found for t in range(r.ts, r.exp)}
        assert done.rows_out == len(found)
        assert done.validity == len(valid)
        assert done.endless == 0

    check()


def test_each_row_of_a_join_counts_in_full() -> None:
    join = HashJoin(((0, 1), (1, 2)), (0, 2))
    plan = plan_of([(SCAN, ()), (WindowScan("s", "b", 4, 1), ()), (join, (0, 1))])
    run, found = ran(plan, random_edges(3, 80, 3, 4), 10)
    assert run.counters[2].validity == sum(r.exp - r.ts for r in found)
    assert run.counters[2].dropped == 0


def test_coalesce_counts_the_rows_that_it_drops() -> None:
    plan = PLANS["coalesced"]
    run, found = ran(plan, random_edges(5, 90, 4, 6), 20)
    done = run.counters[4]
    assert (done.rows_in, done.rows_out) == (90, len(found))
    assert done.dropped == 90 - len(found) > 0


def test_a_path_counts_results_that_add_no_validity_as_dropped() -> None:
    """``a+``: a second way from 1 to 3 that ends no later, then one that ends later."""
    plan = plan_of([(WindowScan("s", "a", 10, 1), ()), (path_over(regex.plus(A)), (0,))])
    edges = [("1", "2", "a", 0), ("2", "3", "a", 0), ("1", "3", "a", 0)]
    run, found = ran(plan, [(*e[:3], e[3]) for e in edges], 10)
    assert [r.bindings for r in found] == [("1", "2"), ("2", "3"), ("1", "3")]
    assert run.counters[1].dropped == 1
    run, found = ran(plan, [*[(*e[:3], e[3]) for e in edges], ("1", "3", "a", 4)], 10)
    assert found[-1] == Result(("1", "3"), 4, 14)
    assert run.counters[1].validity == 10 + 10 + 10 + 4


def test_rows_that_never_expire_count_as_endless() -> None:
    run = LocalRun(PLANS["closure"])
    scan_input = run._scan_inputs[0]
    batch = encode(
        scan_input, record_batch([("1", "2", "a", 0), ("2", "3", "a", 1)]), run.dictionary
    )
    batch.exp[:] = FOREVER
    run.partitioned.process({0: batch})
    assert run.counters[0] == Counters(rows_out=2, endless=2)
    assert (run.counters[1].rows_out, run.counters[1].endless) == (3, 3)
    assert run.counters[1].validity == 0


def test_a_scan_and_its_filters_have_counters() -> None:
    plan = plan_of(
        [
            (SCAN, ()),
            (FilterRows("c0 <> c1"), (0,)),
            (ProjectColumns((1, 0)), (1,)),
            (FilterRows("c0 = 'v1'"), (2,)),
            (ToKernel(), (3,)),
            (Coalesce(), (4,)),
        ]
    )
    edges = [("v1", "v1", "a", 0), ("v1", "v2", "a", 1), ("v2", "v1", "a", 2), ("v1", "v2", "b", 3)]
    run, found = ran(plan, list(edges), 2)
    assert [r.bindings for r in found] == [("v1", "v2")]
    assert {node: done.rows_out for node, done in run.counters.items()} == {
        0: 3, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1,
    }  # fmt: skip
    assert {node: done.rows_in for node, done in run.counters.items()} == {
        0: 0, 1: 3, 2: 2, 3: 2, 4: 1, 5: 1,
    }  # fmt: skip
    assert run.counters[0].validity == 9 + 8 + 7


def test_an_exchange_counts_each_row_once() -> None:
    plus = path_over(regex.plus(A))
    several = plan_of([(SCAN, ()), (ToKernel(), (0,)), (Exchange("broadcast"), (1,)), (plus, (2,))])
    nodes = list(several.nodes)
    nodes[3] = nodes[3].model_copy(
        update={"operator": type(plus)(plus.states, plus.transitions, plus.accepting, "", "own")}
    )
    plan = several.model_copy(update={"nodes": tuple(nodes), "parallelism": 3})
    run, found = ran(plan, random_edges(1, 40, 6, 2), 9)
    relevant = sum(1 for e in random_edges(1, 40, 6, 2) if e[2] == "a")
    assert [run.counters[i].rows_out for i in range(4)] == [relevant] * 3 + [len(found)]
    assert run.counters[3].rows_in == 3 * relevant


def test_a_retraction_subtracts_the_remaining_validity() -> None:
    """Valid in [0, 10), from 4 on until 14 instead; and forever, for a while."""
    ts, exp = np.array([0, 4, 4, 5, 6]), np.array([10, 14, ~10, FOREVER, ~FOREVER])
    rows = Batch(np.zeros((1, 5), np.int64), ts.astype(np.int64), exp.astype(np.int64))
    assert counters_of(rows) == Counters(rows_out=5, endless=0, validity=14.0)

"""Edges out of order: within the delay results do not change, beyond it edges are late."""

from __future__ import annotations

import pytest
from hypothesis import given, note

from headrace.algebra.physical import FilterRows
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.executor.batch import FOREVER
from headrace.executor.local import (
    Edge,
    LateEdge,
    LocalRun,
    Result,
    _record_batches,
    run_disordered,
)
from headrace.executor.watermarks import NEVER, Seen, Watermark
from tests.executor.disorder import Disorder, disorders, in_order
from tests.executor.plans import answer, plans
from tests.executor.test_partitioned import CHAIN, KERNEL, SCAN_A, SCAN_B, several
from tests.executor.test_pipeline import PATTERNS, snapshot, streams
from tests.strategies.amount import examples

JOINED = several((SCAN_A, ()), (KERNEL, (0,)), (SCAN_B, ()), (KERNEL, (2,)),
                 (CHAIN, (1, 3)), partitions=1)  # fmt: skip


def check(plan: PhysicalPlan, disorder: Disorder, results: list[Result], late: list[Edge]) -> None:
    """Every snapshot is that of the edges in order, without those that were late."""
    edges = in_order(disorder.edges, late)
    for t in range(max((edge[3] for edge in edges), default=-1) + 12):
        assert snapshot(results, t) == answer(plan, edges, t), f"at {t}"


@given(plan=plans(PATTERNS), disorder=disorders(streams()))
@examples(100)
def test_order_within_the_delay_does_not_change_results(
    plan: PhysicalPlan, disorder: Disorder
) -> None:
    own = disorder.plan(plan)
    note(own.to_json())
    results, late = run_disordered(own, disorder.batches)
    assert not late
    assert not disorder.late(own)
    check(own, disorder, results, [])
    assert [r.ts for r in results] == sorted(r.ts for r in results)


@given(plan=plans(PATTERNS), disorder=disorders(streams(), beyond=True))
@examples(100)
def test_rows_beyond_the_delay_are_late(plan: PhysicalPlan, disorder: Disorder) -> None:
    own = disorder.plan(plan)
    note(own.to_json())
    results, aside = run_disordered(own, disorder.batches)
    late = disorder.late(own)
    check(own, disorder, results, late)
    found = [edge_of(each) for each in aside]
    if any(isinstance(node.operator, FilterRows) for node in own.nodes):
        assert set(found) <= set(late)  # a late edge that no scan input reads is nobody's loss
    elif len(own.scans) == len({i for node in own.nodes for i in node.inputs if i < 3}):
        assert sorted(found) == sorted(late)


@given(disorder=disorders(streams(), beyond=True, idle=True))
@examples(100)
def test_an_idle_stream_does_not_hold_the_watermark_back(disorder: Disorder) -> None:
    own = disorder.plan(JOINED)
    run = LocalRun(own)
    results: list[Result] = []
    marks = [run.watermark.at]
    for batch, clock in zip(disorder.batches, disorder.clocks, strict=True):
        results += run.results(run.take(_record_batches(batch), clock))
        marks.append(run.watermark.at)
    results += run.results(run.end())
    assert marks == disorder.watermarks(own)
    late = disorder.late(own)
    assert sorted(edge_of(each) for each in run.late) == sorted(late)
    check(own, disorder, results, late)


def edge_of(late: LateEdge) -> Edge:
    return (*(late.edge[name] for name in ("src", "trg", "label", "ts")), late.stream)


def test_an_edge_at_the_watermark_is_in_time() -> None:
    plan = Disorder((), (), {"s": 3, "t": 0}, {}).plan(JOINED)
    run = LocalRun(plan)
    run.take(_record_batches([("x", "y", "a", 5, "s"), ("y", "z", "b", 2, "t")]))
    assert run.watermark.at == 2
    found = run.take(_record_batches([("w", "y", "a", 2, "s"), ("v", "y", "a", 1, "s")]))
    assert list(run.results(found)) == [Result(("w", "y", "z"), 2, 8)]
    assert run.late == [LateEdge("s", {"src": "v", "trg": "y", "label": "a", "ts": 1}, 2)]


def test_rows_at_time_0_are_not_late() -> None:
    plan = Disorder((), (), {"s": 2, "t": 2}, {}).plan(JOINED)
    edges: list[Edge] = [("y", "z", "b", 0, "t"), ("x", "y", "a", 1, "s"), ("w", "y", "a", 0, "s")]
    results, late = run_disordered(plan, [[edge] for edge in edges])
    assert not late
    assert {(r.bindings, r.ts) for r in results} == {(("w", "y", "z"), 0), (("x", "y", "z"), 1)}


@pytest.mark.parametrize("first", ["s", "t"])
def test_a_stream_without_rows_holds_the_watermark_back(first: str) -> None:
    streams = (PlanStream(name="s", labels=()), PlanStream(name="t", labels=(), delay=4))
    mark = Watermark().after(Seen({first: 9}), streams)
    assert mark.at == NEVER
    mark = mark.after(Seen({"s": 7, "t": 7}), streams)
    assert mark.at == (5 if first == "t" else 3)
    assert mark.after(Seen({"s": 1}), streams).at == mark.at
    assert mark.after(Seen({"s": FOREVER}), streams).at == (5 if first == "t" else 3)
    assert mark.after(Seen({"s": FOREVER, "t": FOREVER}), streams).at == FOREVER

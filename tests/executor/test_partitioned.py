"""Plans over several partitions, in this process, against their meaning on snapshots."""

from collections.abc import Sequence

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    ProjectColumns,
    SPath,
    ToKernel,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import VertexType
from headrace.executor.local import Edge, LocalRun, run_plan
from headrace.executor.stages import Flow, stages_of
from tests.executor.plans import Node, answer, plan_of, plans
from tests.executor.spreading import spread
from tests.executor.test_pipeline import PATTERNS, record_batch, snapshot, streams
from tests.strategies.amount import examples

SCAN_A, SCAN_B = WindowScan("s", "a", 8, 1), WindowScan("s", "b", 6, 2)
CHAIN = HashJoin(((0, 1), (1, 2)), (0, 1, 2))
KERNEL = ToKernel()
SINGLE, EVERYWHERE = Exchange("single"), Exchange("broadcast")
BY_0, BY_1 = Exchange("hash", (0,)), Exchange("hash", (1,))
PLUS = SPath(2, ((0, 0, False, 1), (1, 0, False, 1)), (1,), "a+", "own")
PLUS_OF_BOTH = SPath(
    2, ((0, 0, False, 1), (0, 1, True, 1), (1, 0, False, 1), (1, 1, True, 1)), (1,), "", "own"
)


def several(
    *nodes: Node, partitions: int = 2, types: dict[str, VertexType] | None = None
) -> PhysicalPlan:
    return plan_of(nodes, types).model_copy(update={"parallelism": partitions})


HASH_JOIN = several((SCAN_A, ()), (KERNEL, (0,)), (BY_1, (1,)), (SCAN_B, ()), (KERNEL, (3,)),
                    (BY_0, (4,)), (CHAIN, (2, 5)))  # fmt: skip
COPIED_SIDE = several((SCAN_A, ()), (KERNEL, (0,)), (SCAN_B, ()), (KERNEL, (2,)),
                      (EVERYWHERE, (3,)), (CHAIN, (1, 4)))  # fmt: skip
OWN_ROOTS = several((SCAN_A, ()), (KERNEL, (0,)), (EVERYWHERE, (1,)), (PLUS, (2,)))
OWN_ROOTS_BACKWARDS = several((SCAN_A, ()), (KERNEL, (0,)), (EVERYWHERE, (1,)), (SCAN_B, ()),
                              (KERNEL, (3,)), (EVERYWHERE, (4,)),
                              (PLUS_OF_BOTH, (2, 5)), partitions=3)  # fmt: skip
COALESCED = several((SCAN_A, ()), (KERNEL, (0,)), (SCAN_B, ()), (KERNEL, (2,)),
                    (MergeUnion(), (1, 3)), (ProjectColumns((1,)), (4,)), (BY_0, (5,)),
                    (Coalesce(), (6,)))  # fmt: skip
FILTERED = several((SCAN_A, ()), (FilterRows("c0 <> c1"), (0,)), (KERNEL, (1,)), (BY_1, (2,)),
                   (FilterRows("c0 = 'a'"), (3,)), (SCAN_B, ()), (KERNEL, (5,)), (BY_0, (6,)),
                   (CHAIN, (4, 7)))  # fmt: skip
TWO_LEVELS = several((SCAN_A, ()), (KERNEL, (0,)), (EVERYWHERE, (1,)), (PLUS, (2,)), (BY_1, (3,)),
                     (SCAN_B, ()), (KERNEL, (5,)), (BY_0, (6,)), (CHAIN, (4, 7)),
                     (Exchange("hash", (2,)), (8,)), (ProjectColumns((2,)), (9,)),
                     (Coalesce(), (10,)), partitions=3)  # fmt: skip
SHARED = several((SCAN_A, ()), (KERNEL, (0,)), (EVERYWHERE, (1,)), (PLUS, (2,)), (BY_1, (3,)),
                 (HashJoin(((0, 1), (1, 2)), (0, 2)), (4, 3)), (BY_0, (5,)), (Coalesce(), (6,)),
                 (MergeUnion(), (7, 3)), (Coalesce(), (8,)))  # fmt: skip
TWO_ORDERS = several((SCAN_A, ()), (KERNEL, (0,)), (BY_0, (1,)), (SCAN_B, ()), (KERNEL, (3,)),
                     (BY_0, (4,)), (BY_1, (4,)), (HashJoin(((0, 1), (0, 1)), (0, 1)), (2, 5)),
                     (HashJoin(((0, 1), (1, 0)), (0, 1)), (6, 2)), (MergeUnion(), (7, 8)),
                     (BY_0, (9,)), (Coalesce(), (10,)), partitions=3)  # fmt: skip
LATE_COPIES = several((SCAN_A, ()), (KERNEL, (0,)), (BY_0, (1,)), (Coalesce(), (2,)),
                      (EVERYWHERE, (3,)), (BY_1, (3,)), (Coalesce(), (5,)), (BY_0, (6,)),
                      (CHAIN, (7, 4)))  # fmt: skip
WHERE_ROOTS_ARE = several((SCAN_A, ()), (KERNEL, (0,)), (EVERYWHERE, (1,)), (PLUS, (2,)),
                          (SCAN_B, ()), (KERNEL, (4,)), (BY_0, (5,)),
                          (HashJoin(((0, 1), (0, 2)), (1, 2)), (3, 6)), partitions=3)  # fmt: skip
WRITTEN = {
    "joined where the roots are": WHERE_ROOTS_ARE,
    "both sides hashed": HASH_JOIN,
    "one side copied": COPIED_SIDE,
    "own roots": OWN_ROOTS,
    "own roots, backwards": OWN_ROOTS_BACKWARDS,
    "coalesced": COALESCED,
    "filtered": FILTERED,
    "two levels": TWO_LEVELS,
    "shared": SHARED,
    "keys in two orders": TWO_ORDERS,
    "late copies": LATE_COPIES,
}


def check(plan: PhysicalPlan, edges: list[Edge], sizes: Sequence[int] = (1, 7, 1_000)) -> None:
    for size in sizes:
        results = list(run_plan(plan, edges, size))
        for t in range(edges[-1][3] + 12 if edges else 0):
            assert snapshot(results, t) == answer(plan, edges, t), f"at {t} in batches of {size}"
        if isinstance(plan.nodes[plan.root].operator, Coalesce | SPath):
            assert len(results) == len(set(results))


@pytest.mark.parametrize("name", WRITTEN)
def test_plans_by_hand_have_the_right_snapshots_over_partitions(name: str) -> None:
    @given(edges=streams(longest=60))
    @examples(40)
    def holds(edges: list[Edge]) -> None:
        check(WRITTEN[name], edges)

    holds()


@given(plan=plans(PATTERNS), edges=streams(), partitions=st.integers(2, 5), seed=st.integers())
@examples(200)
def test_random_plans_have_the_right_snapshots_over_partitions(
    plan: PhysicalPlan, edges: list[Edge], partitions: int, seed: int
) -> None:
    chosen = spread(plan, partitions, seed)
    note(chosen.to_json())
    for size in (1, 7, 1_000):
        results = list(run_plan(chosen, edges, size))
        for t in range(edges[-1][3] + 12 if edges else 0):
            assert snapshot(results, t) == answer(plan, edges, t), f"at {t} in batches of {size}"


def test_a_shared_sub_plan_runs_once() -> None:
    first, second, third = stages_of(SHARED)
    assert first.inputs == (Flow(1, 2, 2, "broadcast"),)
    assert (first.nodes, first.outputs) == ((3,), (3,))
    assert second.inputs == (Flow(3, 3, 2, "stay"), Flow(3, 4, 2, "hash", 1))
    assert (second.nodes, second.outputs) == ((5,), (3, 5))
    assert third.inputs == (Flow(3, 3, 2, "stay"), Flow(5, 6, 2, "hash"))
    assert (third.nodes, third.outputs) == ((7, 8, 9), (9,))
    assert second.read_by(SHARED) == {3, 4}
    assert third.read_by(SHARED) == {3, 6}


def test_a_scan_read_late_passes_through_earlier_stages() -> None:
    join = HashJoin(((0, 1, 2), (2, 3)), (0, 3))
    plan = several((SCAN_A, ()), (KERNEL, (0,)), (BY_1, (1,)), (BY_0, (1,)), (CHAIN, (2, 3)),
                   (Exchange("hash", (2,)), (4,)), (join, (5, 3)))  # fmt: skip
    first, second = stages_of(plan)
    assert first.inputs == (Flow(1, 2, 2, "hash", 1), Flow(1, 3, 2, "hash"))
    assert first.outputs == (3, 4)
    assert second.inputs == (Flow(3, 3, 2, "stay"), Flow(4, 5, 3, "hash", 2))


def test_broadcast_happens_right_before_the_stage_that_reads_the_rows() -> None:
    stages = stages_of(LATE_COPIES)
    assert [flow.spread for stage in stages for flow in stage.inputs] == [
        "hash", "stay", "hash", "broadcast", "hash",
    ]  # fmt: skip


def test_strings_and_integers_stay_apart_over_partitions() -> None:
    plan = several(
        (WindowScan("words", "a", 9, 1), ()), (KERNEL, (0,)),
        (WindowScan("numbers", "a", 9, 1), ()), (KERNEL, (2,)),
        (MergeUnion(), (1, 3)), (EVERYWHERE, (4,)), (PLUS, (5,)), (BY_1, (6,)),
        (BY_0, (4,)), (CHAIN, (7, 8)), partitions=4, types={"numbers": "integer"},
    )  # fmt: skip
    edges: list[Edge] = []
    for i in range(60):
        edges.append((f"{i % 7}", f"{i % 5}", "a", i // 4, "words"))
        edges.append((i % 6, i % 4, "a", i // 4, "numbers"))
    check(plan, edges, (7, 1_000))


def test_a_constant_matches_in_each_partition() -> None:
    plan = several((SCAN_A, ()), (KERNEL, (0,)), (BY_0, (1,)), (FilterRows("c1 = 'b'"), (2,)))
    edges: list[Edge] = [(f"v{i}", "b" if i % 2 else "c", "a", i) for i in range(20)]
    assert {r.bindings[0] for r in run_plan(plan, edges)} == {f"v{i}" for i in range(1, 20, 2)}


def test_joins_that_name_a_key_in_two_orders_hold_their_input_once_in_each_partition() -> None:
    edges: list[Edge] = [(f"v{i}", f"w{i % 7}", "a", 0) for i in range(60)]
    run = LocalRun(TWO_ORDERS)
    run.push([record_batch(edges)])
    held = [[p.counters[k].state_entries for k in (7, 8)] for p in run.partitioned.pipelines[0]]
    assert sum(entries for entries, _ in held) == 60
    assert all(entries > 0 for entries, _ in held)
    assert [entries for _, entries in held] == [0, 0, 0]


def test_partitions_divide_the_work() -> None:
    """Each tree grows on one partition, each joined pair is found on one."""
    edges: list[Edge] = [(f"v{i % 40}", f"v{(i * 7 + 1) % 40}", "a", i // 20) for i in range(400)]
    run = LocalRun(OWN_ROOTS)
    found = list(run.results(run.push([record_batch(edges)])))
    of_each = [pipes[3].rows_out for pipes in (p.counters for p in run.partitioned.pipelines[0])]
    assert sum(of_each) == len(found) == len(set(found))
    assert min(of_each) > len(found) / 5
    assert run.counters[3].rows_out == len(found)
    assert run.counters[3].rows_in == 2 * 400


def test_time_passes_in_partitions_without_rows() -> None:
    """All edges of the second half lie on one partition; the other gives its state back."""
    run = LocalRun(HASH_JOIN)
    run.push([record_batch([(f"v{i}", f"w{i}", "a", 0) for i in range(200)])])
    assert all(p.counters[6].state_entries > 50 for p in run.partitioned.pipelines[0])
    for ts in range(10, 30):
        run.push([record_batch([("x", "y", "a", ts)])])
    assert sum(p.counters[6].state_entries for p in run.partitioned.pipelines[0]) < 40

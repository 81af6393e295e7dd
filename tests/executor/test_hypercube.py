"""Multiway joins over partitions that are the cells of a hypercube."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.joins import join_variables
from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    FilterRows,
    MultiwayJoin,
    ProjectColumns,
    ToKernel,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.algebra.properties import BROADCAST, Cells
from headrace.executor.batch import FOREVER
from headrace.executor.cells import codes_in_cells
from headrace.executor.checking import check, distributions
from headrace.executor.dictionary import Dictionary
from headrace.executor.local import Edge, LocalRun, run_plan
from headrace.executor.operators.multiway import MultiwayOperator
from headrace.executor.partitions import Partition
from tests.executor.deletions import ports as deleting_ports
from tests.executor.model import Row, batch_of, ports, run
from tests.executor.plans import Node, answer, plan_of
from tests.executor.spark.chain import Chain
from tests.executor.spark.test_chain import HOPS, fed
from tests.executor.test_multiway import JOINS, join, widths_of
from tests.executor.test_pipeline import record_batch, snapshot, streams
from tests.strategies.amount import examples

TRIANGLE = replace(join((0, 1, 0), ((0, 1), (1, 2), (0, 2)), (0, 1, 2)), shares=((0, 2), (1, 2)))
SCANS: tuple[Node, ...] = (
    (WindowScan("s", "a", 8, 1), ()),
    (ToKernel(), (0,)),
    (WindowScan("s", "b", 5, 2), ()),
    (ToKernel(), (2,)),
)


def to_cells(cells: Cells) -> Exchange:
    return Exchange("hypercube", (), cells.shares, cells.coordinates)


def on(partitions: int, *nodes: Node) -> PhysicalPlan:
    """Nodes over two scan inputs, with the ids 1 and 3."""
    return plan_of([*SCANS, *nodes]).model_copy(update={"parallelism": partitions})


CELLS_OF_A, CELLS_OF_B = (to_cells(TRIANGLE.cells(k)) for k in range(2))
PLAN = on(
    5,
    (CELLS_OF_A, (1,)),
    (CELLS_OF_B, (3,)),
    (TRIANGLE, (4, 5)),
    (Exchange("hash", (1,)), (6,)),
    (Coalesce(), (7,)),
)
"""Four cells on five partitions; the exchanges are directly above scans."""
LATER = on(
    4,
    (Exchange("hash", (1,)), (1,)),
    (Coalesce(), (4,)),
    (CELLS_OF_A, (5,)),
    (CELLS_OF_B, (3,)),
    (TRIANGLE, (6, 7)),
    (Exchange("single"), (8,)),
    (Coalesce(), (9,)),
)
"""The rows of one exchange come from an operator of an earlier stage."""


def cut(joined: MultiwayJoin, seed: int) -> MultiwayJoin:
    """The join with two dimensions of two or three parts."""
    shared = sorted(join_variables(joined.bindings))
    first, second = shared[seed % len(shared)], shared[(seed + 1) % len(shared)]
    shares = {first: 2 + seed % 2, second: 2}
    return replace(joined, shares=tuple(shares.items()))


def divided(
    joined: MultiwayJoin, rows: Sequence[Sequence[Row]], dictionary: Dictionary
) -> list[list[Row]]:
    """The results of each partition, over the rows that its cell has; one partition is no cell."""
    widths, found = widths_of(joined), []
    for number in range(joined.least_partitions + 1):
        own = []
        for position, (port, width) in enumerate(zip(rows, widths, strict=True)):
            rows_of_port = batch_of(port, width)
            there = codes_in_cells(joined.cells(position), rows_of_port, dictionary).on(number)
            own.append([row for row, here in zip(port, there, strict=True) if here])
        place = Partition(number, joined.least_partitions + 1)
        found.append(run(MultiwayOperator(joined, widths, dictionary, place), own, widths, ()))
    return found


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("deleting", [False, True])
def test_cells_divide_the_results(name: str, deleting: bool) -> None:
    """Each result comes from one cell, over the rows of that cell alone."""
    one = JOINS[name].over_deletions() if deleting else JOINS[name]
    strategy: Callable[..., Any] = deleting_ports if deleting else ports

    @given(rows=strategy(widths_of(one), vertices=5), seed=st.integers(0, 9))
    @examples(8)
    def holds(rows: tuple[list[Row], ...], seed: int) -> None:
        if len(join_variables(one.bindings)) < 2:
            return
        dictionary = Dictionary()
        codes = dictionary.encode(pa.array(range(5)), np.full(5, FOREVER)).tolist()
        coded = [[Row(tuple(codes[x] for x in r.values), r.ts, r.exp) for r in p] for p in rows]
        whole = run(MultiwayOperator(one, widths_of(one)), coded, widths_of(one), ())
        parts = divided(cut(one, seed), coded, dictionary)
        assert not parts[-1], "a partition that is no cell has no results"
        assert sorted(row for part in parts for row in part) == sorted(whole)

    holds()


def test_each_row_counts_on_one_partition() -> None:
    dictionary = Dictionary()
    values = list(range(40))
    codes = dictionary.encode(pa.array(values), np.full(40, FOREVER))
    rows = batch_of([Row((int(codes[i]), int(codes[-1 - i])), 0, 9) for i in values], 2)
    for cells in (TRIANGLE.cells(0), TRIANGLE.cells(1), Cells((3, 2), ((None, 1), (0, 1)))):
        placed = codes_in_cells(cells, rows, dictionary)
        assert (np.sum([placed.counted_on(k) for k in range(7)], axis=0) == 1).all()
        for k in range(7):
            assert not (placed.counted_on(k) & ~placed.on(k)).any()
        copies = sum(placed.on(k).sum() for k in range(7)) / 40
        assert copies == pytest.approx(cells.copied * cells.count, rel=0.3)


@pytest.mark.parametrize("plan", [PLAN, LATER])
def test_plans_have_the_right_snapshots(plan: PhysicalPlan) -> None:
    again = PhysicalPlan.from_json(plan.to_json())

    @given(edges=streams(longest=60), size=st.sampled_from([1, 7, 100]))
    @examples(15)
    def holds(edges: list[Edge], size: int) -> None:
        results = list(run_plan(again, edges, size))
        for t in range(edges[-1][3] + 12 if edges else 0):
            assert snapshot(results, t) == answer(plan, edges, t), f"at {t}"

    holds()


@pytest.mark.parametrize("plan", [PLAN, LATER])
def test_stages_have_the_right_snapshots_whichever_workers_keep_state(plan: PhysicalPlan) -> None:
    @given(edges=streams(longest=40), size=st.integers(3, 20), hops=HOPS, seed=st.integers(0, 99))
    @examples(6)
    def holds(edges: list[Edge], size: int, hops: int, seed: int) -> None:
        chain = fed(Chain(plan, seed), edges, size, hops, gone=False)
        for t in range(edges[-1][3] + 12 if edges else 0):
            assert snapshot(chain.results, t) == answer(plan, edges, t), f"at {t}"

    holds()


def test_a_row_with_copies_counts_once() -> None:
    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "ab"[i % 2], i // 3) for i in range(60)]
    run = LocalRun(PLAN)
    run.push([record_batch(edges)])
    assert [run.counters[node].rows_out for node in (1, 3, 4, 5)] == [30] * 4
    assert run.counters[6].rows_in > 60
    chain = fed(Chain(PLAN), edges, 60)
    assert sum(json.loads(report)["edges"] for report in chain.reports) == 60


def test_a_late_row_with_copies_is_late_once() -> None:
    chain = Chain(PLAN, disorder=True)
    chain.batch([("x", "y", "a", 50, "s"), ("x", "y", "b", 50, "s")])
    chain.batch([("u", "v", "a", 60, "s"), ("u", "v", "b", 60, "s")])
    chain.batch([(f"w{i}", f"z{i}", "a", 1, "s") for i in range(6)])
    assert len(chain.late) == 6


def test_rows_lie_in_the_cells_that_exchanges_send_them_to() -> None:
    lie = distributions(PLAN)
    assert str(lie[4]) == "hypercube(2x2: 0,1 | 0,*)"
    assert str(lie[5]) == "hypercube(2x2: *,0)"
    assert str(lie[6]) == "any"
    assert next(TRIANGLE.input_distributions([2, 2])) == (lie[4], lie[5])
    every = replace(JOINS["4-clique of two relations"], shares=((0, 2), (1, 2)))
    assert BROADCAST in next(every.input_distributions([2, 2])), "an atom has neither variable"


FOREIGN = Exchange("hypercube", (), (2, 2), ((1, 0),))


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (on(3, (CELLS_OF_A, (1,)), (CELLS_OF_B, (3,)), (TRIANGLE, (4, 5))), "4 cells for 3 part"),
        (on(1, (TRIANGLE, (1, 3))), "4 cells for 1 partitions"),
        (on(4, (FOREIGN, (1,)), (CELLS_OF_B, (3,)), (TRIANGLE, (4, 5))), "not in the cells"),
        (on(4, (CELLS_OF_A, (1,)), (TRIANGLE, (4, 3))), "not in the cells"),
        (
            on(4, (Exchange("broadcast"), (1,)), (Exchange("broadcast"), (3,)), (TRIANGLE, (4, 5))),
            "not in the cells",
        ),
        (
            on(4, (CELLS_OF_A, (1,)), (CELLS_OF_B, (3,)), (replace(TRIANGLE, shares=()), (4, 5))),
            "has no shares",
        ),
        (on(4, (CELLS_OF_A, (1,))), "the root would return every row several times"),
        (on(4, (FOREIGN, (1,)), (ProjectColumns((1, 0)), (4,))), "lies in cells"),
        (on(4, (FOREIGN, (1,)), (FilterRows("c0 = c1"), (4,))), "lies in cells"),
        (on(4, (FOREIGN, (1,)), (Coalesce(), (4,))), "lies in cells"),
        (on(4, (FOREIGN, (1,)), (Exchange("single"), (4,))), "lies in cells"),
        (on(4, (Exchange("hypercube", (), (2, 2), ((0, None, 1),)), (1,))), "a column for each"),
        (on(4, (Exchange("hypercube", (), (2, 2), ((0, 2),)), (1,))), "has no such column"),
        (on(4, (Exchange("hypercube", (), (2, 2), ((None, None),)), (1,))), "names a part"),
        (on(4, (Exchange("hypercube"), (1,))), "names a part"),
        (on(4, (Exchange("single", (), (2, 2), ((0, 1),)), (1,))), "single has no shares"),
        (on(4, (replace(TRIANGLE, own=0), (1, 3))), "exclude each other"),
        (on(4, (replace(TRIANGLE, shares=((0, 2), (0, 2))), (1, 3))), "two shares"),
        (on(4, (replace(TRIANGLE, shares=((7, 2), (0, 2))), (1, 3))), "is not shared"),
    ],
)  # fmt: skip
def test_plans_that_would_lose_or_repeat_rows_are_refused(plan: PhysicalPlan, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        check(plan)


@pytest.mark.parametrize("share", [-1, 0, 1, 2**62])
def test_shares_have_bounds(share: int) -> None:
    document = json.dumps(PLAN.to_document()).replace('"shares": [2, 2]', f'"shares": [2, {share}]')
    document = json.dumps({k: v for k, v in json.loads(document).items() if k != "digest"})
    with pytest.raises(PlanError, match="a share"):
        PhysicalPlan.from_json(document)

"""A vertex with a hundred thousand edges: work is proportional to the number of results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from headrace.algebra import regex
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.executor.batch import Batch
from headrace.executor.local import Edge, LocalRun, _record_batches
from headrace.executor.operators.path_with_deletions import PathWithDeletions
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.executor.test_path import path_of

EDGES = 100_000
HUB, END = -1, 10**9
CATALOG = Catalog(
    {"s": Stream("s", dict.fromkeys("ab", DEFAULT_STATISTICS), vertex_type="integer")}
)


def out_of(count: int) -> list[Edge]:
    return [(HUB, k, "a", k // 10) for k in range(count)]


def into(count: int) -> list[Edge]:
    return [(k, HUB, "a", k // 10) for k in range(count)]


@pytest.mark.parametrize(
    ("query", "edges", "results"),
    [
        ("Answer(x, y) <- a(x, y)", out_of, EDGES),
        ("Answer(x, z) <- a(x, y), b(y, z)", lambda n: [*into(n), (HUB, END, "b", n)], EDGES),
        ("Answer(x, z) <- a(x, y), b(y, z)", lambda n: [(HUB, END, "b", 0), *into(n)], EDGES),
        ("Answer(x, y) <- a+(x, y)", lambda n: [*into(n), (HUB, END, "a", n)], 2 * EDGES + 1),
        ("Answer(x, y) <- a+(x, y)", lambda n: [(END, HUB, "a", 0), *out_of(n)], 2 * EDGES + 1),
        ("Answer(x, y) <- a+(x, y)", lambda n: [*out_of(n), (END, HUB, "a", n)], 2 * EDGES + 1),
        # A line for each time at which the number changes, up and down.
        ("Answer(x, count(*) as n) <- a(x, y)", out_of, EDGES // 10 * 2 - 1),
    ],
)
def test_work_at_a_hub_is_proportional_to_its_results(
    query: str, edges: Callable[[int], list[Edge]], results: int
) -> None:
    options = PlanningOptions(window=str(EDGES * 2))
    plan = optimize(PlanRequest(query, catalog=CATALOG, options=options)).plan
    run = LocalRun(plan)
    rows = edges(EDGES)
    found = sum(
        len(run.push(_record_batches(rows[k : k + 4096]))) for k in range(0, len(rows), 4096)
    )
    assert found + len(run.end()) == results
    # No operator gave more rows than the edges and the results together.
    assert all(done.rows_out <= 2 * EDGES + results for done in run.counters.values())


@pytest.mark.parametrize("last_first", [False, True])
def test_work_of_deletions_at_a_hub_is_proportional_to_its_results(last_first: bool) -> None:
    """One by one; each start loses the hub and what lies behind it, and nothing else."""
    operator = PathWithDeletions(path_of(regex.plus(regex.Symbol(0))), 1)
    sources = np.arange(EDGES)
    ends = np.array([[HUB], [END]]), np.stack([sources, np.full(EDGES, HUB)])
    columns = np.concatenate(ends, axis=1)
    ts = np.zeros(EDGES + 1, np.int64)
    there = operator.process([Batch(columns, ts, np.full(EDGES + 1, 2 * EDGES))], wanted=True)
    assert len(there) == 2 * EDGES + 1
    order = sources[::-1] if last_first else sources
    gone = np.stack([order, np.full(EDGES, HUB)])
    back = operator.process([Batch(gone, 1 + sources, np.full(EDGES, ~(2 * EDGES)))], wanted=True)
    assert len(back) == 2 * EDGES
    assert sorted(zip(*back.columns.tolist(), strict=True)) == sorted(
        (start, end) for start in range(EDGES) for end in (HUB, END)
    )

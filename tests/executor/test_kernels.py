"""The compiled code: one signature each, and never older than its source."""

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.types import unliteral

from headrace.algebra import regex
from headrace.algebra.physical import (
    AggregateRows,
    Coalesce,
    HashJoin,
    ProjectColumns,
    WindowScan,
)
from headrace.executor.kernels import (
    coalesce,
    expiring,
    forest,
    join,
    numbering,
    path,
    rows,
    tables,
    vertices,
)
from headrace.executor.local import Edge, run_plan
from tests.executor.plans import path_over, plan_of
from tests.executor.test_trail_path import path_of


def test_each_kernel_compiles_for_one_signature() -> None:
    """Widths, vertex types, empty and full batches: none of them makes another variant."""
    types = {"numbers": "integer"}
    edges: list[Edge] = []
    for i in range(3_000):
        edges.append((f"v{i % 50}", f"v{i % 31}", "a", i // 30, "words"))
        edges.append((i % 50, i % 31, "a", i // 30, "numbers"))
    for stream in ("words", "numbers"):
        plan = plan_of(
            [
                (WindowScan(stream, "a", 20, 3), ()),
                (path_over(regex.plus(regex.Symbol(0))), (0,)),
                (HashJoin(((0, 1), (1, 2)), (0, 1, 2)), (0, 1)),
                (Coalesce(), (2,)),
                (ProjectColumns((0,)), (3,)),
                (Coalesce(), (4,)),
                (HashJoin(((0,), (1,)), (0, 1)), (5, 5)),
            ],
            types,  # type: ignore[arg-type]
        )
        assert sum(1 for _ in run_plan(plan, edges, 500)) > 0
        counts = plan_of(
            [
                (WindowScan(stream, "a", 20, 3), ()),
                (AggregateRows((0,), (("count", 1),), (0, 1)), (0,)),
            ],
            types,  # type: ignore[arg-type]
        )
        assert sum(1 for _ in run_plan(counts, edges, 500)) > 0
        trails = plan_of(
            [
                (WindowScan(stream, "a", 20, 3), ()),
                (path_of(regex.concat([regex.Symbol(0), regex.Symbol(0)])), (0,)),
            ],
            types,  # type: ignore[arg-type]
        )
        assert sum(1 for _ in run_plan(trails, edges[:100], 30)) > 0
    modules = coalesce, expiring, forest, join, numbering, path, rows, tables, vertices
    # A constant in a kernel's text (EMPTY as a key) may make a variant; no data can.
    signatures = {
        f"{module.__name__}.{name}": {tuple(map(unliteral, own)) for own in value.signatures}
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }
    assert {name: own for name, own in signatures.items() if len(own) > 1} == {}
    assert len(signatures["headrace.executor.kernels.path.advance"]) == 1
    # The code of one that was read from the cache shows no variants of the functions that it calls.
    assert [name for name, own in signatures.items() if ", F)" in str(own)] == []


def test_tables_hold_pairs() -> None:
    table = tables.new_table(8)
    for i in range(8):
        tables.put(table, i * 64, -i, i)
    larger = tables.enlarged_table(table, 500)
    for held in (table, larger):
        for i in range(8):
            slot = tables.find(held, i * 64, -i)
            assert held[slot].tolist() == [i * 64, -i, i]
        assert held[tables.find(held, 64, 5), 2] == tables.EMPTY
    assert np.count_nonzero(larger[:, 2] != tables.EMPTY) == 8

"""A stored graph costs only memory while a stream runs beside it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from headrace.algebra.physical import HashJoin, SPath, WindowScan
from headrace.algebra.plan_parts import PlanError
from headrace.algebra.values import VertexType
from headrace.executor.batch import FOREVER
from headrace.executor.local import Edge, LocalRun, _record_batches, run_plan
from headrace.executor.scans import ScanInput
from headrace.executor.schedule import Schedule
from tests.executor.spark.plans import plan_of

LIVE = WindowScan("s", "a", 10, 1)
GRAPH = WindowScan("g", "k", None, None)
JOIN = HashJoin(((0, 1), (1, 2)), (0, 2))
THEN_MANY = SPath(2, ((0, 0, False, 1), (1, 1, False, 1)), (1,), "0·1*")
STREAMS: tuple[tuple[str, VertexType], ...] = (("g", "string"), ("s", "string"))
STORED_EDGES = 5_000
TICKS = 400


def test_edges_of_a_stored_graph_never_expire() -> None:
    scan_input = ScanInput(0, GRAPH, (), "string")
    assert scan_input.expiry(np.array([0, 0])).tolist() == [FOREVER, FOREVER]


def test_results_expire_with_their_first_input() -> None:
    plan = plan_of((LIVE, ()), (GRAPH, ()), (JOIN, (0, 1)), vertex_types=STREAMS)
    edges: list[Edge] = [("m", "f", "k", 0, "g"), ("u", "m", "a", 3, "s")]
    assert [tuple(r) for r in run_plan(plan, edges)] == [(("u", "f"), 3, 13)]
    alone = plan_of((GRAPH, ()), (JOIN, (0, 0)), vertex_types=STREAMS)
    edges = [("m", "f", "k", 0, "g"), ("f", "p", "k", 0, "g"), ("u", "m", "a", 3, "s")]
    assert [tuple(r) for r in run_plan(alone, edges)] == [(("m", "p"), 0, FOREVER)]


@pytest.mark.parametrize("operator", [JOIN, THEN_MANY])
def test_stored_edges_are_not_swept_at_each_tick(
    operator: HashJoin | SPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sweeps go over all of the state; they are counted, and what is held is bounded."""
    sweeps: list[int] = []
    swept = Schedule.swept

    def counted(self: Schedule, now: int, lasting: int, latest: int) -> None:
        if lasting:
            sweeps.append(now)
        swept(self, now, lasting, latest)

    monkeypatch.setattr(Schedule, "swept", counted)
    plan = plan_of((LIVE, ()), (GRAPH, ()), (operator, (0, 1)), vertex_types=STREAMS)
    run = LocalRun(plan)
    run.push(_record_batches([(f"m{i}", f"f{i}", "k", 0, "g") for i in range(STORED_EDGES)]))
    values, held = run.dictionary.entries, run.pipeline.counters[2].state_entries
    assert values == 2 * STORED_EDGES
    assert held == STORED_EDGES
    sweeps.clear()
    results = 0
    for now in range(1_000_000, 1_000_000 + TICKS):
        row = (f"u{now}", f"m{now % STORED_EDGES}", "a", now, "s")
        results += len(run.push(_record_batches([row])))
    assert results >= TICKS
    assert len(sweeps) <= 4, "the join, or path, and the dictionary, at most twice each"
    assert values <= run.dictionary.entries < values * 8 / 7 + 1
    assert held <= run.pipeline.counters[2].state_entries < held * 4 / 3
    codes = run.dictionary.encode(pa.array(["f7"]), np.array([1]))
    assert run.dictionary.decode(codes).to_pylist() == ["f7"]
    assert run.dictionary.entries < values * 8 / 7 + 1


def test_a_window_needs_range_and_slide() -> None:
    plan = plan_of((GRAPH, ()), vertex_types=STREAMS)
    document = plan.to_document()
    del document["digest"]
    document["nodes"][0]["args"]["slide"] = 1
    with pytest.raises(PlanError, match="a range or a slide alone"):
        type(plan).from_document(document)

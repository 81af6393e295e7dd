"""A stage gives right results for all cuts into batches and all failures between batches.

Driven by Spark's own tester, which keeps a processor's state in memory.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.streaming.tws_tester import TwsTester

from headrace.executor.local import Edge, Result
from headrace.executor.spark.exchange.blocks import REPORT, RESULTS
from headrace.executor.spark.exchange.packing import Message, arrow_bytes, packed, table_of
from headrace.executor.spark.exchange.wire import wire_of
from headrace.executor.spark.stage import partition as work
from headrace.executor.spark.stage.processor import StageProcessor
from headrace.executor.spark.state.cache import StateCache
from headrace.executor.stages import stages_of
from headrace.executor.watermarks import NEVER
from tests.executor.spark.plans import expected, random_edges, reach, snapshots
from tests.executor.spark.running import results_in

PLAN = reach(length=12, slide=3)
WIRE = wire_of(PLAN, stages_of(PLAN)[0])


class Partition:
    """The only partition of a stage, with all its output."""

    def __init__(self, run: str) -> None:
        self.tester = TwsTester(StageProcessor(PLAN.to_json(), run))
        self.results: list[Result] = []
        self.report: dict[str, Any] = {}

    def batch(self, edges: Sequence[Edge], pieces: int = 1) -> None:
        """Processes one batch, its rows in several unordered pieces."""
        cut = [edges[i::pieces] for i in range(pieces)][::-1]
        sent = messages(*(packed_rows(part) for part in cut))
        output = self.tester.testInPandas(0, sent)
        blocks = output[output["kind"] == RESULTS]["payload"]
        self.results += [r for block in blocks for r in results_in(table_of(block))]
        (report,) = output[output["kind"] == REPORT]["payload"]
        self.report = json.loads(report)

    def aborted_batch(self, edges: Sequence[Edge]) -> None:
        """Processes a batch whose results and state Spark does not commit."""
        handle = self.tester.handle
        states: list[Any] = [*handle.value_states.values(), *handle.map_states.values()]
        before = [copy.deepcopy(state.state) for state in states]
        results, report = self.results.copy(), self.report
        self.batch(edges)
        self.results, self.report = results, report
        for state, saved in zip(states, before, strict=True):
            state.state = saved


def packed_rows(edges: Sequence[Edge]) -> bytes:
    """Edges as the scans send them to the exchange."""
    rows = [
        {"port": 0, "src": src, "trg": trg, "ts": ts}
        for src, trg, label, ts, *_ in edges
        if label == "a"
    ]
    return arrow_bytes(pa.RecordBatch.from_pylist(rows, schema=WIRE.schema))


def messages(*payloads: bytes) -> pd.DataFrame:
    """The messages of one sender in a batch."""
    times = [table_of(rows)["ts"].to_numpy() for rows in payloads if rows]
    now = max((int(ts.max()) for ts in times if len(ts)), default=NEVER)
    sent = [Message(0, "rows", 0, i, now, rows) for i, rows in enumerate(payloads)]
    return packed(sent, 1).to_pandas()


@pytest.fixture(autouse=True)
def _own_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """No index is left from another test."""
    monkeypatch.setattr(work, "_CACHE", StateCache())


def another_worker() -> None:
    """Moves to a worker that has no index."""
    work._CACHE = StateCache()


WHATS = st.lists(st.sampled_from(["batch", "batch", "aborted", "hop"]), min_size=1, max_size=14)


@pytest.mark.long
@given(seed=st.integers(0, 99), whats=WHATS, rows=st.integers(1, 9), pieces=st.integers(1, 3))
def test_results_are_right_whatever_happens_between_batches(
    seed: int, whats: list[str], rows: int, pieces: int
) -> None:
    another_worker()
    partition = Partition("run")
    done: list[Edge] = []
    edges = random_edges(200, seed, vertices=5)
    for what in whats:
        following = edges[len(done) : len(done) + rows]
        if what == "hop":
            another_worker()
        elif what == "aborted":
            partition.aborted_batch(following)
        else:
            partition.batch(following, pieces)
            done += following
    hops = partition.report.get("rebuilt", 0)
    assert snapshots(partition.results) == snapshots(expected(PLAN, done))
    assert hops <= whats.count("hop") + whats.count("aborted")


def test_an_index_is_reused_only_if_its_attempt_was_committed() -> None:
    partition = Partition("run")
    edges = random_edges(60, labels="a")
    partition.batch(edges[:20])
    partition.batch(edges[20:30])
    assert partition.report["rebuilt"] == 0
    partition.aborted_batch(edges[30:50])
    partition.batch(edges[30:50])
    assert partition.report["rebuilt"] == 1
    another_worker()
    partition.batch(edges[50:])
    assert partition.report["rebuilt"] == 2
    assert snapshots(partition.results) == snapshots(expected(PLAN, edges))


def test_a_failed_attempt_leaves_no_index() -> None:
    partition = Partition("run")
    edges = random_edges(60, labels="a")
    partition.batch(edges[:30])
    sent = messages(packed_rows(edges[30:]))
    partition.tester.handle.setGroupingKey(0)
    attempt = partition.tester.processor.handleInputRows((0,), iter([sent]), TimerValues())
    next(iter(attempt))
    del attempt
    partition.batch(edges[30:])
    assert partition.report["rebuilt"] == 1
    assert snapshots(partition.results) == snapshots(expected(PLAN, edges))


def test_a_batch_without_rows_changes_nothing() -> None:
    partition = Partition("run")
    edges = random_edges(40, labels="a")
    partition.batch(edges[:20])
    partition.tester.testInPandas(0, messages(b""))
    partition.batch(edges[20:])
    assert snapshots(partition.results) == snapshots(expected(PLAN, edges))


def test_rows_out_of_order_in_a_sorted_run_raise() -> None:
    partition = Partition("run")
    partition.batch([("1", "2", "a", 5)])
    with pytest.raises(ValueError, match="1 rows came out of order, before 5"):
        partition.batch([("2", "3", "a", 4), ("2", "4", "a", 5)])


def test_totals_survive_restarts() -> None:
    whole, restarted = Partition("whole"), Partition("restarted")
    edges = random_edges(60, labels="a")
    whole.batch(edges)
    for start in range(0, 60, 20):
        another_worker()
        restarted.batch(edges[start : start + 20])
    assert restarted.report["edges"] == whole.report["edges"] == 60
    assert restarted.report["results"] == len(restarted.results)
    assert restarted.report["operators"]["1"]["rows_in"] == 60

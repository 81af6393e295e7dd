"""An index read from a snapshot continues like the original; without one nothing is lost."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Edge
from headrace.executor.reorder import ReorderBuffer
from headrace.executor.spark.exchange.packing import table_of
from headrace.executor.spark.state import snapshot
from headrace.executor.spark.state.metadata import PartitionMetadata
from headrace.executor.spark.state.snapshot import FIRST_CHUNK, Snapshot
from tests.executor.disorder import Disorder, disorders
from tests.executor.spark.chain import Blobs, Chain
from tests.executor.spark.plans import random_edges, reach
from tests.executor.spark.test_disorder import check as check_late
from tests.executor.spark.test_disorder import fed as fed_late
from tests.executor.test_partitioned import TWO_LEVELS
from tests.executor.test_pipeline import streams
from tests.oracles.judgement import End, Line, mismatches, without_ends
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of
from tests.properties.running import judge, rows_of_edges
from tests.properties.test_deletions import deleting
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases

HOPS = st.integers(1, 4)
LEASTS = st.sampled_from([0, 0, 8, 40])


@contextmanager
def often(least: int = 0, bytes_per_work: int = 1 << 60, **further: int) -> Iterator[None]:
    """Makes snapshots due after ``least`` units of work, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "LEAST_WORK", least)
        patch.setattr(snapshot, "BYTES_PER_WORK", bytes_per_work)
        for name, value in further.items():
            patch.setattr(snapshot, name.upper(), value)
        yield


def reports_of(chain: Chain) -> list[dict[str, Any]]:
    return [json.loads(report) for report in chain.reports]


@pytest.mark.long
@given(
    case=st.one_of(cases(), root_cases()),
    partitions=st.integers(1, 3),
    seed=st.integers(0, 999),
    hops=HOPS,
    least=LEASTS,
)
@examples(15)
def test_random_queries_continue_from_snapshots(
    case: Case, partitions: int, seed: int, hops: int, least: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    edges, size = rows_of_edges(case.query, case.edges), 1 + seed % 5
    with often(least):
        for plan in plans_of(optimized(case, options), most=2, seed=seed):
            chain = Chain(plan, seed)
            chain.another_worker(gone=True)
            for number, start in enumerate(range(0, len(edges), size)):
                if number % hops == 0:
                    chain.another_worker(gone=True)
                chain.batch(edges[start : start + size])
            chain.another_worker(gone=True)
            chain.end()
            judge(truth, plan, [Line(*result) for result in chain.results])


@pytest.mark.long
@given(case=cases(), partitions=st.integers(1, 2), seed=st.integers(0, 999), hops=HOPS)
@examples(8)
def test_plans_over_deletions_continue_from_snapshots(
    case: Case, partitions: int, seed: int, hops: int
) -> None:
    note(text(case.query))
    of = deleting(case, seed)
    rows, size = of.rows(), 1 + seed % 5
    options = replace(THOROUGH, parallelism=partitions)
    with often():
        for plan in plans_of(optimized(case, options, deletions=of.streams), most=2, seed=seed):
            chain = Chain(plan, seed)
            chain.another_worker(gone=True)
            for number, start in enumerate(range(0, len(rows), size)):
                if number % hops == 0:
                    chain.another_worker(gone=True)
                chain.batch(rows[start : start + size])
            chain.end()
            said = [
                Line(r.bindings, r.ts, r.exp) if r.exp >= 0 else End(r.bindings, r.ts)
                for r in chain.results
            ]
            assert not mismatches(of.truth, without_ends(said))


@given(
    disorder=disorders(streams(longest=60), beyond=True, idle=True),
    seed=st.integers(0, 99),
    hops=HOPS,
    least=LEASTS,
)
@examples(8)
def test_a_snapshot_has_the_waiting_rows(
    disorder: Disorder, seed: int, hops: int, least: int
) -> None:
    plan = disorder.plan(TWO_LEVELS)
    with often(least):
        check_late(plan, disorder, fed_late(plan, disorder, seed, hops))


def fed(plan: PhysicalPlan, edges: list[Edge], size: int = 20) -> Chain:
    """Processes all edges, then loses all workers."""
    chain = Chain(plan)
    chain.another_worker(gone=True)
    for start in range(0, len(edges), size):
        chain.batch(edges[start : start + size])
    chain.another_worker(gone=True)
    return chain


LONG = random_edges(3_000, seed=5, vertices=2_000, labels="a", step=3)


def recovery(window: int) -> dict[str, Any]:
    """The report of a batch after the loss of all workers."""
    chain = fed(reach(window), LONG[:-20])
    chain.batch(LONG[-20:])
    (report,) = reports_of(chain)
    undisturbed = fed(reach(window), LONG)
    assert Counter(chain.results) == Counter(undisturbed.results)
    return report


@pytest.mark.parametrize("window", [200, pytest.param(1_000, marks=pytest.mark.long)])
def test_recovery_replays_only_rows_since_the_snapshot(window: int) -> None:
    with often(1 << 60):
        alone = recovery(window)
    assert (alone["rebuilt"], alone["restored"]) == (1, 0)
    assert alone["replayed"] >= 0.9 * window, "there is an edge per tick"
    with often(200):
        short = recovery(window)
    assert (short["rebuilt"], short["restored"]) == (1, 1)
    assert short["replayed"] <= 120
    assert short["snapshot_bytes"] > 0


def test_no_snapshot_is_written_that_costs_more_than_the_window() -> None:
    plan = reach(30)
    with often(0, bytes_per_work=1):
        chain = fed(plan, LONG)
    (report,) = reports_of(chain)
    assert report["snapshot_bytes"] == 0
    (log,) = chain.logs.values()
    assert min(log) >= 0


def test_a_snapshot_does_not_delay_expiry_in_the_log() -> None:
    plan = reach(30)
    with often(0):
        chain = fed(plan, LONG)
    (log,) = chain.logs.values()
    rows = [row for number in log if number >= 0 for row in table_of(log[number])["ts"].to_pylist()]
    assert len(rows) <= 40 + 20, "a window's, and a batch's"
    (report,) = reports_of(chain)
    assert report["blobs"] < 30


@pytest.mark.parametrize("harm", ["another version", "torn", "gone", "not ours"])
def test_an_unreadable_snapshot_is_ignored(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with often(100):
        chain = fed(reach(200), LONG[:2_000])
    (log,) = chain.logs.values()
    assert FIRST_CHUNK in log
    match harm:
        case "another version":
            monkeypatch.setattr(snapshot, "version", lambda: "another")
        case "torn":
            log[FIRST_CHUNK] = log[FIRST_CHUNK][:-40]
        case "gone":
            log[FIRST_CHUNK] = b""
        case _:
            kept = Blobs()
            snapshot.write(CallsSomething(), kept, Snapshot(), 0)
            log[FIRST_CHUNK] = kept[FIRST_CHUNK]
    chain.batch(LONG[2_000:2_020])
    (report,) = reports_of(chain)
    assert (report["rebuilt"], report["restored"]) == (1, 0)
    assert report["replayed"] >= 180
    assert Counter(chain.results) == Counter(fed(reach(200), LONG[:2_020]).results)


class CallsSomething:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("must not be seen",))


def test_a_snapshot_loads_no_foreign_class(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Blobs()
    assert snapshot.read(snapshot.write(CallsSomething(), kept, Snapshot(), 0), kept) is None
    assert capsys.readouterr().out == ""
    assert snapshot.read(Snapshot(), kept) is None


def test_chunks_are_bounded_and_removed_with_their_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "CHUNK_BYTES", 1_000)
    kept = Blobs()
    noise = np.random.default_rng(1).integers(0, 1 << 60, 900)
    large = snapshot.write([noise], kept, Snapshot(), 5)
    assert large.chunks == len(kept) > 5
    assert max(map(len, kept.values())) <= 1_000
    assert large.size == sum(map(len, kept.values()))
    assert (snapshot.read(large, kept)[0] == noise).all()  # type: ignore[index]
    small = snapshot.write([1], kept, large, 9)
    assert (small.chunks, small.before) == (1, 9) == (len(kept), 9)
    assert snapshot.read(small, kept) == [1]


def test_metadata_without_a_snapshot_is_read() -> None:
    values = json.loads(PartitionMetadata(token="t").to_json())
    for name in ("snapshot", "restored", "replayed"):
        del values[name]
    assert PartitionMetadata.from_json(json.dumps(values)) == PartitionMetadata(token="t")


def test_a_reorder_buffer_pickles_only_its_waiting_rows() -> None:
    index = ReorderBuffer()
    rows = table_of_times(list(range(50_000)))
    index.add(rows)
    index.due(49_990)
    copied = pickle.loads(pickle.dumps(index))
    assert len(pickle.dumps(index)) < 2_000
    assert [t["ts"].to_pylist() for t in copied.due(60_000)] == [list(range(49_991, 50_000))]


def table_of_times(times: list[int]) -> pa.Table:
    return pa.table({"ts": pa.array(times, pa.int64())})

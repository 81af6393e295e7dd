"""The state cache gives an index to the caller with its token, and to no other."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.dictionary import Dictionary
from headrace.executor.encoding import encode
from headrace.executor.local import Edge, LocalRun
from headrace.executor.partitioned import pipeline_of
from headrace.executor.partitions import Partition
from headrace.executor.spark.stage.partition import Index
from headrace.executor.spark.state.cache import StateCache
from tests.executor.test_partitioned import HASH_JOIN, OWN_ROOTS
from tests.executor.test_pipeline import record_batch

KEY = ("run", 0, 1)


def test_an_index_needs_its_token() -> None:
    cache = StateCache[list[int]]()
    cache.put(KEY, "t", [1])
    assert cache.take(("run", 0, 2), "t") is None
    assert cache.take(("run", 1, 1), "t") is None
    assert cache.take(KEY, "t") == [1]
    assert cache.take(KEY, "t") is None
    cache.put(KEY, "t", [1])
    assert cache.take(KEY, "u") is None
    assert cache.take(KEY, "t") is None
    cache.put(KEY, "t", [1])
    cache.take(("other run", 0, 1), "t")
    assert cache.take(KEY, "t") is None


def test_an_index_is_fetched_from_another_worker() -> None:
    theirs, ours = StateCache[list[int]](), StateCache[list[int]]()
    theirs.put(KEY, "t", [1, 2])
    theirs.put(("run", 0, 2), "t", [3])
    wrong_key = theirs.address.split(":")[0] + ":" + "00" * 16
    assert ours.take(KEY, "t", wrong_key) is None
    assert ours.take(KEY, "t", theirs.address) == [1, 2]
    assert ours.take(KEY, "t", theirs.address) is None
    assert ours.take(("run", 0, 2), "u", theirs.address) is None
    assert theirs.take(("run", 0, 2), "t") is None


def test_a_dead_worker_has_no_index() -> None:
    program = (
        "from headrace.executor.spark.state.cache import StateCache; cache = StateCache(); "
        "cache.put(('run', 0, 1), 't', 1); print(cache.address)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert StateCache[int]().take(KEY, "t", completed.stdout.strip()) is None


@pytest.mark.parametrize("plan", [OWN_ROOTS, HASH_JOIN])
def test_a_fetched_index_continues_in_another_worker(plan: PhysicalPlan) -> None:
    run = LocalRun(plan)
    (stage,) = run.partitioned.stages
    dictionary = Dictionary()
    index = Index(pipeline_of(plan, stage, dictionary, Partition(1, 2)), dictionary)
    theirs, ours = StateCache[Index](), StateCache[Index]()

    def fed(index: Index, edges: list[Edge]) -> list[list[int]]:
        chosen = record_batch(edges)
        rows = {}
        for flow in stage.inputs:
            scan_input = next(
                scan_input for scan_input in run._scan_inputs if scan_input.node == flow.source
            )
            rows[flow.port] = encode(scan_input, scan_input.select(chosen), index.dictionary)
        found = index.pipeline.process(rows)[plan.root]
        return [found.ts.tolist(), found.exp.tolist(), *found.columns.tolist()]

    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "ab"[i % 2], i // 4) for i in range(80)]
    fed(index, edges[:40])
    theirs.put(KEY, "t", index)
    moved = ours.take(KEY, "t", theirs.address)
    assert moved is not None
    assert moved is not index
    assert moved.pipeline.counters == index.pipeline.counters
    found = fed(moved, edges[40:])
    assert found == fed(index, edges[40:])
    assert len(found[0]) > 10
    codes = np.array(found[2])
    assert moved.dictionary.decode(codes).equals(index.dictionary.decode(codes))

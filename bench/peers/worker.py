"""Runs one job in Headrace or in DuckDB in this process: ``python -m bench.peers.worker JSON``."""

from __future__ import annotations

import csv
import gc
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from bench.measuring import peak_bytes
from bench.peers import snapshots
from bench.peers.jobs import QUERIES, Job
from bench.peers.outcome import Outcome, at_instants, digest_of, intervals_of_rows
from bench.regret.runs import resident
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.catalog.inputs import measured_catalog
from headrace.executor.batch import IntArray
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

LETTERS = np.array(["a", "b", "c"])


def plan_of(job: Job, edges: IntArray) -> PhysicalPlan:
    """The plan that Headrace chooses, with the statistics of the edges."""
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        path = Path(folder) / "edges.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("src", "trg", "label", "ts"))
            writer.writerows(
                (src, trg, LETTERS[label], ts) for label, src, trg, ts in edges[:, :4].tolist()
            )
        source = EdgeFile(str(path), vertex_type="integer")
        catalog = measured_catalog([source])[0]
        options = PlanningOptions(window=job.range, slide=job.slide)
        return optimize(PlanRequest(QUERIES[job.query], catalog=catalog, options=options)).plan


def batches(job: Job, edges: IntArray, plan: PhysicalPlan) -> list[pa.RecordBatch]:
    """The edges that the plan reads, in the batches of the job."""
    labels = plan.streams[0].labels
    names = LETTERS[edges[:, 0]]
    read = np.isin(names, labels)
    table = pa.table(
        {
            "src": edges[read, 1],
            "trg": edges[read, 2],
            "label": pa.array(names[read].tolist(), pa.string()),
            "ts": edges[read, 3],
            "stream": pa.array([plan.streams[0].name] * int(read.sum()), pa.string()),
        }
    )
    return table.to_batches(max_chunksize=job.batch)


def run_headrace(job: Job, edges: IntArray, *, answers: bool, every: bool = True) -> Outcome:
    """Runs the chosen plan.

    Args:
        job: the job.
        edges: its edges.
        answers: whether answers are collected, outside the measured time.
        every: whether the digest is of all intervals; else of the answers at the first instants of
            slides, as :func:`bench.peers.snapshots.run` gives them.
    """
    plan = plan_of(job, edges)
    calls = batches(job, edges, plan)
    warm = LocalRun(plan)
    for batch in calls[:2]:
        warm.push([batch])
    del warm
    gc.collect()
    gc.disable()
    before, seconds, count = resident(), 0.0, 0
    local, rows = LocalRun(plan), []
    for call in [*calls, None]:
        started = time.process_time()
        found = local.end() if call is None else local.push([call])
        seconds += time.process_time() - started
        count += len(found)
        if answers and len(found):
            columns = [local.dictionary.decode(codes).to_pylist() for codes in found.columns]
            rows.append(np.column_stack((np.array(columns, np.int64).T, found.ts, found.exp)))
    peak = max(0, peak_bytes() - before)
    if not answers:
        return Outcome(seconds, peak, count)
    width = len(plan.columns)
    intervals = (
        intervals_of_rows(np.concatenate(rows), width)
        if rows
        else np.empty((0, width + 2), np.int64)
    )
    if every:
        return Outcome(seconds, peak, len(intervals), digest_of(intervals))
    instants = snapshots.instants_of(job, edges)
    held = at_instants(intervals, instants)
    return Outcome(seconds, peak, len(held), digest_of(held), len(instants))


def main() -> None:
    """Reads the order, and prints the outcome as JSON."""
    order: dict[str, Any] = json.loads(sys.argv[1])
    job, edges = Job(**order["job"]), np.load(order["edges"])
    if order["peer"] == "duckdb":
        outcome = snapshots.run(job, edges, answers=order["answers"])
    else:
        every = order["peer"] == "headrace"
        outcome = run_headrace(job, edges, answers=order["answers"], every=every)
    print(json.dumps(outcome.row()))


if __name__ == "__main__":
    main()

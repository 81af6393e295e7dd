"""The recovery time of a partition after the loss of its worker: ``python -m bench.recovery``.

For windows of several lengths, with and without snapshots of the index, the benchmark measures the
first batch in a new worker: its seconds, the bytes read from the store, and the rows replayed. The
partition runs in this process with the store in memory; Spark's store adds about a second for each
30 MB read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.kernels import plan_of
from bench.measuring import Spread, headline, machine, save
from headrace.algebra.physical import WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.executor.spark.exchange.blocks import REPORT
from headrace.executor.spark.exchange.packing import Message, arrow_bytes, packed, partition_keys
from headrace.executor.spark.exchange.wire import scan_inputs_of, wire_of
from headrace.executor.spark.stage import partition
from headrace.executor.spark.stage.partition import PartitionBatch
from headrace.executor.spark.state import snapshot
from headrace.executor.spark.state.cache import StateCache
from headrace.executor.stages import stages_of

QUERIES = {
    "join": ("Answer(x, z) <- a(x, y), b(y, z)", 4.0),
    "path": ("Answer(x, y) <- x (a/b)+ y", 0.95),
    "aggregate": ("Answer(x, count(*) as n) <- a(x, y), b(y, z)", 2.0),
}
"""Queries by name, with the edges of a label that a vertex has within a window."""

BATCH = 10_000


class Store(dict[int, bytes]):
    """A store of blobs in memory that counts the bytes read."""

    read = 0

    def get(self, number: int) -> bytes:  # type: ignore[override]
        blob = self[number]
        self.read += len(blob)
        return blob

    def put(self, number: int, blob: bytes) -> None:
        self[number] = blob

    def remove(self, number: int) -> None:
        del self[number]


@dataclass(frozen=True, slots=True)
class Row:
    """The recovery of a partition.

    Attributes:
        query: the name of the query.
        window: the length of the window, in edges.
        snapshots: whether the index has snapshots.
        seconds: the seconds of the recovery.
        replayed: the number of rows replayed.
        read_mb: the data read from the store, in MB.
        store_mb: the size of the store, in MB.
        run_seconds: the seconds of the run before, with the writing of snapshots.
    """

    query: str
    window: int
    snapshots: bool
    seconds: Spread
    replayed: int
    read_mb: float
    store_mb: float
    run_seconds: float


class Run:
    """A plan that runs in one partition."""

    def __init__(self, plan: PhysicalPlan) -> None:
        self._plan = plan
        stage = stages_of(plan)[0]
        self._schema = wire_of(plan, stage).schema
        scans = (scan_input.scan for scan_input in scan_inputs_of(plan, stage))
        self._labels = [scan.label for scan in scans if isinstance(scan, WindowScan)]
        self._document = plan.to_json()
        self.metadata: str | None = None
        self.store = Store()

    def batch(self, rows: pa.Table | None, now: int) -> dict[str, Any]:
        """Processes rows (label, src, trg, ts); returns the partition's report."""
        payload = b""
        if rows is not None:
            labels = rows["label"].to_numpy(zero_copy_only=False)
            ports = np.select([labels == label for label in self._labels], range(len(self._labels)))
            columns = [
                pa.chunked_array([pa.array(ports)]),
                *(rows[n] for n in ("src", "trg", "ts")),
            ]
            table = pa.table(columns, self._schema.names).cast(self._schema)
            payload = arrow_bytes(table.combine_chunks().to_batches()[0])
        sent: pd.DataFrame = packed([Message(0, "rows", 0, 0, now, payload)], 1).to_pandas()
        key = ("bench", 0, partition_keys(1)[0])
        batch = PartitionBatch(self._document, key, self.metadata)
        reports = [
            payload
            for frame in batch.run([sent], self.store)
            for kind, payload in zip(frame["kind"], frame["payload"], strict=True)
            if kind == REPORT
        ]
        self.metadata = batch.metadata.to_json()
        report: dict[str, Any] = json.loads(reports[0])
        return report


def edges(window: int, windows: float, degree: float) -> pa.Table:
    """A stream with an edge between two random vertices at each tick."""
    random = np.random.default_rng(1)
    count = int(window * windows)
    ends = random.integers(0, max(2, int(window / 2 / degree)), (2, count))
    labels = np.array(["a", "b"])[random.integers(0, 2, count)]
    columns = (*ends, labels, np.arange(count))
    return pa.table([pa.array(c) for c in columns], ["src", "trg", "label", "ts"])


@contextmanager
def _snapshots(wanted: bool) -> Iterator[None]:
    before = snapshot.LEAST_WORK
    try:
        snapshot.LEAST_WORK = before if wanted else 1 << 60  # type: ignore[misc]
        yield
    finally:
        snapshot.LEAST_WORK = before  # type: ignore[misc]


def measure(query: str, window: int, *, snapshots: bool, repeats: int) -> Row:
    """Runs a query over two and a half windows, then recovers it several times."""
    text, degree = QUERIES[query]
    rows = edges(window, 2.5, degree)
    run = Run(_planned(text, window, degree))
    partition._CACHE = StateCache()
    with _snapshots(snapshots):
        started = time.perf_counter()
        for start in range(0, len(rows), BATCH):
            part = rows.slice(start, BATCH)
            before = run.batch(part, start + len(part) - 1)
        took = time.perf_counter() - started
        seconds, replayed, read = [], 0, 0
        for _ in range(repeats):
            partition._CACHE = StateCache()
            run.store.read = 0
            started = time.perf_counter()
            after = run.batch(None, -1)
            seconds.append(time.perf_counter() - started)
            replayed, read = after["replayed"] - before["replayed"], run.store.read
            before = after
    stored = sum(map(len, run.store.values())) / 2**20
    return Row(query, window, snapshots, Spread.of(seconds), replayed, read / 2**20, stored, took)


def _planned(query: str, window: int, degree: float) -> PhysicalPlan:
    vertices = window / 2 / degree
    label = LabelStatistics(
        rate=0.5, distinct_src=vertices, distinct_trg=vertices, vertices=vertices
    )
    catalog = Catalog({"input": Stream("input", {"a": label, "b": label}, vertex_type="integer")})
    return plan_of(query, catalog, str(window), "1").plan


def _table(rows: list[Row]) -> Table:
    table = Table(title="Recovery of one partition")
    table.add_column("query")
    for name in (
        "window, edges", "snapshots", "recovery s", "replayed", "read MB", "in store MB", "run s",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.query,
            f"{row.window:,}",
            "with" if row.snapshots else "without",
            row.seconds.text(2),
            f"{row.replayed:,}",
            f"{row.read_mb:.1f}",
            f"{row.store_mb:.1f}",
            f"{row.run_seconds:.1f}",
        )
    return table


def main(
    *,
    windows: Annotated[str, typer.Option(help="In edges.")] = "10000,100000,400000",
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    repeats: Annotated[int, typer.Option(help="Recoveries of each.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures recovery against the window's length."""
    console = Console(width=None if Console().is_terminal else 140)
    console.print(headline(machine()))
    rows = []
    for query in (name for name in QUERIES if only in name):
        for window in map(int, windows.split(",")):
            for wanted in (False, True):
                rows.append(measure(query, window, snapshots=wanted, repeats=repeats))
    console.print(_table(rows))
    save(out, "recovery", {"windows": windows, "repeats": repeats}, rows)


if __name__ == "__main__":
    typer.run(main)

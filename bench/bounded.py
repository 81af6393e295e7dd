"""The memory and state of a long run by window: ``python -m bench.bounded --windows 12``.

A query runs on Spark over a generated stream whose vertices never return after a window. After the
last batch of each window the benchmark measures the memory of the Python workers, the JVM's live
heap, the state on disk, and the state that the partitions report. The values of the last window
should equal those of the second. Spark removes old versions of the state once a minute; here every
two seconds, since a window takes only seconds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import psutil
import typer
from pyspark import SparkContext
from rich.console import Console
from rich.table import Table

from bench.kernels import plan_of
from bench.measuring import headline, machine, save
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.executor.spark.host.files import read_sealed
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.options import SessionOptions

QUERIES = {
    "join": "Answer(x, z) <- a(x, y), b(y, z)",
    "path": "Answer(x, y) <- x (a/b)+ y",
    "aggregate": "Answer(x, count(*) as n) <- a(x, y), b(y, z)",
}
WINDOW = 1_000


@dataclass(frozen=True, slots=True)
class Held:
    """The memory and state of a run.

    Attributes:
        windows: the number of windows that have passed.
        workers: resident memory of the Python workers, in MB.
        heap: the JVM's live heap, in MB.
        disk: the state on disk, in kB.
        kept: the windowed input and the snapshots in the state, in kB.
        vertices: the entries of the dictionaries.
    """

    windows: int
    workers: float
    heap: float
    disk: float
    kept: float
    vertices: int


def stream(file: Path, windows: int, per_tick: int) -> None:
    """Writes edges whose vertices are replaced after each tenth of a window."""
    random = Random(7)
    with file.open("w") as lines:
        lines.write("src,trg,label,ts\n")
        for ts in range(windows * WINDOW):
            for _ in range(per_tick):
                oldest = ts // (WINDOW // 10) * 500
                ends = (f"v{oldest + random.randrange(500)}" for _ in range(2))
                lines.write(",".join([*ends, random.choice("ab"), f"{ts}\n"]))


def held(query: str, windows: int, per_tick: int, folder: Path) -> list[Held]:
    """Runs the query, and measures memory and state after each window."""
    source = folder / "in.csv"
    stream(source, windows, per_tick)
    label = LabelStatistics(per_tick / 2, 500, 500, 1000)
    catalog = Catalog({"input": Stream("input", {"a": label, "b": label})})
    plan = plan_of(query, catalog, str(WINDOW), "100").plan
    checkpoint, found = folder / "checkpoint", list[Held]()

    def look(progress: Progress) -> None:
        passed = 0 if progress.now is None else (progress.now + 1) // WINDOW
        if passed > len(found):
            found.append(_now(passed, checkpoint))

    options = RunOptions(
        checkpoint=checkpoint,
        largest_slice=WINDOW * per_tick // 4,
        session=SessionOptions(conf={"spark.sql.streaming.stateStore.maintenanceInterval": "2s"}),
    )
    run(plan, {"input": [EdgeFile(str(source))]}, ToFolder(folder / "out"), options,
        on_progress=look)  # fmt: skip
    return found


def _now(windows: int, checkpoint: Path) -> Held:
    python = [p for p in psutil.Process().children(recursive=True) if p.name() != "java"]
    counts = next(checkpoint.rglob("counted.json"), None)
    reports: list[dict[str, Any]] = [] if counts is None else read_sealed(counts)["reports"]
    state = checkpoint / "spark" / "state"
    return Held(
        windows,
        sum(p.memory_info().rss for p in python) / 1e6,
        _heap() / 1e6,
        sum(_size(file) for file in state.rglob("*")) / 1e3,
        sum(report["blob_bytes"] + report["snapshot_bytes"] for report in reports) / 1e3,
        sum(report["vertices"] for report in reports),
    )


def _heap() -> int:
    """The JVM's live heap after a collection, in bytes."""
    context = SparkContext._active_spark_context
    assert context is not None
    assert context._jvm is not None
    runtime = context._jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return int(runtime.totalMemory() - runtime.freeMemory())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0  # removed by Spark in between


def main(
    windows: Annotated[int, typer.Option(min=3, help="How many windows pass.")] = 12,
    per_tick: Annotated[int, typer.Option(min=1, help="Edges per time unit.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the memory and state of a long run by window."""
    console = Console()
    console.print(headline(machine()))
    table = Table("query", "windows", "workers MB", "heap MB", "disk kB", "kept kB", "vertices")
    everything: dict[str, list[Held]] = {}
    for name, query in QUERIES.items():
        with TemporaryDirectory(prefix="headrace-bounded-") as folder:
            everything[name] = held(query, windows, per_tick, Path(folder))
        for row in everything[name]:
            sizes = (f"{size:,.1f}" for size in (row.workers, row.heap, row.disk, row.kept))
            table.add_row(name, str(row.windows), *sizes, f"{row.vertices:,}")
    console.print(table)
    rows = [{"query": name, **asdict(row)} for name, own in everything.items() for row in own]
    save(out, "bounded", {"windows": windows, "per_tick": per_tick}, rows)


if __name__ == "__main__":
    typer.run(main)

"""What more partitions and more workers bring: ``python -m bench.cluster``.

``partitions`` runs the bundled query in this process for several numbers of partitions, and prints
the processor time of the operators in the busiest partition and over all. That is the work that a
cluster of that many cores would have, without Spark, exchanges and waiting.

``workers`` runs the same query by ``headrace run`` on standalone clusters of one and two worker
processes on this machine. With fewer free cores than workers the wall time says nothing; the
processor time of the workers is what the cluster costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer

from bench.measuring import ROOT, Spread, headline, machine
from bench.standalone import standalone_cluster
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.executor import pipeline
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

PATH: Final = "Answer(x, y) <- x (a2q/c2a)+ y"
STAR: Final = "Answer(x, y, z) <- a2q(v, x), c2a(v, y), c2q(v, z)"
_LONGEST_SECONDS: Final = 1_200.0

app = typer.Typer(help=__doc__, add_completion=False)


@app.command()
def partitions(
    counts: Annotated[list[int] | None, typer.Argument(help="Numbers of partitions.")] = None,
    repeats: int = 3,
    window: str = "30d",
) -> None:
    """Processor time of the operators by the number of partitions, in this process."""
    # Other work on the machine is in wall time, by which the operators are counted otherwise.
    pipeline.perf_counter = time.process_time  # type: ignore[attr-defined]
    which = files(None)
    edges, catalog = load(which), catalog_of(which)
    print(headline(machine()))
    print("| query | partitions | busiest, s | all, s | rows over exchanges |")
    print("|---|---|---|---|---|")
    for text in (PATH, STAR):
        for count in counts or (1, 2, 4, 8, 16, 32):
            options = PlanningOptions(window=window, slide="1d", parallelism=count)
            plan = optimize(PlanRequest(text, catalog=catalog, options=options)).plan
            busiest, total, moved = [], [], 0
            for repeat in range(repeats + 1):
                run = LocalRun(plan)
                for slide in slides(edges, DAY):
                    run.push([slide])
                work = [
                    sum(
                        counters.seconds
                        for pipelines in run.partitioned.pipelines
                        for counters in pipelines[k].counters.values()
                    )
                    for k in range(count)
                ]
                moved = sum(
                    own.rows_out
                    for pipelines in run.partitioned.pipelines
                    for each in pipelines
                    for own in each.arrived.values()
                )
                if repeat:  # the first run loads the kernels
                    busiest.append(max(work))
                    total.append(sum(work))
            spread, every = Spread.of(busiest), Spread.of(total)
            print(f"| {text} | {count} | {spread.text(2)} | {every.text(2)} | {moved:,} |")


@app.command()
def workers(
    counts: Annotated[list[int] | None, typer.Argument(help="Numbers of workers.")] = None,
    largest_batch: Annotated[int, typer.Option(help="Edges in a micro-batch.")] = 4_000,
) -> None:
    """Wall and processor time of ``headrace run`` by the number of worker processes."""
    print(headline(machine()))
    print("| workers | wall, s | workers' processor time, s |")
    print("|---|---|---|")
    example = ROOT / "examples" / "mathoverflow"
    for count in counts or (1, 2):
        with TemporaryDirectory(prefix="bench-cluster-") as name:
            folder = Path(name)
            with standalone_cluster(folder, count) as cluster:
                before, started = cluster.cpu_seconds(), time.monotonic()
                command = [sys.executable, "-m", "headrace", "run", str(example / "chains.rq")]
                command += ["--catalog", str(example / "catalog.yaml"), "-o", str(folder / "out")]
                command += ["--parallelism", str(count), "--largest-batch", str(largest_batch)]
                command += ["--master", cluster.master]
                subprocess.run(
                    command,
                    check=True,
                    env={**os.environ, "PYSPARK_PYTHON": sys.executable},
                    timeout=_LONGEST_SECONDS,
                )
                wall = time.monotonic() - started
                spent = cluster.cpu_seconds() - before
            print(f"| {count} | {wall:.1f} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    app()

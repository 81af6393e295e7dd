"""A run in a process of its own, to be killed: ``python -m tests.executor.spark.child FOLDER``.

Prints the process id of its JVM, then a line per batch.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark import SparkContext

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.host.errors import ExecutionError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.plans import random_edges, reach

PLAN = reach(length=30, slide=5)
EDGES = random_edges(320, seed=4, vertices=20)
SLICE = 10
OPTIONS = RunOptions(largest_slice=SLICE)


def inputs_in(folder: Path) -> dict[str, list[EdgeFile]]:
    """The file that the test wrote."""
    return {"input": [EdgeFile(str(folder / "in.csv"))]}


def main(folder: Path) -> None:
    shown = False

    def tell(progress: Progress) -> None:
        nonlocal shown
        if progress.phase != "running":
            return
        if not shown:
            gateway = SparkContext._gateway
            assert gateway is not None
            print("jvm", gateway.proc.pid, flush=True)
            shown = True
        print("batch", progress.batch, flush=True)

    try:
        run(PLAN, inputs_in(folder), ToFolder(folder / "out"), OPTIONS, on_progress=tell)
    except ExecutionError as error:
        print("error", type(error).__name__, error.message, flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

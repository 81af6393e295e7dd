"""Returned paths on Spark: over several partitions, and after a restart."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.executor.local import run_plan
from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.test_roots import edges, found_in, planned, rows_of, written

pytestmark = pytest.mark.spark

RANGE = 12
QUERY = f"Answer(x, p as way, z) <- x (a/^b)+ y as p, a(y, z). WINDOW {RANGE}"


@pytest.mark.long
def test_witness_paths_are_right_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    plan = planned(QUERY, 2)
    assert plan.nodes[plan.root].op == "WITNESS"
    inputs = {"input": [written(tmp_path / "in.csv")]}
    output, options = ToFolder(tmp_path / "out"), RunOptions(largest_slice=30)

    def stop(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == 2:
            raise CancelledError("No more of this.")

    with pytest.raises(CancelledError):
        run(plan, inputs, output, options, spark=spark, on_progress=stop)
    report = run(plan, inputs, output, options, spark=spark)
    assert report.resumed
    assert report.rebuilt
    lines = found_in(tmp_path / "out")
    assert lines
    # Which lines say so depends on the order of the rows of an instant.
    expected = ((x, z, ts, exp) for (x, _, z), ts, exp in run_plan(plan, edges()))
    assert _valid(map(_plain, lines)) == _valid(expected)
    for line in lines:
        assert _broken(line) == [], json.dumps(line)


def _valid(lines: Iterable[tuple[Any, ...]]) -> set[tuple[str, str, int]]:
    """The instants at which each row is valid."""
    return {(x, z, at) for x, z, ts, exp in lines for at in range(ts, exp)}


def _plain(line: dict[str, object]) -> tuple[Any, ...]:
    bindings = line["bindings"]
    assert isinstance(bindings, dict)
    assert list(bindings) == ["x", "z"]
    return (*bindings.values(), line["ts"], line["exp"])


def _broken(line: dict[str, object]) -> list[str]:
    """The steps of a line's path that are invalid during its validity, or do not connect."""
    source, _, ts, exp = _plain(line)
    paths = line["paths"]
    assert isinstance(paths, dict)
    valid = {row[:3] for row in rows_of() if row[3] <= ts and row[3] + RANGE >= exp}
    at, found = source, []
    for number, (x, label, y) in enumerate(paths["way"]):
        edge = (y, x, "b") if number % 2 else (x, y, "a")
        if x != at or label != ("^b" if number % 2 else "a") or edge not in valid:
            found.append(f"step {number}: {x} {label} {y}")
        at = y
    return found

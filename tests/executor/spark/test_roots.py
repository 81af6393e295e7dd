"""Aggregates and reports on Spark: the end of the input reaches every partition, once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.executor.local import Edge, run_plan
from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

pytestmark = [pytest.mark.spark, pytest.mark.long]

LABEL = LabelStatistics(rate=1.0, distinct_src=9.0, distinct_trg=9.0, vertices=9.0)


def planned(query: str, parallelism: int) -> PhysicalPlan:
    stream = Stream("input", {"a": LABEL, "b": LABEL}, properties={"n": "integer"})
    catalog = Catalog({"input": stream})
    logical = translate(parse(query), catalog)
    streams = (PlanStream(name="input", labels=("a", "b"), properties={"n": "integer"}),)
    model = CostModel(catalog=catalog, parallelism=parallelism)
    options = Options(parallelism=parallelism)
    return Optimizer(model, options).optimize(logical, streams, "second").plan


def rows_of(count: int = 150) -> list[tuple[str, str, str, int, int | None]]:
    random = Random(7)
    times = sorted(random.randrange(120) for _ in range(count))
    ends = [f"v{i}" for i in range(6)]
    return [
        (random.choice(ends), random.choice(ends), random.choice("ab"), ts,
         random.choice([None, 1, 2, 5]))
        for ts in times
    ]  # fmt: skip


def edges() -> list[Edge]:
    return [(x, y, label, ts, "input", {"n": n}) for x, y, label, ts, n in rows_of()]


def written(path: Path) -> EdgeFile:
    lines = [f"{x},{y},{label},{ts},{'' if n is None else n}" for x, y, label, ts, n in rows_of()]
    path.write_text("\n".join(["src,trg,label,ts,n", *lines]) + "\n")
    return EdgeFile(str(path))


def found_in(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in sorted(folder.glob("part-*")) for line in file.open()]


@pytest.mark.long
def test_an_aggregate_continues_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    query = (
        "Answer(x, count(*) as pairs, sum(e.n) as total) <- a(x, y) as e, b(y, z). "
        "WINDOW 20 SLIDE 5"
    )
    plan = planned(query, 2)
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
    said = Counter(
        (tuple(line["bindings"].values()), line["ts"], line["exp"])  # type: ignore[attr-defined]
        for line in found_in(tmp_path / "out")
    )
    assert said == Counter(map(tuple, run_plan(plan, edges())))


def test_reports_are_written_to_parquet(spark: SparkSession, tmp_path: Path) -> None:
    query = "Answer(x, z) <- a(x, y), b(y, z). WINDOW 20 EMIT ON EXIT EVERY 7"
    plan = planned(query, 2)
    inputs = {"input": [written(tmp_path / "in.csv")]}
    output = ToFolder(tmp_path / "out", "parquet")
    run(plan, inputs, output, RunOptions(largest_slice=40), spark=spark)
    tables = [pq.read_table(file) for file in (tmp_path / "out").glob("part-*")]
    said = Counter(tuple(row.values()) for table in tables for row in table.to_pylist())
    assert tables[0].schema.names == ["x", "z", "at", "event"]
    assert said == Counter((*r.bindings, r.ts, "exit") for r in run_plan(plan, edges()))

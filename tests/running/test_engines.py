"""Spark and the local engine give the same rows over the same files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from headrace import (
    PlanRequest,
    RunOptions,
    RunReport,
    ToFolder,
    inputs_of_plan,
    load_catalog,
    optimize,
    run_plan,
)
from headrace.catalog import Catalog
from headrace.running.runs import EngineKind
from tests.api.command import EXAMPLES

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

CATALOG = """\
streams:
  s:
    source: {format: csv, path: s.csv}
    deletions: true
    properties: {w: number, n: string}
    labels: {a: {rate: 1, distinct_src: 9, distinct_trg: 9}}
  t:
    source: {format: json, path: t.jsonl}
    delay: 6
    vertex_type: integer
    properties: {w: integer}
    labels: {b: {rate: 1, distinct_src: 9, distinct_trg: 9}}
  g:
    stored: true
    source: {format: csv, path: g.csv}
    labels: {c: {population: 9, distinct_src: 9, distinct_trg: 9}}
"""
QUERIES = {
    "deletions": "Answer(x, y, e.n as n) <- x a+ y, a(y, z) as e, c(y, y), e.w > 0.2 WINDOW 12",
    "disorder": "Answer(x, y, e.w as w) <- x b+ y, b(y, z) as e, e.w != 3 WINDOW 12 SLIDE 2",
    "reports": "Answer(x, count(*) as n) <- x b/b y WINDOW 12 EMIT SNAPSHOT EVERY 5",
}


def files(folder: Path) -> Catalog:
    random = Random(4)
    rows = ["src,trg,label,ts,op,w,n"]
    for ts in range(0, 160, 2):
        x, y, op = random.randrange(6), random.randrange(6), random.choice("+++-")
        rows.append(f'{x},{y},a,{ts},{op},{random.random():.2f},"n ""{x}"""')
    rows.insert(9, "1,2,a,never,+,,")
    (folder / "s.csv").write_text("\n".join([*rows, ""]))
    (folder / "g.csv").write_text("src,trg,label\n" + "".join(f"{v},{v},c\n" for v in range(5)))
    with (folder / "t.jsonl").open("w") as out:
        for ts in range(0, 160, 2):
            moved = max(0, ts - random.choice([0, 0, 3, 6, 30]))
            x, y = random.randrange(6), random.randrange(6)
            row = {"src": x, "trg": y, "label": "b", "ts": moved, "w": random.randrange(5)}
            out.write(json.dumps(row) + "\n")
    (folder / "catalog.yaml").write_text(CATALOG)
    return load_catalog(folder / "catalog.yaml")


def outcome(
    spark: SparkSession, text: str, catalog: Catalog, folder: Path, engine: EngineKind, most: int
) -> tuple[Counter[str], RunReport, dict[str, list[str]]]:
    """The lines of results, the report, and the lines of rejected and late rows."""
    plan = optimize(PlanRequest(text, catalog=catalog)).plan
    report = run_plan(
        plan,
        inputs_of_plan(plan, catalog, []),
        ToFolder(folder),
        RunOptions(largest_slice=most),
        engine=engine,
        spark=spark if engine == "spark" else None,
    )
    lines = [line for part in sorted(folder.glob("part-*")) for line in part.open()]
    aside = {
        name: (folder / "_headrace" / name).read_text().splitlines()
        for name in ("rejected.jsonl", "late.jsonl")
        if (folder / "_headrace" / name).exists()
    }
    return Counter(lines), report, aside


def check(
    spark: SparkSession, text: str, catalog: Catalog, folder: Path, most: int = 65_536
) -> RunReport:
    on_spark, report, aside = outcome(spark, text, catalog, folder / "spark", "spark", most)
    in_process, local_report, local_aside = outcome(
        spark, text, catalog, folder / "local", "local", most
    )
    assert in_process == on_spark
    assert on_spark
    assert local_aside == aside
    for name in ("edges", "relevant", "rejected", "results", "batches", "late_by_stream", "ticks"):
        assert getattr(local_report, name) == getattr(report, name), name
    rows = {node: done.rows_out for node, done in report.operators.items()}
    assert {node: local_report.operators[node].rows_out for node in rows} == rows
    return local_report


@pytest.mark.long
def test_engines_agree_on_the_bundled_data(spark: SparkSession, tmp_path: Path) -> None:
    catalog = load_catalog(EXAMPLES / "catalog.yaml")
    report = check(spark, (EXAMPLES / "chains.rq").read_text(), catalog, tmp_path)
    assert report.results == 79_477


@pytest.mark.long
@pytest.mark.parametrize("name", QUERIES)
def test_engines_agree_on_late_and_rejected_rows(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    report = check(spark, QUERIES[name], files(tmp_path), tmp_path, most=16)
    assert bool(report.late) == (name != "deletions")
    assert bool(report.rejected) == (name == "deletions")

"""Running plans on Spark, and reading what they wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.executor.batch import FOREVER
from headrace.executor.local import Result
from headrace.executor.spark.report import RunReport
from headrace.executor.spark.results.sinks import ToFunction
from headrace.executor.spark.run import RunOptions, run


def results_of(
    spark: SparkSession,
    plan: PhysicalPlan,
    inputs: Mapping[str, Sequence[EdgeFile]],
    largest_slice: int = 10,
) -> tuple[list[Result], RunReport]:
    """The results of a plan on Spark."""
    tables: list[pa.Table] = []
    report = run(
        plan,
        inputs,
        ToFunction(lambda _, rows: tables.append(rows)),
        RunOptions(largest_slice=largest_slice),
        spark=spark,
    )
    return [result for table in tables for result in results_in(table)], report


def results_in(table: pa.Table) -> list[Result]:
    """The rows of a table as results."""
    return [
        Result(tuple(bindings), ts, FOREVER if exp is None else exp)
        for *bindings, ts, exp in zip(
            *(column.to_pylist() for column in table.columns), strict=True
        )
    ]


def read_jsonl(path: Path) -> list[Result]:
    """The results in a file of JSON lines, or in all visible files of a folder."""
    lines = [line for file in _files(path, "jsonl") for line in file.read_text().splitlines()]
    documents = [json.loads(line) for line in lines]
    return [Result(tuple(d["bindings"].values()), d["ts"], d["exp"]) for d in documents]


def read_csv(path: Path) -> list[Result]:
    """The results in CSV files, vertices as text."""
    found = []
    for file in _files(path, "csv"):
        with file.open(newline="") as rows:
            for *bindings, ts, exp in list(csv.reader(rows))[1:]:
                found.append(Result(tuple(bindings), int(ts), int(exp)))
    return found


def read_parquet(path: Path) -> list[Result]:
    """The results in Parquet files."""
    return [r for file in _files(path, "parquet") for r in results_in(pq.read_table(file))]


def _files(path: Path, ending: str) -> list[Path]:
    return sorted(path.glob(f"*.{ending}")) if path.is_dir() else [path]

"""A named sink of files has each result once, however often a batch is delivered."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headrace import output_of, stream, write_stream
from headrace.catalog import loads
from headrace.catalog.sinks import NamedSink
from headrace.executor.spark.host.errors import CancelledError, OutputError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.delivery import sink_of
from headrace.executor.spark.results.formats import ResultShape
from headrace.executor.spark.results.parts import Part, PartWriter
from headrace.executor.spark.results.sink import Sink
from headrace.executor.spark.results.sinks import ToSink
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.plans import csv_file, expected, random_edges, reach, snapshots
from tests.executor.spark.running import results_in

pytestmark = [pytest.mark.spark, pytest.mark.long]

CATALOG = """
streams: {{s: {{labels: {{a: {{rate: 1, distinct_src: 9, distinct_trg: 9}}}}}}}}
sinks: {{archive: {{format: parquet, path: "{}"}}}}
"""
SHAPE = ResultShape(("x",), ("x",), ("string",))


def rows(spark: SparkSession, folder: Path) -> pa.Table:
    """The rows of a folder as Spark reads it: those of finished batches."""
    return spark.read.parquet(str(folder)).toArrow()


def part(sink: Sink, *values: str) -> Part:
    """A finished part of a batch, with a row for each value."""
    with PartWriter(sink.spec, 0) as writer:
        times = pa.array([1] * len(values), pa.int64())
        columns: list[pa.Array[Any]] = [pa.array(values, pa.string()), times, times]
        writer.write(pa.RecordBatch.from_arrays(columns, ["x", "ts", "exp"]))
        done = writer.close()
    assert done is not None
    return done


def test_a_batch_that_runs_again_is_in_the_sink_once(spark: SparkSession, tmp_path: Path) -> None:
    output = ToSink(NamedSink("archive", "parquet", str(tmp_path / "archive")))
    first = sink_of(output, SHAPE, tmp_path / "ck", spark)
    first.deliver(0, [part(first, "a", "b")])
    first.deliver(1, [part(first, "c")])
    first.close()  # and the run is killed before Spark has noted the end of batch 1
    with pytest.raises(OutputError, match="holds the results of another run"):
        sink_of(output, SHAPE, tmp_path / "other", spark)
    again = sink_of(output, SHAPE, tmp_path / "ck", spark)
    again.deliver(1, [part(again, "c")])
    again.deliver(2, [part(again, "d")])
    again.deliver(3, [])
    again.finish()
    again.close()
    assert Counter(rows(spark, tmp_path / "archive")["x"].to_pylist()) == Counter("abcd")


def test_two_runs_do_not_share_the_files_of_a_sink(spark: SparkSession, tmp_path: Path) -> None:
    output = ToSink(NamedSink("archive", "parquet", str(tmp_path / "archive")))
    first = sink_of(output, SHAPE, tmp_path / "ck", spark)  # which has written nothing yet
    with pytest.raises(OutputError, match="holds the results of another run"):
        sink_of(output, SHAPE, tmp_path / "other", spark)
    first.close()


def test_a_stopped_run_into_a_sink_goes_on_with_exact_results(
    spark: SparkSession, tmp_path: Path
) -> None:
    plan, edges = reach(), random_edges(60, seed=4, vertices=9)
    files = {"input": [csv_file(tmp_path / "rows.csv", edges)]}
    output = ToSink(NamedSink("archive", "parquet", str(tmp_path / "archive")))
    options = RunOptions(checkpoint=tmp_path / "ck", largest_slice=12)
    stop = threading.Event()

    def stops(progress: Progress) -> None:
        if progress.batch >= 2:
            stop.set()

    with pytest.raises(CancelledError):
        run(plan, files, output, options, spark=spark, on_progress=stops, cancelled=stop)
    report = run(plan, files, output, options, spark=spark)
    found = results_in(rows(spark, tmp_path / "archive"))
    assert report.resumed
    assert len(found) == report.results
    assert snapshots(found) == snapshots(expected(plan, edges))


def test_the_results_of_a_stream_go_to_a_sink(rocksdb: SparkSession, tmp_path: Path) -> None:
    plan, edges = reach(), random_edges(30, seed=4, vertices=9)
    (tmp_path / "in").mkdir()
    csv_file(tmp_path / "in" / "rows.csv", edges)
    read = rocksdb.readStream.schema("src string, trg string, label string, ts long")
    rows_in = read.option("header", True).csv(str(tmp_path / "in"))
    output = output_of("sink:archive", loads(CATALOG.format(tmp_path / "archive")))
    assert isinstance(output, ToSink)
    results = stream(rocksdb, plan, {"input": rows_in})
    writer = write_stream(results, plan, output).trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "ck")).start().awaitTermination()
    found = snapshots(results_in(rows(rocksdb, tmp_path / "archive")))
    last = edges[-1][3]  # results of later instants wait for later edges
    right = snapshots(expected(plan, edges))
    assert {t: v for t, v in found.items() if t < last} == {
        t: v for t, v in right.items() if t < last
    }


def test_a_format_that_spark_does_not_have_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    output = ToSink(NamedSink("lake", "no.such.format", "lake", {"password": "hush"}))
    with pytest.raises(OutputError, match="Spark cannot write to the sink lake") as refused:
        sink_of(output, SHAPE, tmp_path / "ck", spark)
    assert "hush" not in str(refused.value)
